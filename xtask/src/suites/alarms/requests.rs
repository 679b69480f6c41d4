//! Requests of the owner's process: equal for readings that alarm and readings that do not, with the same faults of the cloud
//! and without, at the ticks of the rhythm.

use super::super::ask::{Cases, Site};
use super::file;
use super::server::{Fault, recorder, taken};
use anyhow::{Context as _, Result};
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

const EVERY_MS: u128 = 2000;
/// A round begins at most this long after its tick, on a busy machine.
const LATEST_MS: u128 = 1200;

/// The faults of the cloud, one after another: new windows arrive before each, and the cloud is without a fault after it.
const FAULTS: [Fault; 6] = [
    Fault::RefusedSums,
    Fault::OtherSums,
    Fault::RefusedLogs,
    Fault::Away,
    Fault::NoEnd,
    Fault::OtherOutputs,
];

/// The number of hours without a fault; two more arrive for each.
const HOURS: usize = 10;

/// The requests of one run, in order; rounds by a line of their own.
struct Recorded {
    shapes: Vec<String>,
    /// Times of the first request of each round of the rhythm, after their tick, in milliseconds.
    offsets: Vec<u128>,
    events: usize,
    /// Number of events of failures.
    failed: usize,
}

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let hours = || 0..HOURS + 2 * FAULTS.len();
    let quiet: Vec<Option<f64>> = hours().map(|hour| (hour != 4).then_some(60.0)).collect();
    let loud: Vec<Option<f64>> =
        hours().map(|hour| (hour != 4).then_some(if hour % 3 == 2 { 60.0 } else { 90.0 })).collect();
    let (first, second) = (recorded(cases, &quiet)?, recorded(cases, &loud)?);
    let different = first.shapes.iter().zip(&second.shapes).find(|(a, b)| a != b);
    let mut faults: Vec<String> = different.map(|(a, b)| format!("{a:?} and {b:?}")).into_iter().collect();
    if first.shapes.len() != second.shapes.len() {
        faults.push(format!("{} and {} requests", first.shapes.len(), second.shapes.len()));
    }
    println!("{} requests of each run", first.shapes.len());
    cases.case(
        "readings that alarm make the requests of readings that do not, byte for byte, with any fault",
        faults,
    );
    let told = (first.events, second.events);
    let faults = (told.0 > 0 || told.1 < 4).then(|| format!("{told:?} events"));
    cases.case("one run has events, the other none", faults.into_iter().collect());
    let failed = (first.failed, second.failed);
    let faults = (failed.0 != failed.1 || failed.0 < FAULTS.len()).then(|| format!("{failed:?} failures"));
    cases.case("both runs have the same failures", faults.into_iter().collect());
    for (name, run) in [("quiet", &first), ("loud", &second)] {
        let late = run.offsets.iter().find(|offset| **offset > LATEST_MS);
        let faults = late.map(|offset| format!("a round begins {offset} ms after its tick"));
        cases.case(
            &format!("rounds begin at their ticks ({name}, {} rounds)", run.offsets.len()),
            faults.into_iter().collect(),
        );
    }
    Ok(())
}

fn recorded(cases: &mut Cases, hours: &[Option<f64>]) -> Result<Recorded> {
    let mut site = Site::new(cases.sotto(), "UTC")?;
    let channel =
        ["channel", "add", "temperature", "--unit", "°C", "--range", "-20..120", "--resolution", "0.5"];
    site.sotto(&[&channel[..], &["--every", "5m"]].concat())?;
    for (name, condition) in [
        ("any", "temperature > 80"),
        ("mean", "mean(temperature) > 65 for 2 windows"),
        ("spread", "max(temperature) - min(temperature) > 35"),
        ("curve", "polynomial(temperature, [0, 1, 0.01]) > 130"),
        ("gaps", "coverage(temperature) < 0.5 for 900 windows"),
        ("dead", "silent for 9000d"),
        ("still", "temperature silent for 9000d"),
    ] {
        let hook = format!("echo {name} >> ../hook.txt");
        site.sotto(&["alarm", "add", name, condition, "--since", "2026-05-04", "--exec", &hook])?;
    }
    for device in ["boiler", "pump"] {
        site.sotto(&["device", "add", device, "--channels", "temperature"])?;
    }
    // The devices do not count at this limit: their readings are fetched.
    site.sotto(&["alarm", "add", "other", "temperature > 77.5 for 2 windows", "--since", "2026-05-04"])?;
    site.start_cloud()?;
    let url = site.cloud_url()?;
    let fault = Arc::new(Mutex::new(Fault::None));
    let (proxy, received) = recorder(&url, Arc::clone(&fault))?;
    let settings = site.folder().join("plant/sotto.toml");
    let text = fs::read_to_string(&settings)?;
    let text = text.replace(&url, &proxy).replace("[cloud]\n", "[cloud]\njob_limit = \"1s\"\n");
    fs::write(&settings, text)?;
    let (mut shapes, mut done) = (Vec::new(), 0);
    let mut round = |site: &Site, name: &str| -> Result<()> {
        // It ends with an error if the cloud has a fault.
        site.try_sotto(&["watch", "--once"])?;
        let all = taken(&received);
        shapes.push(name.to_owned());
        shapes.extend(all[done..].iter().map(super::server::Request::shape));
        // A job is asked for again while it runs, and its time depends on the machine.
        shapes.dedup_by(|next, kept| next == kept && next.starts_with("GET /v1/jobs/# "));
        done = all.len();
        Ok(())
    };
    round(&site, "nothing has arrived")?;
    let arrive = |site: &Site, part: usize| -> Result<()> {
        for device in ["boiler", "pump"] {
            site.write("part.csv", file(&hours[..part]))?;
            // The agent's messages do not go by way of the recorder: its bundle names the cloud.
            site.agent(device, &["--csv", "part.csv"])?;
        }
        Ok(())
    };
    for (name, part) in [("a part has arrived", 6), ("all has arrived", HOURS)] {
        arrive(&site, part)?;
        round(&site, name)?;
        round(&site, "nothing new")?;
    }
    for (number, of) in FAULTS.into_iter().enumerate() {
        arrive(&site, HOURS + 2 * (number + 1))?;
        let set = |to: Fault| *fault.lock().unwrap_or_else(PoisonError::into_inner) = to;
        set(of);
        // A cloud that is away fails an alarm in the third round; a refused sum is asked for again.
        let rounds = match of {
            Fault::Away => 3,
            Fault::OtherSums => 2,
            _ => 1,
        };
        for _ in 0..rounds {
            round(&site, &format!("{of:?}"))?;
        }
        set(Fault::None);
        round(&site, &format!("after {of:?}"))?;
    }
    let mut watch = site.start_watch(&["--every", "2s"])?;
    thread::sleep(Duration::from_millis(7000));
    watch.end("TERM")?;
    let requests = taken(&received);
    // The first round is at once. Each begins with the cloud's limits.
    let rounds = requests[done..].iter().filter(|request| request.path.contains("limits")).skip(1);
    let offsets = rounds.map(|request| request.at % EVERY_MS).collect();
    let journal = fs::read_to_string(site.folder().join("plant/alarms/alarms.jsonl")).unwrap_or_default();
    let failed = journal.lines().filter(|line| line.contains(r#""event":"failed""#)).count();
    let events = journal.lines().count() - failed;
    cases.case("nothing is left behind", site.close().context("the site")?);
    Ok(Recorded { shapes, offsets, events, failed })
}
