//! Messages.

use std::fmt;

/// A message. `Debug` does not show its payload.
///
/// Example: [`Connection`](crate::Connection)
#[derive(Clone, PartialEq, Eq)]
pub struct Message {
    /// The topic.
    pub topic: String,
    /// The payload.
    pub payload: Vec<u8>,
    /// True if the broker had kept it for new subscribers: it may be old.
    pub retained: bool,
    /// The number by which the message is acknowledged, unless the broker wants no acknowledgement.
    pub(crate) acknowledgement: Option<u16>,
}

impl fmt::Debug for Message {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Message({}, {} bytes)", self.topic, self.payload.len())
    }
}
