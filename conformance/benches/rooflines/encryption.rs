//! Encoding, encryption and key generation.

use std::hint::black_box;

use rand_core::Rng as _;
use sotto_conformance::{Fixture, Testable};
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::{Kernels, SmallPoly, Wiped};
use sotto_rlwe::{Injection, SchemeId};

use crate::parts::{Limbs, Parts, Roofline, time};

pub(crate) fn encryption<S: Testable>(f: &mut Fixture<S>) {
    let (params, values) = (f.params.clone(), f.values());
    let (degree, top) = (params.degree(), params.top_level());
    let limbs = params.limbs(top);
    let encode = || S::encode_slots(&params, &values, top).expect("encodes");
    let plain = encode();
    let whole = time(|_| drop(black_box(f.secret.encrypt(&plain, &mut f.rng))));
    let mut r = Roofline::of(&format!("{} n = {degree}: encrypt, secret key", S::ID), whole);
    r.part("error", 1, |_| drop(black_box(SmallPoly::centred_binomial(degree, &mut f.rng))));
    let secret = f.secret.expose_secret_eval().clone();
    let error = SmallPoly::centred_binomial(degree, &mut f.rng);
    let injected = || Injection::of_encryption(&params, &plain, top, S::fresh_scaling(), &error);
    let injection = injected();
    r.part("message and error", 1, |_| drop(black_box(injected())));
    let mut parts = Parts::on(f, limbs.len());
    let write = |i: usize, rows: &mut Limbs| {
        injection.write_limb(&params, limbs.start + i % limbs.len(), rows.row_mut(i));
    };
    r.part("their residues, a limb", limbs.len(), |i| write(i, &mut parts.rows));
    parts.transforms_of(&mut r, limbs.clone());
    let run = |i: usize| {
        let limb = limbs.start + i % limbs.len();
        parts.mask(limb, &secret, i);
    };
    r.part("mask expanded, times the secret", limbs.len(), run);
    r.end();

    let whole = time(|_| drop(black_box(f.secret.encrypt(&encode(), &mut f.rng))));
    let rest = r.whole;
    let mut r = Roofline::of(&format!("{} n = {degree}: encode, encrypt, secret key", S::ID), whole);
    r.part("encoding", 1, |_| drop(black_box(encode())));
    r.known("encryption", rest);
    r.end();

    let whole = time(|_| drop(black_box(f.public.encrypt(&plain, &mut f.rng))));
    let mut r = Roofline::of(&format!("{} n = {degree}: encrypt, public key", S::ID), whole);
    r.part("error", 2, |_| drop(black_box(SmallPoly::centred_binomial(degree, &mut f.rng))));
    r.part("ternary polynomial", 1, |_| drop(black_box(SmallPoly::fresh_ternary(degree, &mut f.rng))));
    r.part("message and error", 1, |_| drop(black_box(injected())));
    let (small, other) = (SmallPoly::fresh_ternary(degree, &mut f.rng), Injection::of_error(&params, &error));
    r.part("error alone", 1, |_| drop(black_box(Injection::of_error(&params, &error))));
    r.part("ternary alone", 1, |_| drop(black_box(Injection::of_small(&small))));
    let (small, count) = (Injection::of_small(&small), limbs.len());
    let mut parts = Parts::on(f, 2 * count);
    for (name, injection) in [("message", &injection), ("error", &other), ("ternary", &small)] {
        r.part(&format!("residues of the {name}, a limb"), count, |i| {
            injection.write_limb(&params, limbs.start + i % count, parts.rows.row_mut(i));
        });
    }
    (0..3).for_each(|_| parts.transforms_of(&mut r, limbs.clone()));
    let q = *params.modulus(parts.limb);
    let key = Limbs::new(2 * count, degree, q.value());
    let factor = Limbs::new(1, degree, q.value());
    r.part("plus a product with the key", 2 * count, |i| {
        (Kernels::best().add_product)(&q, parts.rows.row_mut(i), factor.row(0), key.row(i));
    });
    r.end();

    let whole = time(|_| drop(black_box(f.public.encrypt(&encode(), &mut f.rng))));
    let rest = r.whole;
    let mut r = Roofline::of(&format!("{} n = {degree}: encode, encrypt, public key", S::ID), whole);
    r.part("encoding", 1, |_| drop(black_box(encode())));
    r.known("encryption", rest);
    r.end();
}

/// What encoding is made of: of integers a transform modulo t, of real numbers one of the embedding and one for the norm of what
/// was rounded off.
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
        r.part("norm of what was rounded off", 1, |_| {
            black_box(embedding.largest_slot_of(&mut exact));
            exact.fill(0.25);
        });
        Parts::new(f).wiped(&mut r, 2);
    } else {
        Parts::new(f).slots(&mut r);
    }
    r.end();
}

pub(crate) fn key_generation<S: Testable>(f: &mut Fixture<S>) {
    let (params, degree) = (f.params.clone(), f.params.degree());
    let whole = time(|_| {
        let secret = SecretKey::<S>::derive(&DeviceSecret::generate(&mut f.rng), &params);
        black_box(secret.public_key(&mut f.rng));
    });
    let mut r = Roofline::of(&format!("{} n = {degree}: secret and public key", S::ID), whole);
    let mut bytes = vec![0u8; 8 * degree];
    r.part("ChaCha20: eight bytes a coefficient", 1, |_| f.rng.fill_bytes(&mut bytes));
    r.part("error", 1, |_| drop(black_box(SmallPoly::centred_binomial(degree, &mut f.rng))));
    let mut coefficients = Wiped::<f64>::zeros(degree);
    r.part("norm of the secret", 1, |_| {
        coefficients.iter_mut().for_each(|x| *x = 1.0);
        black_box(params.embedding().largest_slot_of(&mut coefficients));
    });
    let limbs = params.key_limbs();
    let secret = f.secret.expose_secret_eval().clone();
    let error = SmallPoly::centred_binomial(degree, &mut f.rng);
    let injection = Injection::of_error(&params, &error);
    r.part("error's integers", 1, |_| drop(black_box(Injection::of_error(&params, &error))));
    let mut parts = Parts::on(f, 2 * limbs.len());
    r.part("residues, a limb", 2 * limbs.len(), |i| {
        injection.write_limb(&params, limbs.start + i % limbs.len(), parts.rows.row_mut(i));
    });
    (0..2).for_each(|_| parts.transforms_of(&mut r, limbs.clone()));
    r.part("mask expanded, times the secret", limbs.len(), |i| {
        let limb = limbs.start + i % limbs.len();
        parts.mask(limb, &secret, i);
    });
    r.end();
}
