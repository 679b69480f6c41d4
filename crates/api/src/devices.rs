//! Devices: their registration, and the cloud's list of them.
//!
//! ```
//! use sotto_api::devices::{PutDevice, RegisteredKey, Registration, Revoked, RevokeDevice};
//! use sotto_api::{Method, Route};
//!
//! let key = RegisteredKey { parameter_id: "01".repeat(32), key_id: "02".repeat(16) };
//! let registration =
//!     Registration { verifying_key: "03".repeat(32), keys: vec![key], streams: Vec::new(), record: None };
//! let body = PutDevice::body(&registration).expect("a body");
//! assert!(body.bytes.starts_with(br#"{"verifying_key":"0303"#));
//! assert_eq!((RevokeDevice::METHOD, RevokeDevice::path(["cellar"])), (Method::Delete, "/v1/devices/cellar".into()));
//! let revoked: Revoked = serde_json::from_str(r#"{"generation": 8}"#).expect("JSON");
//! assert_eq!(revoked.generation, 8);
//! ```

use serde::{Deserialize, Serialize};

use crate::route::{Query, present, route};
use crate::text::name;

/// A device's registration.
///
/// Example: [`devices`](self)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Registration {
    /// The Ed25519 key that verifies the device's signatures: 64 lower-case hexadecimal digits.
    #[cfg_attr(feature = "schema", schema(pattern = "^[0-9a-f]{64}$"))]
    pub verifying_key: String,
    /// Parameters and keys that the device's ciphertexts may have; for a stream of sums the id from which its keys are
    /// derived, and its key.
    #[cfg_attr(feature = "schema", schema(max_items = 256))]
    pub keys: Vec<RegisteredKey>,
    /// Headers of the device's streams of compact windows: frames of kind 21 or 32 (streams of sums) in hexadecimal.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(max_items = 4096))]
    pub streams: Vec<String>,
    /// The owner's record of the device, sealed under the device's secret, in hexadecimal; at most 64 KiB before that.
    /// The cloud keeps it for the owner. Absent: the stored one stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
}

/// The owner's record of a device, which the cloud cannot open.
///
/// Example: [`devices`](self)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SealedRecord {
    /// The sealed record in hexadecimal.
    pub record: String,
    /// Time at which it was stored, in milliseconds since 1970.
    pub stored_at: i64,
    /// Number of writes of the device's registration: the generation that the next write names.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(value_type = i64, required = true))]
    pub generation: u64,
    /// True if the device is revoked now.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required = true))]
    pub revoked: bool,
}

/// A pair of parameters and secret key.
///
/// Example: [`devices`](self)
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RegisteredKey {
    /// 64 lower-case hexadecimal digits.
    #[cfg_attr(feature = "schema", schema(pattern = "^[0-9a-f]{64}$"))]
    pub parameter_id: String,
    /// 32 lower-case hexadecimal digits.
    #[cfg_attr(feature = "schema", schema(pattern = "^[0-9a-f]{32}$"))]
    pub key_id: String,
}

/// A registration that was stored.
///
/// Example: [`devices`](self)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Registered {
    /// The device's name.
    #[serde(deserialize_with = "name")]
    pub device: String,
    /// Number of pairs of parameters and key.
    pub keys: usize,
    /// Number of writes of the registration, this one included: the generation that the next write names.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(value_type = i64, required = true))]
    pub generation: u64,
}

/// A device that was revoked.
///
/// Example: [`devices`](self)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Revoked {
    /// Number of writes of the registration, this one included.
    #[cfg_attr(feature = "schema", schema(value_type = i64))]
    pub generation: u64,
}

/// Selects a page of devices.
///
/// Example: [`Query`]
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct DeviceQuery {
    /// The last device of the previous page.
    pub after: Option<String>,
    /// Maximum number of devices: 100 by default, 1000 at most.
    pub limit: Option<u32>,
}

impl Query for DeviceQuery {
    fn pairs(&self) -> Vec<(&'static str, String)> {
        present([("limit", self.limit.map(|limit| limit.to_string())), ("after", self.after.clone())])
    }
}

/// A device with sums over its envelopes. Times are milliseconds since 1970.
///
/// Example: [`devices`](self)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ListedDevice))]
pub struct Device {
    /// The device's name.
    #[serde(deserialize_with = "name")]
    pub name: String,
    /// Number of writes of its registration, from 1: registrations and revocations.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(value_type = i64, required = true))]
    pub generation: u64,
    /// Time of its last registration.
    pub registered_at: i64,
    /// True if it is revoked now.
    pub revoked: bool,
    /// Time of its last revocation.
    #[cfg_attr(feature = "schema", schema(required = true))]
    pub revoked_at: Option<i64>,
    /// The Ed25519 key that verifies its signatures: 64 lower-case hexadecimal digits.
    #[serde(deserialize_with = "name")]
    #[cfg_attr(feature = "schema", schema(pattern = "^[0-9a-f]{64}$"))]
    pub verifying_key: String,
    /// Parameters and keys that its ciphertexts may have.
    pub keys: Vec<ListedKey>,
    #[serde(flatten)]
    #[allow(missing_docs, reason = "its fields are documented")]
    pub sent: Sent,
    /// Number of times that the device lost its spool and asked for its position.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(value_type = i64, required = true))]
    pub recoveries: u64,
    /// The last such time.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required = true))]
    pub recovered_at: Option<i64>,
    /// Number of windows refused because another one has the same mask.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(value_type = i64, required = true))]
    pub repeated_masks: u64,
    /// The last such time.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required = true))]
    pub repeated_at: Option<i64>,
    /// Number of windows refused because their stream has another window with their number, or with a reading at one of their ticks.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(value_type = i64, required = true))]
    pub taken_numbers: u64,
    /// The last such time.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required = true))]
    pub taken_at: Option<i64>,
    /// Streams of sums in which two different windows have the same pads. The tags of their sums prove nothing any more.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required = true))]
    pub repeated_pads: Vec<RepeatedPads>,
}

/// Two different windows of a stream of sums that the device encrypted under the same pads: the first such pair.
///
/// Example: [`devices`](self)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RepeatedPads {
    /// The stream's name.
    #[serde(deserialize_with = "name")]
    pub stream: String,
    /// The stream's tag: 16 lower-case hexadecimal digits. A renewed device has a stream of another tag.
    #[serde(deserialize_with = "name")]
    #[cfg_attr(feature = "schema", schema(pattern = "^[0-9a-f]{16}$"))]
    pub tag: String,
    /// The window that came first and the refused one, as the device signed them: frames of kind 34 in hexadecimal.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<String>, min_items = 2, max_items = 2))]
    pub signed: [String; 2],
    /// Time at which the second one was refused, in milliseconds since 1970.
    pub noted_at: i64,
}

/// A pair of parameters and secret key that a device may use.
///
/// Example: [`devices`](self)
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ListedKey {
    /// 64 lower-case hexadecimal digits.
    #[serde(deserialize_with = "name")]
    #[cfg_attr(feature = "schema", schema(pattern = "^[0-9a-f]{64}$"))]
    pub parameter_id: String,
    /// 32 lower-case hexadecimal digits.
    #[serde(deserialize_with = "name")]
    #[cfg_attr(feature = "schema", schema(pattern = "^[0-9a-f]{32}$"))]
    pub key_id: String,
}

/// Sums over the envelopes of a device; times are null if there are none.
///
/// Example: [`devices`](self)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Sent {
    /// Number of stored envelopes.
    #[cfg_attr(feature = "schema", schema(value_type = i64))]
    pub envelopes: u64,
    /// Bytes of stored envelopes.
    #[cfg_attr(feature = "schema", schema(value_type = i64))]
    pub bytes: u64,
    /// Time of the first reading.
    #[cfg_attr(feature = "schema", schema(required = true))]
    pub first_started_at: Option<i64>,
    /// End of the last tick of the newest window, less 1 ms.
    #[cfg_attr(feature = "schema", schema(required = true))]
    pub last_ended_at: Option<i64>,
    /// Time at which the last envelope was stored.
    #[cfg_attr(feature = "schema", schema(required = true))]
    pub last_stored_at: Option<i64>,
}

route! {
    /// Lists all devices ever registered, in order of their names.
    ///
    /// A page of them: see *Pages*.
    ListDevices: Token get "/v1/devices", "the list of devices", query DeviceQuery, gives pages Device;
    params(DeviceQuery),
    responses(
        (status = 200, description = "A page of devices.", body = [Device],
         headers(("Link" = Option<String>, description = "The next page; absent on the last one.")))
    )
}

route! {
    /// Registers a device, or replaces its registration.
    ///
    /// Afterwards the cloud accepts only envelopes with this signature and these keys from the device. A revoked device is
    /// admitted again. One of the conditions is necessary: two copies of an owner's folder cannot undo each other's writes.
    PutDevice: Token put "/v1/devices/{name}", "the device", takes json Registration, gives json Registered;
    params(
        ("name" = String, Path, description = "The device's name: 1 to 64 of `A-Z a-z 0-9 _ . -`.", example = "boiler"),
        ("If-Match" = Option<String>, Header, description = "The registration that is replaced: its `generation` in quotes; `*` for any."),
        ("If-None-Match" = Option<String>, Header, description = "`*` for a device that is not registered yet.", example = "*")
    ),
    request_body(content = Registration, description = "At most 256 KiB.", example = json!({
        "keys": [{ "key_id": "00112233445566778899aabbccddeeff",
                   "parameter_id": "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff" }],
        "streams": [],
        "verifying_key": "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff" })),
    responses(
        (status = 200, description = "Registered.", body = Registered),
        (status = 400, description = "`invalid-json`; of a stream's header: `not-a-frame`, `digest-mismatch` and the other reasons of a frame that is no frame"),
        (status = 412, description = "`written-since`: the registration has another generation, is there already, or is not; the detail has the time and the address of its last write"),
        (status = 428, description = "`condition-missing`: neither of both conditions"),
        (status = 422, description = "`invalid-name`, `invalid-value`, `too-many-keys` (more than 256), `too-many-streams` (more than 4096), `too-large` (a stream's header), `unknown-parameters`, `wrong-stream` (a header names another device or a key that is not registered), `too-large` (the sealed record), `places-not-read` (the header of a stream)"),
        (status = 507, description = "`storage-full`")
    )
}

route! {
    /// Returns the owner's record of a device, as the last registration that had one gave it.
    ///
    /// It is sealed under the device's secret, which the cloud does not have.
    FetchRecord: Token get "/v1/devices/{name}/record", "the device's record", gives json SealedRecord;
    params(("name" = String, Path, description = "The device's name: 1 to 64 of `A-Z a-z 0-9 _ . -`.", example = "boiler")),
    responses(
        (status = 200, description = "The sealed record.", body = SealedRecord),
        (status = 404, description = "`unknown-device`, or `no-record`: no registration had one")
    )
}

route! {
    /// Revokes a device.
    ///
    /// Later uploads are refused; stored envelopes stay.
    RevokeDevice: Token delete "/v1/devices/{name}", "the device", gives json Revoked;
    params(
        ("name" = String, Path, description = "The device's name: 1 to 64 of `A-Z a-z 0-9 _ . -`.", example = "boiler"),
        ("If-Match" = Option<String>, Header, description = "The registration that is revoked: its `generation` in quotes; `*` for any.", example = "*")
    ),
    responses(
        (status = 200, description = "Revoked.", body = Revoked),
        (status = 412, description = "`written-since`: the registration has another generation; the detail has the time and the address of its last write"),
        (status = 428, description = "`condition-missing`: no condition"),
        (status = 404, description = "`unknown-device`"),
        (status = 507, description = "`storage-full`")
    )
}
