//! Stored envelopes and their list.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::CloudError;
use crate::http::Site;
use crate::pages::Pages;
use crate::text::{encoded, name};

const WHAT: &str = "the list of envelopes";
const PATH: &str = "/v1/envelopes";
/// Envelopes per page. A layout has at most 16 KiB, six times as much when escaped, so 500 envelopes fit the largest
/// answer.
const PAGE: u32 = 500;

/// A filter on envelopes. The default matches all of them.
///
/// ```
/// use sotto_cloud_client::EnvelopeQuery;
///
/// // The windows of the cellar's boiler after the first day of 2014.
/// let query = EnvelopeQuery::of_device("cellar").stream("boiler").ended_after(1_388_620_800_000);
/// assert_eq!(query.device.as_deref(), Some("cellar"));
/// assert_eq!(query.started_before, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EnvelopeQuery {
    /// Only this device.
    pub device: Option<String>,
    /// Only streams of this name.
    pub stream: Option<String>,
    /// Only sequence numbers above this one.
    pub after_sequence: Option<u64>,
    /// Only envelopes whose last reading is later: `ended_at` > this, in milliseconds since 1970.
    pub ended_after: Option<i64>,
    /// Only envelopes whose first reading is earlier: `started_at` < this, in milliseconds since 1970.
    pub started_before: Option<i64>,
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

    fn first_page(&self) -> String {
        let values = [
            ("device", self.device.as_deref().map(encoded)),
            ("stream", self.stream.as_deref().map(encoded)),
            ("after_sequence", self.after_sequence.map(|number| number.to_string())),
            ("ended_after", self.ended_after.map(|time| time.to_string())),
            ("started_before", self.started_before.map(|time| time.to_string())),
        ];
        let mut query = format!("?limit={PAGE}");
        for (name, value) in values {
            if let Some(value) = value {
                query.extend(["&", name, "=", &value]);
            }
        }
        query
    }
}

/// A stored envelope without its ciphertext. The device signed all fields except `id`, `bytes`, `stored_at` and
/// `shared_mask`.
///
/// ```
/// # mod stand_in { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/stand_in/mod.rs")); }
/// use sotto_cloud_client::{EnvelopeQuery, Envelopes, StoredEnvelope};
/// # let (cloud, _) = stand_in::serve(vec![stand_in::ok(r#"[{
/// #     "id": "0a", "device": "cellar", "stream": "boiler", "sequence": 7, "parameter_id": "01", "key_id": "02",
/// #     "started_at": 1795000000000, "ended_at": 1795003600000, "readings": 24, "bytes": 937,
/// #     "stored_at": 1795003601000, "layout": {}
/// # }]"#)]);
///
/// let windows: Envelopes<'_> = cloud.envelopes(&EnvelopeQuery::of_device("cellar"));
/// let windows: Vec<StoredEnvelope> = windows.collect::<Result<_, _>>()?;
/// assert_eq!((windows[0].sequence, windows[0].readings), (7, 24));
/// # Ok::<(), sotto_cloud_client::CloudError>(())
/// ```
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct StoredEnvelope {
    /// The envelope's id in the cloud: 32 hexadecimal digits.
    #[serde(deserialize_with = "name")]
    pub id: String,
    /// The device that sent it.
    #[serde(deserialize_with = "name")]
    pub device: String,
    /// The device's stream.
    #[serde(deserialize_with = "name")]
    pub stream: String,
    /// The window's sequence number in its stream, from 0.
    pub sequence: u64,
    /// The ciphertext's parameters: 64 hexadecimal digits.
    #[serde(deserialize_with = "name")]
    pub parameter_id: String,
    /// The key that decrypts it: 32 hexadecimal digits.
    #[serde(deserialize_with = "name")]
    pub key_id: String,
    /// Time of the first reading, in milliseconds since 1970.
    pub started_at: i64,
    /// Time of the last reading, in milliseconds since 1970.
    pub ended_at: i64,
    /// Number of readings in the window.
    pub readings: u32,
    /// Size of the whole envelope in bytes.
    pub bytes: u64,
    /// Time of storing by the cloud's clock, in milliseconds since 1970.
    pub stored_at: i64,
    /// The layout of the readings in the slots: the JSON text that the device sent, or a JSON string if its text was
    /// not JSON.
    pub layout: Box<RawValue>,
    /// True if the cloud says that the window is under the mask of its fleet. Such windows can be summed with those of
    /// other devices.
    #[serde(default)]
    pub shared_mask: bool,
}

/// Iterates over all envelopes that match a query, in the order of device, stream and sequence number. Fetches a page
/// when the previous one is used up; ends after an error.
///
/// Example: [`StoredEnvelope`]
#[must_use = "pages are fetched only when they are iterated over"]
pub struct Envelopes<'c>(Pages<'c, StoredEnvelope>);

impl<'c> Envelopes<'c> {
    pub(crate) fn new(site: &'c Site, query: &EnvelopeQuery) -> Self {
        Self(Pages::new(site, WHAT, PATH, query.first_page()))
    }
}

impl Iterator for Envelopes<'_> {
    type Item = Result<StoredEnvelope, CloudError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_encoded() {
        assert_eq!(EnvelopeQuery::default().first_page(), "?limit=500");
        let all = EnvelopeQuery::of_device("a&b").stream("load").after_sequence(3);
        assert_eq!(
            all.ended_after(-1).started_before(9).first_page(),
            "?limit=500&device=a%26b&stream=load&after_sequence=3&ended_after=-1&started_before=9"
        );
    }
}
