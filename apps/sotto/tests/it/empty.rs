//! Answers without a value: each cause is named, with its way out and an exit code of its own.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::session::{self, send_text, sotto};

/// Runs `sotto` in a folder; returns its exit code and both of its outputs.
fn run(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sotto"));
    let done = command.args(arguments).current_dir(folder).env_remove("SOTTO_PLANT").output().unwrap();
    let said = [done.stdout, done.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    (done.status.code().unwrap(), said)
}

/// Asks on the terminal and with `--json`. Returns the words; code and cause are the same in both.
#[track_caller]
fn fails(folder: &Path, question: &str, code: i32, cause: Option<&str>) -> String {
    let (ended, said) = run(folder, &["ask", question]);
    assert_eq!(ended, code, "{question}: {said}");
    let (ended, json) = run(folder, &["ask", question, "--json"]);
    assert_eq!(ended, code, "{question}: {json}");
    let json: Value = serde_json::from_str(&json).unwrap();
    match cause {
        Some(cause) => {
            let empty = &json["empty"];
            assert_eq!((&empty["cause"], &empty["exit_code"]), (&cause.into(), &code.into()), "{empty}");
            let line = format!("no answer: {}", empty["reason"].as_str().unwrap());
            assert!(said.lines().any(|other| other == line), "{said}");
            line
        }
        None => {
            assert_eq!(json["exit_code"], code, "{json}");
            let error = json["error"].as_str().unwrap();
            assert!(said.contains(error), "{said}");
            error.to_owned()
        }
    }
}

#[track_caller]
fn answers(folder: &Path, question: &str) {
    let (ended, said) = run(folder, &["ask", question]);
    assert_eq!((ended, said.contains("no answer")), (0, false), "{question}: {said}");
}

fn plant() -> (tempfile::TempDir, tokio::runtime::Runtime) {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path();
    let run = |arguments: &[&str]| sotto(folder, arguments).unwrap();
    session::init(folder, "mean(heat) by day");
    let cloud = session::serve(folder);
    run(&["device", "add", "boiler", "--channels", "heat,flow"]);
    (outside, cloud)
}

/// Two days by hour; the second has readings of heat up to ten o'clock.
fn days() -> String {
    let row = |hour: u32| {
        let heat = if hour <= 34 { "1.5" } else { "" };
        format!("2024-01-{:02}T{:02}:00:00Z,{heat},2.5\n", 1 + hour / 24, hour % 24)
    };
    "time,heat,flow\n".to_owned() + &(0..48).map(row).collect::<String>()
}

#[test]
fn each_cause_of_an_empty_answer_is_named() {
    let (outside, _cloud) = plant();
    let folder = outside.path();
    let said = fails(folder, "mean(heat)", 10, Some("nothing-arrived"));
    assert!(said.contains("no window with heat has arrived from boiler") && said.contains("sotto-agent run"));
    send_text(folder, "boiler.bundle", &days());
    answers(folder, "mean(heat)");

    let said = fails(folder, "mean(heat) since 2024-01-02 until 2024-01-01", 17, None);
    assert!(said.contains("exchange them") && said.contains('^'), "{said}");
    assert_eq!(run(folder, &["ask", "mean(heat)", "--since", "2024-01-02", "--until", "2024-01-02"]).0, 17);
    let said = fails(folder, "mean(heat) since 2999-01-01", 11, Some("other-time"));
    assert!(
        said.contains("from 2024-01-01 00:00 to 2024-01-02 23:59") && said.contains("ahead of this"),
        "{said}"
    );
    let said = fails(folder, "mean(heat) until 2020-01-01", 11, Some("other-time"));
    assert!(!said.contains("ahead"), "{said}");
    answers(folder, "mean(heat) over 1d");

    // The newest window has the whole day.
    let said = fails(folder, "mean(heat) over 2h", 12, Some("no-reading"));
    assert!(said.contains("at 2024-01-02 10:00") && said.contains("`over 14h` reaches it"), "{said}");
    answers(folder, "mean(heat) over 14h");
    let said = fails(folder, "mean(heat) over 13h", 12, Some("no-reading"));
    assert!(said.contains("over 14h"), "{said}");
    fails(folder, "mean(heat) since 2024-01-02T12:00 until 2024-01-02T20:00", 12, Some("no-reading"));
    fails(folder, "mean(heat) since 2024-01-01T00:10 until 2024-01-01T00:20", 12, Some("no-reading"));
    // A number of readings is a value.
    answers(folder, "count(heat) over 2h");

    let said = fails(folder, "mean(heat) where device in (pump)", 16, None);
    assert!(said.contains("declared are boiler") && said.contains("sotto device add pump"), "{said}");
    let settings = folder.join("plant/sotto.toml");
    let before = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, before.clone() + "\n[devices.pump]\nchannels = [\"heat\"]\n").unwrap();
    let said = fails(folder, "mean(heat) where device in (pump)", 16, None);
    assert!(said.contains("enrol it with `sotto device add pump`"), "{said}");
    std::fs::write(&settings, &before).unwrap();
    let cold =
        ["channel", "add", "cold", "--unit", "°C", "--range", "0..10", "--resolution", "1", "--every", "1h"];
    sotto(folder, &cold).unwrap();
    let said = fails(folder, "mean(cold)", 16, None);
    assert!(said.contains("sotto device add NAME --channels cold"), "{said}");
}

#[test]
fn an_edited_unit_and_a_destroyed_secret_are_named_and_come_back() {
    let (outside, _cloud) = plant();
    let folder = outside.path();
    send_text(folder, "boiler.bundle", &days());
    let settings = folder.join("plant/sotto.toml");
    let before = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, before.replace("unit = \"kW\"", "unit = \"MW\"")).unwrap();
    let said = fails(folder, "mean(heat)", 13, Some("other-unit"));
    assert!(
        said.contains("is MW in sotto.toml, and was kW") && said.contains("unit = \"kW\" again"),
        "{said}"
    );
    std::fs::write(&settings, before).unwrap();
    answers(folder, "mean(heat)");

    std::fs::remove_file(folder.join("plant/secrets/boiler.key")).unwrap();
    let said = fails(folder, "mean(heat)", 14, Some("no-secret"));
    assert!(said.contains("`sotto device adopt boiler.bundle`"), "{said}");
    // Of another time than the windows', the time is named.
    fails(folder, "mean(heat) since 2999-01-01", 11, Some("other-time"));
    sotto(folder, &["device", "adopt", "boiler.bundle"]).unwrap();
    answers(folder, "mean(heat)");
}

#[test]
fn windows_of_another_scheme_and_deleted_ones_are_named() {
    let (outside, _cloud) = plant();
    let folder = outside.path();
    send_text(folder, "boiler.bundle", &days());
    sotto(folder, &["question", "add", "stated", "mean(heat)", "--scheme", "bfv"]).unwrap();
    // The new bundle sends ciphertexts, and nothing has come from it.
    sotto(folder, &["device", "renew", "boiler"]).unwrap();
    let said = fails(folder, "stated", 15, Some("left-out"));
    assert!(said.contains("the note tells"), "{said}");
    let forget = ["forget", "--device", "boiler", "--before", "2999-01-01", "--yes"];
    sotto(folder, &forget).unwrap();
    let said = fails(folder, "mean(heat)", 10, Some("nothing-arrived"));
    assert!(said.contains("was deleted with `sotto forget`"), "{said}");
}

#[test]
fn now_counts_from_this_clock() {
    let (outside, _cloud) = plant();
    let folder = outside.path();
    send_text(folder, "boiler.bundle", &days());
    answers(folder, "mean(heat) over 24h");
    let (code, said) = run(folder, &["ask", "--now", "mean(heat) over 24h"]);
    assert_eq!((code, said.contains("to 2024-01-02 23:59")), (11, true), "{said}");
    let (code, said) = run(folder, &["ask", "--now", "mean(heat)"]);
    assert_eq!((code, said.contains("over 24h")), (4, true), "{said}");
    // Readings of the last hours.
    let now = jiff::Timestamp::now();
    let row = |hours: i64| format!("{},3.5,1\n", now - jiff::SignedDuration::from_hours(hours));
    send_text(
        folder,
        "boiler.bundle",
        &("time,heat,flow\n".to_owned() + &(1..6).rev().map(row).collect::<String>()),
    );
    let (code, said) = run(folder, &["ask", "--now", "mean(heat), count(heat) over 24h", "--json"]);
    let answer: Value = serde_json::from_str(&said).unwrap();
    let rows: Vec<&Value> = answer["rows"].as_array().unwrap().iter().map(|row| &row["value"]).collect();
    assert_eq!((code, rows), (0, vec![&3.5.into(), &5.0.into()]), "{said}");
    assert!(answer["question"].as_str().unwrap().contains(" since "), "it names its times");
}
