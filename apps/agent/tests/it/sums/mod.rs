//! Windows of sums: the owner opens the readings, and no pad serves twice.

mod groups;
mod opened;
mod pads;
mod refused;

use crate::site;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use site::{Act, Cloud, agent};
use sotto_keys::{DeviceBundle, DeviceKeys, DeviceSecret, Protection, SigningIdentity};
use sotto_pack::{
    Channel, DeviceProfile, Digit, Encoding, Period, Placed, Quantity, Reason, Span, StreamProfile, SumsPart,
};
use sotto_ring::secure_rng;
use sotto_rlwe::KeyId;
use sotto_sums::StreamKeys;
use sotto_wire::{Envelope, StreamHeader, WindowGroup, is_group};
use tempfile::TempDir;

/// Ticks of an hour, and of a window.
const TICKS: u32 = 4;
/// Milliseconds between ticks.
const PERIOD: u32 = 900_000;
/// The time of the first reading, the beginning of an hour: seconds since 1970.
const FIRST: u32 = 1_400_000_400;
/// The first numbers of steps of the bins of `a` but the lowest.
const EDGES: [i64; 3] = [-100, 0, 100];

struct Plant {
    folder: TempDir,
    secret: [u8; 32],
    cloud: Cloud,
    /// The stream's header, which the cloud has.
    header: Arc<StreamHeader>,
    verifying_key: [u8; 32],
}

fn channels() -> Vec<Channel> {
    let channel = |name: &str, minimum, maximum, resolution| Channel {
        name: name.into(),
        unit: "V".into(),
        minimum,
        maximum,
        resolution: Some(resolution),
        ..Channel::default()
    };
    vec![channel("a", 0.0, 200.0, 0.5), channel("b", -10.0, 30.0, 0.25)]
}

fn parts() -> Vec<SumsPart> {
    let placed = |quantity, digit, width| Placed { quantity, digit, width };
    let whole = |quantity, width| placed(quantity, Digit::Whole, width);
    let readings = vec![
        whole(Quantity::Bins { column: 0, edges: EDGES.to_vec() }, 20),
        whole(Quantity::Reading(0), 24),
        whole(Quantity::Reading(1), 23),
    ];
    let products = vec![
        whole(Quantity::Square(0), 37),
        placed(Quantity::Square(1), Digit::Low, 46),
        placed(Quantity::Square(1), Digit::High, 17),
        whole(Quantity::Product(0, 1), 40),
    ];
    let ends = vec![whole(Quantity::Least(0), 30), whole(Quantity::Largest(1), 29)];
    vec![
        SumsPart { quantities: readings, reasons: Reason::ALL.len() as u8 },
        SumsPart { quantities: products, reasons: 0 },
        SumsPart { quantities: ends, reasons: 2 },
    ]
}

pub(crate) fn stream() -> StreamProfile {
    StreamProfile {
        stream: "hours".into(),
        parameters: String::new(),
        encoding: Encoding::Resolution,
        ticks: TICKS,
        period_ms: Some(Period::from_milliseconds(PERIOD)),
        span: Some(Span::Hour),
        channels: channels(),
        sums: parts(),
        rounded: true,
        compact: None,
        slots: None,
        envelope: 1,
        public: false,
        absolute: false,
    }
}

pub(crate) fn profile(stream: StreamProfile) -> DeviceProfile {
    DeviceProfile {
        device: "boiler".into(),
        period_ms: Period::from_milliseconds(1000),
        zone: None,
        cloud_keys: Vec::new(),
        owner_key: None,
        streams: vec![stream],
        derived: Vec::new(),
        record: None,
    }
}

/// Returns the numbers of steps of a tick's readings, counted from the middle of their ranges.
fn steps(tick: u32) -> [Option<i64>; 2] {
    let (a, b) = (i64::from(tick * 37 % 401) - 200, i64::from(tick * 53 % 161) - 80);
    // Hours that end early, without a row for their last ticks.
    let ends = tick / TICKS % 7 == 6 && tick % TICKS >= 2;
    [(tick % 11 != 3 && tick % 97 != 13 && !ends).then_some(a), (tick % 5 != 4 && !ends).then_some(b)]
}

/// Returns true for a tick whose reading of `b` is no whole number of steps.
fn is_rounded(tick: u32) -> bool {
    tick % 17 == 4
}

/// Returns the values of the parts of an hour's window; None for an hour without readings.
fn values(hour: u32) -> [Vec<Option<i64>>; 3] {
    let of = |column: usize| -> BTreeMap<u32, i64> {
        (0..TICKS).filter_map(|tick| Some((tick, steps(hour * TICKS + tick)[column]?))).collect()
    };
    let (a, b) = (of(0), of(1));
    let ticks = a.keys().chain(b.keys()).max().map_or(0, |last| last + 1);
    let mut parts = <[Vec<Option<i64>>; 3]>::default();
    let bin = |q: &i64| EDGES.iter().filter(|edge| *edge <= q).count();
    let count = |at| (!a.is_empty()).then(|| a.values().filter(|q| bin(q) == at).count() as i64);
    parts[0].extend((0..=EDGES.len()).map(count));
    for tick in 0..ticks {
        let (a, b) = (a.get(&tick).copied(), b.get(&tick).copied());
        parts[0].extend([a, b]);
        let square = b.map(|b| b * b);
        let product = a.zip(b).map(|(a, b)| a * b);
        parts[1].extend([a.map(|a| a * a), square, square.map(|_| 0), product]);
    }
    parts[2].extend([a.values().min().copied(), b.values().max().copied()]);
    parts
}

impl Plant {
    fn new(script: &[Act], groups: bool) -> Self {
        // Thousands of windows are synced: in memory, where there is such a folder.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        Self::in_folder(folder, script, groups)
    }

    /// Gives the device new keys, as `sotto device renew` does, and a cloud of its own. It keeps its spool.
    fn renewed(self, script: &[Act], groups: bool) -> Self {
        Self::in_folder(self.folder, script, groups)
    }

    fn in_folder(folder: TempDir, script: &[Act], groups: bool) -> Self {
        let mut rng = secure_rng().unwrap();
        let secret = DeviceSecret::generate(&mut rng);
        let stream = stream();
        let key = |id: &[u8; 32]| KeyId(StreamKeys::derive(secret.expose_secret_bytes(), id).id());
        let header =
            StreamHeader::of_sums_profile("boiler", Period::from_milliseconds(1000), &stream, key).unwrap();
        let header = Arc::new(header.unwrap());
        let cloud = Cloud::start_with(script, groups.then(|| Arc::clone(&header)));
        let identity = SigningIdentity::generate(&mut rng);
        let verifying_key = identity.verifying_key();
        let bytes = *secret.expose_secret_bytes();
        let bundle = DeviceBundle {
            keys: DeviceKeys::Secret(secret),
            identity,
            cloud: cloud.url(),
            authority: None,
            profile: profile(stream).to_json().unwrap(),
        };
        let path = folder.path().join("boiler.bundle");
        let _ = std::fs::remove_file(&path);
        bundle.write(&path, &Protection::FileMode, &mut rng).unwrap();
        Self { folder, secret: bytes, cloud, header, verifying_key }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn spool(&self) -> PathBuf {
        self.path("boiler.spool")
    }

    /// Returns a run of the agent on this many hours of readings.
    fn command(&self, hours: u32) -> Command {
        self.command_of(hours, 0)
    }

    /// Returns a run on other readings: the same readings under one pad would be the same bytes.
    fn command_of(&self, hours: u32, others: u32) -> Command {
        let mut text = String::from("time,a,b\n");
        for tick in 0..hours * TICKS {
            let [a, b] = steps(tick + 1009 * others);
            let a = a.map_or(String::new(), |a| (100.0 + 0.5 * a as f64).to_string());
            // Outside the range.
            let a = if tick % 97 == 13 { "500".to_owned() } else { a };
            // A quarter of a step nearer to the middle of the range.
            let off = |b: i64| match is_rounded(tick + 1009 * others) {
                true if b > 0 => -0.0625,
                true => 0.0625,
                false => 0.0,
            };
            let b = b.map_or(String::new(), |b| (10.0 + 0.25 * b as f64 + off(b)).to_string());
            text += &format!("{},{a},{b}\n", FIRST + PERIOD / 1000 * tick);
        }
        std::fs::write(self.path("readings.csv"), text).unwrap();
        let mut command = agent();
        command.arg("run").arg("--bundle").arg(self.path("boiler.bundle"));
        command.arg("--csv").arg(self.path("readings.csv")).args(["--time", "time"]).stderr(Stdio::null());
        command
    }

    fn run(&self, hours: u32) {
        // A reading outside the range is lost.
        let is_lost = (0..hours * TICKS).any(|tick| tick % 97 == 13);
        let code = self.command(hours).status().unwrap().code();
        assert_eq!(code, Some(if is_lost { 4 } else { 0 }));
    }

    /// Returns the windows of all uploads, alone or in groups.
    fn envelopes(&self) -> Vec<Envelope> {
        self.cloud.uploads().iter().flat_map(|upload| self.read(upload)).collect()
    }

    fn read(&self, upload: &site::Upload) -> Vec<Envelope> {
        let windows = if is_group(&upload.body) {
            let group = WindowGroup::read(&upload.body, &self.header).unwrap();
            assert_eq!(upload.key, group.upload_key());
            group.verify(&self.verifying_key).unwrap();
            group.windows().to_vec()
        } else {
            let window = Envelope::read_window(&upload.body, &self.header).unwrap();
            window.verify(&self.verifying_key).unwrap();
            vec![window]
        };
        assert!(windows.iter().all(|window| window.body().is_of_sums()));
        windows
    }
}

/// Returns the hour of a window.
fn hour(window: &Envelope) -> u32 {
    let start = window.signed_header().description().unwrap().start;
    ((start / 1000 - i64::from(FIRST)) / 3600) as u32
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}
