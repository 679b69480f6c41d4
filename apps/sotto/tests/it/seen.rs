//! Single windows, as the cloud sees them and as their owner does.

use std::path::Path;

use serde_json::{Value, json};
use sotto_owner::{CloudSees, ListedWindow, Plant, WindowSeen};
use tokio::runtime::Runtime;

use crate::session::{self, sotto};

/// Two days of readings of two channels in a cloud.
fn house(question: &str) -> (tempfile::TempDir, Runtime, Plant) {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path();
    session::init(folder, question);
    let cloud = session::serve(folder);
    sotto(folder, &["device", "add", "boiler", "--channels", "heat,flow"]).unwrap();
    session::send(folder, "boiler.bundle");
    let plant = Plant::open(&folder.join("plant")).unwrap();
    (outside, cloud, plant)
}

fn keys(of: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = of.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn seen(plant: &Plant, window: &ListedWindow) -> WindowSeen {
    plant.window_seen("boiler", &window.stream, window.number).unwrap()
}

fn fact<'s>(seen: &'s WindowSeen, name: &str) -> &'s str {
    let found = seen.cloud.head.iter().find(|(fact, _)| fact == name);
    found.map(|(_, value)| value.as_str()).unwrap_or_else(|| panic!("{name}: {:?}", seen.cloud.head))
}

#[test]
fn the_readings_of_windows_are_those_that_were_sent() {
    let (_outside, _cloud, plant) = house("sum(heat), mean(flow) by day");
    let windows = plant.windows_of("boiler", None, 50).unwrap();
    assert_eq!(windows.len(), 2, "{windows:?}");
    assert!(windows[0].from > windows[1].from, "the newest comes first");
    let mut hour = 0_u32;
    for window in windows.iter().rev() {
        assert_eq!((window.readings, window.missing, window.replaces), (48, 0, false));
        let seen = seen(&plant, window);
        assert_eq!((seen.owner.why.as_deref(), seen.owner.channels.len()), (None, 2));
        assert_eq!(seen.owner.channels[0].values.len(), 24);
        for channel in &seen.owner.channels {
            assert_eq!(channel.unit, "kW");
            for (at, reading) in (hour..).zip(&channel.values) {
                let time = format!("2024-01-{:02}T{:02}:00:00+00:00", 1 + at / 24, at % 24);
                assert_eq!(reading.at, time);
                let off = (reading.value.unwrap() - f64::from(at % 48) / 10.0).abs();
                assert!(off < 1e-9, "{} at {time}: {reading:?}", channel.channel);
            }
        }
        hour += 24;
        assert_eq!(fact(&seen, "device"), "boiler");
        assert_eq!(fact(&seen, "number"), window.number.to_string());
        assert_eq!(fact(&seen, "begins"), window.from);
        assert_eq!(fact(&seen, "ticks"), "24, one every 1h");
        assert_eq!(fact(&seen, "readings of heat"), "24 of 24");
        assert!(seen.cloud.head.iter().any(|(name, value)| name == "signature" && value.len() == 128));
        assert!(!seen.cloud.tags.is_empty() && seen.cloud.tags.iter().all(|tag| tag.len() == 16));
        assert_eq!(seen.cloud.body.len() as u64, 2 * seen.cloud.body_bytes.min(4096));
        assert_eq!(seen.cloud.bytes, window.bytes);
    }
    assert_eq!(hour, session::HOURS);
}

#[test]
fn json_has_the_names_of_the_pages_contract() {
    let (_outside, _cloud, plant) = house("sum(heat) by day");
    let windows = plant.windows_of("boiler", None, 1).unwrap();
    let line = json!(windows[0]);
    assert_eq!(keys(&line), ["bytes", "from", "missing", "number", "readings", "replaces", "stream", "to"]);
    let seen = json!(seen(&plant, &windows[0]));
    assert_eq!(keys(&seen), ["cloud", "owner"]);
    assert_eq!(keys(&seen["cloud"]), ["body", "body_bytes", "bytes", "head", "tags"]);
    assert_eq!(keys(&seen["owner"]), ["channels"], "`why` is absent");
    assert_eq!(keys(&seen["owner"]["channels"][0]), ["channel", "unit", "values"]);
    assert_eq!(keys(&seen["owner"]["channels"][0]["values"][0]), ["at", "value"]);
    assert!(seen["cloud"]["head"][0].as_array().is_some_and(|pair| pair.len() == 2));
}

#[test]
fn lists_continue_behind_a_window_and_know_no_others() {
    let (_outside, _cloud, plant) = house("sum(heat), max(flow) by day");
    let all = plant.windows_of("boiler", None, 50).unwrap();
    let (mut found, mut before): (Vec<ListedWindow>, Option<(String, u64)>) = (Vec::new(), None);
    loop {
        let place = before.as_ref().map(|(stream, number)| (stream.as_str(), *number));
        let next = plant.windows_of("boiler", place, 1).unwrap();
        let Some(window) = next.first() else { break };
        before = Some((window.stream.clone(), window.number));
        found.extend(next);
    }
    assert_eq!(found, all);
    for (stream, number) in [("none", 0), (all[0].stream.as_str(), 99), ("../../secrets", 0)] {
        let refused = plant.window_seen("boiler", stream, number).unwrap_err();
        assert!(refused.to_string().contains("has no window"), "{refused}");
        assert!(plant.windows_of("boiler", Some((stream, number)), 1).is_err());
    }
    assert!(plant.windows_of("nobody", None, 1).is_err());
}

#[test]
fn gaps_are_shown_and_readings_left_out_are_counted() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path();
    session::init(folder, "sum(heat) by day");
    let _cloud = session::serve(folder);
    sotto(folder, &["device", "add", "boiler", "--channels", "heat,flow"]).unwrap();
    let text = "time,heat,flow\n2024-01-01T00:00:00Z,1.5,2\n2024-01-01T01:00:00Z,99,3\n2024-01-01T03:00:00Z,2.5,4\n\
                2024-01-02T00:00:00Z,1,1\n";
    // The agent tells of readings out of range as lost.
    assert!(session::try_text(folder, "boiler.bundle", text).is_err());
    let plant = Plant::open(&folder.join("plant")).unwrap();
    let windows = plant.windows_of("boiler", None, 50).unwrap();
    let first = windows.last().unwrap();
    let seen = seen(&plant, first);
    let heat = seen.owner.channels.iter().find(|channel| channel.channel == "heat").unwrap();
    let values: Vec<Option<f64>> = heat.values.iter().take(5).map(|reading| reading.value).collect();
    assert_eq!(values, [Some(1.5), None, None, Some(2.5), None]);
    assert_eq!(fact(&seen, "readings of heat"), "2 of 24, at ticks 0, 3");
    assert_eq!(fact(&seen, "left out of heat"), "1 out of range");
}

#[test]
fn windows_without_readings_to_show_say_why() {
    let (outside, _cloud, plant) = house("sum(heat) by day");
    let windows = plant.windows_of("boiler", None, 50).unwrap();
    let oldest = windows.last().unwrap();
    let folder: &Path = outside.path();
    let why = |plant: &Plant| {
        let seen = seen(plant, oldest);
        assert!(seen.owner.channels.is_empty());
        seen.owner.why.unwrap()
    };
    std::fs::rename(folder.join("plant/secrets/boiler.key"), folder.join("boiler.key")).unwrap();
    assert!(why(&plant).contains("the secret of its device is gone"), "{}", why(&plant));
    std::fs::rename(folder.join("boiler.key"), folder.join("plant/secrets/boiler.key")).unwrap();
    sotto(folder, &["forget", "--device", "boiler", "--before", "2024-01-02T00:00", "--yes"]).unwrap();
    assert!(why(&plant).contains("you deleted it"), "{}", why(&plant));
    assert_eq!(plant.windows_of("boiler", None, 50).unwrap().len(), windows.len() - 1);
}

#[test]
fn windows_of_a_scheme_show_their_bytes_alone() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path();
    session::init(folder, "mean(polynomial(heat, [0, 1, 1])) by day");
    let _cloud = session::serve(folder);
    sotto(folder, &["device", "add", "boiler", "--channels", "heat,flow"]).unwrap();
    session::send(folder, "boiler.bundle");
    let plant = Plant::open(&folder.join("plant")).unwrap();
    let all: Vec<WindowSeen> =
        plant.windows_of("boiler", None, 50).unwrap().iter().map(|window| seen(&plant, window)).collect();
    let whole = all.iter().find(|seen| seen.owner.why.is_some()).expect("a window of a scheme");
    assert!(whole.owner.why.as_ref().unwrap().contains("whole ciphertexts"));
    let CloudSees { tags, body, body_bytes, .. } = &whole.cloud;
    assert!(tags.is_empty() && *body_bytes > 0);
    assert_eq!(body.len() as u64, 2 * body_bytes.min(&4096));
}
