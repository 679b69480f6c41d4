//! Points: readings as a sender states them, before a device or a channel is known.
//!
//! Every way into the gateway makes points: lines of InfluxDB's protocol, messages of a broker, registers. An
//! [`Intake`] finds the device and the channel of each field, and returns once the readings are durable.

use std::borrow::Cow;
use std::sync::Arc;

use crate::source::Value;

/// Readings of one time, as a sender states them. Its texts may be parts of a request.
///
/// ```
/// use sotto_agent::gateway::{Point, Value};
///
/// let point = Point::new("boiler").tag("room", "cellar").number("flow", "61.5").at_seconds(1_700_000_000);
/// assert_eq!(point.field("flow"), Some(&Value::Number("61.5".into())));
/// assert_eq!(point.tag_text("room"), Some("cellar"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Point<'t> {
    /// The measurement of the line protocol, or the topic of a message.
    pub measurement: Cow<'t, str>,
    /// Names and texts that say which thing was measured.
    pub tags: Vec<(Cow<'t, str>, Cow<'t, str>)>,
    /// Names and values that were measured.
    pub fields: Vec<(Cow<'t, str>, Value<'t>)>,
    /// Nanoseconds since 1970; `None` stands for the time at which the point came.
    pub time: Option<i64>,
}

/// Shows names alone: values are readings.
impl std::fmt::Debug for Point<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let fields: Vec<&str> = self.fields.iter().map(|(name, _)| &**name).collect();
        out.debug_struct("Point").field("fields", &fields).finish_non_exhaustive()
    }
}

impl<'t> Point<'t> {
    /// Creates a point without tags, fields and time.
    #[must_use]
    pub fn new(measurement: impl Into<Cow<'t, str>>) -> Self {
        Self { measurement: measurement.into(), tags: Vec::new(), fields: Vec::new(), time: None }
    }

    /// Adds a tag.
    #[must_use]
    pub fn tag(mut self, name: impl Into<Cow<'t, str>>, text: impl Into<Cow<'t, str>>) -> Self {
        self.tags.push((name.into(), text.into()));
        self
    }

    /// Adds a field with a number in decimal text.
    #[must_use]
    pub fn number(mut self, name: impl Into<Cow<'t, str>>, text: impl Into<Cow<'t, str>>) -> Self {
        self.fields.push((name.into(), Value::Number(text.into())));
        self
    }

    /// Adds a field with a text.
    #[must_use]
    pub fn text(mut self, name: impl Into<Cow<'t, str>>, text: impl Into<Cow<'t, str>>) -> Self {
        self.fields.push((name.into(), Value::Text(text.into())));
        self
    }

    /// Sets the time in whole seconds since 1970.
    #[must_use]
    pub fn at_seconds(mut self, seconds: i64) -> Self {
        self.time = Some(seconds.saturating_mul(1_000_000_000));
        self
    }

    /// Returns the text of a tag.
    #[must_use]
    pub fn tag_text(&self, name: &str) -> Option<&str> {
        self.tags.iter().find(|(tag, _)| tag == name).map(|(_, text)| &**text)
    }

    /// Returns the value of a field.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Value<'t>> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value)
    }
}

impl Drop for Point<'_> {
    fn drop(&mut self) {
        self.fields.iter_mut().for_each(|(_, value)| value.wipe());
    }
}

/// Counts of the points that an intake has taken. Readings that were taken are durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Fields that are readings of a channel.
    pub readings: u64,
    /// Fields that no channel of any device takes.
    pub unclaimed: u64,
}

impl Taken {
    /// Adds the counts of further points.
    pub fn add(&mut self, other: Self) {
        self.readings += other.readings;
        self.unclaimed += other.unclaimed;
    }
}

/// Reason why points were not taken. The sender has to keep them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IntakeError {
    /// A device's spool is full. The points of other devices were taken.
    #[error("the spool of {device} is full: its cloud has to take messages first, or a larger --spool-limit")]
    SpoolFull {
        /// The device.
        device: Arc<str>,
    },
    /// The journal has reached its limit.
    #[error(
        "the journal of readings has reached its {limit} bytes: the windows of the devices have to end first, or a larger --journal-limit"
    )]
    JournalFull {
        /// Maximum bytes.
        limit: u64,
    },
    /// The journal cannot be written: the disk is full or faulty.
    #[error("the journal of readings cannot be written: {0}; free some space on the disk")]
    Disk(Arc<str>),
    /// Nothing is taken: `sotto-agent check` counts alone.
    #[error("sotto-agent check counts readings and takes none: send them again to sotto-agent run")]
    Checking,
    /// The gateway ends.
    #[error("the gateway is stopping: send again after its next start")]
    Stopping,
}

/// Takes points. Clones of an `Arc<dyn Intake>` share the journal and the devices.
pub trait Intake: Send + Sync {
    /// Takes points from a sender, whose name is kept in the counts of `status`. Returns once the readings are durable: a
    /// kill at any later moment loses none. Points that were sent before are taken once.
    ///
    /// # Errors
    /// [`IntakeError`]: some points were not taken, and the sender has to send all of them again.
    fn take(&self, points: &[Point<'_>], sender: &str) -> Result<Taken, IntakeError>;

    /// Takes points likewise, and those of a device whose spool is full, too: they wait in the journal until it is half full.
    /// For sources that could not keep them without holding back those of other devices.
    ///
    /// # Errors
    /// As above.
    fn keep(&self, points: &[Point<'_>], sender: &str) -> Result<Taken, IntakeError> {
        self.take(points, sender)
    }
}
