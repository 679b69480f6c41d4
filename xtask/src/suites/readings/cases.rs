//! The folders of `SOTTO_CASES`: each has files, channels, runs of the agent, a question and its right result.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::page;
use crate::cargo;
use crate::suites::ask::{Cases, Site};

/// Nearness of a value and the right one, which is written with at most six digits behind the point.
const NEAR: f64 = 1e-6;

/// What a user adds to a case: options that its file does not tell.
struct Added {
    case: &'static str,
    /// Options of the channels' declaration.
    channel: &'static [&'static str],
    /// Options of the last run.
    run: &'static [&'static str],
}

const ADDED: &[Added] = &[
    Added { case: "on-change", channel: &["--hold", "1d"], run: &[] },
    Added { case: "wrong-column", channel: &[], run: &["--correct"] },
    Added { case: "thousands-dot", channel: &[], run: &["--thousands", "."] },
    Added { case: "toa5", channel: &[], run: &["--column", "temp=AirTC_Avg"] },
];

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let Some(all) = folders()? else {
        println!("skipped: SOTTO_CASES names no folder of cases");
        return Ok(());
    };
    let sotto = cases.sotto().to_owned();
    for path in all {
        let name = name(&path);
        let found = match case(&sotto, &path) {
            Ok(done) => done.faults.into_iter().chain(page::differs(&name, &done.row)?).collect(),
            Err(error) => vec![format!("{error:#}")],
        };
        cases.case(&name, found);
    }
    Ok(())
}

/// Runs every case and writes the page's table.
pub(crate) fn command(args: &[String]) -> Result<ExitCode> {
    if !args.is_empty() {
        bail!("cargo xtask cases");
    }
    let all = folders()?.context("SOTTO_CASES is not set: name the folder that holds the cases")?;
    let sotto = cargo::build_programs(&cargo::root()?)?;
    let (mut rows, mut right) = (String::new(), true);
    for folder in &all {
        let name = name(folder);
        let done = case(&sotto, folder).with_context(|| name.clone())?;
        right &= done.faults.is_empty();
        done.faults.iter().for_each(|fault| eprintln!("{name}: {fault}"));
        rows += &format!("{}\n", done.row);
    }
    page::write(&rows)?;
    println!("{}: {} cases", page::PAGE, all.len());
    Ok(if right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the folders of cases, by name; None if `SOTTO_CASES` is not set.
fn folders() -> Result<Option<Vec<PathBuf>>> {
    let Some(folder) = std::env::var_os("SOTTO_CASES").map(PathBuf::from) else { return Ok(None) };
    let mut all: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.join("case.json").exists() {
            all.push(path);
        }
    }
    all.sort();
    Ok(Some(all))
}

fn name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A case that ran.
struct Done {
    faults: Vec<String>,
    /// Its row in the table of the documentation.
    row: String,
}

fn case(sotto: &Path, folder: &Path) -> Result<Done> {
    let name = name(folder);
    let text = std::fs::read_to_string(folder.join("case.json"))?;
    let case: Value = serde_json::from_str(&text)?;
    let added = ADDED.iter().find(|added| added.case == name);
    let (of_channel, of_run) = added.map_or((&[][..], &[][..]), |added| (added.channel, added.run));
    let mut site = Site::new(sotto, case["time_zone"].as_str().unwrap_or("UTC"))?;
    let mut names = Vec::new();
    for channel in case["channels"].as_array().context("channels")? {
        let field = |at: usize| channel[at].as_str().unwrap_or_default();
        let [channel, unit, range, resolution, every] = [0, 1, 2, 3, 4].map(field);
        let mut add = vec!["channel", "add", channel, "--unit", unit, "--range", range, "--every", every];
        add.extend(["--resolution", resolution]);
        if !field(5).is_empty() {
            add.extend(["--kind", field(5)]);
        }
        site.sotto(&[&add[..], of_channel].concat())?;
        names.push(channel);
    }
    let ask = case["ask"].as_str().context("a question")?;
    site.sotto(&["question", "add", "asked", ask])?;
    site.sotto(&["device", "add", "gw", "--channels", &names.join(",")])?;
    site.start_cloud()?;
    let runs: Vec<&str> = case["run"].as_array().context("runs")?.iter().filter_map(Value::as_str).collect();
    let (mut faults, mut summaries) = (Vec::new(), Vec::new());
    for (at, run) in runs.iter().enumerate() {
        let words = words(run, folder);
        let mut args: Vec<&str> = words.iter().map(String::as_str).collect();
        if at + 1 == runs.len() {
            args.extend(of_run);
        }
        let done = site.try_agent("gw", &args)?;
        if !done.status.success() {
            faults.push(format!("the agent ended with {}: {}", done.status, done.stderr.trim()));
        }
        summaries.push(serde_json::from_str(&done.stdout).unwrap_or_default());
    }
    let answer = site.ask("asked", &[])?;
    faults.extend(judge(&case["right"], &answer));
    faults.extend(site.close()?);
    let options: Vec<&str> = of_channel.iter().chain(of_run).copied().collect();
    Ok(Done { faults, row: page::row(&name, &case, &options, &summaries, &answer) })
}

/// Returns the words of a run, without what stands in brackets, and with the paths of files.
fn words(run: &str, folder: &Path) -> Vec<String> {
    let options = run.split_once('(').map_or(run, |(options, _)| options);
    let path = |word: &str| {
        let path = folder.join(word);
        if path.is_file() { path.to_string_lossy().into_owned() } else { word.to_owned() }
    };
    options.split_whitespace().map(path).collect()
}

/// Returns the faults of an answer. `right` has values by the result's name or its function, or rows of values.
fn judge(right: &Value, answer: &Value) -> Vec<String> {
    let rows = answer["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let mut faults = Vec::new();
    let near = |found: &Value, expected: &Value| {
        let (found, expected) = (found.as_f64(), expected.as_f64());
        found
            .zip(expected)
            .is_some_and(|(found, expected)| (found - expected).abs() <= NEAR * expected.abs().max(1.0))
    };
    for (key, expected) in right.as_object().into_iter().flatten() {
        match (key.as_str(), expected) {
            ("or", _) => {}
            // An error that names the line would do as well.
            ("either", _) => {
                if !rows.iter().any(|row| near(&row["value"], &Value::from(5))) {
                    faults.push(format!("no row has 5: {rows:?}"));
                }
            }
            ("bound at most", most) => {
                let most = most.as_f64().unwrap_or_default() + NEAR;
                let wide = rows.iter().filter(|row| row["bound"].as_f64().is_none_or(|bound| bound > most));
                faults.extend(wide.map(|row| format!("a bound of {}", row["bound"])));
            }
            ("rows", Value::Array(expected)) => {
                let values: Vec<&Value> = expected.iter().filter_map(Value::as_array).flatten().collect();
                let same = rows.len() == values.len()
                    && rows.iter().zip(&values).all(|(row, expected)| near(&row["value"], expected));
                if !same {
                    faults.push(format!("the rows are {rows:?}, not {expected:?}"));
                }
            }
            ("rows", expected) => {
                if Some(rows.len() as u64) != expected.as_u64() {
                    faults.push(format!("{} rows, not {expected}", rows.len()));
                }
            }
            (name, expected) => {
                let is_named = |row: &&Value| {
                    let full = row["name"].as_str().unwrap_or_default();
                    name == "value" || full == name || full.split('(').next() == Some(name)
                };
                match rows.iter().find(is_named) {
                    Some(row) if near(&row["value"], expected) => {}
                    // The number of readings of any result.
                    None if name == "count" && rows.iter().any(|row| row["count"] == *expected) => {}
                    row => {
                        faults.push(format!("{name} is {:?}, not {expected}", row.map(|row| &row["value"])));
                    }
                }
            }
        }
    }
    faults
}
