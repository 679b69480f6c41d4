//! A tick of a channel of a stream is in one window only.

use serde_json::json;
use sotto_pack::WindowDescription;
use sotto_wire::{Envelope, EnvelopeHeader, MaskName};

use super::site::{Readings, Site, TICKS, header, key_of, start, window_at};
use crate::store::{contents, open, to_version_15};
use crate::world::{Answer, World};

const SALT: [u8; 12] = [7; 12];
const MINUTE: i64 = 60_000;

/// Returns readings at these ticks of four.
fn at(ticks: &[usize]) -> Readings {
    (0..TICKS as usize).map(|tick| ticks.contains(&tick).then_some(tick as i64)).collect()
}

/// Returns a window with pads of its own number.
fn window(site: &Site, number: u64, from: i64, ticks: &[usize]) -> Envelope {
    let name = MaskName { salt: SALT, sequence: number };
    window_at(from, &site.identity, &site.header, number, name, &at(ticks))
}

/// Checks that a window is refused for a tick of another one.
fn is_taken(answer: &Answer, by: u64, tick: &str) {
    answer.refused(409, "tick-taken");
    let detail = answer.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains(&format!("window {by} of stream load has a reading of load")), "{detail}");
    assert!(detail.contains(tick), "{detail}");
}

#[test]
fn a_tick_that_another_window_has_is_refused() {
    let mut site = Site::registered();
    let first = window(&site, 3, start(10), &[0, 2]);
    site.upload(&first).expect(201);
    let mut before = contents(&site.world.data());
    // In a window over the same span, in one that ends there, and in one that starts in it.
    for (from, ticks) in
        [(start(10), &[1, 2, 3][..]), (start(10) - 3 * MINUTE, &[0, 3]), (start(10) + 2 * MINUTE, &[0])]
    {
        let tick = if ticks == [0, 3] { "1970-01-01T00:40:00.000Z" } else { "1970-01-01T00:42:00.000Z" };
        is_taken(&site.upload(&window(&site, 4, from, ticks)), 3, tick);
    }
    before.rows.insert("taken_numbers".into(), 1);
    assert_eq!(
        contents(&site.world.data()),
        before,
        "nothing of them is stored, and the device is counted once"
    );
    assert_eq!(site.world.ask("/v1/devices")[0]["taken_numbers"], 3, "the owner is told");
    // Other ticks, instants between ticks, and a window around it.
    for (number, (from, ticks)) in (4..).zip([
        (start(10), &[1, 3][..]),
        (start(10) - 3 * MINUTE, &[0, 1, 2]),
        (start(10) + 30_000, &[0, 1, 2, 3]),
        (start(11), &[0]),
    ]) {
        site.upload(&window(&site, number, from, ticks)).expect(201);
    }
    // The same message again is the same window.
    assert_eq!(site.upload(&first).expect(200)["duplicate"], true);
    site.upload_group(&[first.clone(), window(&site, 8, start(12), &[0])]).expect(201);
    // After a restart, too.
    site.world.stop();
    site.world.resume();
    is_taken(&site.upload(&window(&site, 9, start(10), &[1])), 4, "1970-01-01T00:41:00.000Z");
    assert_eq!(site.upload(&first).expect(200)["duplicate"], true);
}

#[test]
fn a_group_with_a_tick_twice_is_refused_as_a_whole() {
    let site = Site::registered();
    let windows = [window(&site, 1, start(1), &[0, 1]), window(&site, 2, start(2), &[0])];
    let again = window(&site, 3, start(1), &[1, 2]);
    let answer = site.upload_group(&[windows[0].clone(), windows[1].clone(), again.clone()]);
    is_taken(&answer, 1, "1970-01-01T00:05:00.000Z");
    assert!(answer.json()["detail"].as_str().unwrap().contains("window 3 of 3 of the group"), "{answer}");
    assert_eq!(contents(&site.world.data()).envelopes(), (0, 0));
    site.upload_group(&windows).expect(201);
    // A group of which a part is stored: the rest is compared with it.
    is_taken(&site.upload_group(&[windows[1].clone(), again]), 1, "1970-01-01T00:05:00.000Z");
    site.upload_group(&[windows[1].clone(), window(&site, 3, start(1), &[2])]).expect(201);
    assert_eq!(contents(&site.world.data()).envelopes(), (3, 3));
}

#[test]
fn of_uploads_at_the_same_time_one_has_the_tick() {
    let site = Site::registered();
    let windows: Vec<Envelope> =
        (0..8).map(|number| window(&site, number, start(5), &[0, number as usize % 4])).collect();
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let site = &site;
        let upload = |window| scope.spawn(move || site.upload(window).status);
        let uploads: Vec<_> = windows.iter().map(upload).collect();
        uploads.into_iter().map(|upload| upload.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 409).count(), 7, "{statuses:?}");
    assert_eq!(contents(&site.world.data()).envelopes(), (1, 1));
}

#[test]
fn windows_without_readings_have_no_tick() {
    let site = Site::registered();
    for number in 0..3 {
        site.upload(&window(&site, number, start(5), &[])).expect(201);
    }
    site.upload(&window(&site, 3, start(5), &[0, 1, 2, 3])).expect(201);
    site.upload(&window(&site, 4, start(5), &[])).expect(201);
}

#[test]
fn another_stream_may_have_the_tick() {
    let site = Site::registered();
    site.upload(&window(&site, 3, start(5), &[0])).expect(201);
    // The device was renewed with another secret: another key, and another stream of the same name.
    let renewed = header("kitchen", "load", &[8; 32]);
    let mut registration = site.registration();
    registration["keys"] = json!([key_of(&site.header), key_of(&renewed)]);
    registration["streams"] = json!([hex::encode(site.header.write()), hex::encode(renewed.write())]);
    site.register(&registration).expect(200);
    let name = MaskName { salt: SALT, sequence: 4 };
    let other = window_at(start(5), &site.identity, &renewed, 4, name, &at(&[0]));
    site.upload(&other).expect(201);
}

#[test]
fn the_ticks_of_deleted_windows_are_free_where_the_time_is_not_forgotten() {
    let site = Site::registered();
    site.upload(&window(&site, 1, start(5), &[0, 1])).expect(201);
    assert_eq!(site.world.forget("kitchen", None, start(5) + 2 * MINUTE).expect(200)["envelopes"], 1);
    site.upload(&window(&site, 2, start(5), &[0, 1])).refused(410, "forgotten");
    // It ends later, so it is not forgotten; the owner has deleted the other reading of the tick.
    site.upload(&window(&site, 3, start(5), &[1, 2])).expect(201);
}

#[test]
fn windows_of_an_earlier_store_count() {
    let mut site = Site::registered();
    site.upload(&window(&site, 1, start(5), &[0, 1])).expect(201);
    site.world.kill();
    to_version_15(&site.world.data());
    let database = open(&site.world.data());
    database
        .execute_batch(
            "DROP INDEX envelopes_by_time; DROP TABLE questions; DROP TABLE orders; PRAGMA user_version = 12",
        )
        .unwrap();
    drop(database);
    site.world.resume();
    is_taken(&site.upload(&window(&site, 2, start(5), &[1])), 1, "1970-01-01T00:21:00.000Z");
}

/// Envelopes of version 1 name no stream: their device, its key and their layout are compared.
#[test]
fn envelopes_of_version_1_are_compared_by_their_layout() {
    let (world, _, mut device) = World::with_device();
    let site = Site::registered();
    let mut envelope = |sequence: u64, from: i64, ticks: &[usize]| {
        let window = window(&site, sequence, from, ticks);
        let description: WindowDescription = window.signed_header().description().unwrap();
        let header = EnvelopeHeader {
            // Times of readings lie anywhere in their ticks.
            started_at: window.header().started_at + 40_000,
            ended_at: window.header().ended_at - 10_000,
            readings: ticks.len() as u32,
            layout: description.to_json().unwrap(),
            ..device.header(sequence)
        };
        let body = device.encrypt(&[1]);
        device.seal(header, body)
    };
    let first = envelope(0, start(10), &[0, 2]);
    world.keep(&first);
    for (from, ticks) in [(start(10), &[1, 2][..]), (start(10) - 3 * MINUTE, &[3])] {
        let answer = world.upload("", &envelope(1, from, ticks));
        answer.refused(409, "tick-taken");
        assert!(answer.json()["detail"].as_str().unwrap().contains("window 0 of stream load"), "{answer}");
    }
    world.keep(&envelope(1, start(10), &[1, 3]));
    assert_eq!(world.upload("", &first).expect(200)["duplicate"], true);
}
