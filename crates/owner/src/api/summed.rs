//! Sums that another engine added up.

use crate::declared::Plant;
use crate::error::OwnerError;
use crate::summed::{self, OpenedSums, SummedRow};

impl Plant {
    /// Opens sums of exported windows (`sotto-cloud export`) that another engine added up, and sums of `sotto-lake`, each under the
    /// tags of exactly the windows that it names. `progress` is told the rows that are done, and all of them.
    ///
    /// # Errors
    /// [`OwnerError::Unanswerable`] if the windows of a row are not known, or too many for its places;
    /// [`OwnerError::OtherSums`] if a row is not the sum of its windows; another [`OwnerError`] if the cloud is unreachable, or a
    /// passphrase is missing.
    ///
    /// ```no_run
    /// use sotto_owner::{OpenedChannel, OpenedSums, Plant, SumCell, SummedRow, Within};
    ///
    /// let cells = [("device", SumCell::Text("kitchen".into())), ("sum(part0_tag_low)", SumCell::Whole(7))];
    /// let row = SummedRow::read(cells)?;
    /// for OpenedSums { device, channels, .. } in Plant::open("dairy".as_ref())?.open_sums(&[row], |_, _| {})? {
    ///     for OpenedChannel { channel, sum: Within { value, bound }, .. } in channels {
    ///         println!("{device} {channel}: {value} ± {bound}");
    ///     }
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_sums(
        &self,
        rows: &[SummedRow],
        progress: impl FnMut(u64, u64),
    ) -> Result<Vec<OpenedSums>, OwnerError> {
        summed::opened(self, rows, progress)
    }
}
