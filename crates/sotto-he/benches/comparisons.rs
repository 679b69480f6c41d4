//! Approximate comparisons of a full ciphertext on one core: `RAYON_NUM_THREADS=1 cargo bench -p sotto-he --bench comparisons`.
//! Prints the fastest of several runs for each gap, and the time a reading. Degrees, scales and special primes may be given:
//! `-- 32768:40:4`.

use std::time::{Duration, Instant};

use sotto::circuits::{CircuitError, Encrypted, Machine, Outline, Sign};
use sotto::keys::{DeviceSecret, SecretKey};
use sotto::rlwe::{ChainRequest, Evaluator, Params, Scheme, SchemeId};
use sotto::{Ckks, secure_rng};

/// Runs until this has passed, at least three times.
const LONG_ENOUGH: Duration = Duration::from_secs(2);

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

/// The seconds of the fastest run.
fn fastest(mut run: impl FnMut() -> Result<(), CircuitError>) -> Result<f64, CircuitError> {
    let (mut least, start, mut runs) = (f64::INFINITY, Instant::now(), 0);
    while runs < 3 || start.elapsed() < LONG_ENOUGH {
        let begin = Instant::now();
        run()?;
        least = least.min(begin.elapsed().as_secs_f64());
        runs += 1;
    }
    Ok(least)
}
