//! Expressions, questions, and the owner's settings.

use sotto_owner::question::{Alarm, LinearModel, Question};
use sotto_owner::settings::Settings;
use sotto_program::{ParseOptions, parse};

use super::{Inputs, Target};

#[rustfmt::skip]
pub(super) const TARGETS: &[Target] = &[
    // The limits of programs bound the memory: 100,000 operations, whatever the notation.
    Target { name: "expression", run: |bytes| expression(bytes, false), inputs: Inputs::Kept(expressions), memory: |bytes| 64 * bytes.len() + (32 << 20) },
    Target { name: "expression-encrypted", run: |bytes| expression(bytes, true), inputs: Inputs::Kept(|| [expressions(), numbers()].concat()), memory: |bytes| 64 * bytes.len() + (32 << 20) },
    Target { name: "question", run: question, inputs: Inputs::Kept(questions), memory: |bytes| 256 * bytes.len() + (1 << 20) },
    Target { name: "question-json", run: question_json, inputs: Inputs::Kept(questions_as_json), memory: |bytes| 512 * bytes.len() + (1 << 20) },
    Target { name: "alarm", run: alarm, inputs: Inputs::Kept(alarms), memory: |bytes| 256 * bytes.len() + (1 << 20) },
    Target { name: "linear-model", run: linear_model, inputs: Inputs::Kept(models), memory: |bytes| 64 * bytes.len() + (256 << 10) },
    Target { name: "settings", run: settings, inputs: Inputs::Kept(all_settings), memory: |bytes| 512 * bytes.len() + (1 << 20) },
];

fn expressions() -> Vec<Vec<u8>> {
    [
        "3*4+3",
        "x^2 - 2*x*y + y^2",
        "sum(x*y, 8) / 1",
        "rotate(x, -3) + rotate(sum(x), 1)",
        "-(x+1.5e3)*[1, -2.25, 3e-2]^3",
        "((((x))))^1024",
        "temperature_1.mean*0x10",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

/// Returns expressions without names, whose numbers are all encrypted.
fn numbers() -> Vec<Vec<u8>> {
    ["-(2+1.5)*(3-0.25)^3", "((((7))))^16 - 2*(1e3+4)", "(1+2)*(3+4)*(5-6)"]
        .map(|text| text.as_bytes().to_vec())
        .to_vec()
}

/// Parses an expression: an accepted one must be a valid program; a refusal must be printable, with a mark under the
/// character.
fn expression(bytes: &[u8], encrypted: bool) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let options = if encrypted {
        ParseOptions::encrypted_literals()
    } else {
        ParseOptions { undeclared: Some(10.0), sum_width: Some(8), ..ParseOptions::default() }
    };
    match parse(&text, &options) {
        Ok(parsed) => {
            let _ = (parsed.literal_integers(), parsed.literal_reals());
            assert_eq!(parsed.program.outputs().len(), 1);
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

const QUESTIONS: [&str; 5] = [
    "mean(temperature), stddev(temperature) as noise by day",
    "regression(y ~ x), weighted_sum(x, half_life 6h) over 7d per device",
    "-(mean(a) - 2) / stddev(b) * 1.5e3 since 2014-01-01 until 2014-02-01T12:00:00+01:00",
    "moving_average(\"Water flow\", 7), polynomial(x, [0, 1, -2.5]) by week where device in (boiler, pump)",
    "mean(linear(models/a.json)), weighted_sum(x, [1, 2, 3]), count(x), correlation(x, y) by hour across devices",
];

fn questions() -> Vec<Vec<u8>> {
    QUESTIONS.map(|text| text.as_bytes().to_vec()).to_vec()
}

/// Parses a question: an accepted one must be equal after its text or its JSON is read again; a refusal must be
/// printable.
fn question(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    match Question::parse(&text) {
        Ok(question) => {
            assert_eq!(
                Question::parse(&question.to_string()).as_ref(),
                Ok(&question),
                "its text parses to another question"
            );
            let json = serde_json::to_string(&question).expect("JSON");
            assert_eq!(
                serde_json::from_str::<Question>(&json).ok().as_ref(),
                Some(&question),
                "its JSON parses to another question"
            );
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

fn questions_as_json() -> Vec<Vec<u8>> {
    let json = |text: &str| serde_json::to_vec(&Question::parse(text).expect("a question")).expect("JSON");
    QUESTIONS.map(json).to_vec()
}

fn question_json(bytes: &[u8]) -> bool {
    let Ok(question) = serde_json::from_slice::<Question>(bytes) else { return false };
    assert!(question.check().is_ok());
    true
}

const ALARMS: [&str; 4] = [
    "temperature > 80 for 3 windows",
    "max(x) - min(x) >= 1.5e1 for 2 windows where device in (boiler, \"pump 2\")",
    "\"Water flow\" <= -0.5 per device",
    "count(x > 80) / count(x) > 0.25 where device in (a) for 1 window",
];

fn alarms() -> Vec<Vec<u8>> {
    ALARMS.map(|text| text.as_bytes().to_vec()).to_vec()
}

/// Parses the condition of an alarm: an accepted one must be equal after its text is read again, and its questions must
/// be valid; a refusal must be printable.
fn alarm(bytes: &[u8]) -> bool {
    match Alarm::parse(&String::from_utf8_lossy(bytes)) {
        Ok(alarm) => {
            assert_eq!(
                Alarm::parse(&alarm.to_string()).as_ref(),
                Ok(&alarm),
                "its text parses to another condition"
            );
            alarm.question(Some(0.0)).check().expect("a question");
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

fn models() -> Vec<Vec<u8>> {
    [r#"{"intercept": 1.5, "coefficients": {"temperature": 0.2, "humidity": -1e-2}}"#]
        .map(|text| text.as_bytes().to_vec())
        .to_vec()
}

fn linear_model(bytes: &[u8]) -> bool {
    LinearModel::parse(bytes).is_ok()
}

fn all_settings() -> Vec<Vec<u8>> {
    ["version = 1\ntime_zone = \"Europe/Vienna\"\n[cloud]\nurl = \"http://127.0.0.1:7410\"\n[channels.t]\nunit = \"K\"\n\
      range = [-20, 1e2]\nresolution = 0.1\nevery = \"5m\"\n[questions]\na = \"mean(t)\"\nb = { text = \"rms(t)\", precision = 1 }\n\
      [devices.d]\nchannels = [\"t\"]\n"]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

fn settings(bytes: &[u8]) -> bool {
    Settings::parse(&String::from_utf8_lossy(bytes)).is_ok()
}
