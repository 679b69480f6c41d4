//! Values as plaintexts.

use sotto_rlwe::Plaintext;

use crate::context::Context;
use crate::encrypted::Facts;
use crate::error::{Error, Result};
use crate::scheme::{Arithmetic, Real};

/// Encodes values for encryption, checked against the declared bound.
pub(crate) fn plaintexts<S: Arithmetic>(
    context: &Context<S>,
    facts: &Facts,
    values: &[S::Value],
) -> Result<Vec<Plaintext<S>>> {
    if let Some((first, last)) = context.0.range {
        let inside = |value: &S::Value| (first as f64..=last as f64).contains(&Into::<Real>::into(*value).0);
        if let Some(index) = values.iter().position(|value| !inside(value)) {
            return Err(Error::OutsideRange { index, first, last });
        }
    }
    let within = facts.magnitude;
    let fits = |value: &S::Value| Into::<Real>::into(*value).0.abs() <= within;
    if let Some(index) = values.iter().position(|value| !fits(value)) {
        return Err(Error::Value { index, within });
    }
    let params = context.params();
    let encode = |part: &[S::Value]| -> Result<Plaintext<S>> {
        let slots = zeroize::Zeroizing::new(S::divided(part, facts.unit));
        let plaintext = match context.period(facts.len) {
            Some(period) => {
                let mut block = zeroize::Zeroizing::new(vec![S::Value::default(); period]);
                block[..slots.len()].copy_from_slice(&slots);
                params.encode_repeated(&block, params.top_level())?
            }
            None => S::encode_slots(params, &slots, params.top_level())?,
        };
        Ok(plaintext.declare_magnitude(context.values_within() / context.unit()))
    };
    values.chunks(context.slots()).map(encode).collect()
}
