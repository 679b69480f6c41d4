//! Orders as a list for people and scripts.

use serde::Serialize;
use sotto_wire::{Order, OrderParts, Ordered};

use super::book;
use crate::declared::Plant;
use crate::error::OwnerError;

/// An order that the owner gave.
///
/// ```no_run
/// use sotto_owner::{GivenOrder, Plant};
///
/// let plant = Plant::open("dairy".as_ref())?;
/// let all: Vec<GivenOrder> = plant.orders()?;
/// for order in all.iter().filter(|order| order.order == "forget") {
///     println!("{}: {} windows of {}", order.given_at, order.windows.unwrap_or_default(), order.device);
/// }
/// # Ok::<(), sotto_owner::OwnerError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GivenOrder {
    /// The time of the order, as RFC 3339.
    pub given_at: String,
    /// `forget`, `roll-up`, `accept` or `revoke`.
    pub order: &'static str,
    /// The device's name.
    pub device: String,
    /// The stream, of an order about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    /// Of a deletion, the time before which windows ended, as RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Number of windows: of a deletion or a roll-up those that it names, of an accepted log all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windows: Option<u64>,
}

/// Returns the orders that the cloud or this folder keeps, the latest last.
pub(crate) fn given(plant: &Plant) -> Result<Vec<GivenOrder>, OwnerError> {
    let clock = plant.settings().clock()?;
    let mut orders = book::learn(plant, &plant.cloud()?)?.ours;
    orders.sort_by_key(|order| order.parts().given_at);
    let shown = |order: &Order| {
        let OrderParts { given_at, device, what, .. } = order.parts();
        let device = plant.shown_device(device).to_owned();
        let given_at = clock.rfc3339(*given_at);
        let shown =
            GivenOrder { given_at, order: "revoke", device, stream: None, until: None, windows: None };
        match what {
            Ordered::Forget(forget) => {
                let windows = forget.from_log.as_ref().map(|windows| windows.positions().count() as u64);
                let (stream, until) = (forget.stream.clone(), Some(clock.rfc3339(forget.until)));
                GivenOrder { order: "forget", stream, until, windows, ..shown }
            }
            Ordered::RollUp(order) => {
                let (stream, windows) = (Some(order.stream.clone()), Some(order.windows()));
                GivenOrder { order: "roll-up", stream, windows, ..shown }
            }
            Ordered::Accept { stream, size, .. } => {
                GivenOrder { order: "accept", stream: Some(stream.clone()), windows: Some(*size), ..shown }
            }
            Ordered::Revoke { .. } => shown,
        }
    };
    Ok(orders.iter().map(shown).collect())
}
