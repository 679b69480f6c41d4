//! The agent from a row of a CSV file to a durable message in the spool: `cargo bench -p sotto-agent --bench spool`.
//!
//! For each kind of windows and each step the median over its windows, in microseconds, the least of several rounds; of `read`
//! the mean, as rows of many windows are read at once. `the disk` is a file of the same bytes, synced as the spool syncs it:
//! that much of `spool` is waiting. `-- sums` measures the kinds whose names have it. The spool is in the system's temporary
//! folder: `TMPDIR` chooses the disk.
#![allow(missing_docs, clippy::unwrap_used)]

mod bundle;
mod rows;

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use sotto_agent::arguments::{Arguments, Command};
use sotto_agent::device::Device;
use sotto_agent::stop::Stop;
use sotto_keys::SigningIdentity;

use bundle::{Kind, write_bundle};

const ROUNDS: usize = 5;
/// Files that tell the disk's time.
const FLUSHES: usize = 200;

/// A file and the windows that are made of it.
struct Case {
    name: &'static str,
    kind: Kind,
    rows: usize,
    /// Seconds between rows; a window has an hour.
    period: i64,
}

const CASES: [Case; 5] = [
    Case { name: "sums, 3,600 rows", kind: Kind::Sums, rows: 360_000, period: 1 },
    Case { name: "sums, 60 rows", kind: Kind::Sums, rows: 36_000, period: 60 },
    Case { name: "sums with squares, 60 rows", kind: Kind::Squares, rows: 36_000, period: 60 },
    Case { name: "CKKS, 60 rows", kind: Kind::Ckks, rows: 36_000, period: 60 },
    Case { name: "BFV, public key, 60 rows", kind: Kind::BfvPublic, rows: 6_000, period: 60 },
];

/// The steps of a window, in this order.
const STEPS: [&str; 5] = ["read", "pack", "encrypt", "sign", "spool"];

/// The time of each step, the number of windows, and the bytes of a message in the spool.
struct Round {
    steps: [Duration; STEPS.len()],
    windows: u64,
    bytes: u64,
}

/// Returns the median of some times.
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Reads a file into a new spool.
fn round(folder: &Path, csv: &Path) -> Round {
    let spool = folder.join("spool");
    let _ = std::fs::remove_dir_all(&spool);
    std::fs::create_dir(&spool).unwrap();
    // A spool with a state asks no cloud where its streams stand.
    std::fs::write(spool.join("state.json"), r#"{"device":"meter","next":{}}"#).unwrap();
    let mut words = ["sotto-agent", "run"].map(std::ffi::OsString::from).to_vec();
    // Nothing is sent: any key will do.
    let key = hex::encode(SigningIdentity::from_bytes(&[3; 32]).verifying_key());
    words.extend(["--cloud-key".into(), key.into()]);
    for (option, path) in [("--bundle", folder.join("bundle").as_path()), ("--csv", csv), ("--spool", &spool)]
    {
        words.extend([option.into(), path.as_os_str().to_owned()]);
    }
    let Command::Run(run) = Arguments::read(words).unwrap().command else { panic!("run") };
    let mut device = Device::open(*run, &Stop::new()).unwrap();
    let mut steps: [Vec<Duration>; STEPS.len()] = Default::default();
    loop {
        let begin = Instant::now();
        let Some(closed) = device.read_and_pack().unwrap() else { break };
        let (reading, pack) = (begin.elapsed(), closed.window.pack_time);
        let begin = Instant::now();
        let encrypted = device.encrypt(closed).unwrap();
        let encrypt = begin.elapsed();
        let begin = Instant::now();
        let message = device.sign(encrypted).unwrap();
        let sign = begin.elapsed();
        let begin = Instant::now();
        assert!(device.spool(message).unwrap());
        let times = [reading, pack, encrypt, sign, begin.elapsed()];
        steps.iter_mut().zip(times).for_each(|(all, time)| all.push(time));
    }
    let messages = std::fs::read_dir(&spool).unwrap().map(|file| file.unwrap().path());
    let messages = messages.filter(|path| path.extension().is_some_and(|extension| extension == "envelope"));
    let (windows, bytes) =
        (steps[0].len() as u64, messages.map(|path| path.metadata().unwrap().len()).sum::<u64>());
    // One call reads rows of many windows, and packs them.
    let [reading, pack] = [0, 1].map(|step| steps[step].iter().sum::<Duration>());
    let read = reading.saturating_sub(pack) / windows as u32;
    let mut steps = steps.map(median);
    steps[0] = read;
    Round { steps, windows, bytes: bytes / windows }
}

/// Returns the time of a file of these bytes, durable under its name, and of a synced line behind others.
fn disk(folder: &Path, bytes: u64) -> Duration {
    let folder = folder.join("disk");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).unwrap();
    let mut journal = OpenOptions::new().append(true).create(true).open(folder.join("journal")).unwrap();
    let (message, line) = (vec![7; bytes as usize], [b'x'; 200]);
    let times = (0..FLUSHES).map(|number| {
        let (partial, path) = (folder.join(format!("{number}.partial")), folder.join(number.to_string()));
        let begin = Instant::now();
        let mut file = File::create_new(&partial).unwrap();
        file.write_all(&message).unwrap();
        file.sync_all().unwrap();
        std::fs::rename(&partial, &path).unwrap();
        File::open(&folder).unwrap().sync_all().unwrap();
        journal.write_all(&line).unwrap();
        journal.sync_data().unwrap();
        begin.elapsed()
    });
    median(times.collect())
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    println!("µs a window, the least of {ROUNDS} rounds");
    let steps = STEPS.map(|step| format!("{step:>9}")).concat();
    println!(
        "{:<28} {:>7}{steps} {:>9} {:>9} {:>9} {:>9}",
        "", "bytes", "the disk", "all", "rows/s", "µs a row"
    );
    for Case { name, kind, rows, period } in CASES {
        if !asked.is_empty() && !asked.iter().any(|wanted| name.contains(wanted.as_str())) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let csv = folder.path().join("rows.csv");
        rows::csv(&rows::readings(rows, period), &csv);
        write_bundle(&folder.path().join("bundle"), kind, period);
        let (mut least, mut waiting) = ([Duration::MAX; STEPS.len()], Duration::MAX);
        let (mut windows, mut message) = (1, 0);
        for _ in 0..ROUNDS {
            let done = round(folder.path(), &csv);
            least.iter_mut().zip(done.steps).for_each(|(least, time)| *least = time.min(*least));
            (windows, message) = (done.windows, done.bytes);
            waiting = waiting.min(disk(folder.path(), message));
        }
        let microseconds = |time: Duration| time.as_secs_f64() * 1e6;
        let (all, rows) =
            (least.iter().copied().map(microseconds).sum::<f64>(), rows as f64 / windows as f64);
        let steps = least.map(|time| format!("{:>9.1}", microseconds(time))).concat();
        let (disk, a_second) = (microseconds(waiting), 1e6 * rows / all);
        println!("{name:<28} {message:>7}{steps} {disk:>9.1} {all:>9.1} {a_second:>9.0} {:>9.3}", all / rows);
    }
}
