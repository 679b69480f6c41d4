//! The parts of the next job, and its program for the cloud.

use sotto_program::LowerError;
use sotto_rlwe::{Origin, ParameterSpec, Params};
use sotto_runtime::{Encoding, Lowered, Managed, RlweTarget};

use crate::error::OwnerError;
use crate::quantities::{Packed, Part, Quantity, frames, kept, program};

/// The parts that no job has yet.
pub(super) struct Left<'w> {
    parts: &'w [Part],
    /// Largest number of windows in a job.
    granted: usize,
    /// Largest number of parts in a job, once a larger one had too much noise.
    most: Option<usize>,
}

/// A lowered job.
pub(super) struct Prepared<'w, S: Managed> {
    pub(super) parts: &'w [Part],
    pub(super) packed: Packed,
    /// None if every result is zero for any windows.
    pub(super) lowered: Option<Lowered<S>>,
    /// A bound on the absolute value of every whole-number result.
    pub(super) magnitude: f64,
}

impl<'w> Left<'w> {
    pub(super) fn new(parts: &'w [Part], granted: usize) -> Self {
        Self { parts, granted, most: None }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Takes the parts of the next job, as many as it can carry, and lowers its program. There must be parts left.
    pub(super) fn next<S: Managed>(
        &mut self,
        target: &RlweTarget<S>,
        quantities: &[Quantity],
    ) -> Result<Prepared<'w, S>, LowerError> {
        loop {
            let fitting = fitting(self.parts, target.params.degree(), quantities.len(), self.granted);
            let take = self.most.map_or(fitting, |most| fitting.min(most));
            let (parts, later) = self.parts.split_at(take);
            match lower(target, parts, quantities) {
                Ok((packed, lowered)) => {
                    self.parts = later;
                    return Ok(Prepared { parts, packed, lowered, magnitude: largest(parts, quantities) });
                }
                // Fewer results in one ciphertext have less noise.
                Err(_) if take > 1 => self.most = Some(take / 2),
                Err(error) => return Err(error),
            }
        }
    }
}

/// Returns the target of all jobs of these parts, whose windows have one layout and origin.
pub(super) fn target<S: Managed>(spec: &ParameterSpec, parts: &[Part]) -> Result<RlweTarget<S>, OwnerError> {
    let first = parts.first().map(|part| &part.inputs[0]);
    let kept = first.and_then(|input| kept(&input.window.layout, spec.degree));
    let origin = first.map_or(Origin::SecretKey, |input| input.origin);
    let params =
        Params::<S>::new(spec.clone()).map_err(|error| OwnerError::NoParameters(error.to_string()))?;
    Ok(RlweTarget { params, encoding: Encoding::Slots, origin, kept, may_wrap: true })
}

/// Returns the number of parts that fit in a job: at least one, within the limits of a plan and the cloud's memory.
fn fitting(parts: &[Part], degree: usize, quantities: usize, granted: usize) -> usize {
    let layout = parts[0].layout();
    // Each result of compact windows is a separate output until results are merged.
    let frames = if kept(layout, degree).is_some() { 1 } else { frames(layout, degree, true) };
    let most_outputs = (sotto_program::limits::OUTPUTS / quantities.max(1)).max(1) * frames;
    let mut windows = 0;
    let fits = |part: &&Part| {
        windows += part.inputs.len();
        windows <= granted
    };
    parts.iter().take(most_outputs).take_while(fits).count().max(1)
}

fn lower<S: Managed>(
    target: &RlweTarget<S>,
    parts: &[Part],
    quantities: &[Quantity],
) -> Result<(Packed, Option<Lowered<S>>), LowerError> {
    let degree = target.params.degree();
    let packed = program(parts[0].layout(), degree, parts, quantities, parts.len() > 1)?;
    let lower = |program| target.lower_reduced(program, &packed.merged);
    let lowered = packed.program.as_ref().map(lower).transpose()?;
    Ok((packed, lowered))
}

/// Returns a bound on the absolute value of the whole numbers computed from these parts.
fn largest(parts: &[Part], quantities: &[Quantity]) -> f64 {
    let layout = parts[0].layout();
    let windows = parts.iter().map(|part| part.inputs.len()).max().unwrap_or_default();
    windows as f64 * quantities.iter().map(|quantity| quantity.magnitude(layout)).fold(0.0, f64::max)
}
