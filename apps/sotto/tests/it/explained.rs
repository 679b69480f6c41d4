//! `sotto ask --explain`: the windows and sums that a question would take, beside the answer to it.

use std::path::Path;

use serde_json::Value;
use tokio::runtime::Runtime;

use crate::session::{self, HOURS};

/// A plant whose device has sent two days of hourly readings.
struct Plant {
    outside: tempfile::TempDir,
    _cloud: Runtime,
}

impl Plant {
    fn new() -> Self {
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path();
        session::init(folder, "stddev(heat), max(heat), correlation(heat, flow) by day");
        let cloud = session::serve(folder);
        session::sotto(folder, &["device", "add", "boiler", "--channels", "heat,flow"]).unwrap();
        session::send(folder, "boiler.bundle");
        Self { outside, _cloud: cloud }
    }

    fn folder(&self) -> &Path {
        self.outside.path()
    }
}

fn json(plant: &Plant, arguments: &[&str]) -> Value {
    let (_, said) = session::output(plant.folder(), &[arguments, &["--json"]].concat());
    serde_json::from_str(&said).unwrap()
}

fn strings(of: &Value) -> Vec<&str> {
    of.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

#[test]
fn an_explanation_has_the_windows_and_bytes_of_the_answer() {
    let plant = Plant::new();
    for question in [
        "sum(heat), mean(flow)",
        "mean(heat) by day",
        "stddev(heat) - mean(flow) as less by hour",
        "mean(heat) where time 22:00-06:00",
        "max(heat) by day",
        "weighted_sum(heat, half_life 6h)",
        "correlation(heat, flow)",
        "longest(20 <= heat <= 40) by day",
        "mean(heat), first(flow of boiler) by day",
    ] {
        let explained = json(&plant, &["ask", question, "--explain"]);
        assert_eq!(
            session::output(plant.folder(), &["answers"]).1.lines().next(),
            Some("no answer was kept yet")
        );
        let answer = json(&plant, &["ask", question, "--no-keep", "--no-cache"]);
        let stream = &explained["streams"][0];
        assert_eq!(explained["streams"].as_array().unwrap().len(), 1, "{question}");
        assert_eq!(stream["device"], "boiler");
        for name in ["windows", "bytes_up"] {
            assert_eq!(
                (&stream[name], question),
                (&answer[name], question),
                "the same {name}: {explained:#} {answer:#}"
            );
        }
        assert_eq!(stream["requests"], answer["jobs"], "{question}");
        // Counts take as few bytes as they need, and names of windows are short.
        let (most, down) = (stream["bytes_down"].as_u64().unwrap(), answer["bytes_down"].as_u64().unwrap());
        assert!(down <= most && most <= down + down / 4 + 100, "{question}: {down} bytes, said {most}");
        let numbers: u64 =
            stream["numbers"].as_array().unwrap().iter().map(|run| run[1].as_u64().unwrap()).sum();
        assert_eq!(numbers, stream["windows"], "{question}");
        assert_eq!(stream["from"], "2024-01-01T00:00:00+00:00");
        let names: Vec<&str> =
            explained["computed"].as_array().unwrap().iter().map(|of| of["name"].as_str().unwrap()).collect();
        let mut told: Vec<&str> =
            answer["rows"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
        told.truncate(names.len());
        assert_eq!(names, told);
    }
}

#[test]
fn an_explanation_says_which_values_come_down_for_which_calls() {
    let plant = Plant::new();
    let explained = json(&plant, &["ask", "sum(heat), stddev(heat), mean(flow)", "--explain"]);
    let values = explained["streams"][0]["values"].as_array().unwrap();
    let of = |what: &str| values.iter().find(|values| values["what"] == what).unwrap();
    assert_eq!(strings(&of("sums by tick")["calls"]), ["mean(flow)", "stddev(heat)", "sum(heat)"]);
    assert_eq!(strings(&of("sums of squares by tick")["calls"]), ["stddev(heat)"]);
    // Both days in one sum.
    assert_eq!(
        (&explained["streams"][0]["sums"], &explained["streams"][0]["of_one_window"]),
        (&1.into(), &0.into())
    );
    let owner = strings(&explained["learned"]["owner"]).join("\n");
    assert!(!owner.contains("are its readings"), "{owner}");

    // By day each sum has one window, whose sums by tick are readings.
    let explained = json(&plant, &["ask", "sum(heat) by day", "--explain"]);
    let days = u64::from(HOURS).div_ceil(24);
    assert_eq!(explained["streams"][0]["of_one_window"], days);
    let owner = strings(&explained["learned"]["owner"]).join("\n");
    assert!(owner.contains("are its readings"), "{owner}");
    let cloud = strings(&explained["learned"]["cloud"]).join("\n");
    assert!(cloud.contains(&format!("{days} sums")), "{cloud}");
}

#[test]
fn readings_and_earlier_groups_are_told_with_their_bytes() {
    let plant = Plant::new();
    let told = |question: &str| {
        let explained = json(&plant, &["ask", question, "--explain"]);
        let answer = json(&plant, &["ask", question, "--no-keep", "--no-cache"]);
        assert_eq!((&explained["bytes_up"], question), (&answer["bytes_up"], question), "{explained:#}");
        let (most, down) =
            (explained["bytes_down"].as_u64().unwrap(), answer["bytes_down"].as_u64().unwrap());
        assert!(down > 0 && down <= most, "{question}: {down} bytes, said {most}");
        (explained, answer)
    };
    let values = |explained: &Value, stream: usize| {
        let values = explained["streams"][stream]["values"].as_array().unwrap().clone();
        let of = |values: &Value| {
            (values["what"].as_str().unwrap().to_owned(), strings(&values["calls"]).join("; "))
        };
        values.iter().map(of).collect::<Vec<_>>()
    };
    let (explained, _) = told("last(heat of boiler)");
    assert_eq!(values(&explained, 0), [("readings".to_owned(), "last(heat of boiler)".to_owned())]);
    assert_eq!(explained["streams"][0]["windows"], 1, "only the last window");
    let owner = strings(&explained["learned"]["owner"]).join("\n");
    assert!(owner.contains("readings of heat, flow"), "{owner}");

    // The second day and the first.
    let (explained, _) = told("mean(heat) - mean(heat) offset 1d by day since 2024-01-02");
    let streams = explained["streams"].as_array().unwrap();
    let sums = |call: &str| ("sums by tick".to_owned(), call.to_owned());
    assert_eq!((streams.len(), &streams[1]["offset"]), (2, &"1d".into()));
    assert_eq!((streams[0].get("offset"), &streams[1]["windows"]), (None, &1.into()));
    assert_eq!(values(&explained, 1), [sums("mean(heat) offset 1d")]);
    let from = strings(&explained["computed"][0]["from"]).join("\n");
    assert!(from.contains("1d earlier"), "{from}");
    // The rows of one day, though the day before it counts in the average.
    let (explained, answer) = told("moving_average(heat, 2) by day since 2024-01-02");
    assert_eq!(explained["groups"].as_u64().unwrap() as usize, answer["rows"].as_array().unwrap().len());
    let (_, text) = session::output(plant.folder(), &["ask", "last(heat)", "--explain"]);
    assert!(text.contains("of sums and readings would come down") && !text.contains("no window"), "{text}");
}

#[test]
fn an_explanation_is_short_and_a_refusal_is_that_of_the_question() {
    let plant = Plant::new();
    let (_, text) =
        session::output(plant.folder(), &["ask", "mean(heat), stddev(flow) by hour", "--explain"]);
    assert!(text.lines().count() <= 25 && text.contains("0 to 1") && text.contains("you compute"), "{text}");
    let explained = session::output(plant.folder(), &["ask", "meen(heat)", "--explain", "--json"]);
    let asked = session::output(plant.folder(), &["ask", "meen(heat)", "--json"]);
    assert_eq!(explained, asked);
    assert_ne!(asked.0, 0);
}

#[test]
fn work_under_encryption_is_told_with_its_scheme() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path();
    let question = "mean(polynomial(heat, [0, 1, 2])) by day";
    session::init(folder, question);
    let _cloud = session::serve(folder);
    session::sotto(folder, &["device", "add", "boiler", "--channels", "heat,flow"]).unwrap();
    session::send(folder, "boiler.bundle");
    let (code, said) = session::output(folder, &["ask", question, "--explain", "--json"]);
    assert_eq!(code, 0, "{said}");
    let explained: Value = serde_json::from_str(&said).unwrap();
    let stream = &explained["streams"][0];
    assert_eq!(
        (&stream["scheme"], &stream["sums"], &stream["windows"]),
        (&"CKKS".into(), &0.into(), &2.into())
    );
    assert_eq!(strings(&stream["values"][0]["calls"]), [question.split(" by").next().unwrap()]);
    let cloud = strings(&explained["learned"]["cloud"]).join("\n");
    assert!(cloud.contains("coefficients"), "{cloud}");
}
