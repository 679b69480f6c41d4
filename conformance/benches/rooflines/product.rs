//! Products without relinearisation.

use sotto_conformance::{Fixture, Testable};
use sotto_ring::{Conversion, Kernels, Scratch};
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
        (Kernels::best().tensor)(&q, out, [row(4 * i), row(4 * i + 1)], [row(4 * i + 2), row(4 * i + 3)]);
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

/// BFV's, over the auxiliary primes.
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
    let mut out = Vec::new();
    Turns::rounds(&mut r, |turns| {
        let extended = operands.each_ref().map(|operand| {
            let mut rows = to_auxiliary.rows(degree, &mut scratch);
            for (k, limb) in data.clone().enumerate() {
                turns.inverse(ring, limb, rows.row_mut(k), operand.row(k));
            }
            let quotients = turns.complete(ring, &to_auxiliary, rows);
            let mut rows = scratch.rows(auxiliary.len(), degree);
            turns.part("data limbs to auxiliary ones", || {
                to_auxiliary.write_rows(kernels, &quotients, &mut rows);
            });
            auxiliary.clone().zip(rows.iter_mut()).for_each(|(limb, row)| turns.forward(ring, limb, row));
            quotients.give(&mut scratch);
            rows
        });
        let mut rests = [(); 3].map(|()| to_auxiliary.rows(degree, &mut scratch));
        let mut dividends = [(); 3].map(|()| scratch.rows(auxiliary.len(), degree));
        let mut components = [(); 3].map(|()| scratch.rows(1, degree));
        for (k, limb) in data.clone().chain(auxiliary.clone()).enumerate() {
            let to = components.each_mut().map(|rows| rows.row_mut(0));
            let operand = |i: usize| match k.checked_sub(data.len()) {
                Some(j) => extended[i].row(j),
                None => operands[i].row(k),
            };
            turns.part("tensor product of a limb", || {
                let q = ring.modulus(limb);
                (kernels.tensor)(q, to, [operand(0), operand(1)], [operand(2), operand(3)]);
            });
            for (component, (rest, dividend)) in components.iter().zip(rests.iter_mut().zip(&mut dividends)) {
                let to = match k.checked_sub(data.len()) {
                    Some(j) => dividend.row_mut(j),
                    None => rest.row_mut(k),
                };
                turns.inverse(ring, limb, to, component.row(0));
            }
        }
        extended.into_iter().chain(components).for_each(|rows| scratch.give_rows(rows));
        for (rest, dividend) in rests.into_iter().zip(dividends) {
            let rests = turns.complete(ring, &to_auxiliary, rest);
            let mut quotient = to_data.rows(degree, &mut scratch);
            let mut rest = scratch.rows(auxiliary.len(), degree);
            turns
                .part("data limbs to auxiliary ones", || to_auxiliary.write_rows(kernels, &rests, &mut rest));
            for (j, limb) in auxiliary.clone().enumerate() {
                let q = ring.modulus(limb);
                let by = [q.factor(3), q.factor(5)];
                turns.part("division by the data modulus", || {
                    (kernels.subtract_rest)(q, quotient.row_mut(j), dividend.row(j), rest.row(j), by, None);
                });
            }
            [rest, dividend].into_iter().for_each(|rows| scratch.give_rows(rows));
            rests.give(&mut scratch);
            let quotients = turns.complete(ring, &to_data, quotient);
            let mut rows = scratch.rows(data.len(), degree);
            turns.part("auxiliary limbs to those of data", || {
                to_data.write_rows(kernels, &quotients, &mut rows);
            });
            for (k, limb) in data.clone().enumerate() {
                turns.forward(ring, limb, rows.row_mut(k));
            }
            quotients.give(&mut scratch);
            out.push(rows);
        }
        out.drain(..).for_each(|rows| scratch.give_rows(rows));
    });
    r.end();
}
