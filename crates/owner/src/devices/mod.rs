//! Devices: enrolled by their owner, each with a secret of its own.

mod carried;
mod check;
mod damage;
mod enrol;
mod fault;
mod key_names;
mod numbers;
mod records;
mod register;
mod restore;
mod sealed;
mod secrets;
mod streams;
mod take;
mod verifying;
mod writer;

pub(crate) use carried::carried_by;
pub(crate) use check::check;
pub use enrol::Enrolled;
pub(crate) use enrol::{can_enrol, enrol, put_secrets_aside, renew};
pub use fault::Fault;
pub(crate) use key_names::{keep_key_names, key_names};
pub use records::{BundleRecord, DeviceRecord};
pub(crate) use records::{all_records, enrolled, note_removal, parameter_spec, record, shown, with_removed};
pub use register::{EnrolledKey, Enrolment};
pub(crate) use register::{channels_of, enrolment_path, is_registered};
pub use restore::{Found, Restored};
pub(crate) use restore::{adopt, restore};
pub use sealed::{opened_record, sealed_record};
pub(crate) use secrets::{device_files, has_secrets, secret};
pub(crate) use streams::{planned_streams, streams_for, streams_for_question};
pub use take::Taken;
pub(crate) use take::{is_older_than_cloud, take};
pub(crate) use verifying::{keep_verifying_key, log_folder, make_log_folder, verifying_keys};
pub(crate) use writer::{register, revoke};
