//! The engines of a run.

use std::time::Duration;

use sotto_harness::protocol::{
    Compare, Compared, Exchange, Exchanged, Measure, Measured, Prepare, Prepared, UNSUPPORTED, Verified,
    Verify, Version,
};
use sotto_harness::{ENGINES, Engine, Installed, LabError, Process};

use crate::error::RunnerError;

/// An engine that answers requests: a process, or a stand-in in tests.
pub trait Speaker {
    /// Returns name, library and version.
    fn version(&mut self) -> Result<Version, LabError>;
    /// Makes parameters and keys.
    fn prepare(&mut self, request: &Prepare) -> Result<Prepared, LabError>;
    /// Runs a program.
    fn verify(&mut self, request: &Verify) -> Result<Verified, LabError>;
    /// Times an operation.
    fn measure(&mut self, request: &Measure) -> Result<Measured, LabError>;
    /// Carries out one step of a round trip; most engines cannot.
    fn exchange(&mut self, _: &Exchange) -> Result<Exchanged, LabError> {
        Err(LabError::Refused { engine: String::new(), reason: UNSUPPORTED.to_owned() })
    }
    /// Compares encrypted readings with a limit; most engines cannot.
    fn compare(&mut self, _: &Compare) -> Result<Compared, LabError> {
        Err(LabError::Refused { engine: String::new(), reason: UNSUPPORTED.to_owned() })
    }
    /// Returns the bytes of resident memory. None if unknown.
    fn memory(&self) -> Option<u64> {
        None
    }
}

impl Speaker for Process {
    fn version(&mut self) -> Result<Version, LabError> {
        Self::version(self)
    }

    fn prepare(&mut self, request: &Prepare) -> Result<Prepared, LabError> {
        Self::prepare(self, request)
    }

    fn verify(&mut self, request: &Verify) -> Result<Verified, LabError> {
        Self::verify(self, request)
    }

    fn measure(&mut self, request: &Measure) -> Result<Measured, LabError> {
        Self::measure(self, request)
    }

    fn exchange(&mut self, request: &Exchange) -> Result<Exchanged, LabError> {
        Self::exchange(self, request)
    }

    fn compare(&mut self, request: &Compare) -> Result<Compared, LabError> {
        Self::compare(self, request)
    }

    fn memory(&self) -> Option<u64> {
        Self::memory(self)
    }
}

/// A function that starts an engine.
type Start = Box<dyn Fn() -> Result<Box<dyn Speaker>, LabError>>;

/// An engine's name, and a function that starts it, or the reason why it cannot be started.
pub struct Contender {
    /// The engine's name.
    pub name: String,
    /// The function that starts it, or the reason why there is none.
    pub(crate) start: Result<Start, String>,
    /// The log of a failed installation.
    pub(crate) log: Option<String>,
}

impl Contender {
    /// Makes a contender from a function that starts the engine.
    pub fn new(
        name: impl Into<String>,
        start: impl Fn() -> Result<Box<dyn Speaker>, LabError> + 'static,
    ) -> Self {
        Self { name: name.into(), start: Ok(Box::new(start)), log: None }
    }

    /// Makes a contender that cannot be started, for this reason.
    pub fn absent(name: impl Into<String>, reason: impl Into<String>, log: Option<String>) -> Self {
        Self { name: name.into(), start: Err(reason.into()), log }
    }

    /// Returns the reason why it cannot be started. None if it can.
    pub fn absence(&self) -> Option<&str> {
        self.start.as_ref().err().map(String::as_str)
    }

    /// Makes a contender of an installed engine: one thread, pinned to a core, at most `limit` for each answer.
    pub fn installed(engine: &Installed, limit: Duration) -> Self {
        let engine = engine.clone();
        Self::new(engine.name.clone(), move || {
            Ok(Box::new(Process::start_pinned(&engine, limit)?) as Box<dyn Speaker>)
        })
    }

    /// Returns the engine of this name as it is installed. `ours` starts our own engine, which is part of the running
    /// program.
    ///
    /// # Errors
    /// `Unknown` if there is no engine of this name. An engine that is not installed is no error, but absent.
    pub fn named(name: &str, ours: Option<&Installed>, limit: Duration) -> Result<Self, RunnerError> {
        if let Some(ours) = ours.filter(|ours| ours.name == name) {
            return Ok(Self::installed(ours, limit));
        }
        let known = || ENGINES.iter().map(|engine| engine.name).collect::<Vec<_>>().join(", ");
        let unknown = || RunnerError::Unknown { kind: "engine", name: name.to_owned(), known: known() };
        let engine = Engine::named(name).ok_or_else(unknown)?;
        Ok(match engine.installed() {
            Ok(installed) => Self::installed(&installed, limit),
            Err(_) => {
                let reason = match engine.examine(None, false).reason {
                    Some(obstacle) => format!("is not installed: {obstacle}"),
                    None => format!("is not installed: `sotto-lab install {name}` does it"),
                };
                Self::absent(name, reason, engine.install_log())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn an_engine_that_is_not_known_is_refused_with_those_that_are() {
        let error = Contender::named("helib", None, Duration::from_secs(1));
        let text = error.err().unwrap().to_string();
        assert!(text.contains("there is no engine helib") && text.contains("sotto"), "{text}");
    }
}
