//! Pages of a log.

use std::sync::Arc;

use proptest::prelude::*;
use sotto_pack::Replaces;
use sotto_wire::{
    Envelope, LARGEST_LOG_PAGE, LogEntry, LogItem, LogPage, MaskName, SignedHeader, StreamHeader,
    TakenReceipt, WindowGroup, WireError, sums_window_id,
};

use super::{Head, gappy, header, header_of, identity, pad, reading, stream, window};
use crate::position::envelope;

fn sign(message: &[u8]) -> [u8; 64] {
    identity().sign(message)
}

/// Returns a window as it stands in a log.
fn entry(window: &Envelope, id: Option<[u8; 16]>) -> LogEntry {
    let signed = window.signed_header().clone();
    let bytes = window.member_bytes().unwrap_or(window.message_bytes()) as u64;
    let leaf = signed.leaf();
    let own = |stream: &Arc<StreamHeader>| sums_window_id(stream.id().tag(), signed.header().sequence);
    let id = id.or_else(|| signed.stream().map(own));
    LogEntry { sequence: signed.header().sequence, leaf, id, bytes, signed: Some(signed) }
}

fn gone(sequence: u64) -> LogEntry {
    LogEntry { sequence, leaf: [sequence as u8; 32], id: None, bytes: 0, signed: None }
}

/// Windows of each kind: of version 1, alone, numbered anew, with a receipt, replacing, in a group, in parts of a group, of
/// another stream, gone, unread.
fn all() -> Vec<LogEntry> {
    let (first, other) =
        (header(), header_of(sotto_wire::SumsStream { stream: "tank.2".into(), ..stream() }));
    let whole = |header: &Arc<StreamHeader>, number: u64| {
        window(header, Head::whole(header, number, pad(number), 6 * 20 * number as i64, 6), &reading)
    };
    let group = |numbers: std::ops::Range<u64>| {
        WindowGroup::sign(numbers.map(|number| whole(&first, number)).collect(), sign).unwrap()
    };
    let (grouped, cut) = (group(10..15), group(15..22));
    let mut replaces = Head::whole(&first, 40, pad(40), -9, 6);
    replaces.description.replaces = Some(Replaces { windows: vec![3], channels: vec![0] });
    let receipt = TakenReceipt { sequence: 39, position: 4 };
    let renumbered = Head::whole(&first, 41, MaskName { sequence: 7, ..pad(41) }, i64::MIN, 1);
    let alone = [whole(&first, 1), whole(&first, 2), window(&first, gappy(), &reading)];
    let later = [
        window(&first, replaces, &reading),
        whole(&first, 42).after_receipt(receipt, sign).unwrap(),
        window(&first, renumbered, &reading),
        whole(&other, 50),
        whole(&first, 43),
        whole(&first, u64::MAX),
        whole(&first, 0),
    ];
    let mut entries = vec![entry(&envelope(), Some([9; 16]))];
    entries.extend(alone.iter().map(|window| entry(window, None)));
    entries.extend(grouped.windows().iter().map(|window| entry(window, Some([7; 16]))));
    entries.extend([gone(3), gone(4)]);
    // One of the group was deleted.
    entries.extend(cut.windows().iter().skip(1).map(|window| entry(window, None)));
    entries.push(LogEntry { id: Some([4; 16]), bytes: 77, ..gone(30) });
    entries.extend(later.iter().map(|window| entry(window, None)));
    entries.push(LogEntry { bytes: 1 << 40, ..entry(&whole(&first, 44), None) });
    entries
}

#[test]
fn a_page_is_read_as_written() {
    let entries = all();
    let page = LogPage::of(vec![5; 300], entries.clone());
    let bytes = page.write();
    let read = LogPage::read(&bytes).unwrap();
    assert_eq!((&read, read.write(), read.windows()), (&page, bytes, entries.len()));
    assert_eq!(read.entries().unwrap(), entries);
    assert_eq!(LogPage::of(vec![5; 300], read.entries().unwrap()), page);
    let grouped = read.items.iter().filter(|item| item.windows() == 5).count();
    assert_eq!((grouped, read.items.len()), (1, entries.len() - 4));
}

#[test]
fn leaves_and_signatures_are_those_of_the_headers_alone() {
    let (page, key) = (LogPage::of(Vec::new(), all()), identity().verifying_key());
    let mut seen = 0;
    for item in &page.items {
        let (leaves, signed) = (item.leaves(), item.signed().unwrap());
        assert_eq!(leaves.len(), item.windows());
        for (leaf, signed) in leaves.iter().zip(&signed) {
            assert_eq!(*leaf, signed.leaf());
            assert_eq!(SignedHeader::read(&signed.write(), 1 << 20).as_ref(), Ok(signed));
            assert_eq!(signed.verify(&key).is_ok(), item.verify(&key).is_ok());
            seen += 1;
        }
        for (logged, signed) in item.logged().iter().zip(&signed) {
            let description = signed.description().unwrap();
            assert_eq!(logged.header().unwrap(), *signed.header());
            assert_eq!(logged.description().unwrap(), description);
            assert_eq!((logged.sequence(), Some(logged.mask())), (signed.header().sequence, signed.mask()));
            assert_eq!((logged.start(), logged.ticks()), (description.start, description.length));
            assert_eq!(logged.taken_receipt(), signed.taken_receipt());
            assert_eq!(logged.is_generated(), description.generated);
        }
        let is_signed = !matches!(item, LogItem::Old { .. } | LogItem::Gone { .. } | LogItem::Unread { .. });
        assert!(!is_signed || item.verify(&key).is_ok());
        assert!(!is_signed || item.verify(&[3; 32]).is_err());
    }
    assert_eq!(seen, all().len() - 3);
}

#[test]
fn each_byte_of_a_signed_window_is_covered() {
    let key = identity().verifying_key();
    let bytes = LogPage::of(Vec::new(), all()).write();
    let honest: Vec<LogItem> = LogPage::read(&bytes).unwrap().items;
    for at in 16..bytes.len() - 32 {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        assert!(LogPage::read(&changed).is_err(), "byte {at}: the digest");
        let end = changed.len() - 32;
        let digest = blake3::hash(&changed[..end]);
        changed[end..].copy_from_slice(digest.as_bytes());
        let Ok(read) = LogPage::read(&changed) else { continue };
        assert_eq!(read.write(), changed, "byte {at}: rewriting changes bytes");
        for item in read.items.iter().filter(|item| item.verify(&key).is_ok() && !item.logged().is_empty()) {
            // Only ids and bytes on the way are the cloud's.
            let leaves = item.leaves();
            assert!(honest.iter().any(|honest| honest.leaves() == leaves), "byte {at}: a forgery");
        }
    }
}

#[test]
fn pages_that_no_program_writes_are_refused() {
    let page = LogPage::of(Vec::new(), all());
    let long = LogPage { head: vec![0; 1025], ..page.clone() };
    assert!(matches!(LogPage::read(&long.write()), Err(WireError::TooLarge { .. })));
    let bytes = page.write();
    for end in 0..bytes.len() {
        assert!(LogPage::read(&bytes[..end]).is_err(), "{end} bytes");
    }
    let unread = |id| LogPage {
        items: vec![LogItem::Unread { sequence: 1, leaf: [0; 32], id, bytes: 1 }],
        head: Vec::new(),
    };
    assert!(LogPage::read(&unread([1; 16]).write()).is_ok());
    assert!(LogPage::read(&unread([0; 16]).write()).is_err());
    let too_large = vec![0; LARGEST_LOG_PAGE as usize + 1];
    assert!(LogPage::read(&too_large).is_err());
}

/// Windows of groups, alone and gone take these bytes on a page, beside the header of their stream.
#[test]
fn a_window_takes_few_bytes() {
    let header = header();
    let whole = |number: u64| {
        window(&header, Head::whole(&header, number, pad(number), 6 * 20 * number as i64, 6), &reading)
    };
    let windows: Vec<Envelope> = (0..64).map(whole).collect();
    let group = WindowGroup::sign(windows.clone(), sign).unwrap();
    let bytes = |windows: &[Envelope]| {
        let entries = windows.iter().map(|window| entry(window, None));
        LogPage::of(Vec::new(), entries).write().len()
            - LogPage::of(Vec::new(), [entry(&windows[0], None)]).write().len()
    };
    // Marks, three tags and the body's digest; alone a signature and the number of windows besides. A member without its group
    // has its place, and bytes on the way that are not those of a window alone.
    assert_eq!(bytes(&windows), 63 * (1 + 3 * 8 + 32 + 64 + 1));
    assert_eq!(bytes(group.windows()), 63 * (1 + 3 * 8 + 32) - 3 - 6 * 32 - 2);
}

proptest! {
    /// Windows in any order and grouping come back as they were.
    #[test]
    fn any_windows_come_back(order in proptest::collection::vec(0_usize..27, 0..40)) {
        let all = all();
        let entries: Vec<LogEntry> = order.iter().filter_map(|at| all.get(*at).cloned()).collect();
        let page = LogPage::of(vec![1], entries.clone());
        let read = LogPage::read(&page.write()).unwrap();
        prop_assert_eq!(&read, &page);
        prop_assert_eq!(read.entries().unwrap(), entries);
    }

    /// No bytes make a reader panic, with the right digest of a frame.
    #[test]
    fn any_bytes_are_read_or_refused(at in 0_usize..2000, with in proptest::collection::vec(any::<u8>(), 1..40)) {
        let mut bytes = LogPage::of(Vec::new(), all()).write();
        let end = bytes.len() - 32;
        let at = 16 + at % (end - 16 - with.len());
        bytes[at..at + with.len()].copy_from_slice(&with);
        let digest = blake3::hash(&bytes[..end]);
        bytes[end..].copy_from_slice(digest.as_bytes());
        if let Ok(read) = LogPage::read(&bytes) {
            prop_assert_eq!(read.write(), bytes);
            read.items.iter().for_each(|item| drop(item.leaves()));
        }
    }
}
