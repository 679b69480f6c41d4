//! The owner's orders that were followed: `accepted.json`.

use std::collections::BTreeMap;
use std::fs;

use serde::{Deserialize, Serialize};

use super::super::durable::{self, Audience};
use super::Archive;

const FILE: &str = "accepted.json";
/// Largest file that is read, in bytes.
const LARGEST: u64 = 1 << 20;
/// Orders that are remembered of a stream. A cloud that shows an older one again makes the device compare once more.
const MOST: usize = 64;

/// The orders about a stream that were followed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Followed {
    /// The digests of orders to accept a log, in hexadecimal.
    #[serde(default)]
    accepted: Vec<String>,
    /// Windows that ended before this time were deleted: milliseconds since 1970.
    #[serde(default)]
    pub(super) forgotten: Option<i64>,
}

impl Archive {
    /// Returns true if an order to accept a log of the stream was followed.
    #[must_use]
    pub fn has_followed(&self, stream: &str, order: &[u8; 32]) -> bool {
        self.followed(stream).accepted.contains(&hex::encode(order))
    }

    /// Notes that an order to accept a log of the stream was followed.
    pub fn follow(&self, stream: &str, order: &[u8; 32]) {
        self.note(stream, |followed| {
            followed.accepted.push(hex::encode(order));
            let beyond = followed.accepted.len().saturating_sub(MOST);
            followed.accepted.drain(..beyond);
        });
    }

    pub(super) fn followed(&self, stream: &str) -> Followed {
        self.all_followed().remove(stream).unwrap_or_default()
    }

    /// Changes a note. One that is lost costs a comparison more.
    pub(super) fn note(&self, stream: &str, change: impl FnOnce(&mut Followed)) {
        let mut all = self.all_followed();
        change(all.entry(stream.to_owned()).or_default());
        let written = serde_json::to_vec(&all)
            .map_err(std::io::Error::other)
            .and_then(|json| durable::write(&self.folder.join(FILE), &json, Audience::Owner));
        if let Err(error) = written {
            tracing::warn!(stream, %error, "the order that was followed is not noted");
        }
    }

    /// A file that is missing or damaged has none.
    fn all_followed(&self) -> BTreeMap<String, Followed> {
        let path = self.folder.join(FILE);
        let is_short = fs::metadata(&path).is_ok_and(|metadata| metadata.len() <= LARGEST);
        let json = if is_short { fs::read(&path).unwrap_or_default() } else { Vec::new() };
        serde_json::from_slice(&json).unwrap_or_default()
    }
}
