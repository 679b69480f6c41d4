//! What is done: steps on registers, for one parameter set.

mod check;
mod display;
mod error;
mod key_check;
mod keys;
mod step;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use error::PlanError;
pub use keys::KeysNeeded;
pub use step::{PlanStep, Register, Step};

use crate::KeyNumber;

/// An input of a plan: a ciphertext of two components at the top level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanInput {
    /// Its name: see [`crate::is_name`].
    pub name: String,
    /// Whose secret key it is under. A foreign one is switched to the answer's key before it meets others.
    pub key: KeyNumber,
}

/// An output of a plan: a register by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanOutput {
    /// Its name: see [`crate::is_name`].
    pub name: String,
    /// The register.
    pub register: Register,
    /// The form in which it leaves. None: the whole ciphertext.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<OutputForm>,
}

/// The form of an output of two components that leaves with few bits: of its first component the coefficients of X^i with
/// i mod `spacing` < `count`, of its second all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputForm {
    /// Bits of a coefficient: see [`crate::limits::OUTPUT_BITS`].
    pub width: u8,
    /// A power of two, at most [`crate::limits::COEFFICIENTS`].
    pub spacing: u32,
    /// From 1 to below the spacing; 1 where the spacing is 1.
    pub count: u32,
}

impl OutputForm {
    fn is_valid(self) -> bool {
        let Self { width, spacing, count } = self;
        let selects = spacing.is_power_of_two() && spacing as usize <= crate::limits::COEFFICIENTS;
        let counts = count >= 1 && (count < spacing || spacing == 1 && count == 1);
        crate::limits::OUTPUT_BITS.contains(&width) && selects && counts
    }
}

/// A public constant, encoded, so that every machine computes with the same one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlainConstant {
    /// Coefficients of the plaintext polynomial, lowest first, those after the last being 0: modulo t for BFV and
    /// BGV, at the scale for CKKS.
    pub coefficients: Vec<i64>,
    /// The level it is used at.
    pub level: u8,
    /// For CKKS, the power of the level's scale it is encoded at; 1 otherwise.
    pub power: u8,
}

/// What the planner expects; it follows the same noise bounds as the evaluator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Predicted {
    /// Bits between the noise bound and what decryption bears, at the worst output. Finite; negative when an answer
    /// could be wrong.
    pub noise_bits_left: f64,
    /// Levels between the inputs and the lowest register.
    pub levels_used: u8,
    /// Bytes of all outputs.
    pub output_bytes: u64,
}

/// Steps for one parameter set, in SSA form: inputs take registers `0 … inputs − 1`, and step `i` writes register
/// `inputs + i`.
///
/// The fields are open because a plan is made by a [`crate::Target`] and read from bytes; whoever takes one from
/// outside calls [`Plan::validate`] before anything else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The parameters it is for.
    pub parameter_id: [u8; 32],
    /// Ciphertexts it takes, in order.
    pub inputs: Vec<PlanInput>,
    /// Encoded constants.
    pub constants: Vec<PlainConstant>,
    /// What is done, in order.
    pub steps: Vec<PlanStep>,
    /// What comes out.
    pub outputs: Vec<PlanOutput>,
    /// The evaluation keys it uses: exactly those.
    pub keys: KeysNeeded,
    /// What the planner expects of it.
    pub predicted: Predicted,
}

impl Plan {
    /// Checks everything that can be checked without parameters: sizes, names, that steps read only registers and
    /// constants that exist, that products are relinearised before they are multiplied or rotated, that what is under a
    /// foreign key is switched before it meets others, and that `keys` is exactly what the steps need.
    ///
    /// # Errors
    /// [`PlanError`] names the first thing that is wrong.
    pub fn validate(&self) -> Result<(), PlanError> {
        check::plan(self)
    }

    /// How often each step occurs, by [`Step::name`].
    #[must_use]
    pub fn counts(&self) -> BTreeMap<&'static str, u64> {
        let mut counts = BTreeMap::new();
        for PlanStep { step, .. } in &self.steps {
            *counts.entry(step.name()).or_insert(0) += 1;
        }
        counts
    }

    /// The evaluation keys its steps use, found again from the steps.
    #[must_use]
    pub fn keys_needed(&self) -> KeysNeeded {
        KeysNeeded::of(self.steps.iter().map(|step| &step.step), &self.register_keys())
    }

    /// Whose key each register is under, inputs first.
    #[must_use]
    pub fn register_keys(&self) -> Vec<KeyNumber> {
        key_check::register_keys(self)
    }

    /// The register that step number `index` writes.
    #[must_use]
    pub fn register_of_step(&self, index: usize) -> Register {
        Register::at(self.inputs.len() + index)
    }
}
