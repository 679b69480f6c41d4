//! Bad input: each case has its exit code, and words that point at the place.

use super::Cases;
use super::site::Site;
use crate::process::Finished;
use anyhow::Result;
use serde_json::Value;
use std::fs;

/// A question, its exit code, and words of its refusal.
type Refused = (&'static str, u8, &'static [&'static str]);

/// Questions for a plant whose device sends means by day.
const QUESTIONS: &[Refused] = &[
    ("mean(temprature) by day", 4, &["temprature", "there is no channel", "^"]),
    ("mode(temperature)", 4, &["histogram(x, 16)", "^"]),
    ("temperature > 80", 4, &["count(x > 80)", "sotto alarm add", "^"]),
    ("mean(temperature) by fortnight", 4, &["fortnight", "^"]),
    ("mean(temperature) by minute", 4, &["did you mean 1m?", "^"]),
    ("mean(temperature) by 7m", 4, &["would not begin at the same times every day", "^"]),
    ("mean(temperature) by 3d", 4, &["would not begin at the same times every day", "^"]),
    ("mean(temperature) by month from 31", 4, &["from 1 to 28", "^"]),
    ("mean(temperature) by 15m", 4, &["shorter than the 1h", "^"]),
    ("mean(temperature) by weekday and hour", 4, &["did you mean hour of day?", "^"]),
    ("moving_average(temperature, 3) by weekday", 4, &["needs a time without gaps", "^"]),
    ("mean(temperature) where time 22-6", 4, &["a time of day", "^"]),
    ("mean(temperature) where weekday in (sturday)", 4, &["did you mean saturday?", "^"]),
    ("mean(temperature) by window where month in (1)", 4, &["windows are whole", "^"]),
    ("mean(temperature) during tomorrow", 4, &["a span of the calendar", "^"]),
    ("mean(temperature) during today over 7d", 4, &["exclude each other", "^"]),
    ("mean(temperature", 4, &["^"]),
    ("", 4, &["^"]),
    ("mean(temperature) + mean(humidity)", 4, &["units differ", "°C", "%", "^"]),
    ("mean(temperature) / 0", 4, &["0", "^"]),
    ("mean(temperature) where device in (kettle)", 16, &["kettle", "there is no device", "^"]),
    ("mean(linear(missing.json))", 4, &["missing.json", "^"]),
    ("mean(linear(shape.json))", 4, &["shape.json", "expected", "^"]),
    ("mean(linear(unknown.json))", 4, &["pressure", "there is no channel"]),
    ("covariance(temperature, load) by day", 4, &["period", "^"]),
    ("mean(polynomial(temperature, [0, 1, 2]))", 4, &["polynomial", "question add", "device renew"]),
    ("moving_average(temperature, 3)", 4, &["by", "^"]),
    ("mean(temperature) over 7d since 2025-01-01", 4, &["over", "^"]),
    ("mean(temperature) since 2025-13-01", 4, &["2025-13-01"]),
    ("regression(humidity ~ humidity)", 4, &["name two channels", "^"]),
    ("weighted_sum(temperature, [1, 2]) by hour", 4, &["more than the readings", "^"]),
    ("mean(temperature) over 5m", 4, &["shorter than the 1h", "^"]),
    ("mean(temperature) since 2025-01-02 until 2025-01-01", 17, &["exchange them", "^"]),
    ("mean(temperature) in furlongs", 4, &["no unit furlongs", "^"]),
    ("mean(temperature) in kWh", 4, &["measure different things", "^"]),
    ("sum(temperature) in °F", 4, &["whose zero is another one", "^"]),
    ("mean(load) by day", 16, &["no device", "load"]),
    ("variance(temperature) by day", 4, &["question add", "device renew"]),
    ("covariance(temperature, humidity) by day", 4, &["question add", "device renew"]),
];

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let mut site = Site::new(cases.sotto(), "UTC")?;
    let add = ["channel", "add"];
    for (name, unit, every) in [("temperature", "°C", "1h"), ("humidity", "%", "1h"), ("load", "kW", "1m")] {
        let rest = [name, "--unit", unit, "--range", "-20..120", "--resolution", "0.5", "--every", every];
        site.sotto(&[&add[..], &rest].concat())?;
    }
    site.write("shape.json", r#"{"intercept": 1.0, "weights": [1, 2]}"#)?;
    site.write("unknown.json", r#"{"intercept": 1.0, "coefficients": {"pressure": 2}}"#)?;
    site.sotto(&["question", "add", "daily", "mean(temperature) by day"])?;
    site.sotto(&["device", "add", "boiler", "--channels", "temperature,humidity"])?;
    away(cases, &site)?;
    site.start_cloud()?;
    site.write(
        "boiler.csv",
        "time,temperature,humidity\n2025-01-15T00:00:00Z,20,50\n2025-01-15T01:00:00Z,21,51\n2025-01-15T05:00:00Z,,52\n",
    )?;
    site.agent("boiler", &["--csv", "boiler.csv"])?;
    for (question, code, words) in QUESTIONS {
        let found = told_twice(&site, question, *code, words)?;
        cases.case(&format!("`{question}` is refused"), found);
    }
    units(cases, &site)?;
    advice(cases, &site)?;
    causes(cases, &site)?;
    commands(cases, &site)?;
    by_hand(cases, &site)?;
    bundles(cases, &site)?;
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}

/// Asks twice, for people and as JSON; returns the faults.
pub(super) fn told_twice(site: &Site, question: &str, code: u8, words: &[&str]) -> Result<Vec<String>> {
    let mut faults = refusal(&site.try_sotto(&["ask", question])?, code, words);
    let done = site.try_sotto(&["ask", question, "--json"])?;
    match serde_json::from_str::<Value>(&done.stdout) {
        Ok(document) => {
            let text = document["error"].as_str().unwrap_or_default();
            if document["exit_code"] != code || done.status.code() != Some(code.into()) {
                faults.push(format!("as JSON: {}, {}, not {code}", document["exit_code"], done.status));
            }
            let lacking = words.iter().filter(|word| !text.contains(**word));
            faults.extend(lacking.map(|word| format!("as JSON it lacks {word:?}: {text}")));
        }
        Err(error) => faults.push(format!("as JSON: {error}: {}", done.stdout.trim())),
    }
    Ok(faults)
}

/// Returns the faults of a refusal.
pub(in crate::suites) fn refusal(done: &Finished, code: u8, words: &[&str]) -> Vec<String> {
    let mut faults = Vec::new();
    if done.status.code() != Some(code.into()) {
        faults.push(format!("{}, not {code}; it said: {}", done.status, done.stderr.trim()));
    }
    let lacking = words.iter().filter(|word| !done.stderr.contains(**word));
    faults.extend(lacking.map(|word| format!("it lacks {word:?}: {}", done.stderr.trim())));
    for noise in ["panicked", "Stack backtrace", "RUST_BACKTRACE"] {
        if done.stderr.contains(noise) {
            faults.push(format!("it says {noise:?}"));
        }
    }
    faults
}

/// Asks for results in other units. The readings are 20 °C and 21 °C.
fn units(cases: &mut Cases, site: &Site) -> Result<()> {
    for (question, unit, right) in [
        ("mean(temperature) in °F", "°F", 68.9),
        ("mean(temperature) as warm in K by day", "K", 293.65),
        ("max(temperature) - min(temperature) in °F", "°F", 1.8),
        ("-mean(temperature)", "°C", -20.5),
        ("energy(temperature)", "°C·h", 41.0),
    ] {
        let done = site.try_sotto(&["ask", question, "--json", "--unchecked"])?;
        let answer: Value = serde_json::from_str(&done.stdout).unwrap_or_default();
        let row = &answer["rows"][0];
        let (value, bound) = (row["value"].as_f64().unwrap_or(f64::NAN), row["bound"].as_f64());
        let within = (value - right).abs() <= bound.unwrap_or_default() + 1e-9;
        let fault = (row["unit"] != unit || !within).then(|| format!("{row} {}", done.stderr));
        cases.case(&format!("`{question}` is {right} {unit}"), fault.into_iter().collect());
    }
    Ok(())
}

/// Follows the advice that the program gives to one who asks for a device that there is not, up to an answer.
fn advice(cases: &mut Cases, site: &Site) -> Result<()> {
    let question = "mean(temperature) where device in (roof)";
    let command = |text: &str, program: &str| -> Vec<String> {
        let mut commands = text.split('`').skip(1).step_by(2);
        let found = commands.find(|command| command.starts_with(&format!("{program} ")));
        found.unwrap_or_default().split_whitespace().skip(1).map(str::to_owned).collect()
    };
    let run = |program: &str, args: &[String]| {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        site.try_program(program, &args)
    };
    let refused = site.try_sotto(&["ask", question])?;
    let added = run("sotto", &command(&refused.stderr, "sotto"))?;
    cases.case("the advice `sotto device add` is complete", refusal(&added, 0, &[]));
    let empty = site.try_sotto(&["ask", question])?;
    cases.case("nothing has arrived: code 10", code(&empty, 10));
    let send = command(&empty.stdout, "sotto-agent");
    let send: Vec<String> =
        send.iter().map(|arg| if arg == "FILE" { "boiler.csv".to_owned() } else { arg.clone() }).collect();
    cases.case("the advice `sotto-agent run` is complete", refusal(&run("sotto-agent", &send)?, 0, &[]));
    let answered = site.try_sotto(&["ask", question])?;
    let right = answered.status.success() && answered.stdout.contains("20.5");
    cases.case("then there is an answer", (!right).then_some(answered.stdout).into_iter().collect());
    Ok(())
}

/// Further causes of an answer without a value, with their exit codes.
fn causes(cases: &mut Cases, site: &Site) -> Result<()> {
    let ask = |question: &str| site.try_sotto(&["ask", question]);
    cases.case("another time: code 11", code(&ask("mean(temperature) since 2030-01-01")?, 11));
    let between = "mean(temperature) since 2025-01-15T03:00 until 2025-01-15T04:00";
    cases.case("no reading in this time: code 12", code(&ask(between)?, 12));
    let settings = site.folder().join("plant/sotto.toml");
    let text = fs::read_to_string(&settings)?;
    fs::write(&settings, text.replace("\"°C\"", "\"K\""))?;
    cases.case("another unit then: code 13", code(&ask("mean(temperature)")?, 13));
    fs::write(&settings, text)?;
    let key = site.folder().join("plant/secrets/boiler.key");
    fs::rename(&key, site.folder().join("kept"))?;
    let only = "mean(temperature) where device in (boiler)";
    cases.case("a missing secret: code 14", code(&ask(only)?, 14));
    fs::rename(site.folder().join("kept"), &key)?;
    let multiplied = "mean(temperature) where device in (roof)";
    site.sotto(&["question", "add", "multiplied", multiplied, "--scheme", "bfv"])?;
    site.sotto(&["device", "renew", "roof"])?;
    let left_out = ask("multiplied")?;
    cases.case("every window is of before the scheme: code 15", code(&left_out, 15));
    site.sotto(&["question", "remove", "multiplied"])?;
    Ok(())
}

/// Returns a fault if a command ended with another code, or if its last line names no way out.
fn code(done: &Finished, code: i32) -> Vec<String> {
    let right = done.status.code() == Some(code) && done.stdout.contains("no answer: ");
    (!right).then(|| format!("{}: {} {}", done.status, done.stdout, done.stderr)).into_iter().collect()
}

fn away(cases: &mut Cases, site: &Site) -> Result<()> {
    let found = told_twice(site, "mean(temperature) by day", 5, &["127.0.0.1"])?;
    cases.case("the cloud is away: ask", found);
    let done = site.try_sotto(&["status"])?;
    cases.case("the cloud is away: status", refusal(&done, 5, &["127.0.0.1"]));
    Ok(())
}

fn commands(cases: &mut Cases, site: &Site) -> Result<()> {
    let channel = |range, resolution, every| {
        ["channel", "add", "pressure", "--range", range, "--resolution", resolution, "--every", every]
    };
    let same = ["channel", "add", "load", "--range", "0..1", "--resolution", "0.1", "--every", "1m"];
    let settings = || fs::read_to_string(site.folder().join("plant/sotto.toml"));
    let before = settings()?;
    for (args, code, words) in [
        (&["init", "plant"][..], 3, &["sotto.toml", "already"][..]),
        (&["init", "other", "--time-zone", "Europe/Atlantis"], 3, &["Europe/Atlantis", "time zone"]),
        (&["device", "add", "boiler", "--channels", "temperature"], 3, &["boiler", "already"]),
        (&["device", "add", "tank", "--channels", "temprature"], 2, &["temprature", "there is no channel"]),
        (&["device", "add", "a b", "--channels", "temperature"], 2, &["name"]),
        (&["device", "renew", "tank"], 2, &["tank"]),
        (&same, 2, &["load", "already"]),
        (&channel("5..1", "0.1", "1m"), 2, &["range", "5..1"]),
        (&channel("0..x", "0.1", "1m"), 2, &["range", "0..x"]),
        (&channel("0..1", "0", "1m"), 2, &["pressure", "resolution"]),
        (&channel("0..1", "-1", "1m"), 2, &["pressure", "resolution"]),
        (&channel("0..1", "5", "1m"), 2, &["pressure", "resolution"]),
        (&channel("0..1", "0.1", "5 minutes"), 2, &["period", "5 minutes"]),
        (&channel("0..1", "0.1", "0s"), 2, &["period", "0s"]),
        (&["question", "add", "bad", "mean(pressure)"], 4, &["pressure", "^"]),
        (&["question", "remove", "none"], 2, &["none"]),
        (&["ask", "daily", "--plant", "nowhere"], 3, &["nowhere", "sotto init"]),
        (&["ask"], 2, &["QUESTION"]),
    ] {
        let mut found = refusal(&site.try_sotto(args)?, code, words);
        if settings()? != before {
            found.push("sotto.toml was changed".to_owned());
            fs::write(site.folder().join("plant/sotto.toml"), &before)?;
        }
        cases.case(&format!("`sotto {}` is refused", args.join(" ")), found);
    }
    Ok(())
}

/// Tests mistakes in sotto.toml.
fn by_hand(cases: &mut Cases, site: &Site) -> Result<()> {
    let file = site.folder().join("plant/sotto.toml");
    let before = fs::read_to_string(&file)?;
    for (old, new, words) in [
        ("resolution =", "resolutoin =", &["line", "resolutoin", "^"][..]),
        ("[channels.load]", "[channels.load", &["line", "^"]),
        ("time_zone = \"UTC\"", "time_zone = UTC", &["line", "^"]),
        ("time_zone = \"UTC\"", "time_zone = \"Vienna\"", &["time_zone", "Vienna"]),
        ("version = 1", "version = 2", &["version 2", "newer"]),
        ("every = \"1m\"", "every = \"1 min\"", &["line", "1 min", "^"]),
        ("mean(temperature) by day", "mean(temprature) by day", &["questions.daily", "temprature"]),
        ("mean(temperature) by day", "mean(temperature) by dya", &["questions.daily", "dya", "^"]),
    ] {
        let mut found = Vec::new();
        if !before.contains(old) {
            found.push(format!("sotto.toml does not hold {old}"));
        }
        fs::write(&file, before.replacen(old, new, 1))?;
        found.extend(refusal(&site.try_sotto(&["ask", "daily"])?, 3, words));
        cases.case(&format!("sotto.toml with `{new}` is refused"), found);
    }
    fs::write(&file, before)?;
    Ok(())
}

/// Tests files that are not bundles, and bundles of another plant.
fn bundles(cases: &mut Cases, site: &Site) -> Result<()> {
    let bundle = fs::read(site.folder().join("boiler.bundle"))?;
    let token = fs::read(site.folder().join("plant/secrets/owner-token"))?;
    let signing = fs::read(site.folder().join("plant/secrets/boiler.signing"))?;
    let mut flipped = bundle.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    for (name, bytes) in [
        ("text", b"time,temperature\n".to_vec()),
        ("empty", Vec::new()),
        ("token", token),
        ("signing", signing),
        ("truncated", bundle[..bundle.len() / 2].to_vec()),
        ("flipped", flipped),
    ] {
        let file = format!("{name}.bundle");
        site.write_private(&file, &bytes)?;
        let found = refusal(&site.try_agent(name, &["--csv", "boiler.csv"])?, 1, &[&file]);
        cases.case(&format!("a bundle that is none ({name}) is refused"), found);
    }
    let found = refusal(&site.try_agent("absent", &["--csv", "boiler.csv"])?, 1, &["absent.bundle"]);
    cases.case("a bundle that is not there is refused", found);
    let listen = site.cloud_url()?;
    site.sotto(&["init", "other", "--cloud", &listen])?;
    let other = ["--plant", "other"];
    let add =
        ["channel", "add", "temperature", "--range", "-20..120", "--resolution", "0.5", "--every", "1h"];
    site.sotto(&[&add[..], &other].concat())?;
    site.sotto(
        &[
            &["device", "add", "boiler", "--channels", "temperature", "--bundle", "foreign.bundle"],
            &other[..],
        ]
        .concat(),
    )?;
    let done = site.try_agent("foreign", &["--csv", "boiler.csv"])?;
    cases.case(
        "a bundle of another plant is refused",
        refusal(&done, 1, &["signs with another key", "nothing was read"]),
    );
    let done = site.try_sotto(&["ask", "mean(temperature)", "--plant", "other"])?;
    cases.case("another plant's owner is refused", refusal(&done, 6, &[]));
    let status = site.status("boiler")?;
    let found = (status["channels"][0]["readings"] != 2).then(|| format!("other readings arrived: {status}"));
    cases.case("nothing of another plant counts", found.into_iter().collect());
    Ok(())
}
