//! A gateway between senders that cannot encrypt and a cloud, as processes: readings that it answered 204 are in the owner's
//! answers, once.

mod process;
mod telegraf;

use super::ask::{Cases, Site, run_parts};
use crate::guide;
use crate::suite::{Context, Outcome};
use anyhow::{Context as _, Result, bail};
use process::Gateway;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::thread;
use std::time::{Duration, Instant};

/// Number of kills.
const KILLS: u64 = 5;
/// The first of March 2025: seconds since 1970.
const FIRST: u64 = 1_740_787_200;
const MINUTE: u64 = 60;
const DEVICES: [&str; 3] = ["boiler", "oven", "tank"];

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let outcome = run_parts(context, &[("kills between senders and a cloud", kills)])?;
    let Outcome::Passed = outcome else { return Ok(outcome) };
    Ok(Outcome::from_faults(guide::of_gateway(context)?))
}

/// Returns the reading of a device at a minute.
fn value(device: usize, minute: u64) -> f64 {
    ((minute * 7 + device as u64 * 31) % 200) as f64 / 2.0
}

/// Runs Telegraf itself before a gateway.
pub(crate) fn with_telegraf(context: &Context) -> Result<Outcome> {
    run_parts(context, &[("Telegraf, through a kill of the gateway", telegraf::run)])
}

/// Senders write through kills.
fn kills(cases: &mut Cases) -> Result<()> {
    let mut site = Site::new(cases.sotto(), "UTC")?;
    site.sotto(&["channel", "add", "flow", "--range", "0..100", "--resolution", "0.5", "--every", "1m"])?;
    site.sotto(&["question", "add", "total", "count(flow), sum(flow) by day per device"])?;
    std::fs::create_dir(site.folder().join("bundles"))?;
    for device in DEVICES {
        let bundle = format!("bundles/{device}.bundle");
        site.sotto(&["device", "add", device, "--channels", "flow", "--bundle", &bundle])?;
    }
    site.start_cloud()?;
    let mut minute = 0;
    for kill in 0..=KILLS {
        let gateway = Gateway::start(&site)?;
        let (begin, time) = (Instant::now(), Duration::from_millis(200 + kill * 61 % 300));
        while begin.elapsed() < time {
            let mut lines = String::new();
            for (at, device) in DEVICES.iter().enumerate() {
                // Writing to a string cannot fail.
                let _ = writeln!(
                    lines,
                    "heat,device={device} flow={} {}",
                    value(at, minute),
                    FIRST + minute * MINUTE
                );
            }
            match gateway.write(&lines) {
                Some(204) => minute += 1,
                other => bail!("the gateway answers {other:?} at minute {minute}"),
            }
        }
        gateway.end(if kill < KILLS { "KILL" } else { "TERM" })?;
    }
    // A gateway that runs again sends the rest of the spools.
    let gateway = Gateway::start(&site)?;
    thread::sleep(Duration::from_secs(1));
    gateway.end("TERM")?;
    let answer = site.ask("total", &[])?;
    cases.case("kills between senders and a cloud", judge(&answer, minute)?);
    cases.case("processes that are left", site.close()?);
    Ok(())
}

/// Compares counts and sums of all devices with those of the requests that were answered.
fn judge(answer: &serde_json::Value, minutes: u64) -> Result<Vec<String>> {
    let found = values(answer)?;
    println!("{minutes} requests were answered 204, through {KILLS} kills");
    Ok((0..DEVICES.len()).flat_map(|device| wrong(&found, device, minutes)).collect())
}

/// Compares count and sum of one device with those of its first minutes.
fn wrong(found: &Values, at: usize, minutes: u64) -> Vec<String> {
    let (device, mut faults) = (DEVICES[at], Vec::new());
    let sum: f64 = (0..minutes).map(|minute| value(at, minute)).sum();
    for (name, expected) in [("count(flow)", minutes as f64), ("sum(flow)", sum)] {
        let value = found.get(&(device.to_owned(), name.to_owned())).copied();
        if value.is_none_or(|value| (value - expected).abs() > 1e-6) {
            faults.push(format!("{name} of {device} is {value:?}, not {expected}"));
        }
    }
    faults
}

/// Values by device and name.
type Values = BTreeMap<(String, String), f64>;

/// Returns the values of an answer, added over its rows.
fn values(answer: &serde_json::Value) -> Result<Values> {
    let mut found = Values::new();
    for row in answer["rows"].as_array().context("the answer has no rows")? {
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        *found.entry((text("device"), text("name"))).or_default() +=
            row["value"].as_f64().unwrap_or(f64::NAN);
    }
    Ok(found)
}
