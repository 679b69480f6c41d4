//! Sums of many windows of one device: `cargo bench -p sotto-cloud --bench streams [-- WINDOWS]`.
//!
//! By default 10^6 windows of 16 readings of 12 bits, 23 bits a place: a body of 46 bytes and a tag of 8. The store has twice
//! as many, in segments; the files are in the system's cache.

mod meter;

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use sotto_cloud::windows::Windows;
use sotto_cloud_client::{PartsOf, WindowsOf};
use sotto_sums::{Opening, StartKeys, StreamKeys, TagKey};
use sotto_wire::{StreamHeader, SumBlocks, SumsAnswer};

use meter::{SALT, SECRET, SPAN, TICKS, encryptor, header, reading, window};

/// Windows of a page of the log.
const PAGE: usize = 16_384;
/// Repetitions; the fastest and the slowest are printed.
const TURNS: usize = 9;

fn timed<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    let begin = Instant::now();
    let out = run();
    (begin.elapsed(), out)
}

/// Opens the sums of an answer as the owner does, and compares them with those of the readings.
fn check(header: &StreamHeader, numbers: &[u64], request: &WindowsOf, frame: &[u8]) -> anyhow::Result<()> {
    let answer = SumsAnswer::read(frame, header, 64 << 20, numbers.len() as u32)?;
    anyhow::ensure!(answer.names.iter().map(|name| name.sequence).eq(numbers.iter().copied()));
    let stream = header.stream_id().expect("a stream of sums");
    let (form, start) = (header.sums_form(0)?, StartKeys::derive(&SECRET, stream, &SALT));
    let key = TagKey::new(&StreamKeys::derive(&SECRET, stream), &form, 0);
    for (of_sum, sum) in request.sums.iter().zip(&answer.sums) {
        let numbers = &numbers[of_sum.windows.0 as usize..][..of_sum.windows.1 as usize];
        let mut opening = Opening::new(&form, 0);
        numbers.iter().for_each(|number| opening.add(&start, *number, TICKS, 1, |_| true));
        let opened = opening.open(&key, sum.part(0).expect("the part"))?;
        let clear = (0..u64::from(TICKS))
            .map(|tick| numbers.iter().map(|number| reading(*number, tick)).sum::<i64>());
        anyhow::ensure!(opened.into_iter().eq(clear), "a sum is wrong");
    }
    Ok(())
}

/// Returns a request for sums of windows, cut where the owner cuts them: where blocks of time end.
fn request(header: &StreamHeader, numbers: &[u64]) -> WindowsOf {
    let mut windows: Vec<(u64, u32)> = Vec::new();
    for number in numbers {
        match windows.last_mut() {
            Some((first, count)) if *first + u64::from(*count) == *number => *count += 1,
            _ => windows.push((*number, 1)),
        }
    }
    let (blocks, _) = SumBlocks::of_stream(header).expect("a stream of sums");
    let mut first = 0;
    let sums =
        numbers.chunk_by(|a, b| blocks.of(SPAN * *a as i64) == blocks.of(SPAN * *b as i64)).map(|block| {
            let count = block.len() as u32;
            first += count;
            PartsOf { windows: (first - count, count), parts: vec![0], weights: None }
        });
    WindowsOf { sums: sums.collect(), windows }
}

/// Returns the bytes of the blocks that a folder takes on the disk.
fn blocks(folder: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { blocks(&entry.path())? } else { metadata.blocks() * 512 };
    }
    Ok(bytes)
}

fn main() -> anyhow::Result<()> {
    let windows: usize = std::env::args().find_map(|text| text.parse().ok()).unwrap_or(1_000_000);
    let header = header("meter")?;
    let folder = tempfile::tempdir()?;
    let mut stored = Windows::create(folder.path(), &header)?;
    let mut encryptor = encryptor(&header);
    let all = (0..2 * windows as u64)
        .map(|number| window(&header, &mut encryptor, number, SPAN * number as i64, |_| true, |_| [0; 64]));
    let (filling, filled) = timed(|| stored.insert(all));
    filled?;
    println!(
        "{} windows stored, {:.1} bytes on disk each, in {:.1} s",
        2 * windows,
        blocks(folder.path())? as f64 / (2 * windows) as f64,
        filling.as_secs_f64()
    );
    let (reading, read) = timed(|| {
        let (mut from, mut bytes) = (0, 0);
        loop {
            let (page, more) = stored.log(from, PAGE)?;
            if more == 0 {
                return anyhow::Ok((from, bytes));
            }
            (from, bytes) = (from + more, bytes + page.len());
        }
    });
    let (logged, bytes) = read?;
    println!(
        "{:<24} {logged} windows: {:.3} s, {:.1} bytes each",
        "pages of the log",
        reading.as_secs_f64(),
        bytes as f64 / logged as f64
    );
    let consecutive: Vec<u64> = (0..windows as u64).collect();
    let drawn = |number: &u64| blake3::hash(&number.to_le_bytes()).as_bytes()[0] < 128;
    let half: Vec<u64> = (0..2 * windows as u64).filter(drawn).take(windows).collect();
    // Windows of 64 numbers with a gap between them, as of a device that was away.
    let gaps: Vec<u64> = (0..2 * windows as u64).filter(|number| number % 96 < 64).take(windows).collect();
    let cases = [("consecutive", &consecutive), ("64 of 96", &gaps), ("every other, at random", &half)];
    let mut frames: Vec<Vec<u8>> = Vec::new();
    for with_nodes in [false, true] {
        if with_nodes {
            let (making, made) = timed(|| stored.make_nodes());
            made?;
            let bytes = blocks(folder.path())? as f64 / (2 * windows) as f64;
            println!(
                "sums of blocks of time: made in {:.1} s; {bytes:.1} bytes on disk a window",
                making.as_secs_f64()
            );
        }
        for (at, (what, numbers)) in cases.iter().enumerate() {
            let request = request(&header, numbers);
            let mut times = Vec::new();
            for turn in 0..TURNS {
                let (time, frame) = timed(|| stored.sums(&request));
                if turn == 0 {
                    let frame = frame?;
                    check(&header, numbers, &request, &frame)?;
                    frames.push(frame);
                }
                times.push(time);
            }
            anyhow::ensure!(frames[at] == frames[frames.len() - 1], "stored sums give another answer");
            times.sort_unstable();
            let [least, middle, most] = [0, TURNS / 2, TURNS - 1].map(|at| times[at].as_secs_f64());
            println!(
                "{what:<24} {} windows: {least:.3} s … {middle:.3} … {most:.3} s on one core",
                numbers.len()
            );
        }
    }
    Ok(())
}
