//! The cloud is not believed: its logs are compared with what it said before, every window carries its device's signature, every answer
//! its transcript, and work is repeated here.

mod evidence;
mod lie;
mod log;
mod pins;
mod stored;
mod transcript;
mod verify;

pub use evidence::{Evidence, WorkRecord};
pub use lie::Lie;
pub(crate) use log::{Entry, StreamLog};
pub use pins::CloudKeys;
#[doc(hidden)]
pub use stored::rewritten_log;
pub(crate) use transcript::Expected;
pub(crate) use verify::sum_request;
pub use verify::{Finding, OnVerified, Verification, verify_folder};

/// An error of work on windows: the cloud may not have one of them any more.
pub(crate) fn of_work(error: sotto_cloud_client::CloudError) -> crate::error::OwnerError {
    match error.refusal() {
        Some("unknown-envelope") => Lie::MissingWindow { reason: error.to_string() }.into(),
        _ => error.into(),
    }
}
