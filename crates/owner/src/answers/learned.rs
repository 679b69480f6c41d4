//! The facts that cloud, owner and readers learn of a question.

use super::explanation::{ExplainedStream, Explanation, Learned};
use crate::functions::Call;
use crate::question::{Devices, Question};

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
            let fact = format!("{}: {fact}", stream.device);
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
    let each = if question.grouping == Devices::Each { " for each device" } else { " over all devices" };
    let mut facts = vec![format!(
        "{} of {}{each}: values, bounds, times, numbers of readings and of missing ones",
        counted(question.select.len() as u64, "result"),
        counted(explained.groups, "group")
    )];
    let calls = |is: fn(&Call) -> bool| question.calls().any(is);
    if calls(|call| matches!(call, Call::Values(_))) {
        facts.push("a value for each reading, through values".to_owned());
    }
    if calls(|call| matches!(call, Call::Min(_) | Call::Max(_))) {
        facts.push("single readings, as min and max are".to_owned());
    }
    if question.shared {
        facts.push("reals with flooding noise, which hides those that they were computed from".to_owned());
    } else {
        facts.push("nothing more of readings than follows from these: small groups tell much".to_owned());
    }
    facts
}
