//! Single windows of a device.

use crate::declared::Plant;
use crate::error::OwnerError;
use crate::seen::{self, ListedWindow, WindowSeen};

impl Plant {
    /// Lists the newest windows of a device in the cloud, newest first: at most `most`, and at most 1,000. `before` is the stream and
    /// the number of the last window of an earlier list: then those behind it are listed.
    ///
    /// # Errors
    /// [`OwnerError::NotDeclared`] if the device is not enrolled; [`OwnerError::Unanswerable`] if there is no window `before`;
    /// another [`OwnerError`] if the cloud is unreachable or its log is another one than before.
    ///
    /// ```no_run
    /// use sotto_owner::{ListedWindow, Plant};
    ///
    /// let plant = Plant::open("dairy".as_ref())?;
    /// let newest: Vec<ListedWindow> = plant.windows_of("boiler", None, 50)?;
    /// if let Some(last) = newest.last() {
    ///     let older = plant.windows_of("boiler", Some((&last.stream, last.number)), 50)?;
    ///     println!("{} and {} windows", newest.len(), older.len());
    /// }
    /// # Ok::<(), sotto_owner::OwnerError>(())
    /// ```
    pub fn windows_of(
        &self,
        device: &str,
        before: Option<(&str, u64)>,
        most: usize,
    ) -> Result<Vec<ListedWindow>, OwnerError> {
        seen::listed(self, device, before, most)
    }

    /// Fetches one window of a device as the cloud has it, and opens its readings. Its tags and its place in the log are checked.
    ///
    /// # Errors
    /// [`OwnerError::Unanswerable`] if there is no such window; [`OwnerError::Lie`] if the cloud gives another one;
    /// [`OwnerError::WrongAnswer`] if it does not open; another [`OwnerError`] if the cloud is unreachable, or a passphrase is missing.
    ///
    /// ```no_run
    /// use sotto_owner::{CloudSees, OwnerSees, Plant, SeenChannel, SeenReading, WindowSeen};
    ///
    /// let WindowSeen { cloud, owner } = Plant::open("dairy".as_ref())?.window_seen("boiler", "exact-1d", 0)?;
    /// let CloudSees { head, body, .. } = &cloud;
    /// println!("{} facts, and {} hexadecimal digits that nobody else can read", head.len(), body.len());
    /// let OwnerSees { channels, why } = &owner;
    /// for SeenChannel { channel, values, .. } in channels {
    ///     let first: Option<&SeenReading> = values.first();
    ///     println!("{channel}: {first:?}");
    /// }
    /// assert!(why.is_none() || channels.is_empty());
    /// # Ok::<(), sotto_owner::OwnerError>(())
    /// ```
    pub fn window_seen(&self, device: &str, stream: &str, number: u64) -> Result<WindowSeen, OwnerError> {
        seen::seen(self, device, stream, number)
    }
}
