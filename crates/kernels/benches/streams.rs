//! Benchmarks every stream kernel of every target: `cargo bench -p sotto-kernels --bench streams`. Each call handles
//! 8192 values; residues have 43 bits.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use sotto_kernels::{AesLanes, Embedding, Modulus, Streams, Target};

const VALUES: usize = 8192;

fn streams(c: &mut Criterion) {
    let m = Modulus::new(8_796_087_255_041).expect("a modulus");
    let bytes: Vec<u8> = (0..8 * VALUES + 64).map(|i| (i * 37) as u8).collect();
    let mut words: Vec<u64> = (0..VALUES as u64).map(|i| i * 1_073_741_827 % m.value()).collect();
    let other = words.clone();
    let (mut small, mut out) = (vec![0i64; VALUES], vec![0u8; 8 * VALUES]);
    let mut group = c.benchmark_group("streams");
    for target in Streams::available() {
        let mut run = |name: &str, call: &mut dyn FnMut()| {
            group.bench_function(BenchmarkId::new(name, target.name), |b| b.iter(&mut *call));
        };
        if let Some(key) = AesLanes::new(&target, &[7; 16]) {
            run("AES in counter mode, 64 KiB", &mut || key.keystream(&[3; 16], 0, black_box(&mut out)));
        }
        run("residues of 6 bytes", &mut || {
            black_box((target.residues)(&m, black_box(&bytes), 48, &mut words));
        });
        run("residues of 43 bits", &mut || {
            black_box((target.residues)(&m, black_box(&bytes), 43, &mut words));
        });
        run("pack 43 bits", &mut || (target.pack)(black_box(&other), 43, &mut out[..VALUES * 43 / 8]));
        run("ternary", &mut || (target.ternary)(black_box(&bytes[..8 * VALUES]), &mut small));
        run("centred binomial", &mut || {
            (target.centred_binomial)(black_box(&bytes[..8 * VALUES]), &mut small);
        });
        run("subtract product", &mut || {
            (target.subtract_product)(&m, black_box(&mut words), &other, &other);
        });
        let (states, mut blocks) = ([[5; 16]; 16], [[0; 16]; 16]);
        run("ChaCha20, a block in 16 lanes", &mut || {
            (target.chacha20)(black_box(&states), &mut blocks);
            black_box(&mut blocks);
        });
        let mut values = [[5; 16]; 8];
        run("BLAKE3, a block in 16 lanes", &mut || {
            (target.blake3)(black_box(&mut values), &states, 64, 0);
        });
    }
    // The embedding uses the lanes of the best kernels, which `SOTTO_KERNELS` can force.
    let embedding = Embedding::new(VALUES).expect("a degree");
    let slots: Vec<f64> = (0..VALUES / 2).map(|i| i as f64).collect();
    group.bench_function(BenchmarkId::new("real slots to coefficients", Target::best().kernels.name), |b| {
        b.iter(|| embedding.real_to_coefficients(black_box(&slots), 1e9));
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).warm_up_time(std::time::Duration::from_millis(100)).measurement_time(std::time::Duration::from_millis(300));
    targets = streams
}
criterion_main!(benches);
