//! Streams of one device with windows of several lengths, of many channels, and of long periods.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::late::Plant;
use crate::session::{send_text, serve, sotto};

const MINUTE: i64 = 60;
const DAY: i64 = 86_400;
/// 2024-01-01T00:00:00Z, a Monday.
const START: i64 = 1_704_067_200;

fn time(seconds: i64) -> String {
    Timestamp::from_second(START + seconds).unwrap().to_string()
}

fn row<'a>(answer: &'a Value, name: &str) -> Vec<&'a Value> {
    answer["rows"].as_array().unwrap().iter().filter(|row| row["name"] == name).collect()
}

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("{key} of {row}"))
}

/// Whole numbers that follow no clock.
fn value(at: i64, channel: i64) -> i64 {
    ((at / 60) * 7919 + channel * 104_729 + (at / 60) * (at / 60) * 31) % 97
}

#[test]
fn an_alarm_by_the_hour_leaves_results_by_day_right() {
    let channels = ["a", "b", "c"].map(|name| [name, "m", "0..100", "1", "5m"]);
    let plant = Plant::new("UTC", &channels, "covariance(a, b), mean(c) by day");
    let folder = plant.outside.path();
    sotto(folder, &["alarm", "add", "high", "a > 95", "--since", "2024-01-01"]).unwrap();
    sotto(folder, &["device", "renew", "gw", "--bundle", "gw.bundle2"]).unwrap();
    let rows: Vec<i64> = (0..2 * DAY / (5 * MINUTE)).map(|at| at * 5 * MINUTE).collect();
    let mut text = "time,a,b,c\n".to_owned();
    for at in &rows {
        let [a, b, c] = [1, 2, 3].map(|channel| value(*at, channel));
        writeln!(text, "{},{a},{b},{c}", time(*at)).unwrap();
    }
    send_text(folder, "gw.bundle2", &text);
    let plan: Value = serde_json::from_str(&sotto(folder, &["plan", "--json"]).unwrap()).unwrap();
    let streams = plan["devices"]["gw"].as_array().unwrap();
    let of = |stream: &Value| (stream["span"].as_str().unwrap().to_owned(), stream["channels"].to_string());
    let shown: Vec<(String, String)> = streams.iter().map(of).collect();
    assert_eq!(shown, [("day".into(), r#"["a","b","c"]"#.into()), ("hour".into(), r#"["a"]"#.into())]);

    let answer = plant.ask("covariance(a, b), mean(a), mean(b), max(a) by day");
    assert!(!answer["notes"].to_string().contains("another window"), "{answer}");
    for day in 0..2 {
        let of_day: Vec<i64> = rows.iter().copied().filter(|at| at / DAY == day).collect();
        let mean = |channel| of_day.iter().map(|at| value(*at, channel) as f64).sum::<f64>() / 288.0;
        let product = of_day.iter().map(|at| (value(*at, 1) * value(*at, 2)) as f64).sum::<f64>() / 288.0;
        let largest = of_day.iter().map(|at| value(*at, 1)).max().unwrap() as f64;
        for (name, right) in [
            ("covariance(a, b)", product - mean(1) * mean(2)),
            ("mean(a)", mean(1)),
            ("mean(b)", mean(2)),
            ("max(a)", largest),
        ] {
            let found = row(&answer, name)[day as usize];
            assert_eq!(found["count"], 288, "{found}");
            assert!(
                (number(found, "value") - right).abs() <= number(found, "bound") + 1e-9,
                "{found} {right}"
            );
        }
    }
    let hourly = plant.ask("mean(a), count(a > 95) by hour");
    for (hour, found) in row(&hourly, "mean(a)").into_iter().enumerate() {
        let own = rows.iter().filter(|at| *at / 3600 == hour as i64).map(|at| value(*at, 1) as f64);
        assert_eq!(found["count"], 12, "{found}");
        let right = own.sum::<f64>() / 12.0;
        assert!((number(found, "value") - right).abs() <= number(found, "bound") + 1e-9, "{found} {right}");
    }
    // The alarm judges hours, and each once.
    sotto(folder, &["watch", "--once"]).unwrap();
    let shown: Value =
        serde_json::from_str(&sotto(folder, &["alarm", "show", "high", "--json"]).unwrap()).unwrap();
    let over = |hour: i64| rows.iter().any(|at| at / 3600 == hour && value(*at, 1) > 95);
    let changes = (0..48).scan(false, |was, hour| {
        let changed = over(hour) != *was;
        *was = over(hour);
        Some(changed)
    });
    let expected = changes.filter(|changed| *changed).count();
    let events = std::fs::read_to_string(folder.join("plant/alarms/alarms.jsonl")).unwrap();
    assert_eq!(events.lines().count(), expected, "{shown}");
}

#[test]
fn two_hundred_channels_of_a_device_go_from_a_file_to_an_answer() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path();
    sotto(folder, &["init", "plant", "--time-zone", "UTC"]).unwrap();
    let file = folder.join("plant/sotto.toml");
    let mut settings = std::fs::read_to_string(&file).unwrap();
    let names: Vec<String> = (0..200).map(|at| format!("c{at}")).collect();
    for name in &names {
        writeln!(settings, "[channels.{name}]\nrange = [0, 100]\nresolution = 1\nevery = \"5m\"").unwrap();
    }
    std::fs::write(&file, settings).unwrap();
    sotto(folder, &["question", "add", "one", "mean(c17)"]).unwrap();
    let _cloud = serve(folder);
    sotto(folder, &["device", "add", "big", "--channels", &names.join(",")]).unwrap();
    let mut text = format!("time,{}\n", names.join(","));
    for at in (0..288).map(|at| at * 5 * MINUTE) {
        text += &time(at);
        for channel in 0..200 {
            // Some are missing: the description of a window has to name them.
            match value(at, channel) {
                value if value % 11 == 3 => text.push(','),
                value => write!(text, ",{value}").unwrap(),
            }
        }
        text.push('\n');
    }
    send_text(folder, "big.bundle", &text);
    for channel in [0, 17, 199] {
        let question = format!("mean(c{channel})");
        let said = sotto(folder, &["ask", &question, "--json"]).unwrap();
        let answer: Value = serde_json::from_str(&said).unwrap();
        let values = (0..288).map(|at| value(at * 5 * MINUTE, channel)).filter(|value| value % 11 != 3);
        let values: Vec<i64> = values.collect();
        let right = values.iter().sum::<i64>() as f64 / values.len() as f64;
        let found = &answer["rows"][0];
        assert_eq!(found["count"], values.len());
        assert!((number(found, "value") - right).abs() <= number(found, "bound") + 1e-9, "{found} {right}");
    }
    // A further bundle of as many channels.
    sotto(folder, &["device", "renew", "big"]).unwrap();
    assert!(sotto(folder, &["status"]).unwrap().contains("big"));
}

#[test]
fn periods_of_a_week_and_of_thirty_days() {
    for (every, days) in [("7d", 7), ("30d", 30)] {
        let plant =
            Plant::new("Europe/Vienna", &[["level", "m", "0..100", "1", every]], "mean(level) by month");
        // At about eight o'clock, on the day of the first reading.
        let at = |reading: i64| reading * days * DAY + 7 * 3600 + reading % 3 * MINUTE;
        let mut text = "time,level\n".to_owned();
        let mut months: BTreeMap<i8, Vec<i64>> = BTreeMap::new();
        for reading in 0..20 {
            let value = value(at(reading), 1);
            writeln!(text, "{},{value}", time(at(reading))).unwrap();
            let zoned = Timestamp::from_second(START + at(reading)).unwrap();
            let zoned = zoned.to_zoned(TimeZone::get("Europe/Vienna").unwrap());
            if zoned.year() == 2024 {
                months.entry(zoned.month()).or_default().push(value);
            }
        }
        plant.send(&text);
        let answer = plant.ask("mean(level), sum(level) by month");
        let means = row(&answer, "mean(level)");
        for (month, values) in months {
            let begins = format!("2024-{month:02}-01");
            let found = means.iter().find(|row| row["from"].as_str().unwrap().starts_with(&begins));
            let found = found.unwrap_or_else(|| panic!("{every} {begins}: {answer}"));
            assert_eq!(found["count"], values.len(), "{every}: {found}");
            let right = values.iter().sum::<i64>() as f64 / values.len() as f64;
            assert!(
                (number(found, "value") - right).abs() <= number(found, "bound") + 1e-9,
                "{found} {right}"
            );
        }
    }
}
