//! Object stores that fail, are slow, lie, or forget.

use std::fs;
use std::path::PathBuf;

use sotto_cloud::backups::{self, Days};
use sotto_cloud::{Place, inspect};

use super::{bucket, fault, in_bucket, in_folder, send, site, wait_until_away};
use crate::segments::{Model, segments};

#[test]
fn nothing_is_lost_whatever_the_server_does() {
    if bucket().is_none() {
        return eprintln!("skipped: SOTTO_BUCKET names no bucket; `cargo ci objects` does");
    }
    let (mut site, mut model) = (site(in_bucket), Model::default());
    let data = site.world.data();
    for (turn, name) in (0..).zip(["errors", "slow", "torn-put", "torn-get", "lost", "silent"]) {
        send(&mut site, &mut model, turn * 20..turn * 20 + 10);
        wait_until_away(&data);
        fault(Some(name));
        // Uploads do not wait for the object store.
        send(&mut site, &mut model, turn * 20 + 10..turn * 20 + 20);
        let place: Place = format!("{}/backup-{turn}", bucket().unwrap()).parse().unwrap();
        if matches!(name, "errors" | "torn-get" | "lost") {
            // It fails or is whole; it never says that it is whole when it is not.
            let _ = backups::backup(&site.world.config(), &place, Days::default());
        }
        std::thread::sleep(std::time::Duration::from_millis(1500));
        fault(None);
        model.check(&site);
        // A start forgets which files were used last.
        site.world.stop();
        site.world.resume();
        wait_until_away(&data);
        model.check_messages(&site);
        backups::backup(&site.world.config(), &place, Days::default()).unwrap();
    }
    site.world.stop();
    inspect::check(&site.world.config(), true, true).unwrap();
}

#[test]
fn a_file_stays_until_its_copy_is_right() {
    let (mut site, mut model) = (site(in_folder), Model::default());
    let objects = site.world.folder().join("objects/segments");
    // Nothing can be written there.
    fs::create_dir_all(objects.parent().unwrap()).unwrap();
    fs::write(&objects, "a file").unwrap();
    send(&mut site, &mut model, 0..10);
    model.check(&site);
    std::thread::sleep(std::time::Duration::from_millis(1500));
    assert_eq!(segments(&site.world.data()).len(), 1);
    fs::remove_file(&objects).unwrap();
    site.world.stop();
    site.world.resume();
    wait_until_away(&site.world.data());
    model.check(&site);
}

#[test]
fn a_damaged_copy_is_named_and_the_rest_is_served() {
    let (mut site, mut model) = (site(in_folder), Model::default());
    let backup = site.world.folder().join("backup");
    for turn in 0..3 {
        send(&mut site, &mut model, turn * 10..turn * 10 + 10);
    }
    backups::backup(&site.world.config(), &backup, Days::default()).unwrap();
    wait_until_away(&site.world.data());
    let objects = site.world.folder().join("objects/segments");
    let mut files: Vec<PathBuf> = fs::read_dir(objects).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut bytes = fs::read(&files[0]).unwrap();
    bytes[200] ^= 1;
    fs::write(&files[0], bytes).unwrap();
    fs::remove_file(&files[1]).unwrap();
    let mut served = 0;
    for number in 0..30_u64 {
        let sums = vec![sotto_cloud_client::PartsOf { windows: (0, 1), parts: vec![0], weights: None }];
        let answer = site.ask(&sotto_cloud_client::WindowsOf { windows: vec![(number, 1)], sums });
        match answer.status {
            200 => served += 1,
            _ => answer.refused(500, "stored-bytes-damaged"),
        }
    }
    assert_eq!(served, 10);
    site.world.stop();
    assert!(inspect::check(&site.world.config(), false, true).is_err());
    inspect::repair(&site.world.config(), Some(&backup)).unwrap();
    inspect::check(&site.world.config(), true, true).unwrap();
    site.world.resume();
    model.check(&site);
    model.check_messages(&site);
}
