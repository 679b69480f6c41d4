//! The spool: durable, bounded, and never the same sequence number twice.
#![allow(clippy::unwrap_used)]

mod site;

use std::fs;
use std::path::Path;
use std::time::Duration;

use site::{Site, files};
use sotto_agent::spool::{Entry, REFUSED, Spool, SpoolError};
use sotto_agent::stop::Stop;
use sotto_rlwe::Bfv;
use sotto_wire::{AnyCiphertext, Envelope, EnvelopeHeader};

const LIMIT: u64 = 1 << 20;

fn open(folder: &Path) -> Spool {
    Spool::open(folder, "device-1", LIMIT).unwrap()
}

/// A real message, a few bytes of it.
fn message(site: &Site, stream: &str, sequence: u64) -> Vec<u8> {
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
        layout: Vec::new(),
    };
    let body = AnyCiphertext::Seeded(seeded).write();
    Envelope::sign(header, body, |message| site.identity.sign(message)).unwrap().write().unwrap()
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
        let sequence = spool.take_sequence("a.b").unwrap();
        spool.put("a.b", sequence, message).unwrap();
    }
    spool.delivered(&oldest(&spool)).unwrap();
    drop(spool);
    let spool = open(folder.path());
    assert_eq!(spool.waiting(), 11);
    spool.close();
    for (sequence, message) in (1..).zip(&messages[1..]) {
        let entry = oldest(&spool);
        let (bytes, envelope) = spool.read(&entry).unwrap();
        assert_eq!((entry.sequence, envelope.header.sequence, &bytes), (sequence, sequence, message));
        spool.delivered(&entry).unwrap();
    }
    assert_eq!(spool.oldest(&Stop::new()), None);
    assert!(files(folder.path(), ".envelope").is_empty());
}

#[test]
fn a_sequence_number_is_never_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let spool = open(folder.path());
    assert_eq!((spool.take_sequence("a").unwrap(), spool.take_sequence("a").unwrap()), (0, 1));
    assert_eq!(spool.take_sequence("b").unwrap(), 0);
    drop(spool);
    // Taken, never spooled: a gap.
    let spool = open(folder.path());
    assert_eq!((spool.take_sequence("a").unwrap(), spool.take_sequence("b").unwrap()), (2, 1));
    drop(spool);
    // Without the numbers, those of the files count, also of the refused ones.
    fs::remove_file(folder.path().join("state.json")).unwrap();
    fs::write(folder.path().join("00000000000000000000.a.7.envelope"), b"").unwrap();
    fs::write(folder.path().join(REFUSED).join("00000000000000000001.b.9.envelope"), b"").unwrap();
    let spool = open(folder.path());
    assert_eq!((spool.take_sequence("a").unwrap(), spool.take_sequence("b").unwrap()), (8, 10));
}

#[test]
fn after_the_last_sequence_number_nothing_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let last = u64::MAX;
    fs::write(folder.path().join(format!("{last}.a.{last}.envelope")), b"").unwrap();
    let spool = open(folder.path());
    for _ in 0..2 {
        assert!(matches!(spool.take_sequence("a"), Err(SpoolError::NoneLeft { .. })));
    }
    assert_eq!(spool.take_sequence("b").unwrap(), 0, "another stream has all of its own");
    for sequence in 0..2 {
        assert_eq!(spool.put("b", sequence, b"message").unwrap().order, last, "the last of the order too");
    }
    assert_eq!(spool.waiting(), 3);
}

#[test]
fn why_a_message_is_refused_takes_room_too() {
    let (site, folder) = (Site::new(8, 10), tempfile::tempdir().unwrap());
    let spool = open(folder.path());
    let message = message(&site, "bfv", 0);
    let entry = spool.put("bfv", 0, &message).unwrap();
    let document = [b' '; 5000];
    spool.refuse(&entry, &document).unwrap();
    let stopped = Stop::new();
    stopped.ask();
    let room = LIMIT - (message.len() + document.len()) as u64;
    assert!(spool.wait_for_room(room, &stopped).unwrap());
    assert!(!spool.wait_for_room(room + 1, &stopped).unwrap());
}

#[test]
fn streams_that_would_not_be_read_again_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let next: std::collections::BTreeMap<String, u64> =
        (0..60_000).map(|i| (format!("{i:064}"), u64::MAX - 1)).collect();
    let state = serde_json::json!({ "device": "device-1", "next": next }).to_string();
    // Some of them fit.
    let (streams, fit) = (60_000, 47_600);
    let end = state.len() * fit / streams;
    let end = end + state[end..].find(',').unwrap();
    fs::write(folder.path().join("state.json"), format!("{}}}}}", &state[..end])).unwrap();
    let spool = open(folder.path());
    let taken = (0..10_000).find_map(|i| spool.take_sequence(&format!("new-{i:060}")).err());
    assert!(matches!(taken, Some(SpoolError::TooManyStreams { .. })), "{taken:?}");
    drop(spool);
    drop(open(folder.path()));
    fs::write(folder.path().join("state.json"), state).unwrap();
    assert!(matches!(Spool::open(folder.path(), "device-1", LIMIT), Err(SpoolError::TooManyStreams { .. })));
}

#[test]
fn what_a_killed_process_left_half_written_is_removed() {
    let (site, folder) = (Site::new(4, 1), tempfile::tempdir().unwrap());
    let spool = open(folder.path());
    spool.put("a", 0, &message(&site, "a", 0)).unwrap();
    drop(spool);
    // As between writing and renaming: part of a message, of the numbers, of a document.
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
    let entry = spool.put("a", 0, &message(&site, "a", 0)).unwrap();
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
    assert!(matches!(Spool::open(folder.path(), "device-1", LIMIT), Err(SpoolError::InUse { .. })));
    drop(spool);
    let other = Spool::open(folder.path(), "device-2", LIMIT);
    assert!(matches!(other, Err(SpoolError::OtherDevice { found, .. }) if found == "device-1"));
    fs::write(folder.path().join("state.json"), b"{").unwrap();
    assert!(matches!(Spool::open(folder.path(), "device-1", LIMIT), Err(SpoolError::State { .. })));
}

#[test]
fn a_full_spool_makes_the_reader_wait() {
    let (folder, stop) = (tempfile::tempdir().unwrap(), Stop::new());
    let spool = open(folder.path());
    let entry = spool.put("a", 0, &vec![0; LIMIT as usize - 1000]).unwrap();
    assert!(spool.wait_for_room(1000, &stop).unwrap());
    assert!(matches!(spool.wait_for_room(LIMIT + 1, &stop), Err(SpoolError::TooSmall { .. })));
    // Refused messages take room as well.
    spool.refuse(&entry, b"{}").unwrap();
    assert_eq!(files(&folder.path().join(REFUSED), "").len(), 2);
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| spool.wait_for_room(1001, &stop).unwrap());
        std::thread::sleep(Duration::from_millis(200));
        assert!(!waits.is_finished());
        fs::remove_file(folder.path().join(REFUSED).join(entry.file_name())).unwrap();
        assert!(waits.join().unwrap());
        spool.put("a", 1, &vec![0; LIMIT as usize]).unwrap();
        let waits = scope.spawn(|| spool.wait_for_room(1, &stop).unwrap());
        stop.ask();
        assert!(!waits.join().unwrap());
    });
}
