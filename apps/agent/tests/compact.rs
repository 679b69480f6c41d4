//! Compact windows: no mask serves twice when the process is killed or its spool restored, and the owner opens the readings.
#![allow(clippy::unwrap_used)]

mod site;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use site::{Act, Cloud, agent};
use sotto_compact::{MaskSum, Profile, Sum, mask_key};
use sotto_decrypt::open_compact;
use sotto_keys::{DeviceBundle, DeviceSecret, Protection, SecretKey, SigningIdentity};
use sotto_pack::{Channel, Column, DeviceProfile, Encoding, Places, Span, StreamProfile, WindowDescription};
use sotto_ring::secure_rng;
use sotto_rlwe::{Bfv, ChainRequest, Params, SchemeId};
use sotto_wire::{CompactCiphertext, Envelope, StreamHeader, write_parameters};
use tempfile::TempDir;

const TICKS: u32 = 12;

struct Plant {
    folder: TempDir,
    secret: DeviceSecret,
    cloud: Cloud,
    places: Places,
    params: Params<Bfv>,
    /// What the cloud knows of the stream.
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
        let (folder, mut rng) = (tempfile::tempdir().unwrap(), secure_rng().unwrap());
        let cloud = Cloud::start(script);
        let secret = DeviceSecret::generate(&mut rng);
        // Sums of four windows of squares of ±1000.
        let request = ChainRequest::one_prime(SchemeId::Bfv, 2048, 8_000_001, 40);
        let params = Params::<Bfv>::new(request.build().unwrap()).unwrap();
        let places = Places { width: 32, squares: true, products: vec![(0, 1)] };
        let stream = StreamProfile {
            stream: "hours".into(),
            parameters: hex::encode(write_parameters(params.spec())),
            encoding: Encoding::Resolution,
            ticks: TICKS,
            period_ms: Some(300_000),
            span: Some(Span::Hour),
            channels: channels(),
            compact: Some(places.clone()),
            slots: None,
            envelope: 2,
            fleet: None,
        };
        let key = secret.key_id(&params.id());
        let header = StreamHeader::of_profile("boiler", 1000, &stream, (params.id(), key)).unwrap();
        let header = Arc::new(header.unwrap());
        let profile =
            DeviceProfile { device: "boiler".into(), period_ms: 1000, zone: None, streams: vec![stream] };
        let identity = SigningIdentity::generate(&mut rng);
        let verifying_key = identity.verifying_key();
        let bundle = DeviceBundle {
            secret: DeviceSecret::from_bytes(secret.expose_secret_bytes()),
            identity,
            cloud: cloud.url(),
            profile: profile.to_json().unwrap(),
        };
        bundle.write(&folder.path().join("boiler.bundle"), &Protection::FileMode, &mut rng).unwrap();
        Self { folder, secret, cloud, places, params, header, verifying_key }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs on so many hours of readings.
    fn command(&self, hours: u32) -> Command {
        let mut text = String::from("time,a,b\n");
        for tick in 0..hours * TICKS {
            let (a, b) = reading(tick);
            // Of b, every fifth is missing.
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

    fn envelopes(&self) -> Vec<Envelope> {
        let read = |upload: &site::Upload| {
            let envelope = Envelope::read_window(&upload.body, &self.header).unwrap();
            envelope.verify(&self.verifying_key).unwrap();
            envelope
        };
        self.cloud.uploads().iter().map(read).collect()
    }

    /// The values of a window, as the owner opens it.
    fn open(&self, envelope: &Envelope) -> (WindowDescription, Vec<i64>) {
        let description = WindowDescription::parse(&envelope.header.layout).unwrap();
        let CompactCiphertext { mask, body, .. } = CompactCiphertext::read(&envelope.body).unwrap();
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
        assert!(envelope.write().unwrap().len() <= 240 + 110);
        let (window, values) = plant.open(envelope);
        let at = |column, tick: u32| {
            values[plant.places.first(&window.layout, TICKS, column).unwrap() + tick as usize]
        };
        for tick in 0..TICKS {
            let whole = hour * TICKS + tick;
            let (a, b) = reading(whole);
            // Whole numbers of the resolution, counted from the middle of the range.
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
    let bytes: Vec<usize> = envelopes.iter().map(|envelope| envelope.body.len()).collect();
    // Five columns of 32 bits, 12 ticks and 3.
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
    let numbers: Vec<u64> = envelopes.iter().map(|envelope| envelope.header.sequence).collect();
    assert_eq!(numbers, [0, 1, 2, 3]);
    assert_eq!(envelopes[3].body, envelopes[0].body, "it is not encrypted again");
    assert_eq!(plant.open(&envelopes[3]), plant.open(&envelopes[0]));
}

#[test]
fn no_mask_serves_twice() {
    let plant = Plant::new();
    let spool = plant.path("boiler.spool");
    // Killed at any moment.
    for wait in [30, 60, 100, 150, 220] {
        let mut child = plant.command(400).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // A snapshot of the folder is restored twice: the device counts on from the same number each time.
    copy(&spool, &plant.path("snapshot"));
    for hours in [420, 410, 430] {
        plant.run(hours);
        std::fs::remove_dir_all(&spool).unwrap();
        copy(&plant.path("snapshot"), &spool);
    }
    // Without a spool it begins anew.
    std::fs::remove_dir_all(&spool).unwrap();
    plant.command(5).status().unwrap();
    let mut bodies = BTreeMap::new();
    let (mut numbers, mut repeated) = (BTreeMap::new(), 0);
    for envelope in plant.envelopes() {
        let CompactCiphertext { mask, body, .. } = CompactCiphertext::read(&envelope.body).unwrap();
        assert_eq!(mask.sequence, envelope.header.sequence);
        let known = bodies.entry((mask.salt, mask.sequence)).or_insert_with(|| body.clone());
        // A message may be sent again.
        assert_eq!(*known, body, "two bodies under one mask: {mask:?}");
        repeated += usize::from(*numbers.entry(mask.sequence).or_insert(mask.salt) != mask.salt);
    }
    assert!(bodies.len() > 420 && repeated > 20, "{} windows, {repeated} repeated numbers", bodies.len());
}
