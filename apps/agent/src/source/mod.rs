//! Sources of readings.

mod ahead;
mod around;
mod awaited;
mod clock;
mod derived;
mod error;
pub mod files;
mod first;
mod formats;
mod generator;
mod pace;
mod row;
mod select;
mod sensors;

use sotto_pack::{Channel, LeftOut};

use crate::windows::RowPlace;

pub use ahead::on_time;
pub(crate) use around::Around;
pub use awaited::awaited;
pub use clock::{first_times, with_clock_set};
pub use derived::with_derived;
pub use error::{NoNumber, NoSensors, SourceError};
#[cfg(feature = "gateway")]
pub(crate) use files::FieldColumn;
pub use files::{
    Decimal, Encoding, Fault, FileFacts, FileOptions, FileSource, Lines, NoEncoding, UnknownState,
};
pub use first::first;
pub use formats::{FormatName, NoFormat, Value};
#[cfg(feature = "gateway")]
pub(crate) use formats::{Line, Malformed};
pub use generator::Generator;
pub(crate) use pace::now;
pub use row::Row;
pub use select::select;
pub use sensors::Sensors;

/// A source of rows.
pub trait Source: Send {
    /// Returns the channels, each with its declared range.
    fn channels(&self) -> &[Channel];

    /// Returns the next row; blocks until there is one. Rows of files may come in any order of time.
    ///
    /// # Errors
    /// [`SourceError::Ended`] after the last row, [`SourceError::Stopped`] if a stop was requested meanwhile,
    /// [`SourceError::Waiting`] from a source that does not block, while it has none.
    fn next_row(&mut self) -> Result<Row, SourceError>;

    /// Returns the next row, or `None` if none comes before a time of this machine's clock, in milliseconds since 1970. By
    /// default it blocks as [`Source::next_row`]: see [`awaited`].
    ///
    /// # Errors
    /// Those of [`Source::next_row`].
    fn next_row_before(&mut self, _at: i64) -> Result<Option<Row>, SourceError> {
        self.next_row().map(Some)
    }

    /// Returns and resets the counts of readings left out with their rows. A row without a usable time counts one
    /// reading per channel, as [`sotto_pack::Reason::NoTime`] or [`sotto_pack::Reason::NoSuchTime`].
    fn take_left_out(&mut self) -> LeftOut {
        LeftOut::default()
    }

    /// Returns the mark of the row that was returned last: the place in a journal, which ascends. 0 if there is none.
    fn mark(&self) -> u64 {
        0
    }

    /// Returns true if rows arrive over time; false for a source that ends, such as a file.
    fn paced(&self) -> bool;

    /// Returns the line of the row that was returned last, from 1; `None` if the source is no file.
    fn line(&self) -> Option<u64> {
        None
    }

    /// Returns the number of the file of that row, from 0.
    fn file(&self) -> usize {
        0
    }

    /// Returns the place of that row.
    fn place(&self) -> RowPlace {
        let line = self.line().map_or(0, |line| u32::try_from(line).unwrap_or(u32::MAX));
        RowPlace { file: u16::try_from(self.file()).unwrap_or(u16::MAX), line }
    }

    /// Returns facts about each file read so far.
    fn facts(&self) -> Vec<FileFacts> {
        Vec::new()
    }

    /// Begins again at the first row, with the same rows. Only for sources that are not paced.
    ///
    /// # Errors
    /// [`SourceError`] if that cannot be done.
    fn restart(&mut self) -> Result<(), SourceError>;
}
