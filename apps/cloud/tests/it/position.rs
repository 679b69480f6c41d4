//! Devices that have lost their spool ask for their position.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sotto_rlwe::Scheme;
use sotto_wire::{PositionRequest, SignedHeader};

use crate::device::Device;
use crate::world::{Answer, World, send};

pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_millis() as i64
}

fn ask<S: Scheme>(world: &World, device: &Device<S>, stream: &str, at: i64) -> Answer {
    let asked = PositionRequest::sign(&device.name, stream, at, |message| device.identity.sign(message));
    send("POST", &world.url("/v1/position"), &[], &asked.unwrap().write().unwrap())
}

fn recoveries(world: &World) -> serde_json::Value {
    world.ask("/v1/devices")[0]["recoveries"].clone()
}

#[test]
fn the_last_window_is_told_with_the_devices_own_signature() {
    let (world, _, mut device) = World::with_device();
    assert_eq!(ask(&world, &device, "load", now()).expect(200), serde_json::json!({ "next": 0 }));
    assert_eq!(recoveries(&world), 0, "a device that never sent anything has lost nothing");
    for sequence in [0, 1, 7] {
        world.keep(&device.envelope(sequence, &[1]));
    }
    let at = now();
    for _ in 0..2 {
        let answer = ask(&world, &device, "load", at).expect(200);
        assert_eq!(answer["next"], 8);
        let frame = hex::decode(answer["signed_header"].as_str().unwrap()).unwrap();
        let header = SignedHeader::read(&frame, 1 << 20).unwrap();
        header.verify(&device.identity.verifying_key()).unwrap();
        assert_eq!(*header.header(), device.header(7));
        assert_eq!(recoveries(&world), 1, "a question that is sent again counts once");
    }
    ask(&world, &device, "load", at + 1).expect(200);
    assert_eq!(recoveries(&world), 2);
    assert_eq!(ask(&world, &device, "other", now()).expect(200)["next"], 0);
    world.owner("DELETE", "/v1/envelopes?device=kitchen&before=9000", &[]).expect(200);
    let answer = ask(&world, &device, "load", now()).expect(200);
    assert_eq!(answer, serde_json::json!({ "next": 8, "forgotten_until": 9000 }));
}

#[test]
fn the_window_with_the_latest_reading_is_told_if_it_is_another_one() {
    let (world, _, mut device) = World::with_device();
    for sequence in [5, 7] {
        world.keep(&device.envelope(sequence, &[1]));
    }
    assert!(ask(&world, &device, "load", now()).expect(200).get("latest_header").is_none());
    let late = sotto_wire::EnvelopeHeader { ended_at: 1_500, ..device.header(9) };
    let ciphertext = device.encrypt(&[1]);
    world.keep(&device.seal(late, ciphertext));
    let answer = ask(&world, &device, "load", now()).expect(200);
    assert_eq!(answer["next"], 10);
    let number = |field: &str| {
        let frame = hex::decode(answer[field].as_str().unwrap()).unwrap();
        SignedHeader::read(&frame, 1 << 20).unwrap().header().sequence
    };
    assert_eq!((number("signed_header"), number("latest_header")), (9, 7));
}

#[test]
fn nobody_else_is_told() {
    let (world, params, mut device) = World::with_device();
    world.keep(&device.envelope(0, &[1]));
    ask(&world, &Device::new("kitchen", &params, 9), "load", now()).refused(403, "not-admitted");
    ask(&world, &Device::new("attic", &params, 9), "load", now()).refused(403, "not-admitted");
    for at in [now() - 2 * 86_400_000, now() + 2 * 86_400_000] {
        ask(&world, &device, "load", at).refused(403, "clock-apart");
    }
    send("POST", &world.url("/v1/position"), &[], b"nonsense").refused(400, "truncated");
    assert_eq!(recoveries(&world), 0);
    world.owner("DELETE", "/v1/devices/kitchen", &[]);
    ask(&world, &device, "load", now()).refused(403, "device-revoked");
}
