//! Logs of streams.

use serde::Deserialize;

use crate::error::CloudError;
use crate::http::Site;
use crate::text::{bytes, digest, encoded, id, optional_bytes};

/// Windows of a page. A signed header has a layout of at most 16 KiB: 500 of them stay below the largest answer.
const PAGE: u32 = 500;

/// Part of the log of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct LogPage {
    /// The frame of the log's head, signed by the cloud.
    #[serde(deserialize_with = "bytes")]
    pub head: Vec<u8>,
    /// Windows, from the position that was asked for.
    pub windows: Vec<LoggedWindow>,
}

/// A window in the log of its stream, by the cloud's word.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct LoggedWindow {
    /// The window's number.
    pub sequence: u64,
    /// The digest of its signed header.
    #[serde(deserialize_with = "digest")]
    pub leaf: [u8; 32],
    /// The envelope's name in the cloud; none once the owner has deleted it.
    #[serde(default, deserialize_with = "id")]
    pub id: Option<String>,
    /// The frame of its signed header; none for a window that was deleted or that the cloud cannot read.
    #[serde(default, deserialize_with = "optional_bytes")]
    pub signed: Option<Vec<u8>>,
    /// Bytes that it took on the way.
    pub bytes: u64,
}

pub(crate) fn fetch(site: &Site, device: &str, stream: &str, from: u64) -> Result<LogPage, CloudError> {
    let path =
        format!("/v1/log?device={}&stream={}&from={from}&limit={PAGE}", encoded(device), encoded(stream));
    site.fetch("the log of a stream", &path)?.json()
}
