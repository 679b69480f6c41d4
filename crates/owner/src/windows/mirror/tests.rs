use std::sync::Arc;

use proptest::prelude::*;
use sotto_pack::{LeftOut, Presence, Reason, Replaces, WindowDescription};
use sotto_wire::{Envelope, Frontier, LogItem, StreamHeader, TakenReceipt, WindowGroup};

use super::super::made;
use super::{Coder, StreamLog, read, write};
use crate::error::OwnerError;

/// A window of a test's log.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Follows,
    Later,
    Shorter,
    Gaps,
    LeftOut,
    Replaces,
    Provisional,
    Receipt,
    Skips,
    Gone,
    Deleted,
    Unread,
}

fn kinds() -> impl Strategy<Value = Vec<Kind>> {
    let kind = prop_oneof![
        8 => Just(Kind::Follows),
        1 => Just(Kind::Later),
        1 => Just(Kind::Shorter),
        1 => Just(Kind::Gaps),
        1 => Just(Kind::LeftOut),
        1 => Just(Kind::Replaces),
        1 => Just(Kind::Provisional),
        2 => Just(Kind::Receipt),
        1 => Just(Kind::Skips),
        2 => Just(Kind::Gone),
        1 => Just(Kind::Deleted),
        1 => Just(Kind::Unread),
    ];
    proptest::collection::vec(kind, 0..200)
}

fn envelope(stream: &Arc<StreamHeader>, kind: Kind, number: u64, start: &mut i64) -> Envelope {
    let ticks = if matches!(kind, Kind::Shorter) { 7 } else { 60 };
    if matches!(kind, Kind::Later) {
        *start += 12_345;
    }
    let whole = WindowDescription {
        rounded: Some(vec![0]),
        ..WindowDescription::whole(stream.layout(), *start, stream.period(), ticks)
    };
    *start = whole.end();
    let described = match kind {
        Kind::Gaps => {
            let mut presence = Presence::default();
            [3, 4, 9].iter().for_each(|tick| presence.insert(*tick));
            WindowDescription { present: vec![3], presence: vec![presence], ..whole }
        }
        Kind::LeftOut => {
            let mut left_out = LeftOut::default();
            left_out.add(Reason::Future, 5);
            WindowDescription { left_out: vec![left_out], ..whole }
        }
        Kind::Replaces => {
            WindowDescription { replaces: Some(Replaces { windows: vec![0], channels: vec![0] }), ..whole }
        }
        Kind::Provisional => WindowDescription { provisional: true, ..whole },
        _ => whole,
    };
    let window = made::signed(stream, &made::described_window(stream, number, described));
    match kind {
        Kind::Receipt => {
            let receipt = TakenReceipt { sequence: number.saturating_sub(1), position: number };
            window.after_receipt(receipt, |message| made::identity().sign(message)).unwrap()
        }
        _ => window,
    }
}

/// Returns items of a log, and of each window its number and, if it is there, its envelope.
fn items(kinds: &[Kind]) -> Vec<(Kind, LogItem, Option<Envelope>)> {
    let (stream, mut number, mut start) = (made::stream(), 0_u64, 1_700_000_400_000);
    let item = |kind: &Kind| {
        number += if matches!(kind, Kind::Skips) { 9 } else { 1 };
        let leaf = *blake3::hash(&number.to_le_bytes()).as_bytes();
        let (item, envelope) = match kind {
            Kind::Gone | Kind::Deleted => (LogItem::Gone { sequence: number, leaf }, None),
            Kind::Unread => (LogItem::Unread { sequence: number, leaf, id: [4; 16], bytes: 7 }, None),
            _ => {
                let envelope = envelope(&stream, *kind, number, &mut start);
                (made::items(std::slice::from_ref(&envelope)).0.remove(0), Some(envelope))
            }
        };
        (*kind, item, envelope)
    };
    kinds.iter().map(item).collect()
}

fn push(log: &mut StreamLog, items: &[(Kind, LogItem, Option<Envelope>)]) {
    for (kind, item, _) in items {
        let here = matches!(kind, Kind::Deleted);
        log.push(item, &item.leaves(), |_| here).unwrap();
    }
}

/// Asserts that a log has these windows.
fn is_of(log: &StreamLog, items: &[(Kind, LogItem, Option<Envelope>)]) {
    assert_eq!(log.len(), items.len() as u64);
    assert_eq!(log.entries().count(), items.len());
    let leaves = items.iter().flat_map(|(_, item, _)| item.leaves());
    assert_eq!(log.tree().root(), Frontier::of(leaves).root());
    for ((position, entry), (kind, item, envelope)) in (0..).zip(log.entries()).zip(items) {
        assert_eq!((entry.position, entry.sequence()), (position, item.sequence()));
        assert_eq!(log.entry_at(position).map(|entry| entry.sequence()), Some(item.sequence()));
        assert_eq!(entry.is_signed(), envelope.is_some());
        assert_eq!(entry.is_deleted_here(), matches!(kind, Kind::Deleted));
        assert_eq!(entry.is_taken(), matches!(kind, Kind::Gone));
        assert_eq!(entry.is_lost(), matches!(kind, Kind::Unread));
        let Some(envelope) = envelope else { continue };
        let (signed, header) = (envelope.signed_header(), envelope.header());
        assert_eq!(entry.times(), Some((header.started_at, header.ended_at)));
        assert_eq!(entry.description(), signed.description());
        assert_eq!((entry.mask(), entry.stream()), (signed.mask(), signed.stream()));
        assert_eq!((entry.replaces(), entry.is_provisional()), (signed.replaces(), signed.is_provisional()));
        assert_eq!(entry.receipt(), signed.taken_receipt());
        assert_eq!(entry.named(), None, "no sum needs a leaf");
    }
}

/// Returns the bytes that these windows took on the way.
fn sent(items: &[(Kind, LogItem, Option<Envelope>)]) -> u64 {
    items.iter().flat_map(|(_, _, envelope)| envelope).map(|envelope| envelope.message_bytes() as u64).sum()
}

/// Returns the bytes that the windows of a log took on the way.
fn kept(log: &StreamLog) -> u64 {
    log.entries().map(|entry| entry.bytes()).sum()
}

fn none(_: u64) -> Result<Vec<sotto_wire::Digest>, OwnerError> {
    panic!("no leaf is asked for")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_log_is_kept_as_it_came(kinds in kinds(), cut in 0_usize..200, marked in proptest::collection::btree_set(0_u64..200, 0..20)) {
        let items = items(&kinds);
        let (first, second) = items.split_at(cut.min(items.len()));
        let mut log = StreamLog::default();
        push(&mut log, first);
        is_of(&log, first);
        let mut file = write(&mut log);
        let tail = log.tree().tail().to_vec();
        // A file that is read is continued.
        let mut log = read(&file, tail).unwrap();
        is_of(&log, first);
        push(&mut log, second);
        file.extend(write(&mut log));
        prop_assert_eq!(log.coder.bytes, file.len() as u64);
        prop_assert_eq!(log.coder.digest.finalize(), blake3::hash(&file));
        let again = read(&file, log.tree().tail().to_vec()).unwrap();
        is_of(&again, &items);
        prop_assert_eq!(kept(&again), sent(&items));
        prop_assert_eq!(&again.pieces, &log.pieces);
        // Numbers and gaps are those of the windows.
        let numbers: std::collections::BTreeSet<u64> = log.entries().map(|entry| entry.sequence()).collect();
        prop_assert!(log.numbers().iter().flat_map(|(first, last)| *first..=*last).eq(numbers.iter().copied()));
        let missing = (0..numbers.last().copied().unwrap_or_default()).filter(|number| !numbers.contains(number));
        prop_assert!(log.gaps().iter().flat_map(|(first, last)| *first..=*last).eq(missing));
        // Windows that are marked are gone, others stay.
        let positions: Vec<u64> = marked.into_iter().collect();
        let mut marked = log.clone();
        marked.mark_deleted(&positions);
        for (before, after) in log.entries().zip(marked.entries()) {
            let here = positions.contains(&before.position) || before.is_deleted_here();
            prop_assert_eq!((before.sequence(), here), (after.sequence(), after.is_deleted_here()));
            prop_assert!(here || (before.times(), before.description()) == (after.times(), after.description()));
        }
        marked.coder = Coder::default();
        let file = write(&mut marked);
        prop_assert_eq!(&read(&file, log.tree().tail().to_vec()).unwrap().pieces, &marked.pieces);
        // Cut to its beginning it equals the log of then.
        let mut short = log.clone();
        let all: Vec<_> = items.iter().flat_map(|(_, item, _)| item.leaves()).collect();
        let block = |block: u64| Ok(all[(64 * block) as usize..][..64].to_vec());
        short.truncate(first.len() as u64, block).unwrap();
        is_of(&short, first);
        // A run that is cut keeps its share of bytes: a window's number of three bytes makes up for one of two.
        prop_assert!(kept(&short).abs_diff(sent(first)) <= first.len() as u64);
    }

    #[test]
    fn any_bytes_are_records_or_none(kinds in kinds(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut log = StreamLog::default();
        push(&mut log, &items(&kinds[..kinds.len().min(40)]));
        let mut file = write(&mut log);
        let tail = log.tree().tail().to_vec();
        if !file.is_empty() {
            let at = at.index(file.len());
            file[at] ^= byte;
            let _ = read(&file, tail.clone()).map(|mut log| write(&mut log));
            let _ = read(&file[..at], tail);
        }
    }
}

#[test]
fn windows_that_follow_each_other_take_few_bytes() {
    // The first takes the header of its stream.
    for (grouped, receipts, most) in [(1, true, 1.0), (64, true, 1.0), (64, false, 0.6), (3, true, 6.0)] {
        let windows = made::windows(2048, grouped, receipts);
        let mut log = StreamLog::default();
        let (items, _) = made::items(&windows);
        items.iter().for_each(|item| log.push(item, &item.leaves(), |_| false).unwrap());
        let header = made::stream().write().len();
        let each = (write(&mut log).len() - header) as f64 / windows.len() as f64;
        assert!(each < most, "{grouped} {receipts}: {each}");
        assert_eq!(log.root_of(2048, none).unwrap(), Some(log.tree().root()));
    }
}

#[test]
fn a_group_is_one_run() {
    let stream = made::stream();
    let grouped = (0..5).map(|number| made::window(&stream, number, 3_600_000 * number.cast_signed(), 60));
    let group = WindowGroup::sign(grouped.collect(), |message| made::identity().sign(message)).unwrap();
    let mut log = StreamLog::default();
    let (items, _) = made::items(group.windows());
    items.iter().for_each(|item| log.push(item, &item.leaves(), |_| false).unwrap());
    assert_eq!((items.len(), log.pieces().count()), (1, 1));
    let bytes: u64 = log.entries().map(|entry| entry.bytes()).sum();
    assert_eq!(bytes, group.windows().iter().filter_map(Envelope::member_bytes).sum::<usize>() as u64);
}
