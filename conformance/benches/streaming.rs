//! A sum over expanded ciphertexts that come from memory, beside plain reads of the same bytes, one ciphertext after the other and
//! four at once: `cargo bench -p sotto-conformance --bench streaming`. In turns; the fastest of each counts, and the sum's share
//! is that of the faster read.

use std::hint::black_box;
use std::time::Instant;

use sotto_conformance::Fixture;
use sotto_ring::Scratch;
use sotto_rlwe::{Bgv, Ciphertext};

/// More than the last cache holds.
const BYTES: usize = 160 << 20;
const ROUNDS: usize = 15;
/// Ciphertexts that are added at once.
const AT_ONCE: usize = 16;

/// Gigabytes a second.
fn speed(bytes: usize, run: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    run();
    bytes as f64 / begin.elapsed().as_secs_f64() / 1e9
}

/// Every word once, in eight sums, which the compiler keeps in vectors.
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

/// The same, four ciphertexts side by side.
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

fn main() {
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
        let terms: Vec<&Ciphertext<Bgv>> = ciphertexts.iter().collect();
        let mut scratch = Scratch::new();
        let (mut reading, mut four, mut summing) = (0.0f64, 0.0f64, 0.0f64);
        for _ in 0..ROUNDS {
            reading = reading.max(speed(bytes, || _ = black_box(read(&ciphertexts))));
            four = four.max(speed(bytes, || _ = black_box(read_four(&ciphertexts))));
            let mut sum = f.evaluator.copy_with(&ciphertexts[0], &mut scratch);
            summing = summing.max(speed(bytes, || {
                for c in terms.chunks(AT_ONCE) {
                    f.evaluator.add_all_assign(&mut sum, c, &mut scratch).expect("adds");
                }
            }));
            f.evaluator.recycle(sum, &mut scratch);
        }
        let share = 100.0 * summing / reading.max(four);
        println!("{degree:>6} {reading:>12.1} {four:>18.1} {summing:>12.1} {share:>7.0}%");
    }
}
