//! Files as they occur in practice: readings left out are counted by reason, and the answers cover the others.

use super::Cases;
use super::judge::Query;
use super::series::{By, Channel, Sample, Series, instant};
use super::site::Site;
use super::truth::Statistic as S;
use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};

const ASKED: &[S] = &[S::Count(0), S::Sum(0), S::Mean(0), S::Variance(0)];
/// The period of all cases, in milliseconds.
const PERIOD: i64 = 600_000;

/// A file and its expected counts.
struct Messy {
    name: &'static str,
    bytes: Vec<u8>,
    args: &'static [&'static str],
    /// True to pass the bytes on standard input instead of in a file.
    stdin: bool,
    /// Reasons with their counts.
    left_out: &'static [(&'static str, u64)],
    /// The expected times (RFC 3339) and values.
    readings: Vec<(String, f64)>,
}

impl Messy {
    fn new(name: &'static str, text: &str, readings: &[(&str, f64)]) -> Self {
        let readings = readings.iter().map(|(at, value)| ((*at).to_owned(), *value)).collect();
        let bytes = text.as_bytes().to_vec();
        Self { name, bytes, args: &["--csv", "in"], stdin: false, left_out: &[], readings }
    }

    fn with(self, args: &'static [&'static str], left_out: &'static [(&'static str, u64)]) -> Self {
        Self { args, left_out, ..self }
    }
}

const DIRTY: &str = "\u{feff}time,temperature\r
2025-01-15 00:00:00,10.04\r
2025-01-15 00:10:00,11\r
2025-01-15 00:10:00,11.5\r
2025-01-15 00:13:00,12\r
2025-01-15 00:20:00,\r
2025-01-15 00:30:00,NaN\r
2025-01-15 00:40:00,broken\r
2025-01-15 00:50:00,99.9\r
2025-01-15 01:00:00,-inf\r
2025-01-15 01:17:00,20\r
no time,12\r
2025-01-15 03:00:00,21.37\r
2025-01-15 02:00:00,15\r
2025-01-15 02:10:00,1e1\r
2025-01-16 23:50:00,-19.99\r
";
const DIRTY_LEFT_OUT: &[(&str, u64)] =
    &[("empty", 1), ("no-time", 1), ("not-a-number", 2), ("out-of-range", 1), ("text", 1)];
const DIRTY_READINGS: &[(&str, f64)] = &[
    ("2025-01-15T00:00:00+01:00", 10.04),
    // The mean of the three readings nearest to this tick.
    ("2025-01-15T00:10:00+01:00", 11.5),
    ("2025-01-15T01:17:00+01:00", 20.0),
    ("2025-01-15T03:00:00+01:00", 21.37),
    ("2025-01-15T02:00:00+01:00", 15.0),
    ("2025-01-15T02:10:00+01:00", 10.0),
    ("2025-01-16T23:50:00+01:00", -19.99),
];
/// Two readings, which files of many forms contain.
const TWO: &[(&str, f64)] = &[("2025-01-15T00:00:00+01:00", 10.5), ("2025-01-15T00:10:00+01:00", -3.25)];

fn all() -> Vec<Messy> {
    let german = "Zeit;\"Temperatur \u{b0}C\"\n15.01.2025 00:00;\"10,5\"\n15.01.2025 00:10;-3,25\n";
    let german_args = &[
        "--csv",
        "in",
        "--time",
        "Zeit",
        "--column",
        "temperature=Temperatur \u{b0}C",
        "--encoding",
        "latin1",
    ];
    let mut german =
        Messy::new("semicolon, decimal comma, quoted, Latin-1", german, TWO).with(german_args, &[]);
    german.bytes = String::from_utf8_lossy(&german.bytes).chars().map(|letter| letter as u8).collect();
    let quoted = "\"time\",\"note\",\"temperature\"\n\"2025-01-15T00:00:00+01:00\",\"a \"\"b\"\",\nc\",\"10.5\"\n2025-01-14T23:10:00Z,,-3.25\n";
    let late = "time,temperature\n2025-01-15 00:00,10.5\n2025-01-16 00:00,9\n2025-01-15 00:10,8\n2025-01-16 00:10,7\n";
    let late_readings = [
        ("2025-01-15T00:00:00+01:00", 10.5),
        ("2025-01-15T00:10:00+01:00", 8.0),
        ("2025-01-16T00:00:00+01:00", 9.0),
        ("2025-01-16T00:10:00+01:00", 7.0),
    ];
    let mut stdin =
        Messy::new("standard input, time goes back", late, &late_readings).with(&["--stdin"], &[]);
    stdin.stdin = true;
    let (spring, spring_readings) = hours("2025-03-28T23:00:00Z", 71, Some("2025-03-30 02:30,5\n"));
    let (autumn, autumn_readings) = hours("2025-10-24T22:00:00Z", 73, None);
    let mut spring =
        Messy::new("a day of 23 hours", &spring, &[]).with(&["--csv", "in"], &[("no-such-time", 1)]);
    spring.readings = spring_readings;
    let mut autumn = Messy::new("a day of 25 hours", &autumn, &[]);
    autumn.readings = autumn_readings;
    vec![
        Messy::new("gaps, duplicates, text, NaN, CRLF, BOM", DIRTY, DIRTY_READINGS)
            .with(&["--csv", "in"], DIRTY_LEFT_OUT),
        german,
        Messy::new("quoted cells with line breaks", quoted, TWO),
        Messy::new("epoch seconds", "ts\ttemperature\n1736895600\t10.5\n1736896200.0\t-3.25\n", TWO),
        Messy::new("epoch milliseconds", "at|temperature\n1736895600000|10.5\n1736896200000|-3.25\n", TWO)
            .with(&["--csv", "in", "--delimiter", "|"], &[]),
        Messy::new(
            "JSON lines",
            "{\"time\": \"2025-01-14T23:00:00Z\", \"temperature\": 10.5, \"more\": [1]}\n\n{\"temperature\": null, \"time\": \"2025-01-15T00:05:00+01:00\"}\n{\"time\": \"2025-01-15T00:10:00+01:00\", \"temperature\": -3.25}\n",
            TWO,
        )
        .with(&["--json-lines", "in"], &[("empty", 1)]),
        Messy::new("a month first, by its format", "time,temperature\n01/15/2025 00:00,10.5\n01/15/2025 00:10,-3.25\n", TWO),
        Messy::new("no header, no time", "10.5\n-3.25\n", TWO)
            .with(&["--csv", "in", "--no-header", "--start", "2025-01-15T00:00", "--column", "1"], &[]),
        Messy::new("the same file twice", "time,temperature\n2025-01-15 00:00,10.5\n2025-01-15 00:10,-3.25\n", TWO)
            .with(&["--csv", "in", "--csv", "in"], &[("duplicate", 2)]),
        stdin,
        spring,
        autumn,
    ]
}

/// Returns one reading an hour in local times of Vienna, with one more line in between.
fn hours(begin: &str, count: i64, more: Option<&str>) -> (String, Vec<(String, f64)>) {
    let (begin, mut text, mut readings) =
        (instant(begin).unwrap_or_default(), String::from("time,temperature\n"), vec![]);
    for hour in 0..count {
        let at = jiff::Timestamp::from_millisecond(begin + hour * 3_600_000).unwrap_or_default();
        let local = at.in_tz("Europe/Vienna").map(|local| local.strftime("%Y-%m-%d %H:%M").to_string());
        let value = 10.0 + hour as f64 / 8.0;
        text += &format!("{},{value}\n", local.unwrap_or_default());
        readings.push((at.to_string(), value));
        if hour == count / 2 {
            text += more.unwrap_or_default();
        }
    }
    (text, readings)
}

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let channel = Channel { name: "temperature", unit: "°C", low: -20.0, high: 60.0, resolution: 0.1 };
    let mut site = Site::new(cases.sotto(), "Europe/Vienna")?;
    site.channel(&channel, "10m")?;
    let devices: Vec<String> = (0..all().len()).map(|at| format!("device-{at}")).collect();
    site.sotto(&["question", "add", "daily", "count(temperature), variance(temperature) by day"])?;
    for device in &devices {
        site.sotto(&["device", "add", device, "--channels", "temperature"])?;
    }
    site.start_cloud()?;
    for (messy, device) in all().iter().zip(&devices) {
        let found = one(&site, messy, device, &channel).unwrap_or_else(|error| vec![format!("{error:#}")]);
        cases.case(messy.name, found);
    }
    site.write("in", &all()[1].bytes)?;
    let unnamed = site.try_agent("device-1", &all()[1].args[..6])?;
    let read = unnamed.stderr.contains("2 already sent") && unnamed.status.success();
    cases.case("Latin-1 that is not named", (!read).then_some(unnamed.stderr).into_iter().collect());
    let sent = site.agent("device-1", all()[1].args)?;
    let known = sent["windows"] == 0 && sent["left_out"] == json!({"already-sent": 2});
    cases.case("a file that was sent", (!known).then(|| sent.to_string()).into_iter().collect());
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}

fn one(site: &Site, messy: &Messy, device: &str, channel: &Channel) -> Result<Vec<String>> {
    site.write("in", &messy.bytes)?;
    let summary = if messy.stdin {
        site.agent_reading("in", device, messy.args)?
    } else {
        site.agent(device, messy.args)?
    };
    let left_out: Map<String, Value> =
        messy.left_out.iter().map(|(reason, count)| ((*reason).to_owned(), json!(count))).collect();
    let left_out = Value::Object(left_out);
    let count = messy.readings.len();
    let status = site.status(device)?;
    let told = site.agent_status(device)?;
    let stream = told["streams"].as_object().and_then(|streams| streams.values().next());
    let stream = stream.context("the agent's status has no stream")?;
    let mut faults = Vec::new();
    for (place, found, readings) in [
        ("the agent's summary", &summary["left_out"], &summary["readings"]),
        ("sotto-agent status", &stream["left_out"], &stream["readings"]),
        ("sotto status", &status["channels"][0]["left_out"], &status["channels"][0]["readings"]),
    ] {
        if *found != left_out || *readings != count {
            faults
                .push(format!("{place}: {readings} readings, left out {found}; not {count} and {left_out}"));
        }
    }
    let mut series = Series::new("Europe/Vienna", PERIOD, vec![channel.clone()], vec!["any"])?;
    let readings = messy
        .readings
        .iter()
        .map(|(at, value)| Some(Sample { at: instant(at)?, device: 0, values: [Some(*value), None] }));
    series.samples = readings.collect::<Option<_>>().context("a time of the table")?;
    series.samples.sort_by_key(|sample| sample.at);
    let asked = Query { statistics: ASKED, by: By::Day, per_device: false, spans: &[] };
    let answer = site.ask(&format!("{} where device in (\"{device}\")", asked.text(&series)), &[])?;
    faults.extend(asked.judge(&series, &answer));
    Ok(faults)
}
