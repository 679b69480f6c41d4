//! Refused uploads: each with its reason, and with an unchanged store.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use sotto_rlwe::{Bfv, Bgv, Params};
use sotto_wire::{LONGEST_UPLOAD_KEY, WireError};

use crate::device::Device;
use crate::store::contents;
use crate::world::{Answer, LARGEST_UPLOAD, World, upload_unannounced};

/// Checks that an upload is refused and leaves the store unchanged.
fn refused(world: &World, status: u16, reason: &str, upload: impl FnOnce() -> Answer) {
    let before = contents(&world.data());
    upload().refused(status, reason);
    assert_eq!(contents(&world.data()), before, "{reason}");
}

/// Returns a cloud with one stored envelope, and another envelope.
fn world() -> (World, Params<Bfv>, Device<Bfv>, Vec<u8>) {
    let (world, params, mut device) = World::with_device();
    world.keep(&device.envelope(0, &[1]));
    let next = device.envelope(1, &[2]);
    (world, params, device, next)
}

/// Replaces the digest at the end of a changed frame by the right one.
fn with_digest(mut frame: Vec<u8>) -> Vec<u8> {
    let end = frame.len() - 32;
    let digest = blake3::hash(&frame[..end]);
    frame[end..].copy_from_slice(digest.as_bytes());
    frame
}

#[test]
fn bytes_that_are_missing_or_too_many() {
    let (world, _, _, body) = world();
    for length in [0, 1, 15, 47, 48, 100, body.len() / 2, body.len() - 1] {
        refused(&world, 400, "truncated", || world.upload("k", &body[..length]));
    }
    let longer = [&body[..], &[0]].concat();
    refused(&world, 400, "trailing-bytes", || world.upload("k", &longer));
    world.upload("k", &body).expect(201);
}

#[test]
fn bits_that_were_flipped() {
    let (world, _, _, body) = world();
    let step = body.len() / 40;
    for at in (16..body.len()).step_by(step).chain([body.len() - 1]) {
        let mut flipped = body.clone();
        flipped[at] ^= 1 << (at % 8);
        refused(&world, 400, "digest-mismatch", || world.upload("k", &flipped));
    }
    let named = |error: &WireError| error.name();
    for (at, reason) in [(0, named(&WireError::Magic)), (4, named(&WireError::Version(0)))] {
        let mut flipped = body.clone();
        flipped[at] ^= 0x40;
        refused(&world, 400, reason, || world.upload("k", &flipped));
    }
    // Other bytes of the frame's header: another kind, reserved bits, another length.
    for (at, status, reason) in [
        (5, 400, "wrong-kind"),
        (6, 422, "padding-not-zero"),
        (8, 400, "trailing-bytes"),
        (15, 413, "too-large"),
    ] {
        let mut changed = body.clone();
        changed[at] = if at == 5 { 2 } else { changed[at] ^ 1 };
        if at == 8 {
            changed[9] = changed[9].wrapping_sub(1);
        }
        refused(&world, status, reason, || world.upload("k", &changed));
    }
    refused(&world, 400, "not-a-frame", || world.upload("k", &vec![9; 1000]));
}

#[test]
fn more_bytes_than_are_allowed() {
    let (world, _, _, body) = world();
    for length in [LARGEST_UPLOAD as usize + 1, 3 << 20] {
        let mut large = body.clone();
        large.resize(length, 0);
        refused(&world, 413, "too-large", || world.upload("k", &large));
        refused(&world, 413, "too-large", || upload_unannounced(&world, "k", &large));
    }
    // An announced length above the limit is refused before the body arrives; an unannounced one when it passes the
    // limit.
    let unending = [&b"transfer-encoding: chunked\r\n\r\n40000\r\n"[..], &[7; 0x40000]].concat();
    for sent in [&b"content-length: 99999999999\r\n\r\n"[..], &unending] {
        let before = contents(&world.data());
        let mut connection = TcpStream::connect(world.url("").trim_start_matches("http://")).unwrap();
        connection.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let head = b"POST /v1/envelopes HTTP/1.1\r\nhost: x\r\nidempotency-key: k\r\n";
        connection.write_all(&[head, sent].concat()).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("too-large"), "{answer}");
        assert_eq!(contents(&world.data()), before);
    }
    upload_unannounced(&world, "k", &body).expect(201);
}

#[test]
fn parameters_and_keys_that_are_not_the_devices() {
    let (world, params, mut device, _) = world();
    // A key that is not registered with the device.
    let mut stranger = Device::new("kitchen", &params, 9);
    stranger.identity = sotto_keys::SigningIdentity::from_bytes(device.identity.expose_secret_bytes());
    let body = stranger.envelope(1, &[1]);
    refused(&world, 422, "wrong-key", || world.upload("k", &body));

    // Parameters that are not registered with the device, known to the cloud or not.
    let bgv = Params::<Bgv>::default_chain(4096, 40_961).unwrap();
    let mut other = Device::new("kitchen", &bgv, 1);
    other.identity = sotto_keys::SigningIdentity::from_bytes(device.identity.expose_secret_bytes());
    let body = other.envelope(1, &[1]);
    refused(&world, 422, "wrong-parameters", || world.upload("k", &body));
    world.put_parameters(&bgv);
    refused(&world, 422, "wrong-parameters", || world.upload("k", &body));

    // The header contradicts its ciphertext.
    let mut header = device.header(1);
    header.parameters = bgv.id();
    let lies = device.encrypt(&[1]);
    let body = device.seal(header, lies.clone());
    refused(&world, 422, "wrong-parameters", || world.upload("k", &body));
    let mut header = device.header(1);
    header.key = stranger.secret.id();
    let body = device.seal(header, lies);
    refused(&world, 422, "wrong-key", || world.upload("k", &body));
}

#[test]
fn signatures_and_devices_that_are_not_known() {
    let (world, params, mut device, body) = world();
    let mut flipped = body.clone();
    let at = body.len() - 40;
    flipped[at] ^= 1;
    let flipped = with_digest(flipped);
    refused(&world, 403, "not-admitted", || world.upload("k", &flipped));

    // The header is signed too: "load" becomes "moad".
    let mut renamed = body.clone();
    let at = body.windows(4).position(|word| word == b"load").unwrap();
    renamed[at] = b'm';
    let renamed = with_digest(renamed);
    refused(&world, 403, "not-admitted", || world.upload("k", &renamed));

    let mut thief = Device::new("kitchen", &params, 1);
    thief.identity = sotto_keys::SigningIdentity::from_bytes(&[7; 32]);
    let signed = thief.envelope(1, &[1]);
    refused(&world, 403, "not-admitted", || world.upload("k", &signed));

    let unknown = Device::new("attic", &params, 1).envelope(1, &[1]);
    refused(&world, 403, "not-admitted", || world.upload("k", &unknown));

    assert_eq!(world.owner("DELETE", "/v1/devices/kitchen", &[]).status, 200);
    refused(&world, 403, "device-revoked", || world.upload("k", &body));
    assert_eq!(world.ask("/v1/envelopes").as_array().unwrap().len(), 1);
    world.register(&device);
    world.upload("k", &body).expect(201);
    world.keep(&device.envelope(2, &[1]));
}

#[test]
fn strangers_cannot_tell_which_devices_are_registered() {
    let (world, params, mut kitchen, body) = world();
    // A signature of the right key for another message, and one of another key.
    let mut changed = body.clone();
    let at = body.windows(4).position(|word| word == b"load").unwrap();
    changed[at] = b'm';
    let changed = with_digest(changed);
    let stranger = |name: &str| {
        let mut device = Device::new(name, &params, 9);
        device.identity = sotto_keys::SigningIdentity::from_bytes(&[7; 32]);
        device
    };
    let forged = stranger("kitchen").envelope(1, &[1]);
    let (seen_changed, seen) = (world.upload("k", &changed), world.upload("k", &forged));
    seen.refused(403, "not-admitted");
    assert_eq!(seen_changed.to_string(), seen.to_string());
    let unknown = world.upload("k", &stranger("attic").envelope(1, &[1]));
    assert_eq!(unknown.to_string(), seen.to_string(), "a device that is not registered");
    assert!(!seen.to_string().contains("kitchen"), "{seen}");

    world.owner("DELETE", "/v1/devices/kitchen", &[]);
    let revoked = world.upload("k", &forged);
    assert_eq!(revoked.to_string(), seen.to_string(), "a device that is revoked");
    // A valid signature reveals more.
    world.upload("k", &kitchen.envelope(1, &[1])).refused(403, "device-revoked");
}

#[test]
fn residues_and_bounds_that_cannot_be() {
    let (world, _, mut device, _) = world();
    let fresh = device.encrypt(&[1]);
    // Length of a frame's header, a ciphertext's header and the seed; residues follow.
    let residues = 16 + 76 + 24;
    let mut large = fresh.clone();
    large[residues..residues + 10].fill(0xff);
    let body = device.seal(device.header(1), with_digest(large));
    refused(&world, 422, "residue-out-of-range", || world.upload("k", &body));

    let cut = fresh.len() - 8;
    let mut shorter = [&fresh[..cut - 32], &[0; 32]].concat();
    let payload = (shorter.len() as u64 - 48).to_le_bytes();
    shorter[8..16].copy_from_slice(&payload);
    let body = device.seal(device.header(1), with_digest(shorter));
    refused(&world, 422, "wrong-length", || world.upload("k", &body));

    // A noise bound that makes decryption impossible.
    let mut drowned = fresh;
    drowned[16 + 68..16 + 76].copy_from_slice(&1e6f64.to_le_bytes());
    let body = device.seal(device.header(1), with_digest(drowned));
    refused(&world, 422, "invalid-value", || world.upload("k", &body));
    let mut header = device.header(u64::MAX);
    header.stream = "other".into();
    let fresh = device.encrypt(&[1]);
    let body = device.seal(header, fresh);
    refused(&world, 422, "invalid-value", || world.upload("k", &body));
}

#[test]
fn idempotency_keys_that_are_none() {
    let (world, _, _, body) = world();
    for key in ["", "two words", "ümlaut", &"k".repeat(LONGEST_UPLOAD_KEY + 1)] {
        refused(&world, 400, "invalid-idempotency-key", || world.upload_as(key, &body));
    }
    let url = world.url("/v1/envelopes");
    refused(&world, 400, "idempotency-key-missing", || crate::world::send("POST", &url, &[], &body));
    let twice = [("idempotency-key", "a"), ("idempotency-key", "b")];
    refused(&world, 400, "idempotency-key-missing", || crate::world::send("POST", &url, &twice, &body));
    let longest = "k".repeat(LONGEST_UPLOAD_KEY);
    refused(&world, 422, "idempotency-key-mismatch", || world.upload_as(&longest, &body));
    world.upload("", &body).expect(201);
}

/// A device puts a message aside only if no later registration, larger quota or wait can make it acceptable.
#[test]
fn refusals_for_good_are_told_from_the_others() {
    let (world, params, mut device) = World::with_device();
    let final_of = |answer: &crate::world::Answer| {
        sotto_wire::is_final_refusal(answer.json()["type"].as_str().unwrap_or_default())
    };
    let body = device.envelope(0, &[1]);
    world.upload("", &body).expect(201);
    let mut damaged = device.envelope(1, &[1]);
    damaged[500] ^= 1;
    for answer in [
        world.upload("k", b"nonsense"),
        world.upload("k", &damaged),
        world.upload("", &device.envelope(0, &[2])),
        world.upload_as("k", &device.envelope(1, &[1])),
    ] {
        assert!(final_of(&answer), "{answer}");
    }
    let mut stranger = crate::device::Device::new("stranger", &params, 5);
    let mut renewed = crate::device::Device::new("kitchen", &params, 6);
    let answers = [
        world.upload("", &stranger.envelope(0, &[1])),
        world.upload("", &renewed.envelope(1, &[1])),
        crate::world::send("POST", &world.url("/v1/nowhere"), &[], &body),
    ];
    for answer in answers {
        assert!(answer.status >= 400 && !final_of(&answer), "{answer}");
    }
    world.owner("DELETE", "/v1/devices/kitchen", &[]);
    let answer = world.upload("", &device.envelope(1, &[1]));
    assert!(answer.status == 403 && !final_of(&answer), "{answer}");
}
