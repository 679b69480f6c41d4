//! The orders that the cloud shows, fetched when they are first needed.

use std::cell::OnceCell;

use sotto_cloud_client::Cloud;
use sotto_wire::{Order, RollUp};

use super::book::{self, Learnt};
use super::unknown;
use crate::declared::Plant;
use crate::error::OwnerError;

/// The orders that the cloud shows, fetched once at most: for one question.
pub(crate) struct Orders<'o> {
    pub(crate) plant: &'o Plant,
    pub(crate) cloud: &'o Cloud,
    learnt: OnceCell<Learnt>,
    /// Those to add windows up that this folder knows, while none were fetched.
    roll_ups: OnceCell<Vec<Order>>,
}

impl<'o> Orders<'o> {
    /// Fetches nothing yet.
    pub(crate) fn new(plant: &'o Plant, cloud: &'o Cloud) -> Self {
        Self { plant, cloud, learnt: OnceCell::new(), roll_ups: OnceCell::new() }
    }

    /// Returns the orders. Fetches them the first time.
    pub(crate) fn learn(&self) -> Result<&Learnt, OwnerError> {
        if let Some(learnt) = self.learnt.get() {
            return Ok(learnt);
        }
        let learnt = book::learn(self.plant, self.cloud)?;
        Ok(self.learnt.get_or_init(|| learnt))
    }

    /// Returns the orders to add windows of a stream up that are known here, in the order in which they were given. Fetches none.
    pub(crate) fn roll_ups(&self, device: &str, stream: &str) -> Result<Vec<RollUp>, OwnerError> {
        let known = match (self.learnt.get(), self.roll_ups.get()) {
            (Some(learnt), _) => &learnt.ours,
            (None, Some(known)) => known,
            (None, None) => {
                let known = book::roll_ups(self.plant)?;
                self.roll_ups.get_or_init(|| known)
            }
        };
        let about = known.iter().map(Order::parts).filter(|order| order.is_about(device, stream));
        let mut roll_ups: Vec<(i64, &RollUp)> =
            about.filter_map(|order| Some((order.given_at, order.roll_up()?))).collect();
        roll_ups.sort_by_key(|(given_at, _)| *given_at);
        Ok(roll_ups.into_iter().map(|(_, roll_up)| roll_up.clone()).collect())
    }

    /// Returns notes on orders under unknown keys, if the orders were fetched.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.learnt.get().map(|learnt| unknown::notes(&learnt.unknown)).unwrap_or_default()
    }
}
