//! A window of one of many devices.

use crate::key::{SALT_BYTES, SECRET_BYTES};
use crate::tag::Part;

/// A window of a device: the owner's request, and the cloud's answer.
///
/// Example: [`FleetOpening`](crate::FleetOpening)
#[derive(Clone, Copy)]
pub struct DeviceWindow<'w, P> {
    /// The device's secret.
    pub secret: &'w [u8; SECRET_BYTES],
    /// The stream's id.
    pub stream: &'w [u8; SECRET_BYTES],
    /// The salt of the start.
    pub salt: &'w [u8; SALT_BYTES],
    /// The pad number.
    pub number: u64,
    /// The ticks that the owner asked for. Ticks above the form's count as the form's.
    pub ticks: u32,
    /// Tells of each place if the window has it. Public, as in [`Opening::add`](crate::Opening::add).
    pub present: P,
    /// The body and the tag: a claim until the tag is checked.
    pub part: Part<'w>,
    /// The window's counts, in the order of the form: a claim, too.
    pub counts: &'w [u16],
}
