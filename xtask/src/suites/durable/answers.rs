//! Cases in which a wrong answer could come without a warning.

use super::fixture::{self, holds, whole_days};
use super::{Cases, refusal};
use anyhow::Result;
use std::fmt::Write as _;

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    wrong_cells(cases)?;
    other_ranges(cases)?;
    other_questions(cases)?;
    gaps(cases)?;
    demo(cases)
}

/// Impossible cell values are left out and counted.
fn wrong_cells(cases: &mut Cases) -> Result<()> {
    let mut site = fixture::plant(cases.sotto())?;
    let mut rows = fixture::days(0, 1);
    for (row, cell) in ["1e12", "-9999", "1e300", "inf", "nan"].into_iter().enumerate() {
        // A second row at the same hour: if it counted, it would change the mean.
        writeln!(rows, "2025-01-02T{row:02}:00:00Z,{cell}")?;
    }
    site.write("boiler.csv", rows)?;
    site.start_cloud()?;
    let summary = site.agent("boiler", &["--csv", "boiler.csv"])?;
    let counted = summary["left_out"]["out-of-range"] == 3 && summary["left_out"]["not-a-number"] == 2;
    cases.case("cells that cannot be are left out and counted", holds(counted, || summary.to_string()));
    cases.case("they change no answer", whole_days(&site, 0..1)?);
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}

/// Windows of two declared ranges are never added directly.
fn other_ranges(cases: &mut Cases) -> Result<()> {
    let mut site = fixture::plant(cases.sotto())?;
    site.write("first.csv", fixture::days(0, 2))?;
    site.write("second.csv", fixture::days(2, 2))?;
    site.start_cloud()?;
    site.agent("boiler", &["--csv", "first.csv"])?;
    let settings = std::fs::read_to_string(site.folder().join("plant/sotto.toml"))?;
    site.write("plant/sotto.toml", settings.replace("range = [-20, 120]", "range = [-50, 100]"))?;
    site.sotto(&["device", "renew", "boiler"])?;
    site.sotto(&["status"])?;
    site.agent("boiler-2", &["--csv", "second.csv"])?;
    cases.case("days of two ranges", whole_days(&site, 0..4)?);
    let hours = 0..4 * 24;
    let mean = hours.clone().map(fixture::temperature).sum::<f64>() / f64::from(hours.end);
    let answer = site.ask("mean(temperature)", &[])?;
    let (value, bound) = (answer["rows"][0]["value"].as_f64(), answer["rows"][0]["bound"].as_f64());
    // The mean in the clear is rounded, too.
    let right =
        value.zip(bound).is_some_and(|(value, bound)| (value - mean).abs() <= bound + 1e-12 && bound <= 0.3);
    cases.case("the mean over windows of two ranges", holds(right, || format!("{mean}: {answer}")));
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}

/// Windows that were encrypted for other questions are left out with a note; if there are no others, the question is
/// refused.
fn other_questions(cases: &mut Cases) -> Result<()> {
    let mut site = fixture::plant(cases.sotto())?;
    site.write("first.csv", fixture::days(0, 2))?;
    site.write("second.csv", fixture::days(2, 2))?;
    site.start_cloud()?;
    site.agent("boiler", &["--csv", "first.csv"])?;
    let question = "variance(temperature) by day";
    let refused = site.try_sotto(&["ask", question])?;
    let words = ["cannot carry", "question add", "device renew boiler"];
    cases.case("windows of other questions: refused where there are no others", refusal(&refused, 4, &words));
    site.sotto(&["question", "add", "recent", question])?;
    site.sotto(&["device", "renew", "boiler"])?;
    site.sotto(&["status"])?;
    site.agent("boiler-2", &["--csv", "second.csv"])?;
    let answer = site.ask("recent", &[])?;
    let rows = answer["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let counted = rows.iter().filter(|row| row["count"] == 24 && row["missing"] == 0).count();
    let told = answer["notes"].to_string().contains("2 windows of boiler were left out");
    let found = holds(counted == 2 && told, || answer.to_string());
    cases.case("windows of other questions: left out, and said", found);
    cases.case("questions that all windows carry", whole_days(&site, 0..4)?);
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}

/// A missing reading has no weight: the others share it.
fn gaps(cases: &mut Cases) -> Result<()> {
    let mut site = fixture::plant(cases.sotto())?;
    let question = "weighted_sum(temperature, half_life 6h) by day";
    site.sotto(&["question", "add", "recent", question])?;
    site.sotto(&["device", "add", "tank", "--channels", "temperature"])?;
    let (mut rows, mut sum, mut weights) = ("time,temperature\n".to_owned(), 0.0, 0.0);
    let there = |hour: &u32| !(5..11).contains(hour) && *hour != 20;
    let last = (0..24).rfind(there).unwrap_or_default();
    for hour in (0..24).filter(there) {
        let value = 80.0 + f64::from(hour % 13);
        writeln!(rows, "2025-01-01T{hour:02}:00:00Z,{value}")?;
        let weight = (-f64::from(last - hour) / 6.0).exp2();
        sum += weight * value;
        weights += weight;
    }
    site.write("tank.csv", rows)?;
    site.start_cloud()?;
    site.agent("tank", &["--csv", "tank.csv"])?;
    let answer = site.ask("recent", &[])?;
    let row = &answer["rows"][0];
    let (value, bound) = (row["value"].as_f64(), row["bound"].as_f64());
    let right =
        value.zip(bound).is_some_and(|(value, bound)| (value - sum / weights).abs() <= bound && bound < 1.0);
    cases.case("a weighted sum with gaps", holds(right, || format!("{}: {answer}", sum / weights)));
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}

/// A file with one wrong cell: the demo says that its answers are of no use.
fn demo(cases: &mut Cases) -> Result<()> {
    let site = fixture::plant(cases.sotto())?;
    let file = |cell: &str| {
        let mut rows = fixture::days(0, 4);
        rows.push_str(&format!("2025-01-05T00:00:00Z,{cell}\n"));
        rows
    };
    for (name, cell, words) in [
        ("one.csv", "1e12", &["NOT USEFUL", "1e12"][..]),
        ("two.csv", "-9999", &["lies far from the others", "-9999"]),
    ] {
        site.write(name, file(cell))?;
        let told = site.sotto(&["demo", "--csv", name, "--column", "temperature", "--time", "time"])?;
        let lacking = words.iter().filter(|word| !told.contains(**word));
        let found = lacking.map(|word| format!("it does not say {word:?}: {told}")).collect();
        cases.case(&format!("the demo on a file with a cell of {cell}"), found);
    }
    site.write("three.csv", file("1e300"))?;
    let done =
        site.try_sotto(&["demo", "--csv", "three.csv", "--column", "temperature", "--time", "time"])?;
    let long = done.stderr.len() + done.stdout.len() > 1000;
    let mut found = refusal(&done, 1, &["1e300", "2025-01-05"]);
    found.extend(holds(!long, || "it says too much".to_owned()));
    cases.case("the demo on a file with a cell of 1e300", found);
    Ok(())
}
