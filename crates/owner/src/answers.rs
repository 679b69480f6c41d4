//! Earlier answers, kept in the plant's folder in the clear.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::error::{OwnerError, io};
use crate::plant::{Plant, read_json, write_private};

/// Most bytes of an answer that is kept.
const LARGEST: usize = 16 << 20;

/// An answer that was kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// When it was asked: milliseconds since 1970.
    pub asked_at: i64,
    /// The answer.
    #[serde(flatten)]
    pub answer: Answer,
}

impl Plant {
    /// Keeps an answer; gives its name. A very long one is not kept.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn keep(&self, answer: &Answer) -> Result<Option<String>, OwnerError> {
        let now = Timestamp::now();
        let name = now.strftime("%Y%m%dT%H%M%S%.3fZ").to_string();
        let kept = Kept { asked_at: now.as_millisecond(), answer: answer.clone() };
        let json = crate::device::pretty(&kept)?;
        if json.len() > LARGEST {
            return Ok(None);
        }
        write_private(&self.path("answers").join(format!("{name}.json")), &json)?;
        Ok(Some(name))
    }

    /// The names of all answers that were kept, oldest first.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn answers(&self) -> Result<Vec<String>, OwnerError> {
        let folder = self.path("answers");
        let entries = std::fs::read_dir(&folder).map_err(io(&folder))?;
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.ok()?.file_name().to_str()?.strip_suffix(".json").map(str::to_owned)
        };
        let mut names: Vec<String> = entries.filter_map(name).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// An answer that was kept.
    ///
    /// # Errors
    /// There is none of this name, or it is damaged.
    pub fn answer(&self, name: &str) -> Result<Kept, OwnerError> {
        if !self.answers()?.iter().any(|known| known == name) {
            return Err(OwnerError::NotDeclared { kind: "answer", name: name.to_owned() });
        }
        let mut kept: Kept = read_json(&self.path("answers").join(format!("{name}.json")))?;
        let at = |text: &str| text.parse::<Timestamp>().map_or(0, Timestamp::as_millisecond);
        for row in &mut kept.answer.rows {
            (row.from_ms, row.to_ms) = (at(&row.from), at(&row.to));
        }
        Ok(kept)
    }
}
