//! `sotto cloud accept`: clouds that were set back by their operator.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sotto_cloud::maintain;

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
    maintain::backup(&config(folder), &folder.join("copy")).unwrap();
    send_days(folder, "boiler.bundle", 2..4, 0);
    run(&["device", "add", "desk", "--channels", "heat,flow"]);
    send_days(folder, "desk.bundle", 0..3, 0);
    assert!(run(&["status"]).contains("heat: 96 readings"));
    cloud.stop();
    maintain::restore(&config(folder), &folder.join("copy")).unwrap();
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
    // The logs of before are evidence; that of the third device stays.
    let moved: Vec<PathBuf> = logs(folder).into_iter().filter(|path| !before.contains(path)).collect();
    assert_eq!((moved.len(), logs(folder).len()), (4, before.len()));
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
    assert_eq!((old.len(), logs(folder).len()), (2, before.len()));
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
