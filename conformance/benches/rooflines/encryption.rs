//! Encoding and encryption.

use std::hint::black_box;

use sotto_conformance::{Fixture, Testable};
use sotto_ring::{SmallPoly, Target, Wiped};
use sotto_rlwe::{Injection, Plaintext, SchemeId};

use crate::parts::{Limbs, Parts, Roofline, time};

pub(crate) fn encryption<S: Testable>(f: &mut Fixture<S>) {
    let (params, values) = (f.params.clone(), f.values());
    let encode = || S::encode_slots(&params, &values, params.top_level()).expect("encodes");
    let alone = by_secret_key(f, &encode());
    let whole = time(|_| drop(black_box(f.secret.encrypt(&encode(), &mut f.rng))));
    encoded(f, "secret", whole, alone, encode);
    let alone = by_public_key(f, &encode());
    let whole = time(|_| drop(black_box(f.public.encrypt(&encode(), &mut f.rng))));
    encoded(f, "public", whole, alone, encode);
}

/// Times encoding before an encryption whose own time is given.
fn encoded<S: Testable>(
    f: &Fixture<S>,
    key: &str,
    whole: f64,
    alone: f64,
    encode: impl Fn() -> Plaintext<S>,
) {
    let name = format!("{} n = {}: encode, encrypt, {key} key", S::ID, f.params.degree());
    let mut r = Roofline::of(&name, whole);
    r.part("encoding", 1, |_| drop(black_box(encode())));
    r.add("encryption", 1, alone);
    r.end();
}

fn by_secret_key<S: Testable>(f: &mut Fixture<S>, plain: &Plaintext<S>) -> f64 {
    let (params, degree) = (f.params.clone(), f.params.degree());
    let whole = time(|_| drop(black_box(f.secret.encrypt(plain, &mut f.rng))));
    let mut r = Roofline::of(&format!("{} n = {degree}: encrypt, secret key", S::ID), whole);
    r.part("error", 1, |_| drop(black_box(SmallPoly::centred_binomial(degree, &mut f.rng))));
    let error = SmallPoly::centred_binomial(degree, &mut f.rng);
    let limbs = params.limbs(params.top_level());
    let mut parts = Parts::on(f, limbs.len());
    let injection = injected(&mut r, &parts, plain, &error);
    parts.residues_of(&mut r, "both", &injection, &limbs, limbs.len());
    parts.transforms_of(&mut r, &limbs, limbs.len());
    parts.masks_of(&mut r, &limbs, limbs.len());
    r.end();
    whole
}

fn by_public_key<S: Testable>(f: &mut Fixture<S>, plain: &Plaintext<S>) -> f64 {
    let (params, degree) = (f.params.clone(), f.params.degree());
    let whole = time(|_| drop(black_box(f.public.encrypt(plain, &mut f.rng))));
    let mut r = Roofline::of(&format!("{} n = {degree}: encrypt, public key", S::ID), whole);
    r.part("error", 2, |_| drop(black_box(SmallPoly::centred_binomial(degree, &mut f.rng))));
    r.part("ternary polynomial", 1, |_| drop(black_box(SmallPoly::fresh_ternary(degree, &mut f.rng))));
    let error = SmallPoly::centred_binomial(degree, &mut f.rng);
    let ternary = SmallPoly::fresh_ternary(degree, &mut f.rng);
    r.part("error alone", 1, |_| drop(black_box(Injection::of_error(&params, &error))));
    r.part("ternary alone", 1, |_| drop(black_box(Injection::of_small(&ternary))));
    let limbs = params.limbs(params.top_level());
    let mut parts = Parts::on(f, 2 * limbs.len());
    let message = injected(&mut r, &parts, plain, &error);
    let (error, ternary) = (Injection::of_error(&params, &error), Injection::of_small(&ternary));
    for (what, injection) in [("both", &message), ("the error", &error), ("the ternary", &ternary)] {
        parts.residues_of(&mut r, what, injection, &limbs, limbs.len());
    }
    parts.transforms_of(&mut r, &limbs, 3 * limbs.len());
    let q = *params.modulus(parts.limb);
    let (key, factor) = (Limbs::new(2 * limbs.len(), degree, q.value()), Limbs::new(1, degree, q.value()));
    r.part("plus a product with the key", 2 * limbs.len(), |i| {
        (Target::best().kernels.add_product)(&q, parts.rows.row_mut(i), factor.row(0), key.row(i));
    });
    r.end();
    whole
}

/// Returns message and error together.
fn injected<S: Testable>(
    r: &mut Roofline,
    parts: &Parts<'_, S>,
    plain: &Plaintext<S>,
    error: &SmallPoly,
) -> Injection {
    let params = &parts.fixture.params;
    let make = || Injection::of_encryption(params, plain, params.top_level(), S::fresh_scaling(), error);
    r.part("message and error", 1, |_| drop(black_box(make())));
    make()
}

/// The parts of encoding: for integers a transform modulo t; for real numbers a transform of the embedding, and another
/// for the norm of the rounding error.
pub(crate) fn encoding<S: Testable>(f: &mut Fixture<S>) {
    let (params, values) = (f.params.clone(), f.values());
    let degree = params.degree();
    let whole = time(|_| drop(black_box(S::encode_slots(&params, &values, params.top_level()))));
    let mut r = Roofline::of(&format!("{} n = {degree}: encode", S::ID), whole);
    if S::ID == SchemeId::Ckks {
        let slots: Vec<f64> = (0..degree / 2).map(|i| (i as f64).sin()).collect();
        let embedding = params.embedding();
        r.part("range of the values", 1, |_| {
            black_box((sotto_ring::all_within(&slots, 2.0), sotto_ring::largest(&slots)));
        });
        r.part("slots to coefficients", 1, |_| drop(black_box(embedding.real_to_coefficients(&slots, 1e9))));
        let (mut exact, mut out) = (embedding.real_to_coefficients(&slots, 1e9), Wiped::zeros(degree));
        r.part("rounded", 1, |_| sotto_ring::round_off(&mut exact, &mut out));
        r.part("norm of the rounding error", 1, |_| {
            black_box(embedding.largest_slot_of(&mut exact));
            exact.fill(0.25);
        });
        Parts::new(f).wiped(&mut r, 2);
    } else {
        Parts::new(f).slots(&mut r);
    }
    r.end();
}
