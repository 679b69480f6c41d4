//! Checks of the cloud's statements. Logs are compared with earlier ones, every window carries its device's signature
//! and every answer a transcript, and work can be repeated here.

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

/// Converts an error of work on windows. If the cloud no longer has a window, it is a [`Lie`].
pub(crate) fn of_work(error: sotto_cloud_client::CloudError) -> crate::error::OwnerError {
    match error.refusal() {
        Some(sotto_api::reason::UNKNOWN_ENVELOPE) => Lie::MissingWindow { reason: error.to_string() }.into(),
        _ => error.into(),
    }
}
