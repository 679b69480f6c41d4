//! Jobs in the cloud's list, and what a deletion removed.

use serde::{Deserialize, Serialize};

use crate::error::CloudError;
use crate::http::Site;
use crate::pages::Pages;
use crate::text::name;

/// Jobs of a page.
const FIRST_PAGE: &str = "?limit=500";

/// A job as the cloud lists it. Times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ListedJob {
    /// The job's id.
    #[serde(deserialize_with = "name")]
    pub job: String,
    /// The plan's id.
    #[serde(deserialize_with = "name")]
    pub plan: String,
    /// `queued`, `running`, `done` or `failed`.
    #[serde(deserialize_with = "name")]
    pub state: String,
    /// When it was submitted.
    pub submitted_at: i64,
    /// When it ended.
    pub ended_at: Option<i64>,
    /// Envelopes that it takes.
    pub inputs: u64,
    /// Its outputs.
    pub outputs: u64,
    /// Bytes of its outputs.
    pub bytes: u64,
}

/// Counts of what a deletion removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Forgotten {
    /// Envelopes.
    pub envelopes: u64,
    /// Bytes of these envelopes.
    pub bytes: u64,
    /// Jobs that had computed on them.
    pub jobs: u64,
    /// Outputs of these jobs.
    pub outputs: u64,
}

/// Iterates over all jobs, the newest first. A page is fetched when the one before it is used up; after an error the iteration
/// ends.
#[must_use = "pages are fetched only when they are iterated over"]
pub struct Jobs<'c>(Pages<'c, ListedJob>);

impl<'c> Jobs<'c> {
    pub(crate) fn new(site: &'c Site) -> Self {
        Self(Pages::new(site, "the list of jobs", "/v1/jobs", FIRST_PAGE.to_owned()))
    }
}

impl Iterator for Jobs<'_> {
    type Item = Result<ListedJob, CloudError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}
