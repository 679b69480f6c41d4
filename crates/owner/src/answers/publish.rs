//! Answers in the form in which they may be given to others.

use serde::Serialize;

use super::answer::{Answer, Row};
use super::kept;
use super::mark::Verified;
use crate::declared::Plant;
use crate::error::OwnerError;
use crate::files::read_json;
use crate::question::{Question, Selected};
use crate::work::Flooded;

/// Largest number of digits after the point.
const MOST_DIGITS: i32 = 15;

/// The treatment of reals in a published answer.
///
/// Example: [`Published`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Giving {
    /// Flooded values if the answer has them, else rounded to the noise bound.
    Default,
    /// Rounded to this number of digits after the point; a negative number rounds to tens, hundreds and so on.
    Round(i32),
    /// Flooded values; refused if the answer was not flooded.
    Flood,
}

/// An answer in the form in which it may be given to others.
///
/// ```
/// use sotto_owner::{Giving, OwnerError, Published, Verified};
/// # let folder = tempfile::tempdir()?;
/// # let here = sotto_owner::NewPlant { cloud: None, listen: "127.0.0.1:7410".parse()?, time_zone: None };
/// # let mut plant = sotto_owner::Plant::init(&folder.path().join("dairy"), &here)?;
/// # plant.edit(|settings| {
/// #     let (range, every) = ("-20..120".parse().expect("a range"), "5m".parse().expect("a duration"));
/// #     let temperature = sotto_owner::settings::ChannelSettings::new("°C", range, 0.1, every);
/// #     sotto_owner::edit::add_channel(settings, "temperature", &temperature)?;
/// #     sotto_owner::edit::add_question(settings, "daily", &"mean(temperature) over 7d by day".into())?;
/// #     sotto_owner::edit::add_device(settings, "boiler", &["temperature".into()])
/// # })?;
/// # let answer: sotto_owner::Answer = serde_json::from_str(r#"{
/// #     "version": 1, "question": "mean(temperature)", "time_zone": "UTC", "notes": [],
/// #     "rows": [{
/// #         "from": "2014-01-31T00:00:00Z", "to": "2014-02-01T00:00:00Z", "device": "boiler",
/// #         "name": "mean(temperature)", "value": 71.25, "bound": 0.05, "unit": "°C", "count": 287, "missing": 1, "assurance": "authenticated"
/// #     }],
/// #     "bytes_up": 2048, "bytes_down": 512, "seconds": 0.2, "windows": 1, "jobs": 1, "evaluate_us": 150,
/// #     "steps": {}, "left_out": {}
/// # }"#)?;
/// # let name = plant.keep(&answer)?.ok_or("longer than 16 MiB")?;
///
/// // `name` is a stored answer of this `plant`.
/// let refused = plant.publish(&name, Giving::Default);
/// assert!(matches!(refused, Err(OwnerError::NotVerified { .. })));
/// # let mark = serde_json::to_vec(&Verified { at_ms: 0, sampled: 1.0, jobs: 1 })?;
/// # std::fs::write(plant.folder().join(format!("answers/{name}.verified")), mark)?;
/// // After `Plant::verify` repeated all of the cloud's work:
/// let verified: Verified = plant.verified(&name)?.ok_or("not verified")?;
/// assert_eq!(verified.sampled, 1.0);
/// let given: Published = plant.publish(&name, Giving::Default)?;
/// assert_eq!(given.rows[0].value, Some(71.25));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Published {
    /// The version of the JSON form.
    pub version: u32,
    /// The question's text.
    pub question: String,
    /// The rows: whole numbers unchanged, reals rounded or flooded.
    #[serde(flatten, with = "super::written")]
    pub rows: Vec<Row>,
    /// The time zone of the rows.
    pub time_zone: String,
    /// Time of the verification, in milliseconds since 1970.
    pub verified_ms: i64,
    /// The flooding of reals; None if they were rounded, or there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flooded: Option<Flooded>,
    /// Number of rounded rows. Rounding protects only if the recipients are honest.
    pub rounded: usize,
}

fn published(answer: Answer, giving: Giving, verified_ms: i64) -> Result<Published, OwnerError> {
    let cannot = |reason: String| OwnerError::CannotPublish { reason };
    let question =
        Question::parse(&answer.question).map_err(|error| OwnerError::Question(error.to_string()))?;
    let reals: Vec<String> =
        question.select.iter().filter(|selected| is_real(selected)).map(Selected::name).collect();
    // `name[0]`, `name[1]`, … are values at single readings.
    let real = |row: &Row| {
        reals.iter().any(|name| {
            row.name == *name
                || row.name.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('['))
        })
    };
    let any = answer.rows.iter().any(&real);
    let flooded = answer.flooded.filter(|_| any);
    if giving == Giving::Flood && any && flooded.is_none() {
        return Err(cannot(format!(
            "its reals were rounded when they were decrypted, and flooding needs the values before: ask again with `sotto ask '{} shared'`, \
             after `sotto question add NAME '… shared'` and new bundles",
            answer.question
        )));
    }
    let mut rounded = 0;
    let rows = answer.rows.into_iter().map(|row| {
        let digits = match giving {
            Giving::Round(digits) => Some(digits),
            Giving::Default if flooded.is_none() => None,
            _ => return Ok(row),
        };
        match (row.value, row.bound) {
            (Some(value), Some(bound)) if real(&row) => {
                let (value, bound) = round(value, bound, digits)
                    .map_err(|reason| cannot(format!("{}: {reason}", row.name)))?;
                rounded += 1;
                Ok(Row { value: Some(value), bound: Some(bound), ..row })
            }
            _ => Ok(row),
        }
    });
    let rows = rows.collect::<Result<_, OwnerError>>()?;
    let Answer { version, question, time_zone, .. } = answer;
    Ok(Published { version, question, rows, time_zone, verified_ms, flooded, rounded })
}

/// Returns true if a result has noise.
fn is_real(selected: &Selected) -> bool {
    selected.expression.calls().any(|call| call.of().has_noise())
}

/// Rounds a value to `digits` digits after the point, and returns it with its new bound. The digits must not be finer
/// than the bound; None means as many as the bound allows.
fn round(value: f64, bound: f64, digits: Option<i32>) -> Result<(f64, f64), String> {
    let most = if bound > 0.0 {
        (-bound.log10()).floor().clamp(-300.0, f64::from(MOST_DIGITS)) as i32
    } else {
        MOST_DIGITS
    };
    // The logarithm may have been rounded up across a whole number.
    let most = if step(most) < bound { most - 1 } else { most };
    let digits = digits.unwrap_or(most);
    if digits > most {
        return Err(format!(
            "{digits} digits after the point are finer than the bound {bound:e} allows: take at most {most}"
        ));
    }
    let step = step(digits);
    // Rounding via decimal text leaves no further digits, unlike a product.
    let rounded = if digits >= 0 {
        format!("{value:.*}", digits as usize).parse().unwrap_or(value)
    } else {
        (value / step).round() * step
    };
    Ok((rounded, bound + step / 2.0))
}

/// Returns 10^-digits.
fn step(digits: i32) -> f64 {
    10f64.powi(-digits)
}

#[cfg(test)]
mod tests;

/// Returns the mark of a verified answer; None if it was not verified.
pub(crate) fn verified(plant: &Plant, name: &str) -> Result<Option<Verified>, OwnerError> {
    if !kept::answers(plant)?.iter().any(|known| known == name) {
        return Err(OwnerError::NotDeclared { kind: "answer", name: name.to_owned() });
    }
    let path = kept::verified_path(plant, name);
    if path.exists() { read_json(&path).map(Some) } else { Ok(None) }
}

/// Returns an answer in the form in which it may be given to others.
pub(crate) fn publish(plant: &Plant, name: &str, giving: Giving) -> Result<Published, OwnerError> {
    let verified = verified(plant, name)?;
    let refused = |sampled: Option<f64>| OwnerError::NotVerified { name: name.to_owned(), sampled };
    let verified = verified.ok_or_else(|| refused(None))?;
    // The comparison also refuses NaN.
    let whole = verified.sampled >= 1.0;
    if !whole {
        return Err(refused(Some(verified.sampled)));
    }
    published(kept::answer(plant, name)?.answer, giving, verified.at_ms)
}
