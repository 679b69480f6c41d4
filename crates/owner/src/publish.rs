//! Answers as they may be given to others.

use serde::{Deserialize, Serialize};
use sotto_program::question::{Call, Question, Reading, Selected};

use crate::answer::{Answer, Row};
use crate::error::OwnerError;
use crate::flooding::Flooded;
use crate::plant::{Plant, read_json};

/// Most digits after the point.
const MOST_DIGITS: i32 = 15;

/// The mark of an answer whose transcript was checked, in `answers/NAME.verified`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verified {
    /// When it was checked: milliseconds since 1970.
    pub at_ms: i64,
    /// The part of the work that was repeated, from 0 to 1.
    pub sampled: f64,
    /// Jobs and requests for sums behind the answer.
    pub jobs: u64,
}

/// How reals are made fit to be given away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Giving {
    /// Flooded where the answer was, else rounded to the noise bound.
    Default,
    /// Rounded to so many digits after the point; fewer than none rounds to tens, hundreds and so on.
    Round(i32),
    /// Flooded: refused where the answer was not.
    Flood,
}

/// An answer as it may be given to others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Published {
    /// The version of the JSON form.
    pub version: u32,
    /// The question's text.
    pub question: String,
    /// The rows: whole numbers as they are, reals rounded or flooded.
    pub rows: Vec<Row>,
    /// The time zone of the rows.
    pub time_zone: String,
    /// When the answer was verified: milliseconds since 1970.
    pub verified_ms: i64,
    /// How reals were flooded; none where they were rounded, or there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flooded: Option<Flooded>,
    /// Rows that were rounded, which protects honest sharing only.
    pub rounded: usize,
}

impl Plant {
    /// The mark that an answer was verified; None where it was not.
    ///
    /// # Errors
    /// There is no answer of this name, or the mark is damaged.
    pub fn verified(&self, name: &str) -> Result<Option<Verified>, OwnerError> {
        if !self.answers()?.iter().any(|known| known == name) {
            return Err(OwnerError::NotDeclared { kind: "answer", name: name.to_owned() });
        }
        let path = self.verified_path(name);
        if path.exists() { read_json(&path).map(Some) } else { Ok(None) }
    }

    /// An answer as it may be given to others.
    ///
    /// # Errors
    /// It was not verified as a whole, or its reals cannot leave in this way.
    pub fn publish(&self, name: &str, giving: Giving) -> Result<Published, OwnerError> {
        let verified = self.verified(name)?;
        let refused = |sampled: Option<f64>| OwnerError::NotVerified { name: name.to_owned(), sampled };
        let verified = verified.ok_or_else(|| refused(None))?;
        // A part that is no number is not enough either.
        let whole = verified.sampled >= 1.0;
        if !whole {
            return Err(refused(Some(verified.sampled)));
        }
        published(self.answer(name)?.answer, giving, verified.at_ms)
    }
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

/// True if a result has noise: polynomials and models, but for their counts.
fn is_real(selected: &Selected) -> bool {
    let real = |call: &Call| {
        let of_channel = call.reading().is_none_or(|reading| matches!(reading, Reading::Channel(_)));
        !of_channel && !matches!(call, Call::Count(_))
    };
    selected.expression.calls().any(real)
}

/// A value rounded to so many digits after the point, no finer than its bound, and its bound then. Without digits, to as many as the bound allows.
fn round(value: f64, bound: f64, digits: Option<i32>) -> Result<(f64, f64), String> {
    let most = if bound > 0.0 {
        (-bound.log10()).floor().clamp(-300.0, f64::from(MOST_DIGITS)) as i32
    } else {
        MOST_DIGITS
    };
    // A logarithm may be rounded up over a whole number.
    let most = if step(most) < bound { most - 1 } else { most };
    let digits = digits.unwrap_or(most);
    if digits > most {
        return Err(format!(
            "{digits} digits after the point are finer than the bound {bound:e} allows: take at most {most}"
        ));
    }
    let step = step(digits);
    // By the decimal text: no digit of a product is left behind.
    let rounded = if digits >= 0 {
        format!("{value:.*}", digits as usize).parse().unwrap_or(value)
    } else {
        (value / step).round() * step
    };
    Ok((rounded, bound + step / 2.0))
}

/// 10^-digits.
fn step(digits: i32) -> f64 {
    10f64.powi(-digits)
}

#[cfg(test)]
mod tests;
