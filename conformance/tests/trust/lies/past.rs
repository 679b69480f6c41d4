//! Lies about the windows of an earlier answer, as of which a question is asked.

use serde_json::json;

use super::Verdict::{Harmless, Refused};
use super::logs::log;
use super::sums::{asks, is_sums};
use super::{Case, http};
use crate::world::TOTAL;

/// Commands that make the owner read the logs without an earlier state.
const ACCEPTED: &[&[&str]] = &[&["cloud", "accept", "meter"]];

pub(super) fn all() -> Vec<Case> {
    let other = (Refused, "other windows");
    let doubled = (Refused, "doubled window");
    let fewer = (Refused, "are not those that the answer was given on");
    vec![
        Case::new(
            "the sum of now",
            TOTAL,
            (Refused, "number of windows of a sum"),
            asks(|body| {
                let runs = body["windows"].as_array_mut().unwrap();
                let last = runs.last().unwrap();
                let next = last[0].as_u64().unwrap() + last[1].as_u64().unwrap();
                runs.push(json!([next, 1]));
                let count: u64 = runs.iter().map(|run| run[1].as_u64().unwrap()).sum();
                body["sums"][0]["windows"] = json!([0, count]);
            }),
        )
        .of_earlier(),
        Case::new(
            "a sum without the first window of then",
            TOTAL,
            other,
            asks(|body| {
                let runs = body["windows"].as_array_mut().unwrap();
                let (first, count) = (runs[0][0].as_u64().unwrap(), runs[0][1].as_u64().unwrap());
                runs[0] = json!([first + 1, count - 1]);
                runs.retain(|run| run[1] != json!(0));
                let count: u64 = runs.iter().map(|run| run[1].as_u64().unwrap()).sum();
                body["sums"][0]["windows"] = json!([0, count]);
            }),
        )
        .of_earlier(),
        Case::new(
            "windows in another order",
            TOTAL,
            (Refused, "doubled window"),
            log(|windows| windows.reverse()),
        )
        .of_earlier(),
        Case::new(
            "windows in another order, once the logs were accepted anew",
            TOTAL,
            doubled,
            log(|windows| windows.reverse()),
        )
        .running(ACCEPTED)
        .of_earlier(),
        Case::new(
            "a later window first, once the logs were accepted anew",
            TOTAL,
            doubled,
            log(|windows| windows.rotate_right(1)),
        )
        .running(ACCEPTED)
        .of_earlier(),
        Case::new(
            "a window of then dropped, once the logs were accepted anew",
            TOTAL,
            fewer,
            log(|windows| {
                windows.remove(2);
            }),
        )
        .running(ACCEPTED)
        .of_earlier(),
        Case::new(
            "fewer windows than then, once the logs were accepted anew",
            TOTAL,
            fewer,
            log(|windows| windows.truncate(3)),
        )
        .running(ACCEPTED)
        .of_earlier(),
        Case::new(
            "the newest windows dropped, once the logs were accepted anew",
            TOTAL,
            (Harmless, ""),
            log(|windows| {
                windows.pop();
            }),
        )
        .running(ACCEPTED)
        .of_earlier(),
        Case::new(
            "bodies dropped since",
            TOTAL,
            (Refused, "410"),
            http::status(is_sums, 410, "body-dropped"),
        )
        .of_earlier(),
    ]
}
