//! Decryption and parsing.

use std::hint::black_box;

use sotto_conformance::{Fixture, Testable};
use sotto_decrypt::Decryptor;
use sotto_kernels::{Quotient, Target};
use sotto_ring::{Wiped, wipe};
use sotto_wire::AnyCiphertext;

use crate::parts::{Limbs, Parts, Roofline, time};
use crate::turns::Turns;

/// Decryption in an integer scheme.
pub(crate) fn decryption<S: Testable>(f: &mut Fixture<S>) {
    let (params, values) = (f.params.clone(), f.values());
    let degree = params.degree();
    // Encrypted with the public key, as in the lab: its noise takes one more prime at n = 4096.
    let a = f.encrypt(&values, true);
    // The number of primes that the noise of a fresh ciphertext needs.
    let limbs = params.limbs(S::recovered_level(&params, a.level(), a.shape().noise)).len();
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
    let mut out = Wiped::zeros(degree);
    let quotients = vec![Quotient { constant: (1 << 51) - 1, shift: q.bits() + 26 }; limbs];
    let weights = vec![12_345; limbs + 1];
    Turns::rounds(&mut r, |turns| {
        for row in 0..limbs {
            let (i, secret) = (first + row, f.secret.expose_secret_eval().limb(first + row));
            turns.part("c0 + c1·s, a limb", || {
                (kernels.product_sum)(params.modulus(i), phase.row_mut(row), c1.limb(i), secret, c0.limb(i));
            });
        }
        for row in 0..limbs {
            turns.inverse(ring, first + row, rows.row_mut(row), phase.row(row));
        }
        let sources: Vec<&[u64]> = (0..=limbs).map(|row| rows.row(row)).collect();
        turns.part("quotient of the limbs", || {
            (kernels.round_quotient)(&mut out, &sources[..limbs], &quotients);
        });
        turns.part("limbs to the plain modulus", || {
            (kernels.convert)(&q, &mut out, &sources, q.bits(), &weights, 0);
        });
        turns.part("centred", || (kernels.centre)(&q, &mut out));
        turns.part("wiping secrets", || {
            phase.rows_mut().chain(rows.rows_mut()).for_each(|row| wipe(black_box(row)));
        });
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
    // The digest is the last part.
    let start = frame.len() - 32 - 2 * limbs.iter().map(|i| packed(*i)).sum::<usize>();
    let mut out = Limbs::new(2 * limbs.len(), degree, 1);
    r.part("residues unpacked, checked", 1, |_| {
        let mut at = start;
        for (row, i) in limbs.iter().chain(&limbs).enumerate() {
            let (q, bytes) = (params.modulus(*i), &frame[at..][..packed(*i)]);
            black_box((Target::best().streams.residues)(q, bytes, q.bits(), out.row_mut(row)));
            at += bytes.len();
        }
    });
    r.end();
}
