//! Lowering: from a program to a plan, for one scheme and its parameters.

mod builder;
mod leave;
mod levels;
mod merge;
mod slot_errors;
mod target;
mod walk;

use sotto_program::{
    KeysNeeded, LowerError, Plan, PlanInput, PlanOutput, Predicted, Program, magnitudes, passes,
};
use sotto_rlwe::{EvalError, Kept, Origin, Reduction, Shape};

pub use merge::Merged;
pub use target::{Encoding, Lowered, Planned, RlweTarget};

use builder::Builder;

use crate::check::reduction;
use crate::step_rules::StepRules;

impl<S: StepRules> RlweTarget<S> {
    /// Lowers a program, and leaves its outputs whole or reduced: see [`lower_merged`](Self::lower_merged) and
    /// [`lower_reduced`](Self::lower_reduced).
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
        let mut errors = builder.slot_errors(self.origin, self.expanded());
        let known = builder.steps();
        let outputs = if reduced {
            let select = |at| leave::selection(&self.params, self.encoding, self.kept, merged.get(at));
            let selected = outputs.into_iter().enumerate().map(|(at, output)| (output, select(at))).collect();
            leave::reduced(&mut builder, selected, &errors, read)
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
        if let Some(kept) = self.expanded() {
            let steps = self.params.expansion_steps(kept).unwrap_or_default();
            let swap_rows = steps.contains(&0);
            let rotations = steps.into_iter().filter(|step| *step != 0).collect();
            keys = keys.and(&KeysNeeded { rotations, swap_rows, ..KeysNeeded::default() });
        }
        Ok(Lowered { plan, keys, outputs: planned_outputs })
    }

    /// Returns the coefficients that compact inputs keep, which are expanded; None for whole inputs.
    fn expanded(&self) -> Option<Kept> {
        self.kept.filter(|_| self.origin == Origin::SecretKey)
    }

    /// Returns the shape of an input after its expansion.
    fn input(&self, magnitude: f64) -> Result<Shape<S>, EvalError> {
        match self.expanded() {
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
