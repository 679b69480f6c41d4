//! Logs of streams.

use serde::Deserialize;

use crate::error::CloudError;
use crate::http::Site;
use crate::text::{bytes, digest, encoded, id, optional_bytes};

/// Windows per page. A signed header has a layout of at most 16 KiB, so 500 of them fit the largest answer.
const PAGE: u32 = 500;

/// A part of a stream's log.
///
/// ```
/// # mod stand_in { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/stand_in/mod.rs")); }
/// use sotto_cloud_client::{LogPage, LoggedWindow};
/// # let leaf = "01".repeat(32);
/// # let page = format!(
/// #     r#"{{"head": "a5a5", "windows": [
/// #         {{"sequence": 7, "leaf": "{leaf}", "id": null, "signed": null, "bytes": 937}}
/// #     ]}}"#
/// # );
/// # let (cloud, _) = stand_in::serve(vec![stand_in::ok(&page)]);
///
/// let page: LogPage = cloud.log("cellar", "boiler", 0)?;
/// let window: &LoggedWindow = &page.windows[0];
/// assert_eq!((window.sequence, window.leaf), (7, [1; 32]));
/// assert_eq!(window.id, None, "the owner deleted the envelope");
/// # Ok::<(), sotto_cloud_client::CloudError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct LogPage {
    /// The frame of the log's head, signed by the cloud.
    #[serde(deserialize_with = "bytes")]
    pub head: Vec<u8>,
    /// Windows, from the requested position on.
    pub windows: Vec<LoggedWindow>,
}

/// A window in its stream's log, as the cloud reports it.
///
/// Example: [`LogPage`]
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct LoggedWindow {
    /// The window's sequence number.
    pub sequence: u64,
    /// The digest of its signed header.
    #[serde(deserialize_with = "digest")]
    pub leaf: [u8; 32],
    /// The envelope's id in the cloud; None if the owner deleted the envelope.
    #[serde(default, deserialize_with = "id")]
    pub id: Option<String>,
    /// The frame of its signed header; None if the window was deleted or the cloud cannot read it.
    #[serde(default, deserialize_with = "optional_bytes")]
    pub signed: Option<Vec<u8>>,
    /// Size of the window as it was sent, in bytes.
    pub bytes: u64,
}

pub(crate) fn fetch(site: &Site, device: &str, stream: &str, from: u64) -> Result<LogPage, CloudError> {
    let path =
        format!("/v1/log?device={}&stream={}&from={from}&limit={PAGE}", encoded(device), encoded(stream));
    site.fetch("the log of a stream", &path)?.json()
}
