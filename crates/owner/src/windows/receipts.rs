//! The receipts that windows name, compared with the cloud's log: a device was told where its window stands, and signed it.

use sotto_wire::{Order, Ordered, TakenReceipt};

use super::entry::{Entry, tree_of};
use super::stream_name::StreamName;
use crate::error::OwnerError;
use crate::lie::Lie;
use crate::orders::Orders;

/// Compares the receipts that the windows of a log from a position on name with the log. Those from before the owner took the
/// log as it is, after a backup was put back, count for nothing.
///
/// # Errors
/// [`Lie::OtherReceipt`] if the cloud gave a receipt for another log.
pub(super) fn compare(
    orders: &Orders<'_>,
    name: StreamName<'_>,
    entries: &[Entry],
    from: usize,
) -> Result<(), OwnerError> {
    if other(entries, from, None).is_none() {
        return Ok(());
    }
    let accepted = accepted(&orders.learn()?.ours, name, entries);
    refuse(name, other(entries, from, accepted))
}

/// Compares the receipts of the windows behind a log that the owner is about to take, whose size is `accepted`.
///
/// # Errors
/// [`Lie::OtherReceipt`] if the cloud gave a receipt for another log.
pub(super) fn compare_behind(
    name: StreamName<'_>,
    entries: &[Entry],
    accepted: usize,
) -> Result<(), OwnerError> {
    refuse(name, other(entries, accepted, Some(accepted)))
}

fn refuse(name: StreamName<'_>, other: Option<(u64, TakenReceipt)>) -> Result<(), OwnerError> {
    let Some((sequence, TakenReceipt { sequence: receipt, position })) = other else { return Ok(()) };
    let (device, stream) = (name.device.to_owned(), name.stream.to_owned());
    Err(Lie::OtherReceipt { device, stream, sequence, receipt, position }.into())
}

/// Returns the number of the first window from a position on whose receipt is not that of the log, with the receipt. After the
/// owner took a log of the size `accepted`, a device may name receipts of the log before until it has one of this log.
fn other(entries: &[Entry], from: usize, accepted: Option<usize>) -> Option<(u64, TakenReceipt)> {
    let (size, mut is_old) = (accepted.unwrap_or_default(), accepted.is_some());
    let begin = accepted.map_or(from, |size| from.min(size));
    for (at, entry) in entries.iter().enumerate().skip(begin) {
        let Some(receipt) = entry.signed.as_ref().and_then(|signed| signed.taken_receipt()) else { continue };
        let position = usize::try_from(receipt.position).unwrap_or(usize::MAX);
        let of_receipt = entries[..at].get(position).filter(|named| named.sequence == receipt.sequence);
        match of_receipt {
            Some(_) => is_old &= position < size,
            None if at < size || is_old || at < from => {}
            None => return Some((entry.sequence, receipt)),
        }
    }
    None
}

/// Returns the size of the longest log of a stream that the owner took as it was, and that this log continues.
fn accepted(orders: &[Order], name: StreamName<'_>, entries: &[Entry]) -> Option<usize> {
    let of_stream = orders.iter().map(Order::parts).filter(|order| order.is_about(name.device, name.stream));
    let size_of = of_stream.filter_map(|order| match &order.what {
        Ordered::Accept { size, root, .. } => {
            let size = usize::try_from(*size).ok()?;
            (tree_of(entries.get(..size)?).root() == *root).then_some(size)
        }
        Ordered::Forget(_) | Ordered::Revoke { .. } => None,
    });
    size_of.max()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sotto_keys::SigningIdentity;
    use sotto_pack::{Channel, WindowDescription};
    use sotto_rlwe::{Kept, KeyId, ParameterId};
    use sotto_wire::{
        Envelope, MaskName, SignedHeader, SlotsWindow, StreamHeader, StreamParts, WindowValues, mask_seed,
    };

    use super::*;

    fn header() -> Arc<StreamHeader> {
        let level =
            Channel { name: "level".into(), maximum: 100.0, resolution: Some(0.1), ..Channel::default() };
        let parts = StreamParts {
            device: "cellar".into(),
            stream: "tank".into(),
            parameters: ParameterId([1; 32]),
            key: KeyId([2; 16]),
            period: 60_000,
            ticks: 16,
            channels: vec![level],
            values: WindowValues::Slots(16),
        };
        Arc::new(StreamHeader::new(parts).unwrap())
    }

    /// Returns a window of a log, which names a receipt: the number of a window, and its position.
    fn entry(sequence: u64, receipt: Option<(u64, u64)>) -> Entry {
        let (stream, device) = (header(), SigningIdentity::from_bytes(&[1; 32]));
        let description = WindowDescription {
            layout: stream.layout().clone(),
            present: vec![16],
            start: 960_000 * sequence as i64,
            period: stream.period(),
            length: 16,
            presence: Vec::new(),
            left_out: Vec::new(),
            generated: false,
            replaces: None,
            provisional: false,
            rounded: None,
        };
        let (parameters, key) = (stream.parameters(), stream.key());
        let mask = MaskName { salt: [3; 12], sequence };
        let (kept, seed) = (Kept::Folded(16), mask_seed(key, "tank", &mask));
        let body = SlotsWindow { parameters, key, kept, mask, seed, body: vec![0xa5; 60] }.write();
        let sign = |message: &[u8]| device.sign(message);
        let window = Envelope::sign_window(&stream, sequence, description, &body, sign).unwrap();
        let window = match receipt {
            Some((sequence, position)) => {
                window.after_receipt(TakenReceipt { sequence, position }, sign).unwrap()
            }
            None => window,
        };
        let signed = SignedHeader::of(&window);
        let (id, leaf) = (format!("{sequence:032x}"), signed.leaf());
        Entry { id, bytes: 1, sequence, leaf, signed: Some(signed), deleted_here: false }
    }

    #[test]
    fn a_receipt_is_of_the_window_at_its_place_before() {
        let fits = [entry(0, None), entry(2, Some((0, 0))), entry(1, None), entry(3, Some((1, 2)))];
        assert_eq!(other(&fits, 0, None), None);
        // Another window stands there; there is none yet; it is the window itself.
        for receipt in [(1, 1), (3, 3), (2, 2), (0, 1), (0, u64::MAX)] {
            let log = [entry(0, None), entry(2, Some((0, 0))), entry(3, Some(receipt))];
            let found = TakenReceipt { sequence: receipt.0, position: receipt.1 };
            assert_eq!(other(&log, 0, None), Some((3, found)));
            assert_eq!(other(&log, 3, None), None, "it was compared before");
        }
    }

    #[test]
    fn receipts_of_the_log_before_count_for_nothing_until_there_is_one_of_this_log() {
        // The log was taken with two windows; the device had one of another place then, and goes on with it for a while.
        let log = [
            entry(0, None),
            entry(1, Some((7, 7))),
            entry(8, Some((7, 7))),
            entry(9, Some((8, 2))),
            entry(10, Some((7, 7))),
        ];
        let found = TakenReceipt { sequence: 7, position: 7 };
        assert_eq!(other(&log[..4], 0, Some(2)), None);
        assert_eq!(other(&log[..4], 0, None), Some((1, found)));
        assert_eq!(other(&log, 0, Some(2)), Some((10, found)));
        assert_eq!(other(&log, 4, Some(2)), Some((10, found)));
    }

    #[test]
    fn the_longest_log_that_was_taken_counts() {
        let owner = SigningIdentity::from_bytes(&[5; 32]);
        let entries = [entry(0, None), entry(1, None), entry(2, None)];
        let root = |size: usize| tree_of(&entries[..size]).root();
        let accept = |stream: &str, size, root| {
            let what = Ordered::Accept { stream: stream.to_owned(), size, root };
            let (owner_key, device) = (owner.verifying_key(), "cellar".to_owned());
            let parts = sotto_wire::OrderParts { given_at: 1, owner: owner_key, device, what };
            Order::sign(parts, |message| owner.sign(message)).unwrap()
        };
        let orders = [
            accept("tank", 1, root(1)),
            accept("tank", 2, root(2)),
            accept("tank", 3, root(2)),
            accept("tank", 9, root(3)),
            accept("yard", 3, root(3)),
        ];
        let name = StreamName { device: "cellar", stream: "tank" };
        assert_eq!(accepted(&orders, name, &entries), Some(2));
        assert_eq!(accepted(&orders[2..], name, &entries), None);
    }
}
