//! The bytes of readings that come down for a question.

use super::Plant;

impl Plant {
    /// Lets at most this many bytes of readings come down for a question that is computed from readings, in the place of
    /// [`FETCHED`](crate::FETCHED). A question that needs more is refused before any comes down.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let here = sotto_owner::NewPlant { cloud: None, listen: "127.0.0.1:7410".parse()?, time_zone: None };
    /// # sotto_owner::Plant::init(folder.path(), &here)?;
    /// let plant = sotto_owner::Plant::open(folder.path())?.fetching_at_most(64_000_000);
    /// assert_eq!(plant.most_fetched(), 64_000_000);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn fetching_at_most(mut self, bytes: u64) -> Self {
        self.most_fetched = bytes;
        self
    }

    /// Returns the bytes of readings that come down for a question at most.
    #[must_use]
    pub fn most_fetched(&self) -> u64 {
        self.most_fetched
    }
}
