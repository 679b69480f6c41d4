//! Orders that no key of this folder signed, as those of a copy that made a key of its own.

use std::collections::BTreeMap;

use serde::Serialize;

use super::book;
use crate::declared::Plant;
use crate::error::OwnerError;

/// Most keys that a note names.
const MOST_NAMED: usize = 4;

/// The orders that the cloud shows under a key which is not this plant's. They order nothing here.
///
/// ```no_run
/// use sotto_owner::{Plant, UnknownOrders};
///
/// let plant = Plant::open("dairy".as_ref())?;
/// for UnknownOrders { key, orders } in plant.unknown_orders()? {
///     println!("{orders} orders of {key}");
/// }
/// # Ok::<(), sotto_owner::OwnerError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnknownOrders {
    /// The key that signed them, in hexadecimal.
    pub key: String,
    /// Their number.
    pub orders: u64,
}

impl UnknownOrders {
    /// Returns notes with the way out, on four keys at most: anybody with the owner's token makes as many as they like.
    ///
    /// ```
    /// use sotto_owner::UnknownOrders;
    ///
    /// let notes = UnknownOrders::notes(&[UnknownOrders { key: "5a".repeat(32), orders: 1 }]);
    /// assert!(notes[0].contains("sotto cloud orders --believe 5a5a"));
    /// ```
    #[must_use]
    pub fn notes(all: &[Self]) -> Vec<String> {
        let mut notes: Vec<String> = all.iter().take(MOST_NAMED).map(Self::note).collect();
        if all.len() > MOST_NAMED {
            let more = all.len() - MOST_NAMED;
            notes.push(format!("{more} more keys have signed orders that count for nothing"));
        }
        notes
    }

    fn note(&self) -> String {
        let Self { key, orders } = self;
        let (are, it) = match orders {
            1 => ("1 order in the cloud is".to_owned(), "it counts"),
            orders => (format!("{orders} orders in the cloud are"), "they count"),
        };
        format!(
            "{are} signed with key {key}, which is not yours here: {it} for nothing. If another copy of this folder names that key as \
             yours (`sotto cloud orders`), run `sotto cloud orders --believe {key}` here, and the same with this copy's key there. If \
             none does, somebody has the owner's token: delete secrets/owner-token, and `sotto cloud secrets` makes another"
        )
    }
}

/// Returns notes on orders under unknown keys.
pub(crate) fn notes(unknown: &BTreeMap<[u8; 32], u64>) -> Vec<String> {
    UnknownOrders::notes(&listed(unknown))
}

/// Returns the orders under unknown keys that the cloud shows.
pub(crate) fn unknown(plant: &Plant) -> Result<Vec<UnknownOrders>, OwnerError> {
    Ok(listed(&book::learn(plant, &plant.cloud()?)?.unknown))
}

fn listed(unknown: &BTreeMap<[u8; 32], u64>) -> Vec<UnknownOrders> {
    unknown.iter().map(|(key, orders)| UnknownOrders { key: hex::encode(key), orders: *orders }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_keys_are_named_however_many_there_are() {
        let keys = |count: u8| (0..count).map(|byte| ([byte; 32], 2)).collect::<BTreeMap<_, _>>();
        assert!(notes(&keys(0)).is_empty());
        assert_eq!(notes(&keys(4)).len(), 4);
        let many = notes(&keys(200));
        assert_eq!(many.len(), 5);
        assert!(
            many[0].starts_with("2 orders in the cloud are") && many[4].starts_with("196 more"),
            "{many:?}"
        );
    }
}
