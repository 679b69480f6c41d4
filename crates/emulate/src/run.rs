//! Running a flow.

use sotto_partial::paillier;
use sotto_partial::recrypt::Recrypt;

use crate::error::RunError;
use crate::flow::{At, Flow};
use crate::progress::{Progress, PublicKeys};
use crate::schedule::{self, Schedule};

impl Progress<'_> {
    /// Runs to the end, or to the first error. May be called again.
    ///
    /// # Errors
    /// [`RunError`]. After [`RunError::Recrypt`] a retry may succeed.
    pub fn advance(&mut self, recryptor: &dyn Recrypt, schedule: Schedule) -> Result<(), RunError> {
        let (result, tally) = match schedule {
            Schedule::Serial => schedule::serial(self, recryptor),
            Schedule::Parallel { workers, trips } => schedule::parallel(self, recryptor, workers, trips),
        };
        self.tally.trips += tally.trips;
        self.tally.requests += tally.requests;
        result
    }
}

/// Runs a flow from start to end.
///
/// # Errors
/// Those of [`Progress::new`] and [`Progress::advance`]; no result is kept.
pub fn run(
    flow: &Flow,
    keys: &PublicKeys,
    inputs: &[paillier::Ciphertext],
    recryptor: &dyn Recrypt,
    schedule: Schedule,
) -> Result<Vec<paillier::Ciphertext>, RunError> {
    let mut progress = Progress::new(flow, keys, inputs)?;
    progress.advance(recryptor, schedule)?;
    progress.outputs().ok_or(RunError::Broken { at: At(0) })
}
