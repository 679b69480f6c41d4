//! Rows in their JSON form: how far they are checked stands once, beside them, where it is the same for all.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::answer::Row;
use super::assurance::Assurance;

#[derive(Serialize)]
struct Written<'r> {
    /// How far all rows are checked; None if they differ, or there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    assurance: Option<Assurance>,
    rows: Vec<WrittenRow<'r>>,
}

#[derive(Serialize)]
struct WrittenRow<'r> {
    #[serde(flatten)]
    row: &'r Row,
    /// None if that of all rows stands beside them.
    #[serde(skip_serializing_if = "Option::is_none")]
    assurance: Option<Assurance>,
}

#[derive(Deserialize)]
struct Read {
    #[serde(default)]
    assurance: Option<Assurance>,
    rows: Vec<Row>,
}

/// Returns how far all rows are checked, if it is the same.
fn of_all(rows: &[Row]) -> Option<Assurance> {
    let first = rows.first()?.assurance;
    rows.iter().all(|row| row.assurance == first).then_some(first)
}

pub(super) fn serialize<S: Serializer>(rows: &[Row], to: S) -> Result<S::Ok, S::Error> {
    let assurance = of_all(rows);
    let of_row = |row| WrittenRow { row, assurance: assurance.is_none().then_some(row.assurance) };
    Written { assurance, rows: rows.iter().map(of_row).collect() }.serialize(to)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Row>, D::Error> {
    let Read { assurance, mut rows } = Read::deserialize(from)?;
    if let Some(assurance) = assurance {
        rows.iter_mut().for_each(|row| row.assurance = assurance);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::answer::Answer;
    use super::*;

    /// Returns an answer of one row a day for a year, each checked as far as `assurances` says in turn.
    fn answer(assurances: &[&str]) -> Answer {
        let mut document = serde_json::json!({
            "version": 1, "question": "mean(temperature) by day", "time_zone": "UTC", "notes": [], "bytes_up": 2048,
            "bytes_down": 512, "seconds": 0.2, "windows": 1, "jobs": 1, "evaluate_us": 150, "steps": {}, "left_out": {}
        });
        let row = |at: usize| {
            serde_json::json!({
                "from": "2014-01-31T00:00:00+01:00", "to": "2014-02-01T00:00:00+01:00", "device": null,
                "name": "mean(temperature)", "value": 71.25, "bound": 0.05, "unit": "°C", "count": 288, "missing": 0,
                "assurance": assurances[at % assurances.len()]
            })
        };
        document["rows"] = (0..365).map(row).collect();
        serde_json::from_value(document).unwrap()
    }

    #[test]
    fn an_assurance_of_all_rows_stands_once() {
        let (equal, mixed) = (answer(&["recomputed"]), answer(&["authenticated", "unchecked"]));
        let written = serde_json::to_value(&equal).unwrap();
        assert_eq!(written["assurance"], "recomputed");
        assert!(written["rows"].as_array().unwrap().iter().all(|row| row.get("assurance").is_none()));
        let mixed_form = serde_json::to_value(&mixed).unwrap();
        assert!(mixed_form.get("assurance").is_none());
        assert_eq!(mixed_form["rows"][1]["assurance"], "unchecked");
        for (answer, form) in [(equal, written), (mixed, mixed_form)] {
            assert_eq!(serde_json::from_value::<Answer>(form).unwrap(), answer);
        }
    }

    /// An answer of before had no word about it.
    #[test]
    fn an_answer_is_at_most_a_twentieth_longer_than_without() {
        let written = serde_json::to_string_pretty(&answer(&["authenticated"])).unwrap();
        let mut before: Value = serde_json::from_str(&written).unwrap();
        before.as_object_mut().unwrap().remove("assurance");
        for row in before["rows"].as_array_mut().unwrap() {
            row.as_object_mut().unwrap().remove("assurance");
        }
        let before = serde_json::to_string_pretty(&before).unwrap();
        assert!(written.len() * 20 <= before.len() * 21, "{} bytes, {} before", written.len(), before.len());
        let answer: Answer = serde_json::from_str(&before).unwrap();
        assert!(answer.rows.iter().all(|row| row.assurance == Assurance::Unchecked));
    }
}
