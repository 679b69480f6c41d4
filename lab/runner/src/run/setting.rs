//! One process of an engine, and what it was prepared with.

use sotto_lab::LabError;
use sotto_lab::protocol::{Prepare, Prepared, UNSUPPORTED, Verify};

use crate::contender::{Contender, Speaker};
use crate::definition::Check;

/// An engine that holds more bytes than this makes room for the others where keys are large.
const SMALL: u64 = 512 << 20;

/// A process that was prepared once, and is again when it is asked after a rest.
pub(super) struct Setting<'a> {
    contender: &'a Contender,
    /// None while it rests.
    speaker: Option<Box<dyn Speaker>>,
    pub(super) request: Prepare,
    pub(super) prepared: Prepared,
    /// What the definition's program gave; None if it could not be asked.
    pub(super) checked: Option<Checked>,
}

/// What an engine says to the definition's program.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Checked {
    Right,
    Wrong,
    /// It was refused, for this reason.
    Refused(String),
}

impl<'a> Setting<'a> {
    /// Prepares the engine with the first request that it takes.
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
                // The last words are about what was asked for when all else had been refused.
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

    /// The process; it is started and prepared again if it was ended.
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

    /// Ends the process if it holds much memory, which some libraries never give back.
    pub(super) fn rest(&mut self) {
        if self.speaker.as_ref().and_then(|speaker| speaker.memory()).is_some_and(|bytes| bytes > SMALL) {
            self.end();
        }
    }
}

/// A new process of an engine.
pub(super) fn start(contender: &Contender) -> Result<Box<dyn Speaker>, LabError> {
    match &contender.start {
        Ok(start) => start(),
        Err(reason) => Err(LabError::Refused { engine: contender.name.clone(), reason: reason.clone() }),
    }
}

/// Whether the program's answers are right; None if the engine runs no programs. An engine that dies or hangs is an error.
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
