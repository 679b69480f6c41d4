//! The results that an answer for others takes from the flooding budget: no limit of the cloud makes more of them.

use sotto_rlwe::ParameterSpec;
use sotto_runtime::{Managed, RlweTarget};

use super::lower::Left;
use super::windows_within;
use crate::error::OwnerError;
use crate::quantities::{Part, Quantity};

/// The bytes of a job that answers are planned for: 2 GiB, the limit of a cloud whose operator sets none.
const PLANNED_JOB: u64 = 2 << 30;

/// Refuses work that the cloud's limit on the bytes of a job splits into more results than were planned: each takes one of
/// the flooding budget.
pub(super) fn check<S: Managed>(
    largest_job: u64,
    spec: &ParameterSpec,
    target: &RlweTarget<S>,
    parts: &[Part],
    quantities: &[Quantity],
) -> Result<(), OwnerError> {
    let [given, planned] = [largest_job, PLANNED_JOB].map(|bytes| windows_within(bytes, spec, quantities));
    if given >= planned {
        return Ok(());
    }
    // Work that cannot be lowered is refused when it is launched.
    let results = |granted| results(target, parts, quantities, granted).unwrap_or_default();
    let (given, planned) = (results(given), results(planned));
    if given > planned {
        return Err(OwnerError::Unanswerable(format!(
            "the cloud's limit of {largest_job} bytes a job makes {given} results of the answer, more results of the flooding budget \
             than planned ({planned}): nothing of the budget was taken. Raise `largest_job` in cloud.toml, or ask without `shared`"
        )));
    }
    Ok(())
}

/// Returns the number of outputs of all jobs of these parts; None if they cannot be lowered.
fn results<S: Managed>(
    target: &RlweTarget<S>,
    parts: &[Part],
    quantities: &[Quantity],
    granted: usize,
) -> Option<usize> {
    let (mut left, mut results) = (Left::new(parts, granted), 0);
    while !left.is_empty() {
        let prepared = left.next(target, quantities).ok()?;
        results += prepared.lowered.map_or(0, |lowered| lowered.outputs.len());
    }
    Some(results)
}
