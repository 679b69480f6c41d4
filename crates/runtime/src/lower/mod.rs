//! Lowering: from a program to a plan, for one scheme and its parameters.

mod builder;
mod leave;
mod merge;
mod slot_errors;
mod walk;

use sotto_program::{
    KeysNeeded, LowerError, Plan, PlanInput, PlanOutput, Predicted, Program, SlotShape, Target, magnitudes,
    passes,
};
use sotto_rlwe::{EvalError, Expected, Kept, KeyId, Origin, Params, Reduction, Shape};

pub use builder::Builder;
pub use merge::Merged;

use crate::check::reduction;
use crate::manage::Managed;

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
pub struct RlweTarget<S: Managed> {
    /// The parameters.
    pub params: Params<S>,
    /// The encoding of values in plaintexts.
    pub encoding: Encoding,
    /// The way inputs are encrypted.
    pub origin: Origin,
    /// The coefficients that compact inputs keep. Inputs are expanded before the plan runs. None: inputs are ordinary
    /// ciphertexts.
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
pub struct Lowered<S: Managed> {
    /// The plan.
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
pub struct Planned<S: Managed> {
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

impl<S: Managed> Planned<S> {
    /// Returns the expectation for an answer under this key: see
    /// [`Ciphertext::expect`](sotto_rlwe::Ciphertext::expect).
    pub fn expected(&self, params: &Params<S>, key: KeyId) -> Expected<S> {
        Expected { parameters: params.id(), key, shape: self.shape, reduction: self.reduction }
    }
}

impl<S: Managed> RlweTarget<S> {
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

    /// Lowers a program. Returns the plan, its keys and the predictions for its outputs.
    ///
    /// Sums and public operands keep a foreign key. A foreign register is switched to the answer's key where it meets
    /// another key, is rotated or multiplied, or is an output. So the sum of a device's inputs is switched once if the
    /// program adds them first. Lowering keeps the program's order of sums: `x + y + z` with y and z under one foreign
    /// key switches twice, `x + (y + z)` once.
    ///
    /// # Errors
    /// [`LowerError`] names the reason and a remedy.
    pub fn lower_with_shapes(&self, program: &Program) -> Result<Lowered<S>, LowerError> {
        self.lower_merged(program, &[])
    }

    /// Like [`lower_with_shapes`](Self::lower_with_shapes), but merges results: the outputs named in an entry of
    /// `merged` share one ciphertext, with their coefficients side by side. If `merged` is empty, each output stays
    /// alone.
    ///
    /// Merged results can be separated only if their plaintexts are polynomials in X^(n/k), where k is twice the number
    /// of values of the inputs: results of slotwise operations and rotations of compact inputs.
    ///
    /// # Errors
    /// Those of [`lower_with_shapes`](Self::lower_with_shapes), and if merged results cannot be brought to one level
    /// and scale.
    pub fn lower_merged(&self, program: &Program, merged: &[Merged]) -> Result<Lowered<S>, LowerError> {
        S::lower_program(self, program, merged, false)
    }

    /// Like [`lower_merged`](Self::lower_merged), for outputs that are only decrypted: each is
    /// [reduced](sotto_rlwe::Reduced) at the level and width where it is smallest. BFV and BGV stay exact; in CKKS the
    /// error bound grows by at most an eighth.
    ///
    /// # Errors
    /// Those of [`lower_merged`](Self::lower_merged).
    pub fn lower_reduced(&self, program: &Program, merged: &[Merged]) -> Result<Lowered<S>, LowerError> {
        S::lower_program(self, program, merged, true)
    }

    pub(crate) fn lower_leaving(
        &self,
        program: &Program,
        merged: &[Merged],
        reduced: bool,
    ) -> Result<Lowered<S>, LowerError> {
        let program = passes::simplify(program)?;
        let no_slots = || LowerError::NotSupported {
            what: "a vector of values under this plain modulus".into(),
            instead: "take a prime t with t mod 2n = 1, or single values".into(),
        };
        let shape = self.slot_shape().ok_or_else(no_slots)?;
        program.fits(shape)?;
        self.check_plain_modulus(&program)?;
        let inputs = program
            .inputs()
            .iter()
            .map(|input| Ok((input.key, self.input(input.magnitude)?)))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| walk::refused(&error, sotto_program::NodeId(0), &program, &self.params))?;
        let mut builder = Builder::new(&self.params, inputs);
        let outputs = walk::walk(&mut builder, &program, shape, merged)?;
        let values = magnitudes(&program);
        let mut largest: Vec<f64> = program.outputs().iter().map(|(_, node)| values[node.index()]).collect();
        if !merged.is_empty() {
            let of = |at: &usize| largest.get(*at).copied().unwrap_or(f64::INFINITY);
            let most = |merged: &Merged| merged.outputs.iter().map(|(at, _)| of(at)).fold(0.0, f64::max);
            largest = merged.iter().map(most).collect();
        }
        let read = self.kept.filter(|_| !merged.is_empty()).map(Kept::values);
        let mut errors = builder.slot_errors((self.origin, self.kept));
        let known = builder.steps();
        let outputs = if reduced {
            let select = |at| leave::selection(&self.params, self.encoding, self.kept, merged.get(at));
            let selected = outputs.into_iter().enumerate().map(|(at, output)| (output, select(at))).collect();
            leave::reduced(&mut builder, selected, (&errors, read))
        } else {
            leave::whole(&mut builder, outputs)
        };
        let outputs =
            outputs.map_err(|error| walk::refused(&error, walk::last(&program), &program, &self.params))?;
        builder.follow_errors(&mut errors, known);
        let planned = |(output, magnitude): (&PlanOutput, f64)| {
            let (shape, reduction) = (builder.shape(output.register), reduction(output));
            let bound = errors.bound(&self.params, output.register, shape, read);
            let slot_error = bound + reduction.map_or(0.0, |form| shape.reduction_error(&self.params, form));
            let leaves = reduction.map_or(Ok(*shape), |form| shape.reduced(&self.params, form));
            leaves.map(|shape| Planned { shape, reduction, slot_error, magnitude })
        };
        let planned_outputs = outputs.iter().zip(largest).map(planned).collect::<Result<Vec<_>, _>>();
        let planned_outputs = planned_outputs
            .map_err(|error| walk::refused(&error, walk::last(&program), &program, &self.params))?;
        let predicted = self.predict(&builder, &planned_outputs);
        let (constants, steps) = builder.into_parts();
        let mut plan = Plan {
            parameter_id: self.params.id().0,
            inputs: program
                .inputs()
                .iter()
                .map(|input| PlanInput { name: input.name.clone(), key: input.key })
                .collect(),
            constants,
            steps,
            outputs,
            keys: KeysNeeded::default(),
            predicted,
        };
        plan.keys = plan.keys_needed();
        plan.validate()?;
        let mut keys = plan.keys.clone();
        if let Some(kept) = self.kept {
            let steps = self.params.expansion_steps(kept).unwrap_or_default();
            let swap_rows = steps.contains(&0);
            let rotations = steps.into_iter().filter(|step| *step != 0).collect();
            keys = keys.and(&KeysNeeded { rotations, swap_rows, ..KeysNeeded::default() });
        }
        Ok(Lowered { plan, keys, outputs: planned_outputs })
    }

    /// Returns the shape of an input after its expansion.
    fn input(&self, magnitude: f64) -> Result<Shape<S>, EvalError> {
        match self.kept {
            Some(kept) => Shape::fresh_expanded(&self.params, self.origin, magnitude, kept),
            None => Shape::fresh(&self.params, self.origin, magnitude),
        }
    }

    fn predict(&self, builder: &Builder<'_, S>, outputs: &[Planned<S>]) -> Predicted {
        let (top, degree) = (self.params.top_level(), self.params.degree());
        let limb_bytes = |limb| u64::from(self.params.modulus(limb).bits()) * degree as u64 / 8;
        let bytes = |Planned { shape, reduction, .. }: &Planned<S>| match reduction {
            Some(Reduction { width, selection }) => {
                ((degree + selection.coefficients(degree)) as u64 * u64::from(*width)).div_ceil(8)
            }
            None => shape.components as u64 * self.params.limbs(shape.level).map(limb_bytes).sum::<u64>(),
        };
        Predicted {
            noise_bits_left: outputs.iter().map(|o| o.shape.room(&self.params)).fold(f64::MAX, f64::min),
            levels_used: (top - builder.lowest_level()) as u8,
            output_bytes: outputs.iter().map(bytes).sum(),
        }
    }

    /// Refuses a program whose outputs may wrap around t, unless that is allowed.
    fn check_plain_modulus(&self, program: &Program) -> Result<(), LowerError> {
        if !S::EXACT || self.may_wrap {
            return Ok(());
        }
        let all = magnitudes(program);
        let largest = program.outputs().iter().map(|(_, node)| all[node.index()]).fold(0.0, f64::max);
        let t = self.params.plain_modulus();
        if 2.0 * largest < t as f64 {
            return Ok(());
        }
        let needed_bits = ((2.0 * largest + 1.0).log2().floor() as u32).saturating_add(1);
        Err(LowerError::PlainModulusTooSmall { needed_bits, bits: 64 - t.leading_zeros() })
    }
}

impl<S: Managed> Target for RlweTarget<S> {
    fn lower(&self, program: &Program) -> Result<Plan, LowerError> {
        self.lower_with_shapes(program).map(|lowered| lowered.plan)
    }
}
