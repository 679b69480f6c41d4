//! Measured operations on ciphertexts.

use sotto_ring::Scratch;
use sotto_rlwe::{Addend, Ciphertext, Evaluator};

use super::clear::Clear;
use super::fixture::{Fixture, require};
use super::timer::Timer;
use crate::error::EngineError;
use crate::session::Session;
use crate::spoken::Spoken;

/// The common part of measured operations: session, timer and buffers.
struct Operation<'f, S: Spoken> {
    session: &'f Session<S>,
    timer: Timer,
    scratch: &'f mut Scratch,
}

impl<S: Spoken> Operation<'_, S> {
    /// Times an operation that returns a new ciphertext. Its buffers are recycled between repetitions, untimed.
    fn gives(
        self,
        expected: &Clear,
        mut run: impl FnMut(&Evaluator<S>, &mut Scratch) -> Result<Ciphertext<S>, EngineError>,
    ) -> Result<Vec<f64>, EngineError> {
        self.changes(None, expected, |e, scratch, _| run(e, scratch))
    }

    /// Times an operation on a copy of `operand`, which is made outside the time.
    fn changes(
        self,
        operand: Option<&Ciphertext<S>>,
        expected: &Clear,
        mut run: impl FnMut(
            &Evaluator<S>,
            &mut Scratch,
            Option<Ciphertext<S>>,
        ) -> Result<Ciphertext<S>, EngineError>,
    ) -> Result<Vec<f64>, EngineError> {
        let e = &self.session.evaluator;
        if self.timer.checks() {
            let result = run(e, self.scratch, operand.cloned())?;
            require(self.session, &result, expected)?;
            e.recycle(result, self.scratch);
        }
        self.timer.time(
            self.scratch,
            |scratch| operand.map(|operand| e.copy_with(operand, scratch)),
            |scratch, operand| run(e, scratch, operand),
            |scratch, result| e.recycle(result, scratch),
        )
    }
}

/// Returns the copy that was made for an operation in place.
fn own<S: Spoken>(operand: Option<Ciphertext<S>>) -> Result<Ciphertext<S>, EngineError> {
    operand.ok_or(EngineError::Unsupported)
}

/// Times an operation of the evaluator.
pub(super) fn evaluate<S: Spoken>(
    session: &Session<S>,
    fixture: &mut Fixture<S>,
    operation: &str,
    timer: Timer,
) -> Result<Vec<f64>, EngineError> {
    let Fixture {
        slots,
        clear: [x, y],
        ciphertext: [a, b],
        elsewhere,
        addend,
        multiplier,
        keys,
        scratch,
        ..
    } = fixture;
    let params = &session.target.params;
    let top = params.top_level();
    let reals = !S::EXACT;
    let subject = |scratch| Operation { session, timer, scratch };
    match operation {
        "add" => subject(scratch).gives(&x.plus(y), |e, scratch| Ok(e.add_with(a, b, scratch)?)),
        "add_in_place" => subject(scratch).changes(Some(a), &x.plus(y), |e, scratch, sum| {
            let mut sum = own(sum)?;
            e.add_assign(&mut sum, b, scratch)?;
            Ok(sum)
        }),
        "subtract" => subject(scratch).gives(&x.minus(y), |e, scratch| {
            let mut difference = e.copy_with(a, scratch);
            e.subtract_assign(&mut difference, b, scratch)?;
            Ok(difference)
        }),
        "negate" => subject(scratch).gives(&x.negated(), |e, scratch| {
            let mut negated = e.copy_with(a, scratch);
            e.negate_assign(&mut negated)?;
            Ok(negated)
        }),
        "add_plain" => {
            subject(scratch).gives(&x.plus(y), |e, scratch| Ok(e.add_plain_with(a, addend, scratch)?))
        }
        "encode_add_plain" => subject(scratch).gives(&x.plus(y), |e, scratch| {
            let plain = session.packing.encode(params, &slots[1], top)?;
            let addend = Addend::new(params, &plain, top, a.shape().scaling);
            Ok(e.add_plain_with(a, &addend, scratch)?)
        }),
        "multiply_plain" => subject(scratch)
            .gives(&x.times(y), |e, scratch| Ok(e.multiply_plain_with(a, multiplier, scratch)?)),
        "multiply" => subject(scratch).gives(&x.times(y), |e, scratch| Ok(e.multiply_with(a, b, scratch)?)),
        "square" => subject(scratch).gives(&x.times(x), |e, scratch| Ok(e.multiply_with(a, a, scratch)?)),
        "multiply_relin" => subject(scratch).gives(&x.times(y), |e, scratch| {
            let mut product = e.multiply_with(a, b, scratch)?;
            e.relinearise_assign(&mut product, keys, scratch)?;
            Ok(product)
        }),
        "rotate" => {
            subject(scratch).gives(&x.rotated(), |e, scratch| Ok(e.rotate_with(a, 1, keys, scratch)?))
        }
        "rotate_hoisted" => {
            let hoisted = session.evaluator.hoist(a, scratch)?;
            subject(scratch)
                .gives(&x.rotated(), |e, scratch| Ok(e.rotate_hoisted(&hoisted, 1, keys, scratch)?))
        }
        "switch_keys" => {
            subject(scratch).gives(x, |e, scratch| Ok(e.switch_key_with(elsewhere, keys, scratch)?))
        }
        "rescale" if reals && top > 0 => {
            let product = session.evaluator.multiply_plain(a, multiplier)?;
            subject(scratch).changes(Some(&product), &x.times(y), |e, scratch, product| {
                let mut product = own(product)?;
                e.drop_modulus_assign(&mut product, scratch)?;
                Ok(product)
            })
        }
        "modswitch" if reals && top > 0 => {
            subject(scratch).gives(x, |e, scratch| Ok(e.lower_with(a, top - 1, scratch)?))
        }
        "modswitch" if top > 0 => subject(scratch).changes(Some(a), x, |e, scratch, switched| {
            let mut switched = own(switched)?;
            e.drop_modulus_assign(&mut switched, scratch)?;
            Ok(switched)
        }),
        _ => Err(EngineError::Unsupported),
    }
}
