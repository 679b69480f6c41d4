//! Errors, with the facts and the remedy. No error holds a secret or a value.

use alloc::string::String;

use sotto_ring::RingError;

use crate::automorphism::Automorphism;
use crate::parameters::{KeyId, SchemeId, SecurityTarget};

fn way_out(enough: Option<usize>) -> String {
    match enough {
        Some(degree) => format!("take n = {degree}, or fewer or smaller primes"),
        None => "take fewer or smaller primes".into(),
    }
}

/// The reason why parameters are refused.
///
/// ```
/// use sotto_rlwe::{Ckks, ParameterError, Params};
///
/// let refused = Params::<Ckks>::default_chain(1024, 0).map(|_| ()).expect_err("no chain of this degree");
/// assert!(matches!(refused, ParameterError::NoDefaultChain { degree: 1024, .. }));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParameterError {
    /// The ring cannot be made.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// Another scheme's parameters.
    #[error("these are parameters for {found}, not for {expected}")]
    Scheme {
        /// The scheme that was expected.
        expected: SchemeId,
        /// The scheme that was given.
        found: SchemeId,
    },
    /// The modulus is too large for the degree.
    #[error(
        "n = {degree} with a modulus of {bits:.1} bits is below {target}, which allows at most {limit} bits: {}",
        way_out(*enough)
    )]
    Insecure {
        /// The table and the level.
        target: SecurityTarget,
        /// The ring degree.
        degree: usize,
        /// log2 of the whole modulus.
        bits: f64,
        /// The largest log2 of a modulus that the table allows.
        limit: u32,
        /// The smallest degree whose limit this modulus keeps, if the table has one.
        enough: Option<usize>,
    },
    /// The security table has no cell for the degree.
    #[error("{target} has no limit for n = {degree}: take n from {smallest} to {largest}, a power of two")]
    NoSecurityCell {
        /// The table and the level.
        target: SecurityTarget,
        /// The ring degree.
        degree: usize,
        /// The smallest degree that has a limit at this level.
        smallest: usize,
        /// The largest degree that has a limit at this level.
        largest: usize,
    },
    /// No security table has this name.
    #[error("there is no security profile {0}: take guidelines-2024 or he-standard-2018")]
    NoSecurityProfile(String),
    /// A requested chain cannot be built.
    #[error("no such chain at n = {degree}: {reason}; {way_out}")]
    Request {
        /// The ring degree.
        degree: usize,
        /// The fault, as a clause.
        reason: String,
        /// The request that would succeed instead.
        way_out: &'static str,
    },
    /// There is no default chain for the degree.
    #[error("there is no default {scheme} chain for n = {degree}; it is defined for {defined}")]
    NoDefaultChain {
        /// The scheme asked for.
        scheme: SchemeId,
        /// The ring degree.
        degree: usize,
        /// The degrees that have one.
        defined: &'static str,
    },
    /// No data prime, too many primes, or a digit size that does not fit.
    #[error("{0}")]
    Chain(&'static str),
    /// The plain modulus cannot be used.
    #[error("the plain modulus {value} {reason}")]
    PlainModulus {
        /// The plain modulus t.
        value: u64,
        /// The fault, as the end of a sentence.
        reason: &'static str,
    },
    /// CKKS: the scale cannot be used.
    #[error(
        "a scale of 2^{0} does not fit these primes: it must be 2^10 to 2^60 and leave room in the first prime"
    )]
    Scale(u64),
}

/// The reason why values cannot be encoded.
///
/// ```
/// use sotto_rlwe::{Bfv, EncodeError, Params, Scheme};
///
/// let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// // The sensor's reading is outside the range modulo t.
/// let refused = Bfv::encode_slots(&params, &[21, 70_000], params.top_level()).map(|_| ());
/// assert!(matches!(refused, Err(EncodeError::OutOfRange { index: 1, .. })));
/// # Ok::<(), sotto_rlwe::ParameterError>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EncodeError {
    /// More values than slots.
    #[error("{given} values do not fit {slots} slots")]
    TooMany {
        /// Values given.
        given: usize,
        /// Slots of a plaintext.
        slots: usize,
    },
    /// More values than coefficients.
    #[error("{given} values do not fit the {degree} coefficients of a plaintext")]
    TooManyCoefficients {
        /// Values given.
        given: usize,
        /// The degree n.
        degree: usize,
    },
    /// A number of values that cannot be repeated to fill a row.
    #[error(
        "{given} values cannot be repeated in a row of {row} slots: their number must be a power of two of at most {row}"
    )]
    Repetition {
        /// Values given.
        given: usize,
        /// Slots of a row.
        row: usize,
    },
    /// A value is outside the range of the parameters.
    #[error("value number {index} is outside ±{limit}, the range that these parameters hold")]
    OutOfRange {
        /// The index of the value.
        index: usize,
        /// The largest magnitude.
        limit: f64,
    },
    /// The plain modulus has no slots.
    #[error("the plain modulus {plain_modulus} has no slots at n = {degree}: batching needs a prime t with t mod {} = 1; encode single integers instead", 2 * degree)]
    NoSlots {
        /// The plain modulus t.
        plain_modulus: u64,
        /// The degree n.
        degree: usize,
    },
    /// The level does not exist.
    #[error("level {level} does not exist: these parameters have levels 0 to {top}")]
    Level {
        /// The requested level.
        level: usize,
        /// The highest level.
        top: usize,
    },
}

/// The reason why an operation is refused. Nothing was computed.
///
/// ```
/// use sotto_rlwe::{Bfv, EvalError, Origin, Params, Shape};
///
/// let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// let fresh = Shape::fresh(&params, Origin::PublicKey, 1.0)?;
/// let lower = fresh.drop_prime(&params)?;
/// assert_eq!(fresh.add(&params, &lower), Err(EvalError::LevelMismatch { left: 1, right: 0 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EvalError {
    /// Operands at different levels.
    #[error("the operands are at levels {left} and {right}: drop the higher one first")]
    LevelMismatch {
        /// Level of the left operand.
        left: usize,
        /// Level of the right operand.
        right: usize,
    },
    /// Operands whose scales or plaintext factors differ.
    #[error("the operands' scales or plaintext factors differ ({left} and {right}): match them first")]
    ScalingMismatch {
        /// Scaling of the left operand.
        left: String,
        /// Scaling of the right operand.
        right: String,
    },
    /// Operands under different keys.
    #[error("the operands are under different keys ({left} and {right})")]
    KeyMismatch {
        /// Key of the left operand.
        left: KeyId,
        /// Key of the right operand.
        right: KeyId,
    },
    /// Operands of different parameters.
    #[error("the operands belong to different parameters")]
    ParameterMismatch,
    /// The caller's watch stopped a computation between two operations.
    #[error("the computation was stopped before its end")]
    Interrupted,
    /// A product must be relinearised first.
    #[error("a ciphertext of {components} components has to be relinearised first")]
    Components {
        /// Components of the ciphertext.
        components: usize,
    },
    /// A number of places that no compact ciphertext has.
    #[error(
        "a compact ciphertext has a power of two of places, from 4 to {degree}, in every limb: not {places}"
    )]
    Places {
        /// Places given.
        places: usize,
        /// The ring's degree n.
        degree: usize,
    },
    /// A selection of coefficients that the parameters do not allow.
    #[error(
        "{count} of every {spacing} coefficients are not a selection at degree {degree}: the spacing is a power of two up to the degree, \
         the count from 1 to below it; all coefficients are 1 of every 1"
    )]
    Selection {
        /// Number of coefficients in a group.
        spacing: usize,
        /// Coefficients of each spacing.
        count: usize,
        /// The ring's degree n.
        degree: usize,
    },
    /// A width that a coefficient of a reduced ciphertext cannot have.
    #[error("a coefficient of a reduced ciphertext has 8 to {most} bits here, not {width}")]
    Width {
        /// Bits given.
        width: u32,
        /// The largest width in bits at this modulus.
        most: u32,
    },
    /// A power of X that is not below the degree.
    #[error("X^{power} is not below the degree {degree}")]
    Monomial {
        /// The exponent of X.
        power: usize,
        /// The ring's degree n.
        degree: usize,
    },
    /// The noise bound passes the decryption limit.
    #[error(
        "the noise bound would pass the decryption limit by {over:.1} bits: use a larger n, or fewer products"
    )]
    Noise {
        /// The excess in bits.
        over: f64,
    },
    /// CKKS: the operand's error is too large for a comparison with this gap.
    #[error(
        "the operand's error is {bits:.1} bits too large for the gap of this comparison: take a larger scale, or a wider gap"
    )]
    Coarse {
        /// The excess in bits.
        bits: f64,
    },
    /// A value is larger than declared.
    #[error(
        "a value is larger than the declared magnitude {declared}: declare a larger one, or scale the values"
    )]
    Magnitude {
        /// The declared magnitude.
        declared: f64,
    },
    /// There is no lower level.
    #[error("no prime is left to drop at level {level}")]
    NoLevel {
        /// The level that has no prime to drop.
        level: usize,
    },
    /// CKKS: a rescale of a ciphertext that is not a product.
    #[error("only a product (scale to the power of 2) can be rescaled; this has power {power}")]
    ScalePower {
        /// The power of its scale.
        power: u32,
    },
    /// BGV: a factor that is not invertible.
    #[error("{scalar} is not invertible modulo the plain modulus")]
    Factor {
        /// The factor.
        scalar: i64,
    },
    /// The scheme has no such operation.
    #[error("{scheme} has no {operation}")]
    Unsupported {
        /// The operation's name.
        operation: &'static str,
        /// The scheme that lacks it.
        scheme: SchemeId,
    },
    /// A plan reads an empty register.
    #[error("register {register} holds nothing")]
    MissingRegister {
        /// The register's number.
        register: u32,
    },
    /// The result would be zero for all inputs, and everybody could read that.
    #[error("a part of this is zero whatever the inputs are (x*0, x-x): leave it out")]
    Transparent,
    /// An operation needs a key that the set lacks.
    #[error("the {0} is missing: the owner has to upload it")]
    MissingKey(String),
    /// Key switching is not possible with these parameters, or not at this level.
    #[error(
        "there is no special prime, and one digit at this level: no product can be relinearised and nothing rotated; \
         take n ≥ 4096 or a higher level"
    )]
    NoSpecialPrime,
    /// A rotation that does not exist.
    #[error("a rotation by {step} does not exist: rows hold {row} slots")]
    Step {
        /// The rotation asked for, in slots.
        step: i32,
        /// Slots of a row.
        row: usize,
    },
    /// A plaintext cannot be encoded.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

impl EvalError {
    /// Makes the error for a missing Galois key.
    pub fn missing_galois_key(automorphism: Automorphism) -> Self {
        Self::MissingKey(format!("Galois key of the {automorphism}"))
    }

    /// Makes the error for a missing switch from one secret key to another.
    pub(crate) fn missing_transfer_key(from: KeyId, to: KeyId) -> Self {
        Self::MissingKey(format!("transfer key from {from} to {to}"))
    }
}
