//! Plans: steps on registers, for one parameter set.

mod check;
mod display;
mod error;
mod key_check;
mod keys;
mod step;

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

pub use error::PlanError;
pub use keys::KeysNeeded;
pub use step::{PlanStep, Register, Step};

use crate::KeyNumber;

/// An input of a plan: a ciphertext of two components at the top level.
///
/// Example: [`Plan`]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanInput {
    /// The name: see [`crate::is_name`].
    pub name: String,
    /// The number of the input's secret key. A foreign input must be switched to the answer's key before it is combined
    /// with others.
    pub key: KeyNumber,
}

/// An output of a plan: a register with a name.
///
/// Example: [`Plan`]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanOutput {
    /// The name: see [`crate::is_name`].
    pub name: String,
    /// The register that holds the ciphertext.
    pub register: Register,
    /// The form of the output. None: the whole ciphertext.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<OutputForm>,
}

/// The form of a reduced output of two components, whose coefficients have few bits. The first component keeps the
/// coefficients of X^i with i mod `spacing` < `count`; the second keeps all.
///
/// ```
/// use sotto_program::{OutputForm, PlanOutput, Register};
///
/// // Returns one sum for every 64 slots, at 34 bits a coefficient.
/// let form = Some(OutputForm { width: 34, spacing: 64, count: 1 });
/// let output = PlanOutput { name: "total".into(), register: Register(6), form };
/// assert_eq!(output.form.map(|form| form.spacing), Some(64));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputForm {
    /// Bits per coefficient: see [`crate::limits::OUTPUT_BITS`].
    pub width: u8,
    /// A power of two, at most [`crate::limits::COEFFICIENTS`].
    pub spacing: u32,
    /// From 1 to `spacing − 1`; 1 if the spacing is 1.
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

/// A public constant, encoded in the plan so that every machine computes with the same one.
///
/// Example: [`Plan`]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlainConstant {
    /// Coefficients of the plaintext polynomial, lowest first; missing ones are 0. Modulo t for BFV and BGV, at the
    /// scale for CKKS.
    pub coefficients: Vec<i64>,
    /// The level of its use.
    pub level: u8,
    /// For CKKS, the power of the level's scale at which it is encoded; 1 otherwise.
    pub power: u8,
}

/// The planner's predictions. They use the same noise bounds as the evaluator.
///
/// Example: [`Plan`]
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Predicted {
    /// Bits between the noise bound and the limit of decryption, at the worst output. Finite; negative if an answer
    /// could be wrong.
    pub noise_bits_left: f64,
    /// Number of levels between the inputs and the lowest register.
    pub levels_used: u8,
    /// Bytes of all outputs together.
    pub output_bytes: u64,
}

/// Steps for one parameter set, in SSA form: inputs take registers `0 … inputs − 1`, and step `i` writes register
/// `inputs + i`.
///
/// The fields are public because a [`crate::Target`] makes a plan and readers decode one. Call [`Plan::validate`] first
/// on every plan from outside.
///
/// ```
/// use sotto_program::{ConstantId, KeyNumber, KeysNeeded, PlainConstant, PlanInput, PlanOutput};
/// use sotto_program::{Plan, PlanStep, Predicted, Register, Step};
///
/// // Three times the next slot's load.
/// let [load, next, triple] = [0, 1, 2].map(Register);
/// let plan = Plan {
///     parameter_id: [0xab; 32],
///     inputs: vec![PlanInput { name: "load".into(), key: KeyNumber::ANSWER }],
///     constants: vec![PlainConstant { coefficients: vec![3], level: 0, power: 1 }],
///     steps: vec![
///         PlanStep { step: Step::Rotate(load, 1), output: next },
///         PlanStep { step: Step::MultiplyPlain(next, ConstantId(0)), output: triple },
///     ],
///     outputs: vec![PlanOutput { name: "triple".into(), register: triple, form: None }],
///     keys: KeysNeeded { rotations: vec![1], ..KeysNeeded::default() },
///     predicted: Predicted { noise_bits_left: 12.5, levels_used: 0, output_bytes: 65_536 },
/// };
/// plan.validate()?;
/// assert_eq!(plan.keys_needed(), plan.keys);
/// # Ok::<(), sotto_program::PlanError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The parameters that the plan was made for.
    pub parameter_id: [u8; 32],
    /// The input ciphertexts, in order.
    pub inputs: Vec<PlanInput>,
    /// Encoded constants.
    pub constants: Vec<PlainConstant>,
    /// The steps, in order.
    pub steps: Vec<PlanStep>,
    /// The results, in order.
    pub outputs: Vec<PlanOutput>,
    /// The evaluation keys that the steps use, exactly.
    pub keys: KeysNeeded,
    /// The planner's predictions.
    pub predicted: Predicted,
}

impl Plan {
    /// Checks everything that does not depend on parameters: sizes and names; that steps read only existing registers
    /// and constants; that products are relinearised before they are multiplied or rotated; that foreign registers are
    /// switched before they are combined with others; and that `keys` is exactly the set that the steps need.
    ///
    /// # Errors
    /// [`PlanError`] names the first fault.
    pub fn validate(&self) -> Result<(), PlanError> {
        check::plan(self)
    }

    /// Counts the steps by [`Step::name`].
    #[must_use]
    pub fn counts(&self) -> BTreeMap<&'static str, u64> {
        let mut counts = BTreeMap::new();
        for PlanStep { step, .. } in &self.steps {
            *counts.entry(step.name()).or_insert(0) += 1;
        }
        counts
    }

    /// Derives the evaluation keys from the steps.
    #[must_use]
    pub fn keys_needed(&self) -> KeysNeeded {
        KeysNeeded::of(self.steps.iter().map(|step| &step.step), &self.register_keys())
    }

    /// Returns the key of each register, inputs first.
    #[must_use]
    pub fn register_keys(&self) -> Vec<KeyNumber> {
        key_check::register_keys(self)
    }

    /// Returns the register that step number `index` writes.
    #[must_use]
    pub fn register_of_step(&self, index: usize) -> Register {
        Register::at(self.inputs.len() + index)
    }
}
