//! A scheme with parameters as a target, and the plan with its predictions.

use sotto_program::{KeysNeeded, Plan, SlotShape};
use sotto_rlwe::{Expected, Kept, KeyId, Origin, Params, Reduction, Shape};

use crate::step_rules::StepRules;

/// The encoding of values in plaintexts.
///
/// Example: [`RlweTarget`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// A vector of slots.
    Slots,
    /// One value per plaintext. Works for any plain modulus.
    Scalar,
}

/// A scheme with parameters, to which programs can be lowered.
///
/// ```
/// use sotto_program::{LowerError, ParseOptions, SlotShape, parse};
/// use sotto_rlwe::{Bfv, Origin, Params};
/// use sotto_runtime::{Encoding, RlweTarget};
///
/// let target = RlweTarget {
///     params: Params::<Bfv>::default_chain(4096, 65_537)?,
///     encoding: Encoding::Slots,
///     origin: Origin::SecretKey,
///     kept: None,
///     may_wrap: false,
/// };
/// assert_eq!(target.slot_shape(), Some(SlotShape { rows: 2, columns: 2048 }));
/// let options = ParseOptions { undeclared: Some(120.0), ..ParseOptions::default() };
/// let sum = |width| parse(&format!("sum(boiler, {width})"), &options).map(|asked| asked.program);
/// assert_eq!(target.lower_with_shapes(&sum(32)?)?.plan.counts()["rotate"], 5);
/// // 1024 · 120 is above half of 65,537.
/// let refused = target.lower_with_shapes(&sum(1024)?).err();
/// assert!(matches!(refused, Some(LowerError::PlainModulusTooSmall { needed_bits: 18, .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RlweTarget<S: StepRules> {
    /// The parameters.
    pub params: Params<S>,
    /// The encoding of values in plaintexts.
    pub encoding: Encoding,
    /// The way inputs are encrypted.
    pub origin: Origin,
    /// The coefficients that inputs keep whose values repeat over the slots. Such inputs are compact under the secret
    /// key, and expanded before the plan runs; under a public key they are whole. None: values do not repeat.
    pub kept: Option<Kept>,
    /// True if integer answers may wrap around the plain modulus; else lowering refuses a program that could wrap.
    pub may_wrap: bool,
}

/// A plan, its keys, and the predictions for its outputs.
///
/// ```
/// use sotto_program::{ParseOptions, parse};
/// use sotto_rlwe::{Bfv, KeyId, Origin, Params};
/// use sotto_runtime::{Encoding, Lowered, Planned, RlweTarget};
///
/// let options = ParseOptions { undeclared: Some(120.0), ..ParseOptions::default() };
/// let program = parse("inlet - outlet", &options)?.program;
/// let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// let (encoding, origin) = (Encoding::Slots, Origin::SecretKey);
/// let target = RlweTarget { params, encoding, origin, kept: None, may_wrap: false };
/// let lowered: Lowered<Bfv> = target.lower_with_shapes(&program)?;
/// assert!(lowered.keys.is_empty(), "a difference needs no evaluation keys");
/// let answer: &Planned<Bfv> = &lowered.outputs[0];
/// assert_eq!((answer.magnitude, answer.slot_error), (240.0, 0.0));
/// // The owner compares the answer with this before it decrypts.
/// let expected = answer.expected(&target.params, KeyId([2; 16]));
/// assert_eq!(expected.shape, answer.shape);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Lowered<S: StepRules> {
    /// The steps, valid and in order.
    pub plan: Plan,
    /// Keys for the plan and for the expansion of its inputs.
    pub keys: KeysNeeded,
    /// The prediction for each output.
    pub outputs: Vec<Planned<S>>,
}

/// The prediction for an output.
///
/// Example: [`Lowered`]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Planned<S: StepRules> {
    /// The shape that the owner compares an answer with. Its noise bound includes the rounding of constants and of
    /// reducing.
    pub shape: Shape<S>,
    /// The form of the output. None: a whole ciphertext.
    pub reduction: Option<Reduction>,
    /// A bound on the error of each slot; for merged results, of each slot of a part. At most the shape's bound, and 0
    /// for exact schemes. It relies on the randomness of the plan's steps, so it holds only for fresh inputs on which
    /// this plan was run.
    pub slot_error: f64,
    /// A bound on the absolute value of every slot, from the program's declared magnitudes.
    pub magnitude: f64,
}

impl<S: StepRules> Planned<S> {
    /// Returns the expectation for an answer under this key: see
    /// [`Ciphertext::expect`](sotto_rlwe::Ciphertext::expect).
    pub fn expected(&self, params: &Params<S>, key: KeyId) -> Expected<S> {
        Expected { parameters: params.id(), key, shape: self.shape, reduction: self.reduction }
    }
}

impl<S: StepRules> RlweTarget<S> {
    /// Returns the arrangement of slots that programs see; None if the plain modulus supports no slots.
    pub fn slot_shape(&self) -> Option<SlotShape> {
        match self.encoding {
            Encoding::Scalar => Some(SlotShape::SCALAR),
            Encoding::Slots => {
                let (rows, columns) = S::slot_shape(&self.params)?;
                Some(SlotShape { rows: rows as u32, columns: columns as u32 })
            }
        }
    }
}
