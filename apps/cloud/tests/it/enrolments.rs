//! Devices registered from the folder of enrolments.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use sotto_cloud::config::Settings;
use sotto_rlwe::{Bfv, DefaultChain, Params, SchemeId};

use crate::device::Device;
use crate::store::contents;
use crate::world::{World, bfv};

fn with_folder(settings: Settings) -> Settings {
    let enrolments = settings.data.as_ref().map(|data| data.with_file_name("enrolments"));
    Settings { enrolments, ..settings }
}

/// Starts a cloud with a folder of enrolments that does not exist yet.
pub(crate) fn world() -> World {
    World::start_with(with_folder)
}

pub(crate) fn path(world: &World, device: &str) -> PathBuf {
    let folder = world.folder().join("enrolments");
    fs::create_dir_all(&folder).unwrap();
    folder.join(format!("{device}.json"))
}

/// Returns the document that `sotto_owner::Enrolment` writes.
pub(crate) fn enrolment(device: &Device<Bfv>) -> Value {
    let mut document = device.registration();
    document["device"] = device.name.clone().into();
    document["parameters"] =
        json!([hex::encode(sotto_wire::write_parameters(device.secret.params().spec()))]);
    document
}

fn enrol(world: &World, device: &Device<Bfv>) {
    fs::write(path(world, &device.name), enrolment(device).to_string()).unwrap();
}

/// Sets the time when a file was written, in seconds relative to now.
fn written(path: &Path, seconds: i64) {
    let by = Duration::from_secs(seconds.unsigned_abs());
    let now = SystemTime::now();
    let time = if seconds < 0 { now - by } else { now + by };
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn devices_are_registered_at_the_start_once() {
    let mut world = world();
    let mut device = Device::new("kitchen", &bfv(), 1);
    world.stop();
    enrol(&world, &device);
    world.resume();
    let listed = world.ask("/v1/devices");
    assert_eq!(listed[0]["name"], "kitchen");
    assert_eq!(listed[0]["keys"], device.registration()["keys"]);
    world.keep(&device.envelope(0, &[1]));

    // Neither another start nor the deletion of a file changes anything.
    let before = world.ask("/v1/devices");
    for _ in 0..2 {
        world.stop();
        world.resume();
        assert_eq!(world.ask("/v1/devices"), before);
        let _ = fs::remove_file(path(&world, "kitchen"));
    }
    world.keep(&device.envelope(1, &[1]));
}

#[test]
fn a_file_that_comes_later_is_taken_when_its_device_uploads() {
    let world = world();
    let mut device = Device::new("kitchen", &bfv(), 1);
    let body = device.envelope(0, &[1]);
    // The folder has just been listed, and is listed again within a second.
    world.upload("k", &body).refused(403, "not-admitted");
    enrol(&world, &device);
    world.keep(&body);

    // A second later, an upload of one device also registers the others.
    enrol(&world, &Device::new("attic", &bfv(), 2));
    std::thread::sleep(Duration::from_millis(1100));
    world.upload("k", &Device::new("cellar", &bfv(), 3).envelope(0, &[1])).refused(403, "not-admitted");
    assert_eq!(world.ask("/v1/devices")[0]["name"], "attic");
}

#[test]
fn the_refusal_of_an_unknown_device_is_the_same_with_and_without_a_folder() {
    let body = Device::new("cellar", &bfv(), 3).envelope(0, &[1]);
    let details = [World::start(), world()].map(|world| {
        let answer = world.upload("k", &body);
        answer.refused(403, "not-admitted");
        assert!(!answer.to_string().contains(world.folder().to_str().unwrap()), "{answer}");
        answer.json()["detail"].as_str().unwrap().to_owned()
    });
    assert_eq!(details[0], details[1]);
    assert!(details[0].contains("`sotto status`"), "{}", details[0]);
}

#[test]
fn a_file_that_changed_is_taken() {
    let world = world();
    let mut device = Device::new("kitchen", &bfv(), 1);
    enrol(&world, &device);
    written(&path(&world, "kitchen"), -60);
    world.keep(&device.envelope(0, &[1]));

    // A new key beside the old one, as in a renewed bundle.
    let other = Params::<Bfv>::default_chain(4096, 65_537).unwrap();
    let mut renewed = Device::new("kitchen", &other, 1);
    let body = renewed.envelope(1, &[1]);
    world.upload("k", &body).refused(422, "wrong-parameters");
    let (mut both, new) = (enrolment(&device), enrolment(&renewed));
    for field in ["parameters", "keys"] {
        let added = new[field][0].clone();
        both[field].as_array_mut().unwrap().push(added);
    }
    fs::write(path(&world, "kitchen"), both.to_string()).unwrap();
    world.keep(&body);
    world.keep(&device.envelope(2, &[1]));

    // A new device under the old name.
    let mut replaced = Device::new("kitchen", &bfv(), 4);
    let body = replaced.envelope(3, &[1]);
    world.upload("k", &body).refused(403, "not-admitted");
    enrol(&world, &replaced);
    world.keep(&body);
    world.upload("k", &device.envelope(4, &[1])).refused(403, "not-admitted");
}

#[test]
fn what_the_owner_did_later_stands() {
    let mut world = world();
    let mut device = Device::new("kitchen", &bfv(), 1);
    enrol(&world, &device);
    let file = path(&world, "kitchen");
    world.keep(&device.envelope(0, &[1]));
    assert_eq!(world.owner("DELETE", "/v1/devices/kitchen", &[]).status, 200);
    let body = device.envelope(1, &[1]);
    // The same file; other bytes with an older time; a time in the future, which would outlast any revocation.
    let text = enrolment(&device).to_string();
    for (spaces, seconds) in [("", 0), (" ", -5), ("  ", 3600)] {
        if seconds != 0 {
            fs::write(&file, format!("{text}{spaces}")).unwrap();
            written(&file, seconds);
        }
        world.upload("k", &body).refused(403, "device-revoked");
        world.stop();
        world.resume();
        world.upload("k", &body).refused(403, "device-revoked");
    }
    std::thread::sleep(Duration::from_millis(50));
    fs::write(&file, &text).unwrap();
    world.keep(&body);

    // After two revocations, the time of the second counts.
    for _ in 0..2 {
        assert_eq!(world.owner("DELETE", "/v1/devices/kitchen", &[]).status, 200);
        std::thread::sleep(Duration::from_millis(50));
    }
    written(&file, 0);
    let body = device.envelope(2, &[1]);
    world.keep(&body);
    assert_eq!(world.owner("DELETE", "/v1/devices/kitchen", &[]).status, 200);
    std::thread::sleep(Duration::from_millis(50));
    let between = SystemTime::now();
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(world.owner("DELETE", "/v1/devices/kitchen", &[]).status, 200);
    File::options().write(true).open(&file).unwrap().set_modified(between).unwrap();
    world.upload("k", &body).refused(403, "device-revoked");

    // After a registration by request, the file does not restore the old key.
    let mut replaced = Device::new("kitchen", &bfv(), 4);
    world.register(&replaced);
    world.stop();
    world.resume();
    world.keep(&replaced.envelope(3, &[1]));
    world.upload("k", &device.envelope(4, &[1])).refused(403, "not-admitted");
}

#[test]
fn files_that_cannot_be_used_are_skipped() {
    let mut world = world();
    let mut device = Device::new("kitchen", &bfv(), 1);
    let good = enrolment(&device);
    let with = |field: &str, value: Value| {
        let mut document = good.clone();
        document["device"] = "bad".into();
        document[field] = value;
        document.to_string()
    };
    let mut weak = DefaultChain::spec(SchemeId::Bfv, 8192, 65_537).unwrap();
    weak.degree = 4096;
    let weak = hex::encode(sotto_wire::write_parameters(&weak));
    let frame = good["parameters"][0].clone();
    let bad = [
        String::new(),
        "{".into(),
        "[".repeat(100_000),
        "null".into(),
        with("device", "kitchen".into()),
        with("device", "../bad".into()),
        with("verifying_key", "00".into()),
        with("parameters", json!([weak])),
        with("parameters", json!(["0g"])),
        with("parameters", json!(["00".repeat(5000)])),
        with("parameters", json!(vec![frame; 257])),
        with("keys", json!([{ "parameter_id": "00", "key_id": "11" }])),
        with("keys", json!(vec![good["keys"][0].clone(); 257])),
        with("keys", json!([{ "parameter_id": "00".repeat(32), "key_id": "11".repeat(16) }])),
        with("more", 1.into()),
        with("device", "bad".into()) + &" ".repeat(1 << 20),
    ];
    let mut unknown = Device::new("bad", &bfv(), 2);
    let body = unknown.envelope(0, &[1]);
    let none = contents(&world.data());
    for (index, text) in bad.iter().enumerate() {
        fs::write(path(&world, "bad"), text).unwrap();
        written(&path(&world, "bad"), -1000 + index as i64);
        let answer = world.upload("k", &body);
        assert_eq!(answer.status, 403, "{index}: {answer}");
        assert_eq!(contents(&world.data()).rows["devices"], none.rows["devices"], "{index}");
    }

    // All bad files, and files with invalid names, at the start; the good one is applied.
    world.stop();
    let folder = world.folder().join("enrolments");
    for (index, text) in bad.iter().enumerate() {
        fs::write(folder.join(format!("bad-{index}.json")), text).unwrap();
    }
    fs::create_dir(folder.join("folder.json")).unwrap();
    for name in ["b\u{e4}d.json", "a b.json", ".json", "kitchen.json.1.partial", "kitchen"] {
        fs::write(folder.join(name), good.to_string()).unwrap();
    }
    #[cfg(unix)]
    {
        let outside = world.folder().join("outside.json");
        fs::write(&outside, with("device", "link".into())).unwrap();
        std::os::unix::fs::symlink(&outside, folder.join("link.json")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", folder.join("zero.json")).unwrap();
        assert!(
            std::process::Command::new("mkfifo").arg(folder.join("pipe.json")).status().unwrap().success()
        );
    }
    fs::write(folder.join("kitchen.json"), good.to_string()).unwrap();
    world.resume();
    let listed = world.ask("/v1/devices");
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    world.keep(&device.envelope(0, &[1]));
}

#[test]
fn a_folder_with_too_many_files_is_read_up_to_the_limit() {
    let mut world = world();
    world.stop();
    let folder = path(&world, "kitchen").with_file_name("");
    for index in 0..10_100 {
        File::create(folder.join(format!("bad-{index}.json"))).unwrap();
    }
    world.resume();
    let mut device = Device::new("kitchen", &bfv(), 1);
    enrol(&world, &device);
    let body = device.envelope(0, &[1]);
    world.upload("k", &body).refused(403, "not-admitted");
    for index in 0..200 {
        fs::remove_file(folder.join(format!("bad-{index}.json"))).unwrap();
    }
    std::thread::sleep(Duration::from_millis(1100));
    world.keep(&body);
}

#[test]
fn parameters_may_come_after_the_file_that_needs_them() {
    let world = world();
    let mut device = Device::new("kitchen", &bfv(), 1);
    let mut document = enrolment(&device);
    document["parameters"] = json!([]);
    fs::write(path(&world, "kitchen"), document.to_string()).unwrap();
    let body = device.envelope(0, &[1]);
    world.upload("k", &body).refused(403, "not-admitted");
    world.put_parameters(&bfv());
    std::thread::sleep(Duration::from_millis(1100));
    world.keep(&body);
}
