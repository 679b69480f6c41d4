//! The steps of a plan.

use serde::{Deserialize, Serialize};

use crate::ConstantId;

/// A ciphertext of a run, by its position.
///
/// Example: [`Step`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Register(pub u32);

impl Register {
    /// Returns the position as an index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the register of position `index`. Positions beyond `u32` do not occur: see [`crate::limits`].
    pub(super) fn at(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

/// One operation on ciphertexts. It writes a new register and never changes its operands.
///
/// ```
/// use sotto_program::{Register, Step};
///
/// let square = Step::Multiply(Register(0), Register(0));
/// assert_eq!(square.to_string(), "multiply r0 r0");
/// assert_eq!(square.operands().count(), 2);
/// assert_eq!(Step::Rotate(Register(1), 4).to_string(), "rotate r1 by 4");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// First plus second.
    Add(Register, Register),
    /// First minus second.
    Sub(Register, Register),
    /// The negative.
    Negate(Register),
    /// Adds an encoded constant.
    AddPlain(Register, ConstantId),
    /// Multiplies by an encoded constant.
    MultiplyPlain(Register, ConstantId),
    /// Multiplies by a small whole number.
    MultiplyScalar(Register, i64),
    /// The tensor product: two components each give three.
    Multiply(Register, Register),
    /// Relinearises: three components become two.
    Relinearise(Register),
    /// Drops primes: modulus switch (BFV, BGV) or rescale (CKKS).
    DropModulus {
        /// The operand.
        of: Register,
        /// Number of primes to drop, at least 1.
        count: u8,
    },
    /// CKKS: brings the operand to a lower level and that level's scale.
    MatchScale {
        /// The operand.
        of: Register,
        /// The level after the step.
        level: u8,
    },
    /// BGV: multiplies by a scalar that brings the operand's factor to that of another ciphertext.
    MatchFactor {
        /// The operand.
        of: Register,
        /// The scalar, not 0.
        scalar: i64,
    },
    /// Rotates rows left by this number of slots, right if negative; not 0.
    Rotate(Register, i32),
    /// Exchanges the two rows (BFV, BGV).
    SwapRows(Register),
    /// Switches from a foreign secret key to the answer's, with a transfer key.
    SwitchKey(Register),
    /// Looks up every slot in a public table of whole numbers, as a polynomial modulo t: `values[x − first]`. The
    /// constant holds the values themselves, not an encoding of them.
    Table {
        /// The operand.
        of: Register,
        /// The values, in [`crate::limits::TABLE`].
        values: ConstantId,
        /// The operand at which the table begins.
        first: i32,
    },
    /// CKKS: the sign of every slot, which lies within ±1, by the composition of polynomials for a gap of 2^-`gap_bits`.
    /// The coefficients of a gap never change: another composition gets another step.
    Sign {
        /// The operand.
        of: Register,
        /// Bits of the gap, one of [`crate::limits::GAP_BITS`].
        gap_bits: u8,
    },
    /// Multiplies by this power of X. Used to place the coefficients of several results side by side.
    MultiplyMonomial(Register, u32),
}

impl Step {
    /// Returns a short name for lists and counts. The evaluator counts under the same names.
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
            Self::Table { .. } => "table",
            Self::Sign { .. } => "sign",
            Self::MultiplyMonomial(..) => "multiply-monomial",
        }
    }

    /// Returns the registers that the step reads, first operand first.
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
            | Self::Table { of: a, .. }
            | Self::Sign { of: a, .. }
            | Self::MultiplyMonomial(a, _) => [Some(a), None],
        };
        pair.into_iter().flatten()
    }

    /// Returns the constant that the step reads.
    #[must_use]
    pub fn constant(&self) -> Option<ConstantId> {
        match *self {
            Self::AddPlain(_, constant)
            | Self::MultiplyPlain(_, constant)
            | Self::Table { values: constant, .. } => Some(constant),
            _ => None,
        }
    }
}

/// A step and the register it writes.
///
/// Example: [`crate::Plan`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanStep {
    /// The operation with its operands.
    pub step: Step,
    /// The register of the result: the number of inputs plus the position of this step.
    pub output: Register,
}
