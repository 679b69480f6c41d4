//! Stored envelopes: listed, served and deleted. The device signed all fields of a [`StoredEnvelope`] except `id`,
//! `bytes` and `stored_at`.
//!
//! ```
//! use sotto_api::Query as _;
//! use sotto_api::envelopes::{EnvelopePosition, EnvelopeQuery};
//!
//! // The windows of the cellar's boiler after the first day of 2014.
//! let query = EnvelopeQuery::of_device("cellar").stream("boiler").ended_after(1_388_620_800_000);
//! assert_eq!(query.text(), "?ended_after=1388620800000&device=cellar&stream=boiler");
//! // The page after their seventh window.
//! let after = EnvelopePosition { device: "cellar".into(), stream: "boiler".into(), sequence: 7 };
//! assert_eq!(after.to_string(), "cellar/boiler/7");
//! ```

use core::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::route::{Query, present, route};
use crate::text::{is_name, name};

/// Selects envelopes; lists are in order of device, stream and sequence number. The default selects all of them.
///
/// Example: [`envelopes`](self)
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct EnvelopeQuery {
    /// Only envelopes of this device.
    pub device: Option<String>,
    /// Only envelopes of streams with this name.
    pub stream: Option<String>,
    /// Only envelopes with a larger sequence number.
    pub after_sequence: Option<u64>,
    /// Only envelopes whose last reading is later: milliseconds since 1970.
    pub ended_after: Option<i64>,
    /// Only envelopes whose first reading is earlier: milliseconds since 1970.
    pub started_before: Option<i64>,
    /// The last envelope of the previous page: `DEVICE/STREAM/SEQUENCE`.
    #[cfg_attr(feature = "schema", param(value_type = Option<String>))]
    pub after: Option<EnvelopePosition>,
    /// Maximum number of envelopes: 100 by default, 1000 at most.
    pub limit: Option<u32>,
}

impl EnvelopeQuery {
    /// Matches the envelopes of one device.
    #[must_use]
    pub fn of_device(device: &str) -> Self {
        Self { device: Some(device.to_owned()), ..Self::default() }
    }

    /// Matches only this stream.
    #[must_use]
    pub fn stream(self, stream: &str) -> Self {
        Self { stream: Some(stream.to_owned()), ..self }
    }

    /// Matches only sequence numbers above this one.
    #[must_use]
    pub fn after_sequence(self, sequence: u64) -> Self {
        Self { after_sequence: Some(sequence), ..self }
    }

    /// Matches only envelopes with `ended_at` > `time`, in milliseconds since 1970.
    #[must_use]
    pub fn ended_after(self, time: i64) -> Self {
        Self { ended_after: Some(time), ..self }
    }

    /// Matches only envelopes with `started_at` < `time`, in milliseconds since 1970.
    #[must_use]
    pub fn started_before(self, time: i64) -> Self {
        Self { started_before: Some(time), ..self }
    }
}

impl Query for EnvelopeQuery {
    fn pairs(&self) -> Vec<(&'static str, String)> {
        present([
            ("limit", self.limit.map(|limit| limit.to_string())),
            ("after_sequence", self.after_sequence.map(|number| number.to_string())),
            ("ended_after", self.ended_after.map(|time| time.to_string())),
            ("started_before", self.started_before.map(|time| time.to_string())),
            ("device", self.device.clone()),
            ("stream", self.stream.clone()),
            ("after", self.after.as_ref().map(EnvelopePosition::to_string)),
        ])
    }
}

/// The position of an envelope in the list: `device/stream/sequence`. Names contain no slash.
///
/// Example: [`envelopes`](self)
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct EnvelopePosition {
    /// The device's name.
    pub device: String,
    /// The stream's name.
    pub stream: String,
    /// The sequence number.
    pub sequence: i64,
}

impl TryFrom<String> for EnvelopePosition {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let parsed = || {
            let (device, rest) = text.split_once('/')?;
            let (stream, sequence) = rest.split_once('/')?;
            let [device, stream] = [device, stream].map(|name| is_name(name).then(|| name.to_owned()));
            Some(Self { device: device?, stream: stream?, sequence: sequence.parse().ok()? })
        };
        parsed().ok_or("after is the position of an envelope: device/stream/sequence")
    }
}

impl fmt::Display for EnvelopePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.device, self.stream, self.sequence)
    }
}

/// An envelope's description for the owner, without the body.
///
/// Example: [`Layout`]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StoredEnvelope {
    /// 32 lower-case hexadecimal digits.
    #[serde(deserialize_with = "name")]
    #[cfg_attr(feature = "schema", schema(pattern = "^[0-9a-f]{32}$"))]
    pub id: String,
    /// The device's name.
    #[serde(deserialize_with = "name")]
    pub device: String,
    /// The stream's name.
    #[serde(deserialize_with = "name")]
    pub stream: String,
    /// 0 to 2^63 - 1.
    #[cfg_attr(feature = "schema", schema(value_type = i64))]
    pub sequence: u64,
    /// 64 lower-case hexadecimal digits.
    #[serde(deserialize_with = "name")]
    #[cfg_attr(feature = "schema", schema(pattern = "^[0-9a-f]{64}$"))]
    pub parameter_id: String,
    /// The id of the secret key: 32 lower-case hexadecimal digits.
    #[serde(deserialize_with = "name")]
    #[cfg_attr(feature = "schema", schema(pattern = "^[0-9a-f]{32}$"))]
    pub key_id: String,
    /// Time of the first reading: milliseconds since 1970.
    pub started_at: i64,
    /// End of the last tick, less 1 ms: milliseconds since 1970. Filters by time compare this one.
    pub ended_at: i64,
    /// Number of readings.
    pub readings: u32,
    /// Bytes of the stored envelope.
    #[cfg_attr(feature = "schema", schema(value_type = i64))]
    pub bytes: u64,
    /// Time of storing: milliseconds since 1970.
    pub stored_at: i64,
    /// The layout as the device signed it: an object of JSON, or its text if it is no JSON.
    #[cfg_attr(feature = "schema", schema(value_type = Value))]
    pub layout: Layout,
}

/// The layout of readings in slots, as bytes of the device. It is parsed only when it is written as JSON, one at a time:
/// a parsed value takes up to a hundred times its bytes.
///
/// ```
/// use sotto_api::envelopes::Layout;
///
/// let layout = Layout::from(b"{\"b\": [1.5]}".to_vec());
/// let text = serde_json::to_string(&layout)?;
/// assert_eq!(text, r#"{"b":[1.5]}"#);
/// // Bytes that are no JSON become its text.
/// assert_eq!(serde_json::to_string(&Layout::from(b"slots".to_vec()))?, r#""slots""#);
/// // A reader keeps the text of the answer.
/// assert_eq!(serde_json::from_str::<Layout>(&text)?.text(), text);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout(Vec<u8>);

impl From<Vec<u8>> for Layout {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl Layout {
    /// Returns the text; of an answer, a text of JSON.
    #[must_use]
    pub fn text(&self) -> &str {
        core::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl Serialize for Layout {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = || Value::String(String::from_utf8_lossy(&self.0).into_owned());
        serde_json::from_slice(&self.0).unwrap_or_else(|_| text()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Layout {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self(String::from(Box::<str>::from(raw)).into_bytes()))
    }
}

route! {
    /// Lists stored envelopes, in order of device, stream and sequence number.
    ///
    /// A page of those that match every given filter: see *Pages*.
    ListEnvelopes: Token get "/v1/envelopes", "the list of envelopes",
        query EnvelopeQuery, gives pages StoredEnvelope;
    params(EnvelopeQuery),
    responses(
        (status = 200, description = "A page of envelopes.", body = [StoredEnvelope],
         headers(("Link" = Option<String>, description = "The next page; absent on the last one."))),
        (status = 503, description = "`windows-away`: the object store that has windows does not answer")
    )
}

route! {
    /// Returns the public part of a stored envelope.
    FetchEnvelope: Token get "/v1/envelopes/{id}", "the envelope", gives json StoredEnvelope;
    params(("id" = String, Path, description = "The envelope's id: 32 lower-case hexadecimal digits.", example = "0123456789abcdef0123456789abcdef")),
    responses(
        (status = 200, description = "The envelope.", body = StoredEnvelope),
        (status = 404, description = "`unknown-envelope`"),
        (status = 503, description = "`windows-away`: the object store that has windows does not answer")
    )
}

route! {
    /// Returns the ciphertext of a stored envelope.
    FetchBody: Token get "/v1/envelopes/{id}/body", "the ciphertext", gives frame;
    params(("id" = String, Path, description = "The envelope's id: 32 lower-case hexadecimal digits.", example = "0123456789abcdef0123456789abcdef")),
    responses(
        (status = 200, description = "A frame of kind 2 (ciphertext), 24 or 25 (compact ciphertext of slots).",
         body = crate::schema::Frame, content_type = "application/octet-stream"),
        (status = 404, description = "`unknown-envelope`"),
        (status = 503, description = "`windows-away`: the object store that has windows does not answer"),
        (status = 410, description = "`body-dropped`: a window that was still open then; the whole window has its readings"),
        (status = 422, description = "`places-not-read`"),
        (status = 503, description = "`windows-away`: the object store that has windows does not answer")
    )
}

route! {
    /// Returns everything that the device signed.
    FetchMessage: Token get "/v1/envelopes/{id}/envelope", "the envelope", gives frame;
    params(("id" = String, Path, description = "The envelope's id: 32 lower-case hexadecimal digits.", example = "0123456789abcdef0123456789abcdef")),
    responses(
        (status = 200, description = "A frame of kind 6 (envelope) or 23 (window, alone or of a group, with its stream's header).",
         body = crate::schema::Frame, content_type = "application/octet-stream"),
        (status = 404, description = "`unknown-envelope`"),
        (status = 503, description = "`windows-away`: the object store that has windows does not answer"),
        (status = 410, description = "`body-dropped`: a window that was still open then; the whole window has its readings"),
        (status = 422, description = "`places-not-read`"),
        (status = 503, description = "`windows-away`: the object store that has windows does not answer")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_encoded() {
        let page = |query: EnvelopeQuery| EnvelopeQuery { limit: Some(500), ..query }.text();
        assert_eq!(page(EnvelopeQuery::default()), "?limit=500");
        let all = EnvelopeQuery::of_device("a&b").stream("load").after_sequence(3);
        assert_eq!(
            page(all.ended_after(-1).started_before(9)),
            "?limit=500&after_sequence=3&ended_after=-1&started_before=9&device=a%26b&stream=load"
        );
    }

    #[test]
    fn a_position_has_one_text() {
        let parsed = |text: &str| EnvelopePosition::try_from(text.to_owned());
        let at = EnvelopePosition { device: "kitchen".into(), stream: "load".into(), sequence: 17 };
        assert_eq!(parsed(&at.to_string()), Ok(at));
        for wrong in
            ["", "kitchen", "kitchen/load", "kitchen/load/x", "kitchen/load/1/2", "k tchen/load/1", "//1"]
        {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
