//! Uploads of many devices at once, durable: `cargo bench -p sotto-cloud --bench agents [-- WINDOWS]`.
//!
//! 64 devices with a kept connection each send windows of 16 readings: in groups of 64, in groups at 10,000 windows a
//! second, then alone, each time to a cloud of its own. WINDOWS, 65,536 unless given, are sent in groups, a sixteenth as many alone. The store is in the system's temporary
//! folder (`TMPDIR`): each receipt waits for a sync of that disk. Windows are encrypted and signed before the clock starts. On
//! Linux the CPU time of the cloud for a window is shown too, up to the receipt, and up to a segment.

mod meter;
mod service;
mod start;

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use sotto_keys::SigningIdentity;
use sotto_wire::{Envelope, MOST_GROUPED, StreamHeader, WindowGroup};

use meter::{SPAN, encryptor, header, window};
use service::Cloud;
use start::{Started, started};

const AGENTS: u64 = 64;
/// Windows a second of all devices that send in groups at a pace, and the groups of each.
const PACE: f64 = 10_000.0;
const PACED: usize = 16;

/// A message and its idempotency key.
type Message = (String, Vec<u8>);

struct Device {
    header: Arc<StreamHeader>,
    identity: SigningIdentity,
    grouped: Vec<Message>,
    alone: Vec<Message>,
}

impl Device {
    fn new(number: u64, windows: u64) -> anyhow::Result<Self> {
        let name = format!("meter-{number}");
        let (header, identity) = (header(&name)?, SigningIdentity::from_bytes(&[number as u8 + 1; 32]));
        let mut encryptor = encryptor(&header);
        let mut window = |number: u64, sign: &dyn Fn(&[u8]) -> [u8; 64]| {
            window(&header, &mut encryptor, number, SPAN * number as i64, |_| true, sign)
        };
        let unsigned = |_: &[u8]| [0; 64];
        let grouped: Vec<Envelope> = (0..windows).map(|number| window(number, &unsigned)).collect();
        let grouped = grouped.chunks(MOST_GROUPED).map(|some| {
            let group = WindowGroup::sign(some.to_vec(), |message| identity.sign(message))?;
            Ok((group.upload_key(), group.write()))
        });
        let grouped = grouped.collect::<anyhow::Result<_>>()?;
        let alone = (windows..windows + windows / 16).map(|number| {
            let window = window(number, &|message| identity.sign(message));
            (window.header().upload_key(), window.write())
        });
        let alone = alone.collect();
        Ok(Self { header, identity, grouped, alone })
    }
}

/// Returns nanoseconds of CPU time that this thread used; 0 where the system does not tell.
fn of_thread() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or_default()
}

/// Returns nanoseconds of CPU time that this process used, in steps of 10 ms; 0 where the system does not tell.
fn of_process() -> u64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // User and system time, by their places behind the name, which is in brackets.
    let behind = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    behind.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() * 10_000_000
}

/// The time of some messages: of all, of each, and the CPU time of those that send them.
struct Times {
    all: Duration,
    each: Vec<Duration>,
    senders: u64,
}

/// Sends the messages of all devices at once, each over a connection of its own: one after the other, or one each `every`, whose
/// time then begins when it is due.
fn send_all<'d>(
    cloud: &Cloud,
    devices: &'d [Device],
    every: Option<Duration>,
    of: impl Fn(&'d Device) -> &'d [Message] + Sync,
) -> anyhow::Result<Times> {
    let begin = Instant::now();
    let sent = std::thread::scope(|scope| {
        let of = &of;
        let send = |(number, device)| {
            scope.spawn(move || -> anyhow::Result<(Vec<Duration>, u64)> {
                let agent = ureq::Agent::new_with_defaults();
                let apart = every.map_or(Duration::ZERO, |every| every * number as u32 / AGENTS as u32);
                let send = |(at, (key, message)): (usize, &Message)| {
                    let due = every.map_or_else(Instant::now, |every| begin + apart + every * at as u32);
                    std::thread::sleep(due.saturating_duration_since(Instant::now()));
                    cloud.upload(&agent, key, message)?;
                    Ok(due.elapsed())
                };
                let times = of(device).iter().enumerate().map(send).collect::<anyhow::Result<_>>()?;
                Ok((times, of_thread()))
            })
        };
        let threads: Vec<_> = devices.iter().enumerate().map(send).collect();
        let sent = threads.into_iter().map(|thread| thread.join().ok().context("an agent panicked")?);
        sent.collect::<anyhow::Result<Vec<_>>>()
    })?;
    let (times, used): (Vec<_>, Vec<u64>) = sent.into_iter().unzip();
    Ok(Times {
        all: begin.elapsed(),
        each: times.into_iter().flatten().collect(),
        senders: used.into_iter().sum(),
    })
}

/// Returns the seconds of the first and of the last tenth of each device's messages, at the median of the devices.
fn ends(times: &[Duration]) -> (f64, f64) {
    let mut ends = [Vec::new(), Vec::new()];
    for of_device in times.chunks(times.len().div_ceil(AGENTS as usize).max(1)) {
        let tenth = (of_device.len() / 10).max(1);
        for (ends, some) in ends.iter_mut().zip([&of_device[..tenth], &of_device[of_device.len() - tenth..]])
        {
            ends.push(some.iter().sum::<Duration>().as_secs_f64());
        }
    }
    let [first, last] = ends.map(|mut of| {
        of.sort_by(f64::total_cmp);
        of[of.len() / 2]
    });
    (first, last)
}

fn main() -> anyhow::Result<()> {
    let windows: u64 = std::env::args().find_map(|text| text.parse().ok()).unwrap_or(65_536);
    let devices = (0..AGENTS).map(|number| Device::new(number, windows / AGENTS));
    let devices = devices.collect::<anyhow::Result<Vec<_>>>()?;
    let paced = Duration::from_secs_f64((AGENTS * MOST_GROUPED as u64) as f64 / PACE);
    for (what, each, every, of) in [
        (
            "in groups of 64",
            MOST_GROUPED as f64,
            None,
            (|device| &device.grouped) as fn(&Device) -> &[Message],
        ),
        ("groups, paced", MOST_GROUPED as f64, Some(paced), |device| {
            &device.grouped[..device.grouped.len().min(PACED)]
        }),
        ("alone", 1.0, None, |device| &device.alone),
    ] {
        let cloud = Cloud::start(tempfile::tempdir()?)?;
        for device in &devices {
            cloud.register(&device.header, device.identity.verifying_key())?;
        }
        let before = of_process();
        let Times { all, each: mut times, senders } = send_all(&cloud, &devices, every, of)?;
        let windows = times.len() as f64 * each;
        let used = || of_process().saturating_sub(before + senders) as f64 / windows / 1e3;
        let to_receipts = used();
        let folder = cloud.stop()?;
        let used = used();
        let Started { time, memory } = started(&folder)?;
        let (first, last) = ends(&times);
        times.sort_unstable();
        let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3;
        println!(
            "{what:<16} {windows:>9} windows: {:>7.0} a second; a message {:.1} ms at the median, {:.1} at 99 of 100, {:.1} at most; \
             a window {to_receipts:.0} µs of CPU time to its receipt, {:.0} to its segment",
            windows / all.as_secs_f64(),
            at(0.5),
            at(0.99),
            at(1.0),
            used,
        );
        println!(
            "{:16} the first tenth of a device's messages took {first:.1} s, the last one {last:.1} s; a start afterwards {:.0} ms, {:.0} MB",
            "",
            time.as_secs_f64() * 1e3,
            memory as f64 / 1e6,
        );
    }
    Ok(())
}
