//! Messages that come in the place of others, after a crash and after other numbers.

use sotto_agent::spool::Learnt;
use sotto_pack::{Replaces, WindowDescription};

use super::*;

/// Returns a window with a reading in its first minute, which comes in the place of others.
fn naming(site: &Site, sequence: u64, (start, length): (i64, u32), windows: &[u64]) -> Vec<u8> {
    let replaces = Some(Replaces { windows: windows.to_vec(), channels: vec![0] });
    let described = WindowDescription { replaces, ..description(start, length) };
    message_with(site, "a", sequence, described.to_json().unwrap())
}

fn put(spool: &Spool, site: &Site, sequence: u64, start: i64, length: u32) -> Entry {
    let window = window(site, sequence, start, length);
    spool.put("a", sequence, &window, &contents(&window, start + i64::from(length))).unwrap()
}

/// A kill between the message of a correction and its line in the journal.
#[test]
fn a_correction_that_is_counted_again_takes_out_what_it_replaces() {
    let (site, folder) = (Site::new(4, 1), tempfile::tempdir().unwrap());
    let reopen = || begun(free(folder.path()).unwrap());
    let spool = reopen();
    put(&spool, &site, 0, 0, 30);
    put(&spool, &site, 1, 30, 30);
    put(&spool, &site, 2, 60, 30);
    // The file has a reading at minute 10 alone: those at 0 and 30 are taken out.
    spool.write("a", 3, &naming(&site, 3, (10, 50), &[0, 1])).unwrap();
    drop(spool);
    for _ in 0..2 {
        let spool = reopen();
        assert_eq!((minutes(&spool), spool.is_in_doubt()), (vec![10, 60], false));
        // A snapshot takes the place of the lines.
        spool.begin().unwrap();
    }
    // A window that the next one does not name has the same time: which ticks are whose, the cloud knows.
    let spool = reopen();
    put(&spool, &site, 4, 15, 5);
    spool.write("a", 5, &naming(&site, 5, (11, 49), &[3])).unwrap();
    drop(spool);
    let spool = reopen();
    assert_eq!(
        minutes(&spool),
        [11, 60],
        "a tick that is sent twice is refused, one that is not sent is lost"
    );
    assert!(spool.is_in_doubt());
    let learnt = Learnt { next: 3, of_windows: true, ..Learnt::default() };
    spool.learn("a", learnt, &cuts()).unwrap();
    assert_eq!(minutes(&spool), [11, 15, 60]);
}

/// A message waits that comes in the place of one with a number that the cloud gave away.
#[test]
fn references_follow_new_numbers() {
    let (site, folder) = (Site::new(4, 1), tempfile::tempdir().unwrap());
    let spool = begun(free(folder.path()).unwrap());
    let first = put(&spool, &site, 0, 0, 30);
    put(&spool, &site, 1, 60, 30);
    for (sequence, start, windows) in [(2, 10, &[0][..]), (3, 11, &[0, 2]), (4, 60, &[1])] {
        let message = naming(&site, sequence, (start, 30), windows);
        spool.put("a", sequence, &message, &contents(&message, start + 30)).unwrap();
    }
    assert!(spool.refuse(&first, br#"{"problem":{"type":"urn:sotto:problem:sequence-taken"}}"#).unwrap());
    let again = |envelope: Envelope, sequence: u64, names: &NewNames| {
        let sign = |message: &[u8]| site.identity.sign(message);
        Ok(envelope.renamed(sequence, |number| names.of(number), sign)?.write())
    };
    let done = spool.put_back(&std::collections::BTreeMap::new(), &cuts(), again).unwrap();
    assert_eq!((done.messages, done.renumbered), (3, 3));
    let mut found = Vec::new();
    while spool.waiting() > 0 {
        let entry = oldest(&spool);
        let (_, envelope) = spool.read(&entry).unwrap();
        envelope.verify(&site.identity.verifying_key()).unwrap();
        let window = WindowDescription::parse(&envelope.header().layout).unwrap();
        let names = window.replaces.map(|replaces| replaces.windows).unwrap_or_default();
        found.push((envelope.header().sequence, names));
        spool.delivered(&entry).unwrap();
    }
    let expected = [(1, vec![]), (4, vec![1]), (5, vec![]), (6, vec![5]), (7, vec![5, 6])];
    assert_eq!(found, expected);
    assert!(
        files(folder.path(), ".envelope").is_empty() && files(&folder.path().join(REFUSED), "").is_empty()
    );
    drop(spool);
    let spool = begun(free(folder.path()).unwrap());
    assert_eq!(minutes(&spool), [11, 60]);
}
