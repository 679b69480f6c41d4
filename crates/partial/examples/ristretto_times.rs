//! Compares ElGamal on Ristretto with the curve library's own operations, interleaved in one run. Prints the
//! shortest of many times.
//!
//!     cargo run --release -p sotto-partial --example ristretto_times

use std::hint::black_box;
use std::time::Instant;

use chacha20::ChaCha20Rng;
use curve25519_dalek::ristretto::{RistrettoBasepointTable, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use rand_core::SeedableRng;
use sotto_partial::ristretto::{BabySteps, PublicKey};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut rng = ChaCha20Rng::from_seed([1; 32]);
    let point = RistrettoPoint::random(&mut rng);
    let key = PublicKey::from_point(point)?;
    let table = RistrettoBasepointTable::create(&point);
    let scalar = Scalar::random(&mut rng);
    let (x, y) = (key.encrypt(123_456, &mut rng)?, key.encrypt(-7, &mut rng)?);
    let mut least = [f64::INFINITY; 4];
    for _ in 0..200 {
        let timed: [&mut dyn FnMut() -> Result<(), sotto_partial::PartialError>; 4] = [
            &mut || {
                key.encrypt(black_box(123_456), &mut rng).map(|c| {
                    black_box(c);
                })
            },
            &mut || {
                black_box((RistrettoPoint::mul_base(black_box(&scalar)), black_box(&scalar) * &table));
                Ok(())
            },
            &mut || {
                key.add(black_box(&x), black_box(&y)).map(|c| {
                    black_box(c);
                })
            },
            &mut || {
                let ((a, b), (c, d)) = (x.components(), y.components());
                black_box((black_box(a) + black_box(c), black_box(b) + black_box(d)));
                Ok(())
            },
        ];
        for (least, run) in least.iter_mut().zip(timed) {
            let start = Instant::now();
            for _ in 0..20 {
                run()?;
            }
            *least = least.min(start.elapsed().as_secs_f64() * 1e6 / 20.0);
        }
    }
    let [encrypt, two_products, add, two_sums] = least;
    println!(
        "encrypt {encrypt:.2} µs, two fixed-base products {two_products:.2} µs: {:.2} times",
        encrypt / two_products
    );
    println!("add {add:.3} µs, two point additions {two_sums:.3} µs: {:.2} times", add / two_sums);
    for bits in [20, 32, 40] {
        let start = Instant::now();
        let steps = BabySteps::new(bits)?;
        let made = start.elapsed().as_secs_f64() * 1e3;
        let farthest = RistrettoPoint::mul_base(&Scalar::from((1u64 << bits) - 1));
        let start = Instant::now();
        steps.search_vartime(&farthest, |_, _| {})?;
        println!(
            "{bits} bits: table in {made:.1} ms, the farthest message in {:.1} ms",
            start.elapsed().as_secs_f64() * 1e3
        );
    }
    Ok(())
}
