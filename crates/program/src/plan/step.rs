//! One step.

use serde::{Deserialize, Serialize};

use crate::ConstantId;

/// A ciphertext of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Register(pub u32);

impl Register {
    /// The position as an index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The register of position `index`; positions beyond `u32` do not occur: see [`crate::limits`].
    pub(super) fn at(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

/// One thing done to ciphertexts. It never changes a register: the result goes to a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// First plus second.
    Add(Register, Register),
    /// First minus second.
    Sub(Register, Register),
    /// The other sign.
    Negate(Register),
    /// Plus an encoded constant.
    AddPlain(Register, ConstantId),
    /// Times an encoded constant.
    MultiplyPlain(Register, ConstantId),
    /// Times a small whole number.
    MultiplyScalar(Register, i64),
    /// The tensor product: from two components each to three.
    Multiply(Register, Register),
    /// From three components to two.
    Relinearise(Register),
    /// Modulus switch (BFV, BGV) or rescale (CKKS): to a level lower by `count` primes.
    DropModulus {
        /// What is switched.
        of: Register,
        /// How many primes go, at least 1.
        count: u8,
    },
    /// CKKS: to a lower level and the scale values have there.
    MatchScale {
        /// What is brought down.
        of: Register,
        /// The level it comes to.
        level: u8,
    },
    /// BGV: times a scalar that brings the factor of one ciphertext to that of another.
    MatchFactor {
        /// What is multiplied.
        of: Register,
        /// The scalar, not 0.
        scalar: i64,
    },
    /// Rows rotated left by so many slots (right when negative), not 0.
    Rotate(Register, i32),
    /// The two rows exchanged (BFV, BGV).
    SwapRows(Register),
    /// From a foreign secret key to the answer's, with the transfer key between them.
    SwitchKey(Register),
    /// Times X to this power: puts the coefficients of several results beside each other.
    MultiplyMonomial(Register, u32),
}

impl Step {
    /// One word for lists and counts; the evaluator counts under the same names.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Add(..) => "add",
            Self::Sub(..) => "subtract",
            Self::Negate(_) => "negate",
            Self::AddPlain(..) => "add-plain",
            Self::MultiplyPlain(..) => "multiply-plain",
            Self::MultiplyScalar(..) => "multiply-scalar",
            Self::Multiply(..) => "multiply",
            Self::Relinearise(_) => "relinearise",
            Self::DropModulus { .. } => "drop-modulus",
            Self::MatchScale { .. } => "match-scale",
            Self::MatchFactor { .. } => "match-factor",
            Self::Rotate(..) => "rotate",
            Self::SwapRows(_) => "swap-rows",
            Self::SwitchKey(_) => "switch-key",
            Self::MultiplyMonomial(..) => "multiply-monomial",
        }
    }

    /// The registers it reads, first operand first.
    pub fn operands(&self) -> impl Iterator<Item = Register> + use<> {
        let pair = match *self {
            Self::Add(a, b) | Self::Sub(a, b) | Self::Multiply(a, b) => [Some(a), Some(b)],
            Self::Negate(a)
            | Self::AddPlain(a, _)
            | Self::MultiplyPlain(a, _)
            | Self::MultiplyScalar(a, _)
            | Self::Relinearise(a)
            | Self::DropModulus { of: a, .. }
            | Self::MatchScale { of: a, .. }
            | Self::MatchFactor { of: a, .. }
            | Self::Rotate(a, _)
            | Self::SwapRows(a)
            | Self::SwitchKey(a)
            | Self::MultiplyMonomial(a, _) => [Some(a), None],
        };
        pair.into_iter().flatten()
    }

    /// The constant it reads.
    #[must_use]
    pub fn constant(&self) -> Option<ConstantId> {
        match *self {
            Self::AddPlain(_, constant) | Self::MultiplyPlain(_, constant) => Some(constant),
            _ => None,
        }
    }
}

/// A step and the register it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanStep {
    /// What is done.
    pub step: Step,
    /// Where the result goes: the number of inputs plus the position of this step.
    pub output: Register,
}
