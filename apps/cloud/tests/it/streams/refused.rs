//! Windows and registrations that are refused.

use serde_json::{Value, json};
use sotto_cloud::config::Settings;
use sotto_wire::{Envelope, MaskName, SignedHeader};

use super::site::{SECRET, Site, TICKS, header, key_of, readings, window};
use crate::store::contents;
use crate::windows::with_enrolments;
use crate::world::{Answer, World};

fn device(site: &Site) -> Value {
    site.world.ask("/v1/devices")[0].clone()
}

fn detail(answer: &Answer) -> String {
    answer.json()["detail"].as_str().unwrap().to_owned()
}

#[test]
fn two_windows_under_the_same_pads_are_shown_to_the_owner() {
    let mut site = Site::registered();
    let first = site.window(4);
    let name = first.mask().unwrap();
    site.upload(&first).expect(201);
    assert_eq!(site.upload(&first).expect(200)["duplicate"], true);
    // In a group, too.
    let next = site.window(5);
    let receipts = site.upload_group(&[first.clone(), next]).expect(201);
    assert_eq!((&receipts[0]["duplicate"], &receipts[1]["duplicate"]), (&true.into(), &false.into()));
    // The same pads, body and tag under another number give nothing away.
    let renumbered = first.clone().renumbered(9, |message| site.identity.sign(message)).unwrap();
    let answer = site.upload(&renumbered);
    answer.refused(409, "mask-repeated");
    assert!(detail(&answer).contains("stored already, with number 4"), "{answer}");
    assert_eq!((&device(&site)["repeated_masks"], &device(&site)["repeated_pads"]), (&0.into(), &json!([])));
    // The number with pads of another start.
    let other = site.window_under(4, MaskName { salt: [9; 12], sequence: 4 }, readings(4, TICKS));
    site.upload(&other).refused(409, "sequence-taken");
    assert_eq!(device(&site)["repeated_pads"], json!([]));

    let before = contents(&site.world.data()).envelopes();
    let second = site.window_under(4, name, readings(1, TICKS));
    let later = site.window_under(8, name, readings(2, TICKS));
    for window in [&second, &later] {
        let answer = site.upload(window);
        answer.refused(409, "mask-repeated");
        assert!(detail(&answer).contains("stream load"), "{answer}");
    }
    assert_eq!(contents(&site.world.data()).envelopes(), before);
    shows(&site, 2, &first, &second);
    // The evidence outlasts a restart, the windows, and a renewal of the device.
    site.world.stop();
    site.world.resume();
    assert_eq!(site.world.forget("kitchen", None, 9_000_000_000_000).expect(200)["envelopes"], 2);
    let renewed = header("kitchen", "load", &[8; 32]);
    let mut registration = site.registration();
    registration["keys"] = json!([key_of(&renewed)]);
    registration["streams"] = json!([hex::encode(renewed.write())]);
    site.register(&registration).expect(200);
    shows(&site, 2, &first, &second);
}

/// Checks the evidence that the owner gets: two windows that the device signed.
fn shows(site: &Site, repeated: u64, stored: &Envelope, refused: &Envelope) {
    let device = device(site);
    assert_eq!(device["repeated_masks"], repeated);
    let evidence = device["repeated_pads"].as_array().unwrap();
    assert_eq!(evidence.len(), 1);
    assert_eq!(evidence[0]["stream"], "load");
    assert_eq!(evidence[0]["tag"], site.header.id().tag().to_string());
    let signed = |at: usize| {
        let frame = hex::decode(evidence[0]["signed"][at].as_str().unwrap()).unwrap();
        let signed = SignedHeader::read(&frame, 1 << 20).unwrap();
        signed.verify(&site.identity.verifying_key()).unwrap();
        signed
    };
    assert_eq!((&signed(0), &signed(1)), (stored.signed_header(), refused.signed_header()));
    assert_eq!(signed(0).mask(), signed(1).mask());
    assert!(!signed(0).is_same_encryption(&signed(1)));
}

#[test]
fn a_group_with_the_same_pads_twice_is_evidence() {
    let mut site = Site::registered();
    let windows = [site.window(1), site.window(2)];
    let again = site.window_under(3, windows[0].mask().unwrap(), readings(3, TICKS));
    let group = [windows[0].clone(), windows[1].clone(), again];
    let answer = site.upload_group(&group);
    answer.refused(409, "mask-repeated");
    assert!(detail(&answer).contains("number 3 of load"), "{answer}");
    assert_eq!(contents(&site.world.data()).envelopes(), (0, 0));
    let group = sotto_wire::WindowGroup::sign(group.to_vec(), |message| site.identity.sign(message)).unwrap();
    shows(&site, 1, &group.windows()[0], &group.windows()[2]);

    // One encryption under two numbers is none.
    let mut site = Site::registered();
    let window = site.window(1);
    let renumbered = window.clone().renumbered(2, |message| site.identity.sign(message)).unwrap();
    site.upload_group(&[window, renumbered]).refused(409, "mask-repeated");
    assert_eq!(device(&site)["repeated_pads"], json!([]));
}

#[test]
fn windows_are_those_of_a_registered_stream_device_and_key() {
    let mut site = Site::new();
    let first = site.window(0);
    site.upload(&first).refused(403, "unknown-stream");
    let next = site.window(1);
    site.upload_group(&[first.clone(), next.clone()]).refused(403, "unknown-stream");
    site.enrol();
    site.upload(&first).expect(201);
    let mut changed = next.write();
    let end = changed.len();
    changed[end - 1] ^= 1;
    site.world.upload_as("kitchen.load.1", &changed).refused(403, "not-admitted");
    // A tag that is no residue, and padding that is not zero.
    let body = changed.len() - 64 - 2 * 8 - 12 - 17;
    for at in [body + 11, end - 64 - 1] {
        let mut changed = next.write();
        changed[at] = 0xff;
        let answer = site.world.upload_as("kitchen.load.1", &changed);
        assert!(matches!(answer.status, 400 | 422), "{at}: {answer}");
    }
    site.world.upload_as("kitchen.load.2", &next.write()).refused(422, "idempotency-key-mismatch");

    // After a renewal the old stream is known, its key is not.
    let (renewed, name) = (header("kitchen", "load", &[8; 32]), MaskName { salt: [7; 12], sequence: 5 });
    let mut registration = site.registration();
    registration["keys"] = json!([key_of(&renewed)]);
    registration["streams"] = json!([hex::encode(renewed.write())]);
    site.register(&registration).expect(200);
    site.upload(&window(&site.identity, &renewed, 5, name, &readings(5, TICKS))).expect(201);
    let old = site.window(6);
    site.upload(&old).refused(422, "wrong-key");
    // Windows of the stream of the old key are not the new one's.
    let path = format!("/v1/streams/{}/sums", renewed.id().tag());
    let sums = |number: u64| {
        let request = json!({ "windows": [[number, 1]], "sums": [{ "windows": [0, 1], "parts": [0] }] });
        site.world.owner("POST", &path, request.to_string().as_bytes())
    };
    assert_eq!(sums(5).status, 200);
    sums(0).refused(422, "unknown-envelope");
    site.world.owner("DELETE", "/v1/devices/kitchen", &[]);
    site.upload(&window(&site.identity, &renewed, 6, name, &readings(6, TICKS)))
        .refused(403, "device-revoked");
}

#[test]
fn a_key_without_its_stream_names_unknown_parameters() {
    let site = Site::new();
    let whole = site.registration();
    let mut without = whole.clone();
    without["streams"] = json!([]);
    site.register(&without).refused(422, "unknown-parameters");
    // A stream of another name has another id; and a header names its device and its key.
    let other = header("kitchen", "boiler", &SECRET);
    let mut wrong = whole.clone();
    wrong["keys"] = json!([key_of(&site.header), key_of(&other)]);
    site.register(&wrong).refused(422, "unknown-parameters");
    wrong["streams"] = json!([hex::encode(header("attic", "load", &SECRET).write())]);
    site.register(&wrong).refused(422, "wrong-stream");
    let mut wrong = whole.clone();
    wrong["keys"][0]["key_id"] = "ab".repeat(16).into();
    site.register(&wrong).refused(422, "wrong-stream");
    wrong["keys"] = json!([]);
    site.register(&wrong).refused(422, "wrong-stream");
    site.register(&whole).expect(200);
    // Once the stream is registered, its key can be registered again without its header.
    site.register(&without).expect(200);
    without["keys"][0]["key_id"] = "ab".repeat(16).into();
    site.register(&without).refused(422, "unknown-parameters");
    let keys = &device(&site)["keys"];
    assert_eq!(keys, &json!([key_of(&site.header)]));
}

#[test]
fn quotas_count_windows_of_sums() {
    let change = |settings| Settings { device_rate: Some(3), ..with_enrolments(settings) };
    let mut site = Site::in_world(World::start_with(change));
    site.register(&site.registration()).expect(200);
    for number in 0..3 {
        let window = site.window(number);
        site.upload(&window).expect(201);
    }
    let window = site.window(3);
    site.upload(&window).refused(429, "device-rate");
}
