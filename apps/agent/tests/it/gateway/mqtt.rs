//! Messages of a broker that is stopped and killed, and presets end to end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::broker::{Mosquitto, Talker, program};
use super::farm::{Farm, HOUR, Readings, wait_until};
use crate::site::agent;

/// Number of times that the broker is killed; more with `SOTTO_KILLS` in the environment.
fn kills() -> u32 {
    std::env::var("SOTTO_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(6)
}

/// Messages between two ends of the broker.
const ROWS: i64 = 60;

fn value(row: i64) -> f64 {
    ((row * 7) % 400) as f64 / 4.0 - 50.0
}

fn payload(row: i64) -> (i64, String) {
    let at = HOUR + row * 7000;
    (at, format!("{{\"time\": {at}, \"flow\": {}, \"noise\": [1, {{\"x\": null}}]}}", value(row)))
}

fn start(farm: &Farm, broker: &Mosquitto, version: &str) -> Talker {
    let url = broker.url();
    let words =
        ["--mqtt", &url, "--topic", "farm/{device}", "--time-path", "$.time", "--mqtt-version", version];
    let gateway = Talker::start(farm.agent("run", &words));
    gateway.wait_for("listening to farm/+");
    gateway
}

#[test]
fn a_broker_that_stops_in_order_and_an_agent_that_is_killed_lose_nothing() {
    let Some(program) = program() else { return };
    for version in ["3.1.1", "5"] {
        let farm = Farm::new(&[("boiler", &["flow"])]);
        let folder = tempfile::tempdir().unwrap();
        let mut broker = Mosquitto::start(program, folder.path());
        let mut gateway = start(&farm, &broker, version);
        let mut sent = Readings::new();
        let mut row = 0;
        for round in 0..kills() {
            let mut sender = broker.sender("thermometer").unwrap();
            for _ in 0..ROWS {
                let (at, text) = payload(row);
                sender.publish("farm/boiler", text.as_bytes(), false).unwrap();
                sent.insert(("boiler".to_owned(), "flow".to_owned(), at), value(row));
                row += 1;
                // In the middle of messages: those without an acknowledgement come again.
                if round % 2 == 1 && row % ROWS == ROWS / 2 {
                    gateway.kill();
                    gateway = start(&farm, &broker, version);
                }
            }
            sender.close();
            broker.stop();
            broker.again();
            gateway.wait_for("listening to farm/+");
        }
        // The last message of a topic is the last to be taken.
        wait_until("the broker's queue", || {
            let connected = gateway.said().matches("listening to").count();
            connected > 0 && broker.sender("probe").is_ok()
        });
        std::thread::sleep(Duration::from_secs(2));
        gateway.stop();
        let found = farm.readings();
        assert_eq!(found.len(), sent.len(), "MQTT {version}");
        assert_eq!(found, sent);
    }
}

#[test]
fn a_device_with_a_full_spool_holds_back_no_other() {
    let Some(program) = program() else { return };
    let farm = Farm::new(&[("boiler", &["flow"]), ("oven", &["flow"])]);
    let folder = tempfile::tempdir().unwrap();
    let broker = Mosquitto::start(program, folder.path());
    let url = broker.url();
    // Room for the messages of a few hours.
    let words =
        ["--mqtt", &url, "--topic", "farm/{device}", "--time-path", "$.time", "--spool-limit", "100000"];
    let gateway = Talker::start(farm.agent("run", &words));
    gateway.wait_for("listening to farm/+");
    let mut sender = broker.sender("thermometer").unwrap();
    let mut sent = Readings::new();
    let mut publish = |device: &str, hour: i64| {
        let (at, value) = (HOUR + hour * 3_600_000, (hour % 50) as f64);
        let text = format!("{{\"time\": {at}, \"flow\": {value}}}");
        sender.publish(&format!("farm/{device}"), text.as_bytes(), false).unwrap();
        sent.insert((device.to_owned(), "flow".to_owned(), at), value);
    };
    // More than a broker has on its way at one time.
    for hour in 0..400 {
        publish("boiler", hour);
    }
    (0..3).for_each(|hour| publish("oven", hour));
    let of_oven = farm.spool("oven");
    wait_until("windows of the other device", || {
        of_oven.exists() && !crate::site::files(&of_oven, ".envelope").is_empty()
    });
    sender.close();
    gateway.stop();
    // With more room, the rest comes out of the journal.
    let again = Talker::start(farm.agent("run", &words[..6]));
    again.wait_for("listening to farm/+");
    std::thread::sleep(Duration::from_secs(1));
    again.stop();
    assert_eq!(farm.readings(), sent);
}

#[test]
fn a_broker_that_is_killed_gives_no_reading_twice_and_none_that_was_not_sent() {
    let Some(program) = program() else { return };
    let farm = Farm::new(&[("boiler", &["flow"])]);
    let folder = tempfile::tempdir().unwrap();
    let mut broker = Mosquitto::start(program, folder.path());
    let gateway = start(&farm, &broker, "3.1.1");
    let (mut row, mut sent) = (0, Readings::new());
    for kill in 0..kills() {
        let over = AtomicBool::new(false);
        let first = row;
        let connected = broker.sender("thermometer");
        std::thread::scope(|scope| {
            let (over, row) = (&over, &mut row);
            scope.spawn(move || {
                let Ok(mut sender) = connected else { return };
                while !over.load(Ordering::Relaxed) {
                    let (_, text) = payload(*row);
                    if sender.publish("farm/boiler", text.as_bytes(), false).is_err() {
                        return;
                    }
                    *row += 1;
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
            std::thread::sleep(Duration::from_millis(100 + u64::from(kill * 97 % 300)));
            broker.kill();
            over.store(true, Ordering::Relaxed);
        });
        // One more may be on its way.
        row += 1;
        sent.extend(
            (first..row).map(|row| (("boiler".to_owned(), "flow".to_owned(), payload(row).0), value(row))),
        );
        broker.again();
        gateway.wait_for_times("listening to farm/+", kill as usize + 2);
    }
    // A sender that repeats itself: nothing is there twice, and all is there.
    let mut sender = broker.sender("thermometer").unwrap();
    for row in 0..row {
        sender.publish("farm/boiler", payload(row).1.as_bytes(), true).unwrap();
    }
    sender.close();
    std::thread::sleep(Duration::from_secs(2));
    gateway.stop();
    assert_eq!(farm.readings(), sent);
}

/// Returns the counts of readings by device and channel that are written beside recorded messages.
fn expected(folder: &Path) -> BTreeMap<(String, String), u64> {
    let mut counts = BTreeMap::new();
    for row in csv::Reader::from_path(folder.join("readings.csv")).unwrap().records() {
        let row = row.unwrap();
        // A message that was kept is of the same form as another; here all are sent anew.
        if ["taken", "retained"].contains(&&row[1]) && !row[2].is_empty() {
            *counts.entry((row[2].to_owned(), row[3].to_owned())).or_default() += 1;
        }
    }
    counts
}

#[test]
fn each_preset_is_checked_end_to_end() {
    let Some(program) = program() else { return };
    let recorded = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../crates/preset/tests/recorded");
    std::thread::scope(|scope| {
        for name in sotto_preset::Preset::names() {
            let folder = recorded.join(name);
            scope.spawn(move || {
                let broker_folder = tempfile::tempdir().unwrap();
                let broker = Mosquitto::start(program, broker_folder.path());
                let mut command = agent();
                command.args(["check", "--mqtt", &broker.url(), "--preset", name, "--for", "8s", "--json"]);
                let check = Talker::start(command);
                check.wait_for("listening to");
                let mut sender = broker.sender("recorded").unwrap();
                for line in std::fs::read_to_string(folder.join("messages.txt")).unwrap().lines() {
                    let [_, topic, payload] = line.splitn(3, '\t').collect::<Vec<_>>()[..] else { panic!() };
                    let payload = match payload.strip_prefix('@') {
                        Some(file) => std::fs::read(folder.join(file)).unwrap(),
                        None => payload.as_bytes().to_vec(),
                    };
                    sender.publish(topic, &payload, false).unwrap();
                }
                sender.close();
                let found: serde_json::Value = serde_json::from_str(&check.output()).unwrap();
                let channels = &found["collected"]["channels"];
                for ((device, channel), count) in expected(&folder) {
                    let readings = channels[&device][&channel]["readings"].as_u64().unwrap_or_default();
                    assert!(readings >= count, "{name}: {device} {channel}: {readings} of {count}: {found}");
                }
            });
        }
    });
}

#[test]
fn a_check_tells_who_takes_what_and_keeps_nothing() {
    let Some(program) = program() else { return };
    let farm = Farm::new(&[("kitchen", &["temperature"])]);
    let folder = tempfile::tempdir().unwrap();
    let broker = Mosquitto::start(program, folder.path());
    let url = broker.url();
    let check =
        Talker::start(farm.agent("check", &["--mqtt", &url, "--preset", "zigbee2mqtt", "--for", "3s"]));
    check.wait_for("listening to zigbee2mqtt/#");
    let mut sender = broker.sender("thermometer").unwrap();
    sender.publish("zigbee2mqtt/kitchen", br#"{"temperature": 21.47, "humidity": 40}"#, false).unwrap();
    sender.publish("zigbee2mqtt/attic", br#"{"temperature": 8.1}"#, false).unwrap();
    sender.close();
    let told = check.output();
    for line in
        ["kitchen.temperature", "nobody takes %.humidity", "nobody takes °C.temperature", "1 reading, in °C"]
    {
        assert!(told.contains(line), "{line}: {told}");
    }
    assert!(!told.contains("21.47"), "a value: {told}");
    assert!(farm.readings().is_empty());
}

#[test]
fn a_password_is_not_shown_to_the_network_and_not_taken_from_an_address() {
    let refused = |words: &[&str]| {
        let mut command = agent();
        command.args(["check", "--preset", "tasmota", "--for", "1s"]).args(words);
        let output =
            command.env("SOTTO_MQTT_PASSWORD", "s3cret").env("SOTTO_MQTT_USER", "farm").output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let plain = refused(&["--mqtt", "mqtt://broker.example"]);
    assert!(plain.contains("--mqtt-plain-password") && !plain.contains("s3cret"), "{plain}");
    let inside = refused(&["--mqtt", "mqtt://farm:s3cret@broker.example"]);
    assert!(inside.contains("SOTTO_MQTT_USER"), "{inside}");
}
