//! Names and settings that change after readings were sent: every reading stays in answers, or a note says which are not.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;
use tokio::runtime::Runtime;

use crate::session::{self, send_text, sotto};

/// A plant with a device, and a cloud that serves.
struct Plant {
    outside: tempfile::TempDir,
    _cloud: Runtime,
}

impl Plant {
    fn new() -> Self {
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path();
        let run = |arguments: &[&str]| sotto(folder, arguments).unwrap();
        run(&["init", "plant", "--time-zone", "UTC"]);
        for name in ["heat", "flow"] {
            let channel =
                ["channel", "add", name, "--unit", "kW", "--range", "0..100", "--resolution", "0.1"];
            run(&[&channel[..], &["--every", "1h"]].concat());
        }
        run(&["question", "add", "daily", "sum(heat), mean(flow) by day"]);
        run(&["alarm", "add", "hot", "heat > 90"]);
        let cloud = session::serve(folder);
        run(&["device", "add", "boiler", "--channels", "heat,flow"]);
        run(&["question", "add", "one", "max(heat) where device in (boiler)"]);
        Self { outside, _cloud: cloud }
    }

    fn run(&self, arguments: &[&str]) -> String {
        sotto(self.outside.path(), arguments).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
    }

    fn refused(&self, arguments: &[&str]) -> String {
        sotto(self.outside.path(), arguments).unwrap_err()
    }

    /// Sends days of hourly readings, all of them `heat` and `flow`.
    fn send(&self, bundle: &str, days: std::ops::Range<u32>, heat: f64, flow: f64) {
        self.send_columns(bundle, days, &[("heat", heat), ("flow", flow)]);
    }

    fn send_columns(&self, bundle: &str, days: std::ops::Range<u32>, columns: &[(&str, f64)]) {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let values: Vec<String> = columns.iter().map(|(_, value)| value.to_string()).collect();
        let mut text = format!("time,{}\n", names.join(","));
        for hour in 0..24 * (days.end - days.start) {
            let (day, of_day) = (1 + days.start + hour / 24, hour % 24);
            writeln!(text, "2024-01-{day:02}T{of_day:02}:00:00Z,{}", values.join(",")).unwrap();
        }
        send_text(self.outside.path(), bundle, &text);
    }

    fn ask(&self, question: &str) -> Value {
        let (code, said) = session::output(self.outside.path(), &["ask", question, "--json"]);
        let mut answer: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(i64::from(code), answer["empty"]["exit_code"].as_i64().unwrap_or_default(), "{said}");
        for what in ["rows", "notes"] {
            assert!(answer[what].is_array(), "{answer}");
        }
        answer["seconds"] = Value::Null;
        answer
    }

    /// Returns the values and the counts of a question.
    fn values(&self, question: &str) -> Vec<(f64, u64)> {
        let answer = self.ask(question);
        let rows = answer["rows"].as_array().unwrap().iter();
        rows.map(|row| (row["value"].as_f64().unwrap_or(f64::NAN), row["count"].as_u64().unwrap())).collect()
    }

    fn notes(&self, question: &str) -> Vec<String> {
        let answer = self.ask(question);
        answer["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap().to_owned()).collect()
    }

    fn edit(&self, from: &str, to: &str) {
        let file = self.outside.path().join("plant/sotto.toml");
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(&file, text.replace(from, to)).unwrap();
    }

    fn settings(&self) -> String {
        fs::read_to_string(self.outside.path().join("plant/sotto.toml")).unwrap()
    }
}

#[test]
fn renamed_channels_and_devices_keep_their_readings() {
    let plant = Plant::new();
    plant.send("boiler.bundle", 0..2, 10.0, 5.0);
    let whole = vec![(240.0, 24), (5.0, 24), (240.0, 24), (5.0, 24)];
    assert_eq!(plant.values("daily"), whole);

    plant.run(&["channel", "rename", "heat", "warmth"]);
    plant.run(&["device", "rename", "boiler", "cellar"]);
    let text = plant.settings();
    for expected in
        ["sum(warmth)", "[channels.warmth]", "wire = \"heat\"", "wire = \"boiler\"", "device in (cellar)"]
    {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(text.contains("warmth > 90"), "{text}");
    assert_eq!(plant.values("daily"), whole);
    let answer = plant.ask("max(warmth) per device");
    assert_eq!(answer["rows"][0]["device"], "cellar");
    assert_eq!(answer["rows"][0]["count"], 48);
    assert!(answer["took_part"]["cellar"].is_u64(), "{answer}");
    assert_eq!(plant.notes("daily"), Vec::<String>::new());
    assert!(plant.refused(&["ask", "sum(heat)"]).contains("heat is called warmth now"));
    assert!(plant.run(&["status"]).contains("cellar: "));
    assert!(plant.run(&["check"]).contains("nothing is missing"));

    // A new bundle goes on under the first names, and the device needs no new options.
    plant.run(&["device", "renew", "cellar"]);
    plant.send("cellar-2.bundle", 2..3, 10.0, 5.0);
    assert_eq!(plant.values("sum(warmth)"), [(720.0, 72)]);
    assert_eq!(plant.values("one")[0].1, 72);

    // The old names belong to the old readings.
    let refused =
        plant.refused(&["channel", "add", "heat", "--range", "0..1", "--resolution", "0.1", "--every", "1h"]);
    assert!(refused.contains("the readings of channel warmth are stored as heat"), "{refused}");
    let refused =
        plant.refused(&["device", "add", "boiler", "--channels", "flow", "--bundle", "other.bundle"]);
    assert!(refused.contains("the readings of device cellar are stored as boiler"), "{refused}");
    assert_eq!(plant.values("sum(warmth)"), [(720.0, 72)]);

    plant.run(&["device", "rename", "cellar", "boiler"]);
    plant.run(&["channel", "rename", "warmth", "heat"]);
    assert!(!plant.settings().contains("wire ="), "{}", plant.settings());
    assert_eq!(plant.values("sum(heat)"), [(720.0, 72)]);
}

#[test]
fn a_removed_device_keeps_its_months() {
    let plant = Plant::new();
    plant.send("boiler.bundle", 0..2, 10.0, 5.0);
    plant.run(&["device", "add", "pump", "--channels", "heat,flow"]);
    plant.send("pump.bundle", 0..2, 1.0, 5.0);
    assert_eq!(plant.values("sum(heat)"), [(528.0, 96)]);
    plant.run(&["device", "rename", "boiler", "cellar"]);
    plant.run(&["device", "remove", "cellar"]);
    assert_eq!(plant.values("sum(heat)"), [(528.0, 96)]);
    let notes = plant.notes("sum(heat)");
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(
        notes[0].starts_with("cellar was removed on 20") && notes[0].ends_with("its 2 windows count"),
        "{notes:?}"
    );
    assert_eq!(plant.values("sum(heat) where device in (cellar)"), [(480.0, 48)]);

    // The shown command brings it back, under its last name.
    plant.run(&["device", "add", "cellar"]);
    assert!(plant.settings().contains("wire = \"boiler\""), "{}", plant.settings());
    assert_eq!(plant.values("sum(heat)"), [(528.0, 96)]);
    assert_eq!(plant.notes("sum(heat)"), Vec::<String>::new());
    assert!(plant.refused(&["device", "add", "attic"]).contains("name its channels"));
    plant.run(&["device", "remove", "cellar"]);

    // By hand, too.
    let text = plant.settings();
    let at = text.find("[devices.pump]").unwrap();
    fs::write(plant.outside.path().join("plant/sotto.toml"), &text[..at]).unwrap();
    assert_eq!(plant.values("sum(heat)"), [(528.0, 96)]);
    let notes = plant.notes("sum(heat)");
    assert!(
        notes.iter().any(|note| note == "pump is not in sotto.toml any more; its 2 windows count"),
        "{notes:?}"
    );

    // A device without a secret is told, until its windows are forgotten.
    fs::remove_file(plant.outside.path().join("plant/devices/pump.json")).unwrap();
    let notes = plant.notes("sum(heat)");
    assert!(notes.iter().any(|note| note.contains("the cloud has 2 windows of pump")), "{notes:?}");
    plant.run(&["forget", "--device", "pump", "--before", "2025-01-01", "--yes"]);
    assert_eq!(plant.notes("sum(heat)").len(), 1);
    assert_eq!(plant.values("sum(heat)"), [(480.0, 48)]);
}

#[test]
fn settings_edited_later_leave_old_readings_in_answers_or_say_so() {
    let plant = Plant::new();
    plant.send("boiler.bundle", 0..2, 10.0, 5.0);
    // A wider range and a finer resolution: old windows answer with their own.
    plant.edit("range = [0, 100]\nresolution = 0.1", "range = [-50, 200]\nresolution = 0.05");
    assert_eq!(plant.values("sum(heat)"), [(480.0, 48)]);
    plant.run(&["device", "renew", "boiler"]);
    plant.send("boiler-2.bundle", 2..3, 150.0, 5.0);
    assert_eq!(plant.values("sum(heat), max(heat)")[0], (480.0 + 24.0 * 150.0, 72));
    let max = plant.ask("max(heat)")["rows"][0]["value"].as_f64().unwrap();
    assert!((max - 150.0).abs() < 10.0, "{max}");

    // Another period.
    plant.edit("every = \"1h\"", "every = \"30m\"");
    assert_eq!(plant.values("sum(heat)")[0], (480.0 + 24.0 * 150.0, 72));

    // Another unit leaves the old ones out, of this channel alone, and says so.
    plant.edit("[channels.heat]\nunit = \"kW\"", "[channels.heat]\nunit = \"W\"");
    assert_eq!(plant.values("mean(flow)"), [(5.0, 72)]);
    assert_eq!(plant.notes("mean(flow)"), Vec::<String>::new());
    let notes = plant.notes("sum(heat)");
    assert!(
        notes
            .iter()
            .any(|note| note.contains("3 windows of boiler were left out, as each has a channel whose unit")),
        "{notes:?}"
    );
    assert_eq!(plant.ask("sum(heat)")["empty"]["cause"], "other-unit");

    // A name that was changed by hand.
    plant.edit("[channels.flow]", "[channels.water]");
    plant.edit("mean(flow)", "mean(water)");
    plant.edit("\"flow\"", "\"water\"");
    let failed = plant.refused(&["ask", "mean(water)"]);
    assert!(failed.contains("no device sends") || failed.contains("flow"), "{failed}");
}

#[test]
fn a_channel_that_a_later_bundle_leaves_out_keeps_its_readings() {
    let plant = Plant::new();
    plant.run(&["question", "add", "pair", "covariance(heat, flow) by day"]);
    plant.run(&["device", "renew", "boiler"]);
    plant.send("boiler-2.bundle", 0..4, 10.0, 5.0);
    plant.edit("channels = [\"heat\", \"flow\"]", "channels = [\"heat\"]");
    plant.run(&["device", "renew", "boiler"]);
    // Sent again from the middle of a day, without flow.
    let mut text = "time,heat\n".to_owned();
    for hour in 30..120 {
        writeln!(text, "2024-01-{:02}T{:02}:00:00Z,10", 1 + hour / 24, hour % 24).unwrap();
    }
    send_text(plant.outside.path(), "boiler-3.bundle", &text);
    assert_eq!(plant.values("mean(flow)"), [(5.0, 96)]);
    assert_eq!(plant.values("sum(heat)"), [(1200.0, 120)]);
    let both = plant.values("sum(heat), sum(flow), covariance(heat, flow)");
    assert_eq!(both.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [120, 96, 96]);
    assert_eq!((both[0].0, both[1].0), (1200.0, 480.0));
}

#[test]
fn a_later_bundle_with_gaps_leaves_the_earlier_readings() {
    let plant = Plant::new();
    plant.send("boiler.bundle", 0..2, 10.0, 5.0);
    plant.run(&["device", "renew", "boiler"]);
    let text =
        "time,heat,flow\n2024-01-01T00:00:00Z,20,5\n2024-01-01T23:00:00Z,20,5\n2024-01-02T12:00:00Z,20,\n";
    send_text(plant.outside.path(), "boiler-2.bundle", text);
    assert_eq!(plant.values("sum(heat)"), [(45.0 * 10.0 + 3.0 * 20.0, 48)]);
    assert_eq!(plant.values("mean(flow)"), [(5.0, 48)]);
    let status: Value = serde_json::from_str(&plant.run(&["status", "--json"])).unwrap();
    let device = &status["devices"][0];
    assert_eq!((&device["windows"], &device["channels"][0]["readings"]), (&4.into(), &48.into()), "{device}");
    assert_eq!(device["channels"][0]["missing"], 0);
}

#[test]
fn channels_of_two_bundles_count_each_by_itself() {
    let plant = Plant::new();
    plant.run(&[
        "channel",
        "add",
        "level",
        "--unit",
        "m",
        "--range",
        "0..9",
        "--resolution",
        "1",
        "--every",
        "1h",
    ]);
    plant.send("boiler.bundle", 0..1, 10.0, 5.0);
    plant.edit("channels = [\"heat\", \"flow\"]", "channels = [\"flow\", \"level\"]");
    plant.run(&["device", "renew", "boiler"]);
    plant.send_columns("boiler-2.bundle", 0..1, &[("flow", 5.0), ("level", 3.0)]);
    let counts =
        |question: &str| plant.values(question).into_iter().map(|(_, count)| count).collect::<Vec<_>>();
    for question in ["sum(heat), sum(flow), sum(level)", "sum(heat), sum(flow)", "sum(flow), sum(level)"] {
        assert!(counts(question).iter().all(|count| *count == 24), "{question}: {:?}", counts(question));
    }
    assert_eq!(plant.values("sum(heat), sum(flow), sum(level)")[1].0, 120.0);
    assert_eq!(plant.notes("sum(heat), sum(flow), sum(level)"), Vec::<String>::new());
}
