//! Uploads of windows of one device over HTTP: `cargo bench -p sotto-cloud --bench ingest [-- WINDOWS]`.
//!
//! By default 6,400 windows of 16 readings, in groups of 64: in order, then as many supplements, each with an eighth of the ticks
//! that the first ones left out. The store is in the system's temporary folder: with `TMPDIR` in memory, no disk is waited
//! for.

mod meter;
mod service;

use std::time::{Duration, Instant};

use sotto_keys::SigningIdentity;
use sotto_wire::{Envelope, MOST_GROUPED, WindowGroup};

use meter::{SPAN, TICKS, encryptor, header, window};
use service::Cloud;

/// Supplements of a window: each has an eighth of its ticks.
const SUPPLEMENTS: u64 = 4;
/// Repetitions, each with a store of its own; the fastest and the slowest are printed.
const TURNS: usize = 5;

/// Uploads windows in groups to a new cloud; returns the time of the windows in order and of the supplements.
fn turn(windows: u64) -> anyhow::Result<[Duration; 2]> {
    let (header, identity) = (header("meter")?, SigningIdentity::from_bytes(&[3; 32]));
    let (cloud, agent) = (Cloud::start()?, ureq::Agent::new_with_defaults());
    cloud.register(&header, identity.verifying_key())?;
    let mut encryptor = encryptor(&header);
    let mut window = |number: u64, place: u64, has: &dyn Fn(u32) -> bool| {
        window(&header, &mut encryptor, number, SPAN * place as i64, has, |_| [0; 64])
    };
    // The first half of the ticks; the second half comes in supplements.
    let in_order = (0..windows).map(|number| window(number, number, &|tick| tick < TICKS / 2)).collect();
    let supplements = (0..windows).map(|number| {
        let (place, turn) = (number / SUPPLEMENTS, (number % SUPPLEMENTS) as u32);
        window(windows + number, place, &|tick| tick >= TICKS / 2 && tick % SUPPLEMENTS as u32 == turn)
    });
    let supplements: Vec<Envelope> = supplements.collect();
    let upload = |all: Vec<Envelope>| -> anyhow::Result<Duration> {
        let groups = all.chunks(MOST_GROUPED).map(|some| {
            let group = WindowGroup::sign(some.to_vec(), |message| identity.sign(message))?;
            Ok((group.upload_key(), group.write()))
        });
        let groups = groups.collect::<anyhow::Result<Vec<(String, Vec<u8>)>>>()?;
        let begin = Instant::now();
        for (key, group) in &groups {
            cloud.upload(&agent, key, group)?;
        }
        Ok(begin.elapsed())
    };
    let times = [upload(in_order)?, upload(supplements)?];
    cloud.stop()?;
    Ok(times)
}

fn main() -> anyhow::Result<()> {
    let windows: u64 = std::env::args().find_map(|text| text.parse().ok()).unwrap_or(6_400);
    let times = (0..TURNS).map(|_| turn(windows)).collect::<anyhow::Result<Vec<_>>>()?;
    for (at, what) in ["in order", "supplements"].into_iter().enumerate() {
        let mut seconds: Vec<f64> = times.iter().map(|times| times[at].as_secs_f64()).collect();
        seconds.sort_by(f64::total_cmp);
        let each = |seconds: f64| seconds * 1e6 / windows as f64;
        let [least, middle, most] = [0, TURNS / 2, TURNS - 1].map(|at| each(seconds[at]));
        println!("{what:<12} {windows} windows: {least:.0} µs … {middle:.0} … {most:.0} µs each");
    }
    Ok(())
}
