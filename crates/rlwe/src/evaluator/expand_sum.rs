//! Expansion of a fleet's sum to an ordinary ciphertext of the owner.

use sotto_ring::Scratch;

use super::{Evaluator, Operation};
use crate::ciphertext::Ciphertext;
use crate::error::EvalError;
use crate::evaluation_key::EvaluationKeys;
use crate::fleet::{CompactSum, TransferSum};
use crate::key_switch::{self, Addends};
use crate::scheme::Scheme;

impl<S: Scheme> Evaluator<S> {
    /// Returns the ordinary ciphertext of a fleet's sum under the owner's key: one key switch by the sum of the
    /// devices' switching keys, then the expansion of [`Evaluator::expand`]. The switch comes first, so that its noise
    /// is not multiplied by n/k.
    ///
    /// # Errors
    /// [`EvalError::ParameterMismatch`] and [`EvalError::KeyMismatch`] if sum, transfer and keys do not belong
    /// together; [`EvalError::NotInBothSums`] if ciphertexts and switching keys are of different devices;
    /// [`EvalError::MissingKey`] without the keys of [`Params::expansion_steps`](crate::Params::expansion_steps);
    /// [`EvalError::Noise`] if the noise bound passes the decryption limit.
    pub fn expand_sum(
        &self,
        sum: &CompactSum<S>,
        transfer: &TransferSum<S>,
        keys: &EvaluationKeys<S>,
        scratch: &mut Scratch,
    ) -> Result<Ciphertext<S>, EvalError> {
        let params = &self.params;
        if sum.params() != params {
            return Err(EvalError::ParameterMismatch);
        }
        let shape = sum.expandable(transfer, keys)?;
        self.counters.count(Operation::SwitchKey);
        let places = sum.places();
        let (c0, c1) = (places.body(), places.seed().expand(0, params.ring(), params.limbs(shape.level)));
        let addends = Addends::First(&c0);
        let switched = key_switch::switch_onto(params, shape.level, &c1, transfer.key(), &addends, scratch);
        self.trace(switched, shape, places.kept(), keys, scratch)
    }
}
