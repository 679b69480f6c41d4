//! Silences and missing windows, by the commands that an owner types.

use std::fmt::Write as _;
use std::fs;

use anyhow::Result;
use serde_json::Value;

use super::super::ask::{Cases, Site};
use super::{BEGIN, MINUTE};

const HOUR: i64 = 60 * MINUTE;
/// Five minutes.
const PERIOD: i64 = 5 * MINUTE;

fn time(hour: f64) -> String {
    let at = BEGIN + (hour * HOUR as f64) as i64;
    jiff::Timestamp::from_millisecond(at).unwrap_or_default().to_string()
}

/// Returns a file with a reading every five minutes in these hours; `humid` is missing in some of them.
pub(super) fn file(hours: &[i64], dry: &[i64]) -> String {
    let mut text = "time,temperature,humid\n".to_owned();
    for hour in hours {
        for at in (BEGIN + hour * HOUR..BEGIN + (hour + 1) * HOUR).step_by(PERIOD as usize) {
            let time = jiff::Timestamp::from_millisecond(at).unwrap_or_default();
            let humid = if dry.contains(hour) { "" } else { "50" };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{time},20,{humid}");
        }
    }
    text
}

pub(super) fn site(cases: &Cases, alarms: &[(&str, &str, &[&str])]) -> Result<Site> {
    let mut site = Site::new(cases.sotto(), "UTC")?;
    for name in ["temperature", "humid"] {
        let channel = ["channel", "add", name, "--range", "-20..120", "--resolution", "0.5", "--every", "5m"];
        site.sotto(&channel)?;
    }
    for (name, condition, more) in alarms {
        let add =
            ["alarm", "add", name, condition, "--since", "2026-05-04", "--exec", "cat >> ../told.jsonl"];
        site.sotto(&[&add[..], more].concat())?;
    }
    site.sotto(&["device", "add", "boiler", "--channels", "temperature,humid"])?;
    site.start_cloud()?;
    Ok(site)
}

pub(super) fn send(site: &Site, text: String) -> Result<()> {
    site.write("boiler.csv", text)?;
    site.agent("boiler", &["--csv", "boiler.csv"]).map(drop)
}

fn watch(site: &Site, hour: f64) -> Result<()> {
    site.sotto(&["watch", "--once", "--now", &time(hour)]).map(drop)
}

/// Returns the events of a file: alarm, kind, the hour of its beginning, and whether it mends another one or is muted.
pub(super) fn events(site: &Site, file: &str) -> Vec<String> {
    let text = fs::read_to_string(site.folder().join(file)).unwrap_or_default();
    let read = |line: &str| {
        let event: Value = serde_json::from_str(line).ok()?;
        let from: jiff::Timestamp = event["from"].as_str()?.parse().ok()?;
        let hour = (from.as_millisecond() - BEGIN) as f64 / HOUR as f64;
        let mends = if event["mends"].is_string() { " mends" } else { "" };
        let muted = if event["muted"] == true { " muted" } else { "" };
        Some(format!("{} {} {hour:.2}{mends}{muted}", event["alarm"].as_str()?, event["event"].as_str()?))
    };
    text.lines().filter_map(read).collect()
}

pub(super) fn differ(found: &[String], expected: &[&str]) -> Vec<String> {
    (found != expected).then(|| format!("{found:?}, not {expected:?}")).into_iter().collect()
}

/// A device that stops, one channel that stops, and readings that come late.
pub(super) fn run(cases: &mut Cases) -> Result<()> {
    // The alarm on a channel makes windows those of an hour: the one on the device could not be as short without it.
    let alarms: [(&str, &str, &[&str]); 3] = [
        ("dry", "humid silent for 3h", &[]),
        ("dead", "silent for 3h", &[]),
        ("gaps", "coverage(humid) < 0.5", &[]),
    ];
    let site = site(cases, &alarms)?;
    let journal = "plant/alarms/alarms.jsonl";
    send(&site, file(&[0, 1], &[]))?;
    // The last reading is that of 1:55.
    watch(&site, 4.9)?;
    cases.case("no silence before its time", differ(&events(&site, journal), &[]));
    watch(&site, 5.0)?;
    let both = ["dead raised 1.92", "dry raised 1.92"];
    cases.case("a device that sends nothing is silent", differ(&events(&site, journal), &both));
    watch(&site, 9.0)?;
    cases.case("a silence is told once", differ(&events(&site, journal), &both));
    // It kept the readings of two hours, and goes on; its other channel does not.
    send(&site, file(&[0, 1, 2, 3, 9, 10, 11], &[9, 10, 11]))?;
    watch(&site, 12.0)?;
    let mended = [
        "dead raised 3.92 mends",
        "dead cleared 9.00",
        "dry raised 3.92 mends",
        // The channel has no window after the fourth hour; the other one tells that the device was there until 11:55.
        "gaps raised 4.00",
    ];
    let all = [&both[..], &mended].concat();
    cases.case(
        "late readings mend a silence, and missing windows have no coverage",
        differ(&events(&site, journal), &all),
    );
    let shown = site.sotto(&["alarm", "show", "dead"])?;
    let says = shown.contains("quiet; last reading 2026-05-04 11:55")
        && shown.contains("nothing heard since 2026-05-04 03:55");
    cases.case("`alarm show` tells the last reading", (!says).then_some(shown).into_iter().collect());
    send(&site, file(&[12], &[]))?;
    watch(&site, 13.0)?;
    let all = [&all[..], &["dry cleared 12.00", "gaps cleared 12.00"]].concat();
    cases.case("both end with a reading", differ(&events(&site, journal), &all));
    cases.case("the command got the same", differ_in_any_order(&events(&site, "told.jsonl"), &all));
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}

fn differ_in_any_order(found: &[String], expected: &[&str]) -> Vec<String> {
    let (mut found, mut expected) = (found.to_vec(), expected.to_vec());
    found.sort();
    expected.sort_unstable();
    differ(&found, &expected)
}
