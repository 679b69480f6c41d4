//! Accepted uploads, each stored once.

use serde_json::json;
use sotto_wire::Envelope;

use crate::store::contents;
use crate::world::World;

#[test]
fn an_envelope_is_kept_listed_and_given_back() {
    let (world, params, mut device) = World::with_device();
    let ciphertext = device.encrypt(&[1, 2, 3]);
    let body = device.seal(device.header(7), ciphertext.clone());
    let receipt = world.upload("first", &body).expect(201);
    assert_eq!(receipt["duplicate"], false);
    assert_eq!(receipt["digest"], hex::encode(sotto_wire::frame_digest(&body).unwrap()));

    let listed = world.ask("/v1/envelopes?device=kitchen&stream=load&after_sequence=6&limit=5");
    let one = &listed.as_array().unwrap()[0];
    assert_eq!(one["id"], receipt["id"]);
    assert_eq!(one["stored_at"], receipt["stored_at"]);
    assert_eq!(one["parameter_id"], params.id().to_string());
    assert_eq!(one["key_id"], device.secret.id().to_string());
    assert_eq!(one["layout"], json!({ "block": 4 }));
    assert_eq!(one["bytes"], body.len());
    for (field, value) in [("sequence", 7), ("started_at", 1000), ("ended_at", 2000), ("readings", 3)] {
        assert_eq!(one[field], value);
    }
    for nothing in ["device=attic", "stream=other", "after_sequence=7", "limit=0"] {
        assert_eq!(world.ask(&format!("/v1/envelopes?{nothing}")), json!([]), "{nothing}");
    }
    let path = format!("/v1/envelopes/{}", receipt["id"].as_str().unwrap());
    assert_eq!(world.ask(&path), *one);
    let given = world.owner("GET", &format!("{path}/body"), &[]);
    assert_eq!((given.status, given.kind.as_str()), (200, "application/octet-stream"));
    assert_eq!(given.bytes, ciphertext);

    // The stored bytes still verify with the device's key.
    let file = world.data().join("envelopes").join(receipt["id"].as_str().unwrap());
    let kept = Envelope::read(&std::fs::read(file).unwrap(), u64::MAX).unwrap();
    kept.verify(&device.identity.verifying_key()).unwrap();
}

#[test]
fn the_same_body_is_kept_once() {
    let (world, _, mut device) = World::with_device();
    let body = device.envelope(0, &[1]);
    let first = world.upload("a", &body).expect(201);
    let kept = contents(&world.data());
    assert_eq!(kept.envelopes(), (1, 1));
    for key in ["a", "b"] {
        let again = world.upload(key, &body).expect(200);
        assert_eq!(again["duplicate"], true);
        for field in ["id", "digest", "stored_at"] {
            assert_eq!(again[field], first[field]);
        }
    }
    assert_eq!(contents(&world.data()), kept);
}

#[test]
fn another_body_under_a_used_name_is_a_conflict() {
    let (world, _, mut device) = World::with_device();
    world.upload("a", &device.envelope(0, &[1])).expect(201);
    let mut kept = contents(&world.data());
    world.upload_as("kitchen.load.0", &device.envelope(1, &[1])).refused(422, "idempotency-key-mismatch");
    world.upload_as("kitchen.load.1", &device.envelope(0, &[1])).refused(422, "idempotency-key-mismatch");
    world.upload("b", &device.envelope(0, &[1])).refused(409, "sequence-taken");
    // Nothing is stored but the count, which the owner sees.
    kept.rows.insert("taken_numbers".into(), 1);
    assert_eq!(contents(&world.data()), kept);
    assert_eq!(world.ask("/v1/devices")[0]["taken_numbers"], 1);

    // Devices have separate idempotency keys.
    let mut other = crate::device::Device::new("attic", device.secret.params(), 2);
    world.register(&other);
    world.upload("a", &other.envelope(0, &[1])).expect(201);
}

#[test]
fn of_many_at_the_same_time_one_is_kept() {
    let (world, _, mut device) = World::with_device();
    let same = device.envelope(0, &[1]);
    let others: Vec<_> = (0..4).map(|_| device.envelope(1, &[2])).collect();
    let statuses = |bodies: Vec<&Vec<u8>>| {
        let mut statuses: Vec<u16> = std::thread::scope(|scope| {
            let world = &world;
            let send = |body| move || world.upload(&blake3::hash(body).to_hex(), body).status;
            let uploads: Vec<_> = bodies.into_iter().map(|body| scope.spawn(send(body))).collect();
            uploads.into_iter().map(|upload| upload.join().unwrap()).collect()
        });
        statuses.sort_unstable();
        statuses
    };
    assert_eq!(statuses(vec![&same; 6]), [200, 200, 200, 200, 200, 201]);
    assert_eq!(statuses(others.iter().collect()), [201, 409, 409, 409]);
    assert_eq!(contents(&world.data()).envelopes(), (2, 2));
}

#[test]
fn a_layout_that_is_not_json_is_shown_as_text() {
    let (world, _, mut device) = World::with_device();
    let mut header = device.header(0);
    header.layout = b"{slots".to_vec();
    let ciphertext = device.encrypt(&[1]);
    world.keep(&device.seal(header, ciphertext));
    assert_eq!(world.ask("/v1/envelopes")[0]["layout"], "{slots");
}
