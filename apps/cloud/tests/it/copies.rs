//! Databases that are lost, older than the files, or copied during uploads.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use sotto_cloud::backups::{self, Days};
use sotto_cloud::maintain;
use sotto_cloud::server::Server;

use crate::device::Device;
use crate::store::{contents, open};
use crate::world::{World, send};

fn remove_database(data: &Path) {
    for name in ["cloud.sqlite", "cloud.sqlite-wal", "cloud.sqlite-shm"] {
        let _ = fs::remove_file(data.join(name));
    }
}

fn ids(world: &World) -> Vec<String> {
    let listed = world.ask("/v1/envelopes?limit=1000");
    listed.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn rows_come_back_from_envelopes_when_an_older_database_is_restored() {
    let (mut world, _, mut device) = World::with_device();
    for sequence in 0..2 {
        world.keep(&device.envelope(sequence, &[1]));
    }
    world.stop();
    let older = fs::read(world.data().join("cloud.sqlite")).unwrap();
    world.resume();
    for sequence in 2..5 {
        world.keep(&device.envelope(sequence, &[1]));
    }
    let (before, listed) = (ids(&world), world.ask("/v1/envelopes"));
    world.stop();
    remove_database(&world.data());
    fs::write(world.data().join("cloud.sqlite"), older).unwrap();
    world.resume();
    assert_eq!(ids(&world), before);
    for (old, new) in listed.as_array().unwrap().iter().zip(world.ask("/v1/envelopes").as_array().unwrap()) {
        for field in ["id", "sequence", "started_at", "ended_at", "readings", "layout", "bytes", "key_id"] {
            assert_eq!(old[field], new[field]);
        }
    }
    assert_eq!(contents(&world.data()).envelopes(), (5, 5));
    // If the receipt was lost, the device sends the envelope again.
    let again = device.envelope(4, &[1]);
    world.upload("", &again).refused(409, "sequence-taken");
}

#[test]
fn an_envelope_that_was_written_before_a_crash_gets_its_row_and_its_receipt() {
    let (mut world, _, mut device) = World::with_device();
    let body = device.envelope(0, &[1]);
    world.stop();
    let name = "ab".repeat(16);
    fs::write(world.data().join("envelopes").join(&name), &body).unwrap();
    world.resume();
    let receipt = world.upload("", &body).expect(200);
    assert_eq!((receipt["id"].as_str(), receipt["duplicate"].as_bool()), (Some(name.as_str()), Some(true)));
}

#[test]
fn files_that_nobody_signed_for_are_put_aside() {
    let (mut world, params, mut device) = World::with_device();
    world.keep(&device.envelope(0, &[1]));
    let mut stranger = Device::new("stranger", &params, 9);
    let mut forged = Device::new("kitchen", &params, 8);
    let mut changed = device.envelope(1, &[1]);
    changed[200] ^= 1;
    let files = [
        ("1".repeat(32), stranger.envelope(0, &[1])),
        ("2".repeat(32), forged.envelope(1, &[1])),
        ("3".repeat(32), changed),
        // Another body under a number that is taken.
        ("4".repeat(32), device.envelope(0, &[2])),
        ("no-id".to_owned(), device.envelope(2, &[1])),
    ];
    world.stop();
    for (name, bytes) in &files {
        fs::write(world.data().join("envelopes").join(name), bytes).unwrap();
    }
    for _ in 0..2 {
        world.resume();
        assert_eq!(contents(&world.data()).envelopes(), (1, 1));
        for (name, bytes) in &files {
            assert_eq!(&fs::read(world.data().join("orphans/envelopes").join(name)).unwrap(), bytes);
        }
        assert_eq!(send("GET", &world.url("/readyz"), &[], &[]).expect(200)["orphans"], 5);
        world.stop();
    }
    // Once the unknown device is registered, its envelope gets a row.
    world.resume();
    world.register(&stranger);
    world.stop();
    maintain::rebuild(&world.config()).unwrap();
    world.resume();
    assert_eq!(contents(&world.data()).envelopes(), (2, 2));
}

#[test]
fn an_empty_database_beside_envelopes_is_refused() {
    let (mut world, _, mut device) = World::with_device();
    world.keep(&device.envelope(0, &[1]));
    world.stop();
    remove_database(&world.data());
    let config = world.config();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for _ in 0..2 {
        let refused = runtime.block_on(Server::open(&config)).err().unwrap();
        assert!(format!("{refused:#}").contains("sotto-cloud rebuild"), "{refused:#}");
        assert_eq!(fs::read_dir(world.data().join("envelopes")).unwrap().count(), 1);
    }
    maintain::rebuild(&config).unwrap();
    // No enrolment registers the device yet: its envelope is put aside.
    assert_eq!(fs::read_dir(world.data().join("orphans/envelopes")).unwrap().count(), 1);
    world.resume();
    world.put_parameters(device.secret.params());
    world.register(&device);
    world.stop();
    maintain::rebuild(&config).unwrap();
    world.resume();
    assert_eq!(ids(&world).len(), 1);
}

#[test]
fn a_backup_under_load_has_everything_that_was_confirmed() {
    let (mut world, _, mut device) = World::with_device();
    for sequence in 0..20 {
        world.keep(&device.envelope(sequence, &[1]));
    }
    let more: Vec<Vec<u8>> = (20..60).map(|sequence| device.envelope(sequence, &[1])).collect();
    let (config, copy) = (world.config(), world.folder().join("copy"));
    let confirmed = ids(&world);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let uploads = scope.spawn(|| {
            for body in &more {
                world.keep(body);
            }
            over.store(true, Ordering::SeqCst);
        });
        while !over.load(Ordering::SeqCst) {
            backups::backup(&config, &copy, Days::default()).unwrap();
        }
        uploads.join().unwrap();
    });
    backups::restore(&config, &copy, None).expect_err("the cloud runs");
    let last = ids(&world);
    backups::backup(&config, &copy, Days::default()).unwrap();
    world.stop();
    // The disk is lost.
    fs::remove_dir_all(world.data()).unwrap();
    backups::restore(&config, &copy, None).unwrap();
    world.resume();
    assert_eq!(ids(&world), last);
    for id in confirmed {
        assert_eq!(world.owner("GET", &format!("/v1/envelopes/{id}/body"), &[]).status, 200);
    }
    assert_eq!(send("GET", &world.url("/readyz"), &[], &[]).expect(200)["missing_bodies"], 0);
}

#[test]
fn a_restoration_deletes_nothing_and_refuses_an_incomplete_copy() {
    let (mut world, _, mut device) = World::with_device();
    world.keep(&device.envelope(0, &[1]));
    let (config, copy) = (world.config(), world.folder().join("copy"));
    backups::backup(&config, &copy, Days::default()).unwrap();
    let later = world.keep(&device.envelope(1, &[1]));
    world.stop();
    let before = contents(&world.data());
    let body = fs::read_dir(copy.join("envelopes")).unwrap().next().unwrap().unwrap().path();
    fs::rename(&body, world.folder().join("taken")).unwrap();
    let refused = backups::restore(&config, &copy, None).unwrap_err();
    assert!(format!("{refused:#}").contains("is missing in it"), "{refused:#}");
    assert_eq!(contents(&world.data()), before);
    fs::rename(world.folder().join("taken"), &body).unwrap();
    backups::restore(&config, &copy, None).unwrap();
    let entries = fs::read_dir(world.data()).unwrap().map(|entry| entry.unwrap().path());
    let moved = entries.filter(|path| path.to_string_lossy().contains("before-restore")).collect::<Vec<_>>();
    assert!(moved[0].join("envelopes").join(&later).exists());
    assert!(moved[0].join("cloud.sqlite").exists());
    let nowhere = backups::restore(&config, &world.folder().join("nowhere"), None).unwrap_err();
    assert!(format!("{nowhere:#}").contains("no backup of a cloud"), "{nowhere:#}");
    world.resume();
    assert_eq!(ids(&world).len(), 1);
    assert_eq!(open(&world.data()).query_row("SELECT 1", [], |row| row.get::<_, i64>(0)).unwrap(), 1);
}
