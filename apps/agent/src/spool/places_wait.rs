//! The windows of places in a spool, for people.

use std::fmt;
use std::path::PathBuf;

use crate::nouns::counted;

/// The windows of places in a spool. Their readings have to be sent again from the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacesWait {
    /// The spool.
    pub folder: PathBuf,
    /// The device.
    pub device: String,
    /// The streams that they are of.
    pub streams: Vec<String>,
    /// Number of windows.
    pub windows: u64,
    /// Number of readings in them.
    pub readings: u64,
    /// Time of the first reading and of the end of the last one, as RFC 3339.
    pub times: Option<(String, String)>,
}

impl fmt::Display for PlacesWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { folder, device, streams, windows, readings, times } = self;
        let (windows, readings) = (counted(*windows, "window"), counted(*readings, "reading"));
        write!(f, "the spool {} has {windows} of places with {readings}", folder.display())?;
        if let Some((first, last)) = times {
            write!(f, " from {first} to {last}")?;
        }
        let files: Vec<String> = streams.iter().map(|stream| format!("*.{stream}.*.envelope")).collect();
        write!(
            f,
            ": that form is not sent any more. Nothing was sent or deleted. Send these readings again: make a new bundle \
             with `sotto device renew {device}`, move the files {} out of the spool, and run the agent with the new bundle \
             on the source",
            files.join(", ")
        )
    }
}
