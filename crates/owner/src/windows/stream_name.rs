//! The name of a stream in the whole plant.

/// A stream of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamName<'n> {
    pub(crate) device: &'n str,
    pub(crate) stream: &'n str,
}
