//! Kernels beside loops that move the same words and compute almost nothing: what memory allows.
//!
//! `cargo bench -p sotto-kernels --bench rooflines` prints for several working sets, from the first cache to memory, the
//! least microseconds of a kernel over all its limbs, those of the plain loop, and the part of the memory's speed that
//! the kernel reaches. The two take turns. The last rows add limbs to one; their plain loop only reads them.
#![allow(missing_docs, unsafe_code, clippy::unwrap_used)]

use std::hint::black_box;
use std::time::Instant;

use sotto_kernels::{Kernels, Modulus, Target};

const DEGREE: usize = 8192;
const STRIDE: usize = DEGREE + 8;
/// The largest 43-bit prime that is 1 modulo 2^18.
const PRIME: u64 = 8_796_087_255_041;
const SECONDS: f64 = 0.3;

/// Compiles a loop for the vectors of this processor.
macro_rules! plain {
    ($name:ident($($argument:ident: $kind:ty),*) -> $out:ty $body:block) => {
        fn $name($($argument: $kind),*) -> $out {
            #[inline(always)]
            fn run($($argument: $kind),*) -> $out $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn narrow($($argument: $kind),*) -> $out { run($($argument),*) }
                #[target_feature(enable = "avx512f")]
                fn wide($($argument: $kind),*) -> $out { run($($argument),*) }
                // SAFETY: the processor was asked.
                unsafe {
                    if is_x86_feature_detected!("avx512f") {
                        return wide($($argument),*);
                    }
                    if is_x86_feature_detected!("avx2") {
                        return narrow($($argument),*);
                    }
                }
            }
            run($($argument),*)
        }
    };
}

plain!(accumulate(a: &mut [u64], b: &[u64]) -> () {
    a.iter_mut().zip(b).for_each(|(x, y)| *x = x.wrapping_add(*y));
});
plain!(combine(out: &mut [u64], a: &[u64], b: &[u64]) -> () {
    out.iter_mut().zip(a.iter().zip(b)).for_each(|(x, (y, z))| *x = y.wrapping_add(*z));
});
plain!(combine_three(out: [&mut [u64]; 3], a: [&[u64]; 2], b: [&[u64]; 2]) -> () {
    let [low, middle, high] = out;
    let pairs = a[0].iter().zip(a[1]).zip(b[0].iter().zip(b[1]));
    for (((l, m), h), ((a0, a1), (b0, b1))) in low.iter_mut().zip(middle).zip(high).zip(pairs) {
        (*l, *m, *h) = (a0.wrapping_add(*b0), a0.wrapping_add(*b1), a1.wrapping_add(*b1));
    }
});
plain!(read(a: &[u64]) -> u64 {
    a.iter().fold(0, |sum, x| sum ^ x)
});

/// Four operands and three results of several limbs.
struct Rows {
    operands: [Vec<u64>; 4],
    results: [Vec<u64>; 3],
    limbs: usize,
}

/// One limb of every operand and result.
struct Limb<'a> {
    from: [&'a [u64]; 4],
    out: [&'a mut [u64]; 3],
}

impl Rows {
    fn new(limbs: usize) -> Self {
        let word = |i: usize, seed: u64| (i as u64 + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) % PRIME;
        let operands = [1, 2, 3, 4].map(|seed| (0..limbs * DEGREE).map(|i| word(i, seed)).collect());
        Self { operands, results: [(); 3].map(|()| vec![0; limbs * DEGREE]), limbs }
    }

    /// Runs a function on one limb after another, as the evaluator does, and returns its microseconds.
    fn time(&mut self, run: impl Fn(Limb<'_>)) -> f64 {
        let begin = Instant::now();
        for i in 0..self.limbs {
            let limb = i * DEGREE..(i + 1) * DEGREE;
            let from = self.operands.each_ref().map(|row| &row[limb.clone()]);
            let out = self.results.each_mut().map(|row| &mut row[limb.clone()]);
            run(Limb { from, out });
        }
        black_box(&mut self.results[0][0]);
        begin.elapsed().as_secs_f64() * 1e6
    }

    /// Prints the least times of a kernel and of its plain loop, which read and write `rows` rows.
    fn show(&mut self, name: &str, rows: usize, kernel: impl Fn(Limb<'_>), plain: impl Fn(Limb<'_>)) {
        let (limbs, shared) = (rows * self.limbs, core::cell::RefCell::new(self));
        let kernel = || shared.borrow_mut().time(&kernel);
        show_least(name, limbs, kernel, || shared.borrow_mut().time(&plain));
    }
}

/// Prints the least times of adding so many limbs to one, and of reading them.
fn show_sum(m: &Modulus, kernels: &Kernels, count: usize) {
    // As polynomials lie in memory: equal words of rows fall into different sets of the first cache.
    let words: Vec<u64> = Rows::new(count + 1).operands[0][..count * STRIDE].into();
    let rows: Vec<&[u64]> = words.chunks(STRIDE).map(|row| &row[..DEGREE]).collect();
    let mut total = vec![0; DEGREE];
    let kernel = || {
        let begin = Instant::now();
        (kernels.add_rows)(m, &mut total, &rows);
        black_box(&mut total);
        begin.elapsed().as_secs_f64() * 1e6
    };
    let plain = || {
        let begin = Instant::now();
        rows.iter().for_each(|row| {
            black_box(read(row));
        });
        begin.elapsed().as_secs_f64() * 1e6
    };
    show_least("a sum of limbs", count, kernel, plain);
}

/// Prints the least microseconds of a kernel and of its plain loop, which take turns over so many limbs.
fn show_least(name: &str, limbs: usize, mut kernel: impl FnMut() -> f64, mut plain: impl FnMut() -> f64) {
    let (started, mut least) = (Instant::now(), [f64::INFINITY; 2]);
    while started.elapsed().as_secs_f64() < SECONDS {
        least = [least[0].min(kernel()), least[1].min(plain())];
    }
    let ([ours, plain], kibibytes) = (least, limbs * DEGREE * 8 / 1024);
    println!("{name:<20} {kibibytes:>7} KiB {ours:>10.2} µs {plain:>10.2} µs   {:.2}", plain / ours);
}

fn main() {
    let (m, k) = (Modulus::new(PRIME).unwrap(), Target::best().kernels);
    println!("{} kernels, modulo a prime of 43 bits, limbs of {DEGREE} words\n", k.name);
    for limbs in [1, 4, 16, 256] {
        let mut rows = Rows::new(limbs);
        rows.show(
            "a += b",
            2,
            |Limb { from: [a, ..], out: [x, ..] }| (k.add)(&m, x, a),
            |Limb { from: [a, ..], out: [_, y, _] }| accumulate(y, a),
        );
        rows.show(
            "a + b",
            3,
            |Limb { from: [a, b, ..], out: [x, ..] }| (k.sum)(&m, x, a, b),
            |Limb { from: [a, b, ..], out: [x, ..] }| combine(x, a, b),
        );
        rows.show(
            "a · b",
            3,
            |Limb { from: [a, b, ..], out: [x, ..] }| (k.product)(&m, x, a, b),
            |Limb { from: [a, b, ..], out: [x, ..] }| combine(x, a, b),
        );
        rows.show(
            "tensor",
            7,
            |Limb { from: [a, b, c, d], out }| (k.tensor)(&m, out, [a, b], [c, d]),
            |Limb { from: [a, b, c, d], out }| combine_three(out, [a, b], [c, d]),
        );
        rows.show(
            "square",
            5,
            |Limb { from: [a, b, ..], out }| (k.square)(&m, out, [a, b]),
            |Limb { from: [a, b, ..], out }| combine_three(out, [a, b], [a, b]),
        );
    }
    for count in [4, 16, 64, 256] {
        show_sum(&m, &k, count);
    }
}
