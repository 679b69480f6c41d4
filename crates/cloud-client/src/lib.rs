//! The client of the cloud's HTTP interface for owners: uploads parameters, keys and plans, lists stored envelopes,
//! runs jobs, fetches outputs.
//!
//! A [`Cloud`] consists of an address and the owner's token. It sends and receives frames as bytes and holds no secret
//! key; other crates encrypt, plan and decrypt.
//!
//! ```no_run
//! use std::ops::ControlFlow;
//! use sotto_cloud_client::{Cloud, CloudError, EnvelopeQuery};
//!
//! fn sum(plan_frame: &[u8], token: &str) -> Result<Vec<u8>, CloudError> {
//!     let cloud = Cloud::new("http://127.0.0.1:7410", token)?;
//!     let windows = cloud.envelopes(&EnvelopeQuery::of_device("kitchen"));
//!     let windows = windows.collect::<Result<Vec<_>, _>>()?;
//!     let inputs: Vec<&str> = windows.iter().map(|window| window.id.as_str()).collect();
//!     let plan = cloud.put_plan(plan_frame)?;
//!     let job = cloud.submit(&plan, &inputs)?;
//!     cloud.wait(&job, |_| ControlFlow::Continue(()))?;
//!     cloud.output(&job, 0)
//! }
//! ```

mod cloud;
mod device;
mod envelope;
mod error;
mod http;
mod job;
mod key;
mod limits;
mod list;
mod log;
mod pages;
mod sums;
mod text;

pub use cloud::Cloud;
pub use device::{Device, Devices, RegisteredKey};
pub use envelope::{EnvelopeQuery, Envelopes, StoredEnvelope};
pub use error::CloudError;
pub use job::{JobDone, JobProgress, JobStage};
pub use key::KeyStatus;
pub use limits::Limits;
pub use list::{Forgotten, Jobs, ListedJob};
pub use log::{LogPage, LoggedWindow};
pub use sums::{FleetSumsOf, SumOf, Summed};
