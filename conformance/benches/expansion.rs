//! Expansions of compact ciphertexts of slots: `cargo bench -p sotto-conformance --bench expansion`. Prints the time of an
//! expansion beside that of as many rotations, at n = 8192.

use std::time::{Duration, Instant};

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_conformance::Testable;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::Scratch;
use sotto_rlwe::{Bfv, Ckks, Evaluator, Kept, Params};

fn timed<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    let begin = Instant::now();
    let out = run();
    (begin.elapsed(), out)
}

/// Returns microseconds.
fn fastest(times: Vec<Duration>) -> f64 {
    times.into_iter().min().unwrap_or_default().as_secs_f64() * 1e6
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut rng = ChaCha20Rng::from_seed([1; 32]);
    for places in [16, 256, 2048] {
        expansion::<Bfv>(places, &mut rng)?;
        expansion::<Ckks>(places, &mut rng)?;
    }
    Ok(())
}

/// Times expansions at n = 8192 and as many rotations as they have steps, in turns. The fastest run of each counts, as
/// other work on the machine disturbs it least.
fn expansion<S: Testable>(places: usize, rng: &mut ChaCha20Rng) -> Result<(), Box<dyn std::error::Error>> {
    const TURNS: usize = 151;
    let params = Params::<S>::default_chain(8192, S::plain_modulus(8192))?;
    let secret = SecretKey::derive(&DeviceSecret::generate(rng), &params);
    let kept = Kept::Folded(places);
    let steps = params.expansion_steps(kept)?;
    let keys = secret.evaluation_keys(false, &steps, rng)?;
    let (evaluator, mut scratch) = (Evaluator::new(&params), Scratch::new());
    let values = vec![S::small(1); places];
    let seeded = secret.encrypt(&params.encode_folded(&values, 1.0, params.top_level())?, rng)?;
    let (compact, whole) = (seeded.compact(kept)?, seeded.expand());
    let (mut expansions, mut rotations) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let (time, expanded) = timed(|| evaluator.expand(&compact, &keys, &mut scratch));
        evaluator.recycle(expanded?, &mut scratch);
        expansions.push(time);
        let (time, rotated) = timed(|| {
            let rotate = |step: &i32| match step {
                0 => evaluator.swap_rows_with(&whole, &keys, &mut scratch),
                step => evaluator.rotate_with(&whole, *step, &keys, &mut scratch),
            };
            steps.iter().map(rotate).collect::<Result<Vec<_>, _>>()
        });
        rotated?.into_iter().for_each(|rotated| evaluator.recycle(rotated, &mut scratch));
        rotations.push(time);
    }
    let [expansion, rotations] = [expansions, rotations].map(fastest);
    println!(
        "expand {places:>4} places, {}  {expansion:>10.1} µs; {} automorphisms {rotations:>10.1} µs; {:.2} times",
        S::ID,
        steps.len(),
        expansion / rotations
    );
    Ok(())
}
