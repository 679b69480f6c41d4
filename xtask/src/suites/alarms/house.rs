//! A year of a house: 42 channels, two dead weeks, a stuck sensor, a flood at night, a meter with windows of an hour, an alarm that a
//! command mutes. The events are those that pandas finds in
//! the readings, though `sotto watch` is killed 20 times: each once, and none is missing.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::super::ask::{Cases, Numbers, Site};
use super::super::venv::Venv;
use super::meter;
use super::year::{BEGIN, HOUR, time};

const DAYS: i64 = 365;
/// Days between two transmissions, each with two rounds after it: one at night and one at noon.
const FEED: i64 = 10;
const ROUNDS: [i64; 2] = [3, 12];
/// Number of kills.
const KILLS: usize = 20;
/// Channels of each of two devices.
const CHANNELS: usize = 20;
const DEVICES: [(&str, char); 2] = [("upstairs", 'a'), ("cellar", 'b')];

/// The alarms: name, condition, and options of `sotto alarm add`.
const ALARMS: [(&str, &str, &[&str]); 9] = [
    ("hot", "a01 > 30 for 2 windows", &["--clear", "28", "--repeat", "1w"]),
    ("warm", "mean(a04) > 24 for 3d", &["--clear-after", "2"]),
    ("dead", "silent for 2d", &["--repeat", "8h"]),
    ("lost", "a02 silent for 2d", &[]),
    ("gaps", "coverage(a02) < 0.5", &[]),
    ("stuck", "max(a03) - min(a03) < 0.2 for 3 windows", &[]),
    ("flood", "b01 > 5", &["--mute", "22:00-06:00"]),
    (HUSHED, "mean(a05) - mean(a06) < 2 for 3 windows", &[]),
    ("surge", "c01 > 40", &[]),
];

/// The alarm that a command mutes before the rounds of a transmission, and ends after them: it is raised in them.
const HUSHED: &str = "heat";
const HUSHED_IN: usize = 24;

/// The script that finds the events in the readings.
const SCRIPT: &str = include_str!("house.py");

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let mut site = house(cases)?;
    let (mut rounds, mut killed, mut numbers) = (Vec::new(), 0, Numbers(43));
    let mut length = Duration::from_millis(200);
    let feeds: Vec<i64> = (1..=DAYS / FEED).map(|feed| feed * FEED).chain([DAYS]).collect();
    let mut begin = 0;
    for (number, end) in feeds.iter().enumerate() {
        for (device, letter) in DEVICES {
            let file = format!("{device}-{number}.csv");
            site.write(&file, readings(letter, begin, *end))?;
            site.agent(device, &["--csv", &file])?;
        }
        if let Some(text) = meter::readings(begin, *end) {
            let file = format!("{}-{number}.csv", meter::NAME);
            site.write(&file, text)?;
            site.agent(meter::NAME, &["--csv", &file])?;
        }
        begin = *end;
        if number == HUSHED_IN {
            site.sotto(&["alarm", "mute", HUSHED, "--until", "2099-01-01", "--reason", "the sensor moves"])?;
        } else if number == HUSHED_IN + 1 {
            site.sotto(&["alarm", "unmute", HUSHED])?;
        }
        for hour in ROUNDS {
            let now = time(BEGIN + (24 * end + hour) * HOUR);
            let args = ["watch", "--once", "--now", &now];
            // Most rounds that are killed tell something: those at night.
            if killed < KILLS && (hour == ROUNDS[0] || numbers.next() < 0.2) && numbers.next() < 0.7 {
                killed += usize::from(kill_in(&site, &args, length.mul_f64(1.1 * numbers.next()))?);
            }
            let started = Instant::now();
            site.sotto(&args)?;
            length = started.elapsed();
            let muted: &[&str] = if number == HUSHED_IN { &[HUSHED] } else { &[] };
            rounds.push(json!({ "now": now, "until": time(BEGIN + 24 * end * HOUR), "muted": muted }));
        }
    }
    cases.case(
        &format!("{} rounds, the watch was killed {killed} times", rounds.len()),
        (killed < KILLS).then(|| format!("{killed} kills")).into_iter().collect(),
    );
    let expected = expected(cases, &site, &rounds)?;
    compare(cases, &site, &expected)?;
    meter::check(cases, &site)?;
    site.stop_cloud("TERM")?;
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}

/// Starts a round and kills it after a while. Returns false if it had ended.
fn kill_in(site: &Site, args: &[&str], after: Duration) -> Result<bool> {
    let mut round = site.start_sotto(args)?;
    thread::sleep(after);
    round.end("KILL")
}

fn house(cases: &Cases) -> Result<Site> {
    let mut site = Site::new(cases.sotto(), "UTC")?;
    for (device, letter) in DEVICES {
        let names = names(letter);
        for name in &names {
            let range = ["--range", "-40..80", "--resolution", "0.1", "--every", "1h"];
            site.sotto(&[&["channel", "add", name, "--unit", "°C"], &range[..]].concat())?;
        }
        site.write(&format!("{device}.txt"), names.join(","))?;
    }
    meter::declare(&site)?;
    let hook = "cat >> ../house.jsonl";
    for (name, condition, options) in ALARMS {
        let add = ["alarm", "add", name, condition, "--since", "2025-01-01", "--exec", hook];
        site.sotto(&[&add[..], options].concat())?;
    }
    for (device, letter) in DEVICES {
        site.sotto(&["device", "add", device, "--channels", &names(letter).join(",")])?;
    }
    site.sotto(&["device", "add", meter::NAME, "--channels", "c01,c02"])?;
    site.start_cloud()?;
    Ok(site)
}

fn names(letter: char) -> Vec<String> {
    (1..=CHANNELS).map(|channel| format!("{letter}{channel:02}")).collect()
}

/// Returns a device's readings of some days as a CSV file.
fn readings(letter: char, from: i64, to: i64) -> String {
    let mut text = format!("time,{}\n", names(letter).join(","));
    for hour in 24 * from..24 * to {
        if letter == 'b' && is_dead(hour / 24) {
            continue;
        }
        text += &time(BEGIN + hour * HOUR);
        for channel in 1..=CHANNELS {
            // Writing to a string cannot fail.
            let _ = match reading(letter, channel, hour) {
                Some(value) => write!(text, ",{value:.1}"),
                None => write!(text, ","),
            };
        }
        text.push('\n');
    }
    text
}

/// The cellar's dead weeks, and two dead days.
fn is_dead(day: i64) -> bool {
    (83..97).contains(&day) || (301..303).contains(&day)
}

fn reading(letter: char, channel: usize, hour: i64) -> Option<f64> {
    let (day, of_day) = (hour / 24, hour % 24);
    let seed = (hour as u64) << 16 | (letter as u64) << 8 | channel as u64;
    let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    numbers.next();
    let (noise, chance) = (numbers.next() - 0.5, numbers.next());
    let season = -((day as f64 - 15.0) / 365.0 * std::f64::consts::TAU).cos();
    let daily = -((of_day as f64 - 3.0) / 24.0 * std::f64::consts::TAU).cos();
    let usual = 18.0 + 7.0 * season + 4.0 * daily + 3.0 * noise;
    // The last hour of each day is there, so that the day is one window.
    let missing = match (letter, channel) {
        ('a', 2) if (60..63).contains(&day) => 0.7,
        ('a', 2) if (150..153).contains(&day) => 1.0,
        ('a', 2) => 0.1,
        _ => 0.02,
    };
    let is_whole = of_day == 23 && channel > 2;
    if !is_whole && chance < missing {
        return None;
    }
    Some(match (letter, channel) {
        ('a', 3) if (200..209).contains(&day) => 21.0,
        ('a', 5) if (240..251).contains(&day) => 30.0,
        ('a', 5) => 36.0 + noise,
        ('a', 6) => 30.0 + noise,
        ('b', 1) if is_flood(day) && (1..4).contains(&of_day) => 12.0,
        ('b', 1) => 0.0,
        _ => usual,
    })
}

/// Floods: one in the middle of a transmission, one at the end of one and on the day after.
fn is_flood(day: i64) -> bool {
    matches!(day, 45 | 179 | 180)
}

/// Runs the script. Returns its events.
fn expected(cases: &Cases, site: &Site, rounds: &[Value]) -> Result<Vec<Value>> {
    site.write("rounds.json", serde_json::to_vec(rounds)?)?;
    site.write("house.py", SCRIPT)?;
    let programs = cases.sotto().parent().context("the program has no folder")?;
    let venv = Venv::with_pandas(programs)?;
    let found = venv.python().arg("house.py").current_dir(site.folder()).output()?;
    ensure!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
    Ok(serde_json::from_slice(&found.stdout)?)
}

/// The facts of an event that pandas finds, too.
fn key(event: &Value) -> String {
    let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
    let from = text("from").parse::<jiff::Timestamp>().map(|at| at.to_string()).unwrap_or_default();
    let muted = if event["muted"] == true { " muted" } else { "" };
    format!("{} {} {} {from}{muted}", text("alarm"), text("device"), text("event"))
}

fn lines(path: &Path) -> Result<Vec<Value>> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

fn compare(cases: &mut Cases, site: &Site, expected: &[Value]) -> Result<()> {
    let mut journal = lines(&site.folder().join("plant/alarms/alarms.jsonl"))?;
    let by_command = |event: &Value| event["event"] == "muted" || event["event"] == "unmuted";
    let commands = journal.iter().filter(|event| by_command(event)).count();
    cases.case(
        "the log has the mute and its end once",
        (commands != 2).then(|| commands.to_string()).into_iter().collect(),
    );
    journal.retain(|event| !by_command(event));
    let differ = |found: Vec<String>, wanted: Vec<String>| {
        let (mut found, mut wanted) = (found, wanted);
        found.sort();
        wanted.sort();
        let mut faults = Vec::new();
        for (name, of, among) in [("too many", &found, &wanted), ("missing", &wanted, &found)] {
            let count = |key: &String, all: &[String]| all.iter().filter(|other| *other == key).count();
            let other = of.iter().filter(|key| count(key, of) > count(key, among));
            let other: BTreeSet<&String> = other.collect();
            faults.extend(other.into_iter().map(|key| format!("{name}: {key}")));
        }
        faults
    };
    cases.case(
        &format!("the log has the {} events that pandas finds", expected.len()),
        differ(journal.iter().map(key).collect(), expected.iter().map(key).collect()),
    );
    let kinds: BTreeSet<String> =
        expected.iter().map(|event| format!("{} {}", event["alarm"], event["event"])).collect();
    cases.case(
        "each alarm has something to tell",
        (kinds.len() < 2 * ALARMS.len()).then(|| format!("{kinds:?}")).into_iter().collect(),
    );
    let told = lines(&site.folder().join("house.jsonl"))?;
    let mut ids = BTreeSet::new();
    // A command that ran while the watch was killed is run again: the same id is the same event.
    let once: Vec<String> =
        told.iter().filter(|event| ids.insert(event["id"].to_string())).map(key).collect();
    println!("{} deliveries of {} events", told.len(), once.len());
    let wanted = expected.iter().filter(|event| event["muted"] != true).map(key).collect();
    cases.case("the command got each event that is not muted", differ(once, wanted));
    let value = |all: &[Value], key_of: &str| {
        all.iter().find(|event| key(event) == key_of).and_then(|event| event["value"].as_f64())
    };
    let mut faults = Vec::new();
    for event in expected.iter().filter(|event| event["value"].is_f64()) {
        let found = journal.iter().find(|other| key(other) == key(event));
        let bound = found.and_then(|found| found["bound"].as_f64()).unwrap_or_default();
        let (found, wanted) = (
            found.and_then(|found| found["value"].as_f64()),
            value(std::slice::from_ref(event), &key(event)),
        );
        match found.zip(wanted) {
            Some((found, wanted)) if (found - wanted).abs() <= bound + 1e-6 => {}
            other => faults.push(format!("{}: {other:?}, ± {bound}", key(event))),
        }
    }
    cases.case("their values are those of pandas", faults);
    Ok(())
}
