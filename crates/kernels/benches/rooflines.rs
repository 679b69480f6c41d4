//! Kernels beside loops that move the same words and compute almost nothing: what memory allows.
//!
//! `cargo bench -p sotto-kernels --bench rooflines` prints for several working sets, from the first cache to memory, the
//! least microseconds of a kernel over all its limbs, those of the plain loop, and the part of the memory's speed that
//! the kernel reaches. The two take turns. The last row adds many limbs to one; its plain loop only reads them.
#![allow(missing_docs, unsafe_code, clippy::unwrap_used)]

use std::hint::black_box;
use std::time::Instant;

use sotto_kernels::{Modulus, Target};

const DEGREE: usize = 8192;
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

/// Returns the least microseconds of two functions that take turns.
fn least(mut ours: impl FnMut(), mut plain: impl FnMut()) -> [f64; 2] {
    let (started, mut least) = (Instant::now(), [f64::INFINITY; 2]);
    let timed = |run: &mut dyn FnMut(), least: &mut f64| {
        let begin = Instant::now();
        run();
        *least = least.min(begin.elapsed().as_secs_f64() * 1e6);
    };
    while started.elapsed().as_secs_f64() < SECONDS {
        timed(&mut ours, &mut least[0]);
        timed(&mut plain, &mut least[1]);
    }
    least
}

fn show(name: &str, kibibytes: usize, [ours, plain]: [f64; 2]) {
    println!("{name:<22} {kibibytes:>7} KiB {ours:>10.2} µs {plain:>10.2} µs   {:.2}", plain / ours);
}

fn main() {
    let (m, k) = (Modulus::new(PRIME).unwrap(), Target::best().kernels);
    println!("{} kernels, modulo a prime of 43 bits, limbs of {DEGREE} words\n", k.name);
    for limbs in [1, 4, 16, 256] {
        let words = |seed: u64| -> Vec<u64> {
            (0..limbs * DEGREE)
                .map(|i| (i as u64 + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) % PRIME)
                .collect()
        };
        let [a, b, c, d] = [1, 2, 3, 4].map(words);
        let [mut x, mut y, mut z] = [(); 3].map(|()| vec![0; limbs * DEGREE]);
        // Every kernel goes limb by limb, as the evaluator does.
        let limb = |i: usize| i * DEGREE..(i + 1) * DEGREE;
        let size = |rows: usize| rows * limbs * DEGREE * 8 / 1024;
        let cell = std::cell::RefCell::new([&mut x, &mut y, &mut z]);
        let each = |run: &dyn Fn(std::ops::Range<usize>, [&mut [u64]; 3])| {
            let mut out = cell.borrow_mut();
            for i in 0..limbs {
                let [x, y, z] = &mut *out;
                run(limb(i), [&mut x[limb(i)], &mut y[limb(i)], &mut z[limb(i)]]);
            }
            black_box(&mut out[0][0]);
        };
        let pairs =
            |r: &std::ops::Range<usize>| ([&a[r.clone()], &b[r.clone()]], [&c[r.clone()], &d[r.clone()]]);
        show(
            "a += b",
            size(2),
            least(
                || each(&|r, [x, ..]| (k.add)(&m, x, &a[r])),
                || each(&|r, [_, y, _]| accumulate(y, &a[r])),
            ),
        );
        show(
            "a + b",
            size(3),
            least(
                || each(&|r, [x, ..]| (k.sum)(&m, x, &a[r.clone()], &b[r])),
                || each(&|r, [x, ..]| combine(x, &a[r.clone()], &b[r])),
            ),
        );
        show(
            "a · b",
            size(3),
            least(
                || each(&|r, [x, ..]| (k.product)(&m, x, &a[r.clone()], &b[r])),
                || each(&|r, [x, ..]| combine(x, &a[r.clone()], &b[r])),
            ),
        );
        show(
            "tensor",
            size(7),
            least(
                || {
                    each(&|r, out| {
                        let (a, b) = pairs(&r);
                        (k.tensor)(&m, out, a, b)
                    })
                },
                || {
                    each(&|r, out| {
                        let (a, b) = pairs(&r);
                        combine_three(out, a, b)
                    })
                },
            ),
        );
        show(
            "square",
            size(5),
            least(
                || each(&|r, out| (k.square)(&m, out, pairs(&r).0)),
                || {
                    each(&|r, out| {
                        let (a, _) = pairs(&r);
                        combine_three(out, a, a)
                    })
                },
            ),
        );
        let mut total = vec![0; DEGREE];
        show(
            "a sum of many limbs",
            size(1),
            least(
                || (0..limbs).for_each(|i| (k.add)(&m, black_box(&mut total), &a[limb(i)])),
                || {
                    black_box(read(&a));
                },
            ),
        );
    }
}
