//! The owner's orders: given on one computer, known on another, believed by devices.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::session::{self, Cloud, output, send_days, sotto};

/// A plant whose device has sent four days, one a window.
fn plant(folder: &Path) -> Cloud {
    let run = |arguments: &[&str]| sotto(folder, arguments).unwrap();
    session::init(folder, "sum(heat), mean(flow) by day");
    let cloud = Cloud::start(folder);
    run(&["device", "add", "boiler", "--channels", "heat,flow"]);
    send_days(folder, "boiler.bundle", 0..4, 0);
    cloud
}

/// Copies the plant's folder to another computer, which learns of no later command.
fn copy(folder: &Path, name: &str) -> PathBuf {
    let copy = folder.join(name);
    fs::create_dir(&copy).unwrap();
    assert!(Command::new("cp").arg("-a").arg(folder.join("plant")).arg(&copy).status().unwrap().success());
    fs::remove_dir_all(copy.join("plant/cloud")).unwrap();
    copy
}

fn ask(folder: &Path) -> Value {
    let (code, said) = output(folder, &["ask", "daily", "--json", "--since", "2024-01-01"]);
    serde_json::from_str(&said).unwrap_or_else(|_| panic!("{code}: {said}"))
}

fn notes(answer: &Value) -> String {
    answer["notes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|note| note.as_str().unwrap())
        .collect::<Vec<_>>()
        .join("\n")
}

fn orders(folder: &Path) -> Vec<Value> {
    let said = sotto(folder, &["cloud", "orders", "--json"]).unwrap();
    serde_json::from_str::<Value>(&said).unwrap()["orders"].as_array().unwrap().clone()
}

const FORGET: [&str; 6] = ["forget", "--device", "boiler", "--before", "2024-01-03", "--yes"];

#[test]
fn a_deletion_is_known_on_the_owners_other_computer() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let _cloud = plant(folder);
    ask(folder);
    let [before, new] = ["before", "new"].map(|name| copy(folder, name));
    sotto(folder, &FORGET).unwrap();
    // This one has read no log.
    fs::remove_dir_all(new.join("plant/logs/boiler.d")).unwrap();
    let here = ask(folder);
    assert!(!notes(&here).contains("deleted"), "{here}");
    for other in [&before, &new] {
        let there = ask(other);
        assert_eq!(there["rows"], here["rows"]);
        assert!(!notes(&there).contains("deleted"), "{there}");
        let given = orders(other);
        assert_eq!(given.len(), 1);
        let [order, windows, stream] = ["order", "windows", "stream"].map(|field| &given[0][field]);
        assert_eq!((order, windows, stream), (&"forget".into(), &2.into(), &"exact-1h".into()));
    }
}

#[test]
fn a_deletion_under_another_key_is_not_the_owners() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let _cloud = plant(folder);
    ask(folder);
    let [before, new] = ["before", "new"].map(|name| copy(folder, name));
    fs::remove_dir_all(new.join("plant/logs/boiler.d")).unwrap();
    // As somebody does who has the token alone: the order is signed, with another key.
    fs::remove_file(folder.join("plant/secrets/owner-signing-key")).unwrap();
    let (code, _) = output(folder, &FORGET);
    assert_eq!(code, 3, "a lost key is not made anew without a word");
    let check = output(folder, &["check"]).1;
    assert!(check.contains("secrets/owner-signing-key"), "{check}");
    assert!(sotto(folder, &["cloud", "secrets"]).unwrap().contains("owner-signing-key"));
    sotto(folder, &FORGET).unwrap();
    assert!(!notes(&ask(folder)).contains("deleted"));
    let (code, said) = output(&before, &["ask", "daily", "--since", "2024-01-01"]);
    assert_eq!(code, 7, "windows are missing that were there: {said}");
    let there = ask(&new);
    let note = "2 windows of boiler were deleted from the cloud without an order of yours: windows 0 to 1 of exact-1h";
    assert!(notes(&there).contains(note), "{there}");
    assert!(orders(&new).is_empty());
}

#[test]
fn a_device_with_a_new_spool_believes_the_order() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let _cloud = plant(folder);
    sotto(folder, &FORGET).unwrap();
    fs::remove_dir_all(folder.join("boiler.spool")).unwrap();
    send_days(folder, "boiler.bundle", 0..5, 0);
    let spool = folder.join("boiler.spool");
    assert!(!spool.join("refused").exists() || fs::read_dir(spool.join("refused")).unwrap().next().is_none());
    let rows = ask(folder)["rows"].as_array().unwrap().len();
    assert_eq!(rows, 2 * 3, "three days of two results");
}

#[test]
fn accepting_and_revoking_are_orders_too() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let _cloud = plant(folder);
    ask(folder);
    sotto(folder, &["cloud", "accept", "boiler"]).unwrap();
    sotto(folder, &["device", "remove", "boiler"]).unwrap();
    let given = orders(folder);
    let order: Vec<&str> = given.iter().map(|order| order["order"].as_str().unwrap()).collect();
    assert_eq!(order, ["accept", "revoke"]);
    assert_eq!(given[0]["windows"], 4);
    let text = sotto(folder, &["cloud", "orders"]).unwrap();
    assert!(text.contains("accept the log of stream exact-1h of boiler with 4 windows"), "{text}");
    assert!(text.contains("revoke boiler"), "{text}");
}
