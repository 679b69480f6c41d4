//! Several processes on one plant's folder, and `sotto top` without a terminal.

use std::process::{Command, Stdio};
use std::time::Duration;

use sotto_owner::{Plant, edit};

use crate::session::{self, sotto};

#[test]
fn commands_beside_an_open_plant_lose_no_question() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path();
    session::init(folder, "mean(heat) by day");
    let mut open = Plant::open(&folder.join("plant")).unwrap();
    let added = |number: usize| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sotto"));
        command.args(["question", "add", &format!("q{number}"), "mean(flow) by day"]).current_dir(folder);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).env_remove("SOTTO_PLANT").spawn().unwrap()
    };
    let children: Vec<_> = (0..6).map(added).collect();
    for number in 0..20 {
        let name = format!("own{number}");
        open.edit(|document| edit::add_question(document, &name, &"sum(heat) by day".into())).unwrap();
        std::thread::sleep(Duration::from_millis(5));
    }
    for child in children {
        let done = child.wait_with_output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    assert_eq!(open.reopened().unwrap().settings().questions.len(), 27);
}

#[test]
fn a_question_that_a_dashboard_shows_can_be_removed() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path();
    session::init(folder, "mean(heat) by day");
    sotto(folder, &["question", "add", "peak", "max(heat) by day"]).unwrap();
    let mut open = Plant::open(&folder.join("plant")).unwrap();
    let names = ["daily", "peak"].map(str::to_owned);
    open.edit(|document| edit::set_dashboard(document, "main", &names)).unwrap();
    sotto(folder, &["question", "remove", "daily"]).unwrap();
    assert_eq!(open.reopened().unwrap().settings().dashboards["main"].questions, ["peak"]);
}

#[test]
fn top_without_a_terminal_prints_one_frame() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path();
    session::init(folder, "mean(heat) by day");
    let cloud = session::Cloud::start(folder);
    sotto(folder, &["device", "add", "boiler", "--channels", "heat,flow"]).unwrap();
    session::send(folder, "boiler.bundle");
    let frame = sotto(folder, &["top"]).unwrap();
    let boiler = frame.lines().find(|line| line.starts_with("boiler")).unwrap_or_else(|| panic!("{frame}"));
    assert!(boiler.contains("late") && boiler.contains(" 96 "), "{frame}");
    assert!(frame.starts_with("plant  cloud http://127.0.0.1:") && !frame.contains('\x1b'), "{frame:?}");
    assert_eq!(sotto(folder, &["top", "--once"]).unwrap().lines().count(), frame.lines().count());
    let refused = sotto(folder, &["top", "--json"]).unwrap_err();
    assert!(refused.contains("`sotto status --json`"), "{refused}");
    cloud.stop();
    let (code, frame) = session::output(folder, &["top", "--once"]);
    assert_eq!(code, 5, "{frame}");
    assert!(frame.contains("no answer") && frame.contains("cannot be reached"), "{frame}");
}
