//! Closed pipes, full disks, and other tokens.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::session::{init, send, serve, sotto};

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sotto"));
    command.args(arguments).current_dir(folder).env_remove("SOTTO_PLANT");
    command
}

#[test]
fn a_closed_pipe_ends_every_command_quietly() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path(), "mean(heat) by day");
    let _cloud = serve(folder.path());
    sotto(folder.path(), &["device", "add", "boiler", "--channels", "heat,flow"]).unwrap();
    send(folder.path(), "boiler.bundle");
    let asked: &[&[&str]] = &[
        &["ask", "daily"],
        &["ask", "mean(heat), mean(flow) by hour", "--json"],
        &["plan"],
        &["status"],
        &["channel", "list"],
        &["--help"],
    ];
    for arguments in asked {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let done = command(folder.path(), arguments).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        let error = String::from_utf8(done.stderr).unwrap();
        assert!(done.status.success(), "{arguments:?}: {error}");
        assert!(!error.contains("panic") && !error.to_lowercase().contains("pipe"), "{arguments:?}: {error}");
        // Notes go to the same pipe, as in `sotto ask 2>&1 | head -1`.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let both =
            command(folder.path(), arguments).stdout(writer.try_clone().unwrap()).stderr(writer).status();
        assert!(both.unwrap().success(), "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_written_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path(), "mean(heat) by day");
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let done = command(folder.path(), &["channel", "list"]).stdout(full).output().unwrap();
    let error = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(1));
    assert!(error.contains("standard output cannot be written"), "{error}");
}

/// A plant with an alarm that the sent readings raise, and whose sink is a file.
#[cfg(target_os = "linux")]
fn alarmed(folder: &Path) -> tokio::runtime::Runtime {
    init(folder, "mean(heat) by day");
    let cloud = serve(folder);
    let alarm = ["alarm", "add", "hot", "heat > 0", "--since", "2024-01-01", "--exec", "echo . >> told"];
    sotto(folder, &alarm).unwrap();
    sotto(folder, &["device", "add", "boiler", "--channels", "heat,flow"]).unwrap();
    send(folder, "boiler.bundle");
    cloud
}

/// Outputs that take no line.
#[cfg(target_os = "linux")]
fn lost_outputs() -> [Stdio; 2] {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    [std::fs::File::options().write(true).open("/dev/full").unwrap().into(), writer.into()]
}

#[cfg(target_os = "linux")]
#[test]
fn a_round_delivers_although_its_output_is_lost() {
    for output in lost_outputs() {
        let folder = tempfile::tempdir().unwrap();
        let _cloud = alarmed(folder.path());
        let done = command(folder.path(), &["watch", "--once"]).stdout(output).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        assert!(folder.path().join("plant/told").exists());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_watch_goes_on_although_its_output_is_lost() {
    for output in lost_outputs() {
        let folder = tempfile::tempdir().unwrap();
        let _cloud = alarmed(folder.path());
        let mut watch = command(folder.path(), &["watch", "--every", "1s"]).stdout(output).spawn().unwrap();
        let told = folder.path().join("plant/told");
        while !told.exists() {
            assert_eq!(watch.try_wait().unwrap(), None, "it ends before it delivers");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        // The next rounds run, too.
        let journal = folder.path().join("plant/alarms/alarms.jsonl");
        sotto(folder.path(), &["alarm", "add", "hotter", "heat > 1", "--since", "2024-01-01"]).unwrap();
        while !std::fs::read_to_string(&journal).unwrap().contains("\"hotter\"") {
            assert_eq!(watch.try_wait().unwrap(), None, "it ends after a round");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        watch.kill().unwrap();
        watch.wait().unwrap();
    }
}

#[test]
fn a_refused_token_is_explained_by_its_two_files() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path(), "mean(heat) by day");
    let _cloud = serve(folder.path());
    sotto(folder.path(), &["device", "add", "boiler", "--channels", "heat,flow"]).unwrap();
    let token = folder.path().join("plant/secrets/owner-token");
    let right = std::fs::read_to_string(&token).unwrap();
    std::fs::write(&token, "0123456789abcdef0123456789abcdef").unwrap();
    let error = sotto(folder.path(), &["ask", "daily"]).unwrap_err();
    assert!(error.contains("plant/secrets/owner-token") && error.contains("owner_token_file"), "{error}");
    assert!(error.contains("plant/cloud.toml") && error.contains("401"), "{error}");
    assert!(!error.contains("0123456789abcdef") && !error.contains(right.trim()), "{error}");
}
