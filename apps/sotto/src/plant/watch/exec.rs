//! A command as a sink of events.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use sotto_owner::alarm::Event;

/// Runs a command by the shell, in the plant's folder: the event is JSON on its standard input, and in its environment.
/// Ends it, and the processes that it started, after `limit`.
///
/// # Errors
/// The reason, if it cannot be started, takes too long, or ends with another code than 0.
pub(super) fn run(command: &str, folder: &Path, event: &Event, limit: Duration) -> Result<(), String> {
    let json = serde_json::to_string(event).map_err(|error| error.to_string())?;
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::null());
    let value = event.value.map(|value| value.to_string()).unwrap_or_default();
    for (name, text) in [
        ("ID", event.id.as_str()),
        ("NAME", &event.alarm),
        ("DEVICE", &event.device),
        ("EVENT", event.event.word()),
        ("VALUE", &value),
        ("UNIT", &event.unit),
        ("FROM", &event.from),
        ("TO", &event.to),
        ("LATE", if event.late { "1" } else { "0" }),
        ("TEXT", &event.text()),
    ] {
        shell.env(format!("SOTTO_ALARM_{name}"), text);
    }
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut shell, 0);
    let mut child = shell.spawn().map_err(|error| format!("sh cannot be started: {error}"))?;
    if let Some(mut input) = child.stdin.take() {
        // A command that reads nothing closes the pipe. An event fits the pipe, so that this does not wait.
        let _ = input.write_all(json.as_bytes()).and_then(|()| input.write_all(b"\n"));
    }
    let begin = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("it ended with {status}")),
            Ok(None) if begin.elapsed() > limit => {
                end(&mut child);
                return Err(format!("it did not end within {} s", limit.as_secs()));
            }
            Ok(None) => thread::sleep(Duration::from_millis(10)),
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// Kills a process with its group.
fn end(child: &mut Child) {
    #[cfg(unix)]
    let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status();
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::tests::event;
    use super::*;

    #[test]
    fn a_command_gets_the_event_twice() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = |command: &str| run(command, folder.path(), &event(), Duration::from_millis(300));
        run("cat > json; echo \"$SOTTO_ALARM_NAME $SOTTO_ALARM_EVENT $SOTTO_ALARM_VALUE\" > text")
            .expect("it runs");
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("written");
        assert_eq!(serde_json::from_str::<Event>(&read("json")).expect("JSON"), event());
        assert_eq!(read("text"), "hot raised 12\n");
        run("true").expect("the input need not be read");
        assert!(run("exit 3").expect_err("3").contains('3'));
        let begin = Instant::now();
        assert!(run("sleep 60; true").expect_err("it is ended").contains("within"));
        assert!(begin.elapsed() < Duration::from_secs(10));
    }
}
