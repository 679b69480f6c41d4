//! `[channels.NAME]`: a channel, and what its readings are.

use serde::{Deserialize, Serialize};
use sotto_pack::{Amount, Angle, Channel, ChannelKind, Counter, Formula, Gauge, Period, Several, State};

use crate::amount::{Every, Hold, Range};

/// What the readings of a channel are.
///
/// Example: [`ChannelSettings`]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KindName {
    /// Samples of a quantity, as a temperature.
    #[default]
    Gauge,
    /// A total that only grows, as that of a meter.
    Counter,
    /// One of several states, as that of a contact.
    State,
    /// What came since the reading before, as rain.
    Amount,
    /// A direction, as that of wind.
    Angle,
}

impl KindName {
    /// Every kind, in the order of listings.
    pub const ALL: [Self; 5] = [Self::Gauge, Self::Counter, Self::State, Self::Amount, Self::Angle];

    /// Returns the word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Gauge => "gauge",
            Self::Counter => "counter",
            Self::State => "state",
            Self::Amount => "amount",
            Self::Angle => "angle",
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_gauge(&self) -> bool {
        *self == Self::Gauge
    }
}

/// A channel: one quantity that devices measure.
///
/// ```
/// use sotto_owner::settings::{ChannelSettings, KindName};
///
/// let temperature = ChannelSettings::new("°C", "-20..120".parse()?, 0.1, "5m".parse()?);
/// assert_eq!(temperature.kind, KindName::Gauge);
/// // The states of a contact are the numbers 0 and 1.
/// let door = ChannelSettings::of_states(["closed", "open"], "1m".parse()?);
/// assert_eq!((door.range.maximum, door.resolution), (1.0, 1.0));
/// # Ok::<(), sotto_owner::NotAnAmount>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct ChannelSettings {
    /// The unit, for display and for the check that only equal units are added.
    pub unit: String,
    /// What the readings are.
    #[serde(skip_serializing_if = "KindName::is_gauge")]
    pub kind: KindName,
    /// The words of a channel of states.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<String>,
    /// The declared range. The device leaves out readings outside it, and counts them. That of states is 0 to the number of
    /// the last.
    pub range: Range,
    /// The smallest difference between two values that matters. Answers are exact up to half of it. That of states is 1.
    pub resolution: f64,
    /// The time between two readings.
    pub every: Every,
    /// For how long at most a reading holds, if the sensor reports changes alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold: Option<Hold>,
    /// The largest increase of a counter from one reading to the next, in its unit.
    #[serde(rename = "at-most", skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// What several readings in the time of one are. None: what is usual for the kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub several: Option<Several>,
    /// True if devices also send the readings in a form in which the cloud compares them with limits chosen later.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub comparable: bool,
    /// The formula by which the device computes it from other channels; None: a sensor measures it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub derived: Option<Formula>,
    /// Words by which questions choose the channel and group it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The name in streams and bundles, if the channel was renamed since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire: Option<String>,
}

/// The channel as people write it: states need neither range nor resolution.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    unit: String,
    #[serde(default)]
    kind: KindName,
    #[serde(default)]
    states: Vec<String>,
    range: Option<Range>,
    resolution: Option<f64>,
    every: Every,
    hold: Option<Hold>,
    #[serde(rename = "at-most")]
    at_most: Option<f64>,
    several: Option<Several>,
    #[serde(default)]
    comparable: bool,
    derived: Option<Formula>,
    #[serde(default)]
    tags: Vec<String>,
    wire: Option<String>,
}

impl TryFrom<Written> for ChannelSettings {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let Written {
            unit,
            kind,
            states,
            every,
            hold,
            at_most,
            several,
            comparable,
            derived,
            tags,
            wire,
            ..
        } = written;
        let (range, resolution) = match kind {
            KindName::State => {
                (written.range.unwrap_or(range_of(&states)), written.resolution.unwrap_or(1.0))
            }
            KindName::Angle => {
                let turn = Range { minimum: 0.0, maximum: Angle::turn(&unit) };
                (written.range.unwrap_or(turn), written.resolution.unwrap_or(1.0))
            }
            _ => (
                written.range.ok_or("missing field `range`")?,
                written.resolution.ok_or("missing field `resolution`")?,
            ),
        };
        Ok(Self {
            unit,
            kind,
            states,
            range,
            resolution,
            every,
            hold,
            at_most,
            several,
            comparable,
            derived,
            tags,
            wire,
        })
    }
}

/// Returns the numbers of states.
fn range_of(states: &[String]) -> Range {
    Range { minimum: 0.0, maximum: states.len().saturating_sub(1).max(1) as f64 }
}

impl ChannelSettings {
    /// Returns a channel of samples.
    #[must_use]
    pub fn new(unit: impl Into<String>, range: Range, resolution: f64, every: Every) -> Self {
        Self {
            unit: unit.into(),
            kind: KindName::Gauge,
            states: Vec::new(),
            range,
            resolution,
            every,
            hold: None,
            at_most: None,
            several: None,
            comparable: false,
            derived: None,
            tags: Vec::new(),
            wire: None,
        }
    }

    /// Returns a channel of states with these words.
    #[must_use]
    pub fn of_states<'w>(states: impl IntoIterator<Item = &'w str>, every: Every) -> Self {
        let states: Vec<String> = states.into_iter().map(str::to_owned).collect();
        let range = range_of(&states);
        Self { kind: KindName::State, states, ..Self::new("", range, 1.0, every) }
    }

    /// Returns the settings of a channel that a device has. `period` is the time between its readings.
    pub(crate) fn of_channel(channel: &Channel, period: Period, comparable: bool) -> Self {
        let Channel { unit, minimum, maximum, resolution, kind, .. } = channel;
        let range = Range { minimum: *minimum, maximum: *maximum };
        // Streams of reals carry none.
        let resolution = resolution.unwrap_or((maximum - minimum) / 1000.0);
        let declared = Self { comparable, ..Self::new(unit, range, resolution, Every { period }) };
        let (usual, held) =
            (kind.rules().several(), |hold: &Option<u64>| hold.map(|milliseconds| Hold { milliseconds }));
        let declared = match kind {
            ChannelKind::Interval => return declared,
            ChannelKind::Gauge(Gauge { hold, .. }) => Self { hold: held(hold), ..declared },
            ChannelKind::Counter(Counter { at_most, .. }) => {
                Self { kind: KindName::Counter, at_most: *at_most, ..declared }
            }
            ChannelKind::State(State { states, hold, .. }) => {
                Self { kind: KindName::State, states: states.clone(), hold: held(hold), ..declared }
            }
            ChannelKind::Amount(_) => Self { kind: KindName::Amount, ..declared },
            ChannelKind::Angle(_) => Self { kind: KindName::Angle, ..declared },
        };
        let is_usual = declared.kind().rules().several() == usual;
        Self { several: (!is_usual).then_some(usual), ..declared }
    }

    /// Returns the channel in the form that devices and layouts use.
    pub(crate) fn described(&self, name: &str) -> Channel {
        Channel {
            name: name.to_owned(),
            unit: self.unit.clone(),
            minimum: self.range.minimum,
            maximum: self.range.maximum,
            resolution: Some(self.resolution),
            kind: self.kind(),
        }
    }

    /// Returns what its readings are.
    #[must_use]
    pub fn kind(&self) -> ChannelKind {
        let hold = self.hold.map(|hold| hold.milliseconds);
        let or = |usual: Several| self.several.unwrap_or(usual);
        match self.kind {
            KindName::Gauge => ChannelKind::Gauge(Gauge { several: or(Gauge::default().several), hold }),
            KindName::Counter => ChannelKind::Counter(Counter {
                several: or(Counter::default().several),
                at_most: self.at_most,
            }),
            KindName::State => {
                let states = State::of(self.states.iter().map(String::as_str));
                ChannelKind::State(State { several: or(states.several), hold, ..states })
            }
            KindName::Amount => ChannelKind::Amount(Amount { several: or(Amount::default().several) }),
            KindName::Angle => ChannelKind::Angle(Angle { several: or(Angle::default().several) }),
        }
    }

    /// Checks what belongs to its kind.
    pub(crate) fn check(&self, described: &Channel) -> Result<(), String> {
        let word = self.kind.word();
        if !self.states.is_empty() && self.kind != KindName::State {
            return Err(format!("a {word} has no states: write kind = \"state\", or leave states out"));
        }
        if self.hold.is_some() && !matches!(self.kind, KindName::Gauge | KindName::State) {
            return Err(format!("a {word} does not hold: leave hold out"));
        }
        if self.derived.is_some() && (self.kind != KindName::Gauge || self.hold.is_some()) {
            return Err("a derived channel is a gauge that does not hold: leave kind and hold out".to_owned());
        }
        if self.at_most.is_some() && self.kind != KindName::Counter {
            return Err(format!("at-most is the largest increase of a counter: leave it out of a {word}"));
        }
        if self.several == Some(Several::Sum) && self.kind == KindName::State {
            return Err("several states do not add up: write first, last, min, max or refuse".to_owned());
        }
        described.check_kind()
    }
}
