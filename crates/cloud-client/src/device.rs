//! Devices: as their owner registers them, and as the cloud lists them.

use serde::{Deserialize, Serialize};

use crate::error::CloudError;
use crate::http::Site;
use crate::pages::Pages;
use crate::text::name;

/// Devices of a page. With 256 keys each, 500 of them stay below the largest answer.
const FIRST_PAGE: &str = "?limit=500";

/// Parameters and a key that a device may encrypt under.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RegisteredKey {
    /// 64 hexadecimal digits.
    #[serde(deserialize_with = "name")]
    pub parameter_id: String,
    /// 32 hexadecimal digits.
    #[serde(deserialize_with = "name")]
    pub key_id: String,
}

/// A device that was registered, and sums over the envelopes that it sent. Times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Device {
    /// The device's name.
    #[serde(deserialize_with = "name")]
    pub name: String,
    /// The last registration.
    pub registered_at: i64,
    /// True if uploads are refused. Envelopes that came before stay.
    pub revoked: bool,
    /// When the device was revoked.
    pub revoked_at: Option<i64>,
    /// Ed25519: 64 hexadecimal digits.
    #[serde(deserialize_with = "name")]
    pub verifying_key: String,
    /// Keys that the device may send under.
    pub keys: Vec<RegisteredKey>,
    /// Number of stored envelopes.
    pub envelopes: u64,
    /// Bytes of these envelopes.
    pub bytes: u64,
    /// The earliest reading; none without an envelope.
    pub first_started_at: Option<i64>,
    /// The latest reading; none without an envelope.
    pub last_ended_at: Option<i64>,
    /// The latest upload by the cloud's clock; none without an envelope.
    pub last_stored_at: Option<i64>,
    /// How often the device asked where it stood, as it had lost its spool.
    #[serde(default)]
    pub recoveries: u64,
    /// When it last did, by the cloud's clock.
    #[serde(default)]
    pub recovered_at: Option<i64>,
    /// Windows that were refused because another one has their mask.
    #[serde(default)]
    pub repeated_masks: u64,
    /// When the last one was, by the cloud's clock.
    #[serde(default)]
    pub repeated_at: Option<i64>,
}

/// Iterates over all devices in order of their names. A page is fetched when the one before it is used up; after an error the
/// iteration ends.
#[must_use = "pages are fetched only when they are iterated over"]
pub struct Devices<'c>(Pages<'c, Device>);

impl<'c> Devices<'c> {
    pub(crate) fn new(site: &'c Site) -> Self {
        Self(Pages::new(site, "the list of devices", "/v1/devices", FIRST_PAGE.to_owned()))
    }
}

impl Iterator for Devices<'_> {
    type Item = Result<Device, CloudError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}
