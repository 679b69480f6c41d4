//! Streams of sums: uploads, refusals, and sums as their owner opens them.

mod pieces;
mod refused;
pub(crate) mod site;
mod ticks;

use std::fs;

use sotto_cloud::backups::{self, Days};
use sotto_cloud::maintain;
use sotto_cloud_client::{PartsOf, WindowsOf};
use sotto_wire::MaskName;

use crate::store::{contents, open, to_version_15};
use crate::windows::remove_database;
use crate::world::send;
use site::{Site, TICKS, readings, start};

fn parts(windows: (u32, u32), parts: &[u8], weights: Option<Vec<i64>>) -> PartsOf {
    PartsOf { windows, parts: parts.to_vec(), weights }
}

/// Stores windows 3 to 140 without 60 to 69: some alone, the others in groups. Every seventh has gaps, and the salt changes.
fn filled(site: &mut Site) {
    let windows: Vec<_> = (3..141).filter(|at| !(60..70).contains(at)).map(|at| site.window(at)).collect();
    let (alone, grouped) = windows.split_at(20);
    for window in alone {
        site.upload(window).expect(201);
    }
    for group in grouped.chunks(50) {
        site.upload_group(group).expect(201);
    }
}

/// Checks the sums of many requests.
fn adds(site: &Site) {
    let weights: Vec<i64> = (0..57).map(|at| at % 7 - 3).collect();
    let requests = [
        // All windows: both parts, and one of them.
        WindowsOf {
            windows: vec![(3, 57), (70, 71)],
            sums: vec![parts((0, 128), &[0, 1], None), parts((10, 50), &[1], None)],
        },
        WindowsOf { windows: vec![(3, 57)], sums: vec![parts((0, 57), &[0, 1], Some(weights))] },
        // Every other one backwards, and one twice.
        WindowsOf {
            windows: (28..70).rev().map(|half| (2 * half + 1, 1)).chain([(9, 1)]).collect(),
            sums: vec![parts((0, 36), &[0], None), parts((35, 1), &[0, 1], Some(vec![-5]))],
        },
        WindowsOf { windows: vec![(140, 1)], sums: vec![parts((0, 1), &[0], None)] },
    ];
    for request in &requests[..2] {
        site.check(request);
    }
    // Numbers 61 to 69 are missing.
    let (missing, there) =
        (&requests[2], requests[2].windows.iter().filter(|(at, _)| !(60..70).contains(at)));
    site.ask(missing).refused(422, "unknown-envelope");
    let windows: Vec<_> = there.copied().collect();
    let count = windows.len() as u32;
    let sums = vec![parts((0, count), &[0], None), parts((count - 1, 1), &[0, 1], Some(vec![-5]))];
    site.check(&WindowsOf { windows, sums });
    site.check(&requests[3]);
}

#[test]
fn windows_are_added_as_their_owner_asks_also_from_a_copy() {
    let mut site = Site::new();
    site.enrol();
    filled(&mut site);
    adds(&site);
    site.world.stop();
    site.world.resume();
    adds(&site);

    let backup = site.world.folder().join("backup");
    backups::backup(&site.world.config(), &backup, Days::default()).unwrap();
    let before = contents(&site.world.data());
    site.world.stop();
    remove_database(&site.world);
    maintain::rebuild(&site.world.config()).unwrap();
    site.world.resume();
    adds(&site);
    assert_eq!(contents(&site.world.data()), before);
    site.world.stop();
    backups::restore(&site.world.config(), &backup, None).unwrap();
    site.world.resume();
    adds(&site);
}

#[test]
fn a_window_without_its_row_is_added_after_the_next_start() {
    let mut site = Site::new();
    site.enrol();
    filled(&mut site);
    site.world.stop();
    // As if the process had ended after writing the files and before committing the rows.
    let database = open(&site.world.data());
    for table in ["log", "envelopes"] {
        database.execute(&format!("DELETE FROM {table} WHERE sequence > 100"), []).unwrap();
    }
    drop(database);
    site.world.resume();
    adds(&site);
}

#[test]
fn a_start_goes_on_where_a_damaged_window_meets_its_pads_again() {
    let mut site = Site::new();
    site.enrol();
    let window = site.window(3);
    site.upload(&window).expect(201);
    site.world.kill();
    to_version_15(&site.world.data());
    let folder = site.world.data().join("envelopes");
    let stored = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let mut bytes = fs::read(&stored).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&stored, bytes).unwrap();
    // As if the process had ended after writing the file and before refusing the window.
    let again = site.window_under(4, window.mask().unwrap(), readings(4, TICKS));
    fs::write(folder.join("0".repeat(32)), again.write()).unwrap();
    site.world.resume();
    assert_eq!(send("GET", &site.world.url("/readyz"), &[], &[]).expect(200)["orphans"], 1);
}

#[test]
fn deleted_windows_are_missing_in_sums() {
    let mut site = Site::registered();
    filled(&mut site);
    // Windows end before the next one starts.
    let before = start(101);
    assert_eq!(site.world.forget("kitchen", None, before).expect(200)["envelopes"], 88);
    for at in [3, 59, 70, 100] {
        let request = WindowsOf { windows: vec![(at, 1)], sums: vec![parts((0, 1), &[0], None)] };
        let answer = site.ask(&request);
        answer.refused(422, "unknown-envelope");
        assert!(answer.json()["detail"].as_str().unwrap().contains(&format!("number {at}")), "{answer}");
    }
    site.check(&WindowsOf { windows: vec![(101, 40)], sums: vec![parts((0, 40), &[0, 1], None)] });
    let again = site.sent[&50].0.clone();
    site.upload(&again).refused(410, "forgotten");
    site.world.forget("kitchen", None, 9_000_000_000_000).expect(200);
    let request = WindowsOf { windows: vec![(101, 1)], sums: vec![parts((0, 1), &[0], None)] };
    site.ask(&request).refused(422, "unknown-envelope");
    assert_eq!(contents(&site.world.data()).envelopes(), (0, 0));
}

#[test]
fn requests_for_sums_have_limits() {
    let mut site = Site::registered();
    filled(&mut site);
    let one = |windows: &[(u64, u32)], sum: PartsOf| WindowsOf { windows: windows.to_vec(), sums: vec![sum] };
    for (wrong, request) in [
        ("no window", one(&[], parts((0, 1), &[0], None))),
        ("windows beyond the request", one(&[(3, 5)], parts((2, 4), &[0], None))),
        ("no part", one(&[(3, 1)], parts((0, 1), &[], None))),
        ("a part that the stream lacks", one(&[(3, 1)], parts((0, 1), &[2], None))),
        ("parts that descend", one(&[(3, 1)], parts((0, 1), &[1, 0], None))),
        ("fewer weights than windows", one(&[(3, 2)], parts((0, 2), &[0], Some(vec![1])))),
        ("weights that places have no room for", one(&[(3, 1)], parts((0, 1), &[0], Some(vec![1 << 14])))),
        ("2^20 + 1 windows", one(&[(3, 1 << 20), (3, 1)], parts((0, 1), &[0], None))),
        ("2^64 windows", one(&[(3, u32::MAX); 300], parts((0, 1), &[0], None))),
        ("4097 sums", WindowsOf { windows: vec![(3, 1)], sums: vec![parts((0, 1), &[0], None); 4097] }),
        (
            "more than 2^22 additions",
            WindowsOf {
                windows: vec![(3, 2200)],
                sums: vec![parts((0, 2200), &[0], None); (1 << 22) / 2200 + 1],
            },
        ),
    ] {
        let answer = site.ask(&request);
        assert_eq!((answer.status, answer.json()["reason"].as_str()), (422, Some("wrong-sum")), "{wrong}");
    }
    for (windows, number) in
        [(vec![(3, 3), (1, 1)], "1"), (vec![(u64::MAX, 2)], "18446744073709551615"), (vec![(130, 20)], "141")]
    {
        let count = windows.iter().map(|(_, count)| count).sum();
        let answer = site.ask(&one(&windows, parts((0, count), &[0], None)));
        answer.refused(422, "unknown-envelope");
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.ends_with(&format!("stream load has no window with number {number}")), "{detail}");
    }
    for body in [&b"{}"[..], b"", br#"{"windows":[[1]],"sums":[]}"#, br#"{"windows":[[-1,1]],"sums":[]}"#] {
        site.world.owner("POST", &site.path(), body).refused(400, "invalid-json");
    }
    for stream in ["0011223344556677", "00", "not-hexadecimal-", &site.header.id().tag().to_string()[..15]] {
        let path = format!("/v1/streams/{stream}/sums");
        let request = serde_json::to_vec(&one(&[(3, 1)], parts((0, 1), &[0], None))).unwrap();
        site.world.owner("POST", &path, &request).refused(404, "unknown-stream");
    }
}

#[test]
fn a_stream_of_slots_has_no_sums_with_tags() {
    let slots = crate::windows::Site::registered();
    let path = format!("/v1/streams/{}/sums", slots.header.id().tag());
    let request = WindowsOf { windows: vec![(0, 1)], sums: vec![parts((0, 1), &[0], None)] };
    let body = serde_json::to_vec(&request).unwrap();
    slots.world.owner("POST", &path, &body).refused(404, "unknown-stream");
}

#[test]
fn windows_are_listed_and_fetched_like_others() {
    let mut site = Site::registered();
    filled(&mut site);
    let listed = site.world.ask("/v1/envelopes?device=kitchen&limit=1000");
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), 128);
    let (window, clear) = &site.sent[&7];
    let seventh = &listed[4];
    assert_eq!((&seventh["sequence"], &seventh["started_at"]), (&7.into(), &start(7).into()));
    assert_eq!(seventh["readings"], clear.iter().flatten().count());
    assert_eq!(seventh["parameter_id"], hex::encode(site.header.stream_id().unwrap()));
    let id = seventh["id"].as_str().unwrap();
    let message = site.world.owner("GET", &format!("/v1/envelopes/{id}/envelope"), &[]).bytes;
    assert_eq!(&sotto_wire::Envelope::read_kept(&message, 1 << 20).unwrap(), window);
    // A number of the device's that was not its window's position: pads are named by their own numbers.
    let name = MaskName { salt: [9; 12], sequence: 200 };
    let window = site.window_under(203, name, readings(203, TICKS));
    site.upload(&window).expect(201);
    site.check(&WindowsOf { windows: vec![(203, 1), (3, 2)], sums: vec![parts((0, 3), &[0, 1], None)] });
}
