//! State of the cloud after a stop or a crash.

use sotto_cloud::server::Server;
use sotto_decrypt::Decryptor;
use sotto_wire::AnyCiphertext;

use crate::jobs::{ADD, plan};
use crate::store::{contents, open};
use crate::world::{World, send};

#[test]
fn a_restart_keeps_everything() {
    let (mut world, params, mut device) = World::with_device();
    world.put_keys(&device.evaluation_keys(true, &[]));
    let body = device.envelope(0, &[1, 2]);
    let a = world.keep(&body);
    let id = world.put_plan(&plan(&params, 2, &ADD));
    let job = world.submit(&id, &[&a, &a]).expect(202)["job"].as_str().unwrap().to_owned();
    let done = world.ended(&job);
    let (listed, kept) = (world.ask("/v1/envelopes"), contents(&world.data()));

    world.stop();
    world.resume();
    assert_eq!(contents(&world.data()), kept);
    assert_eq!(world.ask("/v1/envelopes"), listed);
    assert_eq!(world.ended(&job), done);
    assert_eq!(world.upload("again", &body).expect(200)["id"], a.as_str());
    let output = world.owner("GET", &format!("/v1/jobs/{job}/outputs/0"), &[]);
    let sum = AnyCiphertext::read(&output.bytes, &params).unwrap().with_claimed_shape().expand();
    assert_eq!(Decryptor::new(&device.secret).slots(&sum).unwrap().into_residues()[..2], [2, 4]);
    let again = world.submit(&id, &[&a, &a]).expect(202)["job"].as_str().unwrap().to_owned();
    assert_eq!(world.ended(&again)["state"], "done");
    world.keep(&device.envelope(1, &[1]));
}

#[test]
fn what_was_cut_off_is_cleared_up_or_done_again() {
    let (mut world, params, mut device) = World::with_device();
    let a = world.keep(&device.envelope(0, &[1, 2]));
    let lost = world.keep(&device.envelope(1, &[1, 2]));
    let id = world.put_plan(&plan(&params, 2, &ADD));
    let job = world.submit(&id, &[&a, &a]).expect(202)["job"].as_str().unwrap().to_owned();
    let endless = world.submit(&id, &[&a, &a]).expect(202)["job"].as_str().unwrap().to_owned();
    world.ended(&job);
    world.ended(&endless);
    let kept = contents(&world.data());
    world.stop();

    // As after a crash during writing, before the commit, and during computation.
    let data = world.data();
    let half_written = data.join("incoming").join("00");
    let without_row = data.join("envelopes").join("0".repeat(32));
    std::fs::write(&half_written, "half").unwrap();
    std::fs::write(&without_row, "whole").unwrap();
    let database = open(&data);
    database.execute("DELETE FROM job_outputs", []).unwrap();
    database.execute("UPDATE jobs SET state = 'running', starts = 1", []).unwrap();
    let set = "UPDATE jobs SET starts = 3 WHERE lower(hex(id)) = ?1";
    assert_eq!(database.execute(set, [&endless]).unwrap(), 1);
    drop(database);
    std::fs::remove_file(data.join("envelopes").join(&lost)).unwrap();

    world.resume();
    let aside = data.join("orphans/envelopes").join("0".repeat(32));
    assert!(!half_written.exists() && !without_row.exists());
    assert_eq!(std::fs::read(aside).unwrap(), b"whole");
    assert_eq!(world.ended(&job)["state"], "done");
    let given_up = world.ended(&endless);
    assert_eq!(given_up["state"], "failed");
    assert!(given_up["error"].is_string());
    assert_eq!(contents(&data).rows["envelopes"], kept.rows["envelopes"]);
    assert_eq!(send("GET", &world.url("/readyz"), &[], &[]).expect(200)["missing_bodies"], 1);
    // The file without a row, and the outputs whose rows were deleted.
    assert_eq!(send("GET", &world.url("/readyz"), &[], &[]).expect(200)["orphans"], 3);
    world.owner("GET", &format!("/v1/envelopes/{lost}/body"), &[]).refused(500, "stored-bytes-damaged");
    world.submit(&id, &[&a, &lost]).refused(500, "stored-bytes-damaged");

    // A body that changed on disk is not served either.
    let file = data.join("envelopes").join(&a);
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[1000] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    world.owner("GET", &format!("/v1/envelopes/{a}/body"), &[]).refused(500, "stored-bytes-damaged");
}

/// The migration keeps the plans that jobs name; these may have an older layout.
#[test]
fn a_plan_of_an_older_layout_is_refused_for_what_it_is() {
    let (world, params, mut device) = World::with_device();
    let a = world.keep(&device.envelope(0, &[1, 2]));
    let plan = plan(&params, 2, &ADD);
    let id = world.put_plan(&plan);

    // Intact by its digest, but not a plan of this version.
    let mut older = sotto_wire::write_plan(&plan).unwrap();
    older.truncate(older.len() - sotto_wire::DIGEST_BYTES - 1);
    let payload = older.len() as u64 - 16;
    older[8..16].copy_from_slice(&payload.to_le_bytes());
    let digest = blake3::hash(&older);
    older.extend_from_slice(digest.as_bytes());
    let older_id = digest.to_hex().to_string();
    let insert = "INSERT INTO plans SELECT ?1, parameter_id, steps, bytes, stored_at FROM plans";
    assert_eq!(open(&world.data()).execute(insert, [digest.as_bytes()]).unwrap(), 1);
    let file = world.data().join("plans").join(&older_id);
    std::fs::write(&file, &older).unwrap();

    let before = contents(&world.data());
    world.submit(&older_id, &[&a, &a]).refused(422, "outdated-plan");
    assert_eq!(contents(&world.data()), before);
    world.submit(&id, &[&a, &a]).expect(202);

    older[20] ^= 1;
    std::fs::write(&file, &older).unwrap();
    world.submit(&older_id, &[&a, &a]).refused(500, "stored-bytes-damaged");
}

#[test]
fn a_store_is_open_once() {
    let world = World::start();
    let config = world.config();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let second = runtime.block_on(Server::open(&config)).err().unwrap();
    assert!(format!("{second:#}").contains("another process"), "{second:#}");
}
