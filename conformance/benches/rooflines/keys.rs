//! Key generation, repeated limb by limb: see [`Turns`].

use std::hint::black_box;

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use sotto_conformance::{Fixture, Testable};
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::{Eval, Poly, SmallPoly, Wiped, wipe};
use sotto_rlwe::Injection;

use crate::parts::{Roofline, time, unseen};
use crate::switching::map_of;
use crate::turns::Turns;

/// Returns small numbers in Eval form modulo every prime of the keys.
fn transformed<S: Testable>(
    turns: &mut Turns,
    f: &Fixture<S>,
    injection: &Injection,
    limb: usize,
    out: &mut [u64],
) {
    turns.part("residues of small numbers, a limb", || injection.write_limb(&f.params, limb, out));
    turns.forward(f.params.ring(), limb, out);
}

fn unfilled<S: Testable>(turns: &mut Turns, f: &Fixture<S>) -> Poly<Eval> {
    turns.part("memory", || Poly::unfilled(f.params.ring(), f.params.key_limbs()))
}

/// Makes an encryption of zero with this error.
fn zero_encryption<S: Testable>(
    turns: &mut Turns,
    f: &Fixture<S>,
    error: &SmallPoly,
    number: &mut u64,
) -> Poly<Eval> {
    let secret = f.secret.expose_secret_eval();
    let seed = unseen(*number);
    *number += 1;
    let injection = turns.part("error's integers", || Injection::of_error(&f.params, error));
    let mut body = unfilled(turns, f);
    for limb in f.params.key_limbs() {
        transformed(turns, f, &injection, limb, body.limb_mut(limb));
        turns.part("mask expanded, times the secret", || {
            let mut mask = seed.limb(0, limb, f.params.modulus(limb));
            mask.subtract_product(body.limb_mut(limb), secret.limb(limb));
        });
    }
    body
}

/// A secret key and its public key.
pub(crate) fn key_generation<S: Testable>(f: &mut Fixture<S>) {
    let (params, degree) = (f.params.clone(), f.params.degree());
    let whole = time(|_| {
        let secret = SecretKey::<S>::derive(&DeviceSecret::generate(&mut f.rng), &params);
        black_box(secret.public_key(&mut f.rng));
    });
    let mut r = Roofline::of(&format!("{} n = {degree}: secret and public key", S::ID), whole);
    let (mut bytes, mut rng, mut number) = (vec![0u8; 8 * degree], ChaCha20Rng::from_seed([7; 32]), 0);
    let f = &*f;
    Turns::rounds(&mut r, |turns| {
        turns.part("ChaCha20: eight bytes a coefficient", || rng.fill_bytes(&mut bytes));
        turns.part("norm of the secret", || {
            let mut coefficients = Wiped::<f64>::zeros(degree);
            coefficients.iter_mut().for_each(|x| *x = 1.0);
            black_box(params.embedding().largest_slot_of(&mut coefficients));
        });
        let error = turns.part("error", || SmallPoly::centred_binomial(degree, &mut rng));
        let injection = Injection::of_small(&error);
        let mut secret = unfilled(turns, f);
        for limb in params.key_limbs() {
            transformed(turns, f, &injection, limb, secret.limb_mut(limb));
        }
        let body = zero_encryption(turns, f, &error, &mut number);
        turns.part("wiping the secret", || params.key_limbs().for_each(|limb| wipe(secret.limb_mut(limb))));
        turns.part("memory given back", || drop((secret, body)));
    });
    r.end();
}

/// Makes the relinearisation key, or with `steps` the Galois keys of these rotations.
pub(crate) fn evaluation_keys<S: Testable>(f: &mut Fixture<S>, steps: &[i32]) {
    let (params, degree) = (f.params.clone(), f.params.degree());
    let (relinearisation, count) = (steps.is_empty(), steps.len().max(1));
    let whole = time(|_| {
        drop(black_box(f.secret.evaluation_keys(relinearisation, steps, &mut f.rng).expect("keys")));
    });
    let name = if relinearisation { "relinearisation key".into() } else { format!("{count} Galois keys") };
    let mut r = Roofline::of(&format!("{} n = {degree}: {name}", S::ID), whole);
    let (mut rng, mut number) = (ChaCha20Rng::from_seed([7; 32]), 0);
    let f = &*f;
    let (kernels, secret, digits) =
        (params.ring().kernels(), f.secret.expose_secret_eval(), params.top_level());
    let digits: Vec<_> = params.digits(digits).collect();
    Turns::rounds(&mut r, |turns| {
        let mut keys = Vec::new();
        for _ in 0..count {
            let mut target = unfilled(turns, f);
            if relinearisation {
                for limb in params.key_limbs() {
                    turns.part("square of the secret, a limb", || {
                        let q = params.modulus(limb);
                        (kernels.product)(q, target.limb_mut(limb), secret.limb(limb), secret.limb(limb));
                    });
                }
            } else {
                let map = turns.part("map of an automorphism", || map_of(f));
                for limb in params.key_limbs() {
                    turns.part("a limb moved by the automorphism", || {
                        (kernels.permute)(target.limb_mut(limb), secret.limb(limb), map.map());
                    });
                }
            }
            let mut error = |_| turns.part("error", || SmallPoly::centred_binomial(degree, &mut rng));
            let errors: Vec<SmallPoly> = digits.iter().map(&mut error).collect();
            let mut message = Wiped::<u64>::zeros(degree);
            for (own, error) in digits.iter().zip(&errors) {
                let mut body = zero_encryption(turns, f, error, &mut number);
                for limb in own.clone() {
                    turns.part("plus a constant times the target", || {
                        let q = params.modulus(limb);
                        message.copy_from_slice(target.limb(limb));
                        (kernels.scale)(q, &mut message, q.factor(12_345));
                        (kernels.add)(q, body.limb_mut(limb), &message);
                    });
                }
                keys.push(body);
            }
            turns.part("wiping the target", || {
                params.key_limbs().for_each(|limb| wipe(target.limb_mut(limb)));
            });
        }
        turns.part("memory given back", || drop(keys));
    });
    r.end();
}
