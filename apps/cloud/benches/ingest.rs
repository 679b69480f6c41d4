//! Uploads of windows of one device over HTTP, from the socket to the receipt: `cargo bench -p sotto-cloud --bench ingest
//! [-- WINDOWS]`.
//!
//! By default 6,400 windows of 16 readings, in groups of 64: in order, then as many supplements, each with an eighth of the
//! ticks that the first ones left out; an eighth as many in order and alone. Each turn has a store in memory (`/dev/shm`) and one in the
//! system's temporary folder, whose disk is waited for (`TMPDIR` chooses it). `parse`, `check`, `digest` and `sign` are the
//! same work alone: the envelope, the device's signature, the digests of each window, the cloud's signature of each receipt. `http` is a
//! request of the same connection that does nothing. `store` is the rest in memory, `flush` the difference of the disk.

mod meter;
mod service;

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sotto_keys::SigningIdentity;
use sotto_wire::{Envelope, MOST_GROUPED, Receipt, StreamHeader, WindowGroup, message_digest};
use tempfile::TempDir;

use meter::{SPAN, TICKS, encryptor, header, window};
use service::Cloud;

/// Supplements of a window: each has an eighth of its ticks.
const SUPPLEMENTS: u64 = 4;
/// Repetitions, each with stores of its own; the least of their medians counts.
const TURNS: usize = 5;
/// The kinds of uploads.
const KINDS: [&str; 3] = ["in order, groups", "supplements, groups", "in order, alone"];

/// A message and its idempotency key.
type Message = (String, Vec<u8>);

/// Uploads of each kind, in the order in which they are sent.
struct Uploads {
    header: Arc<StreamHeader>,
    identity: SigningIdentity,
    messages: [Vec<Message>; KINDS.len()],
    windows: [u64; KINDS.len()],
}

impl Uploads {
    fn new(windows: u64) -> anyhow::Result<Self> {
        let (header, identity) = (header("meter")?, SigningIdentity::from_bytes(&[3; 32]));
        let mut encryptor = encryptor(&header);
        let sign = |message: &[u8]| identity.sign(message);
        let mut window = |number: u64, place: u64, has: &dyn Fn(u32) -> bool| {
            window(&header, &mut encryptor, number, SPAN * place as i64, has, sign)
        };
        // The first half of the ticks; the second half comes in supplements.
        let in_order = (0..windows).map(|number| window(number, number, &|tick| tick < TICKS / 2)).collect();
        let supplements = (0..windows).map(|number| {
            let (place, turn) = (number / SUPPLEMENTS, (number % SUPPLEMENTS) as u32);
            let has = |tick| tick >= TICKS / 2 && tick % SUPPLEMENTS as u32 == turn;
            window(windows + number, place, &has)
        });
        let supplements = supplements.collect();
        let few = windows / 8;
        let alone = (0..few).map(|number| {
            let window = window(2 * windows + number, windows + number, &|tick| tick < TICKS / 2);
            (window.header().upload_key(), window.write())
        });
        let alone = alone.collect();
        let grouped = |all: Vec<Envelope>| -> anyhow::Result<Vec<Message>> {
            let groups = all.chunks(MOST_GROUPED).map(|some| {
                let group = WindowGroup::sign(some.to_vec(), sign)?;
                Ok((group.upload_key(), group.write()))
            });
            groups.collect()
        };
        let messages = [grouped(in_order)?, grouped(supplements)?, alone];
        Ok(Self { header, identity, messages, windows: [windows, windows, few] })
    }

    /// Uploads all to a new cloud; returns the median time of a message of each kind, and of a request that does nothing.
    fn turn(&self, folder: TempDir) -> anyhow::Result<[[Duration; 2]; KINDS.len()]> {
        let (cloud, agent) = (Cloud::start(folder)?, ureq::Agent::new_with_defaults());
        cloud.register(&self.header, self.identity.verifying_key())?;
        let mut times = [[Duration::ZERO; 2]; KINDS.len()];
        for (times, messages) in times.iter_mut().zip(&self.messages) {
            let upload = |(key, message): &Message| timed(|| cloud.upload(&agent, key, message));
            let nothing = |_: &Message| {
                timed(|| {
                    Ok(agent
                        .get(format!("{}/healthz", cloud.url))
                        .call()?
                        .body_mut()
                        .read_to_vec()
                        .map(drop)?)
                })
            };
            times[0] = median(messages.iter().map(upload).collect::<anyhow::Result<_>>()?);
            times[1] = median(messages.iter().map(nothing).collect::<anyhow::Result<_>>()?);
        }
        cloud.stop()?;
        Ok(times)
    }

    /// Does the work of the cloud on one kind of uploads step by step, without a store: parse, check, digest, sign. Returns the
    /// median of each step of a message.
    fn alone(&self, kind: usize) -> anyhow::Result<[Duration; 4]> {
        let (key, mut times) = (self.identity.verifying_key(), [const { Vec::new() }; 4]);
        for (_, message) in &self.messages[kind] {
            let (mut begin, mut steps) = (Instant::now(), times.iter_mut());
            let mut next = || {
                steps.next().expect("a step").push(begin.elapsed());
                begin = Instant::now();
            };
            let windows = match sotto_wire::is_group(message) {
                true => WindowGroup::read(message, &self.header)?.into_windows(),
                false => vec![Envelope::read_window(message, &self.header)?],
            };
            next();
            // The paths of a group's windows lead to one signed root.
            windows[0].verify(&key)?;
            next();
            for window in &windows {
                black_box((message_digest(&window.write())?, window.window_digest()));
            }
            next();
            for window in &windows {
                let (device, stream, sequence) = ("meter", "level", window.header().sequence);
                let receipt =
                    Receipt { device, stream, sequence, digest: [1; 32], position: 1, stored_at: 1 };
                black_box(receipt.sign(|message| self.identity.sign(message))?);
            }
            next();
        }
        Ok(times.map(median))
    }
}

/// Returns the time of some work.
fn timed(work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<Duration> {
    let begin = Instant::now();
    work().map(|()| begin.elapsed())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn main() -> anyhow::Result<()> {
    let windows: u64 = std::env::args().find_map(|text| text.parse().ok()).unwrap_or(6_400);
    let uploads = Uploads::new(windows)?;
    let [mut in_memory, mut on_disk] = [[[Duration::MAX; 2]; KINDS.len()]; 2];
    let mut steps = [[Duration::MAX; 4]; KINDS.len()];
    for _ in 0..TURNS {
        let memory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())?;
        for (least, folder) in [(&mut in_memory, memory), (&mut on_disk, tempfile::tempdir()?)] {
            let times = uploads.turn(folder)?;
            least
                .as_flattened_mut()
                .iter_mut()
                .zip(times.as_flattened())
                .for_each(|(least, time)| *least = *time.min(least));
        }
        for (kind, least) in steps.iter_mut().enumerate() {
            least.iter_mut().zip(uploads.alone(kind)?).for_each(|(least, time)| *least = time.min(*least));
        }
    }
    println!("µs a window: the median of the messages, the least of {TURNS} turns");
    let columns = ["all", "parse", "check", "digest", "sign", "http", "store", "flush"];
    let columns: String = columns.iter().map(|column| format!("{column:>8}")).collect();
    println!("{:<20} {:>8}{columns} {:>10}", "", "windows", "windows/s");
    for (kind, name) in KINDS.into_iter().enumerate() {
        let windows = uploads.windows[kind];
        let grouped = windows as f64 / uploads.messages[kind].len() as f64;
        let each = |time: Duration| time.as_secs_f64() * 1e6 / grouped;
        let (memory, disk) = (each(in_memory[kind][0]), each(on_disk[kind][0]));
        let http = each(in_memory[kind][1].min(on_disk[kind][1]));
        let steps = steps[kind].map(each);
        let store = memory - http - steps.iter().sum::<f64>();
        let all = [&[disk][..], &steps, &[http, store, disk - memory]].concat();
        let all: String = all.iter().map(|each| format!("{each:>8.1}")).collect();
        println!("{name:<20} {windows:>8}{all} {:>10.0}", 1e6 / disk);
    }
    Ok(())
}
