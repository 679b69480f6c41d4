//! Whatever fails: the right answer, or a clear refusal.

use std::fs;

use super::site::{Site, program};
use super::workers::{Worker, urls};
use crate::segments::segments;

const BY_DEVICE: &str = "select device, sotto_sum(body, tag) from windows group by device";

#[test]
fn a_missing_and_a_damaged_segment_are_named() {
    if program().is_none() {
        return;
    }
    let mut site = Site::with_windows(60);
    site.seal();
    site.stop();
    let file = segments(&site.data()).remove(0);
    let name = file.file_name().unwrap().to_str().unwrap().to_owned();
    let bytes = fs::read(&file).unwrap();
    let lake = site.lake(2);
    let expected = lake.frames(BY_DEVICE).unwrap();
    // One bit of each place in turn: never an answer of other bits.
    for at in (0..bytes.len()).step_by(bytes.len() / 97) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        fs::write(&file, &damaged).unwrap();
        let lake = site.lake(2);
        match lake.frames(BY_DEVICE) {
            Ok(found) => assert_eq!(found, expected, "byte {at}"),
            Err(error) => assert!(error.contains(&name) || error.contains("segment"), "byte {at}: {error}"),
        }
    }
    for length in [0, 4, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&file, &bytes[..length]).unwrap();
        let lake = site.lake(2);
        let error = lake.frames(BY_DEVICE).unwrap_err();
        assert!(error.contains(&name) && error.contains("sotto-cloud check"), "{error}");
    }
    fs::remove_file(&file).unwrap();
    let lake = site.lake(2);
    let error = lake.frames(BY_DEVICE).unwrap_err();
    assert!(error.contains(&format!("segment {name} is missing")), "{error}");
}

#[test]
fn places_without_a_store_and_stores_of_another_version_are_refused() {
    if program().is_none() {
        return;
    }
    let mut site = Site::with_windows(20);
    site.stop();
    let database = rusqlite::Connection::open(site.data().join("cloud.sqlite")).unwrap();
    database.pragma_update(None, "user_version", 99).unwrap();
    drop(database);
    let error = site.lake(1).lines(BY_DEVICE).unwrap_err();
    assert!(error.contains("version 99"), "{error}");
    fs::remove_file(site.data().join("cloud.sqlite")).unwrap();
    let error = site.lake(1).lines(BY_DEVICE).unwrap_err();
    assert!(error.contains("has no cloud.sqlite"), "{error}");
}

#[test]
fn a_backup_is_read_as_its_newest_moment() {
    if program().is_none() {
        return;
    }
    let site = Site::with_windows(60);
    let place = site.folder().join("backup");
    let days = sotto_cloud::backups::Days::default();
    sotto_cloud::backups::backup(&site.config(), sotto_cloud::Place::from(place.as_path()), days).unwrap();
    let mut lake = program().unwrap();
    lake.args(["sql", BY_DEVICE, "--csv", "--store"]).arg(&place);
    let output = lake.output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let all: Vec<u64> = (0..60).collect();
    for (at, device) in site.devices.iter().enumerate() {
        let line = format!("{},{}", device.name, hex::encode(site.cloud_sum(at, &all, &[0, 1], None)));
        assert!(
            lines.lines().any(|found| found == line),
            "{lines} {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn a_lie_is_found_by_the_tag() {
    if program().is_none() {
        return;
    }
    let site = Site::with_windows(60);
    let all: Vec<u64> = (0..60).collect();
    let lake = site.lake(2);
    let device = &site.devices[0];
    let frame = lake.frames(BY_DEVICE).unwrap()["kitchen"].clone();
    assert!(device.open(&frame, &all, None).is_some());
    // A worker that changes a bit anywhere, or leaves a window out and says it did not.
    for at in 0..frame.len() {
        let mut lie = frame.clone();
        lie[at] ^= 1;
        let opened = device.open(&lie, &all, None);
        assert!(opened.is_none(), "byte {at}");
    }
    let less = site.cloud_sum(0, &all[1..], &[0, 1], None);
    assert!(device.open(&less, &all, None).is_none());
}

#[test]
fn a_worker_that_dies_ends_the_query_and_another_one_answers() {
    if program().is_none() {
        return;
    }
    let site = Site::with_windows(60);
    let (mut one, two) = (Worker::start(&site, "one", None), Worker::start(&site, "two", None));
    let both = urls("http", &[&one, &two]);
    let there = |urls: &str| site.lake_with(&["--threads", "1", "--workers", urls]).frames(BY_DEVICE);
    let expected = there(&both).unwrap();
    one.kill();
    let error = there(&both).unwrap_err();
    assert!(error.contains("cannot be reached"), "{error}");
    assert_eq!(there(&urls("http", &[&two])).unwrap(), expected);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said() {
    let Some(mut lake) = program() else { return };
    let site = Site::with_windows(20);
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    lake.args(["sql", BY_DEVICE, "--csv", "--store"]).arg(site.data()).stdout(full);
    let output = lake.output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("No space left"), "{error}");
}

/// Sends a signal to a process.
#[cfg(unix)]
fn signal(process: u32, signal: &str) {
    let sent = std::process::Command::new("kill").args([signal, &process.to_string()]).status().unwrap();
    assert!(sent.success());
}

#[cfg(unix)]
#[test]
fn a_cancelled_query_ends_and_its_workers_go_on() {
    let Some(mut lake) = program() else { return };
    let site = Site::with_windows(60);
    let (one, two) = (Worker::start(&site, "one", None), Worker::start(&site, "two", None));
    let both = urls("http", &[&one, &two]);
    let there = || site.lake_with(&["--threads", "1", "--workers", &both]).frames(BY_DEVICE);
    let expected = there().unwrap();
    // A worker that does not answer holds the query.
    signal(two.process(), "-STOP");
    lake.args(["sql", BY_DEVICE, "--workers", &both, "--store"]).arg(site.data());
    let mut query =
        lake.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(1));
    assert!(query.try_wait().unwrap().is_none(), "it waits for the worker");
    let begin = std::time::Instant::now();
    signal(query.id(), "-INT");
    let output = query.wait_with_output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("stopped"), "{error}");
    assert!(begin.elapsed() < std::time::Duration::from_secs(5));
    signal(two.process(), "-CONT");
    assert_eq!(there().unwrap(), expected);
}

#[cfg(unix)]
#[test]
fn a_worker_killed_while_it_works_ends_the_query() {
    let Some(mut lake) = program() else { return };
    let mut site = Site::with_windows(60);
    site.seal();
    let (one, mut two) = (Worker::start(&site, "one", None), Worker::start(&site, "two", None));
    let both = urls("http", &[&one, &two]);
    // It has the query, and has not answered.
    signal(two.process(), "-STOP");
    lake.args(["sql", BY_DEVICE, "--csv", "--workers", &both, "--store"]).arg(site.data());
    let mut query =
        lake.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(1));
    assert!(query.try_wait().unwrap().is_none(), "it waits for the worker");
    two.kill();
    let output = query.wait_with_output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && output.stdout.is_empty(), "{error}");
    assert!(error.contains(&two.address) && !error.contains("panicked"), "{error}");
    // The one that is left answers all of it.
    let left = site.lake_with(&["--threads", "1", "--workers", &urls("http", &[&one])]).frames(BY_DEVICE);
    assert_eq!(left.unwrap(), site.lake(2).frames(BY_DEVICE).unwrap());
}
