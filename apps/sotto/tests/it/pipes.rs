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
