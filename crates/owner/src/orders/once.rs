//! The orders that the cloud shows, fetched when they are first needed.

use std::cell::OnceCell;

use sotto_cloud_client::Cloud;

use super::book::{self, Learnt};
use super::unknown;
use crate::declared::Plant;
use crate::error::OwnerError;

/// The orders that the cloud shows, fetched once at most: for one question.
pub(crate) struct Orders<'o> {
    pub(crate) plant: &'o Plant,
    pub(crate) cloud: &'o Cloud,
    learnt: OnceCell<Learnt>,
}

impl<'o> Orders<'o> {
    /// Fetches nothing yet.
    pub(crate) fn new(plant: &'o Plant, cloud: &'o Cloud) -> Self {
        Self { plant, cloud, learnt: OnceCell::new() }
    }

    /// Returns the orders. Fetches them the first time.
    pub(crate) fn learn(&self) -> Result<&Learnt, OwnerError> {
        if let Some(learnt) = self.learnt.get() {
            return Ok(learnt);
        }
        let learnt = book::learn(self.plant, self.cloud)?;
        Ok(self.learnt.get_or_init(|| learnt))
    }

    /// Returns notes on orders under unknown keys, if the orders were fetched.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.learnt.get().map(|learnt| unknown::notes(&learnt.unknown)).unwrap_or_default()
    }
}
