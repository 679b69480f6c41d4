//! A store with windows of places, which earlier programs sent: it opens, lists, and is copied; work on them is refused
//! by name. The files are in `tests/data/places`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use sotto_cloud::backups::{self, Days};
use sotto_program::{KeyNumber, Plan, PlanInput, PlanOutput, PlanStep, Predicted, Register, Step};
use sotto_rlwe::{Bfv, Params};
use sotto_wire::{Envelope, PositionRequest, SignedHeader, SlotsWindow, StreamHead};

use crate::device::Device;
use crate::store::{contents, open};
use crate::world::{World, bfv, send};

const PLACES: &str = "places-not-read";
/// Windows of the store, and those of places among them.
const STORED: (usize, usize) = (10, 8);

fn file(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/places")).join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    fs::read(file(name)).unwrap()
}

fn world() -> World {
    let mut world = World::start();
    world.stop();
    fs::remove_dir_all(world.data()).unwrap();
    let unpacked =
        Command::new("tar").arg("-xzf").arg(file("store.tar.gz")).current_dir(world.folder()).status();
    assert!(unpacked.unwrap().success());
    world.resume();
    world
}

/// What the cloud that wrote the store answered. Lists no longer tell which windows shared masks.
fn expected(what: &str) -> Value {
    let all: Value = serde_json::from_slice(&bytes("expected.json")).unwrap();
    let mut found = all[what].clone();
    for envelope in found.as_array_mut().into_iter().flatten() {
        envelope.as_object_mut().unwrap().remove("shared_mask");
    }
    found
}

fn envelopes(world: &World) -> Vec<Value> {
    world.ask("/v1/envelopes?limit=1000").as_array().unwrap().clone()
}

/// Asserts that lists and logs are as they were.
fn is_unchanged(world: &World) {
    assert_eq!(Value::from(envelopes(world)), expected("envelopes"));
    let devices = world.ask("/v1/devices");
    for (device, before) in devices.as_array().unwrap().iter().zip(expected("devices").as_array().unwrap()) {
        for field in ["name", "keys", "verifying_key", "envelopes", "bytes", "revoked"] {
            assert_eq!(device[field], before[field]);
        }
    }
    let logs = expected("logs");
    assert_eq!(logs.as_object().unwrap().len(), 5);
    for (name, before) in logs.as_object().unwrap() {
        let (device, stream) = name.split_once('.').unwrap();
        let log = world.log(device, stream);
        assert_eq!(log["windows"], before["windows"], "{name}");
        assert!(log["windows"].as_array().unwrap().iter().all(|window| window["signed"].is_string()));
        let head =
            |log: &Value| StreamHead::read(&hex::decode(log["head"].as_str().unwrap()).unwrap()).unwrap();
        let (head, before) = (head(&log), head(before));
        assert_eq!((head.size, head.root), (before.size, before.root), "{name}");
    }
}

#[test]
fn a_store_with_windows_of_places_opens_and_lists() {
    let mut world = world();
    for _ in 0..2 {
        is_unchanged(&world);
        let kept = contents(&world.data());
        assert_eq!(kept.envelopes(), (STORED.0 as i64, STORED.0));
        assert!(!kept.files.keys().any(|name| name.starts_with("orphans/")), "{:?}", kept.files);
        world.stop();
        world.resume();
    }
}

#[test]
fn windows_of_places_are_refused_by_name_and_others_are_read() {
    let world = world();
    let mut refused = 0;
    for listed in envelopes(&world) {
        let path = |end: &str| format!("/v1/envelopes/{}{end}", listed["id"].as_str().unwrap());
        assert_eq!(world.ask(&path("")), listed);
        let [body, message] = ["/body", "/envelope"].map(|end| world.owner("GET", &path(end), &[]));
        if listed["device"] == "kitchen" {
            body.refused(422, PLACES);
            message.refused(422, PLACES);
            let told = message.json()["detail"].as_str().unwrap().to_owned();
            assert!(told.contains("windows of places") && told.contains("sotto device renew"), "{told}");
            refused += 1;
            continue;
        }
        assert_eq!((body.status, message.status), (200, 200));
        let read = Envelope::read_kept(&message.bytes, 1 << 20).unwrap();
        assert_eq!(read.body().frame(), body.bytes);
        if listed["stream"] == "steps" {
            assert!(SlotsWindow::read(&body.bytes).unwrap().compact(&bfv()).is_ok());
        }
    }
    assert_eq!(refused, STORED.1);
}

#[test]
fn a_job_on_a_window_of_places_is_refused() {
    let world = world();
    let window = &envelopes(&world)[3];
    assert_eq!(window["stream"], "load");
    let parameters = hex::decode(window["parameter_id"].as_str().unwrap()).unwrap();
    let frame: Vec<u8> = open(&world.data())
        .query_row("SELECT frame FROM parameters WHERE id = ?1", [parameters], |row| row.get(0))
        .unwrap();
    let params = Params::<Bfv>::new(sotto_wire::read_parameters(&frame).unwrap()).unwrap();
    let (input, register) = (PlanInput { name: "x".into(), key: KeyNumber::ANSWER }, Register(1));
    let plan = Plan {
        parameter_id: params.id().0,
        inputs: vec![input],
        constants: Vec::new(),
        steps: vec![PlanStep { step: Step::Negate(Register(0)), output: register }],
        outputs: vec![PlanOutput { name: "y".into(), register, form: None }],
        keys: Default::default(),
        predicted: Predicted { noise_bits_left: 1.0, levels_used: 0, output_bytes: 1 },
    };
    let plan = world.put_plan(&plan);
    world.submit(&plan, &[window["id"].as_str().unwrap()]).refused(422, PLACES);
}

/// A device that has lost its spool goes on after its last window, also if that is one of places.
#[test]
fn the_position_of_a_stream_is_told() {
    let world = world();
    let identity = Device::new("kitchen", &bfv(), 1).identity;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    for (stream, last) in [("load", 9), ("shared", 3), ("first", 1)] {
        let asked = PositionRequest::sign("kitchen", stream, now as i64, |message| identity.sign(message));
        let answer = send("POST", &world.url("/v1/position"), &[], &asked.unwrap().write().unwrap());
        let answer = answer.expect(200);
        assert_eq!(answer["next"], last + 1);
        let frame = hex::decode(answer["signed_header"].as_str().unwrap()).unwrap();
        let signed = SignedHeader::read(&frame, 1 << 20).unwrap();
        assert_eq!(signed.verify(&identity.verifying_key()), Ok(()));
        assert_eq!((&signed.header().stream[..], signed.header().sequence), (stream, last));
    }
}

#[test]
fn uploads_of_places_are_refused() {
    let world = world();
    for (name, upload) in
        [("kitchen.load.20", "window"), ("kitchen.load.21-22", "group"), ("kitchen.first.2", "envelope")]
    {
        world.upload_as(name, &bytes(&format!("{upload}.bin"))).refused(422, PLACES);
    }
    // Nor is a stream of them registered again.
    world.owner("PUT", "/v1/devices/kitchen", &bytes("registration.json")).refused(422, PLACES);
    is_unchanged(&world);
    assert_eq!(contents(&world.data()).envelopes(), (STORED.0 as i64, STORED.0));
}

#[test]
fn the_device_can_be_registered_without_them_and_windows_are_forgotten() {
    let world = world();
    let mut registration: Value = serde_json::from_slice(&bytes("registration.json")).unwrap();
    registration["streams"] = Value::Array(Vec::new());
    world.owner("PUT", "/v1/devices/kitchen", registration.to_string().as_bytes()).expect(200);
    is_unchanged(&world);
    let forgotten = world.forget("kitchen", Some("load"), 7_500_000);
    assert_eq!(forgotten.expect(200)["envelopes"], 3);
    assert_eq!(envelopes(&world).len(), STORED.0 - 3);
    let log = world.log("kitchen", "load");
    let signed = log["windows"].as_array().unwrap().iter().map(|window| window["signed"].is_string());
    assert_eq!(signed.collect::<Vec<_>>(), [false, false, false, true, true, true]);
}

#[test]
fn a_store_with_windows_of_places_is_copied() {
    let mut world = world();
    let copy = world.folder().join("copy");
    backups::backup(&world.config(), &copy, Days::default()).unwrap();
    world.stop();
    fs::remove_dir_all(world.data()).unwrap();
    backups::restore(&world.config(), &copy, None).unwrap();
    world.resume();
    is_unchanged(&world);
}
