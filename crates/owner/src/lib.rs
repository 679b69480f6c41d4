//! The owner's work, without a terminal: the plant's folder, its channels, questions and devices, and the answers.
//!
//! ```
//! use sotto_owner::edit::{add_channel, add_device, add_question};
//! use sotto_owner::{NewPlant, Plant};
//!
//! # let folder = tempfile::tempdir()?;
//! let here = NewPlant { cloud: None, listen: "127.0.0.1:7410".parse()?, time_zone: Some("Europe/Rome".into()) };
//! let mut plant = Plant::init(&folder.path().join("dairy"), &here)?;
//! let (unit, range, every) = ("°C", "-20..120".parse()?, "5m".parse()?);
//! let temperature = sotto_owner::settings::ChannelSettings::new(unit, range, 0.1, every);
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
mod answers;
mod api;
mod backup;
mod cache;
mod declared;
mod devices;
mod error;
mod files;
pub mod functions;
mod gathered;
mod language;
mod lie;
mod links;
pub mod open;
mod orders;
mod public_keys;
mod quantities;
pub mod question;
mod reports;
mod runs;
mod secrets;
mod seen;
mod streams;
mod summed;
mod tls;
mod trust;
mod units;
pub mod value;
mod windows;
mod work;

pub use amount::{Every, Hold, NotAnAmount, Range, bytes_in_words};
pub use answers::{
    Answer, Assurance, Cause, ChannelStatus, Complete, DeviceStatus, Empty, ExplainedResult, ExplainedStream,
    ExplainedValues, Explanation, Forgotten, Giving, KeptAnswer, LateStream, Learned, Logs, Next, Published,
    Rank, Retained, Row, Trouble, VERSION, Verified, left_out_in_words,
};
pub use backup::{
    BackedUp, BackupError, BackupNote, BackupOptions, RestoreOptions, RestoredFolder, restore_backup,
};
#[doc(hidden)]
pub use backup::{walked_backup, walked_contents};
pub use cache::CachedSums;
pub use declared::{
    CloudKeys, FETCHED, FloodingSettings, NewPlant, Plant, Removal, SETTINGS, derived, edit, settings,
};
pub use devices::{
    BundleRecord, DeviceRecord, Enrolled, EnrolledKey, Enrolment, Fault, Found, Planned, Restored, Taken,
    Unsent,
};
#[doc(hidden)]
pub use devices::{opened_record, sealed_record};
pub use error::{FaultyWindow, OwnerError};
pub use gathered::{BinsNeeded, USUAL_BINS, WindowQuantity, distribution, moments};
pub use lie::Lie;
pub use orders::{GivenOrder, UnknownOrders};
pub use secrets::{SecretsError, Unlock};
pub use seen::{CloudSees, ListedWindow, OwnerSees, SeenChannel, SeenReading, WindowSeen};
pub use sotto_cloud_client::{CloudError, Interrupt};
pub use sotto_rlwe::SecurityLevel;
pub use streams::{
    Alternative, Change, ChannelChange, ChannelPrice, Chosen, HeldReport, Kind, Needs, Price, REAL_ERROR,
    SHARED_ERROR, SHOWN_WINDOWS, SUMMED_WINDOWS, StreamNeeds, StreamReport, USUAL_GAP_BITS, Way, Wishes,
    beyond, can_compare_in_cloud, choose, measured_report, real_error, seconds_a_window, stream_report,
};
pub use summed::{OpenedChannel, OpenedSums, SumCell, SummedColumns, SummedRow, SummedRowError, Within};
pub use tls::{AUTHORITY_DAYS, CloudCertificate, SERVER_DAYS, TlsFiles, WARNING_DAYS};
pub use trust::{Finding, OnVerified, Verification, verify_folder};
pub use windows::{Accepted, Age, GivenUp, Retention, RollUpLevel, RollUpUnit, moment};
#[doc(hidden)]
pub use windows::{mirrored_log, rewritten_log};
pub use work::{Evidence, Flooded, OnProgress, WorkRecord};
