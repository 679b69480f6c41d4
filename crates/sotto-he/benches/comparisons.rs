//! Approximate comparisons of a full ciphertext on one core: `cargo bench -p sotto-he --bench comparisons`. Prints the
//! processor time for each gap, and that of a reading. Degree, scale and special primes may be given: `-- 32768:40:4`.

use std::sync::LazyLock;
use std::time::Instant;

use sotto::{Ckks, secure_rng};
use sotto_circuits::{CircuitError, Encrypted, Machine, Outline, Sign};
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_rlwe::{ChainRequest, Evaluator, Params, Scheme, SchemeId};

const BATCHES: u32 = 3;
/// Seconds of a batch: the thread's time is counted in steps of some milliseconds.
const BATCH: f64 = 0.6;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let chosen: Vec<[usize; 3]> = std::env::args()
        .filter_map(|text| {
            let numbers: Vec<usize> = text.split(':').filter_map(|number| number.parse().ok()).collect();
            numbers.try_into().ok()
        })
        .collect();
    println!(
        "| gap | degrees | levels | products | n | scale | special | error | noise bound | ms | first and last product, ms | µs a reading |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for sign in Sign::all() {
        let usual: &[[usize; 3]] = match sign.depth() {
            ..8 => &[[16384, 40, 2], [32768, 50, 4]],
            8..13 => &[[32768, 40, 4], [32768, 47, 4]],
            13..16 => &[[32768, 42, 4], [65536, 50, 4]],
            _ => &[[65536, 50, 4]],
        };
        for [degree, scale, special] in if chosen.is_empty() { usual } else { &chosen } {
            if let Err(error) = row(sign, *degree, *scale as u32, *special) {
                println!(
                    "| 2^{} | {:?} | {} | {} | {degree} | {scale} | {special} | {error} |",
                    sign.gap().log2(),
                    sign.degrees(),
                    sign.depth(),
                    sign.products()
                );
            }
        }
    }
    Ok(())
}

fn row(sign: Sign, degree: usize, scale: u32, special: usize) -> Result<(), Box<dyn std::error::Error>> {
    let request = ChainRequest {
        levels: Some(sign.depth()),
        special_primes: Some(special),
        other_bits: Some(scale),
        first_bits: Some((scale + 10).min(60)),
        ..ChainRequest::new(SchemeId::Ckks, degree, 0)
    };
    let params = Params::<Ckks>::new(request.build()?)?;
    let mut rng = secure_rng()?;
    let key = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
    let keys = key.evaluation_keys(true, &[], &mut rng)?;
    let slots = degree / 2;
    let values: Vec<f64> = (0..slots).map(|i| 2.0 * i as f64 / (slots - 1) as f64 - 1.0).collect();
    let plaintext = Ckks::encode_slots(&params, &values, params.top_level())?;
    let x = key.encrypt(&plaintext, &mut rng)?.expand();
    let (_, bound) = sign.evaluate(&mut Outline::new(&params), x.shape(), 1.0)?;
    let evaluator = Evaluator::new(&params);
    let mut machine = Encrypted::new(&evaluator, &keys);
    let whole = fastest(|| sign.evaluate(&mut machine, &x, 1.0).map(|(signs, _)| machine.recycle(signs)))?;
    // The products with the most and the fewest primes.
    let low = evaluator.lower(&x, 1)?;
    let [first, last] =
        [&x, &low].map(|x| fastest(|| machine.square(x).map(|square| machine.recycle(square))));
    println!(
        "| 2^{} | {:?} | {} | {} | {degree} | {scale} | {special} | {:.1e} | {:.1e} | {:.1} | {:.1}, {:.1} | {:.2} |",
        sign.gap().log2(),
        sign.degrees(),
        sign.depth(),
        sign.products(),
        bound.error,
        bound.noise,
        whole * 1e3,
        first? * 1e3,
        last? * 1e3,
        whole * 1e6 / slots as f64
    );
    Ok(())
}

/// The seconds of a run, as the mean of the fastest of several batches.
fn fastest(mut run: impl FnMut() -> Result<(), CircuitError>) -> Result<f64, CircuitError> {
    let mut least = f64::INFINITY;
    run()?;
    for _ in 0..BATCHES {
        let (begin, mut runs, mut spent) = (now(), 0, 0.0);
        while spent < BATCH {
            run()?;
            runs += 1;
            spent = now() - begin;
        }
        least = least.min(spent / f64::from(runs));
    }
    Ok(least)
}

/// Seconds that this thread was on a processor, which other programs do not lengthen; else of the clock on the wall.
fn now() -> f64 {
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let spent = spent.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    spent.map_or_else(|| START.elapsed().as_secs_f64(), |nanoseconds| nanoseconds * 1e-9)
}

static START: LazyLock<Instant> = LazyLock::new(Instant::now);
