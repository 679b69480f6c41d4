//! Profiles of earlier programs, whose streams had windows of places: ciphertexts of whole numbers, for sums.

use alloc::string::String;
use alloc::vec::Vec;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::profile::first_version;
use crate::{Channel, Encoding, Span, StreamProfile, SumsPart};

/// The form of windows of places in a profile of an earlier program, as it was read. No program sends or reads such
/// windows.
///
/// ```
/// use sotto_pack::{DeviceProfile, EarlierPlaces};
///
/// let profile = DeviceProfile::parse(br#"{
///     "device": "cellar",
///     "period_ms": 60000,
///     "streams": [{
///         "stream": "boiler", "parameters": "00ff", "encoding": "resolution", "ticks": 24,
///         "channels": [{ "name": "boiler", "unit": "", "minimum": 0, "maximum": 90, "resolution": 0.5 }],
///         "compact": { "width": 16, "squares": true }
///     }]
/// }"#)?;
/// let places: &Option<EarlierPlaces> = &profile.streams[0].compact;
/// assert!(places.is_some());
/// # Ok::<(), sotto_pack::ProfileError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EarlierPlaces(serde_json::Map<String, serde_json::Value>);

/// The fields of [`StreamProfile`] in JSON, with those of earlier programs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Read {
    stream: String,
    #[serde(default)]
    parameters: String,
    encoding: Encoding,
    ticks: u32,
    #[serde(default)]
    period_ms: Option<u32>,
    #[serde(default)]
    span: Option<Span>,
    #[serde(default)]
    channels: Vec<Channel>,
    #[serde(default)]
    sums: Vec<SumsPart>,
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
            compact: read.compact,
            slots: read.slots,
            envelope: read.envelope,
            public: read.public,
        }
    }
}
