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

    assert!(run(&["status"]).contains("heat: 72 readings"));
    assert!(run(&["check"]).contains("nothing is missing"));
    let (total, count) = value(folder, "sum(heat)");
    assert!((total - sum(72) - sum(24)).abs() < 1e-6 && count == 96, "{total}, {count}");
    assert!((value(folder, "sum(heat) where device in (ca)").0 - sum(24)).abs() < 1e-6);

    // It goes on: new names, a new bundle, the removed device again, lost records.
    run(&["device", "rename", "boiler", "cellar"]);
    run(&["device", "renew", "cellar"]);
    let text: String = (72..96).map(|hour| format!("2024-01-04T{:02}:00:00Z,1,1\n", hour - 72)).collect();
    send_text(folder, "cellar-3.bundle", &format!("time,heat,flow\n{text}"));
    let (total, count) = value(folder, "sum(heat)");
    assert!((total - sum(72) - sum(24) - 24.0).abs() < 1e-6 && count == 120, "{total}, {count}");
    run(&["device", "add", "ca", "--channels", "heat", "--bundle", "again.bundle"]);
    for lost in ["devices", "enrolments"] {
        std::fs::remove_dir_all(folder.join("plant").join(lost)).unwrap();
    }
    run(&["device", "adopt", "cellar-3.bundle"]);
    run(&["device", "adopt", "ca.bundle"]);
    assert_eq!(value(folder, "sum(heat)").1, 120);
    assert_eq!(secrets(), before);
}
