//! Lists and limits, requested with the owner's client.

use rusqlite::params;
use serde_json::{Value, json};
use sotto_cloud::config::Settings;
use sotto_cloud_client::{CloudError, EnvelopeQuery, ListedKey, StoredEnvelope};

use crate::device::Device;
use crate::store::open;
use crate::world::{LARGEST_UPLOAD, World};

/// Inserts rows of envelopes without bodies. Stream, sequence and time follow from the number; the oldest has the
/// highest sequence number.
fn insert(world: &World, device: &str, count: i64) {
    let mut database = open(&world.data());
    let transaction = database.transaction().unwrap();
    let register =
        "INSERT OR IGNORE INTO devices (name, verifying_key, registered_at) VALUES (?1, zeroblob(32), 1)";
    transaction.execute(register, [device]).unwrap();
    let mut insert = transaction
        .prepare(
            "INSERT OR IGNORE INTO envelopes (id, digest, idempotency_key, device, stream, sequence, parameter_id, key_id,
             started_at, ended_at, readings, layout, bytes, stored_at)
             VALUES (randomblob(16), x'00', ?1, ?2, ?3, ?4, (SELECT id FROM parameters), zeroblob(16), ?5, ?6, 3, x'7b7d', 100, ?4)",
        )
        .unwrap();
    for number in 0..count {
        let (stream, sequence) = (["load", "heat"][(number % 2) as usize], number / 2);
        let started = -10 * sequence;
        let row = params![number.to_string(), device, stream, sequence, started, started + 9];
        insert.execute(row).unwrap();
    }
    drop(insert);
    transaction.commit().unwrap();
}

fn all(world: &World, query: &EnvelopeQuery) -> Vec<(String, String, u64)> {
    let place = |envelope: StoredEnvelope| (envelope.device, envelope.stream, envelope.sequence);
    let cloud = world.client();
    let listed = cloud.envelopes(query).map(|envelope| envelope.map(place));
    listed.collect::<Result<_, CloudError>>().unwrap()
}

#[test]
fn a_list_goes_on_page_after_page() {
    let (world, ..) = World::with_device();
    insert(&world, "attic", 2700);
    insert(&world, "kitchen", 2600);
    insert(&world, "cellar", 1);
    let everything = all(&world, &EnvelopeQuery::default());
    assert_eq!(everything.len(), 5301);
    assert!(everything.is_sorted_by(|a, b| a < b), "each once, in order");
    let kitchen = EnvelopeQuery::of_device("kitchen");
    assert_eq!(all(&world, &kitchen).len(), 2600);
    let heat = all(&world, &kitchen.clone().stream("heat").after_sequence(99));
    assert_eq!((heat.len(), heat[0].2, heat[1199].2), (1200, 100, 1299));
    assert_eq!(all(&world, &EnvelopeQuery::default().stream("heat")).len(), 2650);

    // The times of 100 windows are -1000 … -1: of each stream, those with started_at < -990 and ended_at > -1999.
    let time = EnvelopeQuery::default().ended_after(-1999).started_before(-990);
    let recent = all(&world, &time);
    assert_eq!(recent.len(), 4 * 101);
    assert!(recent.iter().all(|(_, _, sequence)| (100..=200).contains(sequence)));
    assert_eq!(all(&world, &kitchen.ended_after(-1999).started_before(-990)).len(), 2 * 101);
    assert!(all(&world, &EnvelopeQuery::of_device("no one's")).is_empty());
}

#[test]
fn a_page_is_an_array_and_names_the_next() {
    let (world, ..) = World::with_device();
    insert(&world, "kitchen", 250);
    let page = |query: &str| {
        let answer = world.owner("GET", &format!("/v1/envelopes{query}"), &[]);
        (answer.expect(200).as_array().unwrap().len(), answer.link)
    };
    let next = "<?limit=100&device=kitchen&after=kitchen/heat/99>; rel=\"next\"";
    assert_eq!(page("?device=kitchen"), (100, next.into()));
    assert_eq!(page("?limit=250"), (250, String::new()), "none follows");
    assert_eq!(page("?limit=1000&after=kitchen/load/100"), (24, String::new()));
    assert_eq!(page("?limit=9999").0, 250);
    assert_eq!(page("?limit=0"), (0, String::new()));
    let filtered = page("?limit=2&ended_after=-99&started_before=7&after_sequence=3&stream=load").1;
    let next = "<?limit=2&after_sequence=3&ended_after=-99&started_before=7&stream=load&after=kitchen/load/5>; rel=\"next\"";
    assert_eq!(filtered, next);
    world.owner("GET", "/v1/envelopes?after=kitchen", &[]).refused(400, "bad-request");
    world.owner("GET", "/v1/envelopes?ended_after=noon", &[]).refused(400, "bad-request");
}

#[test]
fn limits_are_those_of_the_configuration_and_of_plans() {
    let world = World::start_with(|settings| Settings { largest_job: Some(12_345_678), ..settings });
    let limits = world.client().limits().unwrap();
    assert_eq!(limits.version, env!("CARGO_PKG_VERSION"));
    assert_eq!((limits.largest_upload, limits.largest_job), (LARGEST_UPLOAD, 12_345_678));
    assert_eq!((limits.largest_keys, limits.largest_plan), (256 << 20, sotto_wire::LARGEST_PLAN));
    assert_eq!((limits.most_galois_keys, limits.most_transfer_keys, limits.most_device_keys), (64, 64, 256));
    assert_eq!((limits.most_inputs, limits.most_outputs, limits.most_steps), (1024, 256, 100_000));
    assert_eq!(limits.largest_page, 1000);
}

#[test]
fn the_record_of_a_device_is_kept_as_it_came_last() {
    let (world, _, kitchen) = World::with_device();
    let cloud = world.client();
    let register = |record: Option<Value>, status: u16| {
        let mut registration = kitchen.registration();
        if let Some(record) = record {
            registration["record"] = record;
        }
        let answer = world.owner("PUT", "/v1/devices/kitchen", registration.to_string().as_bytes());
        assert_eq!(answer.status, status, "{answer}");
    };
    assert_eq!(cloud.sealed_record("kitchen").unwrap(), None);
    assert_eq!(cloud.sealed_record("cellar").unwrap(), None);
    world.owner("GET", "/v1/devices/cellar/record", &[]).refused(404, "unknown-device");
    world.owner("GET", "/v1/devices/kitchen/record", &[]).refused(404, "no-record");
    register(Some(json!("0a0b")), 200);
    assert_eq!(cloud.sealed_record("kitchen").unwrap().map(|stored| stored.sealed), Some(vec![10, 11]));
    // A registration without one keeps it, and a revocation does.
    register(None, 200);
    world.owner("DELETE", "/v1/devices/kitchen", &[]);
    assert_eq!(cloud.sealed_record("kitchen").unwrap().map(|stored| stored.sealed), Some(vec![10, 11]));
    let longest = vec![7; 64 << 10];
    register(Some(json!(hex::encode(&longest))), 200);
    assert_eq!(cloud.sealed_record("kitchen").unwrap().map(|stored| stored.sealed), Some(longest.clone()));
    register(Some(json!(hex::encode([&longest[..], &[7]].concat()))), 422);
    register(Some(json!("no digits")), 422);
    assert_eq!(cloud.sealed_record("kitchen").unwrap().map(|stored| stored.sealed), Some(longest));
}

#[test]
fn devices_are_listed_with_their_envelopes() {
    let (world, params, mut kitchen) = World::with_device();
    world.keep(&kitchen.envelope(0, &[1]));
    let cloud = world.client();
    let listed = || cloud.devices().collect::<Result<Vec<_>, _>>().unwrap();
    let device = &listed()[0];
    assert_eq!(device.verifying_key, hex::encode(kitchen.identity.verifying_key()));
    let (parameter_id, key_id) = (params.id().to_string(), kitchen.secret.id().to_string());
    assert_eq!(device.keys, [ListedKey { parameter_id, key_id }]);
    assert!(device.name == "kitchen" && !device.revoked && device.revoked_at.is_none());
    let sent = device.sent;
    assert_eq!((sent.first_started_at, sent.last_ended_at), (Some(1000), Some(2000)));
    let stored = cloud.envelopes(&EnvelopeQuery::default()).next().unwrap().unwrap();
    assert_eq!((sent.envelopes, sent.bytes, sent.last_stored_at), (1, stored.bytes, Some(stored.stored_at)));

    insert(&world, "kitchen", 21);
    insert(&world, "attic", 0);
    world.owner("DELETE", "/v1/devices/kitchen", &[]);
    let [attic, kitchen] = &listed()[..] else { panic!("two devices") };
    assert_eq!((attic.sent.envelopes, attic.sent.bytes, attic.sent.last_stored_at), (0, 0, None));
    assert!(kitchen.revoked && kitchen.revoked_at >= Some(kitchen.registered_at));
    assert_eq!((kitchen.sent.envelopes, kitchen.sent.first_started_at), (21, Some(-100)));

    for number in 0..1100 {
        insert(&world, &format!("device-{number}"), 0);
    }
    let names: Vec<String> = listed().into_iter().map(|device| device.name).collect();
    assert!(names.len() == 1102 && names.is_sorted());
    let page = world.owner("GET", "/v1/devices?limit=1", &[]);
    assert_eq!(page.link, "<?limit=1&after=attic>; rel=\"next\"");
    assert!(page.expect(200)[0]["first_started_at"].is_null());
    world.owner("GET", "/v1/devices?stream=load", &[]).refused(400, "bad-request");
}

#[test]
fn evaluation_keys_say_what_they_are_for() {
    let (world, params, mut kitchen) = World::with_device();
    let attic = Device::new("attic", &params, 2);
    world.register(&attic);
    let cloud = world.client();
    let (parameters, key) = (params.id().to_string(), kitchen.secret.id().to_string());
    assert_eq!(cloud.key_status(&parameters, &key).unwrap(), None);
    assert_eq!(cloud.key_status("no", "..").unwrap(), None);
    world.owner("GET", &format!("/v1/keys/{parameters}/{key}"), &[]).refused(404, "unknown-key");

    let mut keys = kitchen.evaluation_keys(true, &[1, -5, 1024, 2047, 0]);
    keys.transfers = kitchen.transfer_keys(&[&attic]).transfers;
    let bytes = sotto_wire::write_evaluation_keys(&keys).len() as u64;
    world.put_keys(&keys);
    let status = cloud.key_status(&parameters, &key).unwrap().unwrap();
    assert_eq!((&status.parameter_id, &status.key_id), (&parameters, &key));
    let contents = status.contents.clone().unwrap();
    assert!(status.relinearisation && contents.swap_rows && status.galois == 5 && status.bytes == bytes);
    assert_eq!((contents.row, &contents.rotations[..]), (2048, &[-5, -1, 1, 1024][..]));
    for step in -2047..2048 {
        assert_eq!(status.can_rotate(step), keys.can_rotate(step), "{step}");
    }
    assert_eq!(contents.transfers, [attic.secret.id().to_string()]);

    // As an older version left it.
    let forget = "UPDATE evaluation_keys SET contents = NULL";
    assert_eq!(open(&world.data()).execute(forget, []).unwrap(), 1);
    for _ in 0..2 {
        assert_eq!(cloud.key_status(&parameters, &key).unwrap().as_ref(), Some(&status));
    }
    assert_eq!(world.delete_transfer(&kitchen, &attic).status, 204);
    let left = cloud.key_status(&parameters, &key).unwrap().unwrap().contents;
    assert!(left.unwrap().transfers.is_empty());
}
