//! `sotto status` of devices of which some are in trouble.

use std::fs;

use serde_json::Value;

use crate::recovery::Plant;
use crate::session::{self, output, sotto};

#[test]
fn trouble_of_one_device_does_not_hide_the_others() {
    let plant = Plant::new();
    for name in ["attic", "cellar", "desk", "yard"] {
        plant.run(&["device", "add", name, "--channels", "heat,flow"]).unwrap();
    }
    let file = |name: &str| plant.folder().join("plant").join(name);
    fs::write(file("devices/attic.json"), "{").unwrap();
    fs::remove_file(file("secrets/cellar.key")).unwrap();
    fs::remove_file(file("enrolments/desk.json")).unwrap();
    fs::write(file("enrolments/desk.json"), "no registration").unwrap();
    let (code, status) = output(plant.folder(), &["status"]);
    assert_eq!(code, 3, "{status}");
    for told in [
        "attic: its windows cannot be listed",
        "attic.json is damaged",
        "`sotto device adopt attic.bundle`",
        "cellar.key is missing: `sotto device adopt cellar.bundle`",
        "desk: 0 windows",
        "heat: 48 readings",
        "yard: 0 windows",
        "question daily",
    ] {
        assert!(status.contains(told), "{told}: {status}");
    }
    let (code, status) = output(plant.folder(), &["status", "--json"]);
    let status: Value = serde_json::from_str(&status).unwrap();
    let devices = status["devices"].as_array().unwrap();
    let troubles = |name: &str| {
        let device = devices.iter().find(|device| device["device"] == name).unwrap();
        device["troubles"].as_array().unwrap().clone()
    };
    assert_eq!((code, devices.len(), troubles("boiler").len(), troubles("yard").len()), (3, 5, 0, 0));
    assert!(troubles("attic")[0]["error"].as_str().unwrap().contains("damaged"));
    // The advice of both.
    for name in ["attic", "cellar"] {
        plant.run(&["device", "adopt", &format!("{name}.bundle")]).unwrap();
    }
    // Made again from the record.
    assert!(fs::read_to_string(file("enrolments/desk.json")).unwrap().contains("verifying_key"));
    assert_eq!(output(plant.folder(), &["status"]).0, 0);
}

#[test]
fn a_false_log_of_one_device_is_its_own_trouble() {
    let plant = Plant::new();
    plant.run(&["device", "add", "desk", "--channels", "heat"]).unwrap();
    plant.run(&["status"]).unwrap();
    // A log of windows that the cloud does not have.
    let logs = plant.folder().join("plant/logs");
    let of_boiler = fs::read_dir(logs.join("boiler.d")).unwrap().map(|entry| entry.unwrap().path());
    let damaged = of_boiler.into_iter().find(|path| path.extension().is_some_and(|e| e == "log")).unwrap();
    fs::write(&damaged, "no log").unwrap();
    let (code, status) = output(plant.folder(), &["status"]);
    assert!(
        code != 0 && status.contains("sotto cloud accept boiler") && status.contains("desk: 0"),
        "{status}"
    );
    plant.run(&["cloud", "accept", "boiler"]).unwrap();
    assert_eq!(output(plant.folder(), &["status"]).0, 0);
}

/// A device that starts in the middle of an hour was not there before.
#[test]
fn ticks_before_the_first_reading_are_not_missing() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path();
    let run = |arguments: &[&str]| sotto(folder, arguments).unwrap();
    run(&["init", "plant", "--time-zone", "UTC"]);
    let channel = ["channel", "add", "temp", "--range", "0..100", "--resolution", "1", "--every", "5m"];
    run(&channel);
    run(&["alarm", "add", "cov", "coverage(temp) < 0.5", "--since", "2024-01-01"]);
    let _cloud = session::serve(folder);
    run(&["device", "add", "yard", "--channels", "temp"]);
    // From 02:40 on without a gap; in the hour from 04:00 a quarter is there.
    let minutes = (160..240).step_by(5).chain((240..300).step_by(20)).chain((300..360).step_by(5));
    let mut text = "time,temp\n".to_owned();
    for minute in minutes {
        text.push_str(&format!("2024-01-02T{:02}:{:02}:00Z,7\n", minute / 60, minute % 60));
    }
    session::send_text(folder, "yard.bundle", &text);
    let told = run(&["watch", "--once"]);
    let alarms: Vec<&str> = told.lines().filter(|line| line.starts_with("ALARM")).collect();
    assert!(
        alarms.len() == 1 && alarms[0].contains("coverage(temp) = 0.25") && alarms[0].contains("04:00"),
        "{told}"
    );
    let status: Value = serde_json::from_str(&output(folder, &["status", "--json"]).1).unwrap();
    let channel = &status["devices"][0]["channels"][0];
    assert_eq!((channel["readings"].as_u64(), channel["missing"].as_u64()), (Some(31), Some(9)), "{channel}");
}

#[test]
fn a_status_says_why_windows_do_not_count() {
    let plant = Plant::new();
    let status = plant.run(&["status"]).unwrap();
    let heat = "heat: 48 readings from 2024-01-01 00:00 to 2024-01-02 23:00";
    assert!(status.contains(heat), "the times of the first and the last reading: {status}");
    let settings = plant.folder().join("plant/sotto.toml");
    let declared = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, declared.replacen("unit = \"kW\"", "unit = \"W\"", 1)).unwrap();
    let (code, status) = output(plant.folder(), &["status"]);
    assert!(code == 13 && status.contains("is W in sotto.toml, and was kW"), "{code}: {status}");
    assert!(status.contains(heat) && !status.contains("cannot be used"), "{status}");
    fs::write(&settings, declared).unwrap();
    plant.lose(&["secrets/boiler.key"]);
    let (code, status) = output(plant.folder(), &["status"]);
    assert!(code == 3 && status.contains("boiler.key is missing"), "{code}: {status}");
    assert!(!status.contains("cannot be used") && !status.contains("– to –"), "{status}");
    assert!(status.contains("windows cannot be opened without the device's secret"), "{status}");
}
