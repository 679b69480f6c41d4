//! Encryption, key generation, decryption, parsing.

use std::hint::black_box;

use rand_core::Rng as _;
use sotto_conformance::{Fixture, Testable};
use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::{Kernels, Seed, SmallPoly, Streams, Wiped, wipe};
use sotto_rlwe::{Bfv, Scheme as _};
use sotto_wire::AnyCiphertext;

use crate::parts::{Limbs, Parts, ROWS, Roofline, time};

pub(crate) fn encryption(f: &mut Fixture<Bfv>) {
    let (params, values) = (f.params.clone(), f.values());
    let degree = params.degree();
    let limbs = params.limbs(params.top_level()).len();
    let encode = || Bfv::encode_slots(&params, &values, params.top_level()).expect("encodes");
    let whole = time(|_| drop(black_box(f.secret.encrypt(&encode(), &mut f.rng))));
    let mut r = Roofline::of(&format!("BFV n = {degree}: encode, encrypt, secret key"), whole);
    r.part("error", 1, |_| drop(black_box(SmallPoly::centred_binomial(degree, &mut f.rng))));
    let (seed, secret) = (Seed::random(&mut f.rng), f.secret.expose_secret_eval().clone());
    let mut parts = Parts::new(f);
    parts.message(&mut r);
    parts.add_scaled(&mut r, 1);
    parts.lifts(&mut r, limbs);
    parts.scales(&mut r, limbs);
    parts.transforms(&mut r, limbs, 0);
    let (limb, q) = (parts.limb, *params.modulus(parts.limb));
    let run = |i: usize| {
        seed.limb(0, limb, &q).subtract_product(parts.rows.row_mut(i % ROWS), secret.limb(limb));
    };
    r.part("mask expanded, times the secret", limbs, run);
    parts.wiped(&mut r, 2);
    parts.slots(&mut r);
    r.end();

    let whole = time(|_| drop(black_box(f.public.encrypt(&encode(), &mut f.rng))));
    let mut r = Roofline::of(&format!("BFV n = {degree}: encode, encrypt, public key"), whole);
    r.part("error", 2, |_| drop(black_box(SmallPoly::centred_binomial(degree, &mut f.rng))));
    r.part("ternary polynomial", 1, |_| drop(black_box(SmallPoly::fresh_ternary(degree, &mut f.rng))));
    let mut parts = Parts::new(f);
    parts.message(&mut r);
    parts.add_scaled(&mut r, 2);
    parts.lifts(&mut r, 3 * limbs);
    parts.scales(&mut r, limbs);
    parts.transforms(&mut r, 3 * limbs, 0);
    let key = Limbs::new(2 * limbs, degree, q.value());
    let factor = Limbs::new(1, degree, q.value());
    let run = |i: usize| {
        (Kernels::best().add_product)(
            &q,
            parts.rows.row_mut(i % ROWS),
            factor.row(0),
            key.row(i % (2 * limbs)),
        );
    };
    r.part("plus a product with the key", 2 * limbs, run);
    parts.wiped(&mut r, 4);
    parts.slots(&mut r);
    r.end();
}

pub(crate) fn key_generation(f: &mut Fixture<Bfv>) {
    let (params, degree) = (f.params.clone(), f.params.degree());
    let run = |f: &mut Fixture<Bfv>| {
        let secret = SecretKey::<Bfv>::derive(&DeviceSecret::generate(&mut f.rng), &params);
        black_box(secret.public_key(&mut f.rng));
    };
    let whole = time(|_| run(f));
    let mut r = Roofline::of(&format!("BFV n = {degree}: secret and public key"), whole);
    let mut bytes = vec![0u8; 8 * degree];
    r.part("ChaCha20: eight bytes a coefficient", 1, |_| f.rng.fill_bytes(&mut bytes));
    r.part("error", 1, |_| drop(black_box(SmallPoly::centred_binomial(degree, &mut f.rng))));
    let mut coefficients = Wiped::<f64>::zeros(degree);
    r.part("norm of the secret", 1, |_| {
        coefficients.iter_mut().for_each(|x| *x = 1.0);
        black_box(params.embedding().largest_slot_of(&mut coefficients));
    });
    let limbs = params.key_limbs().len();
    let (seed, secret) = (Seed::random(&mut f.rng), f.secret.expose_secret_eval().clone());
    let mut parts = Parts::new(f);
    parts.lifts(&mut r, 2 * limbs);
    parts.transforms(&mut r, 2 * limbs, 0);
    let (limb, q) = (parts.limb, *params.modulus(parts.limb));
    let run = |i: usize| {
        seed.limb(0, limb, &q).subtract_product(parts.rows.row_mut(i % ROWS), secret.limb(limb));
    };
    r.part("mask expanded, times the secret", limbs, run);
    parts.wiped(&mut r, 3);
    r.end();
}

/// An integer scheme's.
pub(crate) fn decryption<S: Testable>(f: &mut Fixture<S>) {
    let (params, values) = (f.params.clone(), f.values());
    let (degree, limbs) = (params.degree(), params.limbs(params.top_level()).len());
    let a = f.encrypt(&values, false);
    let decryptor = Decryptor::new(&f.secret);
    let whole = time(|_| {
        let opened = decryptor.decrypt(&a).expect("decrypts");
        drop(black_box(S::decode_slots(&params, &opened)));
    });
    let mut r = Roofline::of(&format!("{} n = {degree}: decrypt and decode", S::ID), whole);
    let mut parts = Parts::on(f, ROWS.max(limbs));
    let [c0, c1] = [&a.components()[0], &a.components()[1]];
    let mut out = Limbs::new(limbs, degree, 1);
    r.part("c0 + c1·s, one limb", limbs, |i| {
        let (row, i) = (i % limbs, parts.limb + i % limbs);
        let secret = f.secret.expose_secret_eval().limb(i);
        (Kernels::best().product_sum)(params.modulus(i), out.row_mut(row), c1.limb(i), secret, c0.limb(i));
    });
    parts.transforms(&mut r, 0, limbs);
    parts.quotients(&mut r, 1, limbs, false);
    parts.conversions(&mut r, 1, limbs, false);
    let (q, mut signed) = (*params.modulus(parts.limb), Wiped::copy(&parts.signed));
    r.part("centred", 1, |_| (Kernels::best().centre)(&q, &mut signed, parts.rows.row(0)));
    parts.slots(&mut r);
    let mut wiped = vec![0u64; (2 * limbs + 4) * degree];
    r.part("wiping what was secret", 1, |_| wipe(black_box(&mut wiped)));
    r.end();
}

pub(crate) fn parsing<S: Testable>(f: &mut Fixture<S>) {
    let (params, values) = (f.params.clone(), f.values());
    let frame = AnyCiphertext::Expanded(f.encrypt(&values, false)).write();
    let whole = time(|_| drop(black_box(AnyCiphertext::read(&frame, &params).expect("reads"))));
    let degree = params.degree();
    let mut r = Roofline::of(&format!("{} n = {degree}: parse {} bytes", S::ID, frame.len()), whole);
    r.part("BLAKE3 of the frame", 1, |_| {
        black_box(blake3::hash(&frame));
    });
    let limbs = params.limbs(params.top_level());
    let mut out = vec![0; degree];
    for i in limbs {
        let q = params.modulus(i);
        let bytes = &frame[200..][..(degree * q.bits() as usize).div_ceil(8)];
        r.part("residues of a limb unpacked, checked", 2, |_| {
            black_box((Streams::best().residues)(q, bytes, q.bits(), &mut out));
        });
    }
    r.end();
}
