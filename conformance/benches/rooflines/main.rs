//! What the operations that take longest beside other libraries are made of: `cargo bench -p sotto-conformance --bench
//! rooflines`. Each part is timed alone, in buffers of the operation's own sizes, and the sum is held against the whole: what
//! it accounts for cannot be saved but by faster parts. Medians in microseconds. Where memory is the limit, the bytes that have
//! to be read, and at what rate a plain sum reads as many.

mod parts;

use std::hint::black_box;

use rand_core::Rng as _;
use sotto_conformance::{Fixture, Testable};
use sotto_decrypt::Decryptor;
use sotto_kernels::Quotient;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::{GaloisMap, Kernels, Scratch, Seed, SmallPoly, Streams, Wiped, wipe};
use sotto_rlwe::{Bfv, Bgv, Ckks, Scheme as _};
use sotto_wire::AnyCiphertext;

use parts::{Limbs, Parts, ROWS, Roofline, bandwidth, time};

fn encryption(f: &mut Fixture<Bfv>) {
    let (params, values) = (f.params.clone(), f.values());
    let degree = params.degree();
    let limbs = params.limbs(params.top_level()).len();
    let plain = Bfv::encode_slots(&params, &values, params.top_level()).expect("encodes");
    let whole = time(|_| drop(black_box(f.secret.encrypt(&plain, &mut f.rng))));
    let mut r = Roofline::of(&format!("BFV n = {degree}: encrypt, secret key"), whole);
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
    r.end();

    let whole = time(|_| drop(black_box(f.public.encrypt(&plain, &mut f.rng))));
    let mut r = Roofline::of(&format!("BFV n = {degree}: encrypt, public key"), whole);
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
    r.end();
}

fn key_generation(f: &mut Fixture<Bfv>) {
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
    r.part("mask expanded again, for the public key", limbs, |_| {
        drop(black_box(seed.expand(0, params.ring(), limb..limb + 1)));
    });
    parts.wiped(&mut r, 3);
    r.end();
}

fn hoisted<S: Testable>(f: &mut Fixture<S>) {
    let (params, values, mut scratch) = (f.params.clone(), f.values(), Scratch::new());
    let (degree, top) = (params.degree(), params.top_level());
    let a = f.encrypt(&values, false);
    let hoisted = f.evaluator.hoist(&a, &mut scratch).expect("decomposes");
    let whole = time(|_| {
        let c = f.evaluator.rotate_hoisted(&hoisted, 1, &f.keys, &mut scratch).expect("rotates");
        f.evaluator.recycle(c, &mut scratch);
    });
    let mut r = Roofline::of(&format!("{} n = {degree}: a further hoisted rotation", S::ID), whole);
    let (data, all) = (params.limbs(top).len(), params.extended_limbs(top).len());
    let (special, digits) = (all - data, params.digits(top).count());
    let mut parts = Parts::new(f);
    let q = *params.modulus(parts.limb);
    let map = GaloisMap::new(degree, params.galois_element(1).expect("a step")).expect("an element");
    let (moved, keys) =
        (Limbs::new(digits * all, degree, q.value()), Limbs::new(2 * digits * all, degree, q.value()));
    let mut out = [vec![0; degree], vec![0; degree]];
    // One limb after another, over as much memory as the operation reads.
    r.part("digits times key, one limb", all, |i| {
        let limb = i % all;
        let digit = |d: usize| moved.row(d * all + limb);
        let key = |d: usize| [keys.row(2 * d * all + limb), keys.row((2 * d + 1) * all + limb)];
        let (digits, keys): (Vec<_>, Vec<_>) = (0..digits).map(|d| (digit(d), key(d))).unzip();
        let [first, second] = &mut out;
        (Kernels::best().inner_products)(&q, [first, second], &digits, &keys, Some(map.map()));
    });
    parts.transforms(&mut r, 2 * data, 2 * special);
    let sources: Vec<&[u64]> = (0..special + usize::from(special > 1)).map(|i| parts.rows.row(i)).collect();
    let weights = vec![12_345; sources.len()];
    r.part("special limbs to one limb", 2 * data, |_| {
        (Kernels::best().convert)(&q, &mut out[0], &sources, q.bits(), &weights, 0);
    });
    if special > 1 {
        let shift = q.bits() + 26;
        let quotients = vec![Quotient { constant: (1 << 51) - 1, shift }; special];
        r.part("quotient of the special limbs", 2, |_| {
            (Kernels::best().round_quotient)(&mut out[1], &sources[..special], &quotients);
        });
    }
    let [first, second] = &mut out;
    r.part("division by the special limbs", 2 * data, |i| {
        let (sum, addend) = (parts.rows.row(i % ROWS), parts.rows.row((i + 1) % ROWS));
        (Kernels::best().subtract_rest)(&q, first, sum, second, [q.factor(3), q.factor(5)], Some(addend));
    });
    r.part("moving the first component", data, |i| {
        (Kernels::best().permute)(first, parts.rows.row(i % ROWS), map.map());
    });
    r.end();
    bandwidth(8 * degree * (3 * digits * all + data), whole);
}

fn decryption(f: &mut Fixture<Bfv>) {
    let (params, values) = (f.params.clone(), f.values());
    let (degree, top) = (params.degree(), params.top_level());
    let limbs = params.limbs(top).len();
    let a = f.encrypt(&values, false);
    let decryptor = Decryptor::new(&f.secret);
    let whole = time(|_| {
        let opened = decryptor.decrypt(&a).expect("decrypts");
        drop(black_box(Bfv::decode_slots(&params, &opened)));
    });
    let mut r = Roofline::of(&format!("BFV n = {degree}: decrypt and decode"), whole);
    let mut parts = Parts::new(f);
    let q = *params.modulus(parts.limb);
    let [c0, c1] = [&a.components()[0], &a.components()[1]];
    let (limb, mut out) = (parts.limb, vec![0; degree]);
    r.part("c0 + c1·s, one limb", limbs, |i| {
        let i = limb + i % limbs;
        let secret = f.secret.expose_secret_eval().limb(i);
        (Kernels::best().product_sum)(params.modulus(i), &mut out, c1.limb(i), secret, c0.limb(i));
    });
    parts.transforms(&mut r, 1, limbs);
    let sources: Vec<&[u64]> = (0..=limbs).map(|i| parts.rows.row(i % ROWS)).collect();
    let weights = vec![12_345; sources.len()];
    let quotients = vec![Quotient { constant: (1 << 51) - 1, shift: q.bits() + 26 }; limbs];
    r.part("quotient", 1, |_| (Kernels::best().round_quotient)(&mut out, &sources[..limbs], &quotients));
    r.part("to the plain modulus", 1, |_| {
        (Kernels::best().convert)(&q, &mut out, &sources, q.bits(), &weights, 0);
    });
    let mut signed = parts.signed.clone();
    r.part("centred, and residues again", 2, |_| {
        (Kernels::best().centre)(&q, &mut signed, sources[0]);
        (Kernels::best().from_signed)(&q, &mut out, &signed);
    });
    let map = GaloisMap::new(degree, 3).expect("an element");
    r.part("slots in order", 1, |_| (Kernels::best().permute)(&mut out, sources[0], map.map()));
    let mut wiped = vec![0u64; (2 * limbs + 4) * degree];
    r.part("wiping what was secret", 1, |_| wipe(black_box(&mut wiped)));
    r.end();
}

fn parsing<S: Testable>(f: &mut Fixture<S>) {
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

fn main() {
    let degrees: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    for degree in if degrees.is_empty() { vec![4096, 8192, 16384, 32768] } else { degrees } {
        let mut f = Fixture::<Bfv>::default_chain(degree, 1);
        if degree <= 8192 {
            encryption(&mut f);
            key_generation(&mut f);
            decryption(&mut f);
        }
        parsing(&mut f);
        hoisted(&mut f);
        hoisted(&mut Fixture::<Bgv>::default_chain(degree, 1));
        hoisted(&mut Fixture::<Ckks>::default_chain(degree, 1));
    }
}
