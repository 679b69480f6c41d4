//! Places of devices, every channel by `*`, and parameters, beside a plain computation on the readings.

use serde_json::Value;

use crate::session::sotto;
use crate::tags::{DEVICES, HOURS, Plant, mean, readings};

#[test]
fn devices_are_ranked_by_a_result() {
    let plant = Plant::new();
    plant.run(&["device", "add", "attic", "--channels", "heat"]);
    let means = |hours: std::ops::Range<i64>| {
        let mut means: Vec<(&str, f64)> = DEVICES
            .iter()
            .enumerate()
            .map(|(at, name)| (*name, mean(&readings(&[at], 0, hours.clone()))))
            .collect();
        means.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        means
    };
    let all = means(0..HOURS);
    plant.same("top 2 devices of mean(heat)", &all[..2]);
    plant.same("top 9 devices of mean(heat)", &all);
    let smallest: Vec<(&str, f64)> = all.iter().rev().copied().collect();
    plant.same("bottom 2 devices of mean(heat)", &smallest[..2]);
    plant.same("bottom 1 device of mean(heat) per device", &smallest[..1]);
    let days: Vec<(&str, f64)> =
        (0..3).flat_map(|day| means(24 * day..24 * day + 24)[..2].to_vec()).collect();
    plant.same("top 2 devices of mean(heat) by day", &days);
    // Without a value in any row, the cause is that of the rows before they are ranked.
    for question in ["mean(heat) offset 1y per device", "top 2 devices of mean(heat) offset 1y"] {
        assert!(plant.answer(question)["empty"].is_null(), "{question}");
    }
    let of = |(name, _): &&(&str, f64)| *name != "boiler";
    let first: Vec<(&str, f64)> = all.iter().filter(of).copied().take(1).collect();
    plant.same("top 1 device of mean(heat) where device in (tank, roof)", &first);
    // Another result stands beside the one that decides.
    let answer = plant.answer("top 2 devices of mean(heat), max(flow)");
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    assert!(rows.iter().all(|row| row["rank"]["place"].is_u64()), "{answer}");
    assert_eq!((&rows[2]["device"], &rows[2]["rank"]["place"]), (&all[1].0.into(), &2.into()));
    let notes = answer["notes"].to_string();
    assert!(notes.contains("without a value, and in no place: attic"), "{notes}");
    // Each device has as many readings.
    let answer = plant.answer("top 2 devices of count(heat)");
    let places: Vec<Value> =
        answer["rows"].as_array().unwrap().iter().map(|row| row["rank"].clone()).collect();
    let tie = serde_json::json!({"place": 1, "next": "equal"});
    assert_eq!(places, [tie.clone(), tie]);
    assert!(answer["notes"].to_string().contains("place 2 is open"), "{answer}");
    let table = plant.run(&["ask", "top 2 devices of count(heat)"]);
    assert!(table.contains(" place ") && table.contains(" 1 = "), "{table}");
    for (question, words) in [
        ("top 0 devices of mean(heat)", "from 1 to 1000"),
        ("top devices of mean(heat)", "outside of a function"),
        ("top 3 of mean(heat)", "devices"),
        ("top 3 devices of histogram(heat, 4)", "give no order"),
        ("top 3 devices of mean(heat) per tag", "exclude each other"),
        ("topk(3, heat)", "top 3 devices of mean(x)"),
        ("top 3 devices of mean(heat of boiler)", "says nothing"),
    ] {
        let said = plant.refused(question);
        assert!(said.contains(words) && said.contains('^'), "{question}: {said}");
    }
}

#[test]
fn a_star_stands_for_every_channel_of_the_devices_asked_for() {
    let plant = Plant::new();
    let names = |question: &str| {
        let answer = plant.answer(question);
        let names =
            answer["rows"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    let all = 0..HOURS;
    let [heat, flow] = [0, 1].map(|channel| mean(&readings(&[0, 1, 2], channel, all.clone())));
    plant.same("mean(*)", &[("", flow), ("", heat)]);
    let of = |channel: usize| mean(&readings(&[0], channel, all.clone()));
    plant.same("mean(* of boiler) - mean(heat of boiler)", &[("", of(1) - of(0)), ("", 0.0)]);
    assert_eq!(names("mean(*) as m, max(heat)"), ["m.flow", "m.heat", "max(heat)"]);
    let said = plant.refused("top 2 devices of mean(*)");
    assert!(
        said.contains("name the channel of the first, as in top 2 devices of mean(x), mean(*)"),
        "{said}"
    );
    let said = plant.run(&["question", "add", "every", "mean(*) where device in (boiler)"]);
    assert!(said.contains("question every: mean(*) where"), "{said}");
}

#[test]
fn a_star_follows_new_channels_and_names_those_that_it_leaves_out() {
    let plant = Plant::new();
    plant.run(&["question", "add", "every", "mean(*) by day per device"]);
    plant.run(&["channel", "add", "mode", "--states", "off,on,auto", "--every", "1h"]);
    plant.run(&[
        "channel",
        "add",
        "light",
        "--unit",
        "lx",
        "--range",
        "0..9",
        "--resolution",
        "1",
        "--every",
        "1h",
    ]);
    plant.run(&["device", "add", "mast", "--channels", "heat,mode,light"]);
    let names = |question: &str| {
        let answer = plant.answer(question);
        let names =
            answer["rows"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_owned());
        (names.collect::<std::collections::BTreeSet<_>>(), answer["notes"].to_string())
    };
    let (every, notes) = names("every");
    assert_eq!(every.into_iter().collect::<Vec<_>>(), ["mean(flow)", "mean(heat)", "mean(light)"]);
    assert!(notes.contains("mean(*) leaves out mode (state)"), "{notes}");
    let (boiler, notes) = names("max(*) where device in (boiler)");
    assert_eq!(boiler.into_iter().collect::<Vec<_>>(), ["max(flow)", "max(heat)"]);
    assert!(!notes.contains("leaves out"), "{notes}");
    assert!(names("count(*)").0.contains("count(mode)"));
    let (sums, notes) = names("mean(*) - mean(heat)");
    assert_eq!(sums.len(), 2, "{notes}");
    assert!(notes.contains("light (lx and kW cannot be added"), "{notes}");
    for (question, words) in
        [("increase(*)", "makes sense of no channel"), ("mean(*) in °F", "makes sense of no channel")]
    {
        assert!(plant.refused(question).contains(words), "{question}");
    }
    let said = sotto(plant.outside.path(), &["alarm", "add", "any", "mean(*) > 3"]).unwrap_err();
    assert!(said.contains("in the place of *"), "{said}");
}

#[test]
fn declared_questions_have_parameters() {
    let plant = Plant::new();
    let text = "mean(heat) where device in ($room)";
    let said = plant.run(&["question", "add", "report", text]);
    assert!(said.starts_with(&format!("question report: {text}; asked with --room ROOM\n")), "{said}");
    plant.run(&["question", "add", "part", "top $n devices of mean(heat) since $from where time $hours"]);
    let all = 0..HOURS;
    let heat = |devices: &[usize]| mean(&readings(devices, 0, all.clone()));
    let asked = |arguments: &[&str]| -> Value {
        serde_json::from_str(&plant.run(&[&["ask", "--json"], arguments].concat())).unwrap()
    };
    let value = |answer: &Value| answer["rows"][0]["value"].as_f64().unwrap();
    let answer = asked(&["report", "--room", "boiler"]);
    assert!((value(&answer) - heat(&[0])).abs() < 1e-9);
    assert_eq!(answer["question"], "mean(heat) where device in (boiler)");
    assert!((value(&asked(&["report", "--room=boiler,roof"])) - heat(&[0, 2])).abs() < 1e-9);
    assert!((value(&asked(&["report", "--with", "room=tank"])) - heat(&[1])).abs() < 1e-9);
    let answer = asked(&["part", "--n", "1", "--from", "2024-01-02", "--hours", "06:00-12:00"]);
    assert_eq!(answer["rows"].as_array().unwrap().len(), 1);
    assert_eq!(answer["rows"][0]["count"], 12);
    let failed =
        |arguments: &[&str]| sotto(plant.outside.path(), &[&["ask"], arguments].concat()).unwrap_err();
    for (arguments, words) in [
        (&["report"][..], "`sotto ask report --room ROOM`"),
        (&["report", "--rom", "boiler"], "did you mean --room?"),
        (&["report", "--room", "boilr"], "did you mean boiler?"),
        (&["report", "--room", "boiler", "--room", "tank"], "comes twice"),
        (&["part", "--n", "many", "--from", "2024-01-02", "--hours", "06:00-12:00"], "from 1 to 1000"),
        (&["part", "--n", "1", "--from", "soon", "--hours", "06:00-12:00"], "expected a moment"),
        (&["mean(heat)", "--room", "boiler"], "no parameter room; it has none"),
    ] {
        let said = failed(arguments);
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
    let listed = plant.run(&["question", "list"]);
    assert!(listed.contains(&format!("report: {text}; asked with --room ROOM\n")), "{listed}");
    let listed: Value = serde_json::from_str(&plant.run(&["question", "list", "--json"])).unwrap();
    assert_eq!(listed["part"]["parameters"], serde_json::json!(["n", "from", "hours"]));
    assert_eq!(listed["daily"]["parameters"], serde_json::json!([]));
    // Every device may be asked for, so that the streams are those of the question about all.
    let planned = |text: &str| {
        let said = plant.run(&["plan", text]);
        // Predicted times are those of this moment.
        said.lines().filter(|line| !line.contains("predicted")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(planned("report"), planned("mean(heat)"));
    let refused = |text: &str| sotto(plant.outside.path(), &["question", "add", "bad", text]).unwrap_err();
    assert!(refused("mean($x)").contains("what devices send"));
    assert!(refused("mean(heat) since $since").contains("--since is an option of sotto ask"));
    plant.run(&["device", "rename", "roof", "top"]);
    assert!((value(&asked(&["report", "--room", "top"])) - heat(&[2])).abs() < 1e-9);
}
