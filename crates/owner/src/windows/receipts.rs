//! The receipts that windows name, compared with the cloud's log: a device was told where its window stands, and signed it.

use sotto_wire::{Order, Ordered, TakenReceipt};

use super::leaves::Leaves;
use super::mirror::StreamLog;
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
    log: &StreamLog,
    from: u64,
) -> Result<(), OwnerError> {
    if other(log, from, None).is_none() {
        return Ok(());
    }
    let leaves = Leaves { cloud: orders.cloud, name };
    let accepted = accepted(&orders.learn()?.ours, leaves, log)?;
    refuse(name, other(log, from, accepted))
}

/// Compares the receipts of the windows behind a log that the owner is about to take, whose size is `accepted`.
///
/// # Errors
/// [`Lie::OtherReceipt`] if the cloud gave a receipt for another log.
pub(super) fn compare_behind(name: StreamName<'_>, log: &StreamLog, accepted: u64) -> Result<(), OwnerError> {
    refuse(name, other(log, accepted, Some(accepted)))
}

fn refuse(name: StreamName<'_>, other: Option<(u64, TakenReceipt)>) -> Result<(), OwnerError> {
    let Some((sequence, TakenReceipt { sequence: receipt, position })) = other else { return Ok(()) };
    let (device, stream) = (name.device.to_owned(), name.stream.to_owned());
    Err(Lie::OtherReceipt { device, stream, sequence, receipt, position }.into())
}

/// Returns the number of the first window from a position on whose receipt is not that of the log, with the receipt. After the
/// owner took a log of the size `accepted`, a device may name receipts of the log before until it has one of this log. Windows
/// with smaller numbers were signed before that one: the device sends them again where this log lacks them.
fn other(log: &StreamLog, from: u64, accepted: Option<u64>) -> Option<(u64, TakenReceipt)> {
    let size = accepted.unwrap_or_default();
    // The smallest number so far of a window that names a receipt of this log.
    let mut first = if accepted.is_some() { u64::MAX } else { 0 };
    let begin = accepted.map_or(from, |size| from.min(size));
    for entry in log.entries_from(begin) {
        let (at, Some(receipt)) = (entry.position, entry.receipt()) else { continue };
        let named = (receipt.position < at).then(|| log.entry_at(receipt.position)).flatten();
        match named.filter(|named| named.sequence() == receipt.sequence) {
            Some(_) if receipt.position >= size => first = first.min(entry.sequence()),
            Some(_) => {}
            None if at < size || entry.sequence() < first || at < from => {}
            None => return Some((entry.sequence(), receipt)),
        }
    }
    None
}

/// Returns the number of the first window from a position on whose receipt is not that of the log.
#[cfg(test)]
pub(super) fn first_other(log: &StreamLog, from: u64) -> Option<u64> {
    other(log, from, None).map(|(sequence, _)| sequence)
}

/// Returns the size of the longest log of a stream that the owner took as it was, and that this log continues.
fn accepted(orders: &[Order], leaves: Leaves<'_>, log: &StreamLog) -> Result<Option<u64>, OwnerError> {
    let name = leaves.name;
    let mut longest = None;
    for order in orders.iter().map(Order::parts).filter(|order| order.is_about(name.device, name.stream)) {
        let Ordered::Accept { size, root, .. } = &order.what else { continue };
        if longest < Some(*size) && log.root_of(*size, |block| leaves.block(log, block))? == Some(*root) {
            longest = Some(*size);
        }
    }
    Ok(longest)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sotto_cloud_client::Cloud;
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
    fn entry(sequence: u64, receipt: Option<(u64, u64)>) -> SignedHeader {
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
        SignedHeader::of(&window)
    }

    fn log(windows: &[SignedHeader]) -> StreamLog {
        let mut log = StreamLog::default();
        for signed in windows {
            let sequence = signed.header().sequence;
            log.push_signed(sequence, &signed.leaf(), Some([1; 16]), 1, Some(signed), false).unwrap();
        }
        log
    }

    #[test]
    fn a_receipt_is_of_the_window_at_its_place_before() {
        let fits = [entry(0, None), entry(2, Some((0, 0))), entry(1, None), entry(3, Some((1, 2)))];
        assert_eq!(other(&log(&fits), 0, None), None);
        // Another window stands there; there is none yet; it is the window itself.
        for receipt in [(1, 1), (3, 3), (2, 2), (0, 1), (0, u64::MAX)] {
            let log = log(&[entry(0, None), entry(2, Some((0, 0))), entry(3, Some(receipt))]);
            let found = TakenReceipt { sequence: receipt.0, position: receipt.1 };
            assert_eq!(other(&log, 0, None), Some((3, found)));
            assert_eq!(other(&log, 3, None), None, "it was compared before");
        }
    }

    #[test]
    fn receipts_of_the_log_before_count_for_nothing_until_there_is_one_of_this_log() {
        // The log was taken with two windows; the device had one of another place then, and goes on with it for a while.
        let all = [
            entry(0, None),
            entry(1, Some((7, 7))),
            entry(8, Some((7, 7))),
            entry(9, Some((8, 2))),
            entry(10, Some((7, 7))),
        ];
        let found = TakenReceipt { sequence: 7, position: 7 };
        let (four, all) = (log(&all[..4]), log(&all));
        assert_eq!(other(&four, 0, Some(2)), None);
        assert_eq!(other(&four, 0, None), Some((1, found)));
        assert_eq!(other(&all, 0, Some(2)), Some((10, found)));
        assert_eq!(other(&all, 4, Some(2)), Some((10, found)));
    }

    #[test]
    fn windows_that_were_signed_before_the_log_was_taken_come_again_behind_newer_ones() {
        // Windows 2 to 4 were lost. The device sent 5 and 6, and the lost ones when it knew of the order.
        let again = [
            entry(0, None),
            entry(1, Some((0, 0))),
            entry(5, Some((4, 4))),
            entry(6, Some((5, 2))),
            entry(2, Some((1, 1))),
            entry(3, Some((2, 2))),
            entry(4, Some((3, 3))),
        ];
        assert_eq!(other(&log(&again), 0, Some(2)), None);
        // A window that was signed later names no receipt of the log before.
        let late = [&again[..], &[entry(7, Some((4, 4)))]].concat();
        let found = TakenReceipt { sequence: 4, position: 4 };
        assert_eq!(other(&log(&late), 0, Some(2)), Some((7, found)));
        assert_eq!(other(&log(&again), 0, None), Some((5, found)));
    }

    #[test]
    fn the_longest_log_that_was_taken_counts() {
        let owner = SigningIdentity::from_bytes(&[5; 32]);
        let log = log(&[entry(0, None), entry(1, None), entry(2, None)]);
        let root = |size: u64| log.root_of(size, |_| unreachable!("all leaves are kept")).unwrap().unwrap();
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
        let cloud = Cloud::new("http://127.0.0.1:9", "0123456789abcdef").unwrap();
        let leaves = Leaves { cloud: &cloud, name };
        assert_eq!(accepted(&orders, leaves, &log).unwrap(), Some(2));
        assert_eq!(accepted(&orders[2..], leaves, &log).unwrap(), None);
    }
}
