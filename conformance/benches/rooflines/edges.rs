//! Encryption, key generation, decryption, parsing.

use std::hint::black_box;

use rand_core::Rng as _;
use sotto_conformance::{Fixture, Testable};
use sotto_decrypt::Decryptor;
use sotto_kernels::Quotient;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::{Kernels, Seed, SmallPoly, Streams, Wiped, wipe};
use sotto_rlwe::{Bfv, Scheme as _};
use sotto_wire::AnyCiphertext;

use crate::parts::{Limbs, Parts, Roofline, time};

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
        seed.limb(0, limb, &q).subtract_product(parts.rows.row_mut(i), secret.limb(limb));
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
        (Kernels::best().add_product)(&q, parts.rows.row_mut(i), factor.row(0), key.row(i));
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
        seed.limb(0, limb, &q).subtract_product(parts.rows.row_mut(i), secret.limb(limb));
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
    let mut parts = Parts::new(f);
    let [c0, c1] = [&a.components()[0], &a.components()[1]];
    let (ring, first) = (params.ring(), parts.limb);
    let (q, kernels) = (*params.modulus(first), ring.kernels());
    let (mut phase, mut rows) = (Limbs::new(limbs, degree, 1), Limbs::new(limbs + 1, degree, 1));
    let (mut out, mut signed) = (Wiped::zeros(degree), Wiped::zeros(degree));
    let quotients = vec![Quotient { constant: (1 << 51) - 1, shift: q.bits() + 26 }; limbs];
    let weights = vec![12_345; limbs + 1];
    let names = [
        "c0 + c1·s",
        "inverse transforms",
        "quotient of the limbs",
        "limbs to the plain modulus",
        "centred",
        "wiping what was secret",
    ];
    r.parts_in_turn(&names, |number| match number {
        0 => (0..limbs).for_each(|row| {
            let (i, secret) = (first + row, f.secret.expose_secret_eval().limb(first + row));
            (kernels.product_sum)(params.modulus(i), phase.row_mut(row), c1.limb(i), secret, c0.limb(i));
        }),
        1 => (0..limbs).for_each(|row| {
            let table = ring.table(first + row);
            (kernels.ntt_inverse_from)(table, rows.row_mut(row), phase.row(row), table.inverse_scale(3));
        }),
        2 => {
            let sources: Vec<&[u64]> = (0..limbs).map(|row| rows.row(row)).collect();
            (kernels.round_quotient)(&mut out, &sources, &quotients);
        }
        3 => {
            let sources: Vec<&[u64]> = (0..=limbs).map(|row| rows.row(row)).collect();
            (kernels.convert)(&q, &mut out, &sources, q.bits(), &weights, 0);
        }
        4 => (kernels.centre)(&q, &mut signed, &out),
        _ => {
            (0..limbs).for_each(|row| wipe(black_box(phase.row_mut(row))));
            (0..=limbs).for_each(|row| wipe(black_box(rows.row_mut(row))));
        }
    });
    parts.slots(&mut r);
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
    let limbs: Vec<usize> = params.limbs(params.top_level()).collect();
    let packed = |i: usize| (degree * params.modulus(i).bits() as usize).div_ceil(8);
    // The digest comes last.
    let start = frame.len() - 32 - 2 * limbs.iter().map(|i| packed(*i)).sum::<usize>();
    let mut out = Limbs::new(2 * limbs.len(), degree, 1);
    r.part("residues unpacked, checked", 1, |_| {
        let mut at = start;
        for (row, i) in limbs.iter().chain(&limbs).enumerate() {
            let (q, bytes) = (params.modulus(*i), &frame[at..][..packed(*i)]);
            black_box((Streams::best().residues)(q, bytes, q.bits(), out.row_mut(row)));
            at += bytes.len();
        }
    });
    r.end();
}
