//! The explanation of a question as text.

use sotto_owner::{ExplainedResult, ExplainedStream, ExplainedValues, Explanation};

use super::number::counted;
use crate::output::grouped;

/// The most streams that are listed; a plant of many devices has more.
const MOST_STREAMS: usize = 8;
/// The most runs of numbers that are listed.
const MOST_RUNS: usize = 3;
/// The most facts about a party that are listed.
const MOST_FACTS: usize = 12;

/// Returns the explanation as text for a screen.
pub(crate) fn explained(of: &Explanation) -> String {
    let mut lines = vec![of.question.clone()];
    for stream in of.streams.iter().take(MOST_STREAMS) {
        lines.extend(stream_lines(stream));
    }
    if let Some(more) = of.streams.len().checked_sub(MOST_STREAMS).filter(|more| *more > 0) {
        lines.push(format!("and {} (--json has them)", counted(more as u64, "more stream")));
    }
    if of.streams.is_empty() {
        lines.push("no window: nothing would be fetched".to_owned());
    }
    let has_readings = of.streams.iter().flat_map(|stream| &stream.values).any(|of| of.what == "readings");
    let bytes = |bytes: u64| format!("{} bytes", grouped(bytes));
    lines.push(format!(
        "in all: {} windows, {} sent by devices; at most {} of {} would come down",
        grouped(of.windows()),
        bytes(of.bytes_up),
        bytes(of.bytes_down),
        if has_readings { "sums and readings" } else { "sums" }
    ));
    lines.push(format!("you compute, in each of {}:", counted(of.groups, "group")));
    lines.extend(of.computed.iter().map(result_line));
    for (who, facts) in [
        ("the cloud learns", &of.learned.cloud),
        ("you learn, beside the answer", &of.learned.owner),
        ("a reader of the answer learns", &of.learned.reader),
    ] {
        lines.push(format!("{who}:"));
        lines.extend(facts.iter().take(MOST_FACTS).map(|fact| format!("  {fact}")));
        if let Some(more) = facts.len().checked_sub(MOST_FACTS).filter(|more| *more > 0) {
            lines.push(format!("  and {} (--json has them)", counted(more as u64, "more fact")));
        }
    }
    lines.push(
        "nothing was fetched but the list of windows; without --explain the question is answered, and sums of earlier answers are not \
         fetched again"
            .to_owned(),
    );
    lines.join("\n")
}

fn stream_lines(stream: &ExplainedStream) -> Vec<String> {
    let short = |time: &str| time.get(..16).unwrap_or(time).replace('T', " ");
    let mut lines = vec![format!(
        "{}{}, stream {}: {} windows ({}), {} to {}, {} bytes",
        stream.device,
        stream.offset.as_ref().map_or_else(String::new, |offset| format!(", offset {offset}")),
        stream.stream,
        grouped(stream.windows),
        numbers(&stream.numbers),
        short(&stream.from),
        short(&stream.to),
        grouped(stream.bytes_up)
    )];
    if stream.left_out {
        lines.push("  left out: they lack quantities that the question needs".to_owned());
        return lines;
    }
    lines.push(match &stream.scheme {
        Some(scheme) => {
            format!("  the cloud evaluates them under {scheme}; `sotto plan` has the bytes of its results")
        }
        None => format!(
            "  the cloud adds them in {}; at most {} bytes come down in {}",
            sums(stream.sums, stream.of_one_window),
            grouped(stream.bytes_down),
            counted(stream.requests, "answer")
        ),
    });
    let whats: Vec<String> = stream.values.iter().map(what).collect();
    let width = whats.iter().map(|what| what.chars().count()).max().unwrap_or_default();
    let each = stream.values.iter().zip(&whats);
    lines.extend(each.map(|(values, what)| format!("    {what:width$}  for {}", values.calls.join(", "))));
    lines
}

fn what(values: &ExplainedValues) -> String {
    format!("{} of {}", values.what, values.channels.join(", "))
}

fn sums(sums: u64, of_one_window: u64) -> String {
    match of_one_window {
        0 => counted(sums, "sum"),
        all if all == sums => format!("{} of one window each", counted(sums, "sum")),
        some => format!("{}, {some} of one window each", counted(sums, "sum")),
    }
}

/// Returns the numbers of windows as runs, such as `0 to 8759`.
fn numbers(runs: &[(u64, u32)]) -> String {
    let run = |(first, count): &(u64, u32)| match count {
        1 => first.to_string(),
        count => format!("{first} to {}", first.saturating_add(u64::from(*count) - 1)),
    };
    let mut text: Vec<String> = runs.iter().take(MOST_RUNS).map(run).collect();
    if let Some(more) = runs.len().checked_sub(MOST_RUNS).filter(|more| *more > 0) {
        text.push(format!("and {}", counted(more as u64, "more run")));
    }
    text.join(", ")
}

fn result_line(result: &ExplainedResult) -> String {
    let expression = result.expression.as_ref().map_or_else(String::new, |text| format!(" = {text}"));
    format!("  {}{expression}: from {}", result.name, result.from.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_merged_and_cut() {
        assert_eq!(numbers(&[(0, 8760)]), "0 to 8759");
        assert_eq!(numbers(&[(0, 1), (2, 2), (9, 1), (11, 1), (13, 5)]), "0, 2 to 3, 9, and 2 more runs");
    }
}
