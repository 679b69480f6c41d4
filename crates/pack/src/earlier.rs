//! Profiles of earlier programs, whose streams had windows of places: ciphertexts of whole numbers, for sums.

use alloc::string::String;

use serde::{Deserialize, Serialize};

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
