//! What has to happen to levels, scales and plaintext factors before and after sums and products: decided from shapes
//! alone, once, for the planner and for circuits that compute at once.

mod bfv;
mod bgv;
mod ckks;

use sotto_ring::{Modulus, Scratch};

use crate::ciphertext::Ciphertext;
use crate::error::EvalError;
use crate::evaluator::Evaluator;
use crate::parameters::Params;
use crate::scheme::Scheme;
use crate::shape::Shape;

/// What has to be done to one operand of a sum: it is brought to a level ([`Shape::lower`]), then multiplied by an integer that
/// is counted to its plaintext factor (BGV; 1 where nothing is to be matched).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adjustment {
    /// The level to bring it to.
    pub level: usize,
    /// The integer to multiply by.
    pub factor: i64,
}

/// Constants that are integers up to this size are multiplied with as such, which takes no level.
const LARGEST_INTEGER: f64 = (1u64 << 31) as f64;

/// The integer that a constant is, where multiplying by the integer itself is best: whole and at most 2^31.
pub fn small_integer(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() <= LARGEST_INTEGER).then_some(value as i64)
}

/// A scheme's rules of management. They decide; whoever asks turns the decision into steps or computes it.
pub trait LevelRules: Scheme {
    /// Whether values are integers modulo t.
    const EXACT: bool;

    /// Whether the last prime is dropped after every product, with a ciphertext or a plaintext: CKKS rescales.
    const RESCALES: bool;

    /// The scaling that a constant is added with, given that of the ciphertext.
    fn addend_scaling(of: Self::Scaling) -> Self::Scaling {
        of
    }

    /// What brings two operands to one level and scaling, for a sum or difference.
    fn before_sum(params: &Params<Self>, a: &Shape<Self>, b: &Shape<Self>) -> [Adjustment; 2];

    /// The level at which two operands are best multiplied; at most the lower of theirs.
    ///
    /// # Errors
    /// [`EvalError::NoLevel`] where the product could not be rescaled.
    fn product_level(_params: &Params<Self>, a: &Shape<Self>, b: &Shape<Self>) -> Result<usize, EvalError> {
        Ok(a.level.min(b.level))
    }

    /// The level at which an answer leaves: exact schemes drop primes while two bits of room are left, so that fewer bytes
    /// travel back.
    ///
    /// # Errors
    /// [`EvalError::Noise`] where the answer could not be decrypted.
    fn answer_level(params: &Params<Self>, answer: &Shape<Self>) -> Result<usize, EvalError> {
        let mut shape = *answer;
        while let Ok(smaller) = shape.drop_prime(params) {
            if smaller.room(params) < 2.0 {
                break;
            }
            shape = smaller;
        }
        Ok(shape.level)
    }

    /// A value as the plaintext space writes it: centred modulo t, or itself.
    fn canonical(params: &Params<Self>, value: Self::Value) -> Self::Value;

    /// The integer to multiply by in place of an encoded constant, where that is better. The value is canonical.
    fn as_integer(value: Self::Value) -> Option<i64>;

    /// The shape after a factor of [`Adjustment`].
    ///
    /// # Errors
    /// [`EvalError::Unsupported`] in a scheme without factors.
    fn matched(_params: &Params<Self>, shape: &Shape<Self>, factor: i64) -> Result<Shape<Self>, EvalError> {
        if factor == 1 { Ok(*shape) } else { Err(no_factors::<Self>()) }
    }

    /// Multiplies by a factor of [`Adjustment`], in place.
    ///
    /// # Errors
    /// [`EvalError::Unsupported`] in a scheme without factors.
    fn match_in_place(_: &Evaluator<Self>, _: &mut Ciphertext<Self>, factor: i64) -> Result<(), EvalError> {
        if factor == 1 { Ok(()) } else { Err(no_factors::<Self>()) }
    }
}

fn no_factors<S: Scheme>() -> EvalError {
    EvalError::Unsupported { operation: "plaintext factor", scheme: S::ID }
}

impl Adjustment {
    /// Whether it leaves an operand of this level as it is.
    pub fn is_nothing(&self, level: usize) -> bool {
        self.level == level && self.factor == 1
    }

    /// The operand's shape afterwards.
    ///
    /// # Errors
    /// What [`Shape::lower`] and [`LevelRules::matched`] refuse.
    pub fn follow<S: LevelRules>(&self, params: &Params<S>, shape: &Shape<S>) -> Result<Shape<S>, EvalError> {
        S::matched(params, &shape.lower(params, self.level)?, self.factor)
    }

    /// The operand afterwards, in buffers of the caller's.
    ///
    /// # Errors
    /// What [`Evaluator::lower`] and [`LevelRules::match_in_place`] refuse.
    pub fn apply<S: LevelRules>(
        &self,
        evaluator: &Evaluator<S>,
        operand: &Ciphertext<S>,
        scratch: &mut Scratch,
    ) -> Result<Ciphertext<S>, EvalError> {
        let mut adjusted = evaluator.lower_with(operand, self.level, scratch)?;
        S::match_in_place(evaluator, &mut adjusted, self.factor)?;
        Ok(adjusted)
    }
}

/// The representative of an integer modulo t that is nearest to zero.
fn centred<S: Scheme>(params: &Params<S>, value: i64) -> i64 {
    let t = Modulus::new(params.plain_modulus()).expect("a checked plain modulus");
    t.centre(t.from_signed(value))
}

/// Both at the lower of two levels.
fn lower_of<S: Scheme>(a: &Shape<S>, b: &Shape<S>) -> [Adjustment; 2] {
    [Adjustment { level: a.level.min(b.level), factor: 1 }; 2]
}
