//! Runs the demo as a user does, and checks its output and the processes and files that it leaves behind.

use crate::cargo;
use crate::process::{self, Finished, Scratch, Times};
use crate::suite::{Context, Outcome};
use anyhow::{Context as _, Result};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

const MOST_SECONDS: f64 = 30.0;
/// A cloud and two devices.
const FEWEST_PROCESSES: usize = 3;
/// Key generation, encode, encrypt, upload, evaluate, download, decrypt, decode.
const FEWEST_PHASES: usize = 8;
const MOST_COLUMNS: usize = 80;
const MOST_LINES: usize = 60;
/// Rows one second apart. Over all rows and over each half, the mean is 20.3 and the deviation 0.5.
const CSV: &str = "value\n20.8\n19.8\n20.8\n19.8\n20.8\n19.8\n20.8\n19.8\n20.8\n19.8\n20.8\n19.8\n";
/// The answers about the rows above.
const KNOWN: [(&str, f64); 3] = [("level", 20.3), ("spread", 0.5), ("overall", 20.3)];
/// Times of interrupts: while the demo starts, enrols devices, reads, and asks.
const INTERRUPT_MILLISECONDS: [u64; 14] = [3, 10, 20, 40, 70, 100, 150, 200, 300, 400, 500, 600, 1200, 1800];
/// Steps of the cloud that at least one question must need together.
const HARD_STEPS: [&str; 2] = ["multiply", "relinearise"];

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let sotto = context.built()?.program("sotto")?;
    let mut faults = Vec::new();
    for (args, source) in [(&["--json"][..], "sensors"), (&["--json", "--generate"][..], "generator")] {
        let case = format!("sotto demo {}", args.join(" "));
        let found = to_the_end(sotto, args, source)?;
        println!("{case}: {}", if found.is_empty() { "right" } else { "wrong" });
        faults.extend(found.into_iter().map(|fault| format!("{case}: {fault}")));
    }
    for (case, found) in [("sotto demo --generate", screen(sotto)?), ("sotto demo --csv", known(sotto)?)] {
        println!("{case}: {}", if found.is_empty() { "right" } else { "wrong" });
        faults.extend(found.into_iter().map(|fault| format!("{case}: {fault}")));
    }
    for after in INTERRUPT_MILLISECONDS.map(Duration::from_millis) {
        let case = format!("sotto demo, interrupted after {after:?}");
        let found = interrupted(sotto, after)?;
        println!("{case}: {}", if found.is_empty() { "right" } else { "wrong" });
        faults.extend(found.into_iter().map(|fault| format!("{case}: {fault}")));
    }
    Ok(Outcome::from_faults(faults))
}

fn to_the_end(sotto: &Path, args: &[&str], source: &str) -> Result<Vec<String>> {
    let times = Times { interrupt_after: None, give_up_after: Duration::from_secs(120) };
    let (done, mut faults) = run_and_look_around(sotto, args, &times)?;
    if !done.status.success() {
        faults.push(format!("{}; it said: {}", done.status, done.stderr.trim()));
        return Ok(faults);
    }
    let seconds = done.elapsed.as_secs_f64();
    println!("{seconds:.1} s");
    if seconds > MOST_SECONDS {
        faults.push(format!("took {seconds:.1} s; {MOST_SECONDS} is the most"));
    }
    let report: Value =
        serde_json::from_str(&done.stdout).context("the demo did not print one JSON document")?;
    if report["source"] != source {
        faults.push(format!("the source is {}, not {source}", report["source"]));
    }
    faults.extend(judge(&report));
    Ok(faults)
}

/// Checks that the text fits a screen.
fn screen(sotto: &Path) -> Result<Vec<String>> {
    let times = Times { interrupt_after: None, give_up_after: Duration::from_secs(120) };
    let (done, mut faults) = run_and_look_around(sotto, &["--generate"], &times)?;
    if !done.status.success() {
        faults.push(format!("{}; it said: {}", done.status, done.stderr.trim()));
    }
    faults.extend(too_large(&done.stdout));
    Ok(faults)
}

fn too_large(text: &str) -> Vec<String> {
    let long = |line: &&str| line.chars().count() > MOST_COLUMNS;
    let mut faults: Vec<String> =
        text.lines().filter(long).map(|line| format!("more than {MOST_COLUMNS} columns: {line}")).collect();
    let lines = text.lines().count();
    if lines == 0 || lines > MOST_LINES {
        faults.push(format!("prints {lines} lines; {MOST_LINES} are the most"));
    }
    faults
}

/// Checks answers about a file of known readings.
fn known(sotto: &Path) -> Result<Vec<String>> {
    let scratch = Scratch::new()?;
    let file = scratch.path().join("known.csv");
    std::fs::write(&file, CSV)?;
    let times = Times { interrupt_after: None, give_up_after: Duration::from_secs(120) };
    let args = ["--json", "--column", "value", "--csv", &file.to_string_lossy()];
    let (done, mut faults) = run_and_look_around(sotto, &args, &times)?;
    if !done.status.success() {
        faults.push(format!("{}; it said: {}", done.status, done.stderr.trim()));
        return Ok(faults);
    }
    let report: Value =
        serde_json::from_str(&done.stdout).context("the demo did not print one JSON document")?;
    faults.extend(unlike_known(&report));
    Ok(faults)
}

fn unlike_known(report: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    if report["source"] != "csv" {
        faults.push(format!("the source is {}, not csv", report["source"]));
    }
    for (name, truth) in KNOWN {
        let question = list(report, "questions").iter().find(|question| question["name"] == name);
        let number = |key: &str| question.and_then(|question| question[key].as_f64());
        match (number("decrypted"), number("clear"), number("bound")) {
            (Some(decrypted), Some(clear), Some(bound))
                if (decrypted - truth).abs() <= bound && bound < 0.2 && (clear - truth).abs() < 1e-9 => {}
            found => faults.push(format!("question {name}: {found:?}; the answer is {truth}")),
        }
    }
    faults
}

/// Interrupts the demo by Ctrl-C while it works.
fn interrupted(sotto: &Path, after: Duration) -> Result<Vec<String>> {
    let times = Times { interrupt_after: Some(after), give_up_after: Duration::from_secs(60) };
    let (done, mut faults) = run_and_look_around(sotto, &["--generate"], &times)?;
    // A demo that ends at the time of the interrupt, or before, was not stopped by it; nor was one that inherited
    // ignored interrupts and had not installed its handler yet.
    let late = done.elapsed > after + Duration::from_millis(100);
    if done.status.success() && late && !process::interrupts_are_ignored() {
        let seconds = done.elapsed.as_secs_f64();
        faults.push(format!("ended well after {seconds:.1} s in spite of the interrupt"));
    }
    Ok(faults)
}

/// Runs the demo with its own temporary folder, which marks its processes and must be empty at the end.
fn run_and_look_around(sotto: &Path, args: &[&str], times: &Times) -> Result<(Finished, Vec<String>)> {
    let scratch = Scratch::new()?;
    let mut command = cargo::command(sotto);
    let done = process::run(command.arg("demo").args(args).env("TMPDIR", scratch.path()), times)?;
    let mut faults = Vec::new();
    for pid in process::marked_with(&scratch.path().to_string_lossy()) {
        faults.push(format!("left process {pid} behind"));
    }
    for entry in std::fs::read_dir(scratch.path())? {
        faults.push(format!("left {} in the temporary folder", entry?.file_name().display()));
    }
    Ok((done, faults))
}

/// Returns the faults of the demo's report.
fn judge(report: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    if report["version"] != 1 {
        faults.push(format!("the version is {}, not 1", report["version"]));
    }
    let positive = |name: &str| report[name].as_f64().filter(|value| *value > 0.0);
    match (positive("readings"), positive("bytes_uploaded"), positive("bytes_per_reading")) {
        (Some(readings), Some(bytes), Some(each)) if (each * readings / bytes - 1.0).abs() < 0.01 => {}
        _ => faults.push("readings, bytes_uploaded and bytes_per_reading do not fit together".to_owned()),
    }
    let processes = list(report, "processes");
    if processes.len() < FEWEST_PROCESSES {
        faults.push(format!("lists {} processes; there are at least {FEWEST_PROCESSES}", processes.len()));
    }
    for process in processes {
        match process["pid"].as_u64() {
            Some(pid) if !process::runs(pid) => {}
            pid => faults.push(format!("process {} ({pid:?}) still runs, or has no id", process["name"])),
        }
    }
    let questions = list(report, "questions");
    for family in [&["sums"][..], &["bfv", "bgv"], &["ckks"]] {
        if !questions
            .iter()
            .any(|q| family.contains(&q["scheme"].as_str().unwrap_or("").to_lowercase().as_str()))
        {
            faults.push(format!("no question is asked under {}", family.join(" or ")));
        }
    }
    let takes = |question: &Value, op: &str| list(question, "steps").iter().any(|step| step["op"] == op);
    if !questions.iter().any(|question| HARD_STEPS.iter().all(|op| takes(question, op))) {
        faults.push(format!("no question takes all of {}", HARD_STEPS.join(", ")));
    }
    if !questions.iter().any(is_of_both_devices) {
        faults.push("no answer is over both devices together".to_owned());
    }
    faults.extend(questions.iter().filter_map(|question| {
        let name = question["name"].as_str().unwrap_or("without a name");
        wrong_answer(question).map(|why| format!("question {name}: {why}"))
    }));
    let phases = list(report, "phases");
    if phases.len() < FEWEST_PHASES {
        faults.push(format!("lists {} phases; there are {FEWEST_PHASES}", phases.len()));
    }
    let measured = |phase: &&Value| ["mean_us", "sd_us", "count"].iter().all(|key| phase[key].is_number());
    faults.extend(
        phases.iter().filter(|phase| !measured(phase)).map(|phase| format!("phase {phase} lacks a number")),
    );
    faults
}

/// Returns true if the question covers both devices together: a row without a device is over all devices of the
/// question.
fn is_of_both_devices(question: &Value) -> bool {
    let mut names: Vec<&str> = list(question, "devices").iter().filter_map(Value::as_str).collect();
    names.sort_unstable();
    names.dedup();
    names.len() >= 2 && list(question, "rows").iter().any(|row| row["device"].is_null())
}

fn wrong_answer(question: &Value) -> Option<String> {
    let number = |key: &str| question[key].as_f64().ok_or_else(|| format!("{key} is not a number"));
    let judged = || {
        let [decrypted, clear] = [number("decrypted")?, number("clear")?];
        let [error, bound] = [number("error")?, number("bound")?];
        // The value in the clear is rounded, too.
        if !(0.0..=bound + 1e-12 * clear.abs()).contains(&error) {
            return Err(format!("the error {error} is not within the bound {bound}"));
        }
        if ((decrypted - clear).abs() - error).abs() > 1e-9 * (1.0 + clear.abs()) {
            return Err(format!("{decrypted} and {clear} differ by something else than {error}"));
        }
        let counted =
            |step: &Value| step["op"].is_string() && step["count"].is_u64() && step["where"].is_string();
        let steps = list(question, "steps");
        if steps.is_empty() || !steps.iter().all(counted) {
            return Err("the steps lack an op, a count or a place".to_owned());
        }
        Ok(())
    };
    judged().err()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn question(error: f64) -> Value {
        let steps = json!([{ "op": "add", "count": 3, "where": "cloud" }]);
        json!({ "decrypted": 20.25, "clear": 20.25 - error, "error": error, "bound": 0.5, "steps": steps })
    }

    #[test]
    fn an_answer_off_by_more_than_its_bound_is_wrong() {
        assert_eq!(wrong_answer(&question(0.25)), None);
        assert!(wrong_answer(&question(0.75)).is_some());
        let mut lies = question(0.25);
        lies["error"] = json!(0.1);
        assert!(wrong_answer(&lies).is_some());
        lies["error"] = Value::Null;
        assert!(wrong_answer(&lies).is_some());
    }

    #[test]
    fn some_answer_is_over_both_devices() {
        let both = |devices: Value, device: Value| {
            is_of_both_devices(&json!({ "devices": devices, "rows": [{ "device": device }] }))
        };
        assert!(both(json!(["device-1", "device-2"]), Value::Null));
        assert!(!both(json!(["device-1", "device-2"]), json!("device-1")));
        assert!(!both(json!(["device-1", "device-1"]), Value::Null));
        assert!(!both(json!(["device-1"]), Value::Null));
        assert!(!both(Value::Null, Value::Null));
    }

    #[test]
    fn a_screen_has_its_limits() {
        assert!(too_large(&"é".repeat(80)).is_empty());
        assert_eq!(too_large(&"x".repeat(81)).len(), 1);
        assert_eq!(too_large(&"x\n".repeat(61)).len(), 1);
        assert_eq!(too_large("").len(), 1);
    }

    #[test]
    fn known_answers_are_the_ones_given() {
        let report = |decrypted: f64| {
            let of = |(name, truth): &(&str, f64)| json!({ "name": name, "clear": truth, "decrypted": truth + decrypted, "bound": 0.05 });
            json!({ "source": "csv", "questions": KNOWN.iter().map(of).collect::<Vec<_>>() })
        };
        assert!(unlike_known(&report(0.04)).is_empty());
        assert_eq!(unlike_known(&report(0.06)).len(), KNOWN.len());
        assert_eq!(unlike_known(&json!({})).len(), 1 + KNOWN.len());
    }

    #[test]
    fn an_empty_report_is_wrong() {
        assert!(judge(&json!({})).len() >= 6);
    }
}
