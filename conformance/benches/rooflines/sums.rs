//! Sums of two ciphertexts; their limit is memory bandwidth.

use sotto_conformance::{Fixture, Testable};
use sotto_ring::{Scratch, Target};

use crate::parts::{Limbs, Roofline, bandwidth, time};

/// A sum in a new ciphertext, and one in place.
pub(crate) fn sums<S: Testable>(f: &mut Fixture<S>) {
    let (params, values, mut scratch) = (f.params.clone(), f.values(), Scratch::new());
    let (a, b) = (f.encrypt(&values, false), f.encrypt(&values, false));
    let (degree, count) = (params.degree(), 2 * params.limbs(params.top_level()).len());
    let q = *params.modulus(params.limbs(params.top_level()).start);
    let [x, y] = [(); 2].map(|()| Limbs::new(count, degree, q.value()));
    let mut out = Limbs::new(count, degree, q.value());
    let whole = time(|_| {
        let c = f.evaluator.add_with(&a, &b, &mut scratch).expect("adds");
        f.evaluator.recycle(c, &mut scratch);
    });
    let mut r = Roofline::of(&format!("{} n = {degree}: add, new", S::ID), whole);
    r.part("sum of a limb", count, |i| (Target::best().kernels.sum)(&q, out.row_mut(i), x.row(i), y.row(i)));
    r.end();
    bandwidth(16 * degree * count, whole);

    let mut sum = a.clone();
    let whole =
        time(|_| f.evaluator.add_assign(&mut sum, &b, &mut scratch).unwrap_or_else(|_| sum = a.clone()));
    let mut r = Roofline::of(&format!("{} n = {degree}: add, in place", S::ID), whole);
    r.part("sum of a limb, in place", count, |i| (Target::best().kernels.add)(&q, out.row_mut(i), x.row(i)));
    r.end();
    bandwidth(16 * degree * count, whole);
}
