//! The documents beside refused messages, which state the reasons.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::Value;
use sotto_api::PROBLEM_TYPE;

use super::entry::Entry;
use super::folder::{REFUSED, entries, problem_name};
use super::{Spool, SpoolError};

/// Maximum bytes of the document beside a refused message.
const LARGEST_PROBLEM: u64 = 64 << 10;

/// The agent's own reason to put a message aside: it comes in the place of one whose number is another window's.
pub(crate) const NAMES_REFUSED: &str = "names-refused";

/// Returns the document `{status, problem}` beside a message in the folder of refused ones; null if there is none.
pub(super) fn document(refused: &Path, entry: &Entry) -> Value {
    let mut json = Vec::new();
    let read = File::open(refused.join(problem_name(entry)))
        .and_then(|file| file.take(LARGEST_PROBLEM).read_to_end(&mut json));
    read.ok().and_then(|_| serde_json::from_slice(&json).ok()).unwrap_or_default()
}

/// Returns the cloud's reason to refuse a message; `None` if the document has none.
pub(super) fn reason(refused: &Path, entry: &Entry) -> Option<String> {
    let document = document(refused, entry);
    Some(document["problem"]["type"].as_str()?.strip_prefix(PROBLEM_TYPE)?.to_owned())
}

impl Spool {
    /// Returns the number of messages put aside for this reason, in this run or an earlier one.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if the folder cannot be read.
    pub fn refused_for(&self, wanted: &str) -> Result<usize, SpoolError> {
        let refused = self.folder.join(REFUSED);
        let is_wanted = |entry: &&Entry| reason(&refused, entry).is_some_and(|reason| reason == wanted);
        Ok(entries(&refused)?.iter().filter(is_wanted).count())
    }
}
