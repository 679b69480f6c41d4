//! The client of the cloud's HTTP interface for owners: uploads parameters, keys and plans, lists stored envelopes,
//! runs jobs, fetches outputs.
//!
//! ```
//! # mod stand_in { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/stand_in/mod.rs")); }
//! # let window = r#"[{"id": "0a", "device": "kitchen", "stream": "load", "sequence": 7, "parameter_id": "01",
//! #     "key_id": "02", "started_at": 1795000000000, "ended_at": 1795003600000, "readings": 24, "bytes": 937,
//! #     "stored_at": 1795003601000, "layout": {}}]"#;
//! # let (plan, job, done) =
//! #     (r#"{"plan_id": "0c"}"#, r#"{"job": "0b"}"#, r#"{"state": "done", "outputs": 1}"#);
//! # let answers = [window, plan, job, done, "a frame"];
//! # let (cloud, _) = stand_in::serve(answers.map(stand_in::ok).to_vec());
//! # let (url, token, plan_frame) = (cloud.url(), "0123456789abcdef", b"a plan");
//! use std::ops::ControlFlow;
//! use sotto_cloud_client::{Cloud, EnvelopeQuery};
//!
//! let cloud = Cloud::new(url, token)?; // such as https://cloud.example.org
//! let windows = cloud.envelopes(&EnvelopeQuery::of_device("kitchen"));
//! let windows = windows.collect::<Result<Vec<_>, _>>()?;
//! let inputs: Vec<&str> = windows.iter().map(|window| window.id.as_str()).collect();
//! let plan = cloud.put_plan(plan_frame)?;
//! let job = cloud.submit(&plan, &inputs)?;
//! let done = cloud.wait(&job, |_| ControlFlow::Continue(()))?;
//! assert_eq!(done.outputs, 1);
//! assert_eq!(cloud.output(&job, 0)?, b"a frame");
//! # Ok::<(), sotto_cloud_client::CloudError>(())
//! ```
//!
//! A [`Cloud`] consists of an address and the owner's token. It sends and receives frames as bytes and holds no secret
//! key; other crates encrypt, plan and decrypt.

mod cloud;
mod error;
mod interrupt;
mod job;
mod pages;
mod requests;

pub use cloud::{Cloud, MOST_ORDERS, StoredRecord};
pub use error::CloudError;
pub use interrupt::Interrupt;
pub use job::{JobDone, JobProgress};
pub use pages::{Devices, Envelopes, Jobs, Pages};
pub use sotto_api::devices::{Device, ListedKey, RegisteredKey, RepeatedPads};
pub use sotto_api::envelopes::{EnvelopeQuery, StoredEnvelope};
pub use sotto_api::jobs::{JobStage, ListedJob};
pub use sotto_api::keys::KeyStatus;
pub use sotto_api::limits::Limits;
pub use sotto_api::orders::Forgotten;
pub use sotto_api::streams::{PartsOf, Summed, WindowsOf};
pub use sotto_api::{Condition, is_direction};
