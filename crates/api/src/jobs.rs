//! Jobs: submitted, listed, and their outputs.
//!
//! ```
//! use sotto_api::jobs::{FetchOutput, JobPosition, JobQuery};
//! use sotto_api::{Query, Route};
//!
//! assert_eq!(FetchOutput::path(["0b", "0"]), "/v1/jobs/0b/outputs/0");
//! let after = JobPosition { submitted_at: 1_795_000_000_000, id: [0xab; 16] };
//! let next = JobQuery { after: Some(after), limit: Some(500) };
//! assert!(next.text().starts_with("?limit=500&after=1795000000000/abab"));
//! ```

use core::fmt;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::route::{Query, present, route};
use crate::text::{self, counters, name};

/// A plan, and the envelopes whose ciphertexts are its inputs, in order.
///
/// Example: [`sotto_api`](crate)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Submission {
    /// The plan's id: 64 lower-case hexadecimal digits.
    #[cfg_attr(feature = "schema", schema(pattern = "^[0-9a-f]{64}$"))]
    pub plan: String,
    /// Ids of the envelopes, in the order of the plan's inputs: 32 lower-case hexadecimal digits each.
    pub inputs: Vec<String>,
    /// The key of the answer, 32 lower-case hexadecimal digits; required only if all inputs are under foreign keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// A job that was queued.
///
/// Example: [`sotto_api`](crate)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Queued {
    /// The job's id: 32 lower-case hexadecimal digits.
    #[serde(deserialize_with = "name")]
    pub job: String,
}

/// Selects a page of jobs, the newest first.
///
/// Example: [`jobs`](self)
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct JobQuery {
    /// The last job of the previous page: `SUBMITTED_AT/ID`.
    #[cfg_attr(feature = "schema", param(value_type = Option<String>))]
    pub after: Option<JobPosition>,
    /// Maximum number of jobs: 100 by default, 1000 at most.
    pub limit: Option<u32>,
}

impl Query for JobQuery {
    fn pairs(&self) -> Vec<(&'static str, String)> {
        let after = self.after.as_ref().map(JobPosition::to_string);
        present([("limit", self.limit.map(|limit| limit.to_string())), ("after", after)])
    }
}

/// The position of a job in the list: `submitted_at/id`.
///
/// Example: [`jobs`](self)
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct JobPosition {
    /// Time of the submission: milliseconds since 1970.
    pub submitted_at: i64,
    /// The job's id.
    pub id: [u8; 16],
}

impl TryFrom<String> for JobPosition {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let parsed = || {
            let (submitted_at, digits) = text.split_once('/')?;
            let mut id = [0; 16];
            let is_lower = !digits.bytes().any(|digit| digit.is_ascii_uppercase());
            (is_lower && hex::decode_to_slice(digits, &mut id).is_ok()).then_some(())?;
            Some(Self { submitted_at: submitted_at.parse().ok()?, id })
        };
        parsed().ok_or("after is the position of a job: submitted_at/id")
    }
}

impl fmt::Display for JobPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.submitted_at, hex::encode(self.id))
    }
}

/// A job in the list. Times are milliseconds since 1970.
///
/// Example: [`Page`](crate::Page)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ListedJob {
    /// The job's id: 32 lower-case hexadecimal digits.
    #[serde(deserialize_with = "name")]
    #[cfg_attr(feature = "schema", schema(pattern = "^[0-9a-f]{32}$"))]
    pub job: String,
    /// The plan's id: 64 lower-case hexadecimal digits.
    #[serde(deserialize_with = "name")]
    #[cfg_attr(feature = "schema", schema(pattern = "^[0-9a-f]{64}$"))]
    pub plan: String,
    /// `queued`, `running`, `done` or `failed`.
    #[serde(deserialize_with = "name")]
    #[cfg_attr(feature = "schema", schema(pattern = "^(queued|running|done|failed)$"))]
    pub state: String,
    /// Milliseconds since 1970.
    pub submitted_at: i64,
    /// Milliseconds since 1970; null before the end.
    #[cfg_attr(feature = "schema", schema(required = true))]
    pub ended_at: Option<i64>,
    /// Number of inputs.
    #[cfg_attr(feature = "schema", schema(value_type = i64))]
    pub inputs: u64,
    /// Number of outputs; 0 unless the job is done.
    #[cfg_attr(feature = "schema", schema(value_type = i64))]
    pub outputs: u64,
    /// Bytes of all outputs.
    #[cfg_attr(feature = "schema", schema(value_type = i64))]
    pub bytes: u64,
}

/// The stage of a job.
///
/// Example: [`Route`](crate::Route)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobStage {
    /// The job waits for a worker.
    Queued,
    /// A worker evaluates the job.
    Running,
    /// The job has ended with outputs.
    Done,
    /// The job has ended without outputs.
    Failed,
}

impl JobStage {
    const ALL: [(Self, &str); 4] = [
        (Self::Queued, "queued"),
        (Self::Running, "running"),
        (Self::Done, "done"),
        (Self::Failed, "failed"),
    ];

    /// Returns the stage of this name, as in JSON.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, of_stage)| *of_stage == name).map(|(stage, _)| stage)
    }
}

/// The state of a job.
///
/// Example: [`Route`](crate::Route)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct JobState {
    /// The job's id: 32 lower-case hexadecimal digits.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required = true, pattern = "^[0-9a-f]{32}$"))]
    pub job: String,
    /// The plan's id: 64 lower-case hexadecimal digits.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required = true, pattern = "^[0-9a-f]{64}$"))]
    pub plan: String,
    /// `queued`, `running`, `done` or `failed`.
    #[cfg_attr(
        feature = "schema",
        schema(value_type = String, pattern = "^(queued|running|done|failed)$")
    )]
    pub state: JobStage,
    /// The reason why the job failed; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Number of operations of each kind that were evaluated.
    #[serde(default, deserialize_with = "counters")]
    #[cfg_attr(feature = "schema", schema(required = true))]
    pub counters: BTreeMap<String, u64>,
    /// Microseconds of the evaluation; 0 before it.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(value_type = i64, required = true))]
    pub evaluate_us: u64,
    /// Number of outputs; 0 unless the job is done.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required = true))]
    pub outputs: u32,
    /// The transcript, a frame of kind 29 in hexadecimal; absent until the job is done.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "text::bytes")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub transcript: Vec<u8>,
}

route! {
    /// Checks a job fully and queues it.
    ///
    /// With an idempotency key, the same submission again returns the same job as long as the cloud keeps it.
    SubmitJob: Token post "/v1/jobs", "the job", takes json Submission, gives json Queued;
    params(("Idempotency-Key" = Option<String>, Header, description = "1 to 171 visible ASCII characters; optional, so that the request can be sent again safely.")),
    request_body(content = Submission, description = "At most 256 KiB.", example = json!({
        "inputs": ["0123456789abcdef0123456789abcdef"],
        "plan": "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff" })),
    responses(
        (status = 202, description = "Queued.", body = Queued),
        (status = 200, description = "Submitted before under this idempotency key.", body = Queued),
        (status = 400, description = "`invalid-json`, `idempotency-key-missing` (two such headers), `invalid-idempotency-key`"),
        (status = 409, description = "`idempotency-key-reused` for another submission"),
        (status = 410, description = "`body-dropped`: a window that was still open then; the whole window has its readings"),
        (status = 422, description = "`unknown-plan`, `outdated-plan`, `unknown-envelope`, `wrong-inputs`, `invalid-value`, `wrong-parameters`, `wrong-key`, `missing-key`, `noise`, `no-special-prime`, `job-too-large` (more than `largest_job` bytes at once), `transparent`, `invalid-plan`, `invalid-constant`, `invalid-step`, `invalid-output`, `unknown-parameters`, `places-not-read`"),
        (status = 503, description = "`queue-full`; `windows-away`: the object store that has windows does not answer"),
        (status = 507, description = "`storage-full`")
    )
}

route! {
    /// Lists jobs, the newest first.
    ///
    /// A page of them: see *Pages*.
    ListJobs: Token get "/v1/jobs", "the list of jobs", query JobQuery, gives pages ListedJob;
    params(JobQuery),
    responses(
        (status = 200, description = "A page of jobs.", body = [ListedJob],
         headers(("Link" = Option<String>, description = "The next page; absent on the last one.")))
    )
}

route! {
    /// Returns the state of a job.
    ///
    /// A job goes from `queued` to `running`, then to `done` or `failed`. Ask again until it has ended.
    FetchJob: Token get "/v1/jobs/{id}", "the job's state", gives json JobState;
    params(("id" = String, Path, description = "The job's id: 32 lower-case hexadecimal digits.", example = "0123456789abcdef0123456789abcdef")),
    responses(
        (status = 200, description = "The job.", body = JobState),
        (status = 404, description = "`unknown-job`")
    )
}

route! {
    /// Cancels a job that has not ended.
    ///
    /// A job that waits is not run; one that runs ends at its next input, or its outputs are dropped. Its state is `failed`
    /// at once. A job that has ended stays as it is.
    CancelJob: Token delete "/v1/jobs/{id}", "the job", gives nothing;
    params(("id" = String, Path, description = "The job's id: 32 lower-case hexadecimal digits.", example = "0123456789abcdef0123456789abcdef")),
    responses(
        (status = 204, description = "The job has ended."),
        (status = 404, description = "`unknown-job`")
    )
}

route! {
    /// Returns an output of a job that is done.
    FetchOutput: Token get "/v1/jobs/{id}/outputs/{index}", "the output", gives frame;
    params(("id" = String, Path, description = "The job's id: 32 lower-case hexadecimal digits.", example = "0123456789abcdef0123456789abcdef"),
        ("index" = u32, Path, description = "Index of the output, from 0.", example = 0)),
    responses(
        (status = 200, description = "A frame of kind 2 (ciphertext) or 27 (reduced ciphertext).",
         body = crate::schema::Frame, content_type = "application/octet-stream"),
        (status = 404, description = "`unknown-job`, `unknown-output`")
    )
}
