//! Devices: their registration, and the cloud's list of them.

use serde::{Deserialize, Serialize};

use crate::error::CloudError;
use crate::http::Site;
use crate::pages::Pages;
use crate::text::name;

/// Devices per page. 500 devices with 256 keys each fit the largest answer.
const FIRST_PAGE: &str = "?limit=500";

/// A pair of parameters and key that a device may encrypt under.
///
/// Example: [`Device`]
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RegisteredKey {
    /// 64 hexadecimal digits.
    #[serde(deserialize_with = "name")]
    pub parameter_id: String,
    /// 32 hexadecimal digits.
    #[serde(deserialize_with = "name")]
    pub key_id: String,
}

/// A registered device, with totals over its stored envelopes. Times are in milliseconds since 1970.
///
/// ```
/// # mod stand_in { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/stand_in/mod.rs")); }
/// use sotto_cloud_client::{Device, Devices, RegisteredKey};
/// # let (cloud, _) = stand_in::serve(vec![stand_in::ok(r#"[{
/// #     "name": "cellar", "registered_at": 1795000000000, "revoked": false, "revoked_at": null,
/// #     "verifying_key": "ff", "keys": [{"parameter_id": "01", "key_id": "02"}], "envelopes": 24, "bytes": 21640,
/// #     "first_started_at": 1795000000000, "last_ended_at": 1795086400000, "last_stored_at": 1795086401000
/// # }]"#)]);
///
/// let devices: Devices<'_> = cloud.devices();
/// let devices: Vec<Device> = devices.collect::<Result<_, _>>()?;
/// assert_eq!((devices[0].name.as_str(), devices[0].envelopes), ("cellar", 24));
/// let keys: &[RegisteredKey] = &devices[0].keys;
/// assert_eq!(keys[0].key_id, "02");
/// # Ok::<(), sotto_cloud_client::CloudError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Device {
    /// The device's name.
    #[serde(deserialize_with = "name")]
    pub name: String,
    /// Time of the last registration.
    pub registered_at: i64,
    /// True if the cloud refuses uploads. Earlier envelopes are kept.
    pub revoked: bool,
    /// Time of the revocation.
    pub revoked_at: Option<i64>,
    /// The Ed25519 verifying key: 64 hexadecimal digits.
    #[serde(deserialize_with = "name")]
    pub verifying_key: String,
    /// Keys that the device may encrypt under.
    pub keys: Vec<RegisteredKey>,
    /// Number of stored envelopes.
    pub envelopes: u64,
    /// Bytes of these envelopes.
    pub bytes: u64,
    /// Time of the earliest reading; None without envelopes.
    pub first_started_at: Option<i64>,
    /// Time of the latest reading; None without envelopes.
    pub last_ended_at: Option<i64>,
    /// Time of the latest upload by the cloud's clock; None without envelopes.
    pub last_stored_at: Option<i64>,
    /// Number of times that the device asked for its position because it had lost its spool.
    #[serde(default)]
    pub recoveries: u64,
    /// Time of the last such request, by the cloud's clock.
    #[serde(default)]
    pub recovered_at: Option<i64>,
    /// Number of windows refused because another window has the same mask.
    #[serde(default)]
    pub repeated_masks: u64,
    /// Time of the last such refusal, by the cloud's clock.
    #[serde(default)]
    pub repeated_at: Option<i64>,
}

/// Iterates over all devices in the order of their names. Fetches a page when the previous one is used up; ends after
/// an error.
///
/// Example: [`Device`]
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
