//! Sums over expanded ciphertexts in memory, beside plain reads of the same bytes.
//!
//! `cargo bench -p sotto-conformance --bench streaming`; with `seeded` behind it, only the second half. The first half
//! reads one ciphertext after the other, and four at once, in turns. The fastest run of each counts, and the sum's
//! share is that of the faster read. The second half sums seeded, bit-packed frames: the time of a frame, beside
//! unpacking, expansion and addition alone, and beside the frame's digest, which every stored frame needs.

use std::hint::black_box;
use std::time::Instant;

use sotto_conformance::Fixture;
use sotto_ring::{Scratch, Seed, Target, Wiped};
use sotto_rlwe::{Bgv, Ciphertext};
use sotto_wire::AnyCiphertext;

/// Bytes that exceed the last-level cache.
const BYTES: usize = 160 << 20;
const ROUNDS: usize = 15;
/// Bytes that fit it.
const CACHED: usize = 8 << 20;
/// Ciphertexts that are added at once.
const AT_ONCE: usize = 16;

/// Returns gigabytes a second.
fn speed(bytes: usize, run: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    run();
    bytes as f64 / begin.elapsed().as_secs_f64() / 1e9
}

/// Reads every word once into eight sums, which the compiler keeps in vectors.
fn read(ciphertexts: &[Ciphertext<Bgv>]) -> [u64; 8] {
    let mut sums = [0u64; 8];
    for component in ciphertexts.iter().flat_map(Ciphertext::components) {
        for i in component.limbs() {
            for words in component.limb(i).chunks_exact(8) {
                sums.iter_mut().zip(words).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
            }
        }
    }
    sums
}

/// Reads four ciphertexts side by side.
fn read_four(ciphertexts: &[Ciphertext<Bgv>]) -> [u64; 8] {
    let mut sums = [0u64; 8];
    for four in ciphertexts.chunks(4) {
        for k in 0..four[0].components().len() {
            for i in four[0].components()[k].limbs() {
                let mut limbs: Vec<_> =
                    four.iter().map(|c| c.components()[k].limb(i).as_chunks::<8>().0.iter()).collect();
                let mut next = || -> Option<()> {
                    for limb in &mut limbs {
                        sums.iter_mut()
                            .zip(limb.next()?)
                            .for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
                    }
                    Some(())
                };
                while next().is_some() {}
            }
        }
    }
    sums
}

/// Returns microseconds a ciphertext, the fastest of some rounds over `count` ciphertexts.
fn each(count: usize, mut run: impl FnMut()) -> f64 {
    let round = |_| {
        let begin = Instant::now();
        run();
        begin.elapsed().as_secs_f64() * 1e6 / count as f64
    };
    (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
}

fn packed(degree: usize) {
    let mut f = Fixture::<Bgv>::default_chain(degree, 1);
    let (values, params, top) = (f.values(), f.params.clone(), f.params.top_level());
    let plain = f.encode(&values, top);
    let mut frame = || AnyCiphertext::Seeded(f.secret.encrypt(&plain, &mut f.rng).expect("encrypts")).write();
    let some: Vec<Vec<u8>> = (0..AT_ONCE).map(|_| frame()).collect();
    let count = (BYTES / some[0].len()).next_multiple_of(AT_ONCE).min(2048);
    // Adds the expanded words while they are in the cache.
    let at_once = (CACHED / (2 * params.limbs(top).len() * degree * 8)).clamp(1, AT_ONCE);
    let frames: Vec<Vec<u8>> = some.into_iter().cycle().take(count).collect();
    let mut scratch = Scratch::new();
    let mut ciphertexts = Vec::with_capacity(at_once);
    let read = |frame: &Vec<u8>| {
        AnyCiphertext::<Bgv>::read(frame, &params).expect("reads").with_claimed_shape().expand()
    };
    let mut sum = read(&frames[0]);
    let whole = each(count, || {
        for frames in frames.chunks(at_once) {
            ciphertexts.extend(frames.iter().map(read));
            for term in ciphertexts.drain(..) {
                f.evaluator.add_assign(&mut sum, &term, &mut scratch).expect("adds");
            }
        }
    });
    let mut out = Wiped::zeros(degree);
    let limbs = params.limbs(top);
    let unpacking = each(count, || {
        for frame in &frames {
            let mut body = frame.len() - 32;
            for q in limbs.clone().rev().map(|i| params.modulus(i)) {
                body -= (degree * q.bits() as usize).div_ceil(8);
                black_box((Target::best().streams.residues)(q, &frame[body..], q.bits(), &mut out));
            }
        }
    });
    let seed = Seed::random(&mut f.rng);
    let expansion = each(AT_ONCE, || {
        for _ in 0..AT_ONCE {
            limbs.clone().for_each(|i| seed.expand_limb(0, i, params.modulus(i), &mut out));
        }
    });
    ciphertexts.extend(frames[..at_once].iter().map(read));
    let addition = each(at_once, || {
        for term in &ciphertexts {
            f.evaluator.add_assign(&mut sum, term, &mut scratch).expect("adds");
        }
    });
    let digest = each(count, || frames.iter().for_each(|frame| _ = black_box(blake3::hash(frame))));
    let parts = unpacking + expansion + addition;
    let share = |of: f64| 100.0 * parts / of;
    println!(
        "{degree:>6} {unpacking:>10.1} {expansion:>10.1} {addition:>10.1} {digest:>10.1} {whole:>10.1} {:>8.0}% {:>15.0}%",
        share(whole),
        share(whole - digest)
    );
}

fn main() {
    if !std::env::args().any(|argument| argument == "seeded") {
        expanded();
    }
    println!(
        "\nseeded, µs a ciphertext\n{:>6} {:>10} {:>10} {:>10} {:>10} {:>10} {:>9} {:>16}",
        "n", "unpacking", "expansion", "addition", "digest", "whole", "share", "without digest"
    );
    [4096, 8192, 16384, 32768].into_iter().for_each(packed);
}

fn expanded() {
    println!(
        "{:>6} {:>12} {:>18} {:>12} {:>8}",
        "n", "read, GB/s", "four at once, GB/s", "sum, GB/s", "share"
    );
    for degree in [4096, 8192, 16384, 32768] {
        let mut f = Fixture::<Bgv>::default_chain(degree, 1);
        let values = f.values();
        let one = f.encrypt(&values, false);
        let limbs = f.params.limbs(f.params.top_level()).len();
        let count = BYTES / (2 * limbs * degree * 8);
        let ciphertexts = vec![one; count];
        let bytes = count * 2 * limbs * degree * 8;
        let mut scratch = Scratch::new();
        let (mut reading, mut four, mut summing) = (0.0f64, 0.0f64, 0.0f64);
        for _ in 0..ROUNDS {
            reading = reading.max(speed(bytes, || _ = black_box(read(&ciphertexts))));
            four = four.max(speed(bytes, || _ = black_box(read_four(&ciphertexts))));
            let mut sum = f.evaluator.copy_with(&ciphertexts[0], &mut scratch);
            summing = summing.max(speed(bytes, || {
                for term in &ciphertexts {
                    f.evaluator.add_assign(&mut sum, term, &mut scratch).expect("adds");
                }
            }));
            f.evaluator.recycle(sum, &mut scratch);
        }
        let share = 100.0 * summing / reading.max(four);
        println!("{degree:>6} {reading:>12.1} {four:>18.1} {summing:>12.1} {share:>7.0}%");
    }
}
