//! Answers that may be shared: real answers are flooded at decryption and counted once, exact answers are not flooded,
//! and only verified answers are published.

use super::Cases;
use super::each::{Each, each};
use super::generator::{Numbers, csv};
use super::series::{Channel, Sample, Series, instant};
use super::site::Site;
use anyhow::{Context as _, Result};
use serde_json::Value;
use std::fs;

const PERIOD: i64 = 3_600_000;
const DAYS: usize = 3;
const LINE: &[f64] = &[1.0, 2.0];
const QUESTION: &str = "polynomial(temperature, [1, 2]) per device";
/// Half of the range times the slope: the size of the coefficients.
const SIZE: f64 = 140.0;

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let channel = Channel { name: "temperature", unit: "°C", low: -20.0, high: 120.0, resolution: 0.1 };
    let mut series = Series::new("UTC", PERIOD, vec![channel], vec!["boiler"])?;
    let (begin, mut numbers) = (instant("2025-03-01T00:00:00Z").context("a time")?, Numbers(5));
    let sample = |tick: i64| Sample {
        at: begin + tick * PERIOD,
        device: 0,
        values: [Some(20.0 + 10.0 * numbers.next()), None],
    };
    series.take((0..24 * DAYS as i64).map(sample).collect::<Vec<_>>());
    let mut site = Site::new(cases.sotto(), "UTC")?;
    site.channel(&series.channels[0], "1h")?;
    let shared = format!("{QUESTION} shared");
    site.sotto(&["question", "add", "line", &shared])?;
    site.sotto(&["question", "add", "daily", "mean(temperature) by day shared"])?;
    site.sotto(&["device", "add", "boiler", "--channels", "temperature"])?;
    let plan = site.sotto(&["plan"])?;
    let missing = |words: &[&str]| {
        words.iter().filter(|word| !plan.contains(**word)).map(|word| format!("no {word}")).collect()
    };
    cases.case(
        "the plan shows flooding",
        missing(&["shared: flooding takes 2", "1000 results of a key", "nothing is flooded"]),
    );
    site.write("boiler.csv", csv(&series, 0))?;
    site.start_cloud()?;
    site.agent("boiler", &["--csv", "boiler.csv"])?;

    let first = kept(&site, &shared)?;
    let mut found = each(&series, &first.1, &Each::Polynomial(0, LINE));
    found.extend(wide(&first.1));
    cases.case("flooded values are within their bound", found);
    let second = kept(&site, &shared)?;
    let alike =
        |a: &Value, b: &Value| rows(a).iter().zip(rows(b)).filter(|(a, b)| a["value"] == b["value"]).count();
    let again = alike(&first.1, &second.1);
    cases.case(
        "noise is drawn for each result",
        (again > 0).then(|| format!("{again} values came again")).into_iter().collect(),
    );
    // One result for each ciphertext of an answer; a ciphertext holds one or several windows.
    let of = |answer: &Value, part: &str| answer["flooded"][part].as_u64().unwrap_or_default();
    let took = of(&first.1, "results");
    let left = [&first.1, &second.1].map(|answer| of(answer, "left"));
    let counted = (1..=DAYS as u64).contains(&took) && left == [1000 - took, 1000 - 2 * took];
    cases.case(
        "each result is counted once",
        (!counted).then(|| format!("{took} results, {left:?} left")).into_iter().collect(),
    );

    let daily = kept(&site, "daily")?;
    let exact = daily.1["flooded"].is_null()
        && rows(&daily.1).iter().all(|row| row["bound"].as_f64().is_some_and(|bound| bound <= 0.05 + 1e-9));
    cases.case("exact answers are not flooded", (!exact).then(|| daily.1.to_string()).into_iter().collect());
    let rounded = kept(&site, QUESTION)?;
    publish(cases, &site, &first, &daily.0, &rounded.0)?;
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}

fn publish(
    cases: &mut Cases,
    site: &Site,
    first: &(String, Value),
    daily: &str,
    rounded: &str,
) -> Result<()> {
    let name = first.0.as_str();
    let refused = site.try_sotto(&["publish", name])?;
    let told = format!("run `sotto verify {name}` first");
    let fault = refused.status.success() || !refused.stderr.contains(&told) || !refused.stdout.is_empty();
    cases.case(
        "only verified answers are published",
        fault.then(|| refused.stderr.clone()).into_iter().collect(),
    );
    for name in [name, daily, rounded] {
        site.sotto(&["verify", name])?;
    }
    let budgets = || -> Result<Vec<Vec<u8>>> {
        let files = fs::read_dir(site.folder().join("plant/secrets/flooding"))?;
        files.map(|file| Ok(fs::read(file?.path())?)).collect()
    };
    let before = budgets()?;
    let json = |args: &[&str]| -> Result<Value> {
        Ok(serde_json::from_str(&site.sotto(&[&["publish"], args, &["--json"]].concat())?)?)
    };
    let mut found = Vec::new();
    let flooded = json(&[name, "--flood"])?;
    if bare(&flooded) != bare(&first.1) || flooded["rounded"] != 0 {
        found.push("the flooded rows leave otherwise than they are kept".to_owned());
    }
    if budgets()? != before {
        found.push("publishing a kept answer takes from the budget".to_owned());
    }
    let digits = json(&[rounded])?;
    if digits["rounded"] != 24 * DAYS || !digits["flooded"].is_null() {
        found.push(format!("{} values were rounded", digits["rounded"]));
    }
    if site.try_sotto(&["publish", rounded, "--flood"])?.status.success() {
        found.push("an answer that was not flooded leaves as flooded".to_owned());
    }
    if json(&[daily])?["rounded"] != 0 {
        found.push("whole numbers are rounded".to_owned());
    }
    site.sotto(&["publish", daily, "--csv", "--out", "daily.csv"])?;
    let lines = fs::read_to_string(site.folder().join("daily.csv"))?.lines().count();
    if lines != 1 + DAYS {
        found.push(format!("{lines} lines of CSV"));
    }
    cases.case("verified answers are published", found);
    Ok(())
}

/// Asks and keeps; returns the answer's name and the answer.
pub(super) fn kept(site: &Site, question: &str) -> Result<(String, Value)> {
    let names = || -> Result<Vec<String>> { Ok(serde_json::from_str(&site.sotto(&["answers", "--json"])?)?) };
    let before = names()?.len();
    let answer = serde_json::from_str(&site.sotto(&["ask", question, "--json", "--unchecked"])?)?;
    let name = names()?.into_iter().nth(before).context("the answer was not kept")?;
    Ok((name, answer))
}

/// Returns the rows without the word for how far they are checked.
fn bare(answer: &Value) -> Vec<Value> {
    let mut rows = rows(answer).to_vec();
    for row in rows.iter_mut().filter_map(Value::as_object_mut) {
        row.remove("assurance");
    }
    rows
}

fn rows(answer: &Value) -> &[Value] {
    answer["rows"].as_array().map_or(&[][..], Vec::as_slice)
}

/// Returns the faults of bounds that are too small for flooding, or too wide for the value to be useful.
fn wide(answer: &Value) -> Vec<String> {
    let bound = |row: &Value| row["bound"].as_f64().unwrap_or_default();
    let fits = |row: &&Value| (1e-5 * SIZE..=0.02 * SIZE).contains(&bound(row));
    rows(answer)
        .iter()
        .filter(|row| !fits(row))
        .map(|row| format!("the bound {} of {row}", bound(row)))
        .take(1)
        .collect()
}
