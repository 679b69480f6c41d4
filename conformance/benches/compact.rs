//! Sums of compact windows: `cargo bench -p sotto-conformance --bench compact [-- WINDOWS]`. n = 4096, 16 places of 36
//! bits, 10^5 windows by default. Prints the time and share of each part, then the time of an expansion beside that of
//! as many rotations, and the time of a fleet's sum.

use std::time::{Duration, Instant};

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_compact::{MaskSum, Profile, Sum, mask_key};
use sotto_conformance::Testable;
use sotto_decrypt::open_compact;
use sotto_keys::{CompactEncryptor, DeviceSecret, SecretKey};
use sotto_ring::{Scratch, Seed, SmallPoly};
use sotto_rlwe::{
    Bfv, ChainRequest, Ckks, CompactSum, EvaluationKeys, Evaluator, Kept, Params, SchemeId, TransferSum,
};

/// Number of encrypted bodies; sums take them repeatedly, each time with another mask.
const BODIES: usize = 512;

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
    let windows: u64 = std::env::args().find_map(|text| text.parse().ok()).unwrap_or(100_000);
    let request = ChainRequest::one_prime(SchemeId::Bfv, 4096, (1 << 24) + 43, 40);
    let profile = Profile::new(&Params::<Bfv>::new(request.build()?)?, 16, 36)?;
    let mut rng = ChaCha20Rng::from_seed([1; 32]);
    let device = DeviceSecret::generate(&mut rng);
    let key = SecretKey::<Bfv>::derive(&device, profile.params());
    let encryptor = CompactEncryptor::derive(&device, profile.params());
    let masks = mask_key(key.id(), "bench");
    let values: Vec<i64> = (0..16).collect();
    let (encrypting, bodies) = timed(|| -> Result<Vec<Vec<u8>>, _> {
        (0..BODIES as u64)
            .map(|sequence| encryptor.encrypt(&profile, &values, &masks.mask(&[0; 12], sequence), &mut rng))
            .collect()
    });
    let bodies = bodies?;
    let (adding, sum) = timed(|| {
        let mut sum = Sum::new(profile.form());
        for window in 0..windows as usize {
            sum.add(&bodies[window % BODIES], 1)?;
        }
        Ok::<_, sotto_compact::CompactError>(sum)
    });
    let sum = sum?;
    let (expanding, mask_sum) = timed(|| {
        let mut summed = MaskSum::new(profile.form());
        (0..windows).for_each(|sequence| summed.add(&masks.mask(&[0; 12], sequence), 1));
        summed
    });
    // Opening refuses sums of more windows than the form allows; its time does not depend on their number.
    let few = BODIES as u64;
    let (mut first, mut first_masks) = (Sum::new(profile.form()), MaskSum::new(profile.form()));
    for (sequence, body) in (0..few).zip(&bodies) {
        first.add(body, 1)?;
        first_masks.add(&masks.mask(&[0; 12], sequence), 1);
    }
    let (opening, opened) = timed(|| open_compact(&key, &profile, &first, &first_masks));
    let expected: Vec<i64> = values.iter().map(|value| value * few as i64).collect();
    if opened?.into_residues() != expected || sum.weights() != mask_sum.weights() {
        return Err("a sum does not open to the sum of its windows".into());
    }
    let all = (adding + expanding + opening).as_secs_f64();
    println!("encrypt                 {:>10.2} µs a window", encrypting.as_secs_f64() * 1e6 / BODIES as f64);
    println!(
        "{windows} windows of 16 readings, {} bytes each; two sums are held: {} bytes",
        profile.form().body_bytes(),
        8 * (4096 + 16)
    );
    for (what, time) in [("add bodies", adding), ("expand and add masks", expanding), ("open", opening)] {
        let seconds = time.as_secs_f64();
        println!("{what:<22} {:>10.2} ms {:>7.1} %", seconds * 1e3, 100.0 * seconds / all);
    }
    println!(
        "all                    {:>10.2} ms {:>10.2} µs a window",
        all * 1e3,
        all * 1e6 / windows as f64
    );
    for places in [16, 256, 2048] {
        expansion::<Bfv>(places, &mut rng)?;
        expansion::<Ckks>(places, &mut rng)?;
    }
    fleet::<Bfv>(&mut rng)?;
    fleet::<Ckks>(&mut rng)
}

/// Times a sum of 50 devices at n = 8192, 256 places: adding, a device that joins and leaves, switch and expansion of
/// the sum beside the expansion alone. The fastest run of each counts.
fn fleet<S: Testable>(rng: &mut ChaCha20Rng) -> Result<(), Box<dyn std::error::Error>> {
    const DEVICES: usize = 50;
    const TURNS: usize = 101;
    let params = Params::<S>::default_chain(8192, S::plain_modulus(8192))?;
    let owner = SecretKey::derive(&DeviceSecret::generate(rng), &params);
    let kept = Kept::Folded(256);
    let keys = owner.evaluation_keys(false, &params.expansion_steps(kept)?, rng)?;
    let (evaluator, mut scratch) = (Evaluator::new(&params), Scratch::new());
    let plaintext = params.encode_folded(&[S::small(1); 256], 1.0, params.top_level())?;
    let seed = Seed::random(rng);
    let mut transfer = TransferSum::new(&params, owner.id())?;
    let (mut compacts, mut last) = (Vec::new(), None);
    for _ in 0..DEVICES {
        let device = SecretKey::derive(&DeviceSecret::generate(rng), &params);
        let mut own = EvaluationKeys::empty(&params, owner.id());
        own.transfers.insert(device.id(), owner.transfer_key(&device, rng)?);
        transfer.add(device.id(), &own)?;
        let error = SmallPoly::centred_binomial(params.degree(), rng);
        compacts.push(device.encrypt_with(&plaintext, seed, &error)?.compact(kept)?);
        last = Some((device.id(), own));
    }
    let (device, own) = last.ok_or("a fleet has devices")?;
    let own_secret = owner.encrypt(&plaintext, rng)?.compact(kept)?;
    let [mut adding, mut leaving, mut joining, mut whole, mut alone] = [(); 5].map(|()| Vec::new());
    for _ in 0..TURNS {
        let (time, sum) = timed(|| {
            let mut sum = CompactSum::new(compacts[0].clone());
            compacts[1..].iter().try_for_each(|compact| sum.add(compact)).map(|()| sum)
        });
        let sum = sum?;
        adding.push(time);
        let (time, left) = timed(|| transfer.remove(device, &own));
        left?;
        leaving.push(time);
        let (time, joined) = timed(|| transfer.add(device, &own));
        joined?;
        joining.push(time);
        let (time, expanded) = timed(|| evaluator.expand_sum(&sum, &transfer, &keys, &mut scratch));
        evaluator.recycle(expanded?, &mut scratch);
        whole.push(time);
        let (time, expanded) = timed(|| evaluator.expand(&own_secret, &keys, &mut scratch));
        evaluator.recycle(expanded?, &mut scratch);
        alone.push(time);
    }
    let [adding, leaving, joining, whole, alone] = [adding, leaving, joining, whole, alone].map(fastest);
    println!(
        "sum of {DEVICES} devices, {}: add {adding:.1} µs; switch and expand {whole:.1} µs, expansion alone {alone:.1} µs; a device leaves in {leaving:.1} µs, joins in {joining:.1} µs",
        S::ID
    );
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
