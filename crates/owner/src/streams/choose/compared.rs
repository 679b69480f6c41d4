//! The comparisons of polynomials and models that a parameter set carries.

use sotto_pack::{Cut, Layout, Period, Span};
use sotto_program::limits::GAP_BITS;
use sotto_rlwe::{Origin, ParameterSpec, Params};
use sotto_runtime::{Encoding, RlweTarget};

use super::chosen::Real;
use super::judge::MOST_FLAG_ERROR;
use crate::quantities::{Beyond, Quantity, kept, program, typical};

/// Returns the bits of the finest gap with which the cloud can compare a polynomial or a linear combination on windows of
/// this layout; None if it cannot.
pub(crate) fn carried_gap(
    spec: &ParameterSpec,
    origin: Origin,
    layout: &Layout,
    of: &Quantity,
) -> Option<u8> {
    if spec.scheme.is_exact() {
        return None;
    }
    kept(layout, spec.degree)?;
    let cut = Cut::new(Span::Day, Period::from_milliseconds(1), layout.ticks());
    let carried = |gap_bits: &u8| {
        let quantity = Quantity::Beyond(Beyond { of: Box::new(of.clone()), limit: 0.0, gap_bits: *gap_bits });
        let part = typical(layout, &cut, 1, &quantity);
        // Two results, so that they are put side by side.
        let asked = program(layout, spec.degree, &[part.clone(), part], &[quantity], true).ok()?;
        let program = asked.program?;
        if program.depth().any as usize >= spec.data.len() {
            return None;
        }
        let target = RlweTarget {
            params: Params::<Real>::new(spec.clone()).ok()?,
            encoding: Encoding::Slots,
            origin,
            kept: kept(layout, spec.degree),
            may_wrap: true,
        };
        let lowered = target.lower_reduced(&program, &asked.merged).ok()?;
        lowered.outputs.iter().all(|output| 2.0 * output.slot_error <= MOST_FLAG_ERROR).then_some(())
    };
    GAP_BITS.into_iter().rev().find(|gap_bits| carried(gap_bits).is_some())
}
