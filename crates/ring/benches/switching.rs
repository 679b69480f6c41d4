//! Times the choices of a key switch (docs/adr/0032-key-switching.md): to read the random half of a key or to expand
//! it from its seed, and to convert the digits to one limb at a time or to two.
//!
//! `cargo bench -p sotto-ring --bench switching` prints the least milliseconds of several rounds that take turns. *One
//! key* is read again and again; *keys in turn* come from memory, as a cloud's do.
#![allow(missing_docs, clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Instant;

use sotto_ring::{Conversion, Eval, Poly, Ring, Scratch, Seed, parallel, primes};

/// Bytes of the keys in turn: more than any cache holds.
const MEMORY: usize = 160 << 20;
const ROUNDS: usize = 15;

struct Key {
    seed: Seed,
    bodies: Vec<Poly<Eval>>,
    masks: Vec<Poly<Eval>>,
}

impl Key {
    fn new(ring: &Arc<Ring>, digits: u8, number: u8) -> Self {
        let expand =
            |seed: Seed| (0..digits).map(|digit| seed.expand(digit, ring, ring.all_limbs())).collect();
        let seed = Seed([number; 24]);
        Self { seed, bodies: expand(Seed([number ^ 0xff; 24])), masks: expand(seed) }
    }
}

/// Returns the least milliseconds of functions that take turns.
fn least<const N: usize>(mut runs: [&mut dyn FnMut(usize); N]) -> [f64; N] {
    let mut least = [f64::INFINITY; N];
    for round in 0..ROUNDS {
        for (run, least) in runs.iter_mut().zip(&mut least) {
            let begin = Instant::now();
            run(round);
            *least = least.min(begin.elapsed().as_secs_f64() * 1e3);
        }
    }
    least
}

/// Times Σ digit·key over all limbs, with both halves from memory and with one expanded.
fn halves(ring: &Arc<Ring>, digits: u8) {
    let (degree, kernels) = (ring.degree(), ring.kernels());
    let bytes = 16 * degree * ring.limb_count() * usize::from(digits);
    for (what, count) in [("one key", 1), ("keys in turn", MEMORY.div_ceil(bytes))] {
        let keys: Vec<Key> = (0..count.min(255)).map(|k| Key::new(ring, digits, k as u8)).collect();
        let mut scratch = Scratch::new();
        let mut rows = scratch.rows(usize::from(digits), degree);
        let mut sums = [(); 2].map(|()| scratch.rows(1, degree));
        let values = keys[0].masks[0].clone();
        let [first, second] = &mut sums;
        let sums = std::cell::RefCell::new([first.row_mut(0), second.row_mut(0)]);
        let sum = |limb: usize, halves: &[[&[u64]; 2]]| {
            let [first, second] = &mut *sums.borrow_mut();
            let digits = vec![values.limb(limb); halves.len()];
            (kernels.inner_products)(ring.modulus(limb), [first, second], &digits, halves, None);
        };
        let [read, expanded] = least([
            &mut |round| {
                let key = &keys[round % keys.len()];
                for limb in ring.all_limbs() {
                    let pairs = key.bodies.iter().zip(&key.masks);
                    let halves: Vec<_> =
                        pairs.map(|(body, mask)| [body.limb(limb), mask.limb(limb)]).collect();
                    sum(limb, &halves);
                }
            },
            &mut |round| {
                let key = &keys[round % keys.len()];
                for limb in ring.all_limbs() {
                    for (digit, row) in (0..).zip(rows.iter_mut()) {
                        key.seed.expand_limb(digit, limb, ring.modulus(limb), row);
                    }
                    let pairs = key.bodies.iter().zip(rows.iter());
                    let halves: Vec<_> = pairs.map(|(body, row)| [body.limb(limb), row]).collect();
                    sum(limb, &halves);
                }
            },
        ]);
        println!(
            "n = {degree:>5}, {digits} digits, {:>2} limbs, {what:<12} {:>6.1} MB: read {read:>7.3} ms, expanded {expanded:>7.3} ms",
            ring.limb_count(),
            bytes as f64 / 1e6
        );
    }
}

/// Times the conversion of all digits to all limbs, one limb at a time and two.
fn limbs_at_a_time(ring: &Arc<Ring>, special: usize, digits: usize) {
    let (degree, kernels) = (ring.degree(), ring.kernels());
    let data = ring.limb_count() - special;
    let own = |digit: usize| special + digit * data / digits..special + (digit + 1) * data / digits;
    let mut scratch = Scratch::new();
    let conversions: Vec<_> = (0..digits)
        .map(|digit| {
            let conversion = Conversion::new(&ring.moduli(own(digit)), &ring.moduli(ring.all_limbs()));
            let values = Seed([digit as u8; 24]).expand(0, ring, ring.all_limbs());
            let limbs = own(digit).map(|i| values.limb(i));
            let quotients = conversion.prepare(kernels, limbs, &mut scratch);
            (conversion, quotients)
        })
        .collect();
    let rows = std::cell::RefCell::new(scratch.rows(2 * digits, degree));
    let by = |count: usize| {
        let rows = &mut *rows.borrow_mut();
        for limb in ring.all_limbs().step_by(count) {
            let mut targets = rows.iter_mut();
            for (conversion, quotients) in &conversions {
                let mut outs: Vec<&mut [u64]> = targets.by_ref().take(count).collect();
                if count == 1 {
                    conversion.write(kernels, quotients, limb, outs[0]);
                    continue;
                }
                for start in (0..degree).step_by(parallel::PART) {
                    let part = start..start + parallel::PART;
                    for (k, out) in outs.iter_mut().enumerate() {
                        conversion.write_part(
                            kernels,
                            quotients,
                            limb + k,
                            part.clone(),
                            &mut out[part.clone()],
                        );
                    }
                }
            }
        }
    };
    let [one, two] = least([&mut |_| by(1), &mut |_| by(2)]);
    println!(
        "n = {degree:>5}, {digits} digits, {:>2} limbs, conversion: one limb at a time {one:>7.3} ms, two {two:>7.3} ms",
        ring.limb_count()
    );
}

fn main() {
    println!("{} kernels", sotto_ring::Target::best().name());
    for (degree, special, data, digits) in [(8192, 1, 4, 4), (16384, 2, 8, 4), (32768, 4, 16, 4)] {
        let found = primes::below(1 << 43, degree).take(special + data).collect::<Vec<_>>();
        let ring = Ring::new(degree, &found).unwrap();
        halves(&ring, digits as u8);
        if special > 1 {
            limbs_at_a_time(&ring, special, digits);
        }
    }
}
