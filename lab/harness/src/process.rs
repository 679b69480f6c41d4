//! A running engine and the conversation with it.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde::de::DeserializeOwned;

use crate::error::LabError;
use crate::install::Installed;
use crate::protocol::{
    Compare, Compared, Exchange, Exchanged, Failure, Measure, Measured, Prepare, Prepared, Request, Verified,
    Verify, Version,
};

/// Lines of standard error kept for an error message.
const KEPT_LINES: usize = 8;
/// How long an engine that answers no more may still write its last words.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// Characters of a reply shown in an error message.
const KEPT_CHARACTERS: usize = 200;

/// The environment variables from which libraries read their number of threads.
const ONE_THREAD: [&str; 4] = ["OMP_NUM_THREADS", "GOMAXPROCS", "RAYON_NUM_THREADS", "OPENBLAS_NUM_THREADS"];

/// Returns the last core that this process may use, if `taskset` can pin to it.
fn last_core() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let listed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    let core = listed.trim().rsplit([',', '-']).next()?.to_owned();
    let works = Command::new("taskset").args(["-c", &core, "true"]).status().ok()?.success();
    works.then_some(core)
}

/// A running engine, which is ended when dropped.
#[derive(Debug)]
pub struct Process {
    engine: String,
    child: Child,
    input: Option<ChildStdin>,
    replies: Receiver<String>,
    said: Arc<Mutex<VecDeque<String>>>,
    /// Disconnected when standard error has been read to its end.
    saying: Receiver<()>,
    limit: Duration,
}

impl Process {
    /// Starts an engine; `limit` is the time limit of one answer.
    ///
    /// # Errors
    /// `Start` if the program does not start.
    pub fn start(engine: &Installed, limit: Duration) -> Result<Self, LabError> {
        let command = Command::new(&engine.program);
        Self::spawn(command, engine, limit)
    }

    /// Starts an engine pinned to the last core that this process may use, if the system can pin.
    ///
    /// # Errors
    /// `Start` if the program does not start.
    pub fn start_pinned(engine: &Installed, limit: Duration) -> Result<Self, LabError> {
        let Some(core) = last_core() else { return Self::start(engine, limit) };
        let mut command = Command::new("taskset");
        command.args(["-c", &core]).arg(&engine.program);
        Self::spawn(command, engine, limit)
    }

    fn spawn(mut command: Command, engine: &Installed, limit: Duration) -> Result<Self, LabError> {
        command.args(&engine.arguments).envs(ONE_THREAD.map(|variable| (variable, "1")));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = engine.program.display().to_string();
        let mut child = command.spawn().map_err(|source| LabError::Start { program, source })?;
        let (sender, replies) = mpsc::channel();
        let said = Arc::new(Mutex::new(VecDeque::new()));
        if let Some(output) = child.stdout.take() {
            // Threads read the pipes: waiting can then have a time limit, and a full pipe blocks nobody.
            thread::spawn(move || {
                let lines = BufReader::new(output).lines();
                lines.map_while(Result::ok).try_for_each(|line| sender.send(line))
            });
        }
        let (end_of_errors, saying) = mpsc::channel();
        if let Some(errors) = child.stderr.take() {
            let said = Arc::clone(&said);
            thread::spawn(move || {
                let _disconnects_when_dropped: Sender<()> = end_of_errors;
                for line in BufReader::new(errors).lines().map_while(Result::ok) {
                    let mut kept = said.lock().unwrap_or_else(PoisonError::into_inner);
                    kept.push_back(line);
                    if kept.len() > KEPT_LINES {
                        kept.pop_front();
                    }
                }
            });
        }
        let input = child.stdin.take();
        Ok(Self { engine: engine.name.clone(), child, input, replies, said, saying, limit })
    }

    /// Asks for name, library and version.
    ///
    /// # Errors
    /// As [`Process::ask`].
    pub fn version(&mut self) -> Result<Version, LabError> {
        self.ask(&Request::Version)
    }

    /// Makes parameters and keys.
    ///
    /// # Errors
    /// As [`Process::ask`].
    pub fn prepare(&mut self, prepare: &Prepare) -> Result<Prepared, LabError> {
        self.ask(&Request::Prepare(prepare.clone()))
    }

    /// Runs a program.
    ///
    /// # Errors
    /// As [`Process::ask`].
    pub fn verify(&mut self, verify: &Verify) -> Result<Verified, LabError> {
        self.ask(&Request::Verify(verify.clone()))
    }

    /// Times an operation.
    ///
    /// # Errors
    /// As [`Process::ask`].
    pub fn measure(&mut self, measure: &Measure) -> Result<Measured, LabError> {
        self.ask(&Request::Measure(measure.clone()))
    }

    /// Carries out one step of a round trip.
    ///
    /// # Errors
    /// As [`Process::ask`].
    pub fn exchange(&mut self, exchange: &Exchange) -> Result<Exchanged, LabError> {
        self.ask(&Request::Exchange(exchange.clone()))
    }

    /// Compares encrypted readings with a limit.
    ///
    /// # Errors
    /// As [`Process::ask`].
    pub fn compare(&mut self, compare: &Compare) -> Result<Compared, LabError> {
        self.ask(&Request::Compare(compare.clone()))
    }

    /// Returns the engine's bytes of resident memory. None if the system does not report it.
    pub fn memory(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kibibytes| kibibytes << 10)
    }

    /// Sends a request and waits for its reply.
    ///
    /// # Errors
    /// `Ended`, `TooSlow`, `Reply` or `Refused`, as the engine behaves.
    pub fn ask<R: DeserializeOwned>(&mut self, request: &Request) -> Result<R, LabError> {
        self.send(request)?;
        self.receive()
    }

    /// Sends a request; [`Process::receive`] returns its reply, so that the caller can do other work in between.
    ///
    /// # Errors
    /// `Ended` if the engine has ended.
    pub fn send(&mut self, request: &Request) -> Result<(), LabError> {
        let mut line = serde_json::to_string(request).map_err(|error| self.reply(&error, ""))?;
        line.push('\n');
        let sent = self
            .input
            .as_mut()
            .is_some_and(|i| i.write_all(line.as_bytes()).and_then(|()| i.flush()).is_ok());
        if sent { Ok(()) } else { Err(self.ended()) }
    }

    /// Waits for the reply to the oldest request that has none yet.
    ///
    /// # Errors
    /// `Ended`, `TooSlow`, `Reply` or `Refused`, as the engine behaves.
    pub fn receive<R: DeserializeOwned>(&mut self) -> Result<R, LabError> {
        let line = match self.replies.recv_timeout(self.limit) {
            Ok(line) => line,
            Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            Err(RecvTimeoutError::Timeout) => {
                // A late reply would be taken for the reply to the next request.
                self.end();
                return Err(LabError::TooSlow { engine: self.engine.clone(), limit: self.limit });
            }
        };
        if let Ok(Failure { error }) = serde_json::from_str(&line) {
            return Err(LabError::Refused { engine: self.engine.clone(), reason: error });
        }
        serde_json::from_str(&line).map_err(|error| self.reply(&error, &line))
    }

    fn reply(&self, error: &serde_json::Error, line: &str) -> LabError {
        let begins: String = line.chars().take(KEPT_CHARACTERS).collect();
        LabError::Reply { engine: self.engine.clone(), reason: format!("{error}, in `{begins}`") }
    }

    fn ended(&mut self) -> LabError {
        self.input = None;
        // Its last lines name the reason. The wait is bounded: a process that the engine started may hold the pipe open.
        let _ = self.saying.recv_timeout(LAST_WORDS);
        self.end();
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let said = said.iter().map(String::as_str).collect::<Vec<_>>().join(" | ");
        let said = if said.is_empty() { "nothing".to_owned() } else { said };
        LabError::Ended { engine: self.engine.clone(), said }
    }

    fn end(&mut self) {
        self.input = None;
        // Fails without effect if the engine has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Starts an engine that is a line of shell.
    fn shell(script: &str, limit: Duration) -> Process {
        let arguments = vec!["-c".into(), script.into()];
        let engine = Installed { name: "shell".into(), program: "sh".into(), arguments };
        Process::start(&engine, limit).expect("sh starts")
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn a_reply_is_read_and_a_refusal_is_told() {
        let replies = r#"read l; echo '{"data":[3,5],"special":[]}'; read l; echo '{"error":"too deep"}'; read l; echo what"#;
        let mut engine = shell(replies, LONG);
        assert_eq!(engine.prepare(&Prepare::default()).unwrap().data, [3, 5]);
        let refusal = engine.version().unwrap_err();
        assert!(matches!(&refusal, LabError::Refused { reason, .. } if reason == "too deep"), "{refusal}");
        let nonsense = engine.version().unwrap_err();
        assert!(nonsense.to_string().contains("in `what`"), "{nonsense}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_engine_has_one_thread_and_one_core() {
        let script = r#"read l; echo '{"error":"'$OMP_NUM_THREADS $(taskset -p $$)'"}'"#;
        let engine = Installed {
            name: "shell".into(),
            program: "sh".into(),
            arguments: vec!["-c".into(), script.into()],
        };
        if last_core().is_none() {
            println!("skipped: there is no taskset here");
            return;
        }
        let said = Process::start_pinned(&engine, LONG).unwrap().version().unwrap_err().to_string();
        let mask = u128::from_str_radix(said.rsplit(' ').next().unwrap(), 16).unwrap();
        assert!(said.contains("refused: 1 pid") && mask.is_power_of_two(), "{said}");
    }

    #[test]
    fn an_engine_that_ends_is_told_with_its_last_words() {
        let mut engine = shell("read l; echo 'no memory left' >&2; sleep 0.2; exit 1", LONG);
        let error = engine.version().unwrap_err().to_string();
        assert!(error.contains("ended without an answer") && error.contains("no memory left"), "{error}");
        assert!(engine.version().is_err(), "and nothing more is asked of it");
    }

    #[test]
    fn last_words_that_come_after_the_end_of_the_replies_are_told() {
        let mut engine = shell("exec >&- <&-; sleep 0.3; echo 'no memory left' >&2; exit 1", LONG);
        let error = engine.version().unwrap_err().to_string();
        assert!(error.contains("no memory left"), "{error}");
    }

    #[test]
    fn an_engine_that_is_too_slow_is_ended() {
        let mut engine = shell("exec sleep 30", Duration::from_millis(100));
        assert!(matches!(engine.version(), Err(LabError::TooSlow { .. })));
        assert!(engine.child.try_wait().unwrap().is_some());
    }

    #[test]
    fn an_engine_that_is_not_there_is_told() {
        let engine = Installed { name: "none".into(), program: "no-such-program".into(), arguments: vec![] };
        let error = Process::start(&engine, LONG).unwrap_err();
        assert!(error.to_string().contains("cannot start no-such-program"), "{error}");
    }
}
