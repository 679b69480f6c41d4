//! Key switching: rotations, hoisted ones, products with relinearisation.

use sotto_conformance::{Fixture, Testable};
use sotto_ring::{GaloisMap, Scratch};
use sotto_rlwe::{Multiplier, SchemeId};

use crate::key_switch::{Switched, drop_prime, key_switch};
use crate::parts::{Parts, Roofline, bandwidth, time};
use crate::product::tensor;

/// The sizes of a key switch at the top level.
struct Counts {
    data: usize,
    all: usize,
    digits: usize,
}

impl Counts {
    fn of<S: Testable>(f: &Fixture<S>) -> Self {
        let (params, top) = (&f.params, f.params.top_level());
        let (data, all) = (params.limbs(top).len(), params.extended_limbs(top).len());
        Self { data, all, digits: params.digits(top).count() }
    }
}

pub(crate) fn map_of<S: Testable>(f: &Fixture<S>) -> GaloisMap {
    let element = f.params.galois_element(1).expect("a step");
    GaloisMap::new(f.params.degree(), element).expect("an element")
}

pub(crate) fn rotation<S: Testable>(f: &mut Fixture<S>) {
    let (values, mut scratch, degree) = (f.values(), Scratch::new(), f.params.degree());
    let (a, map) = (f.encrypt(&values, false), map_of(f));
    let whole = time(|_| {
        let c = f.evaluator.rotate_with(&a, 1, &f.keys, &mut scratch).expect("rotates");
        f.evaluator.recycle(c, &mut scratch);
    });
    let mut r = Roofline::of(&format!("{} n = {degree}: rotate", S::ID), whole);
    key_switch(&mut r, f, Switched::Rotated(&map));
    r.end();
}

pub(crate) fn hoisted<S: Testable>(f: &mut Fixture<S>) {
    let (values, mut scratch, degree) = (f.values(), Scratch::new(), f.params.degree());
    let (a, map) = (f.encrypt(&values, false), map_of(f));
    let hoisted = f.evaluator.hoist(&a, &mut scratch).expect("decomposes");
    let whole = time(|_| {
        let c = f.evaluator.rotate_hoisted(&hoisted, 1, &f.keys, &mut scratch).expect("rotates");
        f.evaluator.recycle(c, &mut scratch);
    });
    let mut r = Roofline::of(&format!("{} n = {degree}: a further hoisted rotation", S::ID), whole);
    key_switch(&mut r, f, Switched::Hoisted(&map));
    r.end();
    let counts = Counts::of(f);
    // Both halves of the key, the digits, and the body.
    bandwidth(8 * degree * (3 * counts.digits * counts.all + counts.data), whole);
}

/// A product with relinearisation; in BFV the relinearisation alone, as the product has its own report.
pub(crate) fn product_and_relinearisation<S: Testable>(f: &mut Fixture<S>) {
    let (values, mut scratch, degree) = (f.values(), Scratch::new(), f.params.degree());
    let (a, b) = (f.encrypt(&values, false), f.encrypt(&values, false));
    let product = f.evaluator.multiply(&a, &b).expect("multiplies");
    let alone = S::ID == SchemeId::Bfv;
    let whole = time(|_| {
        let fresh = (!alone).then(|| f.evaluator.multiply_with(&a, &b, &mut scratch).expect("multiplies"));
        let product = fresh.as_ref().unwrap_or(&product);
        let c = f.evaluator.relinearise_with(product, &f.keys, &mut scratch).expect("relinearises");
        fresh.into_iter().for_each(|product| f.evaluator.recycle(product, &mut scratch));
        f.evaluator.recycle(c, &mut scratch);
    });
    let name = if alone { "relinearise" } else { "multiply and relinearise" };
    let mut r = Roofline::of(&format!("{} n = {degree}: {name}", S::ID), whole);
    if !alone {
        let data = Counts::of(f).data;
        tensor(&mut r, &Parts::on(f, 4 * data), data);
    }
    key_switch(&mut r, f, Switched::Product);
    r.end();
}

/// A division by the last prime: modulus switching, and in CKKS rescaling.
pub(crate) fn division<S: Testable>(f: &mut Fixture<S>) {
    let (values, mut scratch, degree) = (f.values(), Scratch::new(), f.params.degree());
    let mut a = f.encrypt(&values, false);
    if S::ID == SchemeId::Ckks {
        a = f
            .evaluator
            .multiply_plain(&a, &Multiplier::new(&f.params, &f.encode(&values, a.level()), a.level()))
            .expect("multiplies");
    }
    let whole = time(|_| {
        let c = f.evaluator.drop_modulus_with(&a, &mut scratch).expect("drops");
        f.evaluator.recycle(c, &mut scratch);
    });
    let mut r = Roofline::of(&format!("{} n = {degree}: drop a prime", S::ID), whole);
    drop_prime(&mut r, f, a.level());
    r.end();
}
