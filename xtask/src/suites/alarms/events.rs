//! The events of alarms, and their way to the sinks.

use super::super::ask::{Cases, Numbers, Site};
use super::server::{Request, taken, webhook};
use super::{BEGIN, MINUTE, file};
use anyhow::{Context as _, Result};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

/// The limit, and the limit at which the alarm ends.
const LIMIT: f64 = 80.0;
const CLEAR: f64 = 75.0;
const HOUR: i64 = 60 * MINUTE;

/// Makes a plant with one device, boiler, and the alarm hot.
fn site(cases: &Cases, condition: &str, more: &[&str]) -> Result<Site> {
    let mut site = Site::new(cases.sotto(), "UTC")?;
    let channel =
        ["channel", "add", "temperature", "--unit", "°C", "--range", "-20..120", "--resolution", "0.5"];
    site.sotto(&[&channel[..], &["--every", "5m"]].concat())?;
    site.sotto(&[&["alarm", "add", "hot", condition, "--since", "2026-05-04"], more].concat())?;
    site.sotto(&["device", "add", "boiler", "--channels", "temperature"])?;
    site.start_cloud()?;
    Ok(site)
}

fn send(site: &Site, hours: &[Option<f64>]) -> Result<()> {
    site.write("boiler.csv", file(hours))?;
    site.agent("boiler", &["--csv", "boiler.csv"]).map(drop)
}

/// Returns the events in the journal: kind and hour.
fn journal(site: &Site) -> Vec<(String, i64)> {
    let text = fs::read_to_string(site.folder().join("plant/alarms/alarms.jsonl")).unwrap_or_default();
    text.lines().filter_map(|line| event(&serde_json::from_str(line).ok()?)).collect()
}

fn event(of: &Value) -> Option<(String, i64)> {
    let from: jiff::Timestamp = of["from"].as_str()?.parse().ok()?;
    Some((of["event"].as_str()?.to_owned(), (from.as_millisecond() - BEGIN) / HOUR))
}

/// Returns the events that the rules ask for: raised after three windows with a reading above the limit, over after two
/// without one above the other limit.
fn expected(hours: &[Option<f64>]) -> Vec<(String, i64)> {
    let (mut events, mut active, mut run) = (Vec::new(), false, 0);
    for (hour, most) in (0..).zip(hours) {
        let counts = match most {
            None => false,
            Some(most) if active => *most <= CLEAR,
            Some(most) => *most > LIMIT,
        };
        run = if counts { run + 1 } else { 0 };
        if run == if active { 2 } else { 3 } {
            events.push((if active { "cleared" } else { "raised" }.to_owned(), hour));
            (active, run) = (!active, 0);
        }
    }
    events
}

fn differ(found: &[(String, i64)], expected: &[(String, i64)]) -> Vec<String> {
    (found != expected).then(|| format!("{found:?}, not {expected:?}")).into_iter().collect()
}

/// Returns random hours: the largest reading of each, in steps of half a degree.
fn random(seed: u64, count: usize) -> Vec<Option<f64>> {
    let (mut numbers, mut level) = (Numbers(seed), 78.0);
    let mut hour = || {
        level = (level + 12.0 * (numbers.next() - 0.5)).clamp(71.0, 87.0);
        (numbers.next() > 0.04).then(|| (2.0 * level).round() / 2.0)
    };
    (0..count).map(|_| hour()).collect()
}

/// An alarm on a polynomial: its limits lie between the values that readings give.
pub(super) fn on_a_polynomial(cases: &mut Cases) -> Result<()> {
    let hours = random(12, 60);
    let condition = "polynomial(temperature, [-10, 1]) > 70.25 for 3 windows";
    let site = site(cases, condition, &["--clear", "65.25", "--clear-after", "2"])?;
    for piece in [25, 60] {
        send(&site, &hours[..piece])?;
        site.sotto(&["watch", "--once"])?;
        let name = format!("a polynomial: the first {piece} hours");
        cases.case(&name, differ(&journal(&site), &expected(&hours[..piece])));
    }
    let told = site.sotto(&["alarm", "show", "hot"])?;
    let words = told.contains("values > 70.25");
    cases.case("a polynomial: values are told", (!words).then_some(told).into_iter().collect());
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}

/// Random hours, sent piece by piece: the journal, a hook and a webhook that fails at first all get the events.
pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let hours = random(11, 120);
    let (address, received) = webhook(1)?;
    let hook = "cat >> ../hook.jsonl; echo $SOTTO_ALARM_EVENT >> ../hook.txt";
    let more = ["--clear", "75", "--clear-after", "2", "--exec", hook, "--webhook", &address];
    let site = site(cases, "temperature > 80 for 3 windows", &more)?;
    let plan = site.sotto(&["plan"])?;
    let shown = plan.contains("alarm hot") && plan.contains("every hour");
    cases.case(
        "the plan shows the alarm, and windows of an hour",
        (!shown).then_some(plan).into_iter().collect(),
    );
    let none = site.sotto(&["watch", "--once"])?;
    cases.case(
        "nothing has arrived",
        (none.trim() != "1 alarm, 1 device: 0 new windows").then_some(none).into_iter().collect(),
    );
    for piece in [30, 31, 60, 90, 120] {
        send(&site, &hours[..piece])?;
        site.sotto(&["watch", "--once"])?;
        // The newest hour is sent whole here, as the file ends with it.
        cases.case(&format!("the first {piece} hours"), differ(&journal(&site), &expected(&hours[..piece])));
    }
    let again = site.sotto(&["watch", "--once"])?;
    let asked = !again.contains(": 0 new windows");
    cases.case("no window is asked for twice", asked.then_some(again).into_iter().collect());
    let all = expected(&hours);
    cases.case(
        "there is something to tell",
        (all.len() < 4).then(|| format!("{} events", all.len())).into_iter().collect(),
    );
    let hooked = fs::read_to_string(site.folder().join("hook.jsonl")).unwrap_or_default();
    let hooked: Vec<_> = hooked.lines().filter_map(|line| event(&serde_json::from_str(line).ok()?)).collect();
    cases.case("the hook got each event", differ(&hooked, &all));
    until_delivered(&site, all.len(), &|| taken(&received).len().saturating_sub(1))?;
    cases.case("the webhook got each event in order", delivered(&taken(&received)[1..], &all));
    let first = taken(&received);
    let same = first[0].header("idempotency-key") == first[1].header("idempotency-key");
    cases.case(
        "the second attempt has the first one's name",
        (!same).then(|| "another".to_owned()).into_iter().collect(),
    );
    let show = site.sotto(&["alarm", "show", "hot"])?;
    let state = if all.last().is_some_and(|(kind, _)| kind == "raised") {
        "boiler: ALARM since"
    } else {
        "boiler: quiet"
    };
    cases.case("`alarm show` tells the state", (!show.contains(state)).then_some(show).into_iter().collect());
    renewed(cases, &site, &hours, &all)?;
    site.sotto(&["alarm", "remove", "hot"])?;
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}

/// Sends everything again with a new bundle: windows that were looked at do not count again.
fn renewed(cases: &mut Cases, site: &Site, hours: &[Option<f64>], all: &[(String, i64)]) -> Result<()> {
    site.sotto(&["device", "renew", "boiler", "--bundle", "again.bundle"])?;
    fs::rename(site.folder().join("again.bundle"), site.folder().join("boiler.bundle"))?;
    send(site, hours)?;
    site.sotto(&["watch", "--once"])?;
    cases.case("a renewed bundle repeats no event", differ(&journal(site), all));
    Ok(())
}

/// Returns the faults of the requests of a webhook: each event once, in order.
fn delivered(requests: &[Request], all: &[(String, i64)]) -> Vec<String> {
    let found: Vec<_> = requests.iter().filter_map(|request| event(&request.json())).collect();
    let ids: BTreeSet<_> = requests.iter().filter_map(|request| request.header("idempotency-key")).collect();
    let mut faults = differ(&found, all);
    faults.extend((ids.len() != all.len()).then(|| format!("{} names of {} events", ids.len(), all.len())));
    faults
}

/// Runs rounds until `count` events were delivered.
pub(super) fn until_delivered(site: &Site, count: usize, delivered: &dyn Fn() -> usize) -> Result<()> {
    let begin = Instant::now();
    while delivered() < count && begin.elapsed() < Duration::from_secs(30) {
        site.sotto(&["watch", "--once"])?;
        thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}

/// A watch that is killed while its webhook is away: a later one delivers each event, and evaluates nothing again.
pub(super) fn restarts(cases: &mut Cases) -> Result<()> {
    let (address, received) = webhook(3)?;
    // It ends before the suite does.
    let hanging = "sleep 5";
    let more = ["--clear", "75", "--clear-after", "2", "--webhook", &address, "--exec", hanging];
    let site = site(cases, "max(temperature) > 80 for 3 windows", &more)?;
    let hours: Vec<Option<f64>> =
        [85.0, 85.5, 86.0, 70.0, 70.0, 81.0, 81.0, 81.0].into_iter().map(Some).collect();
    let all = expected(&hours);
    send(&site, &hours[..4])?;
    for signal in ["KILL", "KILL", "TERM"] {
        let mut watch = site.start_watch(&["--every", "1s"])?;
        thread::sleep(Duration::from_millis(2500));
        let ran = watch.end(signal)?;
        cases.case(
            &format!("a sink that hangs does not stop the watch (SIG{signal})"),
            if ran { Vec::new() } else { vec!["it ended".to_owned()] },
        );
    }
    let second = site.try_sotto(&["watch", "--once"])?;
    cases.case(
        "a lock of a killed watch does not stay",
        (!second.status.success()).then_some(second.stderr).into_iter().collect(),
    );
    let mut watch = site.start_watch(&["--every", "1s"])?;
    thread::sleep(Duration::from_millis(1500));
    let twice = site.try_sotto(&["watch", "--once"])?;
    let refused = !twice.status.success() && twice.stderr.contains("another `sotto watch`");
    cases.case(
        "two watches of one plant are refused",
        (!refused).then_some(twice.stderr).into_iter().collect(),
    );
    send(&site, &hours)?;
    let begin = Instant::now();
    let got = || taken(&received).iter().filter(|request| event(&request.json()).is_some()).count();
    while got() < all.len() + 3 && begin.elapsed() < Duration::from_secs(40) {
        thread::sleep(Duration::from_millis(100));
    }
    watch.end("TERM")?;
    cases.case("every event is in the journal once", differ(&journal(&site), &all));
    let requests = taken(&received);
    let accepted = requests.get(3..).context("three requests were refused")?;
    cases.case("the webhook gets each event once it answers", delivered(accepted, &all));
    thread::sleep(Duration::from_secs(6));
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}
