//! Alarms that a lying cloud cannot silence: it fails, and the windows are asked for again.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use serde_json::{Value, json};

use crate::liar::{self, Lie, Reply, edited};
use crate::world::World;

/// The lies; 0 is the truth.
const FORGED_SUM: u8 = 1;
const REPEATED_ID: u8 = 2;
const REFUSAL: u8 = 3;
const AWAY: u8 = 4;
const NO_END: u8 = 5;
const FORGED_JOB: u8 = 6;
const NO_DEVICES: u8 = 7;
const NO_LIMITS: u8 = 8;
const WITHHELD: u8 = 9;

fn lie(mode: &Arc<AtomicU8>, cancelled: &Arc<AtomicU8>) -> Lie {
    let (mode, cancelled) = (Arc::clone(mode), Arc::clone(cancelled));
    Box::new(move |truth, request| {
        if request.method == "DELETE" && request.path.starts_with("/v1/jobs/") {
            cancelled.fetch_add(1, Ordering::Relaxed);
        }
        let mode = mode.load(Ordering::Relaxed);
        let is_log = request.is("GET", "/v1/log");
        let is_state = request.method == "GET"
            && request.path.starts_with("/v1/jobs/")
            && !request.path.contains("/outputs/");
        match mode {
            FORGED_SUM if request.path.ends_with("/sums") => {
                let reply = truth.tell(&request);
                let end = reply.body.len() - 33;
                Reply { body: edited(reply.body, |frame| frame[end] ^= 1), ..reply }
            }
            // The first windows were deleted.
            REPEATED_ID if is_log => truth.log(&request, |windows| {
                if let [.., before, last] = &mut windows[..] {
                    last["id"] = before["id"].clone();
                }
            }),
            NO_DEVICES if request.is("GET", "/v1/devices") => {
                Reply { status: 500, ..Reply::of_json(&json!({ "detail": "no" })) }
            }
            NO_LIMITS if request.path.contains("/limits") => Reply::of_json(&json!([])),
            WITHHELD if is_log => truth.log(&request, |windows| {
                if windows.len() > 2 {
                    windows[2].as_object_mut().unwrap().remove("signed");
                }
            }),
            REFUSAL if is_log => Reply { status: 500, ..Reply::of_json(&json!({ "detail": "no" })) },
            // No bytes: the connection ends.
            AWAY => Reply { status: 0, headers: Vec::new(), body: Vec::new() },
            NO_END if is_state => Reply::of_json(&json!({ "state": "running" })),
            FORGED_JOB if request.path.contains("/outputs/") => {
                let reply = truth.tell(&request);
                let middle = reply.body.len() / 2;
                Reply { body: edited(reply.body, |frame| frame[middle] ^= 1), ..reply }
            }
            FORGED_JOB if is_state && truth.tell(&request).json()["state"] == "done" => {
                let first = liar::Request { path: format!("{}/outputs/0", request.path), ..request.clone() };
                let body = truth.tell(&first).body;
                let middle = body.len() / 2;
                let digest = sotto_wire::frame_digest(&edited(body, |frame| frame[middle] ^= 1)).unwrap();
                truth.job(&request, |parts| parts.outputs[0] = digest)
            }
            _ => truth.tell(&request),
        }
    })
}

/// Runs a round; returns its events: alarm, kind and words.
fn round(world: &World, plant: &Path) -> Vec<(String, String, String)> {
    let done = world.sotto(plant, &["watch", "--once", "--json"]);
    let lines = done.text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let text = |event: &Value, name: &str| event[name].as_str().unwrap_or_default().to_owned();
    let events = lines.filter(|line| line["event"].is_string());
    events.map(|event| (text(&event, "alarm"), text(&event, "event"), text(&event, "what"))).collect()
}

/// Each lie makes the alarm fail once; after it the windows are asked for again, and the alarm is raised.
pub(crate) fn tried(world: &World) {
    let sums = ("sums", "mean(level) > 20");
    let curve = ("curve", "mean(polynomial(level, [0.5, 1, 0.001])) > 10");
    for (name, told, (alarm, when), says) in [
        ("a forged sum", FORGED_SUM, sums, "forged sum"),
        ("an id of another window", REPEATED_ID, sums, "repeated name"),
        ("a refusal", REFUSAL, sums, "refused the log"),
        ("a cloud away", AWAY, sums, "cannot be reached"),
        ("no list of devices", NO_DEVICES, sums, "refused the list of devices"),
        ("no limits", NO_LIMITS, sums, "cannot be read"),
        ("a job without an end", NO_END, curve, "has not ended"),
        ("a forged job", FORGED_JOB, curve, "forged answer"),
    ] {
        let (mode, cancelled) = (Arc::new(AtomicU8::new(told)), Arc::default());
        let url = liar::start(&world.url, &world.signing_key, lie(&mode, &cancelled));
        let plant = world.owner(&format!("alarm-{told}"), false, &url);
        world.waits(&plant, "1s");
        let added = world.sotto(&plant, &["alarm", "add", alarm, when, "--since", "2025-03-01"]);
        assert_eq!(added.code, 0, "{}", added.text);
        let mut events = Vec::new();
        // A cloud away fails an alarm in the third round.
        for _ in 0..if told == AWAY { 3 } else { 2 } {
            events.extend(round(world, &plant));
        }
        let failed = |events: &[(String, String, String)]| matches!(events, [(_, kind, what)] if kind == "failed" && what.contains(says));
        assert!(failed(&events), "{name}: {events:?}");
        // The owner gives the jobs up that it does not wait for.
        assert_eq!(cancelled.load(Ordering::Relaxed) > 0, told == NO_END, "{name}");
        mode.store(0, Ordering::Relaxed);
        let events = round(world, &plant);
        assert!(events.iter().any(|(_, kind, _)| kind == "raised"), "{name}: then {events:?}");
        println!("{name}: the alarm fails, and is raised once the cloud tells the truth");
    }
    withheld(world);
}

/// A window that the cloud does not give any more makes the alarm fail, if it was not missing before.
fn withheld(world: &World) {
    let mode = Arc::new(AtomicU8::new(0));
    let url = liar::start(&world.url, &world.signing_key, lie(&mode, &Arc::default()));
    let plant = world.owner("alarm-withheld", false, &url);
    let added = world.sotto(&plant, &["alarm", "add", "high", "mean(level) > 90", "--since", "2025-03-01"]);
    assert_eq!(added.code, 0, "{}", added.text);
    assert_eq!(round(world, &plant), []);
    // As if the owner's folder had read no log yet: it has the window's head.
    std::fs::remove_dir_all(plant.join("logs")).unwrap();
    mode.store(WITHHELD, Ordering::Relaxed);
    let events = round(world, &plant);
    let fails = matches!(&events[..], [(_, kind, what)] if kind == "failed" && what.contains("windows of meter are missing"));
    assert!(fails, "{events:?}");
    println!("a window that is not given any more: the alarm fails");
}
