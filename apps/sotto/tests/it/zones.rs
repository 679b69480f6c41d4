//! Time zones: a tick belongs to the hour and the day that its instant is in, in the zone that `sotto.toml` has now.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::session::{self, send_text, sotto};

/// The readings of one tick.
#[derive(Clone, Copy)]
struct Tick {
    /// The time of the readings, at the tick or less than a period later.
    at: Timestamp,
    heat: f64,
    flow: f64,
}

/// A plant that has sent readings while its zone was `zone`.
struct Plant {
    outside: tempfile::TempDir,
    /// Their zone.
    zone: TimeZone,
    /// Minutes between them.
    minutes: i64,
    ticks: Vec<Tick>,
    _cloud: Runtime,
}

const QUESTION: &str = "mean(heat), stddev(heat), covariance(heat, flow), max(heat), count(heat > 5), weighted_sum(heat, [1, 3])";

impl Plant {
    fn new(zone: &str, first: &str, minutes: i64, days: i64) -> Self {
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path();
        let run = |arguments: &[&str]| sotto(folder, arguments).unwrap();
        run(&["init", "plant", "--time-zone", zone]);
        let every = format!("{minutes}m");
        for name in ["heat", "flow"] {
            let channel = ["channel", "add", name, "--unit", "kW", "--range", "0..10", "--resolution", "0.1"];
            run(&[&channel[..], &["--every", &every]].concat());
        }
        run(&["question", "add", "daily", &format!("{QUESTION} by day")]);
        let cloud = session::serve(folder);
        run(&["device", "add", "boiler", "--channels", "heat,flow"]);
        let begin: Timestamp = first.parse().unwrap();
        let ticks: Vec<Tick> = (0..days * 24 * 60 / minutes).map(|n| tick(begin, n, minutes)).collect();
        let mut text = "time,heat,flow\n".to_owned();
        ticks.iter().for_each(|Tick { at, heat, flow }| writeln!(text, "{at},{heat:.1},{flow:.1}").unwrap());
        send_text(folder, "boiler.bundle", &text);
        Self { outside, zone: TimeZone::get(zone).unwrap(), minutes, ticks, _cloud: cloud }
    }

    fn correct(&self, from: &str, to: &str) {
        let file = self.outside.path().join("plant/sotto.toml");
        let text = fs::read_to_string(&file).unwrap();
        let corrected = text.replace(&format!("time_zone = \"{from}\""), &format!("time_zone = \"{to}\""));
        assert_ne!(text, corrected);
        fs::write(&file, corrected).unwrap();
    }

    fn ask(&self, arguments: &[&str]) -> Value {
        let said = sotto(self.outside.path(), &[&["ask", "--json"], arguments].concat()).unwrap();
        serde_json::from_str(&said).unwrap()
    }

    /// Returns the values of each result by the start of its group, the first characters and the offset of its text.
    fn by(&self, question: &str, digits: usize) -> BTreeMap<String, Vec<f64>> {
        let answer = self.ask(&[question]);
        let mut rows: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for row in answer["rows"].as_array().unwrap() {
            let (from, count) = (row["from"].as_str().unwrap(), row["count"].as_u64().unwrap());
            if count > 0 {
                let key = from[..digits].to_owned() + &from[19..];
                rows.entry(key).or_default().push(row["value"].as_f64().unwrap());
            }
        }
        assert!(
            answer["notes"].as_array().unwrap().iter().all(|note| !note.to_string().contains("left out"))
        );
        rows
    }

    fn in_groups(&self, zone: &str, form: &str) -> BTreeMap<String, Vec<Tick>> {
        let zone = TimeZone::get(zone).unwrap();
        let mut groups: BTreeMap<String, Vec<Tick>> = BTreeMap::new();
        let midnight_of =
            |tick: &Tick| tick.at.to_zoned(self.zone.clone()).start_of_day().unwrap().timestamp();
        let first = &self.ticks[0];
        let phase = (first.at.as_second() - midnight_of(first).as_second()) / 60 % self.minutes;
        for tick in &self.ticks {
            // The device counts ticks from its midnight, or from where its sensor reports. Of a period that does not divide
            // the day they go on through midnight, and the sensor reports at each.
            let midnight = midnight_of(tick);
            let since = (tick.at.as_second() - midnight.as_second()) / 60;
            let since = (since - phase).div_euclid(self.minutes) * self.minutes + phase;
            let instant = if 1440 % self.minutes == 0 { midnight + since.minutes() } else { tick.at };
            let local = instant.to_zoned(zone.clone());
            let start = local.start_of_day().unwrap();
            let key = if form == "%Y-%m-%d" { start.strftime("%Y-%m-%d%:z") } else { local.strftime(form) };
            groups.entry(key.to_string()).or_default().push(*tick);
        }
        groups
    }

    /// Compares the answers by day and by hour with those of the readings.
    fn is_right(&self, zone: &str) {
        let (days, expected) = (self.by(&format!("{QUESTION} by day"), 10), self.in_groups(zone, "%Y-%m-%d"));
        assert_eq!(days.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{zone}");
        for (day, ticks) in &expected {
            let [mean, deviation, covariance, max, above, weighted] = days[day][..] else { panic!("{day}") };
            let all = moments(ticks);
            assert!((mean - all[0]).abs() < 1e-6, "{zone} {day}: mean {mean}, not {}", all[0]);
            assert!((deviation - all[1]).abs() < 1e-6, "{zone} {day}: stddev {deviation}, not {}", all[1]);
            assert!((covariance - all[2]).abs() < 1e-6, "{zone} {day}: {covariance}, not {}", all[2]);
            // Within the width of a bin.
            assert!((max - all[3]).abs() < 0.35, "{zone} {day}: max {max}, not {}", all[3]);
            assert!((above - all[4]).abs() < 1e-9, "{zone} {day}: {above} above, not {}", all[4]);
            if let Some(expected) = weights(ticks, zone, self.minutes) {
                assert!(
                    (weighted - expected).abs() < 1e-3 * expected,
                    "{zone} {day}: {weighted}, not {expected}"
                );
            }
        }
        let (hours, expected) =
            (self.by("mean(heat), max(heat) by hour", 13), self.in_groups(zone, "%Y-%m-%dT%H%:z"));
        assert_eq!(hours.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{zone}");
        for (hour, ticks) in &expected {
            let all = moments(ticks);
            assert!(
                (hours[hour][0] - all[0]).abs() < 1e-6,
                "{zone} {hour}: {:?}, not {}",
                hours[hour],
                all[0]
            );
            assert!(
                (hours[hour][1] - all[3]).abs() < 0.35,
                "{zone} {hour}: {:?}, not {}",
                hours[hour],
                all[3]
            );
        }
    }
}

fn tick(begin: Timestamp, n: i64, minutes: i64) -> Tick {
    let at = begin + (n * minutes).minutes();
    let (heat, flow) = ((n * 37 % 100) as f64 / 10.0, (n * n % 97) as f64 / 10.0);
    Tick { at, heat, flow }
}

/// Returns the mean, the standard deviation, the covariance, the largest value and the count above 5.
fn moments(ticks: &[Tick]) -> [f64; 5] {
    let n = ticks.len() as f64;
    let mean = |of: fn(&Tick) -> f64| ticks.iter().map(of).sum::<f64>() / n;
    let (heat, flow) = (mean(|tick| tick.heat), mean(|tick| tick.flow));
    let squares = ticks.iter().map(|tick| (tick.heat - heat).powi(2)).sum::<f64>() / n;
    let products = ticks.iter().map(|tick| (tick.heat - heat) * (tick.flow - flow)).sum::<f64>() / n;
    let max = ticks.iter().map(|tick| tick.heat).fold(f64::MIN, f64::max);
    [heat, squares.sqrt(), products, max, ticks.iter().filter(|tick| tick.heat > 5.0).count() as f64]
}

/// Returns the sum with the weights 1 and 3 of the halves of a day, spread over its ticks; None on days that lack a
/// tick, or whose halves have different numbers of them.
fn weights(ticks: &[Tick], zone: &str, minutes: i64) -> Option<f64> {
    let local = ticks[0].at.to_zoned(TimeZone::get(zone).unwrap());
    let (start, next) = (local.start_of_day().unwrap(), local.tomorrow().unwrap().start_of_day().unwrap());
    let length = (next.timestamp().as_second() - start.timestamp().as_second()) / 60;
    if length % (2 * minutes) != 0 || ticks.len() as i64 * minutes != length {
        return None;
    }
    let half = length / minutes / 2;
    let at = |tick: &Tick| (tick.at.as_second() - start.timestamp().as_second()) / 60 / minutes;
    Some(ticks.iter().map(|tick| tick.heat * if at(tick) < half { 1.0 } else { 3.0 } / half as f64).sum())
}

#[test]
fn a_corrected_zone_moves_every_tick_to_its_day_and_hour() {
    let plant = Plant::new("UTC", "2024-01-01T00:00:00Z", 60, 5);
    plant.is_right("UTC");
    let mut from = "UTC";
    for to in ["Asia/Kolkata", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "UTC"] {
        plant.correct(from, to);
        plant.is_right(to);
        from = to;
    }
}

#[test]
fn no_zone_is_refused_because_a_period_does_not_divide_the_hour() {
    for (zone, first, minutes) in [
        // Clocks go back by half an hour on April 7.
        ("Australia/Lord_Howe", "2024-04-05T13:00:00Z", 60),
        ("Australia/Lord_Howe", "2024-04-05T13:00:00Z", 7),
        ("Asia/Kolkata", "2024-01-01T18:30:00Z", 7),
        ("Europe/Vienna", "2024-03-29T23:00:00Z", 25),
    ] {
        let plant = Plant::new(zone, first, minutes, 3);
        plant.is_right(zone);
        plant.correct(zone, "UTC");
        plant.is_right("UTC");
        if 1440 % minutes != 0 {
            // A day has a tick more or less than another one, and none is missing.
            for by in ["day", "hour"] {
                let answer = plant.ask(&[&format!("mean(heat) by {by}")]);
                let rows = answer["rows"].as_array().unwrap();
                assert!(
                    rows.iter().all(|row| row["missing"] == 0),
                    "every {minutes} min in {zone}: {answer}"
                );
            }
        }
    }
}

#[test]
fn a_time_inside_of_windows_cuts_them_by_tick() {
    let plant = Plant::new("UTC", "2024-01-01T00:00:00Z", 60, 4);
    let (since, until) = ("2024-01-01T05:00", "2024-01-03T17:00");
    let answer = plant.ask(&[QUESTION, "--since", since, "--until", until]);
    let bounds = [since, until].map(|text| format!("{text}:00Z").parse::<Timestamp>().unwrap());
    let ticks: Vec<Tick> =
        plant.ticks.iter().filter(|t| t.at >= bounds[0] && t.at < bounds[1]).copied().collect();
    let value = |row: usize| answer["rows"][row]["value"].as_f64().unwrap();
    let expected = moments(&ticks);
    for (row, expected) in expected.iter().enumerate() {
        let within = if row == 3 { 0.35 } else { 1e-6 };
        assert!((value(row) - expected).abs() < within, "row {row}: {}, not {expected}", value(row));
    }
    assert_eq!(answer["rows"][0]["count"], 60);
    assert_eq!(answer["rows"][0]["missing"], 0);
}

/// Ticks are where the sensor reports, so that no midnight cuts one.
#[test]
fn readings_between_whole_hours_are_in_their_day() {
    let plant = Plant::new("UTC", "2024-01-01T00:30:00Z", 60, 3);
    plant.is_right("UTC");
    for (from, to) in [("UTC", "Asia/Kolkata"), ("Asia/Kolkata", "America/New_York")] {
        plant.correct(from, to);
        plant.is_right(to);
        let notes = plant.ask(&["count(heat > 5), sum(heat) by day"])["notes"].to_string();
        assert!(!notes.contains("cuts the period"), "{notes}");
    }
}
