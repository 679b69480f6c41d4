//! Problem documents (RFC 9457).

use serde::{Deserialize, Serialize};

/// Prefix of the type of a problem document; the reason follows.
pub const PROBLEM_TYPE: &str = "urn:sotto:problem:";
/// Media type of problem documents.
pub const PROBLEM: &str = "application/problem+json";

/// A refusal or a failure (RFC 9457).
///
/// ```
/// use sotto_api::{Problem, reason};
///
/// let problem = Problem::new(404, reason::UNKNOWN_JOB, "there is no job of this name");
/// assert_eq!(problem.kind, "urn:sotto:problem:unknown-job");
/// assert_eq!(problem.title, "Unknown job");
/// // Absent fields of a document are empty.
/// let read: Problem = serde_json::from_str(r#"{"type": "urn:sotto:problem:noise"}"#)?;
/// assert_eq!((read.reason(), read.detail.as_str()), (Some(reason::NOISE), ""));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Problem {
    /// `urn:sotto:problem:` and the reason.
    #[serde(rename = "type", default)]
    #[cfg_attr(feature = "schema", schema(required = true))]
    pub kind: String,
    /// The reason in words.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required = true))]
    pub title: String,
    /// The HTTP status.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required = true, schema_with = crate::schema::status))]
    pub status: u16,
    /// The explanation, for people.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required = true))]
    pub detail: String,
    /// A short stable name, for programs.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required = true))]
    pub reason: String,
}

impl Problem {
    /// Makes the document of a refusal for one of the [reasons](crate::reason).
    #[must_use]
    pub fn new(status: u16, reason: &str, detail: impl Into<String>) -> Self {
        let kind = format!("{PROBLEM_TYPE}{reason}");
        Self { kind, title: title(reason), status, detail: detail.into(), reason: reason.to_owned() }
    }

    /// Returns the reason in the document's type; `None` if the document is not one of ours.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.kind.strip_prefix(PROBLEM_TYPE)
    }
}

/// Makes a title of a reason: `wrong-key` becomes `Wrong key`.
fn title(reason: &str) -> String {
    let words = reason.replace('-', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}
