//! `sotto top` on a terminal.

use std::process::{Command, Stdio};

use crate::session;

#[test]
#[cfg(target_os = "linux")]
fn a_signal_leaves_the_terminal_as_it_was() {
    const OTHER_SCREEN: &str = "\u{1b}[?1049h";
    const OWN_SCREEN: &str = "\u{1b}[?1049l";
    let folder = tempfile::tempdir().unwrap();
    session::init(folder.path(), "mean(heat) by day");
    // `script` makes the terminal, `timeout` sends the signal.
    let top = format!("timeout --foreground --signal TERM 3 {} top", env!("CARGO_BIN_EXE_sotto"));
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command", &top, "/dev/null"]);
    command.current_dir(folder.path()).env_remove("SOTTO_PLANT").env("TERM", "xterm").stdin(Stdio::null());
    let Ok(shown) = command.output() else {
        println!("skipped: `script` of util-linux is not installed");
        return;
    };
    let text = String::from_utf8_lossy(&shown.stdout);
    let (before, after) = text.split_once(OTHER_SCREEN).expect("the other screen");
    assert!(!before.contains(OWN_SCREEN) && after.trim_end().contains(OWN_SCREEN), "{text:?}");
}
