//! Sums over a fleet under one mask: `cargo bench -p sotto-cloud --bench fleet [-- DEVICES]`.
//!
//! By default 10^6 devices, each with a window of 16 readings of 12 bits at n = 4096, 36 bits a place. The windows are
//! in a SQLite file with the cloud's schema. Only as many devices as one sum can take are real; their bodies are stored
//! repeatedly under other keys.

use std::time::{Duration, Instant};

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_cloud::columns::Columns;
use sotto_compact::{Profile, fleet_mask_key};
use sotto_decrypt::open_fleet;
use sotto_keys::{CompactEncryptor, DeviceSecret, SecretKey, SecretSum};
use sotto_pack::{Channel, Places};
use sotto_rlwe::{Bfv, ChainRequest, KeyId, Params, SchemeId};
use sotto_wire::{FleetId, MaskName, StreamHeader, StreamParts, WindowValues};

/// Devices in one sum: as many 12-bit readings as the plain modulus has room for.
const MOST: usize = 2048;
const TICKS: usize = 16;
const START: i64 = 1_795_000_000_000;
const FLEET: FleetId = FleetId([1; 16]);
/// Repetitions of the scan and of the opening; the fastest and the slowest are printed.
const TURNS: usize = 5;

fn timed<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    let begin = Instant::now();
    let out = run();
    (begin.elapsed(), out)
}

fn reading(device: usize, place: usize) -> i64 {
    ((device * 97 + place * 251) % 4096) as i64
}

fn main() -> anyhow::Result<()> {
    let devices: usize = std::env::args().find_map(|text| text.parse().ok()).unwrap_or(1_000_000);
    let request = ChainRequest::one_prime(SchemeId::Bfv, 4096, (1 << 24) + 43, 40);
    let params = Params::<Bfv>::new(request.build()?)?;
    let profile = Profile::new(&params, TICKS, 36)?;
    anyhow::ensure!(profile.most_windows() >= MOST as u64, "a sum bears {}", profile.most_windows());
    let name = MaskName::shared(START).expect("a time after 1970");
    let mask = fleet_mask_key(params.id(), &FLEET.0).mask(&name.salt, name.sequence);
    let mut rng = ChaCha20Rng::from_seed([1; 32]);
    let secrets: Vec<DeviceSecret> = (0..MOST).map(|_| DeviceSecret::generate(&mut rng)).collect();
    let bodies: Vec<Vec<u8>> = secrets
        .iter()
        .enumerate()
        .map(|(at, secret)| {
            let values: Vec<i64> = (0..TICKS).map(|place| reading(at, place)).collect();
            CompactEncryptor::derive(secret, &params).encrypt(&profile, &values, &mask, &mut rng)
        })
        .collect::<Result<_, _>>()?;
    let channel =
        Channel { name: "level".into(), maximum: 4095.0, resolution: Some(1.0), ..Channel::default() };
    let header = StreamHeader::new(StreamParts {
        device: "meter".into(),
        stream: "readings".into(),
        parameters: params.id(),
        key: KeyId([0; 16]),
        period: 60_000,
        ticks: TICKS as u32,
        channels: vec![channel],
        values: WindowValues::Places(Places { width: 36, ..Places::default() }),
        fleet: Some(FLEET),
    })?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("cloud.sqlite");
    let mut columns = Columns::create(&file, &header)?;
    let key = |at: usize| KeyId((at as u128).to_be_bytes());
    let (filling, filled) =
        timed(|| columns.insert(START, (0..devices).map(|at| (key(at), bodies[at % MOST].clone()))));
    filled?;
    println!(
        "{devices} devices, {} bytes each; {:.0} bytes of the file a window, written in {:.1} s",
        profile.form().body_bytes(),
        std::fs::metadata(&file)?.len() as f64 / devices as f64,
        filling.as_secs_f64()
    );

    // The owner stores Σ s_i over the devices of each sum.
    let last = devices % MOST;
    let (deriving, keys) =
        timed(|| secrets.iter().map(|secret| SecretKey::<Bfv>::derive(secret, &params)).collect::<Vec<_>>());
    let sum_of = |count: usize| {
        let mut sum = SecretSum::new(&params);
        keys[..count].iter().for_each(|key| assert!(sum.add(key)));
        sum
    };
    let (summing, whole) = timed(|| sum_of(MOST));
    let rest = sum_of(last);
    let (mut scans, mut openings, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let (scan, added) = timed(|| columns.sums(profile.form(), START, MOST));
        let (keys, sums) = added?;
        anyhow::ensure!(
            keys.len() == devices && keys.is_sorted_by_key(|key| key.0),
            "other devices took part"
        );
        let (opening, opened) = timed(|| {
            let of = |at: usize| if (at + 1) * MOST <= devices { &whole } else { &rest };
            let open = |(at, sum)| open_fleet(of(at), &profile, sum, &mask);
            sums.iter().enumerate().map(open).collect::<Result<Vec<_>, _>>()
        });
        for (at, values) in opened?.into_iter().enumerate() {
            let count = (devices - at * MOST).min(MOST);
            let expected =
                (0..TICKS).map(|place| (0..count).map(|device| reading(device, place)).sum::<i64>());
            anyhow::ensure!(values.into_residues().into_iter().eq(expected), "sum {at} is wrong");
        }
        scans.push(scan);
        openings.push(opening);
        all.push(scan + opening);
    }
    let each = |time: Duration, count: usize| time.as_secs_f64() * 1e6 / count as f64;
    println!(
        "Σ s_i, once for a fleet: {:.1} µs a device to derive the secret, {:.2} µs to add it",
        each(deriving, MOST),
        each(summing, MOST)
    );
    for (what, times) in [("read and add", &mut scans), ("open", &mut openings), ("both", &mut all)] {
        times.sort_unstable();
        let [least, most] = [times[0], times[TURNS - 1]].map(|time| time.as_secs_f64());
        println!("{what:<14} {least:>8.3} s … {most:.3} s on one core");
    }
    Ok(())
}
