//! The owner opens windows, and sums of them, to the device's readings.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use sotto_evaluate::{TaggedSum, TaggedSumming};
use sotto_sums::{OpenError, Opening, StartKeys, StreamKeys, TagKey};
use sotto_wire::{Envelope, SumsAnswer};

use super::{Plant, TICKS, hour, is_rounded, steps, values};
use crate::site::{Act, agent};

/// Returns the standard output of `spec.sums_open`, which shares no code with the agent. None, and says why, without Python.
fn opened_by_python(case: &Value) -> Option<Value> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut python = Command::new("python3");
    python.args(["-m", "spec.sums_open"]).current_dir(root).env("PYTHONDONTWRITEBYTECODE", "1");
    let child = python.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = child.inspect_err(|why| eprintln!("skipped: python3 {why}")).ok()?;
    child.stdin.take().unwrap().write_all(case.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "a window was not opened");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn plain_python_opens_a_thousand_windows() {
    let plant = Plant::new(&[Act::Store], false);
    plant.run(437);
    // A restart, with another salt.
    plant.run(1000);
    let uploads = plant.cloud.uploads();
    assert_eq!(uploads.len(), 1000);
    let bodies: Vec<String> = uploads.iter().map(|upload| hex::encode(&upload.body)).collect();
    let Some(opened) = opened_by_python(&json!({
        "secret": hex::encode(plant.secret),
        "signing_key": hex::encode(plant.verifying_key),
        "header": hex::encode(plant.header.write()),
        "windows": bodies,
    })) else {
        return;
    };
    let opened = opened.as_array().unwrap();
    assert_eq!(opened.len(), 1000);
    let (mut salts, mut short, mut left_out) = (Vec::new(), 0, 0);
    for (hour, window) in (0..).zip(opened) {
        assert_eq!(window["parts"], json!(values(hour)), "hour {hour}");
        let rounded =
            (hour * TICKS..(hour + 1) * TICKS).filter(|tick| is_rounded(*tick) && steps(*tick)[1].is_some());
        assert_eq!(window["rounded"], json!([0, rounded.count()]), "hour {hour}");
        assert_eq!((&window["sequence"], &window["number"]), (&json!(hour), &json!(hour)));
        let ticks = window["presence"].as_array().unwrap().iter().flat_map(|ticks| ticks.as_array().unwrap());
        short += u32::from(ticks.filter_map(Value::as_u64).max() < Some(u64::from(TICKS) - 1));
        left_out += u32::from(window["left_out"] != json!([{}, {}]));
        if salts.last() != Some(&window["salt"]) {
            salts.push(window["salt"].clone());
        }
    }
    assert_eq!(salts.len(), 2, "a salt for each start");
    assert!(short > 100 && left_out > 500, "{short} windows end early, {left_out} have gaps");
}

/// Returns the frame of the cloud's sums of all parts with these weights.
fn added(plant: &Plant, windows: &[Envelope], weights: &[i64]) -> Vec<u8> {
    let all = TaggedSum { windows: (0, windows.len() as u32), parts: &[0, 1, 2], weights: Some(weights) };
    let mut summing = TaggedSumming::new(&plant.header, windows.len(), vec![all]).unwrap();
    windows.iter().for_each(|window| summing.add(window).unwrap());
    summing.frame().unwrap()
}

/// Opens the sum of a part over these windows, as the owner does.
fn open(
    plant: &Plant,
    windows: &[Envelope],
    weights: &[i64],
    answer: &SumsAnswer<'_>,
    part: u8,
) -> Result<Vec<i64>, OpenError> {
    let stream = plant.header.stream_id().unwrap();
    let form = plant.header.sums_form(part.into()).unwrap();
    let key = TagKey::new(&StreamKeys::derive(&plant.secret, stream), &form, part.into());
    let mut starts = BTreeMap::new();
    let mut opening = Opening::new(&form, part.into());
    for (window, weight) in windows.iter().zip(weights) {
        let name = window.mask().unwrap();
        let start =
            starts.entry(name.salt).or_insert_with(|| StartKeys::derive(&plant.secret, stream, &name.salt));
        let described = window.signed_header().description().unwrap();
        let there = plant.header.parts()[usize::from(part)].present(&described);
        opening.add(start, name.sequence, described.sent_ticks(), *weight, |place| there[place]);
    }
    opening.open(&key, answer.sums[0].part(part).unwrap())
}

#[test]
fn sums_of_windows_are_sums_of_readings() {
    let plant = Plant::new(&[Act::Store], false);
    plant.run(60);
    plant.run(200);
    // Every third window, over both starts, with weights from −2 to 3.
    let windows: Vec<Envelope> = plant.envelopes().into_iter().step_by(3).collect();
    let weights: Vec<i64> = (0..windows.len() as i64).map(|at| at % 6 - 2).collect();
    let frame = added(&plant, &windows, &weights);
    let answer = SumsAnswer::read(&frame, &plant.header, 1 << 20, windows.len() as u32).unwrap();
    for part in 0..3_u8 {
        let mut expected = vec![0; plant.header.sums_form(part.into()).unwrap().places(TICKS)];
        for (window, weight) in windows.iter().zip(&weights) {
            for (sum, value) in expected.iter_mut().zip(&values(hour(window))[usize::from(part)]) {
                *sum += weight * value.unwrap_or_default();
            }
        }
        assert_eq!(open(&plant, &windows, &weights, &answer, part), Ok(expected), "part {part}");
    }

    // The sum of other windows is refused, in each part.
    let (fewer, lighter) = (windows[1..].to_vec(), &weights[1..]);
    for part in 0..3 {
        assert_eq!(open(&plant, &fewer, lighter, &answer, part), Err(OpenError::Refused), "part {part}");
    }
}

#[test]
fn check_and_status_count_windows_of_sums() {
    let plant = Plant::new(&[Act::Store], true);
    plant.run(30);
    let printed = |command: &str, arguments: &[&str]| {
        let mut agent = agent();
        agent.arg(command).arg("--bundle").arg(plant.path("boiler.bundle")).args(arguments);
        let output = agent.output().unwrap();
        assert!(output.status.success(), "{command}");
        String::from_utf8(output.stdout).unwrap()
    };
    let status = printed("status", &[]);
    assert!(
        status.contains("hours: 30 windows with ") && status.contains("next sequence number 30"),
        "{status}"
    );
    // Forty hours, of which thirty are sent.
    drop(plant.command(40));
    let csv = plant.path("readings.csv");
    let checked = printed("check", &["--csv", csv.to_str().unwrap(), "--time", "time"]);
    assert!(checked.starts_with("hours: 10 windows"), "{checked}");
}
