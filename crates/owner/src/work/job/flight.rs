//! Jobs that the cloud is working on, and the places of their results.

use sotto_keys::SecretKey;
use sotto_runtime::{Lowered, Managed};
use sotto_wire::TranscriptInputs;

use super::Results;
use crate::error::OwnerError;
use crate::open::{Contents, Numbers, Readable};
use crate::quantities::{Input, Packed, Part, frame, kept, stride};
use crate::work::transcript::Expected;

/// A submitted job.
pub(super) struct Submitted<S: Managed> {
    /// Its name in the cloud.
    pub(super) job: String,
    /// The frame of its plan.
    pub(super) plan: Vec<u8>,
    pub(super) lowered: Lowered<S>,
}

/// A job that the cloud is working on.
pub(super) struct Flight<'w, S: Managed> {
    /// None if every result is zero for any windows.
    pub(super) job: Option<Submitted<S>>,
    pub(super) parts: &'w [Part],
    pub(super) packed: Packed,
    /// A bound on the absolute value of every whole-number result.
    pub(super) magnitude: f64,
}

impl<S: Managed> Submitted<S> {
    /// Returns the statements that the transcript of the job must make.
    pub(super) fn expected<'i>(
        &self,
        key: &SecretKey<S>,
        inputs: impl Iterator<Item = &'i Input>,
    ) -> Result<Expected, OwnerError> {
        let request = sotto_wire::frame_digest(&self.plan);
        Ok(Expected {
            parameters: key.params().id(),
            key: key.id(),
            request: request.map_err(|error| OwnerError::WrongAnswer(error.to_string()))?,
            needs_keys: !self.lowered.keys.is_empty(),
            inputs: TranscriptInputs::of(inputs.map(|input| input.identity)),
        })
    }
}

impl<'w, S: Managed<Value: Readable>> Flight<'w, S> {
    /// Returns the windows of all parts, in the order of the job's inputs.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &'w Input> + use<'w, S> {
        self.parts.iter().flat_map(|part| &part.inputs)
    }

    /// Returns the number of windows.
    pub(super) fn windows(&self) -> u64 {
        self.inputs().count() as u64
    }

    /// Returns the positions of the results in an output.
    pub(super) fn contents(&self, degree: usize) -> Contents {
        let layout = self.parts[0].layout();
        let results = self.packed.frames;
        match kept(layout, degree) {
            Some(_) if self.packed.in_slots() => Contents::Slots(degree / 2),
            Some(kept) => Contents::Parts { values: kept.values(), results },
            None => Contents::Slots(results * frame(layout) as usize),
        }
    }

    /// Cuts the numbers of the outputs into the results of the parts.
    pub(super) fn results(
        &self,
        opened: &[(Numbers, f64)],
        degree: usize,
    ) -> Result<Vec<Results>, OwnerError> {
        let (packed, first) = (&self.packed, &self.parts[0]);
        let row = if packed.in_slots() { degree / 2 } else { stride(first.layout(), degree) * packed.frames };
        let zeros = (S::Value::zeros(row), 0.0);
        let mut results = vec![Results::new(); self.parts.len()];
        for outputs in &packed.outputs {
            for (output, results) in outputs.iter().zip(results.chunks_mut(packed.frames)) {
                let (numbers, error) = output.and_then(|at| opened.get(at)).unwrap_or(&zeros);
                for (place, result) in results.iter_mut().enumerate() {
                    result.push((cut(numbers, packed.place(place), first, degree)?, *error));
                }
            }
        }
        Ok(results)
    }
}

/// Returns the slots of the frame at a place.
fn cut(numbers: &Numbers, place: usize, part: &Part, degree: usize) -> Result<Numbers, OwnerError> {
    let layout = part.layout();
    let first = place * stride(layout, degree);
    let slots = first..first + frame(layout) as usize;
    let short = || OwnerError::WrongAnswer("it has fewer slots than the plan gives".to_owned());
    Ok(match numbers {
        Numbers::Whole(numbers) => Numbers::Whole(numbers.get(slots).ok_or_else(short)?.to_vec()),
        Numbers::Real(numbers) => Numbers::Real(numbers.get(slots).ok_or_else(short)?.to_vec()),
        Numbers::Sums(numbers) => Numbers::Sums(numbers.get(slots).ok_or_else(short)?.to_vec()),
    })
}
