//! The product of BFV: the tensor product over Q_l and the auxiliary primes, times t, divided by Q_l (ePrint 2018/117,
//! section 2.4, with the remainder converted instead of the quotient).
//!
//! Every constant is part of a transform or of the division, so an operand's residues need no other multiplication and
//! no copy. Memory access dominates at large degrees: a limb is transformed and multiplied while it is in the cache,
//! conversions and the division go part by part, and the product reuses the operands' buffers.

use arrayvec::ArrayVec;
use sotto_ring::{Eval, MOST_SOURCES, Poly, Rows, Scratch, parallel};

use super::Bfv;
use crate::parameters::Params;

/// Auxiliary limbs of both components of two operands; for a square, of one operand and a component to be written.
type Operands = ArrayVec<Rows, 4>;

pub(super) fn tensor(
    params: &Params<Bfv>,
    level: usize,
    a: &[Poly<Eval>],
    b: &[Poly<Eval>],
    scratch: &mut Scratch,
) -> [Poly<Eval>; 3] {
    let (degree, auxiliary) = (params.degree(), params.tables().levels[level].auxiliary.clone());
    let square = core::ptr::eq(a, b);
    let mut operands: Operands = a.iter().map(|c| extend(params, level, c, scratch)).collect();
    if square {
        operands.push(scratch.rows(auxiliary.len(), degree));
    } else {
        operands.extend(b.iter().map(|c| extend(params, level, c, scratch)));
    }
    let mut rests = [(); 3].map(|()| scratch.rows(params.limbs(level).len(), degree));
    multiply(params, level, [a, b], &mut operands, &mut rests, scratch);
    let mut dividends = operands.into_iter();
    let components = rests.map(|rest| {
        let dividend = dividends.next().expect("three operands or more");
        divide(params, level, rest, dividend, scratch)
    });
    dividends.for_each(|rows| scratch.give_rows(rows));
    components
}

/// Returns an operand's auxiliary limbs, in coefficient form.
fn extend(params: &Params<Bfv>, level: usize, c: &Poly<Eval>, scratch: &mut Scratch) -> Rows {
    let (ring, degree) = (params.ring(), params.degree());
    let conversion = &params.tables().levels[level].to_auxiliary;
    let mut residues = scratch.rows(params.limbs(level).len(), degree);
    let items = params.limbs(level).zip(residues.iter_mut()).enumerate();
    parallel::for_each(degree, items, |(k, (i, row))| {
        let table = ring.table(i);
        let scale = table.inverse_scale(conversion.row_factor(k));
        (ring.kernels().ntt_inverse_from)(table, row, c.limb(i), scale);
    });
    let mut rows = scratch.rows(params.tables().levels[level].auxiliary.len(), degree);
    conversion.convert_rows(ring.kernels(), &residues, &mut rows);
    scratch.give_rows(residues);
    rows
}

/// Computes t times the tensor product, in coefficient form. Writes its limbs of Q_l to `rests`, as rows for the
/// conversion to the auxiliary primes, and its auxiliary limbs to the first three of `operands`.
fn multiply(
    params: &Params<Bfv>,
    level: usize,
    [a, b]: [&[Poly<Eval>]; 2],
    operands: &mut Operands,
    rests: &mut [Rows; 3],
    scratch: &mut Scratch,
) {
    let (ring, degree, auxiliary) =
        (params.ring(), params.degree(), params.tables().levels[level].auxiliary.clone());
    let (data, to_auxiliary) = (params.limbs(level), &params.tables().levels[level].to_auxiliary);
    let kernels = ring.kernels();
    let plain_modulus = |i: usize| ring.modulus(i).reduce(params.plain_modulus());
    // Transforms back one component after another from its values in Eval form.
    let back = |i: usize, factor: u64, components: &[Rows; 3], results: [&mut [u64]; 3]| {
        let table = ring.table(i);
        for (component, result) in components.iter().zip(results) {
            (kernels.ntt_inverse_from)(table, result, component.row(0), table.inverse_scale(factor));
        }
    };
    let mut workers = parallel::for_workers(degree, || [(); 3].map(|()| scratch.rows(1, degree)));
    let [mut r0, mut r1, mut r2] = rests.each_mut().map(Rows::iter_mut);
    let mut of_operands: ArrayVec<_, 4> = operands.iter_mut().map(Rows::iter_mut).collect();
    // Each item is one limb of Q_l and one auxiliary limb, so that threads have equal shares.
    let items = (0..data.len().max(auxiliary.len())).map(|k| {
        let rests = r0.next().zip(r1.next()).zip(r2.next()).map(|((r0, r1), r2)| [r0, r1, r2]);
        let operands: ArrayVec<&mut [u64], 4> = of_operands.iter_mut().filter_map(Iterator::next).collect();
        (k, rests, operands)
    });
    parallel::for_each_with(&mut workers, items, |components, (k, rests, mut operands)| {
        if let Some(rests) = rests {
            let i = data.start + k;
            let out = components.each_mut().map(|rows| rows.row_mut(0));
            let [x, y] = [a, b].map(|operand| [operand[0].limb(i), operand[1].limb(i)]);
            if core::ptr::eq(a, b) {
                (kernels.square)(ring.modulus(i), out, x);
            } else {
                (kernels.tensor)(ring.modulus(i), out, x, y);
            }
            let factor = ring.modulus(i).multiply(plain_modulus(i), to_auxiliary.row_factor(k));
            back(i, factor, components, rests);
        }
        if let [x0, x1, y @ ..] = operands.as_mut_slice() {
            let i = auxiliary.start + k;
            let transform = |row: &mut [u64]| (kernels.ntt_forward)(ring.table(i), row);
            let out = components.each_mut().map(|rows| rows.row_mut(0));
            transform(x0);
            transform(x1);
            if let [y0, y1] = y {
                transform(y0);
                transform(y1);
                (kernels.tensor)(ring.modulus(i), out, [x0, x1], [y0, y1]);
            } else {
                (kernels.square)(ring.modulus(i), out, [x0, x1]);
            }
            back(i, plain_modulus(i), components, [x0, x1, &mut y[0]]);
        }
    });
    workers.into_iter().flatten().for_each(|rows| scratch.give_rows(rows));
}

/// Returns round(c/Q_l) over Q_l. c is given as rows for the conversion to the auxiliary primes and as auxiliary limbs,
/// both in coefficient form.
fn divide(
    params: &Params<Bfv>,
    level: usize,
    rest: Rows,
    dividend: Rows,
    scratch: &mut Scratch,
) -> Poly<Eval> {
    let (ring, degree, auxiliary) =
        (params.ring(), params.degree(), params.tables().levels[level].auxiliary.clone());
    let (kernels, tables) = (ring.kernels(), &params.tables().levels[level]);
    let mut out = scratch.poly::<Eval>(ring, params.limbs(level));
    // A part of the remainder and of the quotient, modulo the auxiliary primes.
    let parts = || [(); 2].map(|()| scratch.rows(auxiliary.len(), parallel::PART));
    let mut workers = parallel::for_workers(degree, parts);
    let mut limbs: ArrayVec<&mut [u64], MOST_SOURCES> = out.limbs_mut().collect();
    parallel::for_each_part(&mut workers, degree, &mut limbs, |[converted, quotient], [part, next], out| {
        let rests: ArrayVec<&[u64], MOST_SOURCES> = rest.iter().map(|row| &row[part.clone()]).collect();
        let mut targets: ArrayVec<&mut [u64], MOST_SOURCES> =
            converted.iter_mut().map(|row| &mut row[..part.len()]).collect();
        let ahead = rest.iter().map(|row| &row[next.clone()]);
        tables.to_auxiliary.convert_part(kernels, &rests, &mut targets, ahead);
        for (j, (i, quotient)) in auxiliary.clone().zip(quotient.iter_mut()).enumerate() {
            let (q, dividend) = (ring.modulus(i), &dividend.row(j)[part.clone()]);
            let quotient = &mut quotient[..part.len()];
            (kernels.subtract_rest)(q, quotient, Some(dividend), &*targets[j], tables.divide[j], None);
        }
        let quotients: ArrayVec<&[u64], MOST_SOURCES> =
            quotient.iter().map(|row| &row[..part.len()]).collect();
        let ahead = dividend.iter().map(|row| &row[next.clone()]);
        tables.from_auxiliary.convert_part(kernels, &quotients, out, ahead);
    });
    for rows in workers.into_iter().flatten().chain([rest, dividend]) {
        scratch.give_rows(rows);
    }
    let items = params.limbs(level).zip(limbs);
    parallel::for_each(degree, items, |(i, limb)| (kernels.ntt_forward)(ring.table(i), limb));
    out
}
