//! Published answers: released values, and refusals.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::answers::Assurance;
use crate::answers::kept::{take_checked, verified_path};
use crate::declared::NewPlant;
use crate::files::write_private;

fn row(name: &str, value: f64, bound: f64) -> Row {
    let at = || "2014-01-31T00:00:00+01:00".to_owned();
    Row {
        tag: None,
        rank: None,
        assurance: Assurance::Authenticated,
        held_back: false,
        from: at(),
        to: at(),
        device: None,
        name: name.to_owned(),
        value: Some(value),
        bound: Some(bound),
        unit: String::new(),
        count: 1,
        missing: 0,
        why: None,
        bin: None,
        interpolated: false,
        recurs: None,
        at: None,
        at_ms: None,
        from_ms: 0,
        to_ms: 0,
    }
}

fn answer(question: &str, rows: Vec<Row>, flooded: Option<Flooded>) -> Answer {
    let mut document = serde_json::json!({
        "version": 1, "question": question, "rows": [], "bytes_up": 0, "bytes_down": 0, "seconds": 0.0, "windows": 0, "jobs": 1,
        "evaluate_us": 0, "steps": {}, "left_out": {}, "notes": [], "time_zone": "UTC",
    });
    if let Some(flooded) = flooded {
        document["flooded"] = serde_json::to_value(flooded).unwrap();
    }
    Answer { rows, ..serde_json::from_value(document).unwrap() }
}

const FLOODED: Flooded = Flooded { statistical_bits: 30, allowed: 1000, results: 1, left: 999 };
const MIXED: &str =
    "mean(x), mean(polynomial(x, [0, 2])) as p, polynomial(x, [1, 2]), count(polynomial(x, [1, 2]))";

fn mixed(flooded: Option<Flooded>) -> Answer {
    let rows = vec![
        row("mean(x)", 20.123456789, 0.05),
        row("p", 40.123456789, 0.003),
        row("polynomial(x, [1, 2])[0]", 41.98765, 0.004),
        row("count(polynomial(x, [1, 2]))", 7.0, 0.0),
    ];
    answer(MIXED, rows, flooded)
}

fn values(published: &Published) -> Vec<f64> {
    published.rows.iter().map(|row| row.value.unwrap()).collect()
}

#[test]
fn exact_rows_leave_as_they_are_and_reals_rounded() {
    let given = published(mixed(None), Giving::Default, 5).unwrap();
    assert_eq!(values(&given), [20.123456789, 40.12, 41.99, 7.0]);
    assert_eq!((given.rounded, given.flooded), (2, None));
    let bound = given.rows[1].bound.unwrap();
    assert!((bound - 0.008).abs() < 1e-12, "half a step is added: {bound}");
    let given = published(mixed(None), Giving::Round(-1), 5).unwrap();
    assert_eq!(values(&given), [20.123456789, 40.0, 40.0, 7.0]);
    let refused = published(mixed(None), Giving::Round(3), 5).unwrap_err().to_string();
    assert!(refused.contains("take at most 2"), "{refused}");
}

#[test]
fn only_what_was_flooded_leaves_flooded() {
    let given = published(mixed(Some(FLOODED)), Giving::Flood, 5).unwrap();
    assert_eq!(given, published(mixed(Some(FLOODED)), Giving::Default, 5).unwrap());
    assert_eq!(values(&given), [20.123456789, 40.123456789, 41.98765, 7.0]);
    assert_eq!((given.rounded, given.flooded), (0, Some(FLOODED)));
    let refused = published(mixed(None), Giving::Flood, 5).unwrap_err().to_string();
    assert!(refused.contains("shared"), "{refused}");
    // Whole numbers need no flooding.
    let exact = answer("mean(x) shared", vec![row("mean(x)", 1.0, 0.05)], None);
    assert_eq!(published(exact, Giving::Flood, 5).unwrap().flooded, None);
}

#[test]
fn rounding_is_never_finer_than_the_bound() {
    for (bound, step, rounded) in
        [(0.01, 0.01, 0.12), (0.0101, 0.1, 0.1), (0.1, 0.1, 0.1), (1.0, 1.0, 0.0), (9.0, 10.0, 0.0)]
    {
        let (value, after) = round(0.123456, bound, None).unwrap();
        assert_eq!(value, rounded, "{bound}");
        assert!((after - bound - step / 2.0).abs() < 1e-12, "{bound}: {after}");
    }
    assert_eq!(round(0.123456, 0.0, Some(2)).unwrap().0, 0.12);
}

#[test]
fn nothing_leaves_that_was_not_verified_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let new = NewPlant { cloud: None, listen: "127.0.0.1:7410".parse().unwrap(), time_zone: None };
    let plant = Plant::init(folder.path(), &new).unwrap();
    let name = plant.keep(&mixed(None)).unwrap().unwrap();
    let refused = plant.publish(&name, Giving::Default).unwrap_err().to_string();
    assert!(refused.contains(&format!("run `sotto verify {name}` first")), "{refused}");
    let mark = |sampled: f64| {
        let mark = Verified { at_ms: 7, sampled, jobs: 1 };
        write_private(&verified_path(&plant, &name), &serde_json::to_vec(&mark).unwrap()).unwrap();
    };
    mark(0.99);
    let refused = plant.publish(&name, Giving::Default).unwrap_err().to_string();
    assert!(refused.contains("99 %") && refused.contains("sotto verify"), "{refused}");
    mark(1.0);
    assert_eq!(plant.publish(&name, Giving::Default).unwrap().verified_ms, 7);
    assert_eq!(plant.answers().unwrap(), [name.as_str()], "a mark is no answer");
    assert!(plant.verified("../sotto").is_err(), "there is no such answer");
    write_private(&verified_path(&plant, &name), b"{}").unwrap();
    assert!(matches!(plant.publish(&name, Giving::Default), Err(OwnerError::Damaged { .. })));
}

#[test]
fn unchecked_values_are_held_back_until_the_work_was_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let new = NewPlant { cloud: None, listen: "127.0.0.1:7410".parse().unwrap(), time_zone: None };
    let plant = Plant::init(folder.path(), &new).unwrap();
    let mut asked = mixed(None);
    asked.rows[1].assurance = Assurance::Unchecked;
    let shown = |name: &str| {
        let kept = plant.answer(name).unwrap().answer;
        (kept.rows[0].value, kept.rows[1].value, kept.rows[1].assurance)
    };
    let (mean, of_job) = (asked.rows[0].value, asked.rows[1].value);
    let name = plant.keep(&asked).unwrap().unwrap();
    assert_eq!(shown(&name), (mean, None, Assurance::Unchecked));
    let text = std::fs::read_to_string(plant.path("answers").join(format!("{name}.json"))).unwrap();
    assert!(!text.contains(&of_job.unwrap().to_string()), "{text}");
    // Two verifications, and an interrupted one, take nothing away.
    for _ in 0..2 {
        take_checked(&plant, &name, 1).unwrap();
        assert_eq!(shown(&name), (mean, of_job, Assurance::Recomputed));
    }
    // Without the file of held-back values nothing becomes recomputed.
    let other = plant.keep(&asked).unwrap().unwrap();
    std::fs::remove_file(plant.path("answers").join(format!("{other}.unchecked"))).unwrap();
    take_checked(&plant, &other, 1).unwrap();
    assert_eq!(shown(&other), (mean, None, Assurance::Unchecked));
    // By the wish of the asker, and after the work was repeated with the question.
    let wished = plant.keep(&asked.clone().with_unchecked()).unwrap().unwrap();
    assert_eq!(shown(&wished), (mean, of_job, Assurance::Unchecked));
    let repeated = Answer { repeated: Some(1), ..asked.recomputed() };
    let name = plant.keep(&repeated).unwrap().unwrap();
    assert_eq!(shown(&name), (mean, of_job, Assurance::Recomputed));
    assert!(plant.publish(&name, Giving::Default).is_ok(), "it was verified as a whole");
}
