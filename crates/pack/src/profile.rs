//! The owner's configuration of a device: its streams, and how to send them. The owner writes it as JSON, the
//! device reads it.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::{
    Channel, EarlierPlaces, Encoding, Formula, MAX_BITS, MAX_TICKS, MIN_BITS, Period, Span, SumsPart, sums,
};
#[cfg(feature = "zones")]
use crate::{Clock, Cut, Grid, UnknownZone};

/// Maximum bytes of a profile: 1 MiB.
pub const LARGEST_PROFILE: usize = 1 << 20;
/// Maximum streams of a device.
pub const MAX_STREAMS: usize = 64;
/// Maximum hexadecimal digits of a stream's parameters.
const LARGEST_PARAMETERS: usize = 2 * 4096;

/// Maximum number of the cloud's keys in a profile.
pub const MOST_CLOUD_KEYS: usize = 16;

/// The configuration of a device. Checked when it is read and when it is written.
///
/// ```
/// use sotto_pack::{DeviceProfile, Encoding, StreamProfile};
///
/// let profile = DeviceProfile::parse(br#"{
///     "device": "cellar",
///     "period_ms": 60000,
///     "zone": "Europe/Vienna",
///     "streams": [
///         { "stream": "boiler", "parameters": "00ff", "encoding": { "integer": { "bits": 12 } }, "ticks": 24 }
///     ]
/// }"#)?;
/// let boiler: &StreamProfile = &profile.streams[0];
/// assert_eq!(boiler.encoding, Encoding::Integer { bits: 12 });
/// assert_eq!(profile.clock()?.name(), "Europe/Vienna");
/// # Ok::<(), sotto_pack::ProfileError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct DeviceProfile {
    /// The device's name: 1 to 64 of A-Z a-z 0-9 _ . -
    pub device: String,
    /// The time between ticks: a number of milliseconds, or a fraction of them as two numbers.
    pub period_ms: Period,
    /// The plant's time zone, by its IANA name. None: UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// The cloud's Ed25519 keys, 64 hexadecimal digits each, at most [`MOST_CLOUD_KEYS`]. A receipt counts
    /// only if one of them signed it. Empty: receipts are accepted without a signature.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cloud_keys: Vec<String>,
    /// The owner's Ed25519 key, 64 hexadecimal digits: it signs the owner's orders. None in old profiles: the device then
    /// believes the cloud about deletions, within limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_key: Option<String>,
    /// The streams, 1 to [`MAX_STREAMS`]. Windows that close at the same time are sent in this order.
    pub streams: Vec<StreamProfile>,
    /// Channels that the device computes from others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub derived: Vec<Derived>,
    /// The owner's record of the device, sealed under the device's secret, in hexadecimal. The device does not use it:
    /// it brings the record back when the owner has lost it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
}

/// A channel that the device computes from others.
///
/// Example: [`Formula`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Derived {
    /// Its name, among the channels of streams.
    pub channel: String,
    /// The formula of its value.
    pub formula: Formula,
    /// The channels of the formula.
    pub of: Vec<Channel>,
}

/// The configuration of one stream.
///
/// Example: [`DeviceProfile`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Read")]
pub struct StreamProfile {
    /// The stream's name, unique in the profile: 1 to 64 of A-Z a-z 0-9 _ . -
    pub stream: String,
    /// The wire frame of the encryption parameters, in hexadecimal; empty for a stream of sums, which has none. Its
    /// content is checked by the encryptor, not here.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub parameters: String,
    /// The encoding of values.
    pub encoding: Encoding,
    /// Maximum readings of a channel in a window, 1 to [`MAX_TICKS`].
    pub ticks: u32,
    /// The time between ticks, as in [`DeviceProfile`]. None: the device's period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period_ms: Option<Period>,
    /// The span of the clock that windows begin with and whose end they do not cross. None in old profiles:
    /// devices refuse such a stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// The channels. Empty in old profiles: devices refuse such a stream.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<Channel>,
    /// The parts of the windows of a stream of sums. Empty: the windows are ciphertexts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sums: Vec<SumsPart>,
    /// True if the windows of a stream of sums count the readings that were rounded.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub rounded: bool,
    /// The form of windows of places, in profiles of earlier programs: devices refuse such a stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compact: Option<EarlierPlaces>,
    /// Slots of compact windows of reals, or of whole steps that the cloud compares ([`StepDigits`](crate::StepDigits)):
    /// a power of two; they repeat to fill a ciphertext, as in whole ciphertexts under a public key. None: they do not
    /// repeat, and the windows are whole ciphertexts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots: Option<u32>,
    /// The version of the envelopes: 1, or 2 for compact windows whose stream header the cloud already has.
    #[serde(default = "first_version", skip_serializing_if = "is_first_version")]
    pub envelope: u8,
    /// True if the device holds a public key: the windows are whole ciphertexts, which it cannot decrypt.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub public: bool,
    /// True if ticks go on through the ends of spans, as the period does not divide them. False: they begin anew with each
    /// span, as in the profiles of earlier programs.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub absolute: bool,
}

fn first_version() -> u8 {
    1
}

fn is_first_version(version: &u8) -> bool {
    *version == first_version()
}

/// The fields of [`StreamProfile`] in JSON, with those of earlier programs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    stream: String,
    #[serde(default)]
    parameters: String,
    encoding: Encoding,
    ticks: u32,
    #[serde(default)]
    period_ms: Option<Period>,
    #[serde(default)]
    span: Option<Span>,
    #[serde(default)]
    channels: Vec<Channel>,
    #[serde(default)]
    sums: Vec<SumsPart>,
    #[serde(default)]
    rounded: bool,
    #[serde(default)]
    compact: Option<EarlierPlaces>,
    #[serde(default)]
    slots: Option<u32>,
    #[serde(default = "first_version")]
    envelope: u8,
    /// The devices with which windows of places shared masks.
    #[serde(default, rename = "fleet")]
    _fleet: IgnoredAny,
    #[serde(default)]
    public: bool,
    #[serde(default)]
    absolute: bool,
}

impl From<Read> for StreamProfile {
    fn from(read: Read) -> Self {
        Self {
            stream: read.stream,
            parameters: read.parameters,
            encoding: read.encoding,
            ticks: read.ticks,
            period_ms: read.period_ms,
            span: read.span,
            channels: read.channels,
            sums: read.sums,
            rounded: read.rounded,
            compact: read.compact,
            slots: read.slots,
            envelope: read.envelope,
            public: read.public,
            absolute: read.absolute,
        }
    }
}

/// The fields of [`DeviceProfile`] before the check.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    device: String,
    period_ms: Period,
    #[serde(default)]
    zone: Option<String>,
    #[serde(default)]
    cloud_keys: Vec<String>,
    #[serde(default)]
    owner_key: Option<String>,
    streams: Vec<StreamProfile>,
    #[serde(default)]
    derived: Vec<Derived>,
    #[serde(default)]
    record: Option<String>,
}

/// The reason why a profile is refused.
///
/// ```
/// use sotto_pack::{DeviceProfile, ProfileError};
///
/// let refused = DeviceProfile::parse(br#"{ "device": "the cellar", "period_ms": 60000, "streams": [] }"#);
/// assert_eq!(refused, Err(ProfileError::Name { what: "device", name: "the cellar".into() }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// A key of the cloud does not have 64 hexadecimal digits.
    #[error("a key of the cloud has 64 hexadecimal digits")]
    CloudKey,
    /// The owner's key does not have 64 hexadecimal digits.
    #[error("the owner's key has 64 hexadecimal digits")]
    OwnerKey,
    /// The profile has more bytes than the maximum.
    #[error("a profile of {bytes} bytes is too long: it has at most {LARGEST_PROFILE}")]
    TooLong {
        /// Bytes given.
        bytes: usize,
    },
    /// The profile is not JSON, or has other fields.
    #[error("the profile cannot be read: {reason}")]
    Json {
        /// The reason, with its position.
        reason: String,
    },
    /// A name has a character or a length that is not allowed.
    #[error("{name:?} cannot be the name of a {what}: a name has 1 to 64 of A-Z a-z 0-9 _ . -")]
    Name {
        /// `device` or `stream`.
        what: &'static str,
        /// The name as it was given.
        name: String,
    },
    /// A derived channel is there twice, or its parts are not those of its formula.
    #[error(
        "the derived channel {channel} is there twice, or its parts are not the measured channels of its formula"
    )]
    Derived {
        /// Its name.
        channel: String,
    },
    /// Two streams have the same name.
    #[error("two streams are called {stream}: give them different names")]
    DuplicateStream {
        /// The name.
        stream: String,
    },
    /// A number is out of its range.
    #[error("{what} cannot be {value}: {possible}")]
    Number {
        /// The name of the number.
        what: String,
        /// The number given.
        value: u64,
        /// The numbers allowed.
        possible: &'static str,
    },
    /// The time zone is not known.
    #[cfg(feature = "zones")]
    #[error(transparent)]
    Zone(#[from] UnknownZone),
    /// The parts do not fit the channels of a stream of sums.
    #[error("stream {stream} cannot be one of sums: {reason}")]
    Sums {
        /// The stream's name.
        stream: String,
        /// The reason.
        reason: String,
    },
    /// A stream that is none of sums counts rounded readings.
    #[error("stream {stream} cannot count rounded readings: only windows of sums do")]
    Rounded {
        /// The stream's name.
        stream: String,
    },
    /// The period has no whole milliseconds, and the stream is none of sums, its windows have no whole cycles, or a channel's
    /// readings hold.
    #[error(
        "stream {stream} cannot have a period of no whole milliseconds: only windows of sums do, of a multiple of {cycle} ticks, and of no counter, state or other channel whose readings hold"
    )]
    Period {
        /// The stream's name.
        stream: String,
        /// The ticks of a cycle.
        cycle: u32,
    },
    /// The slots do not fit the stream's channels or encoding.
    #[error(
        "stream {stream} cannot have these slots: reals, or steps of a resolution, of channels that the profile names take a power of two from 2 to 65536"
    )]
    Slots {
        /// The stream's name.
        stream: String,
    },
    /// The windows cannot be compact, as the device holds a public key.
    #[error(
        "stream {stream} cannot be public: under a public key windows are whole ciphertexts in envelopes of version 1"
    )]
    Public {
        /// The stream's name.
        stream: String,
    },
    /// The parameters are not hexadecimal.
    #[error("the parameters of stream {stream} are not a frame in hexadecimal")]
    Parameters {
        /// The stream's name.
        stream: String,
    },
}

impl DeviceProfile {
    /// Reads a profile of at most [`LARGEST_PROFILE`] bytes.
    ///
    /// # Errors
    /// [`ProfileError`] for the first fault.
    pub fn parse(json: &[u8]) -> Result<Self, ProfileError> {
        if json.len() > LARGEST_PROFILE {
            return Err(ProfileError::TooLong { bytes: json.len() });
        }
        // Parsed unchecked first, so that the checks' errors keep their type.
        serde_json::from_slice::<Unchecked>(json)?.try_into()
    }

    /// Writes the profile as JSON, for [`DeviceProfile::parse`].
    ///
    /// # Errors
    /// [`ProfileError`] if the profile would not be accepted.
    pub fn to_json(&self) -> Result<Vec<u8>, ProfileError> {
        self.check()?;
        let json = serde_json::to_vec_pretty(self)?;
        if json.len() > LARGEST_PROFILE {
            return Err(ProfileError::TooLong { bytes: json.len() });
        }
        Ok(json)
    }

    /// Returns the time between ticks of the first stream with a channel; the device's if there is none.
    #[must_use]
    pub fn period_of(&self, channel: &str) -> Period {
        let has = |stream: &&StreamProfile| stream.channels.iter().any(|own| own.name == channel);
        self.streams.iter().find(has).and_then(|stream| stream.period_ms).unwrap_or(self.period_ms)
    }

    /// Returns the clock that windows follow. With feature `zones`.
    ///
    /// # Errors
    /// [`ProfileError::Zone`] if the zone is not known.
    #[cfg(feature = "zones")]
    pub fn clock(&self) -> Result<Clock, ProfileError> {
        self.zone.as_deref().map_or(Ok(Clock::utc()), |zone| Ok(Clock::new(zone)?))
    }

    fn check(&self) -> Result<(), ProfileError> {
        check_name("device", &self.device)?;
        #[cfg(feature = "zones")]
        self.clock()?;
        let keys = self.cloud_keys.len() as u64;
        check_number(
            "the number of keys of the cloud",
            keys,
            0..=MOST_CLOUD_KEYS as u64,
            "it is at most 16",
        )?;
        let is_key =
            |key: &String| (key.len(), key.bytes().filter(u8::is_ascii_hexdigit).count()) == (64, 64);
        if !self.cloud_keys.iter().all(is_key) {
            return Err(ProfileError::CloudKey);
        }
        if !self.owner_key.iter().all(is_key) {
            return Err(ProfileError::OwnerKey);
        }
        let count = self.streams.len() as u64;
        check_number("the number of streams", count, 1..=MAX_STREAMS as u64, "it is 1 to 64")?;
        let mut names = BTreeSet::new();
        for stream in &self.streams {
            stream.check()?;
            let cycle = stream.period_ms.unwrap_or(self.period_ms).cycle_ticks();
            let joined = stream.channels.iter().any(|channel| channel.kind.rules().is_joined());
            if cycle > 1 && (stream.sums.is_empty() || stream.ticks % cycle != 0 || joined) {
                return Err(ProfileError::Period { stream: stream.stream.clone(), cycle });
            }
            if !names.insert(&stream.stream) {
                return Err(ProfileError::DuplicateStream { stream: stream.stream.clone() });
            }
        }
        self.check_derived()
    }

    /// Checks that each derived channel is there once, and that its parts are those of its formula.
    fn check_derived(&self) -> Result<(), ProfileError> {
        let mut names = BTreeSet::new();
        for Derived { channel, formula, of } in &self.derived {
            let parts: BTreeSet<&str> = of.iter().map(|part| part.name.as_str()).collect();
            let is_itself = self.derived.iter().any(|other| parts.contains(other.channel.as_str()));
            if !names.insert(channel) || parts != formula.channels() || parts.len() != of.len() || is_itself {
                return Err(ProfileError::Derived { channel: channel.clone() });
            }
        }
        Ok(())
    }
}

impl StreamProfile {
    fn check(&self) -> Result<(), ProfileError> {
        check_name("stream", &self.stream)?;
        let of = |what: &str| format!("{what} of stream {}", self.stream);
        let ticks = 1..=u64::from(MAX_TICKS);
        check_number(&of("the number of ticks"), self.ticks.into(), ticks, "it is 1 to 65536")?;
        if let Encoding::Integer { bits } = self.encoding {
            let possible = u64::from(MIN_BITS)..=u64::from(MAX_BITS);
            check_number(&of("the number of bits"), bits.into(), possible, "it is 2 to 32")?;
        }
        if !self.sums.is_empty() {
            return self.check_sums();
        }
        if self.rounded {
            return Err(ProfileError::Rounded { stream: self.stream.clone() });
        }
        if let Some(slots) = self.slots {
            let possible = slots.is_power_of_two() && (2..=MAX_TICKS).contains(&slots);
            let encoded = matches!(self.encoding, Encoding::Real | Encoding::Resolution);
            if !possible || !encoded || self.compact.is_some() || self.channels.is_empty() {
                return Err(ProfileError::Slots { stream: self.stream.clone() });
            }
        }
        if self.public && (self.compact.is_some() || self.envelope != 1) {
            return Err(ProfileError::Public { stream: self.stream.clone() });
        }
        let latest = if self.compact.is_some() || self.slots.is_some() { 2 } else { 1 };
        let possible = "it is 1, or 2 for compact windows";
        check_number(&of("the version of the envelopes"), self.envelope.into(), 1..=latest, possible)?;
        let digits = self.parameters.len();
        let hexadecimal = self.parameters.bytes().all(|digit| digit.is_ascii_hexdigit());
        if digits == 0 || digits % 2 == 1 || digits > LARGEST_PARAMETERS || !hexadecimal {
            return Err(ProfileError::Parameters { stream: self.stream.clone() });
        }
        Ok(())
    }
}

impl StreamProfile {
    /// Returns how readings are divided into windows, for the period of its device; None in old profiles, which state no
    /// span. With feature `zones`.
    #[cfg(feature = "zones")]
    #[must_use]
    pub fn cut(&self, period_ms: Period) -> Option<Cut> {
        let grid = if self.absolute { Grid::Absolute { phase: 0 } } else { Grid::OfSpan };
        let period = self.period_ms.unwrap_or(period_ms);
        Some(Cut { span: self.span?, period, ticks: self.ticks, grid })
    }

    fn check_sums(&self) -> Result<(), ProfileError> {
        let refused = |reason: String| ProfileError::Sums { stream: self.stream.clone(), reason };
        let others = self.compact.is_some() || self.slots.is_some();
        if others || self.public || !self.parameters.is_empty() || self.encoding != Encoding::Resolution {
            return Err(refused(
                "it has whole steps of channels with a resolution, and neither parameters nor slots nor a public key"
                    .to_owned(),
            ));
        }
        let versions = format!("the version of the envelopes of stream {}", self.stream);
        check_number(&versions, self.envelope.into(), 1..=2, "it is 1 or 2; windows of sums have one form")?;
        sums::check_parts(&self.sums, &self.channels, self.ticks).map_err(refused)
    }
}

impl From<serde_json::Error> for ProfileError {
    fn from(error: serde_json::Error) -> Self {
        Self::Json { reason: error.to_string() }
    }
}

impl TryFrom<Unchecked> for DeviceProfile {
    type Error = ProfileError;

    fn try_from(unchecked: Unchecked) -> Result<Self, ProfileError> {
        let Unchecked { device, period_ms, zone, cloud_keys, owner_key, streams, derived, record } =
            unchecked;
        let profile = Self { device, period_ms, zone, cloud_keys, owner_key, streams, derived, record };
        profile.check()?;
        Ok(profile)
    }
}

/// Applies the wire's rule for names.
fn check_name(what: &'static str, name: &str) -> Result<(), ProfileError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    if (1..=64).contains(&name.len()) && name.bytes().all(allowed) {
        return Ok(());
    }
    Err(ProfileError::Name { what, name: name.chars().take(64).collect() })
}

fn check_number(
    what: &str,
    value: u64,
    range: core::ops::RangeInclusive<u64>,
    possible: &'static str,
) -> Result<(), ProfileError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(ProfileError::Number { what: what.to_owned(), value, possible })
}
