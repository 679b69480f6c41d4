//! The cloud's list of jobs, and counts of deleted objects.

use serde::{Deserialize, Serialize};

use crate::error::CloudError;
use crate::http::Site;
use crate::pages::Pages;
use crate::text::name;

/// Jobs per page.
const FIRST_PAGE: &str = "?limit=500";

/// A job in the cloud's list. Times are in milliseconds since 1970.
///
/// ```
/// # mod stand_in { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/stand_in/mod.rs")); }
/// use sotto_cloud_client::{Jobs, ListedJob};
/// # let (cloud, _) = stand_in::serve(vec![stand_in::ok(r#"[{
/// #     "job": "0b", "plan": "0c", "state": "done", "submitted_at": 1795000000000, "ended_at": 1795000000040,
/// #     "inputs": 24, "outputs": 1, "bytes": 17026
/// # }]"#)]);
///
/// let jobs: Jobs<'_> = cloud.jobs();
/// let jobs: Vec<ListedJob> = jobs.collect::<Result<_, _>>()?;
/// assert_eq!((jobs[0].state.as_str(), jobs[0].inputs), ("done", 24));
/// # Ok::<(), sotto_cloud_client::CloudError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ListedJob {
    /// The job's id.
    #[serde(deserialize_with = "name")]
    pub job: String,
    /// The plan's id.
    #[serde(deserialize_with = "name")]
    pub plan: String,
    /// The state: `queued`, `running`, `done` or `failed`.
    #[serde(deserialize_with = "name")]
    pub state: String,
    /// Time of the submission.
    pub submitted_at: i64,
    /// Time of the end.
    pub ended_at: Option<i64>,
    /// Number of input envelopes.
    pub inputs: u64,
    /// Number of outputs.
    pub outputs: u64,
    /// Total size of the outputs in bytes.
    pub bytes: u64,
}

/// Counts of deleted objects.
///
/// ```
/// # mod stand_in { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/stand_in/mod.rs")); }
/// use sotto_cloud_client::Forgotten;
/// # let (cloud, requests) = stand_in::serve(vec![stand_in::ok(
/// #     r#"{"envelopes": 24, "bytes": 21640, "jobs": 2, "outputs": 2}"#,
/// # )]);
///
/// // Deletes the cellar's windows from before 2014.
/// let forgotten: Forgotten = cloud.forget("cellar", 1_388_534_400_000)?;
/// assert_eq!((forgotten.envelopes, forgotten.jobs), (24, 2));
/// # let request = "DELETE /v1/envelopes?device=cellar&before=1388534400000 HTTP/1.1";
/// # assert_eq!(requests.lock().expect("no panic")[0], request);
/// # Ok::<(), sotto_cloud_client::CloudError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Forgotten {
    /// Deleted envelopes.
    pub envelopes: u64,
    /// Bytes of these envelopes.
    pub bytes: u64,
    /// Deleted jobs that used them.
    pub jobs: u64,
    /// Deleted outputs of these jobs.
    pub outputs: u64,
}

/// Iterates over all jobs, the newest first. Fetches a page when the previous one is used up; ends after an error.
///
/// Example: [`ListedJob`]
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
