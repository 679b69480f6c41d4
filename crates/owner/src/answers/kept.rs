//! Earlier answers, stored unencrypted in the plant's folder.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::answer::{Answer, Row};
use super::evidence;
use super::mark::Verified;
use crate::declared;
use crate::declared::Plant;
use crate::error::{OwnerError, io};
use crate::files::{pretty, read_json, remove_if_there, write_private};
use crate::question::{Asked, Question, Template};

/// Largest answer that is stored, in bytes.
const LARGEST: usize = 16 << 20;

/// Number of recent answers searched for the latest one to a question.
const LOOKED_AT: usize = 50;

/// A stored answer.
///
/// ```
/// use sotto_owner::KeptAnswer;
/// # let folder = tempfile::tempdir()?;
/// # let here = sotto_owner::NewPlant { cloud: None, listen: "127.0.0.1:7410".parse()?, time_zone: None };
/// # let mut plant = sotto_owner::Plant::init(&folder.path().join("dairy"), &here)?;
/// # let answer: sotto_owner::Answer = serde_json::from_str(r#"{
/// #     "version": 1, "question": "mean(temperature)", "time_zone": "UTC", "notes": [],
/// #     "rows": [{
/// #         "from": "2014-01-31T00:00:00Z", "to": "2014-02-01T00:00:00Z", "device": "boiler",
/// #         "name": "mean(temperature)", "value": 71.25, "bound": 0.05, "unit": "°C", "count": 287, "missing": 1, "assurance": "authenticated"
/// #     }],
/// #     "bytes_up": 2048, "bytes_down": 512, "seconds": 0.2, "windows": 1, "jobs": 1, "evaluate_us": 150,
/// #     "steps": {}, "left_out": {}
/// # }"#)?;
///
/// // `answer` is an answer of this `plant`.
/// let name = plant.keep(&answer)?.ok_or("longer than 16 MiB")?;
/// let kept: KeptAnswer = plant.answer(&name)?;
/// assert_eq!(kept.answer.rows[0].value, Some(71.25));
/// assert!(kept.asked_at > 0);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptAnswer {
    /// Time of the question, in milliseconds since 1970.
    pub asked_at: i64,
    /// The rows, with costs and notes.
    #[serde(flatten)]
    pub answer: Answer,
}

/// Returns the name of an answer stored at a time.
fn name_at(time: Timestamp) -> String {
    time.strftime("%Y%m%dT%H%M%S%.3fZ").to_string()
}

/// Stores an answer and returns its name. Returns None, and stores nothing, if it exceeds 16 MiB. Unchecked values are in a
/// file of their own until the answer is verified, which nothing else reads.
pub(crate) fn keep(plant: &Plant, answer: &Answer) -> Result<Option<String>, OwnerError> {
    let now = Timestamp::now();
    let name = name_at(now);
    let asked_at = now.as_millisecond();
    let checked = answer.checked();
    let held_back = checked.holds_back();
    let json = pretty(&KeptAnswer { asked_at, answer: checked.into_owned() })?;
    if json.len() > LARGEST {
        return Ok(None);
    }
    // The evidence first: an answer without it cannot be verified.
    evidence::keep_evidence(plant, &name, &answer.evidence)?;
    if held_back {
        let whole = KeptAnswer { asked_at, answer: answer.clone() };
        write_private(&unchecked_path(plant, &name), &pretty(&whole)?)?;
    }
    write_private(&answer_path(plant, &name), &json)?;
    if let Some(jobs) = answer.repeated {
        let mark = Verified { at_ms: asked_at, sampled: 1.0, jobs };
        write_private(&verified_path(plant, &name), &pretty(&mark)?)?;
    }
    expire_answers(plant)?;
    Ok(Some(name))
}

/// Takes the values that were held back into an answer, as all work behind it was repeated. Without any, its sums were
/// checked by their tags when it was opened.
pub(super) fn take_checked(plant: &Plant, name: &str, work: u64) -> Result<(), OwnerError> {
    let path = unchecked_path(plant, name);
    let KeptAnswer { asked_at, answer } =
        if path.exists() { read_json(&path)? } else { read_json(&answer_path(plant, name))? };
    let answer = if work == 0 { answer.authenticated() } else { answer.recomputed() };
    let answer = answer.checked().into_owned();
    write_private(&answer_path(plant, name), &pretty(&KeptAnswer { asked_at, answer })?)?;
    remove_if_there(&path)
}

fn answer_path(plant: &Plant, name: &str) -> PathBuf {
    plant.path("answers").join(format!("{name}.json"))
}

/// Returns the path of the file with all values of an answer, until it is verified.
fn unchecked_path(plant: &Plant, name: &str) -> PathBuf {
    plant.path("answers").join(format!("{name}.unchecked"))
}

/// Deletes answers older than `keep_answers` days (`sotto.toml`). Returns their number.
pub(crate) fn expire_answers(plant: &Plant) -> Result<usize, OwnerError> {
    let Some(days) = plant.settings().keep_answers else { return Ok(0) };
    let oldest = Timestamp::now().checked_sub(jiff::SignedDuration::from_hours(24 * i64::from(days)));
    let Ok(oldest) = oldest else { return Ok(0) };
    // Names are times, and sort in their order.
    let oldest = name_at(oldest);
    delete_answers(plant, |name| Ok(*name < oldest))
}

/// Deletes answers with rows that begin before `before` and are about the device or across devices.
pub(crate) fn forget_answers(plant: &Plant, device: &str, before: i64) -> Result<usize, OwnerError> {
    delete_answers(plant, |name| {
        let kept = answer(plant, name)?;
        // A name that no device has now may be an earlier one of this device.
        let is_other = |of: &str| {
            of != device && (plant.settings().devices.contains_key(of) || plant.removed().contains_key(of))
        };
        // Rows of other devices hold readings of this one if calls name their devices.
        let question = Question::parse(&kept.answer.question);
        let names = question.as_ref().is_ok_and(|question| question.calls_of().any(|(_, of)| of.is_some()));
        let is_of_before = question.as_ref().is_ok_and(follows_from_earlier_groups);
        let about = |row: &Row| {
            let is_early = is_of_before || row.from_ms < before;
            (names || !row.device.as_deref().is_some_and(is_other)) && is_early
        };
        Ok(kept.answer.rows.iter().any(about))
    })
}

/// Returns true if rows of an answer follow from readings before them, too.
fn follows_from_earlier_groups(question: &Question) -> bool {
    let has_offset = question.select.iter().any(|selected| selected.expression.offsets().next().is_some());
    has_offset || Asked::new(question).groups_before() > 0
}

fn delete_answers(
    plant: &Plant,
    chosen: impl Fn(&String) -> Result<bool, OwnerError>,
) -> Result<usize, OwnerError> {
    let mut deleted = 0;
    for name in answers(plant)? {
        if chosen(&name)? {
            let path = answer_path(plant, &name);
            std::fs::remove_file(&path).map_err(io(&path))?;
            for ending in ["evidence", "verified", "unchecked", "open"] {
                // Older answers have no such file.
                let _ = std::fs::remove_file(plant.path("answers").join(format!("{name}.{ending}")));
            }
            deleted += 1;
        }
    }
    Ok(deleted)
}

/// Returns the path of the file that marks an answer as verified.
pub(crate) fn verified_path(plant: &Plant, name: &str) -> PathBuf {
    plant.path("answers").join(format!("{name}.verified"))
}

/// Returns the names of all stored answers, oldest first.
pub(crate) fn answers(plant: &Plant) -> Result<Vec<String>, OwnerError> {
    let folder = plant.path("answers");
    let entries = std::fs::read_dir(&folder).map_err(io(&folder))?;
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.ok()?.file_name().to_str()?.strip_suffix(".json").map(str::to_owned)
    };
    let mut names: Vec<String> = entries.filter_map(name).collect();
    names.sort_unstable();
    Ok(names)
}

/// Returns the name of the answer stored last.
pub(crate) fn latest_answer(plant: &Plant) -> Result<String, OwnerError> {
    let none = || OwnerError::Unanswerable("no answer was kept yet: ask first".to_owned());
    answers(plant)?.pop().ok_or_else(none)
}

/// Returns the names of the answers stored in the last `within` milliseconds, oldest first.
pub(crate) fn latest_answers(plant: &Plant, within: i64) -> Result<Vec<String>, OwnerError> {
    let mut names = answers(plant)?;
    if let Ok(time) = Timestamp::from_millisecond(Timestamp::now().as_millisecond().saturating_sub(within)) {
        let first = name_at(time);
        names.retain(|name| *name >= first);
    }
    Ok(names)
}

/// Returns the latest answer to a declared question. Searches the 50 most recent answers; None if none matches.
pub(crate) fn last_cost(plant: &Plant, question: &str) -> Option<KeptAnswer> {
    let text = plant.settings().questions.get(question).map_or(question, |declared| declared.text.as_str());
    let template = Template::read(text).ok()?;
    let question = declared::planned_question(plant, question).ok()?;
    let text = question.to_string();
    let is_same = |answered: &str| match template.parameters().is_empty() {
        true => answered == text,
        false => answered.parse().is_ok_and(|answered| template.may_become(&answered)),
    };
    let names = answers(plant).ok()?;
    let mut kept = names.iter().rev().take(LOOKED_AT).filter_map(|name| answer(plant, name).ok());
    kept.find(|kept| is_same(&kept.answer.question) && kept.answer.scheme == question.scheme)
}

/// Reads a stored answer.
pub(crate) fn answer(plant: &Plant, name: &str) -> Result<KeptAnswer, OwnerError> {
    if !answers(plant)?.iter().any(|known| known == name) {
        return Err(OwnerError::NotDeclared { kind: "answer", name: name.to_owned() });
    }
    let mut kept: KeptAnswer = read_json(&answer_path(plant, name))?;
    let at = |text: &str| text.parse::<Timestamp>().map_or(0, Timestamp::as_millisecond);
    for row in &mut kept.answer.rows {
        (row.from_ms, row.to_ms) = (at(&row.from), at(&row.to));
    }
    // Answers of earlier versions hold all values, and do not say how far these were checked.
    kept.answer = kept.answer.checked().into_owned();
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_from_earlier_groups_are_about_earlier_time() {
        for (text, expected) in [
            ("mean(x) by day", false),
            ("mean(x) - mean(x) offset 1y by day", true),
            ("moving_average(x, 7) by day", true),
            ("difference(mean(x)) by day", true),
            ("cumulative(sum(x)) by day", false),
        ] {
            let question = Question::parse(text).expect("a question");
            assert_eq!(follows_from_earlier_groups(&question), expected, "{text}");
        }
    }
}
