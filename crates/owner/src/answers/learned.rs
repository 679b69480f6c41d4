//! The facts that cloud, owner and readers learn of a question.

use super::explanation::{ExplainedStream, Explanation, Learned};
use crate::functions::Call;
use crate::question::{Devices, Question, RankedBy, Ranking, WithDevices};

/// Returns the facts that each party learns.
pub(super) fn learned(question: &Question, explained: &Explanation) -> Learned {
    Learned { cloud: by_cloud(explained), owner: by_owner(explained), reader: by_reader(question, explained) }
}

fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

fn by_cloud(explained: &Explanation) -> Vec<String> {
    let added: Vec<&ExplainedStream> = explained.counted().filter(|stream| stream.scheme.is_none()).collect();
    let mut facts = Vec::new();
    if !added.is_empty() {
        let (sums, windows): (u64, u64) = added
            .iter()
            .fold((0, 0), |(sums, windows), stream| (sums + stream.sums, windows + stream.windows));
        facts.push(format!(
            "that you ask now for {} of {}, and which windows each adds",
            counted(sums, "sum"),
            counted(windows, "window")
        ));
    }
    if added.iter().any(|stream| stream.weighted) {
        facts.push("the weights of windows".to_owned());
    }
    let evaluated: u64 =
        explained.counted().filter(|stream| stream.scheme.is_some()).map(|stream| stream.windows).sum();
    if evaluated > 0 {
        facts.push(format!(
            "the plan of the jobs on {}: coefficients, and limits that it compares with",
            counted(evaluated, "window")
        ));
    }
    facts.push("no reading, no sum and no result; it has had the heads of windows (names, times, numbers of readings) since they came".to_owned());
    facts
}

fn by_owner(explained: &Explanation) -> Vec<String> {
    let mut facts = Vec::new();
    for stream in explained.counted() {
        for values in &stream.values {
            let of = format!("{} of {}", values.what, values.channels.join(", "));
            let fact = match (values.sums, values.of_one_window) {
                (0, _) => format!("{of}, decrypted"),
                (sums, 0) => format!("{of}: {} over several windows", counted(sums, "sum")),
                (sums, single) if sums == single => {
                    format!("{of}, window by window ({})", counted(single, "window"))
                }
                (sums, single) => {
                    format!("{of}: {}, {single} of them of a single window", counted(sums, "sum"))
                }
            };
            let offset =
                stream.offset.as_ref().map_or_else(String::new, |offset| format!(", offset {offset}"));
            let fact = format!("{}{offset}: {fact}", stream.device);
            if !facts.contains(&fact) {
                facts.push(fact);
            }
        }
    }
    let is_by_tick = |stream: &ExplainedStream| {
        stream.values.iter().any(|values| values.what.contains("tick") && values.of_one_window > 0)
    };
    if explained.counted().any(is_by_tick) {
        facts.push("sums by tick of a single window are its readings".to_owned());
    }
    facts
}

fn by_reader(question: &Question, explained: &Explanation) -> Vec<String> {
    let each = match (question.ranking, question.grouping) {
        (Some(Ranking { devices, .. }), _) => format!(" for at most {}", counted(devices.into(), "device")),
        (None, Devices::Across) => " over all devices".to_owned(),
        (None, Devices::Each) => " for each device".to_owned(),
        (None, Devices::Tag) => " for each tag, over all devices with it".to_owned(),
    };
    let mut facts = vec![format!(
        "{} of {}{each}: values, bounds, times, numbers of readings and of missing ones",
        counted(question.select.len() as u64, "result"),
        counted(explained.groups, "group")
    )];
    if let (Some(Ranking { by, devices }), Some(first)) = (question.ranking, question.select.first()) {
        let order = match by {
            RankedBy::Largest => "largest",
            RankedBy::Smallest => "smallest",
        };
        facts.push(format!(
            "the devices with the {devices} {order} values of {}, their order, and how near the next one is",
            first.name()
        ));
    }
    for (is, fact) in SINGLE_READINGS {
        let mut calls: Vec<String> = Vec::new();
        for (call, of) in question.select.iter().flat_map(|selected| selected.expression.calls_of()) {
            let name = WithDevices(call, of).to_string();
            if is(call) && !calls.contains(&name) {
                calls.push(name);
            }
        }
        if !calls.is_empty() {
            facts.push(format!("{fact}, through {}", calls.join(", ")));
        }
    }
    if question.shared {
        facts.push("reals with flooding noise, which hides those that they were computed from".to_owned());
    } else {
        facts.push("nothing more of readings than follows from these: small groups tell much".to_owned());
    }
    facts
}

/// A kind of calls, and a fact in words.
type OfReadings = (fn(&Call) -> bool, &'static str);

/// The calls whose values are made of one reading or two, and what they tell of it.
const SINGLE_READINGS: [OfReadings; 5] = [
    (|call| matches!(call, Call::Values(_)), "a value for each reading"),
    (|call| matches!(call, Call::Interpolate(_)), "each reading with its time"),
    (|call| matches!(call, Call::Min(_) | Call::Max(_) | Call::First(_) | Call::Last(_)), "single readings"),
    (
        |call| matches!(call, Call::First(_) | Call::Last(_) | Call::TimeOfMax(_) | Call::TimeOfMin(_)),
        "the times of single readings",
    ),
    (
        |call| matches!(call, Call::Range(_) | Call::MaxDifference(_) | Call::MinDifference(_)),
        "the difference of two readings",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(text: &str) -> String {
        let question = Question::parse(text).expect("a question");
        by_reader(&question, &Explanation::new(text.to_owned(), "UTC")).join("\n")
    }

    #[test]
    fn a_reader_is_told_the_rows_and_the_single_readings_in_them() {
        for (text, told) in [
            ("mean(x)", vec!["over all devices"]),
            ("mean(x) per device", vec!["for each device"]),
            ("mean(x) per tag", vec!["for each tag"]),
            ("top 3 devices of mean(x)", vec!["at most 3 devices", "3 largest values of mean(x)"]),
            ("bottom 1 devices of mean(x)", vec!["at most 1 device:", "1 smallest values of mean(x)"]),
            ("first(x of boiler)", vec!["single readings, through first(x of boiler)", "times of single"]),
            ("last(x) offset 1d", vec!["single readings, through last(x)", "times of single readings"]),
            ("max(x), min(y)", vec!["single readings, through max(x), min(y)"]),
            ("time_of_max(x)", vec!["the times of single readings, through time_of_max(x)"]),
            ("interpolate(x) per device", vec!["each reading with its time, through interpolate(x)"]),
            ("max(a - b)", vec!["the difference of two readings, through max(a - b)"]),
        ] {
            let facts = reader(text);
            for words in told {
                assert!(facts.contains(words), "{text}: {words:?} is not in {facts}");
            }
        }
        assert!(!reader("mean(x), stddev(x)").contains("through"));
        assert!(!reader("mean(x) per tag").contains("over all devices:"));
    }
}
