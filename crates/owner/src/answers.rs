//! Earlier answers, kept in the plant's folder in the clear.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::error::{OwnerError, io};
use crate::plant::{Plant, read_json, write_private};

/// Most bytes of an answer that is kept.
const LARGEST: usize = 16 << 20;
/// Answers that are looked at for the latest one to a question.
const LOOKED_AT: usize = 50;

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
        let name = name_at(now);
        let kept = Kept { asked_at: now.as_millisecond(), answer: answer.clone() };
        let json = crate::device::pretty(&kept)?;
        if json.len() > LARGEST {
            return Ok(None);
        }
        // First: an answer without its evidence cannot be verified.
        self.keep_evidence(&name, &answer.evidence)?;
        write_private(&self.path("answers").join(format!("{name}.json")), &json)?;
        self.expire_answers()?;
        Ok(Some(name))
    }

    /// Deletes answers that are older than `keep_answers` in `sotto.toml`; gives how many.
    ///
    /// # Errors
    /// The folder cannot be read or written.
    pub fn expire_answers(&self) -> Result<usize, OwnerError> {
        let Some(days) = self.settings().keep_answers else { return Ok(0) };
        let oldest = Timestamp::now().checked_sub(jiff::SignedDuration::from_hours(24 * i64::from(days)));
        let Ok(oldest) = oldest else { return Ok(0) };
        // Names are times, in an order that is theirs.
        let oldest = name_at(oldest);
        self.delete_answers(|name| Ok(*name < oldest))
    }

    /// Deletes answers about the windows of a device that begin before a time: those of the device, and those across devices.
    pub(crate) fn forget_answers(&self, device: &str, before: i64) -> Result<usize, OwnerError> {
        self.delete_answers(|name| {
            let kept = self.answer(name)?;
            let about = |row: &crate::answer::Row| {
                row.device.as_deref().is_none_or(|of| of == device) && row.from_ms < before
            };
            Ok(kept.answer.rows.iter().any(about))
        })
    }

    fn delete_answers(
        &self,
        chosen: impl Fn(&String) -> Result<bool, OwnerError>,
    ) -> Result<usize, OwnerError> {
        let mut deleted = 0;
        for name in self.answers()? {
            if chosen(&name)? {
                let path = self.path("answers").join(format!("{name}.json"));
                std::fs::remove_file(&path).map_err(io(&path))?;
                for ending in ["evidence", "verified"] {
                    // Older answers have none.
                    let _ = std::fs::remove_file(self.path("answers").join(format!("{name}.{ending}")));
                }
                deleted += 1;
            }
        }
        Ok(deleted)
    }

    /// Where the mark is that an answer was verified.
    pub(crate) fn verified_path(&self, name: &str) -> PathBuf {
        self.path("answers").join(format!("{name}.verified"))
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

    /// The names of the answers that were kept in the last so many milliseconds, oldest first.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn latest_answers(&self, within: i64) -> Result<Vec<String>, OwnerError> {
        let mut names = self.answers()?;
        if let Ok(time) =
            Timestamp::from_millisecond(Timestamp::now().as_millisecond().saturating_sub(within))
        {
            let first = name_at(time);
            names.retain(|name| *name >= first);
        }
        Ok(names)
    }

    /// The latest answer to a declared question; None where none was kept. Looks at the latest answers only.
    #[must_use]
    pub fn last_cost(&self, question: &str) -> Option<Kept> {
        let text = self.question(question).ok()?.to_string();
        let names = self.answers().ok()?;
        let mut kept = names.iter().rev().take(LOOKED_AT).filter_map(|name| self.answer(name).ok());
        kept.find(|kept| kept.answer.question == text)
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

/// The name of an answer that was asked at a time.
fn name_at(time: Timestamp) -> String {
    time.strftime("%Y%m%dT%H%M%S%.3fZ").to_string()
}
