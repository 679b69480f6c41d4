//! The outcomes of rounds.

use super::event::Event;
use crate::error::OwnerError;

/// The outcome of a round.
///
/// Example: [`crate::alarm`]
#[derive(Debug, Default)]
pub struct Round {
    /// Changes of alarms, in the order of alarms, devices and time.
    pub events: Vec<Event>,
    /// Number of alarms.
    pub alarms: usize,
    /// Number of devices that were asked about.
    pub devices: usize,
    /// Number of new windows that were evaluated, once for each alarm.
    pub windows: u64,
    /// Number of these that are undecided.
    pub undecided: u64,
    /// Remarks for the reader.
    pub notes: Vec<String>,
    /// The error that ended the round early. The next round asks again.
    pub error: Option<OwnerError>,
}
