//! Benchmarks every kernel of every target: `cargo bench -p sotto-kernels`. Each measurement cycles through eight
//! limbs, so that the data comes from the second-level cache and not from one hot buffer.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use sotto_kernels::{Kernels, Modulus, NttTable};

const LIMBS: usize = 8;

/// Returns a prime of this many bits that is 1 modulo 2^16.
fn prime(bits: u32) -> u64 {
    match bits {
        43 => 8_796_087_255_041,
        50 => 1_125_899_902_124_033,
        _ => 1_152_921_504_606_584_833,
    }
}

fn limbs(q: u64, degree: usize) -> Vec<Vec<u64>> {
    let word = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) % q;
    (0..LIMBS).map(|limb| (0..degree).map(|i| word(i + limb * degree)).collect()).collect()
}

fn kernels(c: &mut Criterion) {
    for degree in [4096usize, 8192, 16384] {
        for bits in [43, 50, 60] {
            let q = prime(bits);
            let table = NttTable::new(Modulus::new(q).expect("a modulus"), degree).expect("a prime");
            let m = table.modulus();
            let mut group = c.benchmark_group(format!("{degree}/{bits} bits"));
            for target in Kernels::available() {
                let mut data = limbs(q, degree);
                let other = limbs(q, degree);
                let signed: Vec<i64> = (0..degree as i64).map(|i| (i - 4000) * 0x1234_5678_9abc).collect();
                let mut turn = 0;
                let mut next = move || {
                    turn = (turn + 1) % LIMBS;
                    turn
                };
                let mut run = |name: &str, kernel: &mut dyn FnMut(&mut [u64], &[u64])| {
                    group.bench_function(BenchmarkId::new(name, target.name), |b| {
                        b.iter(|| {
                            let i = next();
                            kernel(black_box(&mut data[i]), black_box(&other[i]));
                        });
                    });
                };
                run("forward", &mut |x, _| (target.ntt_forward)(&table, x));
                run("inverse", &mut |x, _| (target.ntt_inverse)(&table, x));
                run("add", &mut |x, y| (target.add)(m, x, y));
                run("multiply", &mut |x, y| (target.multiply)(m, x, y));
                run("add product", &mut |x, y| (target.add_product)(m, x, y, y));
                run("scale", &mut |x, _| (target.scale)(m, x, m.factor(12345)));
                run("subtract, scale", &mut |x, y| (target.subtract_scale)(m, x, y, m.factor(12345)));
                run("from signed", &mut |x, y| (target.from_signed)(m, x, &signed[..y.len()]));
                run("inner products of 4", &mut |x, y| {
                    let (first, second) = x.split_at_mut(degree / 2);
                    let (digit, key) = (&y[..degree / 2], &y[degree / 2..]);
                    (target.inner_products)(m, [first, second], &[digit; 4], &[[key, digit]; 4], None);
                });
                run("tensor", &mut |x, y| {
                    let (low, rest) = x[..degree / 4 * 3].split_at_mut(degree / 4);
                    let (middle, high) = rest.split_at_mut(degree / 4);
                    let (a, b) = (&y[..degree / 4], &y[degree / 4 * 3..]);
                    (target.tensor)(m, [low, middle, high], [a, b], [b, a]);
                });
                run("subtract rest", &mut |x, y| {
                    (target.subtract_rest)(m, x, Some(y), y, [m.factor(12345), m.factor(q - 5)], None);
                });
                run("convert from 4", &mut |x, y| {
                    (target.convert)(m, x, &[y, y, y, y], bits, &[1, 2, 3, 4], q - 5);
                });
            }
            group.finish();
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).warm_up_time(std::time::Duration::from_millis(200)).measurement_time(std::time::Duration::from_millis(500));
    targets = kernels
}
criterion_main!(benches);
