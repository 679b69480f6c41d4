//! Routes: method, path, request and answer of each in one declaration.

use crate::encode::{segment, value};
use crate::message::{Arrived, Body, Unreadable};

/// The methods of the interfaces.
///
/// Example: [`Route`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// GET
    Get,
    /// PUT
    Put,
    /// POST
    Post,
    /// DELETE
    Delete,
}

/// The proof that a route asks of its callers.
///
/// Example: [`Route`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// None.
    Anybody,
    /// The signature of a registered device in the body.
    Signature,
    /// A token: `Authorization: Bearer TOKEN`.
    Token,
}

/// A query: the part of an address after `?`.
///
/// ```
/// use sotto_api::Query as _;
/// use sotto_api::devices::DeviceQuery;
///
/// let query = DeviceQuery { limit: Some(500), after: Some("attic".to_owned()) };
/// assert_eq!(query.text(), "?limit=500&after=attic");
/// assert_eq!(DeviceQuery::default().text(), "");
/// ```
pub trait Query {
    /// Returns the names and the values that are present.
    fn pairs(&self) -> Vec<(&'static str, String)>;

    /// Returns `?` and the pairs; nothing if there are none.
    fn text(&self) -> String {
        let mut text = String::new();
        for (name, of_name) in self.pairs() {
            let before = if text.is_empty() { "?" } else { "&" };
            text.extend([before, name, "=", &value(&of_name)]);
        }
        text
    }
}

/// No query.
impl Query for () {
    fn pairs(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// Returns the pairs whose value is present.
pub(crate) fn present<const N: usize>(
    pairs: [(&'static str, Option<String>); N],
) -> Vec<(&'static str, String)> {
    pairs.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// A route. The service's router and reference, and every client, use this one declaration.
///
/// ```
/// use sotto_api::jobs::{FetchJob, JobStage};
/// use sotto_api::{Admission, Arrived, Method, Route};
///
/// assert_eq!((FetchJob::METHOD, FetchJob::ADMISSION), (Method::Get, Admission::Token));
/// assert_eq!(FetchJob::path(["0a/b"]), "/v1/jobs/0a%2Fb");
/// assert_eq!(FetchJob::body(&()), None);
/// let body = br#"{"state": "running"}"#.to_vec();
/// let state = FetchJob::read(Arrived { body, ..Arrived::default() })?;
/// assert_eq!(state.state, JobStage::Running);
/// # Ok::<(), sotto_api::Unreadable>(())
/// ```
pub trait Route {
    /// The HTTP method.
    const METHOD: Method;
    /// The path, with names in braces: `/v1/jobs/{id}`.
    const PATH: &'static str;
    /// The subject of its requests, for errors: "the job".
    const ABOUT: &'static str;
    /// The proof that it asks of its callers.
    const ADMISSION: Admission;
    /// One text for each name in braces.
    type Names<'n>: AsRef<[&'n str]>;
    /// The part after `?`; `()` for none.
    type Query: Query;
    /// The body of a request.
    type Request: ?Sized;
    /// The answer to a request that succeeds.
    type Answer;

    /// Returns the path with these names, percent-encoded.
    fn path(names: Self::Names<'_>) -> String {
        let (mut path, mut rest) = (String::with_capacity(Self::PATH.len() + 64), Self::PATH);
        for name in names.as_ref() {
            let Some((before, after)) = rest.split_once('{') else { break };
            path.extend([before, &segment(name)]);
            rest = after.split_once('}').map_or("", |(_, after)| after);
        }
        path + rest
    }

    /// Returns the body that carries a request.
    fn body(request: &Self::Request) -> Option<Body<'_>>;

    /// Reads an answer.
    ///
    /// # Errors
    /// The answer's first fault.
    fn read(answer: Arrived<'_>) -> Result<Self::Answer, Unreadable>;
}

/// A route that describes itself for OpenAPI.
///
/// ```
/// use sotto_api::Described;
/// use sotto_api::jobs::FetchJob;
///
/// let document = FetchJob::document();
/// assert!(document.paths.paths.contains_key("/v1/jobs/{id}"));
/// ```
#[cfg(feature = "schema")]
pub trait Described: Route {
    /// Returns a document with the route and the objects that it names.
    fn document() -> utoipa::openapi::OpenApi;
}

/// Returns the number of names in a path.
pub(crate) const fn names_in(path: &str) -> usize {
    let (bytes, mut at, mut names) = (path.as_bytes(), 0, 0);
    while at < bytes.len() {
        if bytes[at] == b'{' {
            names += 1;
        }
        at += 1;
    }
    names
}

/// Declares a [`Route`]: documentation, name, admission, method, path and subject; then the query, the request
/// (`json TYPE` or `frame`) and the answer (`json TYPE`, `pages TYPE`, `frame`, `nothing`, or `read TYPE`, which reads
/// itself), where it has them; then, for the reference, the arguments of `utoipa::path`.
macro_rules! route {
    (
        $(#[doc = $doc:tt])*
        $name:ident: $admission:ident $method:ident $path:tt, $about:literal
        $(, query $query:ty)?
        $(, takes $takes:ident $($request:ty)?)?
        , gives $gives:ident $($answer:ty)?;
        $($schema:tt)*
    ) => {
        $(#[doc = $doc])*
        ///
        /// Example: [`Route`](crate::Route)
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl crate::Route for $name {
            const METHOD: crate::Method = crate::route::method!($method);
            const PATH: &'static str = $path;
            const ABOUT: &'static str = $about;
            const ADMISSION: crate::Admission = crate::Admission::$admission;
            type Names<'n> = [&'n str; crate::route::names_in($path)];
            type Query = crate::route::query!($($query)?);
            type Request = crate::route::request!($($takes $($request)?)?);
            type Answer = crate::route::answer!($gives $($answer)?);

            fn body(request: &Self::Request) -> Option<crate::Body<'_>> {
                crate::route::written!(request, $($takes)?)
            }

            fn read(answer: crate::Arrived<'_>) -> Result<Self::Answer, crate::Unreadable> {
                crate::route::arrived!(answer, $gives $($answer)?)
            }
        }

        #[cfg(feature = "schema")]
        const _: () = {
            $(#[doc = $doc])*
            #[utoipa::path($method, path = $path, $($schema)*)]
            #[allow(dead_code, reason = "carries the description")]
            fn operation() {}

            #[derive(utoipa::OpenApi)]
            #[openapi(paths(operation))]
            struct Described;

            impl crate::Described for $name {
                fn document() -> utoipa::openapi::OpenApi {
                    <Described as utoipa::OpenApi>::openapi()
                }
            }
        };
    };
}

macro_rules! method {
    (get) => {
        crate::Method::Get
    };
    (put) => {
        crate::Method::Put
    };
    (post) => {
        crate::Method::Post
    };
    (delete) => {
        crate::Method::Delete
    };
}

macro_rules! query {
    () => {
        ()
    };
    ($query:ty) => {
        $query
    };
}

macro_rules! request {
    () => {
        ()
    };
    (frame) => {
        [u8]
    };
    (json $request:ty) => {
        $request
    };
}

macro_rules! answer {
    (json $answer:ty) => { $answer };
    (pages $item:ty) => { crate::Page<$item> };
    (read $answer:ty) => { $answer };
    (frame) => { Vec<u8> };
    (nothing) => { () };
}

macro_rules! written {
    ($request:ident,) => {{
        let () = $request;
        None
    }};
    ($request:ident, frame) => {
        Some(crate::Body { media: crate::FRAME, bytes: std::borrow::Cow::Borrowed($request) })
    };
    ($request:ident, json) => {{
        // Its maps have text as keys, so that it can be written.
        let bytes = serde_json::to_vec($request).unwrap_or_default();
        Some(crate::Body { media: crate::JSON, bytes: std::borrow::Cow::Owned(bytes) })
    }};
}

macro_rules! arrived {
    ($answer:ident, json $type:ty) => {
        serde_json::from_slice(&$answer.body)
    };
    ($answer:ident, pages $item:ty) => {
        crate::Page::read(&$answer)
    };
    ($answer:ident, read $type:ty) => {
        Ok(<$type>::read($answer))
    };
    ($answer:ident, frame) => {
        Ok($answer.body)
    };
    ($answer:ident, nothing) => {{
        drop($answer);
        Ok(())
    }};
}

pub(crate) use {answer, arrived, method, query, request, route, written};
