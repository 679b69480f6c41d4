//! A command that runs on a schedule, and whose output is readings.

use std::io::Read as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::hand_over::{hand_over, until_durable};
use super::lines::{Output, Outputs};
use super::points::points;
use super::{Collector, Site, Trouble, wait_for};
use crate::gateway::lines::{Precision, take_lines};
use crate::nouns::counted;
use crate::stop::Stop;

/// The device of a command without a name.
const UNNAMED: &str = "exec";
/// Maximum length of an output, in bytes.
const LONGEST: usize = 256 << 10;
const LOOK: Duration = Duration::from_millis(10);

/// A command, its rhythm and its time limit.
pub(super) struct Scheduled {
    device: String,
    command: String,
    every: Duration,
    limit: Duration,
}

impl Scheduled {
    /// Parses `NAME=COMMAND`. A name has no blank and none of the shell's characters.
    pub(super) fn new(text: &str, every: Duration, limit: Duration) -> Result<Self> {
        let is_name = |name: &str| {
            !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
        };
        let (device, command) = match text.split_once('=') {
            Some((name, command)) if is_name(name) => (name, command),
            _ => (UNNAMED, text),
        };
        if command.trim().is_empty() {
            bail!("--exec {text}: write it as NAME=COMMAND");
        }
        if limit >= every {
            bail!("--exec-limit has to be shorter than --every");
        }
        Ok(Self { device: device.to_owned(), command: command.to_owned(), every, limit })
    }

    fn once(&self, outputs: &mut Outputs, site: &Site) -> Result<(), String> {
        let output = run(&self.command, self.limit, &site.stop)?;
        match outputs.read(&self.device, &output) {
            Output::Reports(reports) => {
                if let Some(seen) = &site.seen {
                    reports.iter().for_each(|report| seen.report(report));
                }
                let all: Vec<_> =
                    reports.into_iter().flat_map(|report| points(report, &self.device)).collect();
                hand_over(&all, &self.name(), site);
                Ok(())
            }
            Output::Lines => self.lines(&output, site),
            Output::Unreadable => Err("its output is no number, no JSON and no line protocol".to_owned()),
        }
    }
}

impl Scheduled {
    /// Hands lines over, which name their own devices and times.
    fn lines(&self, output: &[u8], site: &Site) -> Result<(), String> {
        let sender = self.name();
        let take = || take_lines(&*site.intake, output, Precision::Nanoseconds, &sender);
        let Some(lines) = until_durable(&sender, site, take) else { return Ok(()) };
        match lines.first {
            Some((number, _)) if site.seen.is_none() => {
                Err(format!("{}, the first is line {number}", counted(lines.malformed, "malformed line")))
            }
            _ => Ok(()),
        }
    }
}

impl Collector for Scheduled {
    fn name(&self) -> String {
        format!("the command of {}", self.device)
    }

    fn collect(&mut self, site: &Site) -> Result<(), Trouble> {
        let fault = |reason: String, had_worked| Trouble { reason, had_worked };
        let mut outputs = Outputs::new(&site.zone).map_err(|error| fault(error.to_string(), false))?;
        let mut had_worked = false;
        while !wait_for(self.every, &site.stop) {
            self.once(&mut outputs, site).map_err(|reason| fault(reason, had_worked))?;
            had_worked = true;
        }
        Ok(())
    }
}

/// Runs a command by the shell and returns its output. Ends it, and the processes that it started, after `limit` or at a
/// stop.
fn run(command: &str, limit: Duration, stop: &Stop) -> Result<Vec<u8>, String> {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut shell, 0);
    let mut child = shell.spawn().map_err(|error| format!("sh cannot be started: {error}"))?;
    let Some(output) = child.stdout.take() else { return Err("it has no output".to_owned()) };
    // A process that outlives the shell may keep the pipe open: the reader ends with the group.
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        output.take(LONGEST as u64 + 1).read_to_end(&mut bytes).map(|_| bytes)
    });
    let ended = wait(&mut child, limit, stop);
    end(&mut child);
    let bytes = reader.join().map_err(|_| "its output cannot be read".to_owned())?;
    let bytes = bytes.map_err(|error| format!("its output cannot be read: {error}"))?;
    // First: such a command ends by a closed pipe, if it ends at all.
    if bytes.len() > LONGEST {
        return Err(format!("its output is longer than {LONGEST} bytes"));
    }
    let status = ended?;
    if !status.success() {
        return Err(format!("it ended with {status}"));
    }
    Ok(bytes)
}

fn wait(child: &mut Child, limit: Duration, stop: &Stop) -> Result<ExitStatus, String> {
    let begin = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if begin.elapsed() > limit => {
                return Err(format!("it did not end within {} s", limit.as_secs_f32()));
            }
            Ok(None) if stop.wait(LOOK) => return Err("the agent stops".to_owned()),
            Ok(None) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// Kills a process with its group.
fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn run_for(command: &str, limit: u64) -> Result<Vec<u8>, String> {
        run(command, Duration::from_millis(limit), &Stop::new())
    }

    #[test]
    fn an_output_is_taken_if_the_command_ends_well_and_in_time() {
        assert_eq!(run_for("echo 21.5", 5000).as_deref(), Ok(&b"21.5\n"[..]));
        assert!(run_for("echo 21.5; exit 3", 5000).unwrap_err().contains('3'));
        let begin = Instant::now();
        let late = run_for("echo 21.5; sleep 60", 200).unwrap_err();
        assert!(late.contains("did not end"), "{late}");
        // A child that keeps the pipe open goes with the group.
        assert!(run_for("sleep 60 & echo 1", 200).is_ok());
        assert!(begin.elapsed() < Duration::from_secs(30));
        assert!(run_for("head -c 300000 /dev/zero", 5000).unwrap_err().contains("longer"));
        assert!(run_for("no-such-command-here", 5000).is_err());
    }

    #[test]
    fn a_command_may_name_its_device() {
        let (every, limit) = (Duration::from_secs(10), Duration::from_secs(5));
        let of = |text: &str| Scheduled::new(text, every, limit).map(|new| (new.device, new.command));
        assert_eq!(of("pump=cat /x=y").unwrap(), ("pump".to_owned(), "cat /x=y".to_owned()));
        assert_eq!(of("A B=c cat").unwrap(), ("exec".to_owned(), "A B=c cat".to_owned()));
        assert!(of("").is_err() && of("pump=").is_err());
        assert!(Scheduled::new("true", every, every).is_err());
    }
}
