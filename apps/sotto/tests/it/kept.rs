//! Windows that a restored cloud lacks come again from the device's spool.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sotto_agent::arguments::{Arguments, Command};
use sotto_agent::commands::status;
use sotto_cloud::backups::{self, Days};
use sotto_wire::StreamHead;

use crate::session::{self, Cloud, config, output, send_days, send_days_with, sotto};

const DAYS: u32 = 7;

/// A plant whose device has sent two days before a backup, and five days behind it: three in a group, then two alone, which name
/// receipts.
fn plant(folder: &Path) -> Cloud {
    session::init(folder, "sum(heat), mean(flow) by day");
    let cloud = Cloud::start(folder);
    sotto(folder, &["device", "add", "boiler", "--channels", "heat,flow"]).unwrap();
    send_days(folder, "boiler.bundle", 0..2, 0);
    backups::backup(&config(folder), &folder.join("copy"), Days::default()).unwrap();
    for days in [2..5, 5..6, 6..DAYS] {
        send_days(folder, "boiler.bundle", days, 0);
    }
    cloud
}

fn restored(folder: &Path, cloud: Cloud) -> Cloud {
    cloud.stop();
    backups::restore(&config(folder), &folder.join("copy"), None).unwrap();
    Cloud::start(folder)
}

/// Runs the agent on the file again, which has nothing new.
fn run_again(folder: &Path) {
    send_days(folder, "boiler.bundle", 0..DAYS, 0);
}

fn ask(folder: &Path) -> (i32, Value) {
    let (code, said) = output(folder, &["ask", "daily", "--json", "--since", "2024-01-01"]);
    (code, serde_json::from_str(&said).unwrap_or_default())
}

fn rows(folder: &Path) -> Value {
    let (code, answer) = ask(folder);
    assert_eq!(code, 0, "{answer}");
    answer["rows"].clone()
}

/// Returns size and root of a log of the device in this folder, as the owner compared it last.
fn log(logs: &Path) -> (u64, [u8; 32]) {
    let file = fs::read_dir(logs).unwrap().map(|file| file.unwrap().path());
    let file = file.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "head")).unwrap();
    let document: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let head = StreamHead::read(&hex::decode(document["head"].as_str().unwrap()).unwrap()).unwrap();
    (head.size, head.root)
}

fn logs(folder: &Path) -> PathBuf {
    folder.join("plant/logs/boiler.d")
}

fn kept(folder: &Path) -> Value {
    let spool = folder.join("boiler.spool");
    let words = ["sotto-agent", "status", "--json", "--spool", spool.to_str().unwrap()];
    let Command::Status(arguments) = Arguments::read(words).unwrap().command else { panic!("status") };
    serde_json::from_str::<Value>(&status::run(&arguments).unwrap()).unwrap()["confirmed"].clone()
}

#[test]
fn an_answer_is_as_before_once_the_log_of_a_restored_cloud_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let cloud = plant(folder);
    let (before, log_before) = (rows(folder), log(&logs(folder)));
    assert_eq!((log_before.0, before.as_array().unwrap().len()), (7, 2 * 7));
    let told = kept(folder);
    assert_eq!(told["windows"], 7, "{told}");
    assert!(told["bytes"].as_u64() > Some(0) && told["since"].is_string(), "{told}");
    let _cloud = restored(folder, cloud);
    // Before the owner's order nothing is sent again.
    run_again(folder);
    assert_eq!(ask(folder).0, 7);
    sotto(folder, &["cloud", "accept", "boiler"]).unwrap();
    assert_eq!(rows(folder).as_array().unwrap().len(), 2 * 2);
    run_again(folder);
    assert_eq!(rows(folder), before);
    // The same windows under the same signatures, in the same order.
    assert_eq!(log(&logs(folder)), log_before);
    assert_eq!(output(folder, &["status"]).0, 0);
    assert_eq!(kept(folder)["windows"], 7);
}

#[test]
fn windows_come_again_behind_newer_ones() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let cloud = plant(folder);
    let before = rows(folder);
    let cloud = restored(folder, cloud);
    for days in [7..8, 8..9] {
        send_days(folder, "boiler.bundle", days, 0);
    }
    assert_eq!(ask(folder).0, 7);
    sotto(folder, &["cloud", "accept", "boiler"]).unwrap();
    for days in [9..10, 10..11] {
        send_days(folder, "boiler.bundle", days, 0);
    }
    let rows = rows(folder);
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 2 * 11);
    let first: Vec<&Value> = rows.iter().filter(|row| before.as_array().unwrap().contains(row)).collect();
    assert_eq!(first.len(), 2 * 7);
    // Once more: the log of now is another one, and its windows are kept, too.
    let there = log(&logs(folder)).0;
    let _cloud = restored(folder, cloud);
    sotto(folder, &["cloud", "accept", "boiler"]).unwrap();
    send_days(folder, "boiler.bundle", 11..12, 0);
    send_days(folder, "boiler.bundle", 12..13, 0);
    let (code, answer) = ask(folder);
    assert_eq!((code, answer["rows"].as_array().unwrap().len()), (0, 2 * 13), "{answer}");
    assert_eq!(log(&logs(folder)).0, there + 2);
}

#[test]
fn a_window_that_the_owner_deleted_does_not_come_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let cloud = plant(folder);
    rows(folder);
    // Two windows of the backup, and the first of the group behind it.
    let forget = ["forget", "--device", "boiler", "--before", "2024-01-04", "--yes"];
    sotto(folder, &forget).unwrap();
    let before = rows(folder);
    let _cloud = restored(folder, cloud);
    sotto(folder, &["cloud", "accept", "boiler"]).unwrap();
    run_again(folder);
    assert_eq!(rows(folder), before);
    assert_eq!(before.as_array().unwrap().len(), 2 * 4);
    assert_eq!(kept(folder)["windows"], 4, "they are kept no more");
    let status: Value = serde_json::from_str(&sotto(folder, &["status", "--json"]).unwrap()).unwrap();
    assert_eq!(status["devices"][0]["recoveries"], 0, "the spool was not lost");
}

#[test]
fn a_device_that_keeps_nothing_sends_nothing_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let cloud = plant(folder);
    send_days_with(folder, "boiler.bundle", 0..DAYS, 0, &["--keep", "0s"]);
    assert_eq!(kept(folder)["windows"], 0);
    let _cloud = restored(folder, cloud);
    sotto(folder, &["cloud", "accept", "boiler"]).unwrap();
    run_again(folder);
    assert_eq!(rows(folder).as_array().unwrap().len(), 2 * 2);
}

/// A window in whose place another one came is in the log again, and counts no more than before.
#[test]
fn windows_that_were_corrected_come_again_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let cloud = plant(folder);
    let correct = |days, more| send_days_with(folder, "boiler.bundle", days, more, &["--correct"]);
    correct(3..4, 5);
    let before = rows(folder);
    let cloud = restored(folder, cloud);
    sotto(folder, &["cloud", "accept", "boiler"]).unwrap();
    run_again(folder);
    assert_eq!(rows(folder), before);
    // The correction is there before the window that it corrects.
    let _cloud = restored(folder, cloud);
    correct(4..5, 5);
    sotto(folder, &["cloud", "accept", "boiler"]).unwrap();
    run_again(folder);
    let after = rows(folder);
    let differ = |(a, b): (&Value, &Value)| a != b;
    let [before, after] = [&before, &after].map(|rows| rows.as_array().unwrap());
    assert_eq!((before.len(), after.len()), (2 * 7, 2 * 7));
    assert_eq!(before.iter().zip(after).filter(|pair| differ(*pair)).count(), 2, "of the fifth day");
}
