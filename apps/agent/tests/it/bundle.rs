//! A device with a bundle: from files with gaps, repetitions and days of 23 and 25 hours to windows that the owner
//! decrypts.

mod believed;
mod first;

use crate::site;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use site::{Act, Cloud, Upload, agent, files, params};
use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceBundle, DeviceKeys, DeviceSecret, Protection, SecretKey, SigningIdentity};
use sotto_pack::{
    Channel, Clock, DeviceProfile, Encoding, Period, Reason, Slots, Span, StreamProfile, WindowDescription,
    unpack,
};
use sotto_ring::secure_rng;
use sotto_rlwe::Bfv;
use sotto_wire::{AnyCiphertext, Envelope, LARGEST_ENVELOPE, write_parameters};
use tempfile::TempDir;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// A folder with the bundle of a device in Vienna.
struct Plant {
    folder: TempDir,
    secret: DeviceSecret,
    cloud: Cloud,
    clock: Clock,
}

fn channel(name: &str, minimum: f64, maximum: f64) -> Channel {
    Channel {
        name: name.into(),
        unit: String::new(),
        minimum,
        maximum,
        resolution: Some(0.1),
        ..Channel::default()
    }
}

fn stream(name: &str, channels: Vec<Channel>, ticks: u32, period_ms: u32, span: Span) -> StreamProfile {
    StreamProfile {
        stream: name.into(),
        parameters: hex::encode(write_parameters(params::<Bfv>().spec())),
        encoding: Encoding::Resolution,
        ticks,
        period_ms: Some(Period::from_milliseconds(period_ms)),
        span: Some(span),
        channels,
        sums: Vec::new(),
        rounded: false,
        compact: None,
        slots: None,
        envelope: 1,
        public: false,
        absolute: false,
    }
}

/// Days in steps of five minutes: 300 ticks when the clocks are set back.
fn days() -> StreamProfile {
    stream("days", vec![channel("temperature", -20.0, 120.0)], 300, 300_000, Span::Day)
}

impl Plant {
    fn new(streams: Vec<StreamProfile>) -> Self {
        Self::with(streams, &[Act::Store])
    }

    fn with(streams: Vec<StreamProfile>, script: &[Act]) -> Self {
        let (folder, mut rng, cloud) =
            (tempfile::tempdir().unwrap(), secure_rng().unwrap(), Cloud::start(script));
        let secret = DeviceSecret::generate(&mut rng);
        let zone = Some("Europe/Vienna".to_owned());
        let profile = DeviceProfile {
            device: "boiler".into(),
            period_ms: Period::from_milliseconds(1000),
            zone,
            cloud_keys: Vec::new(),
            owner_key: None,
            streams,
            derived: Vec::new(),
            record: None,
        };
        let bundle = DeviceBundle {
            keys: DeviceKeys::Secret(DeviceSecret::from_bytes(secret.expose_secret_bytes())),
            identity: SigningIdentity::generate(&mut rng),
            cloud: cloud.url(),
            authority: None,
            profile: profile.to_json().unwrap(),
        };
        bundle.write(&folder.path().join("boiler.bundle"), &Protection::FileMode, &mut rng).unwrap();
        Self { folder, secret, cloud, clock: Clock::new("Europe/Vienna").unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, name: &str) -> Command {
        let mut command = agent();
        command.arg(name).arg("--bundle").arg(self.path("boiler.bundle"));
        command
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    /// Runs the agent on a file with the columns `timestamp` and `value`.
    fn run(&self, csv: &str) -> Value {
        self.run_with(csv, &[])
    }

    fn run_with(&self, csv: &str, extra: &[&str]) -> Value {
        let file = self.write("machine.csv", csv);
        let mut command = self.command("run");
        command.arg("--csv").arg(file).args([
            "--time",
            "timestamp",
            "--column",
            "temperature=value",
            "--json",
        ]);
        let output = command.args(extra).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn status(&self) -> Value {
        let output = self.command("status").arg("--json").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn windows(&self) -> Vec<Received> {
        self.cloud.uploads().iter().map(|upload| self.receive(upload)).collect()
    }

    /// Decrypts a window as the owner does.
    fn receive(&self, upload: &Upload) -> Received {
        let envelope = Envelope::read(&upload.body, LARGEST_ENVELOPE).unwrap();
        let window = WindowDescription::parse(&envelope.header().layout).unwrap();
        let params = params::<Bfv>();
        let key = SecretKey::derive(&self.secret, &params);
        let ciphertext =
            AnyCiphertext::read(&envelope.body().frame(), &params).unwrap().with_claimed_shape().expand();
        let slots = Decryptor::new(&key).slots(&ciphertext).unwrap().into_residues();
        let values = unpack(&window.layout, &Slots::Integers(slots)).unwrap();
        let channel = |(position, channel): (usize, &Channel)| {
            let value = |tick: u32| {
                let at = window.period.at(window.start, tick);
                (at, (values[position][tick as usize] * 10.0).round() / 10.0)
            };
            let presence = window.presence(position as u16).unwrap();
            (channel.name.clone(), presence.iter().map(value).collect())
        };
        let readings = window.layout.channels().iter().enumerate().map(channel).collect();
        Received {
            stream: envelope.header().stream.clone(),
            sequence: envelope.header().sequence,
            window,
            readings,
        }
    }
}

struct Received {
    stream: String,
    sequence: u64,
    window: WindowDescription,
    /// By channel: the time of each slot with a reading, and the value.
    readings: BTreeMap<String, Vec<(i64, f64)>>,
}

/// Returns a time in UTC as milliseconds since 1970.
fn at(text: &str) -> i64 {
    format!("{text}:00Z").parse::<jiff::Timestamp>().unwrap().as_millisecond()
}

/// Returns a file of readings with times in UTC.
fn csv(readings: &[(i64, f64)]) -> String {
    let mut text = String::from("timestamp,value\n");
    for (at, value) in readings {
        writeln!(text, "{},{value:.1}", Clock::utc().rfc3339(*at)).unwrap();
    }
    text
}

/// Returns a reading for every five minutes.
fn every_five_minutes(from: i64, to: i64) -> Vec<(i64, f64)> {
    (0..).map(|i| (from + 5 * MINUTE * i, (i % 1000) as f64 / 10.0)).take_while(|(at, _)| *at < to).collect()
}

#[test]
fn days_have_as_many_slots_as_the_clock_gives_them() {
    for (from, to, hours) in [
        ("2014-03-28T23:00", "2014-03-31T22:00", [24, 23, 24]),
        ("2014-10-24T22:00", "2014-10-27T23:00", [24, 25, 24]),
    ] {
        let plant = Plant::new(vec![days()]);
        let readings = every_five_minutes(at(from), at(to));
        let summary = plant.run(&csv(&readings));
        let windows = plant.windows();
        let lengths: Vec<u32> = windows.iter().map(|received| received.window.ticks()).collect();
        assert_eq!(lengths, hours.map(|hours| hours * 12));
        let all: Vec<(i64, f64)> =
            windows.iter().flat_map(|received| received.readings["temperature"].clone()).collect();
        assert_eq!(all, readings);
        for received in &windows {
            let start = received.window.start;
            assert_eq!(plant.clock.start_of(Span::Day, start), start);
            assert_eq!(plant.clock.end_of(Span::Day, start), received.window.end());
        }
        assert_eq!((&summary["windows"], &summary["readings"]), (&3.into(), &readings.len().into()));
        assert_eq!(summary["left_out"], serde_json::json!({}));
        assert_eq!(summary["streams"]["days"]["first"], plant.clock.rfc3339(at(from)));
    }
}

#[test]
fn readings_left_out_travel_with_their_window() {
    let plant = Plant::new(vec![days()]);
    let start = at("2014-02-13T23:00");
    let mut text = csv(&[(start, 20.5), (start, 21.0), (start + MINUTE, 22.0), (start + HOUR, 120.1)]);
    let mut line = |at: i64, cell: &str| writeln!(text, "{},{cell}", Clock::utc().rfc3339(at)).unwrap();
    line(start + 2 * HOUR, "");
    line(start + 3 * HOUR, "broken");
    line(start + 4 * HOUR, "-20");
    // A day without readings, then one reading.
    line(start + 2 * DAY, "120");
    text += "nonsense,5\n";
    let file = plant.write("machine.csv", &text);
    let mut command = plant.command("run");
    command.arg("--csv").arg(file).args(["--time", "timestamp", "--column", "value"]);
    let output = command.arg("--report").arg(plant.path("report.json")).output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("\nboiler: 2 windows with 3 readings; left out: 1 empty, 1 text, 1 out of range"),
        "{said}"
    );
    for lost in ["2 readings are lost: 1 out of range, 1 off the grid", "line 5: temperature, out of range"] {
        assert!(said.contains(lost), "{said}");
    }
    let windows = plant.windows();
    assert_eq!(windows.len(), 2, "a day without readings is not sent");
    assert_eq!(windows[0].readings["temperature"], [(start, 20.5), (start + 4 * HOUR, -20.0)]);
    assert_eq!(windows[1].readings["temperature"], [(start + 2 * DAY, 120.0)]);
    assert_eq!((windows[0].window.ticks(), windows[1].window.ticks()), (288, 1));
    let counts: Vec<_> = windows[0].window.left_out[0].iter().collect();
    let mut expected = vec![(Reason::Empty, 1), (Reason::Text, 1), (Reason::OutOfRange, 1)];
    expected.extend([(Reason::Duplicate, 1), (Reason::OffGrid, 1)]);
    let report: Value = serde_json::from_slice(&std::fs::read(plant.path("report.json")).unwrap()).unwrap();
    let left_out = &report["summary"]["streams"]["days"]["channels"]["temperature"]["left_out"];
    // The row without a time belongs to no window: the next window closed counts it.
    let of_window = counts.iter().filter(|(reason, _)| *reason != Reason::NoTime);
    assert!(of_window.eq(&expected), "{counts:?}");
    assert_eq!(left_out["no-time"], 1, "{left_out}");
    assert_eq!(
        (&report["missing"], &report["out_of_range"], &report["waiting"]),
        (&2.into(), &1.into(), &0.into())
    );
}

#[test]
fn a_file_that_grows_is_continued_and_no_slot_is_sent_twice() {
    let plant = Plant::new(vec![days()]);
    let readings = every_five_minutes(at("2014-02-13T20:00"), at("2014-02-16T04:00"));
    // Stop within a day, at its end, one reading later; then run twice on the same file.
    for (run, ends) in [100, 36 + 288, 36 + 289, readings.len(), readings.len()].into_iter().enumerate() {
        let summary = plant.run(&csv(&readings[..ends]));
        let status = plant.status();
        let stream = &status["streams"]["days"];
        assert_eq!(stream["sent_until"], plant.clock.rfc3339(readings[ends - 1].0 + 5 * MINUTE), "run {run}");
        assert_eq!((&stream["readings"], &status["waiting"]), (&ends.into(), &0.into()), "run {run}");
        assert_eq!(stream["next_sequence"], plant.cloud.uploads().len());
        assert_eq!(summary["streams"]["days"]["sent_until"], stream["sent_until"]);
    }
    let windows = plant.windows();
    let all: Vec<(i64, f64)> =
        windows.iter().flat_map(|received| received.readings["temperature"].clone()).collect();
    assert_eq!(all, readings);
    for pair in windows.windows(2) {
        assert!(pair[0].window.end() <= pair[1].window.start, "windows overlap");
        assert_eq!(pair[0].sequence + 1, pair[1].sequence);
        let spans = pair.iter().map(|received| plant.clock.end_of(Span::Day, received.window.start));
        assert!(pair.iter().map(|received| received.window.end()).zip(spans).all(|(end, span)| end <= span));
    }
    let last = plant.run(&csv(&readings));
    assert_eq!(last["left_out"]["already-sent"], readings.len());
    assert_eq!(last["windows"], 0);
}

#[test]
fn a_run_of_some_rows_sends_them_and_the_next_one_goes_on() {
    let plant = Plant::new(vec![days()]);
    let text = csv(&every_five_minutes(at("2014-02-13T23:00"), at("2014-02-15T03:00")));
    for (ticks, readings, windows) in [(300, 300, 2), (310, 10, 1), (400, 26, 1)] {
        let summary = plant.run_with(&text, &["--ticks", &ticks.to_string()]);
        assert_eq!(
            (&summary["readings"], &summary["windows"]),
            (&readings.into(), &windows.into()),
            "{ticks}"
        );
        assert_eq!(plant.status()["waiting"], 0);
    }
    assert_eq!(plant.windows().iter().map(|received| received.window.readings()).sum::<u64>(), 336);
}

#[test]
fn late_rows_of_a_growing_file_are_sent_once() {
    let plant = Plant::new(vec![days()]);
    let readings = every_five_minutes(at("2014-02-13T23:00"), at("2014-02-14T02:00"));
    let (gap, rest) = ((readings[7].0, 50.0), [&readings[..7], &readings[8..]].concat());
    plant.run(&csv(&rest));
    // The missing reading is at the end of the file: its tick is in no window, whose time one covers.
    let more = [rest, vec![gap, (at("2014-02-14T02:00"), 1.0)]].concat();
    for sent in [2, 0] {
        let summary = plant.run(&csv(&more));
        assert_eq!(summary["left_out"]["already-sent"], more.len() - sent);
        assert_eq!(summary["readings"], sent);
    }
    let windows = plant.windows();
    assert_eq!(windows[1].readings["temperature"], [gap]);
    assert_eq!(windows[2].readings["temperature"], [(at("2014-02-14T02:00"), 1.0)]);
    assert!(windows[1].window.end() <= windows[2].window.start);
    // If the file is read at once, a late row still finds its window.
    let plant = Plant::new(vec![days()]);
    let summary = plant.run(&csv(&more));
    assert_eq!((&summary["readings"], &summary["windows"]), (&more.len().into(), &1.into()));
    assert_eq!(summary["left_out"], serde_json::json!({}));
}

#[test]
fn streams_of_a_bundle_have_their_own_channels_and_periods() {
    let hours = stream("hours", vec![channel("pressure", 0.0, 10.0)], 6, 600_000, Span::Hour);
    let both = vec![channel("temperature", -20.0, 120.0), channel("pressure", 0.0, 10.0)];
    let both = stream("both", both, 64, 60_000, Span::Hour);
    let absent = stream("absent", vec![channel("humidity", 0.0, 100.0)], 64, 60_000, Span::Hour);
    let plant = Plant::new(vec![hours, absent, both]);
    let start = at("2014-02-14T10:00");
    let mut text = String::from("timestamp;value;pressure\n");
    for i in 0..120 {
        let at = Clock::utc().rfc3339(start + i * MINUTE);
        let pressure = if i % 10 == 0 { format!("{},5", i / 20) } else { String::new() };
        writeln!(text, "{at};{},1;{pressure}", i % 50).unwrap();
    }
    let log = plant.path("clear.json");
    let summary = plant.run_with(&text, &["--clear-log", log.to_str().unwrap()]);
    let windows = plant.windows();
    let of = |name: &str| windows.iter().filter(|received| received.stream == name).collect::<Vec<_>>();
    assert_eq!((of("hours").len(), of("both").len(), of("absent").len()), (2, 2, 0));
    assert_eq!(of("hours")[1].readings["pressure"].len(), 6);
    assert_eq!(of("hours")[1].readings["pressure"][2], (start + HOUR + 20 * MINUTE, 4.5));
    assert_eq!(of("both")[1].window.present, [60, 6]);
    assert_eq!(of("both")[1].window.left_out[1].count(Reason::Empty), 54);
    assert_eq!(of("both")[0].readings["temperature"][33], (start + 33 * MINUTE, 33.1));
    assert_eq!(summary["streams"]["hours"]["readings"], 12);
    assert!(summary["streams"].get("absent").is_none());
    let log: Value = serde_json::from_slice(&std::fs::read(log).unwrap()).unwrap();
    assert_eq!(log["both"]["times"][119], start + 119 * MINUTE);
    assert_eq!(log["both"]["values"][61], serde_json::json!([11.1, null]));
    assert_eq!(log["hours"]["values"].as_array().unwrap().len(), 12);
    assert_eq!(log["hours"]["channels"][0]["name"], "pressure");
}

/// Standard input is read as it arrives; a stop sends the open window, and the next run the rest.
#[cfg(unix)]
#[test]
fn a_signal_sends_the_window_that_is_open() {
    use std::io::Write as _;
    let plant = Plant::new(vec![days()]);
    let readings = every_five_minutes(at("2014-02-13T23:00"), at("2014-02-15T03:00"));
    let run = |readings: &[(i64, f64)]| {
        let mut command = plant.command("run");
        command.args(["--stdin", "--follow", "--time", "timestamp", "--column", "value"]);
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(csv(readings).as_bytes()).unwrap();
        (child, stdin)
    };
    let (child, stdin) = run(&readings[..290]);
    // The first row of the second day closes the first day: by then all earlier rows are read.
    let begin = std::time::Instant::now();
    while plant.cloud.uploads().is_empty() {
        assert!(begin.elapsed().as_secs() < 30, "nothing arrived");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!((plant.cloud.uploads().len(), &plant.status()["waiting"]), (2, &0.into()));
    drop(stdin);
    let (child, stdin) = run(&readings);
    drop(stdin);
    assert!(child.wait_with_output().unwrap().status.success());
    let all: Vec<(i64, f64)> =
        plant.windows().iter().flat_map(|received| received.readings["temperature"].clone()).collect();
    assert_eq!(all, readings);
}

/// Runs killed at any moment: their windows together contain each slot once.
#[test]
fn a_killed_run_neither_loses_nor_repeats_a_slot() {
    let hours = stream("hours", vec![channel("temperature", -20.0, 120.0)], 12, 300_000, Span::Hour);
    let plant = Plant::new(vec![hours]);
    let readings = every_five_minutes(at("2014-01-01T00:00"), at("2014-01-15T00:00"));
    let file = plant.write("machine.csv", &csv(&readings));
    for wait in [40, 80, 120, 200, 300] {
        let mut command = plant.command("run");
        command.arg("--csv").arg(&file).args(["--time", "timestamp", "--column", "value"]);
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    plant.run(&csv(&readings));
    // Messages sent twice have the same key, which the cloud recognises.
    let uploads: BTreeMap<u64, Received> =
        plant.windows().into_iter().map(|received| (received.sequence, received)).collect();
    let all: Vec<(i64, f64)> =
        uploads.values().flat_map(|received| received.readings["temperature"].clone()).collect();
    assert_eq!(all, readings);
    assert_eq!(plant.status()["streams"]["hours"]["readings"], readings.len());
}

#[test]
fn status_tells_what_waits_and_what_was_refused() {
    let plant = Plant::with(vec![days()], &[Act::Refuse(422), Act::Store]);
    let empty = plant.status();
    assert_eq!((&empty["device"], &empty["streams"]["days"]["next_sequence"]), (&"boiler".into(), &0.into()));
    let readings = every_five_minutes(at("2014-02-13T23:00"), at("2014-02-15T23:00"));
    let file = plant.write("machine.csv", &csv(&readings));
    let mut command = plant.command("run");
    command.arg("--csv").arg(&file).args(["--time", "timestamp", "--column", "value"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let refused = plant.status();
    assert_eq!((&refused["refused"], &refused["waiting"]), (&1.into(), &0.into()));
    assert_eq!(refused["refusals"][0]["reason"]["problem"]["title"], "status 422");
    assert_eq!(refused["streams"]["days"]["sent_until"], "2014-02-16T00:00:00+01:00");
    // A refused message is neither lost nor read again: it is in the folder.
    assert_eq!(files(&plant.path("boiler.spool/refused"), ".envelope").len(), 1);
    // The spool can be inspected while an agent without a reachable cloud runs.
    let more = every_five_minutes(at("2014-02-15T23:00"), at("2014-02-18T23:00"));
    plant.write("machine.csv", &csv(&more));
    let mut command = plant.command("run");
    command.args(["--cloud", "http://127.0.0.1:9", "--time", "timestamp", "--column", "value"]);
    let mut child = command.arg("--csv").arg(&file).stderr(Stdio::null()).spawn().unwrap();
    let begin = std::time::Instant::now();
    let waiting = loop {
        let status = plant.status();
        if status["waiting"] == 3 || begin.elapsed().as_secs() > 30 {
            break status;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    assert!(child.try_wait().unwrap().is_none(), "it goes on trying");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!((&waiting["waiting"], &waiting["streams"]["days"]["waiting"]), (&3.into(), &3.into()));
    assert!(waiting["waiting_bytes"].as_u64().unwrap() > 100_000);
    let lines = plant.command("status").output().unwrap();
    let lines = String::from_utf8(lines.stdout).unwrap();
    for says in ["waiting: 3 messages", "refused: 1 message", "sent until 2014-02-19T00:00:00+01:00"] {
        assert!(lines.contains(says), "{lines}");
    }
}

#[test]
fn check_counts_and_sends_nothing() {
    let plant = Plant::new(vec![days()]);
    let readings = every_five_minutes(at("2014-02-13T23:00"), at("2014-02-15T12:00"));
    let text = csv(&readings) + "2014-02-15T12:00:00Z,oops\n2014-02-15T12:05:00Z,1.0\n";
    let file = plant.write("machine.csv", &text);
    let check = |extra: &[&str]| {
        let mut command = plant.command("check");
        command.arg("--csv").arg(&file).args(["--time", "timestamp", "--column", "value"]);
        let output = command.args(extra).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let lines = check(&[]);
    let expected = format!("temperature: {} readings; left out: 1 text", readings.len() + 1);
    assert!(
        lines.contains("days: 2 windows, from 2014-02-14T00:00:00+01:00") && lines.contains(&expected),
        "{lines}"
    );
    assert!(lines.contains("csv, UTF-8, comma between values, names in line 1, decimal point"), "{lines}");
    let bad = readings.len() + 2;
    assert!(lines.contains(&format!("not taken: temperature: 1 text, line {bad}")), "{lines}");
    assert!(
        lines.contains("times: every 5 min") && lines.contains("temperature (column \"value\"):"),
        "{lines}"
    );
    let mut counts: Value = serde_json::from_str(&check(&["--json"])).unwrap();
    for of_check in ["files", "times", "numbers"] {
        assert!(counts.as_object_mut().unwrap().remove(of_check).is_some(), "{of_check}");
    }
    assert!(plant.cloud.uploads().is_empty() && !plant.path("boiler.spool").exists());
    let mut summary = plant.run(&text);
    // Only a run reports how far it came.
    summary["streams"]["days"]["sent_until"] = Value::Null;
    assert_eq!(summary, counts);
    let counts: Value = serde_json::from_str(&check(&["--json"])).unwrap();
    assert_eq!(counts["left_out"]["already-sent"], readings.len() + 1);
}

/// A real series in local time, hour by hour: each row is a reading or is left out for exactly one reason.
#[test]
fn a_real_series_is_sent_week_by_week() {
    let Some(folder) = std::env::var_os("SOTTO_DATASETS").map(PathBuf::from) else {
        eprintln!("skipped: SOTTO_DATASETS does not name the folder of the real series");
        return;
    };
    let text = std::fs::read_to_string(folder.join("seattle-temps.csv")).unwrap();
    let weeks = stream("weeks", vec![channel("temperature", -20.0, 120.0)], 169, 3_600_000, Span::Week);
    let plant = Plant::new(vec![weeks]);
    let file = plant.write("machine.csv", &text);
    let mut command = plant.command("run");
    let output = command.arg("--csv").arg(file).args(["--column", "temp", "--json"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = text.lines().count() as u64 - 1;
    let left_out: u64 = summary["left_out"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    assert_eq!(summary["readings"].as_u64().unwrap() + left_out, rows);
    // Vienna's clocks skip 02:00 of 28 March.
    assert_eq!(summary["left_out"]["no-such-time"], 1, "{summary}");
    let windows = plant.windows();
    assert_eq!(windows.len(), 53);
    let sent: usize = windows.iter().map(|received| received.readings["temperature"].len()).sum();
    assert_eq!(sent as u64, summary["readings"].as_u64().unwrap());
    let values: Vec<f64> =
        text.lines().skip(1).filter_map(|line| line.split(',').nth(1)?.parse().ok()).collect();
    let first: Vec<f64> = windows[0].readings["temperature"].iter().map(|(_, value)| *value).collect();
    assert_eq!(first, values[..first.len()]);
}

#[test]
fn a_source_that_ends_too_early_is_told() {
    let other = stream("other", vec![channel("pressure", 0.0, 10.0)], 300, 300_000, Span::Day);
    let plant = Plant::new(vec![days(), other]);
    let file = plant.write("machine.csv", "timestamp,temperature,pressure\n2014-02-14T00:00:00Z,1,\n");
    let with = |options: &[&str]| {
        let mut command = plant.command("run");
        command.arg("--csv").arg(&file).args(["--column", "temperature=temperature"]).args(options);
        complaint(&command.output().unwrap())
    };
    let once = with(&["--once"]);
    assert!(once.contains("the source ended before stream other had a reading"), "{once}");
    assert_eq!(plant.cloud.uploads().len(), 1, "what there was is sent");
    // Nothing of a column with empty cells is lost.
    let to_the_end = plant.command("run").arg("--csv").arg(&file).output().unwrap();
    let said = String::from_utf8_lossy(&to_the_end.stderr);
    assert!(to_the_end.status.success() && said.contains("channel pressure has no reading"), "{said}");
    let column = with(&["--once", "--column", "pressure=y"]);
    assert!(column.contains("no column \"y\"") && column.contains("\"temperature\""), "{column}");
}

#[test]
fn a_stream_is_fed_with_the_channels_that_its_files_have() {
    let channels = ["water", "door", "power"].map(|name| channel(name, 0.0, 10.0));
    let joined = StreamProfile { channels: channels.to_vec(), ..days() };
    let plant = Plant::new(vec![joined]);
    let file = |name: &str, header: &str, row: &str| {
        plant.write(name, &format!("time,{header}\n2014-02-14T00:00:00Z,{row}\n"))
    };
    let sent = |files: &[&Path], options: &[&str]| {
        let mut command = plant.command("run");
        for file in files {
            command.arg("--csv").arg(file);
        }
        let output = command.args(options).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    };
    let (water, others) = (file("a.csv", "water", "1"), file("b.csv", "door,power", "2,3"));
    let (code, said) = sent(&[&water], &["--column", "water=watt"]);
    assert_eq!(code, Some(1), "{said}");
    let mistyped = file("c.csv", "water,dor,power", "1,2,3");
    let (code, said) = sent(&[&mistyped], &[]);
    assert!(code == Some(1) && said.contains("--column door= leaves it out"), "{said}");
    let (code, said) = sent(&[&mistyped], &["--column", "door=", "--column", "power="]);
    assert!(code == Some(0) && !said.contains("sent without"), "it is known that there are none: {said}");
    let plant = Plant::new(vec![StreamProfile { channels: channels.to_vec(), ..days() }]);
    let run = |files: &[&Path]| {
        let mut command = plant.command("run");
        for file in files {
            command.arg("--csv").arg(file);
        }
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let readings = || {
        let of = |name: &str| plant.windows().iter().map(|window| window.readings[name].len()).sum::<usize>();
        ["water", "door", "power"].map(of)
    };
    let no_time = file("d.csv", "water", "1\nno time,1");
    let (code, said) = run(&[&no_time]);
    assert!(
        code == Some(0) && said.contains("sent without door") && said.contains("--column power=NAME"),
        "{said}"
    );
    assert_eq!(readings(), [1, 0, 0]);
    // The readings of the file with the others are added.
    let (code, said) = run(&[&water, &others]);
    assert!(code == Some(0) && said.contains("gives no reading of door"), "{said}");
    assert_eq!(readings(), [1, 1, 1]);
}

fn complaint(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn wrong_files_and_options_are_named_with_the_way_out() {
    let plant = Plant::new(vec![days()]);
    let file = plant.write("machine.csv", "timestamp,value\n2014-02-14T00:00:00Z,1\n");
    let run = |bundle: &Path, extra: &[&str]| {
        let mut command = agent();
        command.args(["run", "--bundle"]).arg(bundle).arg("--csv").arg(&file).args(extra);
        complaint(&command.output().unwrap())
    };
    let bundle = plant.path("boiler.bundle");
    let other = plant.write("profile.json", "{}");
    #[cfg(unix)]
    std::fs::set_permissions(&other, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let none = plant.path("none.bundle");
    for (complaint, says) in [
        (run(&other, &[]), ["profile.json", "pass the bundle"]),
        (run(&none, &[]), ["none.bundle", "pass the bundle"]),
        (run(&bundle, &["--column", "temp=value"]), ["\"temp\"", "\"temperature\""]),
        (run(&bundle, &["--column", "temperature=valu"]), ["valu", "value"]),
        (run(&bundle, &["--cloud", "boiler"]), ["boiler", "http://host:port"]),
        (run(&bundle, &[]), ["no column \"temperature\"", "--column temperature=NAME"]),
    ] {
        assert!(says.iter().all(|says| complaint.contains(says)), "{says:?}: {complaint}");
    }
    // Too many steps for the parameters, and too many channels for a description.
    for (refused, says) in [
        (
            stream("wide", vec![channel("x", 0.0, 10_000.0)], 8, 1000, Span::Day),
            "stream wide: a reading can become 50000",
        ),
        (
            stream(
                "many",
                (0..300).map(|i| channel(&format!("channel-{i}"), 0.0, 1.0)).collect(),
                8,
                1000,
                Span::Day,
            ),
            "stream many: a description of",
        ),
        (StreamProfile { span: None, ..days() }, "stream days: it has no span"),
        (
            StreamProfile { compact: serde_json::from_str(r#"{"width":30}"#).unwrap(), ..days() },
            "stream days: its windows are places",
        ),
        (
            StreamProfile { channels: Vec::new(), encoding: Encoding::Real, ..days() },
            "stream days: it has no channels",
        ),
    ] {
        let plant = Plant::new(vec![refused]);
        let numbered = (0..300).map(|i| format!("channel-{i}")).collect::<Vec<_>>();
        let header = format!("x,temperature,{}", numbered.join(","));
        let file = plant.write("machine.csv", &format!("timestamp,{header}\n2014-02-14T00:00:00Z,1\n"));
        let output = plant.command("run").arg("--csv").arg(file).output().unwrap();
        assert!(complaint(&output).contains(says), "{says}: {output:?}");
    }
    // Another device's spool.
    std::fs::create_dir(plant.path("other.spool")).unwrap();
    plant.write("other.spool/state.json", r#"{"device":"pump","next":{}}"#);
    let spool = plant.path("other.spool");
    let why = run(&bundle, &["--column", "value", "--spool", spool.to_str().unwrap()]);
    assert!(why.contains("device pump, not of boiler"), "{why}");
    assert!(plant.cloud.uploads().is_empty());
}
