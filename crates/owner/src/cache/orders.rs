//! The owner's orders that the logs here follow. A deletion by another computer of the owner shows where the cloud refuses a
//! sum; a sum that is not asked for needs another look.
//!
//! `cache/orders` has the digest of the orders that were looked at last.

use sotto_wire::Order;

use super::{FOLDER, folder};
use crate::declared::Plant;
use crate::files::{make_folder, read_within, write_private};

const MARK: &str = "orders";

/// Returns true if there is a file of sums.
pub(crate) fn has_any(plant: &Plant) -> bool {
    folder::is_used(&plant.path(FOLDER))
}

/// Returns true if the logs here were compared with these orders, or there are none.
pub(crate) fn is_marked(plant: &Plant, orders: &[Order]) -> bool {
    if orders.is_empty() {
        return true;
    }
    let marked = read_within(&plant.path(FOLDER).join(MARK), 32);
    marked.is_ok_and(|marked| Some(marked) == digest(orders).map(Vec::from))
}

/// Notes that the logs here were compared with these orders.
pub(crate) fn mark(plant: &Plant, orders: &[Order]) {
    let Some(digest) = digest(orders) else { return };
    let folder = plant.path(FOLDER);
    let written = make_folder(&folder, true).and_then(|()| write_private(&folder.join(MARK), &digest));
    if let Err(error) = written {
        tracing::debug!(%error, "the orders are compared again with the next question");
    }
}

fn digest(orders: &[Order]) -> Option<[u8; 32]> {
    let mut digests = orders.iter().map(|order| order.digest().ok()).collect::<Option<Vec<_>>>()?;
    digests.sort_unstable();
    Some(blake3::hash(&digests.concat()).into())
}
