//! Groups of every length, groups that recur and conditions on the time, beside a plain computation on the readings.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _, Zoned};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::session::{self, send_text, sotto};

/// A plant that has sent readings every 15 minutes.
struct Plant {
    outside: tempfile::TempDir,
    zone: TimeZone,
    /// Times of the readings with tenths of kW.
    readings: Vec<(Timestamp, i64)>,
    _cloud: Runtime,
}

/// The results of a group: the number of readings, their mean and maximum, those above 5, and the changes.
type Told = [f64; 5];

const ASKED: &str = "count(heat), mean(heat), max(heat), count(heat > 5), changes(heat)";

impl Plant {
    fn new(zone: &str, first: &str, days: i64) -> Self {
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path();
        let run = |arguments: &[&str]| sotto(folder, arguments).unwrap();
        run(&["init", "plant", "--time-zone", zone]);
        let channel = ["channel", "add", "heat", "--unit", "kW", "--range", "0..10", "--resolution", "0.1"];
        run(&[&channel[..], &["--every", "15m"]].concat());
        run(&["question", "add", "daily", &format!("{ASKED} by day")]);
        let cloud = session::serve(folder);
        run(&["device", "add", "boiler", "--channels", "heat"]);
        let begin: Timestamp = first.parse().unwrap();
        let tenths = |n: i64| (n * 37 + n / 5 * 11) % 101 / (1 + n % 2);
        let readings: Vec<(Timestamp, i64)> =
            (0..days * 96).map(|n| (begin + (15 * n).minutes(), tenths(n))).collect();
        let mut text = "time,heat\n".to_owned();
        for (at, tenths) in &readings {
            writeln!(text, "{at},{}.{}", tenths / 10, tenths % 10).unwrap();
        }
        send_text(folder, "boiler.bundle", &text);
        Self { outside, zone: TimeZone::get(zone).unwrap(), readings, _cloud: cloud }
    }

    fn answer(&self, question: &str) -> Value {
        // An answer without a reading has an exit code of its own.
        let (_, said) = session::output(self.outside.path(), &["ask", "--json", question]);
        serde_json::from_str(&said).unwrap()
    }

    /// Returns the values of each group with readings and their bounds, by its key.
    fn asked(&self, clauses: &str) -> BTreeMap<String, Vec<[f64; 2]>> {
        let answer = self.answer(&format!("{ASKED} {clauses}"));
        let mut rows: BTreeMap<String, Vec<[f64; 2]>> = BTreeMap::new();
        for row in answer["rows"].as_array().unwrap() {
            let key = match &row["recurs"] {
                Value::Null => row["from"].as_str().unwrap().to_owned(),
                recurs => recurs.to_string(),
            };
            if row["count"] != 0 {
                assert_eq!(row["missing"], 0, "{clauses} {key}");
                let told = ["value", "bound"].map(|told| row[told].as_f64().unwrap());
                rows.entry(key).or_default().push(told);
            }
        }
        rows
    }

    /// Returns the same from the readings: `key` names the group of a local time; None if it does not count.
    fn plain(&self, key: impl Fn(&Zoned) -> Option<String>) -> BTreeMap<String, Told> {
        let mut groups: BTreeMap<String, Told> = BTreeMap::new();
        let mut before = None;
        for (at, tenths) in &self.readings {
            let changed = before.replace(*tenths).is_some_and(|before| before != *tenths);
            let Some(key) = key(&at.to_zoned(self.zone.clone())) else { continue };
            let [count, mean, max, above, changes] = groups.entry(key).or_default();
            let value = *tenths as f64 / 10.0;
            *count += 1.0;
            *mean += (value - *mean) / *count;
            *max = max.max(value);
            *above += f64::from(u8::from(value > 5.0));
            *changes += f64::from(u8::from(changed));
        }
        groups
    }

    fn same(&self, clauses: &str, key: impl Fn(&Zoned) -> Option<String>) {
        let (asked, plain) = (self.asked(clauses), self.plain(key));
        assert_eq!(asked.keys().collect::<Vec<_>>(), plain.keys().collect::<Vec<_>>(), "{clauses}");
        for (key, expected) in &plain {
            let found = &asked[key];
            let near =
                |([value, bound], expected): (&[f64; 2], &f64)| (value - expected).abs() <= bound + 1e-6;
            let near = found.len() == 5 && found.iter().zip(expected).all(near);
            assert!(near, "{clauses} {key}: {found:?}, not {expected:?}");
            // Readings are whole multiples; a change from one window to the next may be in doubt.
            assert!(found[..4].iter().all(|[_, bound]| *bound < 1e-6), "{clauses} {key}: {found:?}");
        }
    }
}

fn written(local: &Zoned) -> Option<String> {
    Some(local.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string())
}

/// Returns the time at which a part of an hour begins.
fn part(local: &Zoned, minutes: i64) -> Option<String> {
    let since = i64::from(local.minute()) % minutes;
    written(&(local - since.minutes()))
}

/// Returns the time at which clocks first show a date and an hour.
fn begins(local: &Zoned, date: jiff::civil::Date, hour: i8) -> Option<String> {
    written(&date.at(hour, 0, 0, 0).to_zoned(local.time_zone().clone()).unwrap())
}

fn day(local: &Zoned) -> String {
    local.strftime("%a").to_string().to_lowercase()
}

fn all_groups(plant: &Plant) {
    plant.same("by 15m", |local| part(local, 15));
    plant.same("by 30m", |local| part(local, 30));
    plant.same("by 6h", |local| begins(local, local.date(), local.hour() / 6 * 6));
    plant.same("by quarter", |local| {
        let date = local.date();
        begins(local, jiff::civil::date(date.year(), (date.month() - 1) / 3 * 3 + 1, 1), 0)
    });
    plant.same("by year", |local| begins(local, local.date().first_of_year(), 0));
    plant.same("by month from 28", |local| {
        let date = local.date();
        let month = if date.day() < 28 { date.checked_sub(1.month()).unwrap() } else { date };
        begins(local, jiff::civil::date(month.year(), month.month(), 28), 0)
    });
    plant.same("by hour of day", |local| Some(format!("{{\"hour_of_day\":{}}}", local.hour())));
    plant.same("by weekday", |local| Some(format!("{{\"weekday\":\"{}\"}}", day(local))));
    plant.same("by weekday and hour of day", |local| {
        Some(format!("{{\"hour_of_day\":{},\"weekday\":\"{}\"}}", local.hour(), day(local)))
    });
    plant.same("by month of year", |local| Some(format!("{{\"month_of_year\":{}}}", local.month())));
}

fn all_conditions(plant: &Plant) {
    let night = |local: &Zoned| local.hour() >= 22 || local.hour() < 6;
    let weekend = |local: &Zoned| matches!(day(local).as_str(), "sat" | "sun");
    plant.same("by day where time 22:00-06:00", |local| {
        begins(local, local.date(), 0).filter(|_| night(local))
    });
    plant.same("by 30m where weekday in (sat, sun) and time 01:30-03:15", |local| {
        let minute = 60 * i32::from(local.hour()) + i32::from(local.minute());
        part(local, 30).filter(|_| weekend(local) && (90..195).contains(&minute))
    });
    plant.same("by weekday where month in (3, 10) and time 06:00-22:00", |local| {
        let counts = matches!(local.month(), 3 | 10) && !night(local);
        counts.then(|| format!("{{\"weekday\":\"{}\"}}", day(local)))
    });
    let holidays = |local: &Zoned| matches!(local.day(), 1 | 3 | 30 | 31);
    let days = "# shut\n2014-03-30..2014-04-01\n2014-11-01..2014-11-01\n2014-04-03 # a visit\n2014-11-03\n2014-10-30..2014-10-31\n";
    std::fs::write(plant.outside.path().join("plant/holidays.txt"), days).unwrap();
    plant.same("by 6h where date in holidays.txt", |local| {
        begins(local, local.date(), local.hour() / 6 * 6).filter(|_| holidays(local))
    });
    plant.same("by day where date not in holidays.txt and time 22:00-06:00", |local| {
        begins(local, local.date(), 0).filter(|_| night(local) && !holidays(local))
    });
    let list = "(2014-03-30..2014-04-01, 2014-04-03, 2014-10-30, 2014-10-31, 2014-11-01, 2014-11-03)";
    plant.same(&format!("by hour of day where date in {list}"), |local| {
        Some(format!("{{\"hour_of_day\":{}}}", local.hour())).filter(|_| holidays(local))
    });
    let first = plant.readings[0].0.to_zoned(plant.zone.clone());
    let from = begins(&first, first.date(), 0);
    plant.same("where weekday in (sat, sun)", |local| from.clone().filter(|_| weekend(local)));
    plant.same("where weekday in (sat, sun) and device in (boiler)", |local| {
        from.clone().filter(|_| weekend(local))
    });
}

#[test]
fn groups_are_those_of_the_readings_where_a_day_has_23_hours() {
    // From Thursday to Wednesday; the clocks go forward on Sunday.
    let plant = Plant::new("Europe/Rome", "2014-03-26T23:00:00Z", 7);
    all_groups(&plant);
    all_conditions(&plant);
    let notes = plant.answer("max(heat) by 6h")["notes"].to_string();
    assert!(notes.contains("7 windows of boiler are longer than a group of 6h"), "{notes}");
    let said = sotto(plant.outside.path(), &["ask", "mean(heat) by weekday and hour of day"]).unwrap();
    assert!(said.contains(" weekday ") && said.contains(" hour of day ") && said.contains("13:00"), "{said}");
    assert_eq!(said.lines().filter(|line| line.contains(" sun ")).count(), 23, "{said}");
}

#[test]
fn groups_are_those_of_the_readings_where_a_day_has_24_hours_and_a_half() {
    let plant = Plant::new("Australia/Lord_Howe", "2014-04-03T13:00:00Z", 5);
    all_groups(&plant);
    all_conditions(&plant);
}

#[test]
fn groups_are_those_of_the_readings_where_a_day_has_25_hours() {
    let plant = Plant::new("America/St_Johns", "2014-10-31T02:30:00Z", 5);
    all_groups(&plant);
    all_conditions(&plant);
}

#[test]
fn groups_that_cannot_work_are_refused_in_words() {
    let plant = Plant::new("UTC", "2024-01-01T00:00:00Z", 1);
    let refused = |question: &str| sotto(plant.outside.path(), &["ask", question]).unwrap_err();
    for (question, words) in [
        ("mean(heat) by 5m", "5m is shorter than the 15m between two readings of heat"),
        ("mean(heat) by 7m", "would not begin at the same times every day"),
        ("mean(heat) by window where time 06:00-22:00", "windows are whole"),
        ("moving_average(heat, 2) by weekday", "needs a time without gaps"),
    ] {
        let said = refused(question);
        assert!(said.contains(words) && said.contains('^'), "{question}: {said}");
    }
    // The file is read where the question is asked.
    std::fs::write(plant.outside.path().join("shut.txt"), "2024-01-01\n").unwrap();
    let run = |arguments: &[&str]| sotto(plant.outside.path(), arguments).unwrap();
    run(&["question", "add", "open", "count(heat) where date not in shut.txt"]);
    assert_eq!(plant.answer("open")["rows"][0]["value"], 0.0, "every reading is of this day");
    std::fs::write(plant.outside.path().join("shut.txt"), "# none yet\n2025-01-01\n").unwrap();
    let answer = plant.answer("open");
    assert_eq!(answer["rows"][0]["value"], 96.0);
    assert!(answer["notes"].to_string().contains("shut.txt has one entry, 2025-01-01"), "{answer}");
    assert_eq!(answer["question"], "count(heat) where date not in shut.txt");
    for (text, words) in [("2024-01-01\nsoon\n", "shut.txt: line 2: soon is no date"), ("", "no date in it")]
    {
        std::fs::write(plant.outside.path().join("shut.txt"), text).unwrap();
        let said = refused("count(heat) where date in shut.txt");
        assert!(said.contains(words) && said.contains('^'), "{said}");
    }
    std::fs::remove_file(plant.outside.path().join("shut.txt")).unwrap();
    assert!(refused("count(heat) where date in shut.txt").contains("shut.txt"));
}

#[test]
fn spans_of_the_calendar_are_those_of_the_plant_at_the_time_of_now() {
    // From the midnight of Saturday in Rome to that of Wednesday; Sunday has 23 hours.
    let plant = Plant::new("Europe/Rome", "2014-03-28T23:00:00Z", 4);
    let ask = |arguments: &[&str]| -> Value {
        let said = sotto(plant.outside.path(), &[&["ask", "--json"], arguments].concat()).unwrap();
        serde_json::from_str(&said).unwrap()
    };
    let now = "--now=2014-03-31T00:30";
    for (span, count, since, until) in [
        ("yesterday", 92.0, "2014-03-30T00:00:00+01:00", "2014-03-31T00:00:00+02:00"),
        ("today", 96.0, "2014-03-31T00:00:00+02:00", "2014-04-01T00:00:00+02:00"),
        ("last week", 188.0, "2014-03-24T00:00:00+01:00", "2014-03-31T00:00:00+02:00"),
        ("this month", 284.0, "2014-03-01T00:00:00+01:00", "2014-04-01T00:00:00+02:00"),
        ("2014", 384.0, "2014-01-01T00:00:00+01:00", "2015-01-01T00:00:00+01:00"),
        ("2014-Q2", 100.0, "2014-04-01T00:00:00+02:00", "2014-07-01T00:00:00+02:00"),
        ("2014-03-30", 92.0, "2014-03-30T00:00:00+01:00", "2014-03-31T00:00:00+02:00"),
    ] {
        let answer = ask(&[&format!("count(heat) during {span}"), now]);
        let row = &answer["rows"][0];
        assert_eq!(
            (&row["value"], &row["from"], &row["to"]),
            (&count.into(), &since.into(), &until.into()),
            "{span}"
        );
        assert_eq!(answer["question"], format!("count(heat) since {since} until {until}"));
    }
    // Without --now, a note says the time.
    let answer = ask(&["count(heat) during 2014-03"]);
    let said = "2014-03 is from 2014-03-01T00:00:00+01:00 until 2014-04-01T00:00:00+02:00";
    assert_eq!((&answer["rows"][0]["value"], &answer["notes"][0]), (&284.0.into(), &said.into()));
    let counts = |arguments: &[&str]| ask(arguments)["rows"][0]["value"].as_f64();
    assert_eq!(
        counts(&["count(heat)", "--since", "-1d", "--until", "-1h", now]),
        Some(88.0),
        "a day before is an hour before it"
    );
    assert_eq!(counts(&["count(heat) over 2h", now]), Some(8.0));
    assert_eq!(counts(&["--now=2014-03-31T00:30", "count(heat) during yesterday by day"]), Some(92.0));
    for (arguments, words) in [
        (&["count(heat) over 1d", "--since", "-7x"][..], "expected a duration"),
        (&["count(heat) during today", "--since", "-1d"], "excludes a start or an end"),
        (&["count(heat)", now], "says how far"),
        (&["count(heat) over 1d", "--now=noon"], "expected a moment"),
    ] {
        let said = sotto(plant.outside.path(), &[&["ask"], arguments].concat()).unwrap_err();
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}
