//! Pieces of windows that were still open: their bodies are dropped once the whole window is stored.

use std::fs;

use serde_json::Value;
use sotto_cloud::config::Settings;
use sotto_cloud::maintain;
use sotto_cloud_client::{PartsOf, WindowsOf};
use sotto_pack::Replaces;
use sotto_wire::{Envelope, MaskName, SignedHeader};

use super::site::{Readings, Site, start, window_with};
use crate::store::{change_message, message, open};
use crate::windows::with_enrolments;
use crate::world::{Answer, World};

const MINUTE: i64 = 60_000;

/// Returns a window of the hour whose first tick is that of number 10, with readings from a tick on.
fn window(site: &mut Site, number: u64, ticks: std::ops::Range<i64>, kind: &Kind) -> Envelope {
    let readings: Readings = ticks.clone().map(|tick| Some(tick * 7)).collect();
    let name = MaskName { salt: [7; 12], sequence: number };
    let at = start(10) + ticks.start * MINUTE;
    let window = window_with(at, &site.identity, &site.header, number, name, &readings, |description| {
        description.provisional = matches!(kind, Kind::Piece);
        if let Kind::Whole(windows) = kind {
            description.replaces = Some(Replaces { windows: windows.clone(), channels: vec![0] });
        }
    });
    site.sent.insert(number, (window.clone(), readings));
    window
}

enum Kind {
    Piece,
    Plain,
    Whole(Vec<u64>),
}

fn sum(first: u64, count: u32) -> WindowsOf {
    let sums = vec![PartsOf { windows: (0, count), parts: vec![0, 1], weights: None }];
    WindowsOf { windows: vec![(first, count)], sums }
}

fn log(site: &Site) -> Value {
    site.world.log("kitchen", "load")
}

/// Returns the ids of the windows in the log, and checks that each has its signed header, signed and with its leaf.
fn ids(log: &Value) -> Vec<String> {
    let windows = log["windows"].as_array().unwrap().iter();
    windows
        .map(|window| {
            let frame = hex::decode(window["signed"].as_str().unwrap()).unwrap();
            let signed = SignedHeader::read(&frame, 1 << 20).unwrap();
            assert_eq!(hex::encode(signed.leaf()), window["leaf"].as_str().unwrap());
            window["id"].as_str().unwrap().to_owned()
        })
        .collect()
}

fn get(site: &Site, id: &str, part: &str) -> Answer {
    site.world.owner("GET", &format!("/v1/envelopes/{id}/{part}"), &[])
}

fn leaves(log: &Value) -> Vec<Value> {
    log["windows"].as_array().unwrap().iter().map(|window| window["leaf"].clone()).collect()
}

/// Returns the message of a window that is in no segment.
fn stored(site: &Site, id: &str) -> Vec<u8> {
    message(&site.world.data(), id)
}

#[test]
fn the_whole_window_takes_the_place_of_its_pieces() {
    let mut site = Site::registered();
    let pieces = [window(&mut site, 1, 0..2, &Kind::Piece), window(&mut site, 2, 2..3, &Kind::Piece)];
    let last = window(&mut site, 3, 3..4, &Kind::Piece);
    for piece in pieces.iter().chain([&last]) {
        site.upload(piece).expect(201);
    }
    site.check(&sum(1, 3));
    let before = ids(&log(&site));
    assert_eq!(get(&site, &before[0], "envelope").status, 200);
    assert!(before.iter().all(|id| !stored(&site, id).starts_with(b"head")));

    let whole = window(&mut site, 4, 0..4, &Kind::Whole(vec![1, 2, 3]));
    site.upload(&whole).expect(201);
    let after = log(&site);
    let all = ids(&after);
    assert_eq!((all.len(), &all[..3]), (4, &before[..]));
    site.check(&sum(4, 1));
    let dropped = |site: &Site| {
        for id in &before {
            get(site, id, "envelope").refused(410, "body-dropped");
            get(site, id, "body").refused(410, "body-dropped");
            site.world.ask(&format!("/v1/envelopes/{id}"));
        }
        let refused = site.ask(&sum(2, 1));
        refused.refused(410, "body-dropped");
        let detail = refused.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains("window 2 of stream load was a piece"), "{detail}");
        site.ask(&sum(9, 1)).refused(422, "unknown-envelope");
    };
    dropped(&site);
    assert!(before.iter().all(|id| stored(&site, id).starts_with(b"head")), "no body is left");
    // A device that has no receipt sends it again, alone or in a group.
    assert_eq!(site.upload(&pieces[1]).expect(200)["duplicate"], true);
    let next = window(&mut site, 5, 4..8, &Kind::Plain);
    site.upload_group(&[last, next]).expect(201);
    dropped(&site);
    let after = log(&site);
    site.world.stop();
    site.world.resume();
    dropped(&site);
    assert_eq!(leaves(&log(&site)), leaves(&after));

    // Rows are made again of what stays.
    site.world.stop();
    for name in ["cloud.sqlite", "cloud.sqlite-wal", "cloud.sqlite-shm"] {
        let _ = fs::remove_file(site.world.data().join(name));
    }
    site.enrol();
    maintain::rebuild(&site.world.config()).unwrap();
    site.world.resume();
    assert_eq!(leaves(&log(&site)), leaves(&after));
    assert_eq!(ids(&log(&site)), ids(&after));
    dropped(&site);
    site.check(&sum(4, 2));
    assert_eq!(site.upload(&pieces[0]).expect(200)["duplicate"], true);
}

#[test]
fn only_windows_that_their_device_signed_as_provisional_lose_their_bodies() {
    let mut site = Site::registered();
    let plain = window(&mut site, 1, 0..2, &Kind::Plain);
    site.upload(&plain).expect(201);
    let piece = window(&mut site, 2, 2..3, &Kind::Piece);
    site.upload(&piece).expect(201);
    let all = ids(&log(&site));
    // A window that is refused drops nothing.
    let refused = window(&mut site, 3, 0..4, &Kind::Whole(vec![2]));
    site.upload(&refused).refused(409, "tick-taken");
    site.check(&sum(1, 2));
    assert_eq!(get(&site, &all[1], "envelope").status, 200);
    let whole = window(&mut site, 3, 0..4, &Kind::Whole(vec![1, 2]));
    site.upload(&whole).expect(201);
    site.check(&sum(1, 1));
    assert_eq!(get(&site, &all[0], "envelope").status, 200);
    get(&site, &all[1], "envelope").refused(410, "body-dropped");
    // Numbers that the cloud does not have.
    let other = window(&mut site, 9, 0..4, &Kind::Whole(vec![3, 5, 6]));
    site.upload(&other).expect(201);
}

#[test]
fn what_a_crash_left_undone_is_dropped_at_the_next_start() {
    let mut site = Site::registered();
    let piece = window(&mut site, 1, 0..2, &Kind::Piece);
    site.upload(&piece).expect(201);
    let id = ids(&log(&site)).remove(0);
    let body = stored(&site, &id);
    let whole = window(&mut site, 2, 0..4, &Kind::Whole(vec![1]));
    site.upload(&whole).expect(201);
    site.world.kill();
    // As after a crash between two commits.
    change_message(&site.world.data(), &id, &body);
    let note = "INSERT INTO removals (folder, name) VALUES ('bodies', ?1)";
    open(&site.world.data()).execute(note, [&id]).unwrap();
    site.world.resume();
    get(&site, &id, "envelope").refused(410, "body-dropped");
}

#[test]
fn pieces_of_one_span_count_once_for_the_rate() {
    let change = |settings| Settings { device_rate: Some(2), ..with_enrolments(settings) };
    let mut site = Site::in_world(World::start_with(change));
    site.register(&site.registration()).expect(200);
    for (number, tick) in [(1, 0), (2, 1), (3, 2), (4, 3)] {
        let piece = window(&mut site, number, tick..tick + 1, &Kind::Piece);
        assert_eq!(site.upload(&piece).status, 201, "piece {number}");
    }
    let whole = window(&mut site, 5, 0..4, &Kind::Whole(vec![1, 2, 3, 4]));
    site.upload(&whole).expect(201);
    let next = window(&mut site, 6, 4..5, &Kind::Piece);
    site.upload(&next).refused(429, "device-rate");
}
