//! Sums of many windows of one device: `cargo bench -p sotto-cloud --bench streams [-- WINDOWS]`.
//!
//! By default 10^6 windows of 16 readings of 12 bits, 23 bits a place: a body of 46 bytes and a tag of 8. The database has
//! twice as many, in the cloud's table; the file is in the system's cache.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sotto_cloud::windows::Windows;
use sotto_cloud_client::{PartsOf, WindowsOf};
use sotto_pack::{Channel, Digit, Placed, Quantity, SumsPart, WindowDescription};
use sotto_rlwe::KeyId;
use sotto_sums::{Encryptor, Opening, StartKeys, StreamKeys, TagKey};
use sotto_wire::{Envelope, MaskName, StreamHeader, SumsAnswer, SumsStream, TickPeriod};

const SECRET: [u8; 32] = [1; 32];
const SALT: [u8; 12] = [2; 12];
const TICKS: u32 = 16;
/// Windows in one sum: as many readings of -2048 to 2048 as 23 bits have room for.
const MOST: usize = 2047;
/// Repetitions; the fastest and the slowest are printed.
const TURNS: usize = 9;

fn timed<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    let begin = Instant::now();
    let out = run();
    (begin.elapsed(), out)
}

/// A reading in steps from the middle of the range.
fn reading(number: u64, tick: u64) -> i64 {
    ((number * 97 + tick * 251) % 4096) as i64 - 2048
}

fn header() -> anyhow::Result<Arc<StreamHeader>> {
    let level =
        Channel { name: "level".into(), maximum: 4096.0, resolution: Some(1.0), ..Channel::default() };
    let readings = Placed { quantity: Quantity::Reading(0), digit: Digit::Whole, width: 23 };
    let stream = SumsStream {
        device: "meter".into(),
        stream: "level".into(),
        period: TickPeriod::new(60, 1)?,
        ticks: TICKS,
        channels: vec![level],
        parts: vec![SumsPart { quantities: vec![readings], reasons: 0 }],
    };
    Ok(Arc::new(StreamHeader::of_sums(stream, |id| KeyId(StreamKeys::derive(&SECRET, id).id()))?))
}

fn window(header: &Arc<StreamHeader>, encryptor: &mut Encryptor, number: u64) -> Envelope {
    let description = WindowDescription::whole(header.layout(), 960_000 * number as i64, 60_000, TICKS);
    let form = header.sums_form(0).expect("a part");
    let mut parts = vec![0; form.body_bytes(TICKS)];
    let values = (0..u64::from(TICKS)).map(|tick| Some(reading(number, tick)));
    let counts = header.parts()[0].counts(&description);
    let mut pads = encryptor.window(number).expect("a new number");
    let tag = pads.encrypt(&form, TICKS, 0, values, counts, &mut parts).expect("readings in their range");
    parts.extend(tag.to_bytes());
    let name = MaskName { salt: SALT, sequence: number };
    Envelope::sign_sums(header, number, name, description, &parts, |_| [0; 64]).expect("a window")
}

/// Opens the sums of an answer as the owner does, and compares them with those of the readings.
fn check(header: &StreamHeader, numbers: &[u64], frame: &[u8]) -> anyhow::Result<()> {
    let answer = SumsAnswer::read(frame, header, 64 << 20, numbers.len() as u32)?;
    anyhow::ensure!(answer.names.iter().map(|name| name.sequence).eq(numbers.iter().copied()));
    let stream = header.stream_id().expect("a stream of sums");
    let (form, start) = (header.sums_form(0)?, StartKeys::derive(&SECRET, stream, &SALT));
    let key = TagKey::new(&StreamKeys::derive(&SECRET, stream), &form, 0);
    for (numbers, sum) in numbers.chunks(MOST).zip(&answer.sums) {
        let mut opening = Opening::new(&form, 0);
        numbers.iter().for_each(|number| opening.add(&start, *number, TICKS, 1, |_| true));
        let opened = opening.open(&key, sum.part(0).expect("the part"))?;
        let clear = (0..u64::from(TICKS))
            .map(|tick| numbers.iter().map(|number| reading(*number, tick)).sum::<i64>());
        anyhow::ensure!(opened.into_iter().eq(clear), "a sum is wrong");
    }
    Ok(())
}

fn request(numbers: &[u64]) -> WindowsOf {
    let mut windows: Vec<(u64, u32)> = Vec::new();
    for number in numbers {
        match windows.last_mut() {
            Some((first, count)) if *first + u64::from(*count) == *number => *count += 1,
            _ => windows.push((*number, 1)),
        }
    }
    let sum = |first: usize| {
        let count = (numbers.len() - first).min(MOST);
        PartsOf { windows: (first as u32, count as u32), parts: vec![0], weights: None }
    };
    WindowsOf { windows, sums: (0..numbers.len()).step_by(MOST).map(sum).collect() }
}

fn main() -> anyhow::Result<()> {
    let windows: usize = std::env::args().find_map(|text| text.parse().ok()).unwrap_or(1_000_000);
    let header = header()?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("cloud.sqlite");
    let mut stored = Windows::create(&file, &header)?;
    let mut encryptor = Encryptor::new(&SECRET, header.stream_id().expect("a stream of sums"), &SALT, 0);
    let all = (0..2 * windows as u64).map(|number| window(&header, &mut encryptor, number));
    let (filling, filled) = timed(|| stored.insert(all));
    filled?;
    println!(
        "{} windows stored, {:.0} bytes of the file each, in {:.1} s",
        2 * windows,
        std::fs::metadata(&file)?.len() as f64 / (2 * windows) as f64,
        filling.as_secs_f64()
    );
    let consecutive: Vec<u64> = (0..windows as u64).collect();
    let drawn = |number: &u64| blake3::hash(&number.to_le_bytes()).as_bytes()[0] < 128;
    let half: Vec<u64> = (0..2 * windows as u64).filter(drawn).take(windows).collect();
    // Windows of 64 numbers with a gap between them, as of a device that was away.
    let gaps: Vec<u64> = (0..2 * windows as u64).filter(|number| number % 96 < 64).take(windows).collect();
    for (what, numbers) in
        [("consecutive", &consecutive), ("64 of 96", &gaps), ("every other, at random", &half)]
    {
        let request = request(numbers);
        let mut times = Vec::new();
        for turn in 0..TURNS {
            let (time, frame) = timed(|| stored.sums(&request));
            if turn == 0 {
                check(&header, numbers, &frame?)?;
            }
            times.push(time);
        }
        times.sort_unstable();
        let [least, middle, most] = [0, TURNS / 2, TURNS - 1].map(|at| times[at].as_secs_f64());
        println!(
            "{what:<24} {} windows: {least:.3} s … {middle:.3} … {most:.3} s on one core",
            numbers.len()
        );
    }
    Ok(())
}
