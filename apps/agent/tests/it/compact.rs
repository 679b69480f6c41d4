//! Compact windows: no mask serves twice if the process is killed or its spool restored, and the owner decrypts the
//! readings.

use crate::site;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use site::{Act, Cloud, agent};
use sotto_compact::{MaskSum, Profile, Sum, mask_key};
use sotto_decrypt::open_compact;
use sotto_keys::{DeviceBundle, DeviceKeys, DeviceSecret, Protection, SecretKey, SigningIdentity};
use sotto_pack::{Channel, Column, DeviceProfile, Encoding, Places, Span, StreamProfile, WindowDescription};
use sotto_ring::secure_rng;
use sotto_rlwe::{Bfv, ChainRequest, Params, SchemeId};
use sotto_wire::{CompactCiphertext, Envelope, StreamHeader, WindowGroup, is_group, write_parameters};
use tempfile::TempDir;

const TICKS: u32 = 12;

struct Plant {
    folder: TempDir,
    secret: DeviceSecret,
    cloud: Cloud,
    places: Places,
    params: Params<Bfv>,
    /// The stream's header, which the cloud has.
    header: Arc<StreamHeader>,
    verifying_key: [u8; 32],
}

fn channels() -> Vec<Channel> {
    let channel = |name: &str| Channel {
        name: name.into(),
        unit: String::new(),
        minimum: 0.0,
        maximum: 200.0,
        resolution: Some(0.1),
    };
    vec![channel("a"), channel("b")]
}

impl Plant {
    fn new() -> Self {
        Self::with(&[Act::Store])
    }

    fn with(script: &[Act]) -> Self {
        Self::with_groups(script, false)
    }

    /// Creates a plant whose cloud takes groups of windows, or does not know them.
    fn with_groups(script: &[Act], groups: bool) -> Self {
        let (folder, mut rng) = (tempfile::tempdir().unwrap(), secure_rng().unwrap());
        let secret = DeviceSecret::generate(&mut rng);
        // Room for sums over four windows of squares of ±1000.
        let request = ChainRequest::one_prime(SchemeId::Bfv, 2048, 8_000_001, 40);
        let params = Params::<Bfv>::new(request.build().unwrap()).unwrap();
        let places = Places { width: 32, squares: true, products: vec![(0, 1)], ..Places::default() };
        let stream = StreamProfile {
            stream: "hours".into(),
            parameters: hex::encode(write_parameters(params.spec())),
            encoding: Encoding::Resolution,
            ticks: TICKS,
            period_ms: Some(300_000),
            span: Some(Span::Hour),
            channels: channels(),
            sums: Vec::new(),
            compact: Some(places.clone()),
            slots: None,
            envelope: 2,
            fleet: None,
            public: false,
        };
        let key = secret.key_id(&params.id());
        let header = StreamHeader::of_profile("boiler", 1000, &stream, params.id(), key).unwrap();
        let header = Arc::new(header.unwrap());
        let profile = DeviceProfile {
            device: "boiler".into(),
            period_ms: 1000,
            zone: None,
            cloud_keys: Vec::new(),
            streams: vec![stream],
            record: None,
        };
        let cloud = Cloud::start_with(script, groups.then(|| Arc::clone(&header)));
        let identity = SigningIdentity::generate(&mut rng);
        let verifying_key = identity.verifying_key();
        let bundle = DeviceBundle {
            keys: DeviceKeys::Secret(DeviceSecret::from_bytes(secret.expose_secret_bytes())),
            identity,
            cloud: cloud.url(),
            authority: None,
            profile: profile.to_json().unwrap(),
        };
        bundle.write(&folder.path().join("boiler.bundle"), &Protection::FileMode, &mut rng).unwrap();
        Self { folder, secret, cloud, places, params, header, verifying_key }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns a run of the agent on this many hours of readings.
    fn command(&self, hours: u32) -> Command {
        let mut text = String::from("time,a,b\n");
        for tick in 0..hours * TICKS {
            let (a, b) = reading(tick);
            // Every fifth reading of b is missing.
            let b = if tick % 5 == 4 { String::new() } else { b.to_string() };
            text += &format!("{},{a},{b}\n", 1_400_000_400 + 300 * tick);
        }
        std::fs::write(self.path("readings.csv"), text).unwrap();
        let mut command = agent();
        command.arg("run").arg("--bundle").arg(self.path("boiler.bundle"));
        command.arg("--csv").arg(self.path("readings.csv")).args(["--time", "time"]).stderr(Stdio::null());
        command
    }

    fn run(&self, hours: u32) {
        assert!(self.command(hours).status().unwrap().success());
    }

    /// Returns the windows of all uploads, alone or in groups.
    fn envelopes(&self) -> Vec<Envelope> {
        self.cloud.uploads().iter().flat_map(|upload| self.read(upload)).collect()
    }

    fn read(&self, upload: &site::Upload) -> Vec<Envelope> {
        let windows = if is_group(&upload.body) {
            let group = WindowGroup::read(&upload.body, &self.header).unwrap();
            assert_eq!(upload.key, group.upload_key());
            group.windows().to_vec()
        } else {
            vec![Envelope::read_window(&upload.body, &self.header).unwrap()]
        };
        windows.iter().for_each(|window| window.verify(&self.verifying_key).unwrap());
        windows
    }

    /// Returns the sequence numbers of each upload's windows.
    fn numbers(&self) -> Vec<Vec<u64>> {
        let numbers =
            |upload: &site::Upload| self.read(upload).iter().map(|window| window.header().sequence).collect();
        self.cloud.uploads().iter().map(numbers).collect()
    }

    /// Leaves one window per hour in the spool, by a run against a cloud that takes nothing.
    fn fill(&self, hours: u32) {
        let nowhere = Cloud::start(&[Act::Status(503)]);
        let mut child = self.command(hours).args(["--cloud", &nowhere.url()]).spawn().unwrap();
        let begin = std::time::Instant::now();
        while self.waiting().len() < hours as usize {
            assert!(begin.elapsed() < Duration::from_secs(60), "the spool is not filled");
            std::thread::sleep(Duration::from_millis(20));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }

    fn waiting(&self) -> Vec<String> {
        let spool = self.path("boiler.spool");
        if spool.exists() { site::files(&spool, ".envelope") } else { Vec::new() }
    }

    fn refused(&self) -> Vec<String> {
        site::files(&self.path("boiler.spool").join("refused"), ".envelope")
    }

    /// Decrypts the values of a window as the owner does.
    fn open(&self, envelope: &Envelope) -> (WindowDescription, Vec<i64>) {
        let description = WindowDescription::parse(&envelope.header().layout).unwrap();
        let CompactCiphertext { mask, body, .. } = CompactCiphertext::read(&envelope.body().frame()).unwrap();
        let ticks = Places::ticks(&description);
        let count = self.places.count(&description.layout, ticks);
        let profile = Profile::new(&self.params, count, self.places.width).unwrap();
        let key = SecretKey::derive(&self.secret, &self.params);
        let (mut sum, mut masks) = (Sum::new(profile.form()), MaskSum::new(profile.form()));
        sum.add(&body, 1).unwrap();
        masks.add(&mask_key(key.id(), "hours").mask(&mask.salt, mask.sequence), 1);
        (description, open_compact(&key, &profile, &sum, &masks).unwrap().into_residues())
    }
}

fn reading(tick: u32) -> (f64, f64) {
    (f64::from(tick % 97), f64::from(tick % 31) / 10.0)
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

#[test]
fn readings_squares_and_products_arrive() {
    let plant = Plant::new();
    plant.run(3);
    let envelopes = plant.envelopes();
    assert_eq!(envelopes.len(), 3);
    for (hour, envelope) in (0..).zip(&envelopes) {
        // 60 places of 32 bits, and the runs of readings.
        assert!(envelope.write().len() <= 240 + 110);
        let (window, values) = plant.open(envelope);
        let at = |column, tick: u32| {
            values[plant.places.first(&window.layout, TICKS, column).unwrap() + tick as usize]
        };
        for tick in 0..TICKS {
            let whole = hour * TICKS + tick;
            let (a, b) = reading(whole);
            // Whole numbers in units of the resolution, counted from the middle of the range.
            let a = (10.0 * a).round() as i64 - 1000;
            let b = if whole % 5 == 4 { 0 } else { (10.0 * b).round() as i64 - 1000 };
            assert_eq!(
                (at(Column::Reading(0), tick), at(Column::Reading(1), tick)),
                (a, b),
                "{hour}: {tick}"
            );
            assert_eq!((at(Column::Square(0), tick), at(Column::Square(1), tick)), (a * a, b * b));
            assert_eq!(at(Column::Product(0, 1), tick), a * b);
        }
    }
}

#[test]
fn a_window_ends_with_its_last_reading() {
    let plant = Plant::new();
    let mut command = plant.command(2);
    assert!(command.args(["--ticks", "15"]).status().unwrap().success());
    let envelopes = plant.envelopes();
    let bytes: Vec<usize> = envelopes.iter().map(|envelope| envelope.body().frame_bytes()).collect();
    // Five columns of 32 bits; 12 ticks, then 3.
    assert_eq!(bytes, [12, 3].map(|ticks| 120 + 5 * 4 * ticks));
    let (window, values) = plant.open(&envelopes[1]);
    assert_eq!(window.present, [3, 2]);
    let squares = plant.places.first(&window.layout, 3, Column::Square(0)).unwrap();
    let expected = [12, 13, 14].map(|tick| ((10.0 * reading(tick).0).round() as i64 - 1000).pow(2));
    assert_eq!(values[squares..squares + 3], expected);
}

#[test]
fn a_window_whose_number_is_taken_is_sent_under_another_one() {
    let plant = Plant::with(&[Act::Taken, Act::Store]);
    assert!(!plant.command(3).status().unwrap().success(), "a message was put aside");
    let mut again = agent();
    again.arg("requeue").arg("--bundle").arg(plant.path("boiler.bundle")).stderr(Stdio::null());
    assert!(again.status().unwrap().success());
    let envelopes = plant.envelopes();
    let numbers: Vec<u64> = envelopes.iter().map(|envelope| envelope.header().sequence).collect();
    assert_eq!(numbers, [0, 1, 2, 3]);
    assert_eq!(envelopes[3].body(), envelopes[0].body(), "it is not encrypted again");
    assert_eq!(plant.open(&envelopes[3]), plant.open(&envelopes[0]));
}

#[test]
fn windows_that_wait_together_go_under_one_signature() {
    let plant = Plant::with_groups(&[Act::Store], true);
    plant.fill(70);
    plant.run(70);
    // A group has at most 64 KiB of files and 64 windows.
    let numbers = plant.numbers();
    assert!(numbers[0].len() > 40 && numbers.iter().all(|group| group.len() <= 64), "{numbers:?}");
    assert!(numbers.concat().into_iter().eq(0..70), "{numbers:?}");
    assert!(plant.waiting().is_empty() && plant.refused().is_empty());
    for (hour, envelope) in (0..).zip(plant.envelopes()).step_by(23) {
        let (window, values) = plant.open(&envelope);
        let first = plant.places.first(&window.layout, TICKS, Column::Reading(0)).unwrap();
        let expected = (0..TICKS).map(|tick| (10.0 * reading(hour * TICKS + tick).0).round() as i64 - 1000);
        assert!(expected.eq(values[first..][..TICKS as usize].iter().copied()), "{hour}");
    }
}

#[test]
fn a_cloud_without_groups_is_asked_once() {
    let plant = Plant::with_groups(&[Act::Store], false);
    plant.fill(7);
    plant.run(7);
    assert_eq!(plant.numbers(), (0..7).map(|number| vec![number]).collect::<Vec<_>>());
    assert!(plant.waiting().is_empty() && plant.refused().is_empty());
}

/// After any answer to a group, its windows travel alone first, then groups again.
#[test]
fn a_group_is_never_in_the_way_of_a_window() {
    let all: Vec<u64> = (0..5).collect();
    let alone = |numbers: &[u64]| numbers.iter().map(|number| vec![*number]).collect::<Vec<_>>();
    for act in [
        Act::Drop,
        Act::Status(503),
        Act::Status(200),
        Act::Status(404),
        Act::Refuse(422),
        Act::Taken,
        Act::TooLarge,
        Act::OtherReceipt,
        Act::FewReceipts,
    ] {
        let plant = Plant::with_groups(&[act, Act::Store], true);
        plant.fill(5);
        plant.run(5);
        assert_eq!(plant.numbers(), [vec![all.clone()], alone(&all)].concat(), "{act:?}");
        assert!(plant.waiting().is_empty() && plant.refused().is_empty(), "{act:?}");
    }

    // A refused window is put aside alone.
    let script = [Act::Taken, Act::Store, Act::Store, Act::Taken, Act::Store];
    let plant = Plant::with_groups(&script, true);
    plant.fill(4);
    assert!(!plant.command(4).status().unwrap().success());
    assert_eq!(plant.numbers(), [vec![vec![0, 1, 2, 3]], alone(&[0, 1, 2, 3])].concat());
    assert_eq!((plant.refused().len(), plant.waiting().len()), (1, 0));
    assert!(plant.refused()[0].ends_with(".hours.2.envelope"));

    // After a temporary failure, the windows travel alone, then a group again.
    let script = [Act::Store, Act::Status(503), Act::Status(503), Act::Store];
    let plant = Plant::with_groups(&script, true);
    plant.fill(130);
    plant.run(130);
    let numbers = plant.numbers();
    let (first, second) = (numbers[0].len() as u64, numbers[1].len() as u64);
    let singles: Vec<u64> = [first].into_iter().chain(first..first + second).collect();
    assert_eq!(numbers[2..2 + singles.len()], alone(&singles));
    assert!(numbers[2 + singles.len()].len() > 1);
    assert!(plant.waiting().is_empty());
}

/// Nothing leaves the spool before its receipt, at whatever moment the process is killed.
#[test]
fn windows_of_a_group_outlast_a_killed_process() {
    let plant = Plant::with_groups(&[Act::Store], true);
    plant.fill(60);
    for wait in [2, 5, 10, 20, 40] {
        let before = plant.waiting();
        let mut child = plant.command(60).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
        let arrived: std::collections::BTreeSet<u64> = plant.numbers().concat().into_iter().collect();
        for gone in before.iter().filter(|name| !plant.waiting().contains(name)) {
            let number = gone.split('.').nth(2).unwrap().parse().unwrap();
            assert!(arrived.contains(&number), "{number} left the spool without a receipt");
        }
    }
    plant.run(60);
    let arrived: std::collections::BTreeSet<u64> = plant.numbers().concat().into_iter().collect();
    assert!(arrived.into_iter().eq(0..60) && plant.waiting().is_empty());
}

#[test]
fn no_mask_serves_twice() {
    mask_serves_once(false);
}

#[test]
fn no_mask_serves_twice_in_groups() {
    mask_serves_once(true);
}

fn mask_serves_once(groups: bool) {
    let plant = Plant::with_groups(&[Act::Store], groups);
    let spool = plant.path("boiler.spool");
    // Killed at several moments.
    for wait in [30, 60, 100, 150, 220] {
        let mut child = plant.command(400).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // A snapshot of the folder is restored twice: each time the device continues from the same number.
    copy(&spool, &plant.path("snapshot"));
    for hours in [420, 410, 430] {
        plant.run(hours);
        std::fs::remove_dir_all(&spool).unwrap();
        copy(&plant.path("snapshot"), &spool);
    }
    // Without a spool the device begins at 0.
    std::fs::remove_dir_all(&spool).unwrap();
    plant.command(5).status().unwrap();
    let mut bodies = BTreeMap::new();
    let (mut numbers, mut repeated) = (BTreeMap::new(), 0);
    for envelope in plant.envelopes() {
        let CompactCiphertext { mask, body, .. } = CompactCiphertext::read(&envelope.body().frame()).unwrap();
        assert_eq!(mask.sequence, envelope.header().sequence);
        let known = bodies.entry((mask.salt, mask.sequence)).or_insert_with(|| body.clone());
        // The same message may arrive twice.
        assert_eq!(*known, body, "two bodies under one mask: {mask:?}");
        repeated += usize::from(*numbers.entry(mask.sequence).or_insert(mask.salt) != mask.salt);
    }
    assert!(bodies.len() > 420 && repeated > 20, "{} windows, {repeated} repeated numbers", bodies.len());
}
