//! Polynomials and models that the cloud compares with limits: every decided reading is right, and every reading outside
//! of the gap is decided.

use super::Cases;
use super::generator::{csv, generated};
use super::series::{By, Channel, Sample, Series, instant};
use super::shared::kept;
use super::site::Site;
use super::truth::{CONSTANT, FACTORS, list, polynomial};
use anyhow::Result;
use serde_json::Value;

const HALF_HOUR: i64 = 1_800_000;
const CURVE: &[f64] = &[3.0, -0.5, 0.02];

/// A condition with one row for each group.
struct Condition {
    text: String,
    /// Returns the distance of a reading above the limit, negative below it.
    over: fn(&Sample) -> Option<f64>,
    /// True if the condition holds above the limit.
    above: bool,
    /// The largest distance at which a reading may be undecided.
    gap: f64,
    /// The amount that a reading counts: 1, or the hours of a period.
    each: f64,
}

fn conditions() -> Vec<Condition> {
    // With x = 20 + 40·u the polynomial is 1 + 12·u + 32·u², the model of u and v = (y − 10)/10 is 9.5 + 20·u − 2.5·v. The gap
    // is 1/64 of the largest distance from the limit.
    let (curve, model) = ((44.0 + 2.5) / 64.0, (22.5 + 2.75) / 64.0);
    let over_curve = |sample: &Sample| Some(polynomial(CURVE, sample.values[0]?) - 3.5);
    let over_model = |sample: &Sample| {
        Some(CONSTANT + FACTORS[0] * sample.values[0]? + FACTORS[1] * sample.values[1]? - 12.25)
    };
    let within = |sample: &Sample| {
        let model = CONSTANT + FACTORS[0] * sample.values[0]? + FACTORS[1] * sample.values[1]?;
        Some((model - 8.0).min(12.25 - model))
    };
    let far = |sample: &Sample| Some(sample.values[0]? + sample.values[1]? - 1e6);
    let text = |text: &str| text.to_owned();
    vec![
        Condition {
            text: format!("count(polynomial(temperature, {}) > 3.5)", list(CURVE)),
            over: over_curve,
            above: true,
            gap: curve,
            each: 1.0,
        },
        Condition {
            text: text("count(linear(model.json) <= 12.25)"),
            over: over_model,
            above: false,
            gap: model,
            each: 1.0,
        },
        Condition {
            text: text("time(linear(model.json) > 12.25)"),
            over: over_model,
            above: true,
            gap: model,
            each: 0.5,
        },
        // Two limits, of which one has a comparison already.
        Condition {
            text: text("count(8 <= linear(model.json) <= 12.25)"),
            over: within,
            above: true,
            gap: model,
            each: 1.0,
        },
        // No value is as large: the owner needs no comparison.
        Condition {
            text: text("count(linear(model.json) < 900)"),
            over: far,
            above: false,
            gap: 0.0,
            each: 1.0,
        },
    ]
}

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let channels = vec![
        Channel { name: "temperature", unit: "°C", low: -20.0, high: 60.0, resolution: 0.1 },
        Channel { name: "flow", unit: "l/s", low: 0.0, high: 20.0, resolution: 0.05 },
    ];
    let mut series = Series::new("Europe/Vienna", HALF_HOUR, channels, vec!["boiler"])?;
    generated(&mut series, "2025-03-28T23:00:00Z", 5 * 48)?;
    let mut site = Site::new(cases.sotto(), "Europe/Vienna")?;
    for channel in &series.channels {
        site.channel(channel, "30m")?;
    }
    site.write("model.json", r#"{"intercept": 2.0, "coefficients": {"temperature": 0.5, "flow": -0.25}}"#)?;
    refusals(cases, &site)?;
    let all = conditions();
    let texts: Vec<&str> = all.iter().map(|condition| condition.text.as_str()).collect();
    let texts = texts.join(", ");
    site.sotto(&["question", "add", "limits", &format!("{texts} by day"), "--compare", "cloud"])?;
    let plan = site.sotto(&["plan"])?;
    let shown = ["comparisons: in the cloud", "within 1/64 of", "not CKKS, compared by you, with n ="];
    let missing = shown.iter().filter(|words| !plan.contains(**words)).map(|words| format!("no {words}"));
    cases.case("compared in the cloud: the plan says so", missing.collect());
    site.sotto(&["device", "add", "boiler", "--channels", "temperature,flow"])?;
    site.write("boiler.csv", csv(&series, 0))?;
    site.start_cloud()?;
    site.agent("boiler", &["--csv", "boiler.csv"])?;
    for by in [By::Day, By::Hour] {
        let text = format!("{texts}{}", by.clause());
        let (name, answer) = kept(&site, &text)?;
        cases.case(&format!("compared in the cloud{}", by.clause()), judge(&series, &answer, &all));
        let signs = answer["steps"]["sign"].as_u64();
        let fault = (signs != Some(3)).then(|| format!("{signs:?} signs, where three limits need one each"));
        cases.case("compared in the cloud: several windows at once", fault.into_iter().collect());
        if by == By::Day {
            let verified = site.try_sotto(&["verify", &name])?;
            let fault = (!verified.status.success()).then_some(verified.stderr);
            cases.case("compared in the cloud: verified", fault.into_iter().collect());
        }
    }
    places(cases, &site, &all[1])?;
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}

/// Tests who compares where the place is declared after windows were sent, where values are asked for, and for others.
fn places(cases: &mut Cases, site: &Site, condition: &Condition) -> Result<()> {
    let model = &condition.text;
    let signs = |answer: &Value| answer["steps"]["sign"].as_u64().unwrap_or_default();
    let both = site.ask(&format!("{model}, mean(linear(model.json))"), &[])?;
    let fault =
        (signs(&both) > 0).then(|| "values that are decrypted anyway are compared in the cloud".to_owned());
    cases.case("compared in the cloud: values decide where they are asked for", fault.into_iter().collect());
    let shared = site.try_sotto(&["ask", &format!("{model} shared")])?;
    let fault = shared.status.success() || !shared.stderr.contains("no room for flooding");
    cases.case("compared in the cloud: not for others", fault.then_some(shared.stderr).into_iter().collect());

    // Without the declaration the owner compares; with another one these windows do not carry it.
    site.sotto(&["question", "remove", "limits"])?;
    let here = site.ask(model, &[])?;
    let fault = (signs(&here) > 0).then(|| "the cloud compares where no question says so".to_owned());
    cases.case("compared in the cloud: only where a question says so", fault.into_iter().collect());
    Ok(())
}

/// Tests a declaration that comes after the bundle.
pub(super) fn declared_late(cases: &mut Cases) -> Result<()> {
    let channel = Channel { name: "temperature", unit: "°C", low: -20.0, high: 60.0, resolution: 0.1 };
    let mut series = Series::new("UTC", HALF_HOUR, vec![channel], vec!["boiler"])?;
    generated(&mut series, "2025-03-28T23:00:00Z", 48)?;
    let mut site = Site::new(cases.sotto(), "UTC")?;
    site.channel(&series.channels[0], "30m")?;
    let text = "count(polynomial(temperature, [0, 2]) > 41)";
    site.sotto(&["question", "add", "doubled", text])?;
    site.sotto(&["device", "add", "boiler", "--channels", "temperature"])?;
    site.write("boiler.csv", csv(&series, 0))?;
    site.start_cloud()?;
    site.agent("boiler", &["--csv", "boiler.csv"])?;
    site.ask(text, &[])?;
    site.sotto(&["question", "remove", "doubled"])?;
    let told = site.sotto(&["question", "add", "doubled", text, "--compare", "cloud"])?;
    let fault = (!told.contains("does not serve the question")).then_some(told);
    cases.case("declared late: the bundle does not serve it", fault.into_iter().collect());
    let refused = site.try_sotto(&["ask", text])?;
    let fault = refused.status.success() || !refused.stderr.contains("device renew");
    let fault = fault.then(|| format!("{}{}", refused.stdout, refused.stderr));
    cases.case("declared late: no value is decrypted in its place", fault.into_iter().collect());
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}

fn refusals(cases: &mut Cases, site: &Site) -> Result<()> {
    let model = "count(linear(model.json) > 12.25)";
    for (name, args, words) in [
        ("a channel", &["count(temperature > 3)", "--compare", "cloud"][..], "--comparable"),
        (
            "a mean",
            &["mean(linear(model.json))", "--compare", "cloud"],
            "conditions on polynomials and models",
        ),
    ] {
        let refused = site.try_sotto(&[&["question", "add", "refused"], args].concat())?;
        let fault = refused.status.success() || !refused.stderr.contains(words);
        let fault = fault.then(|| refused.stderr.clone());
        cases.case(&format!("compared in the cloud: {name} is refused"), fault.into_iter().collect());
    }
    for (name, text, precision, words) in [
        ("too fine", model.to_owned(), "0.001", "1/2048"),
        ("too fine for n = 32768", format!("{model} shared"), "10", "compare = \"owner\""),
    ] {
        let add = ["question", "add", "fine", &text, "--compare", "cloud", "--precision", precision];
        site.sotto(&add)?;
        let refused = site.try_sotto(&["plan"])?;
        let fault = refused.status.success() || !refused.stderr.contains(words);
        let fault = fault.then(|| format!("{}{}", refused.stdout, refused.stderr));
        cases.case(&format!("compared in the cloud: {name}"), fault.into_iter().collect());
        site.sotto(&["question", "remove", "fine"])?;
    }
    Ok(())
}

/// Returns the faults of an answer with a row for each condition and group.
fn judge(series: &Series, answer: &Value, all: &[Condition]) -> Vec<String> {
    let mut faults = Vec::new();
    let rows = answer["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let mut counted = 0;
    for row in rows {
        let name = row["name"].as_str().unwrap_or_default();
        let Some(condition) = all.iter().find(|condition| condition.text == name) else {
            faults.push(format!("no condition is called {name}"));
            continue;
        };
        let time = |key: &str| row[key].as_str().and_then(instant).unwrap_or_default();
        let group = time("from")..time("to");
        let samples = series.samples.iter().filter(|sample| group.contains(&sample.at));
        let over: Vec<f64> = samples.filter_map(condition.over).collect();
        counted += over.len();
        if row["count"] != over.len() {
            faults.push(format!("{name} is of {} readings, not {}", row["count"], over.len()));
        }
        let number = |holds: &dyn Fn(f64) -> bool| {
            condition.each * over.iter().filter(|over| holds(**over)).count() as f64
        };
        let truth = number(&|over| (over > 0.0) == condition.above);
        let near = number(&|over| over.abs() <= condition.gap);
        match (row["value"].as_f64(), row["bound"].as_f64()) {
            (Some(value), Some(bound)) => {
                if (value - truth).abs() > bound + 1e-9 || 2.0 * bound > near + 1e-9 {
                    faults.push(format!(
                        "{name} at {}: {value} ± {bound}, not {truth}, {near} near",
                        row["from"]
                    ));
                }
            }
            _ if over.is_empty() && condition.each < 1.0 => {}
            _ => faults.push(format!("{name} at {} has no value", row["from"])),
        }
    }
    if counted == 0 {
        faults.push("no reading was counted".to_owned());
    }
    faults
}
