//! Spools that are lost, or put back from a copy, and readings that come late after that.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use sotto_agent::arguments::{Arguments, Command as AgentCommand};
use sotto_agent::bundle::Bundle;
use sotto_agent::commands::requeue;
use sotto_agent::position::{Learning, Positions};
use sotto_agent::spool::Inventory;
use sotto_agent::stop::Stop;
use sotto_agent::streams;
use sotto_agent::upload::{Cloud, Lookup};
use sotto_http::Trust;
use sotto_wire::HeadsRequest;

use super::Plant;
use crate::session::try_text;

const CHANNELS: [[&str; 5]; 2] = [["heat", "kW", "0..10", "0.1", "1h"], ["flow", "kW", "0..10", "0.1", "1h"]];
const HEAD: &str = "time,heat,flow\n";

/// Returns a value of an hour, in tenths.
fn tenths(hour: u32) -> u32 {
    (7 * hour) % 97
}

/// Returns rows with both channels at these hours since the beginning of 2024.
fn rows(hours: impl IntoIterator<Item = u32>) -> String {
    let row = |hour: u32| {
        let (day, of_day, tenths) = (1 + hour / 24, hour % 24, tenths(hour));
        format!("2024-01-{day:02}T{of_day:02}:00:00Z,{0}.{1},{0}.{1}\n", tenths / 10, tenths % 10)
    };
    hours.into_iter().map(row).collect()
}

fn plant() -> Plant {
    Plant::new("UTC", &CHANNELS, "sum(heat), sum(flow), variance(heat) by day")
}

impl Plant {
    fn spool(&self) -> PathBuf {
        self.outside.path().join("gw.spool")
    }

    /// Returns the address of the cloud.
    fn url(&self) -> String {
        let settings = fs::read_to_string(self.outside.path().join("plant/sotto.toml")).unwrap();
        settings.lines().find_map(|line| line.strip_prefix("url = ")).unwrap().trim_matches('"').to_owned()
    }

    /// Sends a file. Returns the message with which the agent ends, if it is not done.
    fn try_send(&self, text: &str) -> Result<(), String> {
        try_text(self.outside.path(), "gw.bundle", text).map_err(|error| error.to_string())
    }

    /// Runs `sotto-agent requeue`.
    fn requeue(&self) -> Result<String, String> {
        let (bundle, url) = (self.outside.path().join("gw.bundle"), self.url());
        let words = ["sotto-agent", "requeue", "--bundle", bundle.to_str().unwrap(), "--cloud", &url];
        let AgentCommand::Requeue(arguments) = Arguments::read(words).unwrap().command else {
            panic!("requeue")
        };
        requeue::run(&arguments, &Stop::default()).map_err(|error| error.to_string())
    }

    /// Checks the numbers of readings and the sums of each day of a channel, and that no reading counts twice.
    fn has(&self, channel: &str, days: &[&[u32]]) {
        let counts: Vec<u64> =
            self.rows(&format!("count({channel}) by day")).iter().map(|(_, count, _)| *count).collect();
        assert_eq!(counts, days.iter().map(|hours| hours.len() as u64).collect::<Vec<_>>(), "{channel}");
        let sums = self.rows(&format!("sum({channel}) by day"));
        for ((sum, ..), hours) in sums.iter().zip(days) {
            let right = f64::from(hours.iter().map(|hour| tenths(*hour)).sum::<u32>()) / 10.0;
            assert!((sum - right).abs() < 1e-6, "{channel}: {sum}, not {right}");
        }
        // A number that a refused window had may be missing.
        let answer = self.ask(&format!("sum({channel}) by day"));
        let notes = answer["notes"].as_array().into_iter().flatten().map(ToString::to_string);
        let twice: Vec<String> = notes.filter(|note| note.contains("that another window has")).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }

    fn refused(&self) -> u64 {
        Inventory::read(&self.spool()).unwrap().refused
    }
}

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64
}

fn copy_folder(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// The agent gets the ticks that it has sent from its own heads: late readings are taken, sent ones are not sent again.
#[test]
fn late_readings_are_taken_after_a_lost_spool() {
    let plant = plant();
    let (gaps, all) = ([3, 7, 8, 30], 0..60);
    let first: Vec<u32> = all.clone().filter(|hour| !gaps.contains(hour)).collect();
    plant.send(&format!("{HEAD}{}", rows(first.clone())));
    // A supplement is the last window; of its hour, one channel has a reading.
    plant.send(&format!("{HEAD}2024-01-01T07:00:00Z,4.9,\n"));
    for _ in 0..2 {
        fs::remove_dir_all(plant.spool()).unwrap();
        plant.send(&format!("{HEAD}{}", rows(first.clone())));
        let day = |day: u32, but: &[u32]| -> Vec<u32> {
            (24 * day..24 * day + 24).filter(|hour| *hour < 60 && !but.contains(hour)).collect()
        };
        plant.has("heat", &[&day(0, &[3, 8]), &day(1, &[30]), &day(2, &[])]);
        plant.has("flow", &[&day(0, &[3, 7, 8]), &day(1, &[30]), &day(2, &[])]);
    }
    // Lost again: the same file, then rows for the gaps, oldest last.
    fs::remove_dir_all(plant.spool()).unwrap();
    plant.send(&format!("{HEAD}{}{}", rows(first), rows([30, 8, 7, 3])));
    plant.send(&format!("{HEAD}{}", rows(all)));
    let days: [Vec<u32>; 3] =
        [0, 1, 2].map(|day| (24 * day..24 * day + 24).filter(|hour| *hour < 60).collect());
    let days = days.each_ref().map(Vec::as_slice);
    plant.has("heat", &days);
    plant.has("flow", &days);
    assert_eq!(plant.refused(), 0);
}

/// What an old copy of the spool sends again is refused and put aside; what the cloud lacks is sent; nothing counts twice.
#[test]
fn an_old_copy_of_a_spool_comes_right() {
    // The hours that the cloud has and the copy does not know. The copy's next numbers are used; then windows with free
    // numbers have ticks of others, too.
    let known: [Vec<u32>; 2] = [
        (20..70).filter(|hour| ![30, 50].contains(hour)).collect(),
        (48..70).filter(|hour| *hour != 50).collect(),
    ];
    for (known, ticks) in known.into_iter().zip([false, true]) {
        let plant = plant();
        let copy = plant.outside.path().join("copy");
        plant.send(&format!("{HEAD}{}", rows(0..20)));
        copy_folder(&plant.spool(), &copy);
        plant.send(&format!("{HEAD}{}", rows(known)));
        copy_folder(&copy, &plant.spool());

        let file = format!("{HEAD}{}", rows((0..100).filter(|hour| *hour != 50)));
        let told = plant.try_send(&file).unwrap_err();
        assert!(told.contains("sotto-agent requeue"), "{told}");
        assert_eq!(told.contains("run the agent on the same source again"), ticks, "{told}");
        let refused = plant.refused();
        assert!(refused > 0);
        // The next run asks for the cloud's windows first: it sends what they lack, and nothing more is refused.
        plant.try_send(&file).unwrap_err();
        assert_eq!(plant.refused(), refused);
        // The messages put aside are superfluous now, or hold only readings that the cloud lacks.
        let told = plant.requeue().unwrap();
        assert!(told.contains("deleted, as windows in the cloud have all of"), "{told}");
        assert_eq!(plant.refused(), 0);
        plant.send(&format!("{HEAD}{}", rows(0..100)));
        let days: Vec<Vec<u32>> = (0..5).map(|day| (24 * day..(24 * day + 24).min(100)).collect()).collect();
        let days: Vec<&[u32]> = days.iter().map(Vec::as_slice).collect();
        plant.has("heat", &days);
        plant.has("flow", &days);
    }
}

/// Measures the way back of a year of readings every 5 minutes in windows of an hour:
/// `cargo test --release -p sotto --test it late::lost::a_year -- --ignored --nocapture`.
#[test]
#[ignore = "takes a minute"]
fn a_year_of_hours_comes_back() {
    let channels = [["heat", "kW", "0..10", "0.1", "5m"]];
    let plant = Plant::new("UTC", &channels, "mean(heat) by hour");
    let start = i64::from(19_723_u32) * 86_400;
    let row = |at: i64| format!("{},{}.{}\n", start + 300 * at, at % 10, at % 7);
    // Every hundredth reading comes late.
    let (mut first, mut late) = ("time,heat\n".to_owned(), "time,heat\n".to_owned());
    (0..105_120).for_each(|at| if at % 100 == 99 { late += &row(at) } else { first += &row(at) });
    plant.send(&first);
    let bundle = Bundle::read(&plant.outside.path().join("gw.bundle")).unwrap();
    let cloud = Cloud::new(&plant.url(), Trust::default()).unwrap();
    let (stream, cuts) = (&bundle.profile.streams[0].stream, streams::cuts(&bundle.profile).unwrap());
    let (mut from, mut bytes, mut heads, mut pages) = (0, 0, 0, 0);
    let begin = Instant::now();
    loop {
        let sign = |message: &[u8]| bundle.identity.sign(message);
        let asked = HeadsRequest::sign("gw", stream, from, now(), sign).unwrap().write().unwrap();
        let Lookup::Known(page) = cloud.heads(&asked) else { panic!("an answer") };
        from = page.heads.last().map_or(from, |last| last.header().sequence + 1);
        (bytes, heads, pages) = (bytes + page.write().len(), heads + page.heads.len(), pages + 1);
        if !page.more {
            break;
        }
    }
    println!("{heads} heads in {pages} pages: {bytes} bytes, {:.2} s", begin.elapsed().as_secs_f64());
    let positions =
        Positions { device: "gw", identity: &bundle.identity, cloud: &cloud, cuts: &cuts, owner: None };
    let begin = Instant::now();
    let learnt = positions.learn(stream, &mut Learning::default()).unwrap();
    println!("asked, verified and merged: {:.2} s", begin.elapsed().as_secs_f64());
    assert_eq!(learnt.sent.channels["heat"].iter().count(), 1_052);
    fs::remove_dir_all(plant.spool()).unwrap();
    let begin = Instant::now();
    plant.send(&first);
    println!("a run of the same file without a spool: {:.2} s", begin.elapsed().as_secs_f64());
    plant.send(&late);
    assert_eq!(plant.rows("count(heat)"), [(105_120.0, 105_120, 0)]);
    plant.has_no_notes("mean(heat) by month");
}
