//! Prices of declarations, and dry runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::session::{init, sotto};

/// Returns the bytes of each file of a folder, and its folders.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(contents(&path));
            all.insert(path, Vec::new());
        } else {
            let bytes = fs::read(&path).unwrap();
            all.insert(path, bytes);
        }
    }
    all
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&sotto(folder, &[arguments, &["--json"]].concat()).unwrap()).unwrap()
}

const ADDED: [&[&str]; 5] = [
    &["question", "add", "hourly", "quantile(heat, 0.9), mean(flow) by hour"],
    &["alarm", "add", "hot", "heat > 8 for 3 windows", "--since", "2024-01-01"],
    &["channel", "add", "level", "--range", "0..100", "--resolution", "0.5", "--every", "1m"],
    &["device", "add", "pump", "--channels", "flow"],
    &["device", "renew", "boiler"],
];

#[test]
fn a_dry_run_shows_the_same_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path(), "mean(heat), stddev(flow) by day");
    let plant = folder.path().join("plant");
    sotto(&plant, &["device", "add", "boiler", "--channels", "heat,flow"]).unwrap();
    for arguments in ADDED {
        let before = contents(&plant);
        let dry = sotto(&plant, &[arguments, &["--dry-run"]].concat()).unwrap();
        let dry_json = json(&plant, &[arguments, &["--dry-run"]].concat());
        assert_eq!(contents(&plant), before, "{arguments:?}");
        assert_eq!(dry_json["dry_run"], true);
        let said = sotto(&plant, arguments).unwrap();
        assert_ne!(contents(&plant), before, "{arguments:?}");
        let priced = |text: &str| -> Vec<String> {
            text.lines().filter(|line| line.starts_with("  ")).map(str::to_owned).collect()
        };
        assert!(priced(&dry).len() >= 2, "{dry}");
        assert_eq!(priced(&dry), priced(&said));
        assert!(dry.contains("--dry-run") && !said.contains("--dry-run"), "{dry} {said}");
    }
}

#[test]
fn a_price_has_the_bytes_of_the_plan_and_names_what_changes() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path(), "mean(heat) by day");
    let plant = folder.path().join("plant");
    let minutes = ["channel", "add", "level", "--unit", "m", "--range", "0..64", "--resolution", "0.5"];
    sotto(&plant, &[&minutes[..], &["--every", "5m"]].concat()).unwrap();
    let bytes = || -> u64 {
        let plan = json(&plant, &["plan"]);
        let devices =
            plan["devices"].as_object().unwrap().values().flat_map(|streams| streams.as_array().unwrap());
        devices.map(|stream| stream["bytes_a_day"].as_u64().unwrap()).sum()
    };
    let was = bytes();
    let added = json(&plant, &["question", "add", "hourly", "quantile(level, 0.5) by hour"]);
    let price = &added["prices"][0];
    assert_eq!(price["device"], "a device with all channels");
    assert_eq!(price["before"]["bytes_a_day"], was);
    assert_eq!(price["after"]["bytes_a_day"], bytes());
    // 288 readings of level, 24 of heat and of flow.
    let each = bytes() as f64 / 336.0;
    assert!((price["after"]["bytes_a_reading"].as_f64().unwrap() - each).abs() < 1e-9, "{price}");
    let level = |when: &str| price[when]["channels"]["level"].clone();
    let (before, after) = (level("before"), level("after"));
    assert_eq!((before["windows_a_day"].as_f64(), after["windows_a_day"].as_f64()), (Some(1.0), Some(24.0)));
    assert_eq!(before["delay_ms"], 86_400_000 + 300_000);
    assert_eq!(after["delay_ms"], 3_600_000 + 300_000);
    // From single readings, then from 16 bins of 4 m.
    assert_eq!((before["quantile_by_readings"].as_bool(), before["bins"].as_u64()), (Some(true), Some(0)));
    assert_eq!((after["quantile_by_readings"].as_bool(), after["bins"].as_u64()), (Some(false), Some(16)));
    assert_eq!(before["quantile_within"], 0.25);
    let within = after["quantile_within"].as_f64().unwrap();
    assert!((1.5..=2.25).contains(&within), "half of a bin: {within}");
    assert_eq!(before["mean_within"], after["mean_within"]);
    assert_eq!(price["before"]["channels"]["heat"], price["after"]["channels"]["heat"]);
}

/// Without a question a device sends squares; a question that needs none takes them away.
#[test]
fn a_price_names_the_quantities_that_are_lost() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path(), "mean(heat) by day");
    let plant = folder.path().join("plant");
    sotto(&plant, &["question", "remove", "daily"]).unwrap();
    let added = |question: &str| sotto(&plant, &["question", "add", "peaks", question, "--dry-run"]).unwrap();
    let said = added("mean(heat), max(heat) by day");
    assert!(said.contains("no longer: variances and deviations of flow, heat;"), "{said}");
    let said = added("stddev(heat), max(heat) by day");
    assert!(!said.contains("no longer"), "{said}");
}

#[test]
fn a_declared_maximum_is_exact_and_the_minimum_is_coarse() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path(), "mean(heat) by day");
    let plant = folder.path().join("plant");
    let question = ["question", "add", "peaks", "quantile(heat, 0.5), max(heat) by day", "--dry-run"];
    let price = json(&plant, &question)["prices"][0]["after"]["channels"]["heat"].clone();
    let of = |bound: &str| price[bound].as_f64().unwrap();
    // Half of the resolution, and half of a bin: a sixteenth of the range.
    assert_eq!(of("largest_within"), 0.05);
    assert!((0.25..0.4).contains(&of("least_within")), "{price}");
    let said = sotto(&plant, &question).unwrap();
    assert!(said.contains("coarser: the smallest reading ±"), "{said}");
    assert!(!said.contains("the largest reading"), "{said}");
}

/// The first line is about a device of the alarm, though another one sends more.
#[test]
fn devices_that_do_not_change_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path(), "mean(heat) by day");
    let plant = folder.path().join("plant");
    let add = |name: &str, every: &str| {
        let channel = ["channel", "add", name, "--range", "0..100", "--resolution", "1", "--every", every];
        sotto(&plant, &channel).unwrap();
    };
    add("level", "5m");
    add("power", "10s");
    sotto(&plant, &["device", "add", "mains", "--channels", "power"]).unwrap();
    for name in ["yard", "barn"] {
        sotto(&plant, &["device", "add", name, "--channels", "level"]).unwrap();
    }
    let said = sotto(&plant, &["alarm", "add", "cov", "coverage(level) < 0.5"]).unwrap();
    let line = said.lines().nth(1).unwrap();
    assert!(line.starts_with("  barn: ") || line.starts_with("  yard: "), "{said}");
    assert!(line.ends_with(", 1 other device the same, 1 device unchanged"), "{said}");
    assert!(!said.contains("mains"), "{said}");
    let bundles: Vec<&str> = said.lines().filter(|line| line.contains("bundle")).collect();
    assert!(
        bundles.len() == 1 && bundles[0].starts_with("  barn, yard: their present bundles serve the alarm"),
        "{said}"
    );
    // It changes nothing that any device sends.
    let said = sotto(&plant, &["alarm", "add", "gaps", "coverage(level) < 0.4"]).unwrap();
    assert_eq!(
        said.lines().nth(1).unwrap(),
        "  bytes, windows, delay and bounds of all 3 devices stay as they are"
    );
}

/// The alarm's windows are those of an hour after a renewal.
#[test]
fn a_renewal_names_alarms_that_are_never_raised() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path(), "mean(heat) by day");
    let plant = folder.path().join("plant");
    sotto(&plant, &["channel", "add", "level", "--range", "0..100", "--resolution", "1", "--every", "5m"])
        .unwrap();
    sotto(&plant, &["device", "add", "tank", "--channels", "level"]).unwrap();
    let error = sotto(&plant, &["alarm", "add", "many", "count(level) > 12"]).unwrap_err();
    assert!(error.contains("windows of 1h"), "{error}");
    // As an earlier version declared it.
    let file = plant.join("sotto.toml");
    let mut text = fs::read_to_string(&file).unwrap();
    text.push_str("\n[alarms.many]\nwhen = \"count(level) > 12\"\n");
    fs::write(&file, text).unwrap();
    let told = |arguments: &[&str]| {
        let mut sotto = std::process::Command::new(env!("CARGO_BIN_EXE_sotto"));
        let done = sotto.args(arguments).current_dir(&plant).env_remove("SOTTO_PLANT").output().unwrap();
        String::from_utf8(done.stderr).unwrap()
    };
    for arguments in
        [&["device", "renew", "tank"][..], &["alarm", "add", "high", "level > 90"], &["watch", "--once"]]
    {
        let error = told(arguments);
        assert!(error.contains("note: the alarm many is never raised: "), "{arguments:?}: {error}");
        assert!(error.contains("sotto alarm remove many"), "{arguments:?}: {error}");
    }
}

#[test]
fn a_silence_that_a_bundle_is_too_slow_for_is_not_served() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path(), "mean(heat) by day");
    let plant = folder.path().join("plant");
    let fast = ["channel", "add", "level", "--range", "0..100", "--resolution", "1", "--every", "5m"];
    sotto(&plant, &fast).unwrap();
    sotto(&plant, &["device", "add", "boiler", "--channels", "heat,level"]).unwrap();
    let said = sotto(&plant, &["alarm", "add", "dead", "level silent for 6h"]).unwrap();
    assert!(said.contains("does not serve the alarm (windows arrive up to 26h after"), "{said}");
    assert!(!said.contains("bundle serves the alarm"), "{said}");
}

#[test]
fn a_window_of_a_long_period_is_as_long_as_this() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path(), "mean(heat) by day");
    let plant = folder.path().join("plant");
    sotto(&plant, &["channel", "add", "level", "--range", "0..100", "--resolution", "1", "--every", "7d"])
        .unwrap();
    let said = sotto(&plant, &["device", "add", "tank", "--channels", "heat,level"]).unwrap();
    assert!(said.contains("a window every 7d"), "{said}");
    assert!(said.contains("; 1 other channel differs (--json)"), "{said}");
}

#[test]
fn a_question_that_a_device_cannot_send_is_refused_and_not_declared() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path(), "mean(heat) by day");
    let plant = folder.path().join("plant");
    let fine = ["channel", "add", "fine", "--range", "0..1000000", "--resolution", "0.001", "--every", "1h"];
    sotto(&plant, &fine).unwrap();
    sotto(&plant, &["device", "add", "boiler", "--channels", "heat,flow,fine"]).unwrap();
    let before = contents(&plant);
    let question = ["question", "add", "spread", "variance(fine)", "--scheme", "bfv"];
    let error = sotto(&plant, &question).unwrap_err();
    assert!(error.contains("no parameters"), "{error}");
    assert_eq!(contents(&plant), before);
}

/// The description of its windows has all of its words.
#[test]
fn a_channel_that_no_window_describes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path(), "mean(heat) by day");
    let plant = folder.path().join("plant");
    let words: Vec<String> = (0..250).map(|at| format!("{at:03}{}", "x".repeat(60))).collect();
    let before = contents(&plant);
    let error = sotto(&plant, &["channel", "add", "mode", "--states", &words.join(","), "--every", "1m"])
        .unwrap_err();
    assert!(error.contains("mode") && error.contains("shorten their words"), "{error}");
    assert_eq!(contents(&plant), before);
}
