//! Devices that have lost their spool ask for their position.

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sotto_rlwe::Scheme;
use sotto_wire::{Envelope, Forget, Heads, HeadsRequest, Order, Ordered, PositionRequest, SignedHeader};

use crate::device::Device;
use crate::store::{change_message, message};
use crate::streams::site::Site;
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
    let answer = ask(&world, &device, "load", at).expect(200);
    assert_eq!(answer["next"], 8);
    let frame = hex::decode(answer["signed_header"].as_str().unwrap()).unwrap();
    let header = SignedHeader::read(&frame, 1 << 20).unwrap();
    header.verify(&device.identity.verifying_key()).unwrap();
    assert_eq!(*header.header(), device.header(7));
    assert_eq!(recoveries(&world), 1);
    ask(&world, &device, "load", at + 1).expect(200);
    assert_eq!(recoveries(&world), 2);
    assert_eq!(ask(&world, &device, "other", now()).expect(200)["next"], 0);
    world.forget("kitchen", None, 9000).expect(200);
    let answer = ask(&world, &device, "load", now()).expect(200);
    let order = hex::encode(crate::world::order("kitchen", forget(None, 9000)).write().unwrap());
    assert_eq!(answer, serde_json::json!({ "next": 8, "forgotten_until": 9000, "order": order }));
}

fn forget(stream: Option<&str>, until: i64) -> Ordered {
    Ordered::Forget(Forget { stream: stream.map(str::to_owned), until, next: 0, from_log: None })
}

#[test]
fn the_order_that_reaches_furthest_is_told_whether_it_names_the_stream_or_not() {
    let (world, _, mut device) = World::with_device();
    world.keep(&device.envelope(0, &[1]));
    for (stream, until, furthest) in [
        (Some("load"), 2_000, (Some("load"), 2_000)),
        (None, 9_000, (None, 9_000)),
        (Some("other"), 20_000, (None, 9_000)),
        (Some("load"), 12_000, (Some("load"), 12_000)),
        (None, 5_000, (Some("load"), 12_000)),
    ] {
        world.order("kitchen", forget(stream, until)).expect(200);
        let told = ask(&world, &device, "load", now()).expect(200);
        let order = Order::read(&hex::decode(told["order"].as_str().unwrap()).unwrap()).unwrap();
        let forget = order.parts().forget().unwrap();
        assert_eq!((forget.stream.as_deref(), forget.until), furthest);
    }
}

#[test]
fn a_question_for_the_order_alone_is_of_no_lost_spool() {
    let (world, _, mut device) = World::with_device();
    world.keep(&device.envelope(0, &[1]));
    world.forget("kitchen", Some("load"), 9_000).expect(200);
    let at = now();
    let sign = |message: &[u8]| device.identity.sign(message);
    let asked = PositionRequest::sign("kitchen", "load", at, sign).unwrap().write().unwrap();
    let told = send("POST", &world.url("/v1/position?order=true"), &[], &asked).expect(200);
    assert_eq!((&told["forgotten_until"], told["order"].is_string()), (&9_000.into(), true));
    assert_eq!(recoveries(&world), 0);
    ask(&world, &device, "load", at + 1).expect(200);
    assert_eq!(recoveries(&world), 1);
}

/// Windows whose files are damaged or gone have numbers all the same.
#[test]
fn a_damaged_file_does_not_hide_where_a_stream_stands() {
    let (world, _, mut device) = World::with_device();
    let ids: Vec<String> = [0, 1, 2].map(|number| world.keep(&device.envelope(number, &[1]))).to_vec();
    let file = |id: &String| world.data().join("envelopes").join(id);
    let told = |device: &Device<_>| -> (u64, Option<u64>) {
        let answer = ask(&world, device, "load", now()).expect(200);
        let number = |frame: &str| {
            let header = SignedHeader::read(&hex::decode(frame).unwrap(), 1 << 20).unwrap();
            header.verify(&device.identity.verifying_key()).unwrap();
            header.header().sequence
        };
        (answer["next"].as_u64().unwrap(), answer["signed_header"].as_str().map(number))
    };
    assert_eq!(told(&device), (3, Some(2)));
    let mut bytes = fs::read(file(&ids[2])).unwrap();
    bytes[50] ^= 1;
    fs::write(file(&ids[2]), bytes).unwrap();
    assert_eq!(told(&device), (3, Some(1)));
    fs::remove_file(file(&ids[1])).unwrap();
    assert_eq!(told(&device), (3, Some(0)));
    fs::write(file(&ids[0]), b"").unwrap();
    assert_eq!(told(&device), (3, None));
}

/// A stranger has copied signed questions on their way.
#[test]
fn a_signed_question_is_answered_once() {
    let (mut world, _, mut device) = World::with_device();
    world.keep(&device.envelope(0, &[1]));
    let (at, identity) = (now(), &device.identity);
    let sign = |message: &[u8]| identity.sign(message);
    let position = PositionRequest::sign("kitchen", "load", at, sign).unwrap().write().unwrap();
    let heads = |from| HeadsRequest::sign("kitchen", "load", from, at, sign).unwrap().write().unwrap();
    let copied = [("position", position), ("heads", heads(0)), ("heads", heads(1))];
    let send_all = |world: &World| -> Vec<Answer> {
        let send =
            |(path, frame): &(&str, Vec<u8>)| send("POST", &world.url(&format!("/v1/{path}")), &[], frame);
        copied.iter().map(send).collect()
    };
    // Three questions of one time.
    send_all(&world).iter().for_each(|answer| assert_eq!(answer.status, 200, "{answer}"));
    send_all(&world).iter().for_each(|answer| answer.refused(409, "asked-before"));
    world.stop();
    world.resume();
    send_all(&world).iter().for_each(|answer| answer.refused(409, "asked-before"));
    // The device asks again, also with a clock that was put back.
    for at in [at + 1, at - 3_600_000] {
        ask(&world, &device, "load", at).expect(200);
    }
    assert_eq!(recoveries(&world), 2, "an older question does not count");
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

fn ask_heads(site: &Site, stream: &str, from: u64, at: i64) -> Answer {
    let sign = |message: &[u8]| site.identity.sign(message);
    let asked = HeadsRequest::sign("kitchen", stream, from, at, sign).unwrap();
    send("POST", &site.world.url("/v1/heads"), &[], &asked.write().unwrap())
}

/// Returns all heads of the stream, page by page, and the number of pages.
fn all_heads(site: &Site) -> (Vec<SignedHeader>, usize) {
    let (mut all, mut pages): (Vec<SignedHeader>, _) = (Vec::new(), 0);
    loop {
        let from = all.last().map_or(0, |last| last.header().sequence + 1);
        let answer = ask_heads(site, "load", from, now());
        assert_eq!((answer.status, answer.kind.as_str()), (200, "application/octet-stream"), "{answer}");
        let Heads { heads, more } = Heads::read(&answer.bytes).unwrap();
        (all, pages) = ([all, heads].concat(), pages + 1);
        if !more {
            return (all, pages);
        }
    }
}

#[test]
fn the_heads_of_all_windows_are_told_with_the_devices_own_signatures() {
    let mut site = Site::registered();
    assert_eq!(all_heads(&site), (Vec::new(), 1));
    // Alone, with a gap in their numbers, then in groups.
    let windows: Vec<Envelope> =
        (0..1_205).filter(|number| *number != 3).map(|number| site.window(number)).collect();
    for window in &windows[..4] {
        site.upload(window).expect(201);
    }
    for group in windows[4..].chunks(64) {
        site.upload_group(group).expect(201);
    }
    let (heads, pages) = all_heads(&site);
    assert!(pages > 1, "a page is bounded");
    let key = site.identity.verifying_key();
    heads.iter().for_each(|head| head.verify(&key).unwrap());
    assert_eq!(heads.len(), windows.len());
    for (head, window) in heads.iter().zip(&windows) {
        assert_eq!(head.header(), window.header());
        assert_eq!(head.description(), window.signed_header().description());
    }
    assert_eq!(site.world.ask("/v1/devices")[0]["recoveries"], 0, "questions for positions are counted");
    // A damaged file hides its own head only; a deleted window is no window any more.
    let listed = site.world.ask("/v1/envelopes?limit=5");
    let (data, id) = (site.world.data(), listed[1]["id"].as_str().unwrap());
    let mut bytes = message(&data, id);
    bytes[50] ^= 1;
    change_message(&data, id, &bytes);
    site.world.forget("kitchen", None, windows[0].header().ended_at + 1).expect(200);
    let numbers = |heads: &[SignedHeader]| -> Vec<u64> {
        heads.iter().map(|head| head.header().sequence).take(3).collect()
    };
    assert_eq!(numbers(&all_heads(&site).0), [2, 4, 5]);
}

#[test]
fn nobody_else_is_told_heads() {
    let mut site = Site::registered();
    let window = site.window(0);
    site.upload(&window).expect(201);
    assert_eq!(ask_heads(&site, "other", 0, now()).bytes, Heads { heads: Vec::new(), more: false }.write());
    assert_eq!(
        ask_heads(&site, "load", u64::MAX, now()).bytes,
        Heads { heads: Vec::new(), more: false }.write()
    );
    for at in [now() - 2 * 86_400_000, now() + 2 * 86_400_000] {
        ask_heads(&site, "load", 0, at).refused(403, "clock-apart");
    }
    send("POST", &site.world.url("/v1/heads"), &[], b"nonsense").refused(400, "truncated");
    let stranger = sotto_keys::SigningIdentity::from_bytes(&[9; 32]);
    for device in ["kitchen", "attic"] {
        let asked = HeadsRequest::sign(device, "load", 0, now(), |message| stranger.sign(message)).unwrap();
        let answer = send("POST", &site.world.url("/v1/heads"), &[], &asked.write().unwrap());
        answer.refused(403, "not-admitted");
    }
    site.world.owner("DELETE", "/v1/devices/kitchen", &[]);
    ask_heads(&site, "load", 0, now()).refused(403, "device-revoked");
}
