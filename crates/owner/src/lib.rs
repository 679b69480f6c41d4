//! The owner's work, without a terminal: the plant's folder, its channels, questions and devices, and the answers.
//!
//! ```
//! use sotto_owner::edit::{NewChannel, add_channel, add_device, add_question};
//! use sotto_owner::{NewPlant, Plant};
//!
//! # let folder = tempfile::tempdir()?;
//! let here = NewPlant { cloud: None, listen: "127.0.0.1:7410".parse()?, time_zone: Some("Europe/Rome".into()) };
//! let mut plant = Plant::init(&folder.path().join("dairy"), &here)?;
//! let (unit, range, every) = ("°C".into(), "-20..120".parse()?, "5m".parse()?);
//! let temperature = NewChannel { unit, range, resolution: 0.1, every, comparable: false };
//! plant.edit(|settings| {
//!     add_channel(settings, "temperature", &temperature)?;
//!     add_question(settings, "daily", &"mean(temperature) over 7d by day".into())?;
//!     add_device(settings, "boiler", &["temperature".into()])
//! })?;
//! let bundle = folder.path().join("boiler.bundle"); // the one file that the device needs
//! let enrolled = plant.enrol("boiler", &bundle)?;
//! assert_eq!(enrolled.streams[0].readings(), 300); // the longest day, of 25 hours, in one ciphertext
//! assert!(bundle.exists());
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! A [`Plant`] is a folder with `sotto.toml` ([`settings`]). When a device is enrolled ([`Plant::enrol`]), the declared
//! questions determine its streams and their parameters ([`choose()`]). A question is answered from the windows stored
//! in the cloud ([`Plant::ask`]): the cloud sums ciphertexts, and the owner computes the answer from the decrypted sums
//! ([`moments`]).

pub mod alarm;
mod amount;
mod answer;
mod answers;
mod ask;
mod choose;
mod coefficients;
mod compute;
mod declared;
mod device;
pub mod edit;
mod error;
mod files;
mod flooding;
mod forget;
pub mod functions;
mod gathered;
mod language;
mod needs;
pub mod open;
mod plant;
mod predict;
mod public_keys;
mod publish;
pub mod question;
mod remarks;
mod reports;
pub mod settings;
mod status;
mod tls;
mod trust;
pub mod value;

pub use amount::{Every, NotAnAmount, Range};
pub use answer::{Answer, Row, VERSION};
pub use answers::Kept;
pub use ask::{OnProgress, moment};
pub use choose::{
    Alternative, Chosen, REAL_ERROR, SHARED_ERROR, StreamReport, choose, real_error, stream_report,
};
pub use device::{BundleRecord, DeviceRecord, Enrolled, EnrolledKey, Enrolment};
pub use error::OwnerError;
pub use flooding::{Flooded, FloodingSettings};
pub use forget::Forgotten;
pub use gathered::{BinsNeeded, USUAL_BINS, distribution, moments};
pub use needs::{Kind, Needs, StreamNeeds, USUAL_GAP_BITS, can_compare_in_cloud};
pub use plant::{NewPlant, Plant, SETTINGS};
pub use predict::{beyond, measured_report, seconds_a_window};
pub use publish::{Giving, Published, Verified};
pub use remarks::left_out_in_words;
pub use sotto_cloud_client::{CloudError, Interrupt};
pub use status::{ChannelStatus, DeviceStatus};
pub use tls::{AUTHORITY_DAYS, CloudCertificate, SERVER_DAYS, TlsFiles, WARNING_DAYS};
#[doc(hidden)]
pub use trust::rewritten_log;
pub use trust::{CloudKeys, Evidence, Finding, Lie, OnVerified, Verification, WorkRecord, verify_folder};
