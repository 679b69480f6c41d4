//! Windows in segments: nothing that they are asked for changes when they are sealed, merged, partly deleted, brought over from
//! an earlier version, made again without a database, or copied; damage is named, and the rest is served.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sotto_cloud::backups::{self, Days};
use sotto_cloud::{Place, inspect, maintain};
use sotto_cloud_client::{PartsOf, WindowsOf};
use sotto_wire::{Envelope, SignedHeader};

use crate::store::{contents, open, to_version_15};
use crate::streams::site::{Site, start};
use crate::windows::remove_database;

/// A generator of numbers, the same in each run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        // Knuth, The Art of Computer Programming, volume 2, section 3.3.4.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

fn log(site: &Site) -> Vec<Value> {
    site.world.whole_log("kitchen", "load")
}

pub(crate) fn segments(data: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(data.join("segments")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// What a store has to have.
#[derive(Default)]
pub(crate) struct Model {
    /// In the order of the log: the number, and the leaf.
    pub(crate) log: Vec<(u64, String)>,
    pub(crate) windows: BTreeMap<u64, Envelope>,
    pub(crate) deleted: BTreeSet<u64>,
}

impl Model {
    pub(crate) fn stored(&mut self, windows: &[Envelope], receipts: &Value) {
        let receipts = receipts.as_array().cloned().unwrap_or_else(|| vec![receipts.clone()]);
        for (window, receipt) in windows.iter().zip(receipts) {
            assert_eq!(receipt["position"], self.log.len(), "windows are appended");
            self.log.push((window.header().sequence, String::new()));
            self.windows.insert(window.header().sequence, window.clone());
        }
    }

    /// Compares everything that the owner and the device can ask for.
    pub(crate) fn check(&mut self, site: &Site) {
        let log = log(site);
        assert_eq!(log.len(), self.log.len());
        for (window, (number, leaf)) in log.iter().zip(&mut self.log) {
            assert_eq!(window["sequence"], *number);
            let found = window["leaf"].as_str().unwrap();
            if leaf.is_empty() {
                found.clone_into(leaf);
            }
            assert_eq!(found, leaf, "the leaf of window {number} changed");
            let is_deleted = self.deleted.contains(number);
            assert_eq!(window["signed"].is_null(), is_deleted, "window {number}");
            if !is_deleted {
                let frame = hex::decode(window["signed"].as_str().unwrap()).unwrap();
                let signed = SignedHeader::read(&frame, 1 << 20).unwrap();
                signed.verify(&site.identity.verifying_key()).unwrap();
                assert_eq!(signed.header(), self.windows[number].header());
                assert_eq!(hex::encode(signed.leaf()), *leaf);
            }
        }
        let listed = site.world.ask("/v1/envelopes?limit=1000");
        let listed: Vec<u64> =
            listed.as_array().unwrap().iter().map(|one| one["sequence"].as_u64().unwrap()).collect();
        let left: Vec<u64> =
            self.windows.keys().filter(|number| !self.deleted.contains(number)).copied().collect();
        assert_eq!(listed, left);
        // One sum over all of them, and each alone.
        let windows: Vec<(u64, u32)> = left.iter().map(|number| (*number, 1)).collect();
        if !windows.is_empty() {
            let count = windows.len() as u32;
            let all = PartsOf { windows: (0, count), parts: vec![0, 1], weights: None };
            let last = PartsOf { windows: (count - 1, 1), parts: vec![0], weights: None };
            site.check(&WindowsOf { windows, sums: vec![all, last] });
        }
        for number in &self.deleted {
            let sums = vec![PartsOf { windows: (0, 1), parts: vec![0], weights: None }];
            site.ask(&WindowsOf { windows: vec![(*number, 1)], sums }).refused(422, "unknown-envelope");
        }
        let device = &site.world.ask("/v1/devices")[0];
        assert_eq!(device["envelopes"], left.len());
    }

    /// Reads each window, and sends some again.
    pub(crate) fn check_messages(&self, site: &Site) {
        for window in log(site).iter().filter(|window| !window["id"].is_null()) {
            let path = format!("/v1/envelopes/{}/envelope", window["id"].as_str().unwrap());
            let kept = site.world.owner("GET", &path, &[]);
            assert_eq!(kept.status, 200);
            let number = window["sequence"].as_u64().unwrap();
            let envelope = Envelope::read_kept(&kept.bytes, 1 << 20).unwrap();
            envelope.verify(&site.identity.verifying_key()).unwrap();
            assert_eq!(envelope.window_digest(), self.windows[&number].window_digest());
            if number.is_multiple_of(5) {
                assert_eq!(site.upload(&self.windows[&number]).expect(200)["duplicate"], true);
            }
        }
    }
}

#[test]
fn nothing_changes_when_windows_are_sealed_merged_and_deleted() {
    let mut site = Site::new();
    site.enrol();
    let (mut model, mut draw, mut next, mut until) = (Model::default(), Draw(7), 0, 0);
    let mut most = 0;
    for turn in 0..20 {
        for _ in 0..draw.below(4) + 1 {
            // Some numbers are left out.
            next += draw.below(2);
            let count = draw.below(5) + 1;
            let windows: Vec<Envelope> = (next..next + count).map(|number| site.window(number)).collect();
            next += count;
            let receipts = match &windows[..] {
                [window] => site.upload(window),
                group => site.upload_group(group),
            };
            model.stored(&windows, &receipts.expect(201));
        }
        if turn % 4 == 3 {
            until += draw.below(next - until) / 2;
            site.world.forget("kitchen", None, start(until)).expect(200);
            // A window ends before the next one starts.
            model.deleted.extend(model.windows.keys().filter(|number| **number < until));
        }
        model.check(&site);
        match turn % 3 {
            0 => site.world.kill(),
            _ => site.world.stop(),
        }
        site.world.resume();
        model.check(&site);
        most = most.max(segments(&site.world.data()).len());
    }
    model.check_messages(&site);
    assert!(most > 2 && segments(&site.world.data()).len() < 9, "small segments are merged");
    site.world.stop();
    let (config, data) = (site.world.config(), site.world.data());
    inspect::check(&config, true, true).unwrap();
    inspect::store(&config, true).unwrap();
    // Bodies of deleted windows are nowhere.
    for number in &model.deleted {
        let body = site.sent[number].0.body().coefficients().unwrap().to_vec();
        for file in segments(&data).into_iter().chain([data.join("cloud.sqlite")]) {
            let bytes = fs::read(&file).unwrap();
            let found = bytes.windows(body.len()).any(|some| some == body);
            assert!(!found, "window {number} is in {}", file.display());
        }
    }
    // Segments suffice.
    remove_database(&site.world);
    maintain::rebuild(&config).unwrap();
    inspect::check(&config, true, true).unwrap();
    site.world.resume();
    model.check(&site);
    model.check_messages(&site);
}

#[test]
fn a_store_of_an_earlier_version_is_brought_over() {
    let mut site = Site::new();
    site.enrol();
    let mut model = Model::default();
    let windows: Vec<Envelope> = (0..100).map(|number| site.window(number)).collect();
    for window in &windows[..10] {
        model.stored(std::slice::from_ref(window), &site.upload(window).expect(201));
    }
    for group in windows[10..].chunks(30) {
        model.stored(group, &site.upload_group(group).expect(201));
    }
    site.world.forget("kitchen", None, start(5)).expect(200);
    model.deleted.extend(0..5);
    model.check(&site);
    site.world.kill();
    let data = site.world.data();
    to_version_15(&data);
    assert_eq!(fs::read_dir(data.join("envelopes")).unwrap().count(), 95);
    // As if an earlier attempt had ended after it named its segment.
    inspect::migrate(&site.world.config(), true).unwrap();
    assert_eq!(fs::read_dir(data.join("envelopes")).unwrap().count(), 95, "a dry run changes nothing");
    inspect::migrate(&site.world.config(), false).unwrap();
    assert_eq!((fs::read_dir(data.join("envelopes")).unwrap().count(), segments(&data).len()), (0, 1));
    inspect::check(&site.world.config(), true, false).unwrap();
    assert_eq!(contents(&data).rows["envelopes"], 0);
    let mode: i64 = open(&data).query_row("PRAGMA auto_vacuum", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, 2);
    site.world.resume();
    model.check(&site);
    model.check_messages(&site);
}

#[test]
fn damage_is_named_and_the_rest_is_served_and_repaired() {
    let mut site = Site::new();
    site.enrol();
    let mut model = Model::default();
    for turn in 0..3 {
        let windows: Vec<Envelope> = (turn * 20..turn * 20 + 20).map(|number| site.window(number)).collect();
        model.stored(&windows, &site.upload_group(&windows).expect(201));
        site.world.stop();
        site.world.resume();
    }
    model.check(&site);
    let (config, data) = (site.world.config(), site.world.data());
    let backup = site.world.folder().join("backup");
    backups::backup(&config, &backup, Days::default()).unwrap();
    site.world.stop();
    let all = segments(&data);
    assert_eq!(all.len(), 3);
    let whole = fs::read(&all[0]).unwrap();
    let sums = |number: u64| WindowsOf {
        windows: vec![(number, 1)],
        sums: vec![PartsOf { windows: (0, 1), parts: vec![0], weights: None }],
    };
    // Bits of the first block, of the footer, of the length at the end.
    for at in [30, whole.len() / 3, whole.len() - 200, whole.len() - 6] {
        let mut bytes = whole.clone();
        bytes[at] ^= 4;
        fs::write(&all[0], bytes).unwrap();
        assert!(inspect::check(&config, false, true).is_err(), "byte {at}");
        site.world.resume();
        let served = (0..60).filter(|number| site.ask(&sums(*number)).status == 200).count();
        assert!((40..60).contains(&served) || at > whole.len() / 2, "byte {at}: {served}");
        for number in 0..60 {
            let answer = site.ask(&sums(number));
            assert!(answer.status == 200 || answer.status == 500, "{answer}");
            if answer.status == 200 {
                site.check(&sums(number));
            } else {
                let (first, last) = (number / 20 * 20, number / 20 * 20 + 19);
                let detail = answer.json()["detail"].to_string();
                assert!(detail.contains(&format!("windows {first} to {last} of ")), "{detail}");
            }
        }
        site.world.stop();
        inspect::repair(&config, Some(&backup)).unwrap();
        assert_eq!(fs::read(&all[0]).unwrap(), whole);
        inspect::check(&config, true, false).unwrap();
    }
    // Without a backup the windows of other blocks stay, and lost ones can be sent again.
    fs::remove_file(&all[1]).unwrap();
    inspect::repair(&config, None::<Place>).unwrap();
    site.world.resume();
    let served: Vec<u64> = (0..60).filter(|number| site.ask(&sums(*number)).status == 200).collect();
    assert_eq!(served.len(), 40);
    let lost: Vec<Envelope> = (0..60)
        .filter(|number| !served.contains(number))
        .map(|number| model.windows[&number].clone())
        .collect();
    site.upload_group(&lost).expect(201);
    (0..60).for_each(|number| site.check(&sums(number)));
}

#[test]
fn a_copy_takes_new_segments_only() {
    let mut site = Site::new();
    site.enrol();
    let mut model = Model::default();
    let backup = site.world.folder().join("backup");
    for turn in 0..3 {
        let windows: Vec<Envelope> = (turn * 20..turn * 20 + 20).map(|number| site.window(number)).collect();
        model.stored(&windows, &site.upload_group(&windows).expect(201));
        // While the cloud runs; windows that are in no segment are in the database.
        backups::backup(&site.world.config(), &backup, Days::default()).unwrap();
        site.world.stop();
        site.world.resume();
        backups::backup(&site.world.config(), &backup, Days::default()).unwrap();
        assert_eq!(segments(&backup).len(), turn as usize + 1);
    }
    model.check(&site);
    site.world.stop();
    backups::restore(&site.world.config(), &backup, None).unwrap();
    site.world.resume();
    model.check(&site);
    model.check_messages(&site);
}

#[test]
fn an_older_database_gets_the_windows_of_younger_segments() {
    let mut site = Site::new();
    site.enrol();
    let mut model = Model::default();
    let backup = site.world.folder().join("backup");
    for turn in 0..12 {
        let windows: Vec<Envelope> = (turn * 4..turn * 4 + 4).map(|number| site.window(number)).collect();
        model.stored(&windows, &site.upload_group(&windows).expect(201));
        site.world.stop();
        if turn == 5 {
            backups::backup(&site.world.config(), &backup, Days::default()).unwrap();
        }
        site.world.resume();
    }
    model.check(&site);
    site.world.stop();
    // The segments of the backup's time are merged with younger ones.
    let data = site.world.data();
    assert!(segments(&data).len() < 8);
    for name in ["cloud.sqlite", "cloud.sqlite-wal", "cloud.sqlite-shm"] {
        let _ = fs::remove_file(data.join(name));
    }
    let mut catalogues: Vec<PathBuf> =
        fs::read_dir(backup.join("catalogues")).unwrap().map(|entry| entry.unwrap().path()).collect();
    catalogues.retain(|path| path.extension().is_some_and(|end| end == "sqlite"));
    fs::copy(&catalogues[0], data.join("cloud.sqlite")).unwrap();
    site.world.resume();
    model.check(&site);
    model.check_messages(&site);
    site.world.stop();
    // As after a restore: the backup's segments are there, and younger ones are put beside them.
    let younger: Vec<(PathBuf, Vec<u8>)> =
        segments(&data).into_iter().map(|file| (file.clone(), fs::read(file).unwrap())).collect();
    backups::restore(&site.world.config(), &backup, None).unwrap();
    for (file, bytes) in younger {
        fs::write(file, bytes).unwrap();
    }
    site.world.resume();
    model.check(&site);
    model.check_messages(&site);
}

#[test]
fn an_export_has_each_window_once() {
    let mut site = Site::new();
    site.enrol();
    let windows: Vec<Envelope> = (0..70).map(|number| site.window(number)).collect();
    for group in windows.chunks(35) {
        site.upload_group(group).expect(201);
        site.world.stop();
        site.world.resume();
    }
    let more = site.window(70);
    site.upload(&more).expect(201);
    let to = site.world.folder().join("parquet");
    inspect::export(&site.world.config(), &to, None).unwrap();
    let files: Vec<PathBuf> =
        fs::read_dir(to.join("kitchen")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1);
    let (numbers, sums) = crate::store::exported(&files[0]);
    assert_eq!(numbers, (0..71).collect::<Vec<i64>>());
    // Ticks of readings and of squares, which are wide: they have two columns.
    let places = sums.iter().filter(|(name, _)| name.contains("_place") && !name.ends_with("_high"));
    let expected: usize = site.sent.values().map(|(_, readings)| 2 * readings.len()).sum();
    assert_eq!(places.map(|(_, numbers)| numbers.len()).sum::<usize>(), expected);
    // The sums of an engine that knows nothing of sotto are those of the cloud.
    let header = windows[0].signed_header().stream().unwrap();
    let (all, form) = ([&windows[..], &[more]].concat(), header.sums_form(0).unwrap());
    let mut expected = sotto_sums::Sum::new(&form);
    for window in &all {
        let described = window.signed_header().description().unwrap();
        let counts = header.parts()[0].counts(&described);
        expected.add(&window.part(0).unwrap(), &counts, 1).unwrap();
    }
    let described: Vec<_> = all.iter().map(|window| window.signed_header().description().unwrap()).collect();
    let sum =
        |column: sotto_wire::TableColumn| sums.get(&column.to_string()).map(|numbers| numbers.iter().sum());
    let summed = sotto_wire::table_sum(header, 0, &described, sum).unwrap();
    assert_eq!(summed.to_bytes(), expected.to_bytes());
}
