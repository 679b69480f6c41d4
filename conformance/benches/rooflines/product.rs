//! Products without relinearisation.

use sotto_conformance::{Fixture, Testable};
use sotto_ring::{Conversion, Kernels, Scratch};
use sotto_rlwe::Bfv;

use crate::parts::{Limbs, Parts, Roofline, time};

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
    let (limbs, others) = (data.len(), auxiliary.len());
    let [data, auxiliary] = [data, auxiliary].map(|limbs| ring.moduli(limbs));
    // As many rows as an operand and what it is extended by: longer than the cache where the operation's are.
    let mut parts = Parts::on(f, 4 * (limbs + others));
    parts.transforms(&mut r, 4 * others + 3 * limbs, 4 * limbs + 3 * (limbs + others));
    tensor(&mut r, &parts, limbs + others);
    for (name, from, to, count) in [
        ("data limbs to auxiliary ones", &data, &auxiliary, 7),
        ("auxiliary limbs to those of data", &auxiliary, &data, 3),
    ] {
        let conversion = Conversion::new(from, to);
        let mut rows = conversion.rows(degree, &mut scratch);
        (0..from.len()).for_each(|i| rows.row_mut(i).copy_from_slice(parts.rows.row(i)));
        let quotients = conversion.complete(ring.kernels(), rows);
        let mut out = scratch.rows(to.len(), degree);
        r.part(name, count, |_| conversion.write_rows(ring.kernels(), &quotients, &mut out));
        scratch.give_rows(out);
        quotients.give(&mut scratch);
        parts.quotients(&mut r, count, from.len(), false);
    }
    let q = *params.modulus(parts.limb);
    let mut out = Limbs::new(parts.count, degree, 1);
    r.part("division by the data modulus", 3 * others, |i| {
        let row = |i: usize| parts.rows.row(i);
        let out = out.row_mut(i);
        (Kernels::best().subtract_rest)(
            &q,
            out,
            row(2 * i),
            row(2 * i + 1),
            [q.factor(3), q.factor(5)],
            None,
        );
    });
    r.end();
}
