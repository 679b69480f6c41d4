//! The spool: durable, bounded, and without repeated sequence numbers.

mod learnt;
mod named;

use crate::site;
use sotto_pack::Period;

use std::fs;
use std::path::Path;
use std::time::Duration;

use site::{Site, files};
use sotto_agent::spool::{Contents, Cuts, Entry, Inventory, NewNames, REFUSED, Spool, SpoolError};
use sotto_agent::stop::Stop;
use sotto_rlwe::Bfv;
use sotto_wire::{AnyCiphertext, Envelope, EnvelopeHeader};

const LIMIT: u64 = 1 << 20;

/// Opens a spool. A child that another test begins holds its lock until the child becomes a program.
fn free(folder: &Path) -> Result<Spool, SpoolError> {
    for _ in 0..500 {
        match Spool::open(folder, "device-1", LIMIT, &cuts()) {
            Err(SpoolError::InUse { .. }) => std::thread::sleep(std::time::Duration::from_millis(10)),
            opened => return opened,
        }
    }
    Spool::open(folder, "device-1", LIMIT, &cuts())
}

fn open(folder: &Path) -> Spool {
    begun(Spool::open(folder, "device-1", LIMIT, &no_cuts()).unwrap())
}

/// Returns the cuts of a device whose bundle has none of the streams in its spool.
fn no_cuts() -> Cuts {
    Cuts::new(sotto_pack::Clock::utc(), std::collections::BTreeMap::new())
}

/// Returns the spool with its streams at 0 if it is new.
fn begun(spool: Spool) -> Spool {
    if spool.is_new() {
        spool.begin().unwrap();
    }
    spool
}

/// Puts a message without a known end.
fn put(spool: &Spool, stream: &str, sequence: u64, message: &[u8]) -> Entry {
    spool.put(stream, sequence, message, &Contents::default()).unwrap()
}

/// Returns a small but valid message.
fn message(site: &Site, stream: &str, sequence: u64) -> Vec<u8> {
    message_with(site, stream, sequence, Vec::new())
}

fn message_with(site: &Site, stream: &str, sequence: u64, layout: Vec<u8>) -> Vec<u8> {
    let params = site::params::<Bfv>();
    let key = sotto_keys::SecretKey::derive(&site.secret, &params);
    let plaintext =
        <Bfv as sotto_rlwe::Scheme>::encode_slots(&params, &[1, 2, 3], params.top_level()).unwrap();
    let seeded = key.encrypt(&plaintext, &mut sotto_ring::secure_rng().unwrap()).unwrap();
    let header = EnvelopeHeader {
        device: "device-1".into(),
        stream: stream.into(),
        sequence,
        parameters: params.id(),
        key: key.id(),
        started_at: 0,
        ended_at: 1,
        readings: 3,
        layout,
    };
    let body = AnyCiphertext::Seeded(seeded).write();
    Envelope::sign(header, body, |message| site.identity.sign(message)).unwrap().write()
}

fn oldest(spool: &Spool) -> Entry {
    spool.oldest(&Stop::new()).unwrap()
}

#[test]
fn messages_come_back_oldest_first_and_outlast_a_restart() {
    let (site, folder) = (Site::new(4, 1), tempfile::tempdir().unwrap());
    let messages: Vec<Vec<u8>> = (0..12).map(|sequence| message(&site, "a.b", sequence)).collect();
    let spool = open(folder.path());
    for message in &messages {
        let sequence = spool.next_sequence("a.b").unwrap();
        put(&spool, "a.b", sequence, message);
    }
    spool.delivered(&oldest(&spool)).unwrap();
    drop(spool);
    let spool = open(folder.path());
    assert_eq!(spool.waiting(), 11);
    spool.close();
    for (sequence, message) in (1..).zip(&messages[1..]) {
        let entry = oldest(&spool);
        let (bytes, envelope) = spool.read(&entry).unwrap();
        assert_eq!((entry.sequence, envelope.header().sequence, &bytes), (sequence, sequence, message));
        spool.delivered(&entry).unwrap();
    }
    assert_eq!(spool.oldest(&Stop::new()), None);
    assert!(files(folder.path(), ".envelope").is_empty());
}

#[test]
fn a_sequence_number_is_never_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let next = |spool: &Spool| (spool.next_sequence("a").unwrap(), spool.next_sequence("b").unwrap());
    let spool = open(folder.path());
    assert_eq!(next(&spool), (0, 0));
    for sequence in 0..2 {
        let entry = put(&spool, "a", sequence, b"message");
        spool.delivered(&entry).unwrap();
    }
    put(&spool, "b", 0, b"message");
    assert_eq!(next(&spool), (2, 1));
    drop(spool);
    // The messages are gone, but not the numbers.
    let spool = open(folder.path());
    assert_eq!(next(&spool), (2, 1));
    drop(spool);
    // Without `state.json`, the numbers of all files count, including refused ones.
    fs::remove_file(folder.path().join("state.json")).unwrap();
    fs::write(folder.path().join("00000000000000000000.a.7.envelope"), b"").unwrap();
    fs::write(folder.path().join(REFUSED).join("00000000000000000001.b.9.envelope"), b"").unwrap();
    let spool = open(folder.path());
    assert_eq!(next(&spool), (8, 10));
}

/// Returns an hour window of minutes that covers `length` minutes from `start` minutes after 1970, with a reading in
/// the first one.
fn window(site: &Site, sequence: u64, start: i64, length: u32) -> Vec<u8> {
    message_with(site, "a", sequence, description(start, length).to_json().unwrap())
}

fn description(start: i64, length: u32) -> sotto_pack::WindowDescription {
    let channel = sotto_pack::Channel { name: "x".into(), maximum: 1.0, ..Default::default() };
    let encoding = sotto_pack::Encoding::Integer { bits: 8 };
    let layout = sotto_pack::Layout::smallest(vec![channel], 60, 64, 1, encoding).unwrap();
    let mut window =
        sotto_pack::Window::spanning(layout, start * 60_000, Period::from_milliseconds(60_000), length)
            .unwrap();
    window.push(&sotto_pack::Reading { at: start * 60_000, channel: 0, value: 0.5 }).unwrap();
    sotto_pack::WindowDescription::from(&window.close())
}

fn cuts() -> Cuts {
    let cut = sotto_pack::Cut::new(sotto_pack::Span::Hour, Period::from_milliseconds(60_000), 60);
    Cuts::new(sotto_pack::Clock::utc(), [("a".to_owned(), cut)].into())
}

/// Returns the contents of a window that ends at a minute.
fn contents(message: &[u8], until: i64) -> Contents {
    let header = Envelope::read(message, LIMIT).unwrap().header().clone();
    Contents::of(&sotto_pack::WindowDescription::parse(&header.layout).unwrap(), until * 60_000)
}

/// Returns the minutes that stream `a` has sent.
fn minutes(spool: &Spool) -> Vec<i64> {
    let sent = spool.sent("a");
    let runs = sent.channels.get("x").into_iter().flat_map(sotto_agent::spool::Runs::iter);
    runs.flat_map(|(from, to)| (from..to).step_by(60_000)).map(|at| at / 60_000).collect()
}

/// Returns, for stream `a`: windows, readings, the end of its last window in minutes, and its next sequence number.
fn state(spool: &Spool, folder: &Path) -> (u64, u64, Option<i64>, u64) {
    let status = Inventory::read(folder).unwrap();
    let totals = status.streams.get("a").map(|stream| stream.totals.clone()).unwrap_or_default();
    let until = spool.sent_until("a").map(|until| until / 60_000);
    (totals.windows, totals.readings(), until, spool.next_sequence("a").unwrap())
}

#[test]
fn a_crash_between_any_two_steps_neither_loses_nor_repeats_a_window() {
    let (site, folder) = (Site::new(4, 1), tempfile::tempdir().unwrap());
    let reopen = || begun(free(folder.path()).unwrap());
    // Before the first step: nothing.
    let spool = reopen();
    assert_eq!(state(&spool, folder.path()), (0, 0, None, 0));
    // After the first: the window is in the spool, and its end and readings count.
    let first = window(&site, 0, 0, 60);
    spool.write("a", 0, &first).unwrap();
    assert_eq!(spool.waiting(), 0, "not yet the sender's");
    drop(spool);
    let spool = reopen();
    assert_eq!((state(&spool, folder.path()), spool.waiting()), ((1, 1, Some(60), 1), 1));
    // It counts once, however often the spool is opened.
    drop(spool);
    let spool = reopen();
    assert_eq!((state(&spool, folder.path()), spool.waiting()), ((1, 1, Some(60), 1), 1));
    // After the second.
    let second = window(&site, 1, 60, 30);
    let entry = spool.write("a", 1, &second).unwrap();
    spool.record(&entry, &contents(&second, 90)).unwrap();
    drop(spool);
    let spool = reopen();
    assert_eq!((state(&spool, folder.path()), spool.waiting()), ((2, 2, Some(90), 2), 2));
    assert_eq!(minutes(&spool), [0, 60]);
    // A refused window counts too: here, one whose second step is missing.
    let third = window(&site, 2, 90, 30);
    let entry = spool.write("a", 2, &third).unwrap();
    spool.show(entry.clone());
    spool.refuse(&entry, b"{}").unwrap();
    drop(spool);
    let spool = reopen();
    assert_eq!((state(&spool, folder.path()), spool.waiting()), ((3, 3, Some(120), 3), 2));
    // Receipts delete messages, and nothing else.
    while spool.waiting() > 0 {
        spool.delivered(&oldest(&spool)).unwrap();
    }
    drop(spool);
    let spool = reopen();
    assert_eq!((state(&spool, folder.path()), minutes(&spool)), ((3, 3, Some(120), 3), vec![0, 60, 90]));
}

/// The line of a message is torn at any byte: its file is counted again, and the line is written whole.
#[test]
fn a_torn_line_is_that_of_a_message_in_the_folder() {
    let (site, folder) = (Site::new(4, 1), tempfile::tempdir().unwrap());
    let reopen = || free(folder.path());
    let journal = folder.path().join("sent.journal");
    let first = window(&site, 0, 0, 60);
    let spool = begun(reopen().unwrap());
    let begin = fs::read(&journal).unwrap().len();
    let entry = spool.put("a", 0, &first, &contents(&first, 60)).unwrap();
    drop(spool);
    let whole = fs::read(&journal).unwrap();
    for end in begin..whole.len() {
        fs::write(&journal, &whole[..end]).unwrap();
        let spool = reopen().unwrap();
        assert_eq!((state(&spool, folder.path()), minutes(&spool)), ((1, 1, Some(60), 1), vec![0]), "{end}");
        assert_eq!(fs::read(&journal).unwrap(), whole, "{end}");
    }
    // Without the message it is damage: the number might be used again.
    fs::remove_file(folder.path().join(entry.file_name())).unwrap();
    assert_eq!(reopen().unwrap().next_sequence("a").unwrap(), 1);
    for damaged in [whole[..whole.len() - 1].to_vec(), [&whole[..], b"0"].concat()] {
        fs::write(&journal, damaged).unwrap();
        assert!(matches!(reopen(), Err(SpoolError::State { .. })));
    }
    fs::remove_file(&journal).unwrap();
    assert!(matches!(reopen(), Err(SpoolError::State { reason, .. }) if reason == "it is missing"));
}

/// A kill between the two steps of a snapshot, in either state of the files.
#[test]
fn lines_that_a_snapshot_counts_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let reopen = || begun(free(folder.path()).unwrap());
    let (journal, json) = (folder.path().join("sent.journal"), folder.path().join("state.json"));
    let (spool, mut sequence, mut before) = (reopen(), 0, Vec::new());
    let state_at_first = fs::read(&json).unwrap();
    // Until the first snapshot.
    while fs::read(&json).unwrap() == state_at_first {
        before = fs::read(&journal).unwrap();
        let start = i64::try_from(sequence).unwrap() * 60;
        let until = (start + 60) * 60_000;
        let contents = Contents::of(&description(start, 60), until);
        let entry = spool.put("a", sequence, b"message", &contents).unwrap();
        spool.delivered(&entry).unwrap();
        sequence += 1;
    }
    assert!(sequence > 100, "a snapshot after {sequence} messages");
    let (expected, sent) = (state(&spool, folder.path()), minutes(&spool));
    assert_eq!(sent.len() as u64, sequence);
    drop(spool);
    let after = fs::read(&journal).unwrap();
    assert!(after.len() < before.len());
    // The last message's line was there when `state.json` was written.
    assert_eq!(state(&reopen(), folder.path()), expected);
    fs::write(&journal, [&before[..], &after[..]].concat()).unwrap();
    let spool = reopen();
    assert_eq!((state(&spool, folder.path()), minutes(&spool)), (expected, sent));
}

#[test]
fn a_spool_of_an_earlier_version_has_sent_all_before_its_last_window() {
    let (site, folder) = (Site::new(4, 1), tempfile::tempdir().unwrap());
    let old = br#"{"device":"device-1","next":{"a":4},"sent_until":{"a":7200000}}"#;
    fs::write(folder.path().join("state.json"), old).unwrap();
    let sent = |spool: &Spool| (spool.sent("a").before, spool.sent("a").until, minutes(spool));
    for _ in 0..2 {
        let spool = free(folder.path()).unwrap();
        assert_eq!(sent(&spool), (Some(7_200_000), Some(7_200_000), vec![]));
    }
    let spool = free(folder.path()).unwrap();
    let message = window(&site, 4, 180, 60);
    spool.put("a", 4, &message, &contents(&message, 240)).unwrap();
    drop(spool);
    let spool = free(folder.path()).unwrap();
    assert_eq!(sent(&spool), (Some(7_200_000), Some(14_400_000), vec![180]));
    // An earlier version does not know the journal: it must refuse the state instead of using numbers again.
    let state: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.path().join("state.json")).unwrap()).unwrap();
    assert!(state.get("before").is_some());
}

#[test]
fn the_state_of_an_older_agent_is_read() {
    let (site, folder) = (Site::new(4, 1), tempfile::tempdir().unwrap());
    // With the record of shared masks that there was once.
    let old = br#"{"device":"device-1","next":{"a":1},"shared":{"a":0}}"#;
    fs::write(folder.path().join("state.json"), old).unwrap();
    let entry = Entry { order: 0, stream: "a".into(), sequence: 0, bytes: 0 };
    fs::write(folder.path().join(entry.file_name()), window(&site, 0, 60, 60)).unwrap();
    let spool = free(folder.path()).unwrap();
    // The end of a waiting window counts. Its readings do not, because those of earlier windows are unknown too.
    assert_eq!(state(&spool, folder.path()), (0, 0, Some(120), 1));
}

#[test]
fn the_end_of_a_span_ends_a_window_that_its_ticks_would_cross() {
    let (site, folder) = (Site::new(4, 1), tempfile::tempdir().unwrap());
    let spool = open(folder.path());
    // 40 minutes from minute 30 on: the span ends after 30 of them.
    spool.write("a", 0, &window(&site, 0, 30, 40)).unwrap();
    drop(spool);
    let spool = free(folder.path()).unwrap();
    assert_eq!(state(&spool, folder.path()).2, Some(60));
}

#[test]
fn after_the_last_sequence_number_nothing_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let last = u64::MAX;
    fs::write(folder.path().join(format!("{last}.a.{last}.envelope")), b"").unwrap();
    let spool = open(folder.path());
    for _ in 0..2 {
        assert!(matches!(spool.next_sequence("a"), Err(SpoolError::NoneLeft { .. })));
    }
    assert_eq!(spool.next_sequence("b").unwrap(), 0, "another stream has all of its own");
    for sequence in 0..2 {
        assert_eq!(put(&spool, "b", sequence, b"message").order, last, "the last of the order too");
    }
    assert_eq!(spool.waiting(), 3);
}

#[test]
fn messages_put_aside_have_a_bound_of_their_own() {
    let (site, folder) = (Site::new(8, 10), tempfile::tempdir().unwrap());
    let spool = open(folder.path());
    let message = message(&site, "bfv", 0);
    let entry = put(&spool, "bfv", 0, &message);
    // The document counts towards the limit too.
    let document = vec![b' '; LIMIT as usize - message.len() - 10];
    assert!(spool.refuse(&entry, &document).unwrap());
    let stopped = Stop::new();
    stopped.ask();
    assert!(spool.wait_for_room(LIMIT, &stopped).unwrap(), "new windows have all of their room");
    let entry = put(&spool, "bfv", 1, &message);
    assert!(!spool.refuse(&entry, b"{}").unwrap(), "it stays in the spool");
    assert_eq!((spool.waiting(), spool.refused().unwrap()), (1, 1));
}

#[test]
fn a_new_spool_is_new_until_it_is_known_where_its_streams_stand() {
    let folder = tempfile::tempdir().unwrap();
    let reopen = || free(folder.path()).unwrap();
    assert!(reopen().is_new() && reopen().is_new());
    let spool = reopen();
    spool.resume("a", 7, Some(90 * 60_000)).unwrap();
    spool.resume("a", 3, Some(60 * 60_000)).unwrap();
    spool.begin().unwrap();
    assert_eq!((spool.next_sequence("a").unwrap(), spool.sent_until("a")), (7, Some(90 * 60_000)));
    drop(spool);
    let spool = reopen();
    assert!(!spool.is_new());
    assert_eq!((spool.next_sequence("a").unwrap(), spool.sent_until("a")), (7, Some(90 * 60_000)));
    assert_eq!(spool.next_sequence("b").unwrap(), 0);
}

#[test]
fn messages_put_aside_are_sent_again_with_free_numbers() {
    let (site, folder) = (Site::new(8, 10), tempfile::tempdir().unwrap());
    let spool = open(folder.path());
    let problems = [r#"{"problem":{"type":"urn:sotto:problem:sequence-taken"}}"#, "{}"];
    for (sequence, problem) in (0..).zip(problems) {
        let entry = put(&spool, "bfv", sequence, &message(&site, "bfv", sequence));
        assert!(spool.refuse(&entry, problem.as_bytes()).unwrap());
    }
    let sign = |envelope: Envelope, sequence: u64, names: &NewNames| {
        let sign = |message: &[u8]| site.identity.sign(message);
        Ok(envelope.renamed(sequence, |number| names.of(number), sign)?.write())
    };
    let done = spool.put_back(&std::collections::BTreeMap::new(), &no_cuts(), sign).unwrap();
    assert_eq!((done.messages, done.renumbered, done.damaged), (2, 1, 0));
    assert!(files(&folder.path().join(REFUSED), "").is_empty());
    let mut sequences = Vec::new();
    while spool.waiting() > 0 {
        let entry = oldest(&spool);
        let (_, envelope) = spool.read(&entry).unwrap();
        envelope.verify(&site.identity.verifying_key()).unwrap();
        sequences.push(envelope.header().sequence);
        spool.delivered(&entry).unwrap();
    }
    sequences.sort_unstable();
    assert_eq!(sequences, [1, 2]);
}

#[test]
fn streams_that_would_not_be_read_again_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let next: std::collections::BTreeMap<String, u64> =
        (0..60_000).map(|i| (format!("{i:064}"), u64::MAX - 1)).collect();
    let state = serde_json::json!({ "device": "device-1", "next": next }).to_string();
    // The number of streams that still fit.
    let (streams, fit) = (60_000, 47_600);
    let end = state.len() * fit / streams;
    let end = end + state[end..].find(',').unwrap();
    fs::write(folder.path().join("state.json"), format!("{}}}}}", &state[..end])).unwrap();
    let spool = open(folder.path());
    let new = |i| spool.put(&format!("new-{i:060}"), 0, b"message", &Contents::default());
    let refused = (0..10_000).find_map(|i| new(i).err());
    assert!(matches!(refused, Some(SpoolError::TooManyStreams { .. })), "{refused:?}");
    drop(spool);
    drop(open(folder.path()));
    fs::write(folder.path().join("state.json"), state).unwrap();
    assert!(matches!(
        Spool::open(folder.path(), "device-1", LIMIT, &no_cuts()),
        Err(SpoolError::TooManyStreams { .. })
    ));
}

#[test]
fn what_a_killed_process_left_half_written_is_removed() {
    let (site, folder) = (Site::new(4, 1), tempfile::tempdir().unwrap());
    let spool = open(folder.path());
    put(&spool, "a", 0, &message(&site, "a", 0));
    drop(spool);
    // As after a crash between writing and renaming: parts of a message, of the state, of a document.
    let leftovers = ["00000000000000000001.a.1.envelope.partial", "state.json.partial"];
    for name in leftovers {
        fs::write(folder.path().join(name), b"sott").unwrap();
    }
    fs::write(folder.path().join(REFUSED).join("x.problem.json.partial"), b"{").unwrap();
    let spool = open(folder.path());
    assert!(files(folder.path(), ".partial").is_empty());
    assert!(files(&folder.path().join(REFUSED), ".partial").is_empty());
    assert_eq!((spool.waiting(), oldest(&spool).sequence), (1, 0));
    assert!(spool.read(&oldest(&spool)).is_ok());
}

#[test]
fn a_damaged_or_renamed_message_is_found() {
    let (site, folder) = (Site::new(4, 1), tempfile::tempdir().unwrap());
    let spool = open(folder.path());
    let entry = put(&spool, "a", 0, &message(&site, "a", 0));
    let path = folder.path().join(entry.file_name());
    let bytes = fs::read(&path).unwrap();
    for at in [0, 20, bytes.len() / 2, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        fs::write(&path, &damaged).unwrap();
        assert!(matches!(spool.read(&entry), Err(SpoolError::Damaged { .. })), "byte {at}");
    }
    fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    assert!(matches!(spool.read(&entry), Err(SpoolError::Damaged { .. })));
    fs::write(&path, message(&site, "a", 1)).unwrap();
    assert!(matches!(spool.read(&entry), Err(SpoolError::Renamed { .. })));
}

#[test]
fn a_spool_is_one_device_s_and_one_process_s() {
    let folder = tempfile::tempdir().unwrap();
    let spool = open(folder.path());
    assert!(matches!(
        Spool::open(folder.path(), "device-1", LIMIT, &no_cuts()),
        Err(SpoolError::InUse { .. })
    ));
    drop(spool);
    let other = Spool::open(folder.path(), "device-2", LIMIT, &no_cuts());
    assert!(matches!(other, Err(SpoolError::OtherDevice { found, .. }) if found == "device-1"));
    fs::write(folder.path().join("state.json"), b"{").unwrap();
    assert!(matches!(
        Spool::open(folder.path(), "device-1", LIMIT, &no_cuts()),
        Err(SpoolError::State { .. })
    ));
}

#[test]
fn a_full_spool_makes_the_reader_wait() {
    let (folder, stop) = (tempfile::tempdir().unwrap(), Stop::new());
    let spool = open(folder.path());
    let entry = put(&spool, "a", 0, &vec![0; LIMIT as usize - 1000]);
    assert!(spool.wait_for_room(1000, &stop).unwrap());
    assert!(matches!(spool.wait_for_room(LIMIT + 1, &stop), Err(SpoolError::TooSmall { .. })));
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| spool.wait_for_room(1001, &stop).unwrap());
        std::thread::sleep(Duration::from_millis(200));
        assert!(!waits.is_finished());
        spool.delivered(&entry).unwrap();
        assert!(waits.join().unwrap());
        put(&spool, "a", 1, &vec![0; LIMIT as usize]);
        let waits = scope.spawn(|| spool.wait_for_room(1, &stop).unwrap());
        stop.ask();
        assert!(!waits.join().unwrap());
    });
}

#[test]
fn messages_that_arrive_join_those_that_wait() {
    let (site, folder) = (Site::new(4, 60_000), tempfile::tempdir().unwrap());
    let spool = open(folder.path());
    let bytes = message(&site, "window", 0);
    // On a busy machine a message may come after the wait for it: of many rounds, one in which all three meet is enough.
    let together = (0..50).any(|round| {
        put(&spool, "window", 3 * round, &bytes);
        let joined = std::thread::scope(|scope| {
            scope.spawn(|| (1..3).for_each(|at| drop(put(&spool, "window", 3 * round + at, &bytes))));
            spool.oldest_of("window", 3, LIMIT, &Stop::new())
        });
        let all = spool.oldest_of("window", usize::MAX, LIMIT, &Stop::new());
        assert_eq!(all.len(), 3, "the wait ends although more could come");
        all.iter().for_each(|entry| spool.delivered(entry).unwrap());
        joined.len() == 3
    });
    assert!(together, "a message never waits for the next one");
}

#[cfg(unix)]
#[test]
fn nobody_else_can_read_a_spool() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let set = |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let (site, outside) = (Site::new(4, 1), tempfile::tempdir().unwrap());
    let folder = outside.path().join("device.spool");
    let paths = || -> Vec<_> {
        let inside = |folder: &Path| {
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
        };
        [inside(&folder), inside(&folder.join(REFUSED))].concat()
    };
    let open_to_others = || {
        let wanted = |path: &Path| if path.is_dir() { 0o700 } else { 0o600 };
        paths().into_iter().filter(|path| mode(path) != wanted(path)).collect::<Vec<_>>()
    };
    let spool = open(&folder);
    for sequence in 0..3 {
        put(&spool, "a", sequence, &message(&site, "a", sequence));
    }
    spool.refuse(&oldest(&spool), b"{}").unwrap();
    let files = paths().len();
    assert!(
        files >= 7,
        "messages, a refused one and its document, state, reserve, lock, the folder: {files}"
    );
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(open_to_others(), Vec::<std::path::PathBuf>::new());
    drop(spool);

    // Modes as an earlier version left them; a link leads to a file outside the spool.
    let other = outside.path().join("other");
    fs::write(&other, "").unwrap();
    set(&other, 0o644);
    symlink(&other, folder.join("link")).unwrap();
    paths()
        .iter()
        .filter(|path| !path.is_symlink())
        .for_each(|path| set(path, if path.is_dir() { 0o755 } else { 0o644 }));
    set(&folder, 0o755);
    drop(open(&folder));
    fs::remove_file(folder.join("link")).unwrap();
    assert_eq!(open_to_others(), Vec::<std::path::PathBuf>::new());
    assert_eq!((mode(&folder), mode(&other)), (0o700, 0o644));
}

#[test]
fn numbers_and_times_of_windows_outlast_snapshots() {
    let (site, folder) = (Site::new(4, 1), tempfile::tempdir().unwrap());
    let reopen = || begun(free(folder.path()).unwrap());
    let between = |spool: &Spool, from: i64, to: i64| {
        let channels = std::collections::BTreeSet::from(["x"]);
        spool.sent("a").windows.between(from * 60_000, to * 60_000, &channels)
    };
    let put = |spool: &Spool, sequence: u64, start: i64, cleared: Option<(i64, i64)>| {
        let message = window(&site, sequence, start, 30);
        let mut contents = contents(&message, start + 30);
        if let Some((from, to)) = cleared {
            let mut time = sotto_agent::spool::Runs::default();
            time.insert(from * 60_000, to * 60_000);
            contents.cleared = [("x".to_owned(), time)].into();
        }
        spool.put("a", sequence, &message, &contents).unwrap();
    };
    let spool = reopen();
    put(&spool, 0, 0, None);
    put(&spool, 1, 30, None);
    put(&spool, 2, 60, None);
    assert_eq!(between(&spool, 20, 40), [0, 1]);
    // A correction takes the ticks out that its window lacks.
    put(&spool, 3, 10, Some((0, 40)));
    assert_eq!(minutes(&spool), [10, 60]);
    drop(spool);
    for _ in 0..2 {
        let spool = reopen();
        assert_eq!((between(&spool, 0, 120), minutes(&spool)), (vec![0, 1, 2, 3], vec![10, 60]));
        // A snapshot takes the place of the lines.
        spool.begin().unwrap();
        drop(spool);
    }
    // A message whose line was not written: its header tells its time.
    let spool = reopen();
    let message = window(&site, 4, 90, 30);
    spool.write("a", 4, &message).unwrap();
    drop(spool);
    assert_eq!(between(&reopen(), 90, 120), [4]);
}
