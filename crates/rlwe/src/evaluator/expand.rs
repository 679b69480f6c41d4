//! Expansion of compact ciphertexts to ordinary ones.

use alloc::vec::Vec;

use sotto_ring::Scratch;

use super::Evaluator;
use super::guards::counted;
use crate::ciphertext::Ciphertext;
use crate::compact::Compact;
use crate::error::EvalError;
use crate::evaluation_key::EvaluationKeys;
use crate::key_switch::{self, Addends};
use crate::scheme::Scheme;

impl<S: Scheme> Evaluator<S> {
    /// Returns the ordinary ciphertext of a compact one's message. Multiplies by (n/k)^-1 modulo Q, then takes the
    /// field trace to polynomials in X^(n/k): log2(n/k) automorphisms, each added to its operand (Chen, Dai, Kim and
    /// Song, "Efficient Homomorphic Conversion Between (Ring) LWE Ciphertexts", ACNS 2021, section 3.1). The other
    /// places cancel, except for the noise of the key switches; the message's own error does not grow. For a folded
    /// ciphertext, the trace continues to the polynomials that X → X^-1 does not change, without a division: this
    /// restores the whole message from its half.
    ///
    /// # Errors
    /// [`EvalError::MissingKey`] without the keys of [`Params::expansion_steps`](crate::Params::expansion_steps);
    /// [`EvalError::ParameterMismatch`] and [`EvalError::KeyMismatch`] for other keys; [`EvalError::Noise`] if the
    /// noise bound passes the decryption limit.
    pub fn expand(
        &self,
        compact: &Compact<S>,
        keys: &EvaluationKeys<S>,
        scratch: &mut Scratch,
    ) -> Result<Ciphertext<S>, EvalError> {
        let params = &self.params;
        if compact.params() != params {
            return Err(EvalError::ParameterMismatch);
        }
        let shape = compact.expandable(keys)?;
        let mut c0 = compact.body();
        let mut c1 = compact.seed().expand(0, params.ring(), params.limbs(shape.level));
        let steps = params.expansion_steps(compact.kept())?;
        let galois =
            steps.iter().map(|step| self.galois_key((*step).into(), keys)).collect::<Result<Vec<_>, _>>()?;
        // A power of two is invertible modulo every odd prime: its inverse is (q + 1)/2 to the power of the rotations.
        let rotations = steps.iter().filter(|step| **step != 0).count() as u64;
        for part in [&mut c0, &mut c1] {
            part.scale_by(|q| q.power_vartime(q.value().div_ceil(2), rotations));
        }
        for ((map, key), step) in galois.into_iter().zip(steps) {
            self.counters.count(counted(step.into()));
            let mut moved = scratch.poly(params.ring(), params.limbs(shape.level));
            map.apply_into(&c1, &mut moved);
            let addends = Addends::Moved(&c0, map.map());
            let [k0, k1] = key_switch::switch_onto(params, shape.level, &moved, key, &addends, scratch);
            c0.add_assign(&k0);
            c1.add_assign(&k1);
            [moved, k0, k1].into_iter().for_each(|part| scratch.give(part));
        }
        Ok(Ciphertext::from_parts(params, keys.key, shape, [c0, c1]))
    }
}
