//! Segments and backups in a bucket whose server fails and whose owner forges: the same sums, or a clear refusal.
//!
//! `SOTTO_BUCKET` names a bucket whose server fails when it is asked to: `cargo ci scaleout` starts one.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use sotto_cloud::Place;
use sotto_cloud::backups::{self, Days};
use sotto_cloud::config::Settings;

use super::site::{Site, program};
use super::workers::{Worker, urls};
use crate::objects::{bucket, fault, own, wait_until_away};
use crate::segments::segments;

const BY_DEVICE: &str = "select device, sotto_sum(body, tag) from windows group by device";

/// Held while a test uses the bucket: a fault is for all that its server is asked.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A store whose segments are in the bucket alone.
struct Away {
    site: Site,
    objects: String,
    /// The sums of all windows by device, as the cloud made them before.
    expected: BTreeMap<String, Vec<u8>>,
    _turn: MutexGuard<'static, ()>,
}

impl Away {
    /// Returns None, and says why, if there is no lake or no bucket.
    fn start() -> Option<Self> {
        program()?;
        let Some(bucket) = bucket() else {
            eprintln!("skipped: SOTTO_BUCKET names no bucket; `cargo ci scaleout` does");
            return None;
        };
        let turn = turn();
        let mut site = Site::with_windows(60);
        let all: Vec<u64> = (0..60).collect();
        let sum = |(at, name): (usize, &str)| (name.to_owned(), site.cloud_sum(at, &all, &[0, 1], None));
        let expected = ["kitchen", "cellar"].into_iter().enumerate().map(sum).collect();
        let objects = format!("{bucket}/lake-{}", own(site.folder()));
        let place: Place = objects.parse().unwrap();
        site.restart_with(move |settings| Settings {
            objects: Some(place.clone()),
            objects_cache: Some(0),
            ..settings
        });
        wait_until_away(&site.data());
        Some(Self { site, objects, expected, _turn: turn })
    }

    fn asked(&self, more: &[&str]) -> Result<BTreeMap<String, Vec<u8>>, String> {
        let arguments = [&["--threads", "2", "--objects", &self.objects], more].concat();
        self.site.lake_with(&arguments).frames(BY_DEVICE)
    }
}

#[test]
fn segments_in_a_bucket_give_the_same_sums() {
    let Some(away) = Away::start() else { return };
    let expected = &away.expected;
    assert_eq!(away.asked(&[]).unwrap(), *expected);
    // Copies that stay are asked for once.
    let cache = away.site.folder().join("cache");
    let kept = ["--cache", cache.to_str().unwrap()];
    assert_eq!(away.asked(&kept).unwrap(), *expected);
    fault(Some("errors"));
    let again = away.asked(&kept);
    fault(None);
    assert_eq!(again.unwrap(), *expected);
    // Without the bucket, the first segment that is missing is named.
    let error = away.site.lake(2).frames(BY_DEVICE).unwrap_err();
    assert!(error.contains("is missing"), "{error}");
}

#[test]
fn workers_fetch_their_own_segments() {
    let Some(away) = Away::start() else { return };
    let expected = &away.expected;
    let objects = ["--objects", away.objects.as_str()];
    let workers = ["one", "two"].map(|name| Worker::start_with(&away.site, name, &objects));
    let both = urls("http", &[&workers[0], &workers[1]]);
    assert_eq!(away.asked(&["--workers", &both]).unwrap(), *expected);
    // No plan has the key of the bucket: a worker without one of its own gives none of its segments.
    let without = Worker::start_with(&away.site, "without", &[]);
    let error = away.asked(&["--workers", &urls("http", &[&workers[0], &without])]).unwrap_err();
    assert!(error.contains("is missing"), "{error}");
}

#[test]
fn a_backup_in_a_bucket_is_read_as_its_newest_moment() {
    let Some(away) = Away::start() else { return };
    let place = format!("{}/backup", away.objects);
    backups::backup(&away.site.config(), place.parse::<Place>().unwrap(), Days::default()).unwrap();
    let mut lake = program().unwrap();
    let output = lake.args(["sql", BY_DEVICE, "--csv", "--store", &place]).output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    for (device, frame) in &away.expected {
        let line = format!("{device},{}", hex::encode(frame));
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(lines.lines().any(|found| found == line), "{lines} {error}");
    }
}

#[test]
fn a_failing_bucket_gives_the_right_sums_or_a_refusal() {
    let Some(away) = Away::start() else { return };
    let expected = &away.expected;
    for name in ["slow", "errors", "torn-get", "lost"] {
        fault(Some(name));
        let asked = away.asked(&[]);
        fault(None);
        match asked {
            Ok(found) => assert_eq!(found, *expected, "{name}"),
            Err(error) => {
                assert!(
                    name != "slow" && error.contains("s3://") || error.contains("segment"),
                    "{name}: {error}"
                );
                assert!(!error.contains("panicked"), "{name}: {error}");
            }
        }
    }
    // One that is silent holds the query, and no longer.
    fault(Some("silent"));
    let mut lake = program().unwrap();
    lake.args(["sql", BY_DEVICE, "--csv", "--objects", &away.objects, "--store"]).arg(away.site.data());
    let mut query = lake.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(2));
    assert!(query.try_wait().unwrap().is_none(), "it waits for the bucket");
    fault(None);
    let output = query.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 3);
}

/// Changes one byte of the bodies in a segment so that every digest in it fits again, as somebody may who owns the bucket and
/// its catalogue.
fn forge(file: &Path, bytes: &mut [u8]) {
    let reader = SerializedFileReader::new(File::open(file).unwrap()).unwrap();
    let group = reader.metadata().row_group(0);
    let range = |at: usize| group.column(at).byte_range();
    let columns = group.num_columns();
    let from = (0..columns).map(|at| range(at).0).min().unwrap() as usize;
    let end = (0..columns).map(|at| range(at).0 + range(at).1).max().unwrap() as usize;
    let (parts, length) = range(columns - 1);
    let before = hex::encode(blake3::hash(&bytes[from..end]).as_bytes());
    bytes[(parts + length / 2) as usize] ^= 4;
    let forged = hex::encode(blake3::hash(&bytes[from..end]).as_bytes());
    let at = bytes.windows(64).position(|digits| digits == before.as_bytes()).expect("the block's digest");
    bytes[at..at + 64].copy_from_slice(forged.as_bytes());
}

#[test]
fn a_segment_forged_with_its_catalogue_is_found_by_the_tag() {
    if program().is_none() {
        return;
    }
    let mut site = Site::with_windows(60);
    site.seal();
    site.stop();
    let all: Vec<u64> = (0..60).collect();
    let right = site.lake(2).frames(BY_DEVICE).unwrap();
    let database = rusqlite::Connection::open(site.data().join("cloud.sqlite")).unwrap();
    for file in segments(&site.data()) {
        let mut bytes = std::fs::read(&file).unwrap();
        let before = *blake3::hash(&bytes).as_bytes();
        forge(&file, &mut bytes);
        let digest = *blake3::hash(&bytes).as_bytes();
        std::fs::write(file.with_file_name(hex::encode(&digest[..16])), &bytes).unwrap();
        let changed = database
            .execute("UPDATE segments SET digest = ?1 WHERE digest = ?2", [&digest[..], &before[..]])
            .unwrap();
        assert_eq!(changed, 1);
    }
    drop(database);
    // The lake has no key to refuse forged bytes: it adds them.
    let forged = site.lake(2).frames(BY_DEVICE).unwrap();
    let opens = |device: usize, frames: &BTreeMap<String, Vec<u8>>| {
        let device = &site.devices[device];
        device.open(&frames[device.name], &all, None).is_some()
    };
    assert!((0..2).all(|device| opens(device, &right)));
    let found =
        (0..2).filter(|device| forged[site.devices[*device].name] != right[site.devices[*device].name]);
    let found: Vec<usize> = found.collect();
    assert!(!found.is_empty());
    assert!(found.into_iter().all(|device| !opens(device, &forged)), "the tag refuses it");
}

/// Limits the files that a program writes, as a full disk does.
#[cfg(unix)]
#[test]
fn a_disk_too_small_for_copies_is_said() {
    let Some(away) = Away::start() else { return };
    let (lake, data) = (program().unwrap(), away.site.data());
    let script = "trap '' XFSZ; ulimit -f 4; exec \"$0\" sql \"$1\" --csv --store \"$2\" --objects \"$3\"";
    let mut limited = Command::new("sh");
    limited.args(["-c", script]).arg(lake.get_program()).arg(BY_DEVICE).arg(data).arg(&away.objects);
    let output = limited.output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("cannot write"), "{error}");
    assert!(output.stdout.is_empty());
}
