//! A plant of an earlier version, with its cloud, is opened and brought over: `tests/data/earlier-plant.tar.gz`.
//!
//! It was made at midnight UTC in the zone Europe/Vienna by the commands of [first answer](../../../docs/guides/first-answer.md):
//! `boiler` sent two days of hourly readings of heat and flow, was renewed, and sent a third one; `ca` sent a day of heat
//! and was removed. Records and the store are older than generations, sealed records and removals.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::session::{self, send_text, sotto};

/// The sum of 0.0, 0.1, … of so many hours.
fn sum(hours: u32) -> f64 {
    (0..hours).map(|hour| f64::from(hour) / 10.0).sum()
}

fn value(folder: &Path, question: &str) -> (f64, u64) {
    let answer: Value = serde_json::from_str(&sotto(folder, &["ask", question, "--json"]).unwrap()).unwrap();
    let row = &answer["rows"][0];
    (row["value"].as_f64().unwrap(), row["count"].as_u64().unwrap())
}

#[test]
fn a_plant_of_an_earlier_version_answers_and_goes_on() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/earlier-plant.tar.gz");
    assert!(Command::new("tar").arg("-xzf").arg(kept).current_dir(folder).status().unwrap().success());
    let secrets = || {
        let files =
            ["boiler.key", "boiler.signing", "ca.key", "ca.signing", "owner-token", "cloud-signing-key"];
        files.map(|file| std::fs::read(folder.join("plant/secrets").join(file)).unwrap())
    };
    let before = secrets();
    let _cloud = session::serve(folder);
    let run = |arguments: &[&str]| {
        sotto(folder, arguments).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
    };

    // Its windows are places of BFV, which this version does not read: it says so, and how to bring the readings back.
    let status = run(&["status"]);
    assert!(status.contains("windows of places") && status.contains("sotto device renew boiler"), "{status}");
    assert!(run(&["check"]).contains("nothing is missing"));
    let (code, asked) = session::output(folder, &["ask", "sum(heat)"]);
    assert_eq!(code, 15, "{asked}");
    assert!(asked.contains("windows of boiler were left out, as each is one of places"), "{asked}");
    assert!(asked.contains("windows of ca were left out"), "{asked}");

    // It goes on: new names, a new bundle with which the device sends its readings again, the removed device again, lost
    // records.
    run(&["device", "rename", "boiler", "cellar"]);
    run(&["device", "renew", "cellar"]);
    let line =
        |hour: u32, heat: f64| format!("2024-01-0{}T{:02}:00:00Z,{heat},1\n", 1 + hour / 24, hour % 24);
    let first: String = (0..72).map(|hour| line(hour, f64::from(hour) / 10.0)).collect();
    let last: String = (72..96).map(|hour| line(hour, 1.0)).collect();
    send_text(folder, "cellar-3.bundle", &format!("time,heat,flow\n{first}{last}"));
    let (total, count) = value(folder, "sum(heat)");
    assert!((total - sum(72) - 24.0).abs() < 1e-6 && count == 96, "{total}, {count}");
    run(&["device", "add", "ca", "--channels", "heat", "--bundle", "again.bundle"]);
    let ca: String = (0..24).map(|hour| line(hour, f64::from(hour) / 10.0)).collect();
    send_text(folder, "again.bundle", &format!("time,heat,flow\n{ca}"));
    let (total, count) = value(folder, "sum(heat)");
    assert!((total - sum(72) - sum(24) - 24.0).abs() < 1e-6 && count == 120, "{total}, {count}");
    for lost in ["devices", "enrolments"] {
        std::fs::remove_dir_all(folder.join("plant").join(lost)).unwrap();
    }
    run(&["device", "adopt", "cellar-3.bundle"]);
    run(&["device", "adopt", "again.bundle"]);
    assert_eq!(value(folder, "sum(heat)").1, 120);
    assert_eq!(secrets(), before);
}
