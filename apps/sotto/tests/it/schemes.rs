//! Exact questions both ways, from the same readings: sums with tags, and ciphertexts that the cloud evaluates.

use std::path::Path;

use serde_json::Value;

use crate::session::{self, send_days, sotto};

/// Exact results of one channel and of two, over all days and by day.
const RESULTS: [&str; 4] = [
    "count(heat), sum(heat), mean(heat), variance(heat), energy(heat)",
    "covariance(heat, flow), weighted_sum(heat, half_life 6h)",
    "mean(flow), stddev(flow) by day",
    "min(heat), max(flow), count(heat > 1.25), histogram(flow, [0, 1, 2, 5])",
];

/// The questions without a scheme, under BFV and under BGV.
const WAYS: [(&str, Option<&str>); 3] = [("added", None), ("bfv", Some("bfv")), ("bgv", Some("bgv"))];

fn plant(folder: &Path) -> tokio::runtime::Runtime {
    let run = |arguments: &[&str]| sotto(folder, arguments).unwrap();
    run(&["init", "plant", "--time-zone", "UTC"]);
    for name in ["heat", "flow"] {
        let channel = ["channel", "add", name, "--unit", "kW", "--range", "0..10", "--resolution", "0.1"];
        run(&[&channel[..], &["--every", "1h"]].concat());
    }
    session::serve(folder)
}

fn declare(folder: &Path, name: &str, text: &str, scheme: Option<&str>) -> String {
    let scheme: Vec<&str> = scheme.into_iter().flat_map(|scheme| ["--scheme", scheme]).collect();
    sotto(folder, &[&["question", "add", name, text], &scheme[..]].concat()).unwrap()
}

fn ask(folder: &Path, question: &str) -> Value {
    let said = sotto(folder, &["ask", question, "--json", "--verify"]).unwrap();
    serde_json::from_str(&said).unwrap()
}

/// The words of an answer: the schemes of its windows, and its notes.
fn words(answer: &Value, of: &str) -> String {
    answer[of].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

/// Values, bounds, counts and numbers of missing readings.
fn rows(answer: &Value) -> Vec<[Option<f64>; 4]> {
    let of_row = |row: &Value| ["value", "bound", "count", "missing"].map(|key| row[key].as_f64());
    answer["rows"].as_array().unwrap().iter().map(of_row).collect()
}

#[test]
fn the_same_readings_give_the_same_answer_both_ways() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path();
    let _cloud = plant(folder);
    for (way, scheme) in WAYS {
        for (number, text) in RESULTS.iter().enumerate() {
            declare(folder, &format!("{way}{number}"), text, scheme);
        }
    }
    let said = sotto(folder, &["device", "add", "boiler", "--channels", "heat,flow"]).unwrap();
    assert!(["exact-1h: sums", "bfv-1h: BFV", "bgv-1h: BGV"].iter().all(|row| said.contains(row)), "{said}");
    send_days(folder, "boiler.bundle", 0..2, 0);
    for (number, text) in RESULTS.iter().enumerate() {
        let answers = WAYS.map(|(way, _)| ask(folder, &format!("{way}{number}")));
        for ((way, scheme), answer) in WAYS.iter().zip(&answers) {
            let schemes = scheme.map_or("sums".to_owned(), str::to_uppercase);
            assert_eq!(words(answer, "schemes"), schemes, "{way}{number}");
            assert_eq!(answer["scheme"].as_str(), *scheme);
            // The other windows of the same readings are not missing, and nothing is left out.
            let is_counted = !words(answer, "notes").contains("left out");
            assert!(is_counted, "{way}{number}: {}", words(answer, "notes"));
        }
        let [added, bfv, bgv] = answers.each_ref().map(rows);
        assert!(!added.is_empty() && added.iter().flatten().all(Option::is_some), "{}", answers[0]);
        assert_eq!(bfv, bgv, "question {number}");
        if number < 3 {
            for (added, bfv) in added.iter().zip(&bfv) {
                let ([Some(a), Some(within), count, missing], [Some(b), Some(bound), ..]) = (added, bfv)
                else {
                    panic!("question {number}: {text}")
                };
                // Windows of sums count the readings that were rounded: here none was. Weights are approximated.
                let most = if text.contains("weighted_sum") { 2e-4 } else { 1e-9 };
                assert!((a - b).abs() < 1e-9 && *within < most && within <= bound, "{added:?} {bfv:?}");
                assert_eq!([count, missing], [&bfv[2], &bfv[3]], "question {number}: {text}");
            }
            continue;
        }
        // Under a scheme readings come down and are compared themselves: extremes are off by half a step.
        for (added, bfv) in added.iter().zip(&bfv) {
            let ([Some(a), Some(within), ..], [Some(b), Some(exact), ..]) = (added, bfv) else { panic!() };
            assert!(
                (a - b).abs() <= within + exact && *exact <= within.max(0.05 + 1e-9),
                "{added:?} {bfv:?}"
            );
        }
        assert!(
            words(&answers[1], "notes").contains("ciphertexts carry no counts"),
            "{}",
            answers[1]["notes"]
        );
    }
    // The cloud multiplies under BFV, and adds sums.
    let steps = |question: &str| ask(folder, question)["steps"].as_object().unwrap().clone();
    assert!(steps("bfv0")["multiply"].as_u64() > Some(0) && !steps("added0").contains_key("multiply"));
    let verified = sotto(folder, &["verify"]).unwrap();
    assert!(verified.contains("holds"), "{verified}");
    // A question that states no scheme takes sums, declared or not.
    assert_eq!(words(&ask(folder, "mean(heat)"), "schemes"), "sums");
    // Each reading counts once, in whatever forms it was sent.
    let status = sotto(folder, &["status"]).unwrap();
    assert!(status.contains("heat: 48 readings") && status.contains("boiler: 6 windows"), "{status}");
}

/// Sums without squares do not hide the ciphertexts that carry them.
#[test]
fn a_question_without_a_scheme_takes_the_windows_that_carry_it() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path();
    let _cloud = plant(folder);
    declare(folder, "daily", "mean(heat) by day", None);
    declare(folder, "papers", "stddev(heat) by day", Some("bfv"));
    sotto(folder, &["device", "add", "boiler", "--channels", "heat"]).unwrap();
    send_days(folder, "boiler.bundle", 0..2, 0);
    let [stated, any] = [ask(folder, "papers"), ask(folder, "stddev(heat) by day")];
    assert_eq!((words(&any, "schemes"), rows(&any).len()), ("BFV".to_owned(), 2));
    assert_eq!(rows(&any), rows(&stated));
    for question in ["daily", "mean(heat) by day", "sum(heat)"] {
        let answer = ask(folder, question);
        assert_eq!((words(&answer, "schemes"), words(&answer, "notes")), ("sums".to_owned(), String::new()));
    }
}

#[test]
fn windows_from_before_a_scheme_was_stated_are_left_out_with_a_note() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path();
    let _cloud = plant(folder);
    declare(folder, "daily", "mean(heat) by day", None);
    sotto(folder, &["device", "add", "boiler", "--channels", "heat"]).unwrap();
    send_days(folder, "boiler.bundle", 0..1, 0);
    // Declared later: the bundle does not serve it, and the answer says the way out.
    let said = declare(folder, "papers", "mean(heat) by day", Some("bfv"));
    assert!(said.contains("it sends no bfv stream") && said.contains("sotto device renew boiler"), "{said}");
    let refused = sotto(folder, &["ask", "papers"]).unwrap_err();
    assert!(refused.contains("under BFV") && refused.contains("sotto device renew boiler"), "{refused}");
    sotto(folder, &["question", "remove", "daily"]).unwrap();
    sotto(folder, &["device", "renew", "boiler", "--bundle", "later.bundle"]).unwrap();
    send_days(folder, "later.bundle", 1..3, 0);
    let [stated, any] = [ask(folder, "papers"), ask(folder, "mean(heat) by day")];
    let notes = words(&stated, "notes");
    assert!(notes.contains("1 window of boiler was left out: it was not sent under BFV"), "{notes}");
    assert_eq!((words(&stated, "schemes"), rows(&stated).len()), ("BFV".to_owned(), 2));
    // Without a scheme the earlier sums count, and the later ciphertexts too.
    assert_eq!((words(&any, "schemes"), rows(&any).len()), ("BFV\nsums".to_owned(), 3));
    assert_eq!(rows(&any)[1..], rows(&stated)[..]);
    assert_eq!(words(&any, "notes"), "");
}

#[test]
fn comparable_channels_are_compared_under_the_scheme_by_the_cloud() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path();
    let run = |arguments: &[&str]| sotto(folder, arguments).unwrap();
    run(&["init", "plant", "--time-zone", "UTC"]);
    let channel = ["channel", "add", "heat", "--unit", "kW", "--range", "0..10", "--resolution", "0.1"];
    run(&[&channel[..], &["--every", "1h", "--comparable"]].concat());
    let _cloud = session::serve(folder);
    // Reals of the question are evaluated under CKKS all the same.
    declare(folder, "hot", "count(heat >= 2), mean(heat), mean(polynomial(heat, [1, 2]))", Some("bgv"));
    run(&["device", "add", "boiler", "--channels", "heat"]);
    send_days(folder, "boiler.bundle", 0..2, 0);
    let answer = ask(folder, "hot");
    let values: Vec<_> = rows(&answer).iter().map(|row| row[0].unwrap()).collect();
    assert!(values[0] == 28.0 && (values[1] - 2.35).abs() < 1e-9, "{values:?}");
    assert!((values[2] - 5.7).abs() < 0.01, "{values:?}");
    assert_eq!((words(&answer, "schemes"), words(&answer, "notes")), ("BGV\nCKKS".to_owned(), String::new()));
    assert!(
        answer["steps"].as_object().unwrap().keys().any(|step| step.contains("table")),
        "{}",
        answer["steps"]
    );
}
