//! Masks shared by the devices of a fleet: none serves twice under one key, even if the process is killed, its spool
//! restored, or its cloud unreachable.

use crate::site;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use site::{Act, Cloud, Newest, agent};
use sotto_agent::encrypt::{EncryptError, Encrypted, Encryptor, Mask, SentTicks, Unencrypted, encryptor};
use sotto_compact::{MaskSum, Profile, StreamMasks, Sum};
use sotto_decrypt::open_compact;
use sotto_keys::{DeviceBundle, DeviceKeys, DeviceSecret, Protection, SecretKey, SigningIdentity};
use sotto_pack::{
    Channel, DeviceProfile, Encoding, FleetId, Places, Slots, Span, StreamProfile, WindowDescription,
};
use sotto_ring::secure_rng;
use sotto_rlwe::{Bfv, ChainRequest, Params, SchemeId};
use sotto_wire::{CompactCiphertext, Envelope, MaskName, StreamHeader, write_parameters};
use tempfile::TempDir;

const TICKS: u32 = 12;
const HOUR: i64 = 3_600_000;
/// The time of the first reading, the beginning of an hour: milliseconds since 1970.
const FIRST: i64 = 1_400_000_400_000;
const FLEET: FleetId = FleetId([7; 16]);

struct Plant {
    folder: TempDir,
    secret: DeviceSecret,
    cloud: Cloud,
    stream: StreamProfile,
    params: Params<Bfv>,
    header: Arc<StreamHeader>,
}

/// A window that the cloud received.
struct Sent {
    /// Hours from the first reading to the start of the window.
    hour: i64,
    mask: MaskName,
    envelope: Envelope,
}

impl Plant {
    fn new(newest: Newest) -> Self {
        let (folder, mut rng) = (tempfile::tempdir().unwrap(), secure_rng().unwrap());
        let cloud = Cloud::start(&[Act::Store]);
        cloud.says_newest(newest);
        let secret = DeviceSecret::generate(&mut rng);
        let request = ChainRequest::one_prime(SchemeId::Bfv, 2048, 8_001, 40);
        let params = Params::<Bfv>::new(request.build().unwrap()).unwrap();
        let stream = StreamProfile {
            stream: "hours".into(),
            parameters: hex::encode(write_parameters(params.spec())),
            encoding: Encoding::Resolution,
            ticks: TICKS,
            period_ms: Some(300_000),
            span: Some(Span::Hour),
            channels: vec![Channel {
                name: "a".into(),
                maximum: 200.0,
                resolution: Some(1.0),
                ..Channel::default()
            }],
            sums: Vec::new(),
            compact: Some(Places { width: 24, ..Places::default() }),
            slots: None,
            envelope: 2,
            fleet: Some(FLEET),
            public: false,
        };
        let key = secret.key_id(&params.id());
        let header = StreamHeader::of_profile("boiler", 1000, &stream, params.id(), key).unwrap();
        let streams = vec![stream.clone()];
        let profile = DeviceProfile {
            device: "boiler".into(),
            period_ms: 1000,
            zone: None,
            cloud_keys: Vec::new(),
            streams,
            record: None,
        };
        let bundle = DeviceBundle {
            keys: DeviceKeys::Secret(DeviceSecret::from_bytes(secret.expose_secret_bytes())),
            identity: SigningIdentity::generate(&mut rng),
            cloud: cloud.url(),
            authority: None,
            profile: profile.to_json().unwrap(),
        };
        bundle.write(&folder.path().join("boiler.bundle"), &Protection::FileMode, &mut rng).unwrap();
        let header = Arc::new(header.unwrap());
        Self { folder, secret, cloud, stream, params, header }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn spool(&self) -> PathBuf {
        self.path("boiler.spool")
    }

    /// Returns a run of the agent on this many readings.
    fn command(&self, readings: u32) -> Command {
        let mut text = String::from("time,a\n");
        for tick in 0..readings {
            text += &format!("{},{}\n", FIRST / 1000 + 300 * i64::from(tick), tick % 97);
        }
        fs::write(self.path("readings.csv"), text).unwrap();
        let mut command = agent();
        command.arg("run").arg("--bundle").arg(self.path("boiler.bundle"));
        command.arg("--csv").arg(self.path("readings.csv")).args(["--time", "time"]).stderr(Stdio::null());
        command
    }

    fn run(&self, hours: u32) {
        assert!(self.command(hours * TICKS).status().unwrap().success());
    }

    fn sent(&self) -> Vec<Sent> {
        let read = |upload: &site::Upload| {
            let envelope = Envelope::read_window(&upload.body, &self.header).unwrap();
            let start = WindowDescription::parse(&envelope.header().layout).unwrap().start;
            Sent { hour: (start - FIRST) / HOUR, mask: envelope.mask().unwrap(), envelope }
        };
        self.cloud.uploads().iter().map(read).collect()
    }

    /// Returns, for each window from index `first` on, its hour and true if its mask is shared.
    fn shared_since(&self, first: usize) -> Vec<(i64, bool)> {
        self.sent()[first..].iter().map(|sent| (sent.hour, sent.mask.is_shared())).collect()
    }

    /// Returns the end of the newest window received.
    fn newest(&self) -> Newest {
        Newest::End(self.sent().iter().map(|sent| sent.envelope.header().ended_at).max())
    }

    fn open(&self, envelope: &Envelope) -> Vec<i64> {
        let CompactCiphertext { form, mask, body } =
            CompactCiphertext::read(&envelope.body().frame()).unwrap();
        let profile = Profile::new(&self.params, form.places.into(), 24).unwrap();
        let key = SecretKey::derive(&self.secret, &self.params);
        let all = StreamMasks::new(key.id(), "hours", self.params.id(), Some(&FLEET.0));
        let (mut sum, mut masks) = (Sum::new(profile.form()), MaskSum::new(profile.form()));
        sum.add(&body, 1).unwrap();
        masks.add(&all.mask(&mask.salt, mask.sequence), 1);
        open_compact(&key, &profile, &sum, &masks).unwrap().into_residues()
    }

    /// Checks that all windows contain the readings and that no mask has two bodies. Returns the number of masks.
    fn check(&self) -> usize {
        let mut bodies = BTreeMap::new();
        for Sent { mask, envelope, .. } in self.sent() {
            let body = CompactCiphertext::read(&envelope.body().frame()).unwrap().body;
            let known = bodies.entry((mask.salt, mask.sequence)).or_insert_with(|| body.clone());
            assert_eq!(*known, body, "two bodies under one mask: {mask:?}");
            let window = WindowDescription::parse(&envelope.header().layout).unwrap();
            let first = (window.start - FIRST) / 300_000;
            let expected = (first..).take(window.present[0] as usize).map(|tick| tick % 97 - 100);
            assert!(self.open(&envelope).into_iter().zip(expected).all(|(found, reading)| found == reading));
        }
        bodies.len()
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

fn restore(from: &Path, to: &Path) {
    fs::remove_dir_all(to).unwrap();
    copy(from, to);
}

fn encrypt(encryptor: &dyn Encryptor, mask: Mask) -> Result<Encrypted, EncryptError> {
    let (rows, columns) = encryptor.slot_shape();
    let slots = Slots::Integers(vec![1; (rows * columns) as usize]);
    encryptor.encrypt(Unencrypted { slots, mask, sent: SentTicks { ticks: TICKS, presence: Vec::new() } })
}

#[test]
fn windows_share_masks_once_the_cloud_has_told() {
    let plant = Plant::new(Newest::End(None));
    plant.run(3);
    assert_eq!(plant.shared_since(0), [(0, true), (1, true), (2, true)]);
    let names: Vec<Option<MaskName>> =
        plant.sent().iter().map(|sent| MaskName::shared(FIRST + HOUR * sent.hour)).collect();
    assert!(plant.sent().iter().zip(names).all(|(sent, name)| Some(sent.mask) == name));
    // At the next start, the cloud's newest window ends before the next one begins.
    plant.cloud.says_newest(plant.newest());
    plant.run(5);
    assert_eq!(plant.shared_since(3), [(3, true), (4, true)]);
    assert_eq!(plant.check(), 5);
}

#[test]
fn windows_have_masks_of_their_own_while_the_cloud_has_not_told() {
    for newest in [Newest::Away(u32::MAX), Newest::Unknown] {
        let plant = Plant::new(newest);
        plant.run(4);
        assert_eq!(plant.shared_since(0), [0, 1, 2, 3].map(|hour| (hour, false)));
        assert_eq!(plant.check(), 4);
    }
    // The cloud is unreachable at the start and answers the question after a receipt. No window waits or is lost.
    let plant = Plant::new(Newest::Away(2));
    plant.run(400);
    let windows = plant.shared_since(0);
    assert_eq!(windows.len(), 400);
    assert_eq!((windows[0], windows[399]), ((0, false), (399, true)));
    let first = windows.iter().position(|(_, shared)| *shared).unwrap();
    assert!(windows[first..].iter().all(|(_, shared)| *shared));
    assert_eq!(plant.check(), 400);
}

#[test]
fn the_rest_of_a_window_that_is_cut_in_two_has_a_mask_of_its_own() {
    let plant = Plant::new(Newest::End(None));
    assert!(plant.command(TICKS + 3).status().unwrap().success());
    plant.cloud.says_newest(plant.newest());
    plant.run(3);
    assert_eq!(plant.shared_since(0), [(0, true), (1, true), (1, false), (2, true)]);
    assert_eq!(plant.check(), 4);
}

#[test]
fn a_start_that_was_written_down_is_not_used_again() {
    let plant = Plant::new(Newest::End(None));
    plant.run(2);
    // Killed between recording the third window's start and encrypting it: the cloud has no such window.
    let file = plant.spool().join("state.json");
    let mut state: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(state["shared"]["hours"], FIRST + HOUR, "written down before the window is encrypted");
    state["shared"]["hours"] = (FIRST + 2 * HOUR).into();
    fs::write(&file, state.to_string()).unwrap();
    plant.cloud.says_newest(Newest::End(None));
    plant.run(4);
    assert_eq!(plant.shared_since(2), [(2, false), (3, true)]);
    assert_eq!(plant.check(), 4);
}

#[test]
fn killed_at_any_moment_no_shared_mask_serves_twice() {
    let plant = Plant::new(Newest::End(None));
    for wait in [30, 60, 100, 150, 220] {
        let mut child = plant.command(400 * TICKS).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // An answer of the cloud that is too early does no harm while the spool is intact.
    plant.run(420);
    let masks = plant.check();
    let shared = plant.sent().iter().filter(|sent| sent.mask.is_shared()).count();
    assert!(masks >= 420 && shared > 300, "{masks} masks, {shared} windows share them");
}

#[test]
fn a_restored_spool_takes_masks_of_its_own_for_the_time_that_the_cloud_has() {
    let plant = Plant::new(Newest::End(None));
    plant.run(3);
    copy(&plant.spool(), &plant.path("snapshot"));
    plant.cloud.says_newest(plant.newest());
    plant.run(6);
    // Restored to the third hour, twice.
    for (round, hours) in [(0, 8), (1, 9)] {
        restore(&plant.path("snapshot"), &plant.spool());
        let (before, known) = (plant.sent().len(), [6, 8][round]);
        plant.cloud.says_newest(plant.newest());
        plant.run(hours);
        let expected: Vec<(i64, bool)> = (3..i64::from(hours)).map(|hour| (hour, hour >= known)).collect();
        assert_eq!(plant.shared_since(before), expected);
    }
    // No spool at all.
    fs::remove_dir_all(plant.spool()).unwrap();
    let before = plant.sent().len();
    plant.cloud.says_newest(plant.newest());
    plant.run(10);
    assert_eq!(plant.shared_since(before).last(), Some(&(9, true)));
    assert_eq!(plant.shared_since(before).iter().filter(|(_, shared)| *shared).count(), 1);
    plant.check();
}

#[test]
fn a_copied_spool_that_starts_after_the_first_repeats_no_mask() {
    let plant = Plant::new(Newest::End(None));
    plant.run(2);
    copy(&plant.spool(), &plant.path("copy"));
    plant.cloud.says_newest(plant.newest());
    plant.run(5);
    let before = plant.sent().len();
    plant.cloud.says_newest(plant.newest());
    let mut second = plant.command(7 * TICKS);
    assert!(second.arg("--spool").arg(plant.path("copy")).status().unwrap().success());
    assert_eq!(plant.shared_since(before), [2, 3, 4, 5, 6].map(|hour| (hour, hour >= 5)));
    plant.check();
}

#[test]
fn the_encryptor_refuses_a_start_that_is_not_later() {
    let plant = Plant::new(Newest::End(None));
    let keys = DeviceKeys::Secret(DeviceSecret::from_bytes(plant.secret.expose_secret_bytes()));
    let made = encryptor(&plant.stream, plant.params.spec().clone(), &keys).unwrap();
    let shared = |start| encrypt(&*made, Mask::OfFleet { start }).map(drop);
    assert!(shared(5).is_ok());
    for start in [5, 4, 0] {
        assert!(matches!(shared(start), Err(EncryptError::RepeatedStart { start: found }) if found == start));
    }
    assert!(shared(6).is_ok());
    assert!(matches!(shared(-1), Err(EncryptError::NoFleet)));
    // Masks of the stream's own are checked separately.
    assert!(encrypt(&*made, Mask::Own { sequence: 0 }).is_ok());
    let alone = StreamProfile { fleet: None, ..plant.stream.clone() };
    let alone = encryptor(&alone, plant.params.spec().clone(), &keys).unwrap();
    let refused = encrypt(&*alone, Mask::OfFleet { start: 7 }).map(drop);
    assert!(matches!(refused, Err(EncryptError::NoFleet)));
}

#[test]
fn only_compact_windows_of_a_span_have_a_fleet_and_a_device_has_it_once() {
    let plant = Plant::new(Newest::End(None));
    let profile = |streams: Vec<StreamProfile>| {
        DeviceProfile {
            device: "boiler".into(),
            period_ms: 1000,
            zone: None,
            cloud_keys: Vec::new(),
            streams,
            record: None,
        }
        .to_json()
    };
    let of = |change: &dyn Fn(&mut StreamProfile)| {
        let mut stream = plant.stream.clone();
        change(&mut stream);
        stream
    };
    assert!(profile(vec![plant.stream.clone()]).is_ok());
    assert!(profile(vec![of(&|stream| stream.envelope = 1)]).is_err());
    assert!(profile(vec![of(&|stream| stream.span = None)]).is_err());
    let other = of(&|stream| stream.stream = "days".into());
    assert!(profile(vec![plant.stream.clone(), other.clone()]).is_err());
    let other = StreamProfile { fleet: Some(FleetId([8; 16])), ..other };
    assert!(profile(vec![plant.stream.clone(), other]).is_ok());
}
