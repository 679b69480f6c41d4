//! Products without relinearisation.

use sotto_conformance::{Fixture, Testable};
use sotto_ring::{Conversion, Scratch, Target, parallel};
use sotto_rlwe::Bfv;

use crate::parts::{Limbs, Parts, Roofline, SMALL, time};
use crate::turns::Turns;

/// The tensor product, limb by limb.
pub(crate) fn tensor<S: Testable>(r: &mut Roofline, parts: &Parts<'_, S>, count: usize) {
    let degree = parts.fixture.params.degree();
    let q = *parts.fixture.params.modulus(parts.limb);
    let [mut first, mut second, mut third] = [(); 3].map(|()| Limbs::new(parts.count, degree, 1));
    let row = |i: usize| parts.rows.row(i);
    r.part("tensor product of a limb", count, |i| {
        let out = [first.row_mut(i), second.row_mut(i), third.row_mut(i)];
        (Target::best().kernels.tensor)(
            &q,
            out,
            [row(4 * i), row(4 * i + 1)],
            [row(4 * i + 2), row(4 * i + 3)],
        );
    });
}

/// The product of BGV and CKKS, which is the tensor product alone.
pub(crate) fn multiply<S: Testable>(f: &mut Fixture<S>) {
    let (params, values, mut scratch) = (f.params.clone(), f.values(), Scratch::new());
    let (a, b) = (f.encrypt(&values, false), f.encrypt(&values, false));
    let whole = time(|_| {
        let c = f.evaluator.multiply_with(&a, &b, &mut scratch).expect("multiplies");
        f.evaluator.recycle(c, &mut scratch);
    });
    let mut r = Roofline::of(&format!("{} n = {}: multiply", S::ID, params.degree()), whole);
    let limbs = params.limbs(params.top_level()).len();
    tensor(&mut r, &Parts::on(f, 4 * limbs), limbs);
    r.end();
}

/// The product of BFV, over the auxiliary primes.
pub(crate) fn bfv(f: &mut Fixture<Bfv>) {
    let (params, values, mut scratch) = (f.params.clone(), f.values(), Scratch::new());
    let degree = params.degree();
    let (a, b) = (f.encrypt(&values, false), f.encrypt(&values, false));
    let whole = time(|_| {
        let c = f.evaluator.multiply_with(&a, &b, &mut scratch).expect("multiplies");
        f.evaluator.recycle(c, &mut scratch);
    });
    let mut r = Roofline::of(&format!("BFV n = {degree}: multiply"), whole);
    let (ring, data) = (params.ring(), params.limbs(params.top_level()));
    let auxiliary = data.end..ring.limb_count();
    let kernels = ring.kernels();
    let [to_auxiliary, to_data] = [(&data, &auxiliary), (&auxiliary, &data)]
        .map(|(from, to)| Conversion::new(&ring.moduli(from.clone()), &ring.moduli(to.clone())));
    let operands = [(); 4].map(|()| Limbs::new(data.len(), degree, SMALL));
    Turns::rounds(&mut r, |turns| {
        let mut extended = operands.each_ref().map(|operand| {
            let mut residues = scratch.rows(data.len(), degree);
            for (k, limb) in data.clone().enumerate() {
                turns.inverse(ring, limb, residues.row_mut(k), operand.row(k));
            }
            let mut rows = scratch.rows(auxiliary.len(), degree);
            turns.part("data limbs to auxiliary ones", || {
                to_auxiliary.convert_rows(kernels, &residues, &mut rows);
            });
            scratch.give_rows(residues);
            rows
        });
        let mut rests = [(); 3].map(|()| scratch.rows(data.len(), degree));
        let mut components = [(); 3].map(|()| scratch.rows(1, degree));
        for k in 0..data.len().max(auxiliary.len()) {
            if k < data.len() {
                let limb = data.start + k;
                let to = components.each_mut().map(|rows| rows.row_mut(0));
                let operand = |i: usize| operands[i].row(k);
                turns.part("tensor product of a limb", || {
                    let q = ring.modulus(limb);
                    (kernels.tensor)(q, to, [operand(0), operand(1)], [operand(2), operand(3)]);
                });
                for (component, rest) in components.iter().zip(&mut rests) {
                    turns.inverse(ring, limb, rest.row_mut(k), component.row(0));
                }
            }
            if k >= auxiliary.len() {
                continue;
            }
            let limb = auxiliary.start + k;
            extended.iter_mut().for_each(|rows| turns.forward(ring, limb, rows.row_mut(k)));
            let to = components.each_mut().map(|rows| rows.row_mut(0));
            let operand = |i: usize| extended[i].row(k);
            turns.part("tensor product of a limb", || {
                let q = ring.modulus(limb);
                (kernels.tensor)(q, to, [operand(0), operand(1)], [operand(2), operand(3)]);
            });
            for (component, rows) in components.iter().zip(&mut extended) {
                turns.inverse(ring, limb, rows.row_mut(k), component.row(0));
            }
        }
        components.into_iter().for_each(|rows| scratch.give_rows(rows));
        let mut dividends = extended.into_iter();
        let mut parts = [(); 2].map(|()| scratch.rows(auxiliary.len(), parallel::PART));
        let mut out = Vec::new();
        for rest in rests {
            let dividend = dividends.next().expect("four operands");
            let mut quotient = scratch.rows(data.len(), degree);
            for start in (0..degree).step_by(parallel::PART) {
                let part = start..start + parallel::PART;
                let next = if degree < parallel::LONG {
                    0..0
                } else {
                    part.end..degree.min(part.end + parallel::PART)
                };
                let [converted, quotients] = &mut parts;
                let rests: Vec<&[u64]> = rest.iter().map(|row| &row[part.clone()]).collect();
                let mut targets: Vec<&mut [u64]> = converted.iter_mut().collect();
                turns.part("data limbs to auxiliary ones, a part", || {
                    let ahead = rest.iter().map(|row| &row[next.clone()]);
                    to_auxiliary.convert_part(kernels, &rests, &mut targets, ahead);
                });
                turns.part("division by the data modulus, a part", || {
                    for (j, quotient) in quotients.iter_mut().enumerate() {
                        let q = ring.modulus(auxiliary.start + j);
                        let (by, dividend) = ([q.factor(3), q.factor(5)], &dividend.row(j)[part.clone()]);
                        (kernels.subtract_rest)(q, quotient, Some(dividend), &*targets[j], by, None);
                    }
                });
                let quotients: Vec<&[u64]> = quotients.iter().collect();
                let mut out: Vec<&mut [u64]> =
                    quotient.iter_mut().map(|row| &mut row[part.clone()]).collect();
                turns.part("auxiliary limbs to those of data, a part", || {
                    let ahead = dividend.iter().map(|row| &row[next.clone()]);
                    to_data.convert_part(kernels, &quotients, &mut out, ahead);
                });
            }
            [rest, dividend].into_iter().for_each(|rows| scratch.give_rows(rows));
            for (k, limb) in data.clone().enumerate() {
                turns.forward(ring, limb, quotient.row_mut(k));
            }
            out.push(quotient);
        }
        out.into_iter().chain(dividends).chain(parts).for_each(|rows| scratch.give_rows(rows));
    });
    r.end();
}
