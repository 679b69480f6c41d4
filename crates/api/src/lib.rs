//! The HTTP interfaces of the cloud and of the recryptor: their routes, with requests, answers and reasons, each
//! declared once. The services' routers and the reference are made of these declarations, and clients send requests by
//! them. No I/O.
//!
//! ```
//! use sotto_api::jobs::{FetchJob, JobStage, SubmitJob, Submission};
//! use sotto_api::{Arrived, Route};
//!
//! // A client writes a request and reads its answer.
//! let submission = Submission { plan: "0c".repeat(32), inputs: vec!["0a".repeat(16)], key: None };
//! let body = SubmitJob::body(&submission).expect("a body");
//! assert_eq!((SubmitJob::path([]).as_str(), body.media), ("/v1/jobs", "application/json"));
//! let queued = SubmitJob::read(Arrived { body: br#"{"job": "0b"}"#.to_vec(), headers: Vec::new() })?;
//! assert_eq!(FetchJob::path([&queued.job]), "/v1/jobs/0b");
//! # Ok::<(), sotto_api::Unreadable>(())
//! ```
//!
//! A service refuses unknown fields of a request. A client ignores unknown fields of an answer, takes defaults for those
//! that older services lack, and refuses texts that it could not show or use: names have 1 to 64 of `A-Z a-z 0-9 _ . -`.
//! Times are milliseconds since 1970.
//!
//! Feature `schema`: descriptions of routes and objects for OpenAPI, by utoipa.

mod condition;
pub mod devices;
mod encode;
pub mod envelopes;
pub mod health;
pub mod jobs;
pub mod keys;
pub mod limits;
pub mod log;
mod message;
pub mod orders;
mod page;
pub mod parameters;
pub mod plans;
pub mod position;
mod problem;
pub mod reason;
pub mod recryptor;
mod route;
#[cfg(feature = "schema")]
pub mod schema;
pub mod streams;
mod text;
pub mod uploads;

pub use condition::{Condition, IF_MATCH, IF_NONE_MATCH};
pub use message::{Arrived, Body, FRAME, IDEMPOTENCY_KEY, JSON, Unreadable};
pub use page::{Page, link};
pub use problem::{PROBLEM, PROBLEM_TYPE, Problem};
#[cfg(feature = "schema")]
pub use route::Described;
pub use route::{Admission, Method, Query, Route};
pub use text::{is_direction, shown};
