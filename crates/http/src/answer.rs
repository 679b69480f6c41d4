//! Answers of services.

use std::time::Duration;

use sotto_api::{Arrived, PROBLEM, Problem, Route, Unreadable, shown};
use ureq::http::{HeaderMap, StatusCode};

/// An answer, whatever its status.
///
/// Example: [`sotto_http`](crate)
#[derive(Clone, Debug)]
pub struct Received {
    /// The HTTP status.
    pub status: u16,
    /// The content, whatever the status.
    pub body: Vec<u8>,
    pub(crate) headers: HeaderMap,
}

impl Received {
    /// Returns true for a status of 200 to 299.
    #[must_use]
    pub fn is_success(&self) -> bool {
        StatusCode::from_u16(self.status).is_ok_and(|status| status.is_success())
    }

    /// Reads the answer of a route to a request that succeeded.
    ///
    /// # Errors
    /// The first fault of an answer that does not have the form of the route's.
    pub fn read<R: Route>(self) -> Result<R::Answer, Unreadable> {
        let text = |(name, value): (&'_ _, &'_ ureq::http::HeaderValue)| text_of(name, value);
        let headers: Vec<(String, String)> = self.headers.iter().filter_map(text).collect();
        let headers = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        R::read(Arrived { body: self.body, headers })
    }

    /// Returns the problem document of a refusal; its fields are empty if there is none. Its texts are safe to show in a
    /// terminal.
    #[must_use]
    pub fn problem(&self) -> Problem {
        let Problem { kind, title, status, detail, reason } =
            serde_json::from_slice(&self.body).unwrap_or_default();
        let [kind, title, detail, reason] = [kind, title, detail, reason].map(|text| shown(&text));
        Problem { kind, title, status, detail, reason }
    }

    /// Returns true if the service declares its answer to be a problem document.
    #[must_use]
    pub fn is_problem(&self) -> bool {
        header(&self.headers, "content-type").is_some_and(|kind| kind.starts_with(PROBLEM))
    }

    /// Returns the wait that the service asks for: `Retry-After` in seconds.
    #[must_use]
    pub fn wait(&self) -> Option<Duration> {
        wait(&self.headers)
    }
}

/// Returns the wait that headers ask for.
pub(crate) fn wait(headers: &HeaderMap) -> Option<Duration> {
    header(headers, "retry-after")?.parse().ok().map(Duration::from_secs)
}

fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

fn text_of(name: &ureq::http::HeaderName, value: &ureq::http::HeaderValue) -> Option<(String, String)> {
    Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(headers: &[(&'static str, &'static str)], body: &str) -> Received {
        let parsed =
            |(name, value): &(&'static str, &'static str)| (name.parse().unwrap(), value.parse().unwrap());
        Received {
            status: 503,
            headers: headers.iter().map(parsed).collect(),
            body: body.as_bytes().to_vec(),
        }
    }

    #[test]
    fn explanations_cannot_take_the_terminal() {
        let detail = format!("no\\u001b]0;title\\u0007{}", "x".repeat(1000));
        let refused = answer(&[], &format!(r#"{{"detail": "{detail}"}}"#));
        let problem = refused.problem();
        assert!(problem.detail.starts_with("no]0;titlex") && problem.detail.chars().count() == 400);
        assert_eq!((problem.reason(), problem.reason.as_str()), (None, ""));
        assert_eq!(answer(&[], "<html>").problem(), Problem::default());
    }

    #[test]
    fn a_wait_is_a_number_of_seconds() {
        assert_eq!(answer(&[("retry-after", "7")], "").wait(), Some(Duration::from_secs(7)));
        assert_eq!(answer(&[("retry-after", "soon")], "").wait(), None);
        assert!(answer(&[("content-type", "application/problem+json")], "").is_problem());
        assert!(!answer(&[("content-type", "text/html")], "").is_problem());
    }
}
