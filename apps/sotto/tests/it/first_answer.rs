//! Compares the exit codes of the reference with those of `sotto`. `cargo ci guide` runs the commands of the guide "First
//! answer".

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use sotto_cloud_client::CloudError;
use sotto_owner::{Cause, OwnerError};

const PAGE: &str = include_str!("../../../../docs/reference/exit-codes.md");

/// Returns the codes and meanings of the page's table.
fn table() -> BTreeMap<u8, &'static str> {
    let (_, section) = PAGE.split_once("## `sotto`").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let rows =
        section.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
    rows.filter_map(|(code, meaning)| Some((code.parse().ok()?, meaning))).collect()
}

#[test]
fn the_page_lists_every_exit_code() {
    let (text, folder) = (String::new, PathBuf::new);
    let refused = CloudError::Refused { what: "", status: 400, kind: text(), detail: text() };
    let unreadable = CloudError::Unreadable { what: "", reason: text() };
    let errors = [
        (OwnerError::NoPlant { folder: folder() }, "plant's folder"),
        (OwnerError::Damaged { path: folder(), reason: text() }, "plant's folder"),
        (OwnerError::NotNow(text()), "nothing to do now"),
        (OwnerError::NotDeclared { kind: "channel", name: text() }, "not in `sotto.toml`"),
        (OwnerError::Declared { kind: "channels", name: text() }, "there already"),
        (OwnerError::Question(text()), "question cannot be read"),
        (OwnerError::Unanswerable(text()), "question cannot be read or answered"),
        (OwnerError::NoParameters(text()), "answered"),
        (OwnerError::Cloud(CloudError::Away { url: text(), reason: text() }), "cloud cannot be reached"),
        (OwnerError::Cloud(refused), "cloud refused"),
        (OwnerError::Cloud(unreadable), "answer cannot be read"),
        (OwnerError::WrongAnswer(text()), "does not fit the question"),
        (OwnerError::NotEnrolled(text()), "no device is enrolled"),
        (OwnerError::EmptyTime(text()), "time of the question is empty"),
    ];
    let causes = [
        (Cause::NothingArrived, "has arrived"),
        (Cause::OtherTime, "before or after the time"),
        (Cause::NoReading, "no reading"),
        (Cause::OtherUnit, "unit"),
        (Cause::NoSecret, "secret"),
        (Cause::LeftOut, "left out"),
    ];
    let table = table();
    for (error, meaning) in &errors {
        let code = error.exit_code();
        assert!(table.get(&code).is_some_and(|row| row.contains(meaning)), "{code}: {meaning}");
    }
    for (cause, meaning) in &causes {
        let code = cause.exit_code();
        assert!(table.get(&code).is_some_and(|row| row.contains(meaning)), "{code}: {meaning}");
        let name = serde_json::to_string(cause).unwrap();
        assert!(PAGE.contains(&format!("| `{}` | {code} |", name.trim_matches('"'))), "{name}");
    }
    let mut codes: Vec<u8> = errors.iter().map(|(error, _)| error.exit_code()).chain([0, 8]).collect();
    codes.extend(causes.iter().map(|(cause, _)| cause.exit_code()));
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(table.into_keys().collect::<Vec<_>>(), codes, "no other codes");
}

#[test]
fn wrong_arguments_and_a_missing_plant_end_with_their_codes() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, code) in [(&["ask"][..], 2), (&["ask", "mean(x)"], 3), (&["--version"], 0)] {
        let mut sotto = Command::new(env!("CARGO_BIN_EXE_sotto"));
        let output = sotto.args(arguments).current_dir(&folder).env_remove("SOTTO_PLANT").output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    }
}

#[test]
fn the_reason_of_a_failure_is_printed_once() {
    let outside = tempfile::tempdir().unwrap();
    let run = |folder: &Path, arguments: &[&str]| {
        let mut sotto = Command::new(env!("CARGO_BIN_EXE_sotto"));
        let output = sotto.args(arguments).current_dir(folder).env_remove("SOTTO_PLANT").output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    // The port is free again when the listener is dropped.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let cloud = format!("http://{free}");
    let plant = outside.path().join("plant");
    assert_eq!(run(outside.path(), &["init", "plant", "--cloud", &cloud]).0, Some(0));
    for (folder, arguments, code, reason) in [
        (outside.path(), &["init", "other", "--cloud", "http://example.org"][..], 6, "is plain HTTP"),
        (&plant, &["cloud", "show"], 5, "cannot be reached"),
    ] {
        let (ended, error) = run(folder, arguments);
        assert_eq!(ended, Some(code), "{arguments:?}: {error}");
        assert_eq!(error.matches(reason).count(), 1, "{arguments:?}: {error}");
    }
}

/// `sotto.toml` is right, and no command wrote it: its name would send the reader to the wrong place.
#[test]
fn wrong_options_end_with_2_and_do_not_blame_the_file() {
    let folder = tempfile::tempdir().unwrap();
    crate::session::init(folder.path(), "mean(heat) by day");
    let plant = folder.path().join("plant");
    crate::session::sotto(&plant, &["alarm", "add", "hot", "heat > 8"]).unwrap();
    let settings = std::fs::read_to_string(plant.join("sotto.toml")).unwrap();
    for (arguments, says) in [
        (&["alarm", "add", "a5", "heat > 8", "--clear", "9"][..], "clear = 9"),
        (&["alarm", "add", "a5", "heat > 8", "--clear-after", "0"], "1 to 1000"),
        (&["alarm", "add", "a5", "heat > 8", "--mute", "sun 25:00-06:00"], "mute: "),
        (&["alarm", "add", "a5", "heat > 8", "--mail", "ann@farm.example"], "sotto alarm mail"),
        (&["alarm", "add", "a5", "heat > 8", "--webhook", "ftp://x"], "http"),
        (&["question", "add", "bad name", "mean(heat)"], "bad name"),
        (&["channel", "derive", "twice = 2 * (heat"], "the formula 2 * (heat"),
        (&["channel", "derive", "twice"], "NAME = FORMULA"),
        (&["channel", "derive", "twice = 2 * rain"], "twice cannot be derived"),
        (&["alarm", "mute", "hot", "--until", "2020-01-01"], "give a later time"),
        (&["alarm", "mute", "hot"], "--until"),
    ] {
        let mut sotto = Command::new(env!("CARGO_BIN_EXE_sotto"));
        let done = sotto.args(arguments).current_dir(&plant).env_remove("SOTTO_PLANT").output().unwrap();
        let error = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(says) && !error.contains("sotto.toml:"), "{arguments:?}: {error}");
    }
    assert_eq!(std::fs::read_to_string(plant.join("sotto.toml")).unwrap(), settings);
    // A file that is wrong is blamed.
    std::fs::write(plant.join("sotto.toml"), settings.replace("heat > 8", "heat > ")).unwrap();
    let mut sotto = Command::new(env!("CARGO_BIN_EXE_sotto"));
    let done = sotto.args(["alarm", "list"]).current_dir(&plant).env_remove("SOTTO_PLANT").output().unwrap();
    assert_eq!(done.status.code(), Some(3));
    assert!(String::from_utf8(done.stderr).unwrap().contains("sotto.toml"));
}

/// A name, and an alarm that has nothing to end, are no faults of the folder or of a question.
#[test]
fn wrong_names_end_with_2_and_nothing_to_do_with_1() {
    let folder = tempfile::tempdir().unwrap();
    crate::session::init(folder.path(), "mean(heat) by day");
    let plant = folder.path().join("plant");
    let sotto = |line: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sotto"));
        command.args(line.split(' ')).current_dir(&plant).env_remove("SOTTO_PLANT");
        command.output().unwrap().status.code()
    };
    assert_eq!(sotto("alarm add hot heat>8"), Some(0));
    for line in [
        "alarm mute nope --for 1h",
        "alarm add hot heat>8",
        "question add daily max(heat)",
        "device remove nope --yes",
    ] {
        assert_eq!(sotto(line), Some(2), "{line}");
    }
    let settings = std::fs::read_to_string(plant.join("sotto.toml")).unwrap();
    let mail = "alarm mail --server smtp://localhost --from a@farm.example --ca nope.pem";
    for line in ["alarm ack hot", "alarm unmute hot", mail, "alarm add warm heat>7 --ca nope.pem"] {
        assert_eq!(sotto(line), Some(1), "{line}");
    }
    assert_eq!(std::fs::read_to_string(plant.join("sotto.toml")).unwrap(), settings);
    let lock = std::fs::File::create(plant.join("alarms/lock")).unwrap();
    lock.lock().unwrap();
    assert_eq!(sotto("watch --once"), Some(1), "another one runs");
}
