//! A setting: one process of an engine and its parameters.

use sotto_harness::LabError;
use sotto_harness::protocol::{Prepare, Prepared, UNSUPPORTED, Verify};

use crate::contender::{Contender, Speaker};
use crate::definition::Check;

/// An engine with more bytes of resident memory than this is ended while others hold large keys.
const SMALL: u64 = 512 << 20;

/// A prepared process, which is started and prepared again after it was ended.
pub(super) struct Setting<'a> {
    contender: &'a Contender,
    /// None while the process is ended.
    speaker: Option<Box<dyn Speaker>>,
    pub(super) request: Prepare,
    pub(super) prepared: Prepared,
    /// The outcome of the check program; None if the engine runs no programs.
    pub(super) checked: Option<Checked>,
}

/// The outcome of the check program.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Checked {
    Right,
    Wrong,
    /// The engine refused the program, for this reason.
    Refused(String),
}

impl<'a> Setting<'a> {
    /// Prepares the engine with the first request that it accepts.
    pub(super) fn open(
        contender: &'a Contender,
        mut speaker: Box<dyn Speaker>,
        requests: Vec<Prepare>,
        check: Option<&Check>,
    ) -> Result<Self, LabError> {
        let mut refusal = None;
        for request in requests {
            match speaker.prepare(&request) {
                Ok(prepared) => {
                    let checked = check.map(|check| passes(check, speaker.as_mut())).transpose()?.flatten();
                    return Ok(Self { contender, speaker: Some(speaker), request, prepared, checked });
                }
                // Keeps the last reason: earlier requests asked for more.
                Err(LabError::Refused { reason, .. }) => {
                    if reason != UNSUPPORTED || refusal.is_none() {
                        refusal = Some(reason);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        let reason = refusal.unwrap_or_else(|| "takes no parameters".to_owned());
        Err(LabError::Refused { engine: contender.name.clone(), reason })
    }

    /// Returns the process; starts and prepares it again if it was ended.
    pub(super) fn awake(&mut self) -> Result<&mut dyn Speaker, LabError> {
        let speaker = match self.speaker.take() {
            Some(speaker) => speaker,
            None => {
                let mut speaker = start(self.contender)?;
                self.prepared = speaker.prepare(&self.request)?;
                speaker
            }
        };
        Ok(self.speaker.insert(speaker).as_mut())
    }

    /// Ends the process.
    pub(super) fn end(&mut self) {
        self.speaker = None;
    }

    /// Ends the process if it holds much memory, which some libraries never release.
    pub(super) fn rest(&mut self) {
        if self.speaker.as_ref().and_then(|speaker| speaker.memory()).is_some_and(|bytes| bytes > SMALL) {
            self.end();
        }
    }
}

/// Starts a process of an engine.
pub(super) fn start(contender: &Contender) -> Result<Box<dyn Speaker>, LabError> {
    match &contender.start {
        Ok(start) => start(),
        Err(reason) => Err(LabError::Refused { engine: contender.name.clone(), reason: reason.clone() }),
    }
}

/// Runs the check program. None if the engine runs no programs. An engine that dies or hangs is an error.
fn passes(check: &Check, speaker: &mut dyn Speaker) -> Result<Option<Checked>, LabError> {
    let asked = Verify { program: check.program.clone(), inputs: check.inputs.clone() };
    let answers = match speaker.verify(&asked) {
        Ok(verified) => verified.outputs,
        Err(LabError::Refused { reason, .. }) if reason == UNSUPPORTED => return Ok(None),
        Err(LabError::Refused { reason, .. }) => return Ok(Some(Checked::Refused(reason))),
        Err(error) => return Err(error),
    };
    let right = |answer: &[f64], expected: &[f64]| {
        answer.len() >= expected.len()
            && answer.iter().zip(expected).all(|(a, b)| (a - b).abs() <= check.tolerance)
    };
    let all = answers.iter().zip(&check.outputs).all(|(answer, expected)| right(&answer.reals(), expected));
    let right = answers.len() == check.outputs.len() && all;
    Ok(Some(if right { Checked::Right } else { Checked::Wrong }))
}
