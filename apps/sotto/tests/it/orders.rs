//! The owner's orders: given on one computer, known on another, believed by devices.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sotto_cloud::backups::{self, Days};

use crate::session::{self, Cloud, config, output, send_days, sotto};

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
fn a_deletion_counts_for_a_device_that_is_adopted_later() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let _cloud = plant(folder);
    ask(folder);
    sotto(folder, &["device", "remove", "boiler", "--destroy-secret", "--yes"]).unwrap();
    let asked = ["ask", "sum(heat) where device in (boiler)"];
    assert_eq!(output(folder, &asked).0, 14);
    let said = sotto(folder, &asked).unwrap_err();
    assert!(said.contains("`sotto device adopt boiler.bundle`"), "{said}");
    let added = sotto(folder, &["device", "add", "boiler", "--channels", "heat,flow"]).unwrap_err();
    assert!(added.contains("--bundle FILE"), "{added}");
    let status = sotto(folder, &["status"]).unwrap();
    assert!(status.contains("4 windows of boiler, which this folder does not know"), "{status}");
    sotto(folder, &FORGET).unwrap();
    sotto(folder, &["device", "adopt", "boiler.bundle"]).unwrap();
    let new = copy(folder, "new");
    fs::remove_dir_all(new.join("plant/logs/boiler.d")).unwrap();
    for of in [folder, &new] {
        let answer = ask(of);
        assert_eq!(answer["rows"].as_array().unwrap().len(), 2 * 2, "{answer}");
        assert!(!notes(&answer).contains("deleted"), "{answer}");
    }
    // A window after the time of the order is none of it.
    sotto(folder, &["cloud", "accept", "boiler"]).unwrap();
    assert!(!notes(&ask(folder)).contains("deleted"));
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

/// Makes a plant one of an earlier version, as from its backup: it had no key of the owner.
fn without_owner_key(folder: &Path) {
    for file in ["secrets/owner-signing-key", "logs/owner-keys"] {
        fs::remove_file(folder.join("plant").join(file)).unwrap();
    }
}

#[test]
fn orders_of_a_copy_with_a_key_of_its_own_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let _cloud = plant(folder);
    let copied = copy(folder, "copied");
    without_owner_key(&copied);
    sotto(&copied, &FORGET).unwrap();
    let document = |of: &Path| -> Value {
        serde_json::from_str(&sotto(of, &["cloud", "orders", "--json"]).unwrap()).unwrap()
    };
    let theirs = document(&copied)["owner_key"].as_str().unwrap().to_owned();
    assert_ne!(document(folder)["owner_key"].as_str().unwrap(), theirs);
    // Told where the answer lacks windows, in the status, and among the orders; each names the way out.
    let way_out = format!("sotto cloud orders --believe {theirs}");
    let unordered = "deleted from the cloud without an order of yours";
    let told = notes(&ask(folder));
    assert!(told.contains(unordered) && told.contains(&way_out), "{told}");
    for verb in [&["status"][..], &["cloud", "orders"]] {
        let said = sotto(folder, verb).unwrap();
        assert!(said.contains(&way_out) && said.contains("1 order "), "{said}");
    }
    let unknown = &document(folder)["unknown_keys"];
    assert_eq!(unknown[0], serde_json::json!({ "key": theirs, "orders": 1 }), "{unknown}");
    assert_eq!(orders(folder).len(), 0);
    // Believed, the order explains the deletion.
    let said = sotto(folder, &["cloud", "orders", "--believe", &theirs]).unwrap();
    assert!(said.contains("delete 2 windows of stream exact-1h of boiler"), "{said}");
    let told = notes(&ask(folder));
    assert!(!told.contains("order"), "{told}");
    assert!(!sotto(folder, &["status"]).unwrap().contains("--believe"));
    assert_ne!(document(folder)["owner_key"].as_str().unwrap(), theirs, "its own key stays the present one");
    let refused = sotto(folder, &["cloud", "orders", "--believe", "00"]).unwrap_err();
    assert!(refused.contains("64 hexadecimal digits"), "{refused}");
}

#[test]
fn windows_that_were_there_and_are_missing_lead_to_the_order_of_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let _cloud = plant(folder);
    ask(folder);
    let copied = copy(folder, "copied");
    without_owner_key(&copied);
    sotto(&copied, &FORGET).unwrap();
    let said = sotto(folder, &["ask", "daily", "--since", "2024-01-01"]).unwrap_err();
    assert!(said.contains("missing window") && said.contains("sotto cloud orders --believe"), "{said}");
}

#[test]
fn a_device_whose_windows_were_deleted_has_not_lost_its_spool() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let _cloud = plant(folder);
    sotto(folder, &["forget", "--device", "boiler", "--before", "2024-01-08", "--yes"]).unwrap();
    send_days(folder, "boiler.bundle", 4..8, 0);
    let status: Value = serde_json::from_str(&sotto(folder, &["status", "--json"]).unwrap()).unwrap();
    let device = &status["devices"][0];
    assert_eq!((&device["windows"], &device["recoveries"]), (&1.into(), &0.into()), "{device}");
}

/// Deleted windows that a backup brought back are deleted again where their log is accepted.
#[test]
fn a_deletion_follows_into_a_log_that_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let cloud = plant(folder);
    backups::backup(&config(folder), &folder.join("copy"), Days::default()).unwrap();
    send_days(folder, "boiler.bundle", 4..6, 0);
    ask(folder);
    let new = copy(folder, "new");
    fs::remove_dir_all(new.join("plant/logs/boiler.d")).unwrap();
    sotto(folder, &FORGET).unwrap();
    cloud.stop();
    backups::restore(&config(folder), &folder.join("copy"), None).unwrap();
    let _cloud = Cloud::start(folder);
    fs::copy(folder.join("plant/sotto.toml"), new.join("plant/sotto.toml")).unwrap();
    sotto(folder, &["cloud", "accept", "--all", "--windows", "2"]).unwrap();
    let given: Vec<(Value, Value)> =
        orders(folder).iter().map(|order| (order["order"].clone(), order["windows"].clone())).collect();
    let order = |name: &str, windows: u64| (Value::from(name), Value::from(windows));
    assert_eq!(given, [order("forget", 2), order("accept", 4), order("forget", 2)]);
    // Deleted in the cloud, and known to a computer that has read none of the logs.
    let there = ask(&new);
    assert_eq!(there["rows"], ask(folder)["rows"]);
    assert_eq!(there["rows"].as_array().unwrap().len(), 2 * 2, "{there}");
    assert!(!notes(&there).contains("without an order"), "{there}");
}
