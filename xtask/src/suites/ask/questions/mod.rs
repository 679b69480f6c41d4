//! The questions of `questions.toml` through real programs, beside pandas.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::super::venv::Venv;
use super::refusals::told_twice;
use super::{Cases, Site};

/// The script that makes the readings and computes what pandas says.
const SCRIPT: &str = include_str!("questions.py");
const QUESTIONS: &str = include_str!("questions.toml");

/// Number of questions, and the least number of them that are answered right.
const NUMBER: usize = 53;
const ANSWERED: usize = 48;

/// Prices by day and by night.
const TARIFF: &str = r#"currency = "EUR"

[[prices]]
price = 0.18
time = "22:00-06:00"

[[prices]]
price = 0.31
"#;

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let mut site = Site::new(cases.sotto(), "Europe/Vienna")?;
    site.write("questions.py", SCRIPT)?;
    site.write("questions.toml", QUESTIONS)?;
    site.write("tariff.toml", TARIFF)?;
    site.write("holidays.txt", "# Good Friday and Easter Monday\n2024-03-29\n2024-04-01\n")?;
    let venv = Venv::with_pandas(cases.sotto().parent().context("the program has no folder")?)?;
    let script = |args: &[&str]| -> Result<Vec<u8>> {
        let done = venv.python().arg("questions.py").args(args).current_dir(site.folder()).output()?;
        ensure!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        Ok(done.stdout)
    };
    script(&["readings"])?;
    let questions: Vec<Value> = serde_json::from_slice(&script(&["answers", "questions.toml"])?)?;
    house(&mut site, &questions)?;
    let mut answered = 0;
    for question in &questions {
        let text = |key: &str| question[key].as_str();
        let sotto = text("sotto").context("a question without a text")?;
        let found = match (text("refused"), question["right"].as_array()) {
            (Some(words), None) => told_twice(&site, sotto, 4, &[words])?,
            (None, Some(right)) => {
                let found = faults(&site, question, right);
                answered += usize::from(found.is_empty());
                found
            }
            _ => vec!["it is to be answered, or refused".to_owned()],
        };
        let (source, asked) = (text("source").unwrap_or_default(), text("asked").unwrap_or_default());
        cases.case(&format!("{source}: {asked}: `{sotto}`"), found);
    }
    let few = questions.len() != NUMBER || answered < ANSWERED;
    cases.case(
        &format!("{answered} of {} questions are answered right", questions.len()),
        few.then(|| format!("less than {ANSWERED} of {NUMBER}")).into_iter().collect(),
    );
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}

/// Declares the house, and sends its readings.
fn house(site: &mut Site, questions: &[Value]) -> Result<()> {
    let add = |name: &str, more: &[&str]| {
        site.sotto(&[&["channel", "add", name, "--every", "5m"], more].concat()).map(drop)
    };
    add("temperature", &["--unit", "°C", "--range", "-30..50", "--resolution", "0.1"])?;
    add("humidity", &["--unit", "%", "--range", "0..100", "--resolution", "1"])?;
    add("power", &["--unit", "W", "--range", "0..4000", "--resolution", "1"])?;
    add("meter", &["--unit", "kWh", "--range", "0..100000", "--resolution", "0.01", "--kind", "counter"])?;
    add("door", &["--states", "closed,open"])?;
    add("rain", &["--unit", "mm", "--range", "0..100", "--resolution", "0.1", "--kind", "amount"])?;
    add("wind", &["--unit", "°", "--range", "0..360", "--resolution", "1", "--kind", "angle"])?;
    let declared = questions.iter().filter_map(|question| question["declare"].as_str());
    for (number, text) in declared.enumerate() {
        site.sotto(&["question", "add", &format!("declared{number}"), text])?;
    }
    const ROOM: &str = "temperature,humidity,power,meter,door";
    for (device, channels, tags) in [
        ("barn", ROOM, &["outside"][..]),
        ("kitchen", ROOM, &["inside"]),
        ("roof", "temperature,rain,wind", &["outside"]),
    ] {
        site.sotto(&["device", "add", device, "--channels", channels])?;
        site.sotto(&[&["device", "tag", device], tags].concat())?;
    }
    site.start_cloud()?;
    for device in ["barn", "kitchen", "roof"] {
        site.agent(device, &["--csv", &format!("{device}.csv")])?;
    }
    Ok(())
}

/// Asks, and returns the differences of the answer from pandas.
fn faults(site: &Site, question: &Value, right: &[Value]) -> Vec<String> {
    let now = question["now"].as_str().map(|now| format!("--now={now}"));
    let more: Vec<&str> = now.iter().map(String::as_str).collect();
    let answer = match site.ask(question["sotto"].as_str().unwrap_or_default(), &more) {
        Ok(answer) => answer,
        Err(error) => return vec![format!("{error:#}")],
    };
    let rows = answer["rows"].as_array().map_or(&[][..], Vec::as_slice);
    if rows.len() != right.len() {
        return vec![format!("{} rows, not {}: {}", rows.len(), right.len(), answer["notes"])];
    }
    let differs = |(row, right): (&Value, &Value)| {
        let bound = row["bound"].as_f64().unwrap_or_default();
        let is_right = match (row["value"].as_f64(), right.as_f64()) {
            (Some(value), Some(right)) => {
                let digits = 1e-9 * right.abs().max(1.0);
                (value - right).abs() <= bound + digits && (bound <= digits || question["exact"] != true)
            }
            (None, None) => true,
            _ => false,
        };
        (!is_right).then(|| format!("pandas says {right}: {row}"))
    };
    rows.iter().zip(right).filter_map(differs).take(3).collect()
}
