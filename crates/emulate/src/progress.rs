//! A flow that runs.

use std::sync::{Arc, OnceLock};

use sotto_partial::recrypt::Recrypt;
use sotto_partial::{elgamal, paillier};

use crate::error::RunError;
use crate::flow::{Flow, Step};
use crate::schedule::{self, Schedule};
use crate::value::Value;

/// The public keys that a flow runs under.
#[derive(Clone)]
pub struct PublicKeys {
    /// Paillier's.
    pub paillier: Arc<paillier::PublicKey>,
    /// ElGamal's, where products are converted.
    pub elgamal: Option<Arc<elgamal::PublicKey>>,
}

/// What was asked of the recryptor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Trips that came back with answers.
    pub trips: u64,
    /// Requests answered.
    pub requests: u64,
}

/// A flow and what of it is computed. After an error it goes on where it was: the recryptor keeps nothing between trips, and what it
/// answered is kept here.
pub struct Progress<'flow> {
    pub(crate) flow: &'flow Flow,
    pub(crate) keys: PublicKeys,
    pub(crate) values: Vec<OnceLock<Value>>,
    pub(crate) tally: Tally,
}

impl<'flow> Progress<'flow> {
    /// At the start, with one ciphertext for each input of the program.
    ///
    /// # Errors
    /// [`RunError`] when keys or ciphertexts are not those the flow was made for.
    pub fn new(
        flow: &'flow Flow,
        keys: &PublicKeys,
        inputs: &[paillier::Ciphertext],
    ) -> Result<Self, RunError> {
        if inputs.len() != flow.inputs {
            return Err(RunError::Inputs { expected: flow.inputs, found: inputs.len() });
        }
        let group = keys.elgamal.as_ref().map_or(0, |key| key.group().name().bits());
        if keys.paillier.bits() != flow.key_bits || (flow.group_bits != 0 && group != flow.group_bits) {
            return Err(RunError::Keys { paillier: flow.key_bits, elgamal: flow.group_bits });
        }
        if let Some(input) = inputs.iter().position(|input| input.key() != keys.paillier.id()) {
            return Err(RunError::OtherKey { input, found: inputs[input].key() });
        }
        let value = |step: &Step| match step {
            Step::Input(id) => OnceLock::from(Value::Paillier(inputs[id.index()].clone())),
            _ => OnceLock::new(),
        };
        let values = flow.steps.iter().map(value).collect();
        Ok(Self { flow, keys: keys.clone(), values, tally: Tally::default() })
    }

    /// Runs to the end, or to the first error; may be called again.
    ///
    /// # Errors
    /// [`RunError`]; with [`RunError::Recrypt`] it is worth another try.
    pub fn advance(&mut self, recryptor: &dyn Recrypt, schedule: Schedule) -> Result<(), RunError> {
        let (result, tally) = match schedule {
            Schedule::Serial => schedule::serial(self, recryptor),
            Schedule::Parallel { workers, trips } => schedule::parallel(self, recryptor, workers, trips),
        };
        self.tally.trips += tally.trips;
        self.tally.requests += tally.requests;
        result
    }

    /// What was asked so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// How many steps are computed, and of how many.
    pub fn steps(&self) -> (usize, usize) {
        (self.values.iter().filter(|value| value.get().is_some()).count(), self.values.len())
    }

    /// The answers, in the program's order, once all are there.
    pub fn outputs(&self) -> Option<Vec<paillier::Ciphertext>> {
        let output = |(_, at): &(String, crate::At)| match self.values[at.index()].get() {
            Some(Value::Paillier(ciphertext)) => Some(ciphertext.clone()),
            _ => None,
        };
        self.flow.outputs.iter().map(output).collect()
    }
}

/// A flow from its start to its end.
///
/// # Errors
/// As [`Progress::new`] and [`Progress::advance`]; nothing is kept.
pub fn run(
    flow: &Flow,
    keys: &PublicKeys,
    inputs: &[paillier::Ciphertext],
    recryptor: &dyn Recrypt,
    schedule: Schedule,
) -> Result<Vec<paillier::Ciphertext>, RunError> {
    let mut progress = Progress::new(flow, keys, inputs)?;
    progress.advance(recryptor, schedule)?;
    progress.outputs().ok_or(RunError::Broken { at: crate::At(0) })
}
