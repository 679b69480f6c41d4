//! Requests.

use std::time::Duration;

use sotto_api::{Body, Condition, Method, Query as _, Route};

/// A request to a route.
///
/// ```
/// use std::time::Duration;
/// use sotto_api::jobs::{FetchOutput, JobQuery, ListJobs};
/// use sotto_http::Request;
///
/// let request = Request::to::<FetchOutput>(["0b", "0"], &(), &()).within(Duration::from_secs(30));
/// assert_eq!(request.target(), "/v1/jobs/0b/outputs/0");
/// let first = JobQuery { limit: Some(500), ..JobQuery::default() };
/// let request = Request::to::<ListJobs>([], &first, &());
/// assert_eq!(request.target(), "/v1/jobs?limit=500");
/// // The next page, as the answer names it.
/// let request = Request::to_page::<ListJobs>("?limit=500&after=7/0b");
/// assert_eq!(request.target(), "/v1/jobs?limit=500&after=7/0b");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request<'r> {
    pub(crate) method: Method,
    path: String,
    query: String,
    pub(crate) body: Option<Body<'r>>,
    pub(crate) idempotency_key: Option<&'r str>,
    pub(crate) condition: Option<Condition>,
    pub(crate) within: Option<Duration>,
}

impl<'r> Request<'r> {
    /// Fills the names into the path, and encodes query and body.
    #[must_use]
    pub fn to<R: Route>(names: R::Names<'_>, query: &R::Query, request: &'r R::Request) -> Self {
        Self {
            method: R::METHOD,
            path: R::path(names),
            query: query.text(),
            body: R::body(request),
            idempotency_key: None,
            condition: None,
            within: None,
        }
    }

    /// Makes a request for the page of a list whose query, `?…`, the page before it has named.
    #[must_use]
    pub fn to_page<R>(query: &str) -> Self
    where
        R: for<'n> Route<Names<'n> = [&'n str; 0], Request = ()>,
    {
        Self {
            method: R::METHOD,
            path: R::path([]),
            query: query.to_owned(),
            body: None,
            idempotency_key: None,
            condition: None,
            within: None,
        }
    }

    /// Sets the idempotency key: however often the request is sent, the service carries it out once.
    #[must_use]
    pub fn under(self, idempotency_key: &'r str) -> Self {
        Self { idempotency_key: Some(idempotency_key), ..self }
    }

    /// Names the state that a write replaces: the service refuses it in any other.
    #[must_use]
    pub fn on(self, condition: Condition) -> Self {
        Self { condition: Some(condition), ..self }
    }

    /// Limits the time until the answer is there.
    #[must_use]
    pub fn within(self, time: Duration) -> Self {
        Self { within: Some(time), ..self }
    }

    /// Returns path and query.
    #[must_use]
    pub fn target(&self) -> String {
        format!("{}{}", self.path, self.query)
    }
}
