use std::fs;
use std::sync::Arc;

use sotto_keys::SigningIdentity;
use sotto_pack::{Channel, Clock, WindowDescription};
use sotto_rlwe::{Kept as KeptPlaces, KeyId, ParameterId};
use sotto_wire::{MaskName, SlotsWindow, StreamHeader, StreamParts, WindowGroup, WindowValues, mask_seed};
use tempfile::TempDir;

use super::super::entry::Entry;
use super::*;
use crate::spool::{Contents, Cuts, Spool};
use crate::stop::Stop;

const KEEP: Keep = Keep { time: 1000, bytes: 1 << 20 };
/// The length of a window in milliseconds.
const LENGTH: i64 = 960_000;

fn identity() -> SigningIdentity {
    SigningIdentity::from_bytes(&[7; 32])
}

fn header() -> Arc<StreamHeader> {
    let level = Channel { name: "level".into(), maximum: 100.0, resolution: Some(0.1), ..Channel::default() };
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

/// Returns a window of 16 minutes from `number` times 16 minutes after 1970 on.
fn window(number: u64) -> Envelope {
    let stream = header();
    let description = WindowDescription {
        layout: stream.layout().clone(),
        present: vec![16],
        start: LENGTH * number as i64,
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
    let mask = MaskName { salt: [3; 12], sequence: number };
    let seed = mask_seed(key, "tank", &mask);
    let body =
        SlotsWindow { parameters, key, kept: KeptPlaces::Folded(16), mask, seed, body: vec![0xa5; 60] };
    Envelope::sign_window(&stream, number, description, &body.write(), |message| identity().sign(message))
        .unwrap()
}

fn group(numbers: &[u64]) -> WindowGroup {
    let windows = numbers.iter().map(|number| window(*number)).collect();
    WindowGroup::sign(windows, |message| identity().sign(message)).unwrap()
}

fn open(folder: &Path, keep: Keep, now: i64) -> Spool {
    let cuts = Cuts::new(Clock::utc(), std::collections::BTreeMap::new());
    let spool = Spool::open(folder, "cellar", 1 << 20, &cuts).unwrap();
    if spool.is_new() {
        spool.begin().unwrap();
    }
    spool.keeping(keep, now).unwrap()
}

fn put(spool: &Spool, numbers: impl IntoIterator<Item = u64>) -> Vec<Entry> {
    let put = |number| spool.put("tank", number, &window(number).write_kept(), &Contents::default()).unwrap();
    numbers.into_iter().map(put).collect()
}

fn archive(spool: &Spool) -> &Archive {
    spool.archive().unwrap()
}

/// Keeps messages that were sent alone, one each millisecond from a time on.
fn keep_alone(spool: &Spool, numbers: impl IntoIterator<Item = u64>, from: i64) {
    for (entry, now) in put(spool, numbers).iter().zip(from..) {
        assert!(archive(spool).keep_alone(&spool.path(entry), entry, now));
        spool.discard(entry).unwrap();
    }
}

fn keep_group(spool: &Spool, numbers: &[u64], now: i64) {
    let entries = put(spool, numbers.iter().copied());
    assert!(archive(spool).keep_group(&header(), &entries, &group(numbers).write(), now));
    entries.iter().for_each(|entry| spool.discard(entry).unwrap());
}

/// Returns the numbers of the windows that are kept.
fn numbers(spool: &Spool) -> Vec<u64> {
    let files = archive(spool).files_of("tank");
    let windows = |file: &ArchivedFile| archive(spool).read(file).unwrap().windows().to_vec();
    files.iter().flat_map(windows).map(|window| window.header().sequence).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder.join(CONFIRMED)).unwrap();
    files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn messages_are_kept_as_they_were_sent_and_do_not_wait() {
    let folder = TempDir::new().unwrap();
    let spool = open(folder.path(), KEEP, 0);
    let entries = put(&spool, [0]);
    assert!(archive(&spool).keep_alone(&spool.path(&entries[0]), &entries[0], 0));
    spool.discard(&entries[0]).unwrap();
    keep_group(&spool, &[1, 2, 4], 1);
    drop(spool);
    for _ in 0..2 {
        let spool = open(folder.path(), KEEP, 1);
        assert_eq!((spool.waiting(), numbers(&spool)), (0, vec![0, 1, 2, 4]));
        assert_eq!(spool.next_sequence("tank").unwrap(), 5);
        let files = archive(&spool).files_of("tank");
        let [alone, grouped] = [&files[0], &files[1]].map(|file| archive(&spool).read(file).unwrap());
        assert_eq!(alone.windows()[0].write(), window(0).write());
        let ArchivedMessage::Group(read) = &grouped else { panic!("a group") };
        assert_eq!(read.write(), group(&[1, 2, 4]).write());
        read.verify(&identity().verifying_key()).unwrap();
        let totals = archive(&spool).totals();
        assert_eq!((totals.windows, totals.since), (4, Some(0)));
        assert_eq!(ArchiveTotals::read(folder.path()).unwrap(), totals);
    }
}

#[test]
fn the_oldest_go_by_age_and_by_bytes() {
    let folder = TempDir::new().unwrap();
    let spool = open(folder.path(), KEEP, 0);
    keep_alone(&spool, 0..3, 500);
    keep_group(&spool, &[3, 4], 503);
    assert_eq!(numbers(&spool), [0, 1, 2, 3, 4]);
    // Each counts a block.
    keep_alone(&spool, [5], 1501);
    assert_eq!(numbers(&spool), [2, 3, 4, 5], "kept for less than a second");
    drop(spool);
    let spool = open(folder.path(), Keep { bytes: 2 * BLOCK, ..KEEP }, 1501);
    assert_eq!(numbers(&spool), [3, 4, 5]);
    keep_alone(&spool, [6], 1502);
    assert_eq!(numbers(&spool), [5, 6]);
    drop(spool);
    for (keep, now) in [(Keep { bytes: BLOCK - 1, ..KEEP }, 1502), (Keep { time: 0, ..KEEP }, 1502)] {
        let spool = open(folder.path(), keep, now);
        assert_eq!((numbers(&spool), names(folder.path())), (Vec::new(), Vec::new()));
        let entry = &put(&spool, [spool.next_sequence("tank").unwrap()])[0];
        assert!(!archive(&spool).keep_alone(&spool.path(entry), entry, now));
        spool.delivered(entry).unwrap();
        assert!(names(folder.path()).is_empty() && spool.waiting() == 0);
    }
}

/// A process is killed at every moment between a receipt and the end of the queue's file.
#[test]
fn a_crash_leaves_a_message_waiting_or_kept() {
    let folder = TempDir::new().unwrap();
    let spool = open(folder.path(), KEEP, 0);
    let entries = put(&spool, 0..4);
    // Before anything, in the middle of a group, and behind the move of one that was sent alone.
    archive(&spool).keep_group(&header(), &entries[1..3], &group(&[1, 2]).write(), 1);
    archive(&spool).keep_alone(&spool.path(&entries[3]), &entries[3], 2);
    spool.discard(&entries[1]).unwrap();
    drop(spool);
    let spool = open(folder.path(), KEEP, 3);
    assert_eq!(numbers(&spool), [1, 2, 3]);
    let waiting = spool.oldest(&Stop::new()).unwrap();
    assert_eq!((spool.waiting(), waiting.sequence), (1, 0));
    assert!(spool.path(&waiting).exists() && !spool.path(&entries[2]).exists());
    // A message of the same number that is another window stays in the queue.
    drop(spool);
    let other = Entry { order: 9, ..entries[2].clone() };
    fs::write(folder.path().join(other.file_name()), window(7).write_kept()).unwrap();
    assert_eq!(open(folder.path(), KEEP, 3).waiting(), 2);
}

#[test]
fn windows_that_the_owner_deleted_are_kept_no_more() {
    let folder = TempDir::new().unwrap();
    let spool = open(folder.path(), KEEP, 0);
    keep_alone(&spool, [0], 0);
    keep_group(&spool, &[1, 2, 3], 1);
    keep_alone(&spool, [4], 2);
    // Window 1 has ended by then.
    archive(&spool).forget("tank", 2 * LENGTH).unwrap();
    assert_eq!(numbers(&spool), [2, 3, 4]);
    assert!(!names(folder.path()).iter().any(|name| name.ends_with(".group")));
    // The others have the signature of the group.
    let members = group(&[1, 2, 3]);
    for (file, member) in archive(&spool).files_of("tank").iter().zip(&members.windows()[1..]) {
        let read = archive(&spool).read(file).unwrap();
        assert_eq!(read.windows()[0].write(), member.write());
        read.windows()[0].verify(&identity().verifying_key()).unwrap();
    }
    assert_eq!(archive(&spool).totals().windows, 3);
    // An order that was followed is not followed again, one that reaches further is.
    archive(&spool).forget("tank", LENGTH).unwrap();
    archive(&spool).forget("yard", 9 * LENGTH).unwrap();
    assert_eq!(numbers(&spool), [2, 3, 4]);
    archive(&spool).forget("tank", 9 * LENGTH).unwrap();
    assert_eq!(numbers(&spool), Vec::<u64>::new());
}

#[test]
fn a_full_disk_takes_the_oldest_and_stops_nothing() {
    let folder = TempDir::new().unwrap();
    let spool = open(folder.path(), KEEP, 0);
    keep_alone(&spool, 0..3, 0);
    let (file, left) = (ArchivedFile::alone(4, "tank", 3, 1), std::cell::Cell::new(2_u32));
    let full_twice = || match left.replace(left.get().saturating_sub(1)) {
        0 => Ok(()),
        _ => Err(std::io::ErrorKind::StorageFull.into()),
    };
    assert!(archive(&spool).kept(file, 4, full_twice));
    assert_eq!(archive(&spool).files_of("tank").iter().map(|file| file.first).collect::<Vec<_>>(), [2, 3]);
    // A message that cannot be kept leaves the queue all the same.
    fs::remove_dir_all(folder.path().join(CONFIRMED)).unwrap();
    let entries = put(&spool, 4..8);
    spool.delivered(&entries[0]).unwrap();
    spool.delivered_group(&entries[1..], &header(), &group(&[5, 6, 7]).write()).unwrap();
    assert_eq!((spool.waiting(), entries.iter().filter(|entry| spool.path(entry).exists()).count()), (0, 0));
    // Messages that wait come first.
    let mut tries = 0;
    let written = spool.when_there_is_space(&Stop::new(), || {
        tries += 1;
        let error = std::io::ErrorKind::StorageFull.into();
        if tries < 3 { Err(SpoolError::Io { path: folder.path().to_owned(), error }) } else { Ok(()) }
    });
    assert_eq!((written.unwrap(), archive(&spool).totals().windows), (Some(()), 0));
    // A folder that cannot be made keeps no agent from starting.
    drop(spool);
    fs::write(folder.path().join(CONFIRMED), b"").unwrap();
    assert!(open(folder.path(), KEEP, 0).archive().is_none());
}

#[test]
fn orders_that_were_followed_outlast_a_run() {
    let folder = TempDir::new().unwrap();
    let spool = open(folder.path(), KEEP, 0);
    assert!(!archive(&spool).has_followed("tank", &[1; 32]));
    archive(&spool).follow("tank", &[1; 32]);
    archive(&spool).follow("tank", &[2; 32]);
    drop(spool);
    let spool = open(folder.path(), KEEP, 0);
    let has = |stream: &str, order: u8| archive(&spool).has_followed(stream, &[order; 32]);
    assert!(has("tank", 1) && has("tank", 2) && !has("tank", 3) && !has("yard", 1));
    fs::write(folder.path().join(CONFIRMED).join("accepted.json"), b"{").unwrap();
    assert!(!has("tank", 1), "compared once more");
}

#[test]
fn a_damaged_message_is_told_and_a_spool_without_any_is_read() {
    let folder = TempDir::new().unwrap();
    assert_eq!(ArchiveTotals::read(folder.path()).unwrap(), ArchiveTotals::default());
    let spool = open(folder.path(), KEEP, 0);
    assert!(archive(&spool).streams().is_empty());
    keep_group(&spool, &[0, 1], 0);
    let file = &archive(&spool).files_of("tank")[0];
    let path = folder.path().join(CONFIRMED).join(file.name());
    let bytes = fs::read(&path).unwrap();
    for damaged in [&bytes[..bytes.len() - 1], &bytes[..3], b""] {
        fs::write(&path, damaged).unwrap();
        assert!(matches!(archive(&spool).read(file), Err(SpoolError::Damaged { .. })));
    }
    fs::write(
        folder.path().join(CONFIRMED).join("00000000000000000000.tank.9.envelope"),
        window(8).write_kept(),
    )
    .unwrap();
    drop(spool);
    let spool = open(folder.path(), KEEP, 0);
    let renamed = &archive(&spool).files_of("tank")[1];
    assert!(matches!(archive(&spool).read(renamed), Err(SpoolError::Renamed { .. })));
}

#[test]
fn messages_that_were_sent_again_are_behind_the_others() {
    let folder = TempDir::new().unwrap();
    let spool = open(folder.path(), KEEP, 0);
    keep_alone(&spool, 0..3, 5);
    // A clock that stands still, or was set back a little, does not change the order of receipts.
    keep_alone(&spool, [3], 5);
    keep_alone(&spool, [4], 1);
    assert_eq!(numbers(&spool), [0, 1, 2, 3, 4]);
    let first = &archive(&spool).files_of("tank")[0];
    archive(&spool).renew(first, 20);
    assert_eq!(numbers(&spool), [1, 2, 3, 4, 0]);
    drop(spool);
    let spool = open(folder.path(), KEEP, 20);
    assert_eq!(numbers(&spool), [1, 2, 3, 4, 0]);
    assert_eq!(archive(&spool).files_of("tank")[4].confirmed_at, 20);
}
