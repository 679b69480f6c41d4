//! Mutes and acknowledgements, by the commands that an owner types.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::Value;

use super::super::ask::{Cases, Site};
use super::silence::{differ, events, file, send, site};

const JOURNAL: &str = "plant/alarms/alarms.jsonl";
const TOLD: &str = "told.jsonl";

/// Time after which something does not happen any more.
const LONGEST: Duration = Duration::from_secs(120);

/// Waits until something is so.
fn until(what: &str, is_so: &dyn Fn() -> bool) -> Result<()> {
    let begin = Instant::now();
    while !is_so() {
        ensure!(begin.elapsed() < LONGEST, "{what}: not within {LONGEST:?}");
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// Returns the kinds of the events of a file.
fn kinds(site: &Site, file: &str) -> Vec<String> {
    let kind = |event: String| event.split(' ').nth(1).unwrap_or_default().to_owned();
    events(site, file).into_iter().map(kind).collect()
}

fn count(site: &Site, kind: &str) -> usize {
    kinds(site, JOURNAL).iter().filter(|found| *found == kind).count()
}

/// Returns the number of rounds that ended after a time in milliseconds since 1970.
fn rounds_after(site: &Site, time: i64) -> usize {
    let text = fs::read_to_string(site.folder().join("watch.log")).unwrap_or_default();
    let ended = |line: &str| serde_json::from_str::<Value>(line).ok()?["round"].as_i64();
    text.lines().filter_map(ended).filter(|at| *at > time).count()
}

/// Waits for rounds that begin after now.
fn rounds(site: &Site, number: usize) -> Result<()> {
    let now = jiff::Timestamp::now().as_millisecond();
    // One may have begun before.
    until("rounds", &|| rounds_after(site, now) > number)
}

fn refused(site: &Site, args: &[&str], says: &str) -> Result<Vec<String>> {
    let done = site.try_sotto(args)?;
    let is_right = !done.status.success() && done.stderr.contains(says);
    Ok((!is_right).then_some(done.stderr).into_iter().collect())
}

/// Mutes and acknowledgements beside a `sotto watch` that runs, and is killed.
pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let site = site(cases, &[("dead", "temperature silent for 3h", &["--repeat", "1s"])])?;
    cases.case("nothing lasts yet", refused(&site, &["alarm", "ack", "dead"], "nothing to acknowledge")?);
    cases.case("nothing is muted yet", refused(&site, &["alarm", "unmute", "dead"], "no command has muted")?);
    let past = ["alarm", "mute", "dead", "--until", "2026-05-04"];
    cases.case("a mute ends in the future", refused(&site, &past, "which is over")?);
    cases.case("a mute has an end", refused(&site, &["alarm", "mute", "dead"], "--for")?);
    send(&site, file(&[0, 1], &[]))?;
    site.sotto(&["alarm", "mute", "dead", "--for", "1d", "--reason", "maintenance"])?;
    let watch = ["--every", "1s", "--json"];
    let mut running = site.start_watch(&watch)?;
    until("raised", &|| count(&site, "raised") > 0)?;
    rounds(&site, 2)?;
    cases.case("muted: in the log", differ(&kinds(&site, JOURNAL), &["muted", "raised"]));
    cases.case("muted: no sink gets it", differ(&kinds(&site, TOLD), &[]));
    let lived = running.end("KILL")?;
    cases.case("the watch ran", (!lived).then(|| "it had ended".to_owned()).into_iter().collect());
    let shown = site.sotto(&["alarm", "show", "dead"])?;
    let says = shown.contains("muted until")
        && shown.contains(": maintenance (sotto alarm mute --for 1d)")
        && shown.contains("[muted]");
    cases.case("`alarm show` tells the mute", (!says).then_some(shown).into_iter().collect());
    let mut running = site.start_watch(&watch)?;
    rounds(&site, 1)?;
    site.sotto(&["alarm", "unmute", "dead", "--reason", "done"])?;
    until("told again", &|| kinds(&site, TOLD).len() >= 3)?;
    let told = kinds(&site, TOLD);
    let other = told.iter().any(|kind| kind != "still");
    cases.case(
        "after the mute it is told, again and again",
        other.then(|| format!("{told:?}")).into_iter().collect(),
    );
    site.sotto(&["alarm", "ack", "dead", "--device", "boiler", "--reason", "battery ordered"])?;
    rounds(&site, 1)?;
    let before = count(&site, "still");
    rounds(&site, 3)?;
    let after = count(&site, "still");
    cases.case(
        "acknowledged: not told again",
        (before != after).then(|| format!("{before}, {after}")).into_iter().collect(),
    );
    until("all told", &|| kinds(&site, TOLD).len() >= after)?;
    let told = kinds(&site, TOLD);
    cases.case(
        "each reminder reached the command once",
        (told.len() != after).then(|| format!("{told:?}, not {after}")).into_iter().collect(),
    );
    let lived = running.end("KILL")?;
    cases.case("the watch ran until then", (!lived).then(|| "it had ended".to_owned()).into_iter().collect());
    let log = fs::read_to_string(site.folder().join(JOURNAL))?;
    let says = log.contains("sotto alarm ack")
        && log.contains("battery ordered")
        && log.contains("sotto alarm mute --for 1d");
    cases.case("the log has the commands", (!says).then_some(log).into_iter().collect());
    let shown = site.sotto(&["alarm", "show", "dead"])?;
    cases.case(
        "`alarm show` tells it",
        (!shown.contains("; acknowledged")).then_some(shown).into_iter().collect(),
    );
    cases.case("nothing is left behind", site.close()?);
    waiting(cases)
}

/// An event that waits for its sink when the alarm is muted.
fn waiting(cases: &mut Cases) -> Result<()> {
    let site = site(cases, &[("dead", "temperature silent for 3h", &[])])?;
    send(&site, file(&[0, 1], &[]))?;
    // The command cannot write into a folder.
    fs::create_dir(site.folder().join(TOLD))?;
    let first = site.try_sotto(&["watch", "--once"])?;
    let failed = first.stderr.contains("exec failed");
    cases.case("the sink is away", (!failed).then_some(first.stderr).into_iter().collect());
    site.sotto(&["alarm", "mute", "dead", "--for", "1d"])?;
    fs::remove_dir(site.folder().join(TOLD))?;
    let is_held = || {
        let round = site.try_sotto(&["watch", "--once"]).is_ok();
        let outbox = fs::read_to_string(site.folder().join("plant/alarms/outbox.json")).unwrap_or_default();
        round && outbox.contains("\"muted\": true")
    };
    until("the event waits for the end of the mute", &is_held)?;
    cases.case("what waits is not told during a mute", differ(&kinds(&site, TOLD), &[]));
    site.sotto(&["alarm", "unmute", "dead"])?;
    site.sotto(&["watch", "--once"])?;
    cases.case("it is told after the mute", differ(&kinds(&site, TOLD), &["raised", "still"]));
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}
