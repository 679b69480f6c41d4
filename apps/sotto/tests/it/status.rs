//! `sotto status` of devices of which some are in trouble.

use std::fs;

use serde_json::Value;

use crate::recovery::Plant;
use crate::session::output;

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
