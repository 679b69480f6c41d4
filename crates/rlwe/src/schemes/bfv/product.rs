//! The product of BFV: the tensor product over Q_l and the auxiliary primes, times t, divided by Q_l (ePrint 2018/117, section
//! 2.4, with the remainder converted instead of the quotient).
//!
//! Every constant is part of a transform or of the division: an operand's residues are multiplied by nothing else, and nothing
//! is copied.

use arrayvec::ArrayVec;
use sotto_ring::{Conversion, Eval, Poly, Rows, Scratch, parallel};

use super::{Bfv, LevelTables};
use crate::parameters::Params;

pub(super) fn tensor(
    params: &Params<Bfv>,
    level: usize,
    a: &[Poly<Eval>],
    b: &[Poly<Eval>],
    scratch: &mut Scratch,
) -> [Poly<Eval>; 3] {
    let tables = &params.tables().levels[level];
    let left = [extend(params, level, &a[0], scratch), extend(params, level, &a[1], scratch)];
    let right = if core::ptr::eq(a, b) {
        None
    } else {
        Some([extend(params, level, &b[0], scratch), extend(params, level, &b[1], scratch)])
    };
    let other = right.as_ref().unwrap_or(&left);
    let (limbs, auxiliary) = (params.limbs(level), params.tables().auxiliary.clone());
    // t times each component: in rows for the division where limbs are of Q_l, as it is where they are auxiliary.
    let mut rests = [(); 3].map(|()| tables.to_auxiliary.rows(params.degree(), scratch));
    let mut dividends = [(); 3].map(|()| scratch.rows(auxiliary.len(), params.degree()));
    let degree = params.degree();
    let components = |_| [(); 3].map(|()| scratch.rows(1, degree));
    let mut components: ArrayVec<[Rows; 3], { parallel::MOST_WORKERS }> =
        (0..parallel::workers(degree)).map(components).collect();
    let [r0, r1, r2] = rests.each_mut().map(Rows::iter_mut);
    let [d0, d1, d2] = dividends.each_mut().map(Rows::iter_mut);
    let of_rests = limbs.clone().zip(r0.zip(r1).zip(r2));
    let items = of_rests.chain(auxiliary.zip(d0.zip(d1).zip(d2))).enumerate();
    parallel::for_each_with(&mut components, items, |components, (k, (i, ((r0, r1), r2)))| {
        let out = components.each_mut().map(|rows| rows.row_mut(0));
        let ring = params.ring();
        let (table, t) = (ring.table(i), ring.modulus(i).reduce(params.plain_modulus()));
        let tensor = ring.kernels().tensor;
        let factor = if let Some(j) = k.checked_sub(limbs.len()) {
            let operands = [&left, other].map(|pair| pair.each_ref().map(|rows| rows.row(j)));
            tensor(ring.modulus(i), out, operands[0], operands[1]);
            t
        } else {
            tensor(ring.modulus(i), out, [a[0].limb(i), a[1].limb(i)], [b[0].limb(i), b[1].limb(i)]);
            ring.modulus(i).multiply(t, tables.to_auxiliary.row_factor(k))
        };
        let scale = table.inverse_scale(factor);
        for (component, result) in components.iter().zip([r0, r1, r2]) {
            (ring.kernels().ntt_inverse_from)(table, result, component.row(0), scale);
        }
    });
    for rows in left.into_iter().chain(right.into_iter().flatten()).chain(components.into_iter().flatten()) {
        scratch.give_rows(rows);
    }
    let mut dividends = dividends.into_iter();
    rests.map(|rest| {
        let dividend = dividends.next().expect("as many dividends as rests");
        divide(params, level, tables, rest, dividend, scratch)
    })
}

/// An operand's auxiliary limbs.
fn extend(params: &Params<Bfv>, level: usize, c: &Poly<Eval>, scratch: &mut Scratch) -> Rows {
    let ring = params.ring();
    let kernels = ring.kernels();
    let conversion: &Conversion = &params.tables().levels[level].to_auxiliary;
    let limbs = params.limbs(level).map(|i| (ring.table(i), c.limb(i)));
    let quotients = conversion.prepare_eval(kernels, limbs, scratch);
    let mut rows = scratch.rows(params.tables().auxiliary.len(), params.degree());
    conversion.write_rows(kernels, &quotients, &mut rows);
    let items = params.tables().auxiliary.clone().zip(rows.iter_mut());
    parallel::for_each(params.degree(), items, |(i, row)| (kernels.ntt_forward)(ring.table(i), row));
    quotients.give(scratch);
    rows
}

/// round(c/Q_l), over Q_l, of c given as rows for the conversion to the auxiliary primes and as auxiliary limbs, both in
/// coefficient form.
fn divide(
    params: &Params<Bfv>,
    level: usize,
    tables: &LevelTables,
    rest: Rows,
    dividend: Rows,
    scratch: &mut Scratch,
) -> Poly<Eval> {
    let ring = params.ring();
    let kernels = ring.kernels();
    let rests = tables.to_auxiliary.complete(kernels, rest);
    let mut quotient = tables.from_auxiliary.rows(params.degree(), scratch);
    let mut rest = scratch.rows(dividend.iter().count(), params.degree());
    tables.to_auxiliary.write_rows(kernels, &rests, &mut rest);
    let items = params.tables().auxiliary.clone().enumerate().zip(quotient.iter_mut());
    parallel::for_each(params.degree(), items, |((j, i), out)| {
        let (divided, rest) = (dividend.row(j), rest.row(j));
        (kernels.subtract_rest)(ring.modulus(i), out, divided, rest, tables.divide[j], None);
    });
    scratch.give_rows(rest);
    scratch.give_rows(dividend);
    rests.give(scratch);
    let quotients = tables.from_auxiliary.complete(kernels, quotient);
    let mut out = scratch.poly::<Eval>(ring, params.limbs(level));
    tables.from_auxiliary.write_limbs(kernels, &quotients, &mut out);
    let items = params.limbs(level).zip(out.limbs_mut());
    parallel::for_each(params.degree(), items, |(i, limb)| (kernels.ntt_forward)(ring.table(i), limb));
    quotients.give(scratch);
    out
}
