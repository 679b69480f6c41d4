//! `sotto cloud accept`: clouds that were set back by their operator.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sotto_cloud::backups::{self, Days};
use sotto_owner::Plant;

use crate::session::{self, Cloud, config, output, send_days, send_to, sotto};

/// A plant with two devices whose cloud lost two days of one of them, and all of the other.
fn set_back(folder: &Path) -> Cloud {
    let run = |arguments: &[&str]| sotto(folder, arguments).unwrap();
    session::init(folder, "sum(heat), mean(flow) by day");
    let cloud = Cloud::start(folder);
    for name in ["boiler", "yard"] {
        run(&["device", "add", name, "--channels", "heat,flow"]);
        send_days(folder, &format!("{name}.bundle"), 0..2, 0);
    }
    backups::backup(&config(folder), &folder.join("copy"), Days::default()).unwrap();
    send_days(folder, "boiler.bundle", 2..4, 0);
    run(&["device", "add", "desk", "--channels", "heat,flow"]);
    send_days(folder, "desk.bundle", 0..3, 0);
    assert!(run(&["status"]).contains("heat: 96 readings"));
    cloud.stop();
    backups::restore(&config(folder), &folder.join("copy"), None).unwrap();
    // The cloud's folder of enrolments still knows the third device.
    Cloud::start(folder)
}

fn logs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.join("plant/logs")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(ending) if ending == "log" || ending == "head" => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

#[test]
fn all_logs_are_accepted_for_the_number_of_windows_that_are_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let _cloud = set_back(folder);
    let (code, status) = output(folder, &["status"]);
    assert!(code == 7 && status.contains("`sotto cloud accept --all`"), "{code}: {status}");
    assert!(status.contains("yard: 2 windows"), "{status}");
    let before = logs(folder);
    // Without the number, with another one, and with it.
    for arguments in [&["cloud", "accept", "--all"][..], &["cloud", "accept", "--all", "--windows", "4"]] {
        let (code, said) = output(folder, arguments);
        assert_eq!((code, logs(folder)), (2, before.clone()), "{said}");
        for told in [
            "boiler: stream exact-1h: 2 windows given up with readings from 2024-01-03 00:00 to 2024-01-05 00:00; the cloud has 2",
            "desk: stream exact-1h: 3 windows given up with readings from 2024-01-01 00:00 to 2024-01-04 00:00; the cloud has 0",
        ] {
            assert!(said.contains(told), "{told}: {said}");
        }
        assert!(!said.contains("yard"), "{said}");
    }
    let (code, document) = output(folder, &["cloud", "accept", "--all", "--json"]);
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!((code, &document["windows"], &document["accepted"]), (2, &5.into(), &false.into()));
    let (code, said) = output(folder, &["cloud", "accept", "--all", "--windows", "5", "--json"]);
    let document: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        (code, &document["accepted"], document["streams"].as_array().unwrap().len()),
        (0, &true.into(), 2)
    );
    // The logs of before are evidence, and the cloud's stand in their place.
    let moved: Vec<PathBuf> = logs(folder).into_iter().filter(|path| !before.contains(path)).collect();
    assert_eq!((moved.len(), logs(folder).len()), (4, before.len() + 4));
    assert!(moved.iter().all(|path| path.to_str().unwrap().contains("/logs/old/")), "{moved:?}");
    assert_eq!(output(folder, &["status"]).0, 0);
    assert_eq!(sotto(folder, &["cloud", "accept", "--all"]).unwrap().lines().count(), 1);
    // The file again: the windows come back.
    let settings = fs::read_to_string(folder.join("plant/sotto.toml")).unwrap();
    let url =
        settings.lines().find_map(|line| line.strip_prefix("url = ")).unwrap().trim_matches('"').to_owned();
    for (device, days) in [("boiler", 0..4), ("desk", 0..3)] {
        fs::remove_dir_all(folder.join(format!("{device}.spool"))).unwrap();
        send_to(folder, &format!("{device}.bundle"), days, &url);
    }
    let status = sotto(folder, &["status"]).unwrap();
    assert!(status.contains("heat: 96 readings") && status.contains("heat: 72 readings"), "{status}");
}

#[test]
fn the_logs_of_one_device_are_kept_as_evidence_too() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let _cloud = set_back(folder);
    let before = logs(folder);
    let said = sotto(folder, &["cloud", "accept", "boiler"]).unwrap();
    assert!(said.contains("logs/old"), "{said}");
    let old: Vec<PathBuf> = logs(folder).into_iter().filter(|path| !before.contains(path)).collect();
    assert_eq!((old.len(), logs(folder).len()), (2, before.len() + 2));
    // New bundles are numbered after those of these logs.
    let status = output(folder, &["status"]).1;
    assert!(status.contains("boiler: 2 windows") && status.contains("desk: its windows cannot"), "{status}");
}

#[test]
fn a_cloud_with_another_key_is_not_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let _cloud = set_back(folder);
    let file = folder.join("plant/sotto.toml");
    let text = fs::read_to_string(&file).unwrap();
    let key = text.lines().find(|line| line.starts_with("keys = ")).unwrap().to_owned();
    fs::write(&file, text.replace(&key, &format!("keys = [\"{}\"]", "0a".repeat(32)))).unwrap();
    let before = logs(folder);
    let (code, said) = output(folder, &["cloud", "accept", "--all", "--windows", "5"]);
    assert_eq!((code, logs(folder)), (7, before), "{said}");
}

/// The cloud shows one log for the count of lost windows, and another one when their loss is accepted.
#[test]
fn a_log_that_changed_since_it_was_shown_is_not_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    session::init(folder, "sum(heat), mean(flow) by day");
    let cloud = Cloud::start(folder);
    sotto(folder, &["device", "add", "boiler", "--channels", "heat,flow"]).unwrap();
    for (days, copy) in [(0..1, "one"), (1..3, "three")] {
        send_days(folder, "boiler.bundle", days, 0);
        backups::backup(&config(folder), &folder.join(copy), Days::default()).unwrap();
    }
    send_days(folder, "boiler.bundle", 3..5, 0);
    sotto(folder, &["status"]).unwrap();
    cloud.stop();
    let restored = |copy: &str| {
        backups::restore(&config(folder), &folder.join(copy), None).unwrap();
        Cloud::start(folder)
    };
    let plant = || Plant::open(&folder.join("plant")).unwrap();
    let cloud = restored("three");
    let shown = plant().set_back().unwrap();
    assert_eq!((shown.len(), shown[0].windows, shown[0].has), (1, 2, 3));
    cloud.stop();
    let cloud = restored("one");
    let before = logs(folder);
    let refused = plant().accept(&shown).unwrap_err().to_string();
    assert!(refused.contains("boiler") && refused.contains("changed since"), "{refused}");
    assert_eq!((logs(folder), plant().orders().unwrap()), (before, Vec::new()));
    cloud.stop();
    // One that goes on is the log that was shown: the order names that one.
    let _cloud = restored("three");
    fs::remove_dir_all(folder.join("boiler.spool")).unwrap();
    send_days(folder, "boiler.bundle", 0..4, 0);
    plant().accept(&shown).unwrap();
    let orders = plant().orders().unwrap();
    assert_eq!((orders.len(), orders[0].order, orders[0].windows), (1, "accept", Some(3)));
    let status = sotto(folder, &["status"]).unwrap();
    assert!(status.contains("boiler: 4 windows"), "{status}");
}

#[test]
fn nothing_is_accepted_without_an_order() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let cloud = set_back(folder);
    let shown = Plant::open(&folder.join("plant")).unwrap().set_back().unwrap();
    let before = logs(folder);
    // The cloud is away.
    cloud.stop();
    let plant = Plant::open(&folder.join("plant")).unwrap();
    assert!(plant.accept(&shown).is_err());
    assert_eq!(output(folder, &["cloud", "accept", "boiler"]).0, 5);
    assert_eq!(logs(folder), before);
    // The owner's key is gone.
    let _cloud = Cloud::start(folder);
    fs::remove_file(folder.join("plant/secrets/owner-signing-key")).unwrap();
    for arguments in [&["cloud", "accept", "--all", "--windows", "5"][..], &["cloud", "accept", "boiler"]] {
        assert_eq!(output(folder, arguments).0, 3, "{arguments:?}");
        assert_eq!(logs(folder), before);
    }
}

/// The owner's new computer reads a log for the first time whose windows name receipts of the log before the backup.
#[test]
fn logs_that_were_never_read_are_accepted_with_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let _cloud = set_back(folder);
    for device in ["boiler", "desk"] {
        send_days(folder, &format!("{device}.bundle"), 4..6, 0);
    }
    for device in ["boiler", "desk"] {
        fs::remove_dir_all(folder.join("plant/logs").join(format!("{device}.d"))).unwrap();
    }
    let (code, status) = output(folder, &["status"]);
    assert!(code == 7 && status.contains("other receipt"), "{code}: {status}");
    let (code, said) = output(folder, &["cloud", "accept", "--all", "--windows", "0"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("boiler: stream exact-1h: 0 windows given up; the cloud has 4"), "{said}");
    assert!(said.contains("desk: stream exact-1h: 0 windows given up; the cloud has 2"), "{said}");
    assert_eq!(output(folder, &["status"]).0, 0);
}
