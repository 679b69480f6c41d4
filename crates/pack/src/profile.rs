//! What a device is told by its owner: which streams to send, and how. Written by the owner as JSON, read by the device.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{Channel, Clock, Encoding, FleetId, MAX_BITS, MAX_TICKS, MIN_BITS, Places, Span};

/// The largest profile: 1 MiB.
pub const LARGEST_PROFILE: usize = 1 << 20;
/// Most streams of a device.
pub const MAX_STREAMS: usize = 64;
/// Most hexadecimal digits of a stream's parameters.
const LARGEST_PARAMETERS: usize = 2 * 4096;

/// Most keys of the cloud in a profile.
pub const MOST_CLOUD_KEYS: usize = 16;

/// What a device sends. Checked when it is read and when it is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct DeviceProfile {
    /// The device's name: 1 to 64 of A-Z a-z 0-9 _ . -
    pub device: String,
    /// Milliseconds between ticks, at least 1.
    pub period_ms: u32,
    /// The time zone of the plant, by its IANA name. None: UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// The Ed25519 keys of the cloud, 64 hexadecimal digits each, at most [`MOST_CLOUD_KEYS`]: a receipt that none of them signed is none.
    /// Empty: receipts are taken without a signature.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cloud_keys: Vec<String>,
    /// The streams, 1 to [`MAX_STREAMS`], in the order in which they take windows.
    pub streams: Vec<StreamProfile>,
}

/// What goes into the windows of one stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamProfile {
    /// The stream's name, unlike that of any other: 1 to 64 of A-Z a-z 0-9 _ . -
    pub stream: String,
    /// The wire frame of the encryption parameters, in hexadecimal. Only whoever encrypts can check what is in it.
    pub parameters: String,
    /// How a value becomes a number.
    pub encoding: Encoding,
    /// Most readings of a channel in a window, 1 to [`MAX_TICKS`].
    pub ticks: u32,
    /// Milliseconds between ticks, at least 1. None: the device's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period_ms: Option<u32>,
    /// Windows begin with such a span of the clock and do not cross its end. None: with the first reading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// The channels. None at all: those that the source has, as it declares them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<Channel>,
    /// The form of compact windows. None: windows are whole ciphertexts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compact: Option<Places>,
    /// Slots of compact windows of reals, a power of two: they repeat until a ciphertext is full. None: windows are whole ciphertexts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots: Option<u32>,
    /// The version of the envelopes: 1, or 2 for compact windows whose stream's header the cloud has.
    #[serde(default = "first_version", skip_serializing_if = "is_first_version")]
    pub envelope: u8,
    /// The fleet whose masks the stream's windows share, for compact windows of a span in envelopes of version 2. None: each window has a mask
    /// of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetId>,
}

fn first_version() -> u8 {
    1
}

fn is_first_version(version: &u8) -> bool {
    *version == first_version()
}

/// As [`DeviceProfile`], before it is checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    device: String,
    period_ms: u32,
    #[serde(default)]
    zone: Option<String>,
    #[serde(default)]
    cloud_keys: Vec<String>,
    streams: Vec<StreamProfile>,
}

/// Why a profile is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// A key of the cloud that is none.
    #[error("a key of the cloud has 64 hexadecimal digits")]
    CloudKey,
    /// More bytes than a profile ever has.
    #[error("a profile of {bytes} bytes is too long: it has at most {LARGEST_PROFILE}")]
    TooLong {
        /// Bytes there are.
        bytes: usize,
    },
    /// Not JSON, or not of this form.
    #[error("the profile cannot be read: {reason}")]
    Json {
        /// What is wrong, and where.
        reason: String,
    },
    /// A name that cannot travel.
    #[error("{name:?} cannot be the name of a {what}: a name has 1 to 64 of A-Z a-z 0-9 _ . -")]
    Name {
        /// `device` or `stream`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Two streams have the same name.
    #[error("two streams are called {stream}: give them different names")]
    DuplicateStream {
        /// The name.
        stream: String,
    },
    /// A number that cannot be.
    #[error("{what} cannot be {value}: {possible}")]
    Number {
        /// Of what.
        what: String,
        /// What it is.
        value: u64,
        /// What is possible.
        possible: &'static str,
    },
    /// The time zone is not known.
    #[error(transparent)]
    Zone(#[from] crate::UnknownZone),
    /// A compact form that these channels do not have.
    #[error(
        "stream {stream} cannot be compact: it takes channels with a resolution, named in the profile, and pairs of them in order"
    )]
    Compact {
        /// The stream.
        stream: String,
    },
    /// Slots that compact windows of reals do not have.
    #[error(
        "stream {stream} cannot have these slots: reals of channels that the profile names take a power of two from 2 to 65536"
    )]
    Slots {
        /// The stream.
        stream: String,
    },
    /// A fleet of windows that share no masks.
    #[error(
        "stream {stream} cannot have a fleet: only compact windows of a span in envelopes of version 2 share masks"
    )]
    Fleet {
        /// The stream.
        stream: String,
    },
    /// Two streams of one device are of one fleet: their windows would share masks under one key.
    #[error(
        "streams {first} and {second} have the same fleet: a device has each fleet once; renew its bundle"
    )]
    DuplicateFleet {
        /// The first stream.
        first: String,
        /// The second stream.
        second: String,
    },
    /// The parameters are not hexadecimal.
    #[error("the parameters of stream {stream} are not a frame in hexadecimal")]
    Parameters {
        /// The stream.
        stream: String,
    },
}

impl DeviceProfile {
    /// Reads a profile of at most [`LARGEST_PROFILE`] bytes.
    ///
    /// # Errors
    /// [`ProfileError`] names the first thing that is wrong.
    pub fn parse(json: &[u8]) -> Result<Self, ProfileError> {
        if json.len() > LARGEST_PROFILE {
            return Err(ProfileError::TooLong { bytes: json.len() });
        }
        // Unchecked first: then what the checks find keeps its type.
        serde_json::from_slice::<Unchecked>(json)?.try_into()
    }

    /// The profile as JSON, for [`DeviceProfile::parse`].
    ///
    /// # Errors
    /// [`ProfileError`] when the profile would not be accepted.
    pub fn to_json(&self) -> Result<Vec<u8>, ProfileError> {
        self.check()?;
        let json = serde_json::to_vec_pretty(self)?;
        if json.len() > LARGEST_PROFILE {
            return Err(ProfileError::TooLong { bytes: json.len() });
        }
        Ok(json)
    }

    /// The clock that windows follow.
    ///
    /// # Errors
    /// [`ProfileError::Zone`] when the zone is not known.
    pub fn clock(&self) -> Result<Clock, ProfileError> {
        self.zone.as_deref().map_or(Ok(Clock::utc()), |zone| Ok(Clock::new(zone)?))
    }

    fn check(&self) -> Result<(), ProfileError> {
        check_name("device", &self.device)?;
        let least = "it is at least 1";
        check_number("the period in milliseconds", self.period_ms.into(), 1..=u64::MAX, least)?;
        self.clock()?;
        let keys = self.cloud_keys.len() as u64;
        check_number(
            "the number of keys of the cloud",
            keys,
            0..=MOST_CLOUD_KEYS as u64,
            "it is at most 16",
        )?;
        for key in &self.cloud_keys {
            let digits = key.bytes().filter(u8::is_ascii_hexdigit).count();
            if (key.len(), digits) != (64, 64) {
                return Err(ProfileError::CloudKey);
            }
        }
        let count = self.streams.len() as u64;
        check_number("the number of streams", count, 1..=MAX_STREAMS as u64, "it is 1 to 64")?;
        let (mut names, mut fleets) = (BTreeSet::new(), BTreeMap::new());
        for stream in &self.streams {
            stream.check()?;
            if let Some(first) = stream.fleet.and_then(|fleet| fleets.insert(fleet, &stream.stream)) {
                let (first, second) = (first.clone(), stream.stream.clone());
                return Err(ProfileError::DuplicateFleet { first, second });
            }
            if !names.insert(&stream.stream) {
                return Err(ProfileError::DuplicateStream { stream: stream.stream.clone() });
            }
        }
        Ok(())
    }
}

impl StreamProfile {
    fn check(&self) -> Result<(), ProfileError> {
        check_name("stream", &self.stream)?;
        let of = |what: &str| format!("{what} of stream {}", self.stream);
        let period = self.period_ms.unwrap_or(1).into();
        check_number(&of("the period in milliseconds"), period, 1..=u64::MAX, "it is at least 1")?;
        let ticks = 1..=u64::from(MAX_TICKS);
        check_number(&of("the number of ticks"), self.ticks.into(), ticks, "it is 1 to 65536")?;
        if let Encoding::Integer { bits } = self.encoding {
            let possible = u64::from(MIN_BITS)..=u64::from(MAX_BITS);
            check_number(&of("the number of bits"), bits.into(), possible, "it is 2 to 32")?;
        }
        if let Some(places) = &self.compact {
            let fits = self.encoding == Encoding::Resolution && places.is_for(self.channels.len());
            if !fits || self.channels.is_empty() {
                return Err(ProfileError::Compact { stream: self.stream.clone() });
            }
            check_number(&of("the bits of a place"), places.width.into(), 2..=64, "it is 2 to 64")?;
        }
        if let Some(slots) = self.slots {
            let possible = slots.is_power_of_two() && (2..=MAX_TICKS).contains(&slots);
            if !possible || self.encoding != Encoding::Real || self.channels.is_empty() {
                return Err(ProfileError::Slots { stream: self.stream.clone() });
            }
        }
        let latest = if self.compact.is_some() || self.slots.is_some() { 2 } else { 1 };
        let possible = "it is 1, or 2 for compact windows";
        check_number(&of("the version of the envelopes"), self.envelope.into(), 1..=latest, possible)?;
        let shares = self.compact.is_some() && self.envelope == 2 && self.span.is_some();
        if self.fleet.is_some() && !shares {
            return Err(ProfileError::Fleet { stream: self.stream.clone() });
        }
        let digits = self.parameters.len();
        let hexadecimal = self.parameters.bytes().all(|digit| digit.is_ascii_hexdigit());
        if digits == 0 || digits % 2 == 1 || digits > LARGEST_PARAMETERS || !hexadecimal {
            return Err(ProfileError::Parameters { stream: self.stream.clone() });
        }
        Ok(())
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
        let Unchecked { device, period_ms, zone, cloud_keys, streams } = unchecked;
        let profile = Self { device, period_ms, zone, cloud_keys, streams };
        profile.check()?;
        Ok(profile)
    }
}

/// As names are on the wire.
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
    range: std::ops::RangeInclusive<u64>,
    possible: &'static str,
) -> Result<(), ProfileError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(ProfileError::Number { what: what.to_owned(), value, possible })
}
