//! Bodies of requests, and answers as they come.

use std::borrow::Cow;

/// Media type of frames, windows and groups.
pub const FRAME: &str = "application/octet-stream";
/// Media type of JSON.
pub const JSON: &str = "application/json";
/// The header with a request's idempotency key.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// The body of a request.
///
/// Example: [`Route`](crate::Route)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body<'b> {
    /// Its media type.
    pub media: &'static str,
    /// The content, as it is sent.
    pub bytes: Cow<'b, [u8]>,
}

/// A successful answer as it came.
///
/// Example: [`Route`](crate::Route)
#[derive(Clone, Debug, Default)]
pub struct Arrived<'a> {
    /// The content, as it was received.
    pub body: Vec<u8>,
    /// Names, in lower case, and values of the headers.
    pub headers: Vec<(&'a str, &'a str)>,
}

impl<'a> Arrived<'a> {
    /// Returns the values of a header, in order.
    pub(crate) fn values(&self, name: &str) -> impl Iterator<Item = &'a str> {
        self.headers.iter().filter(move |(other, _)| *other == name).map(|(_, value)| *value)
    }
}

/// The first fault of an answer that does not have the form of its route.
///
/// Example: [`Route`](crate::Route)
pub type Unreadable = serde_json::Error;
