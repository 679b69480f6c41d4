//! Ticks that a spool learns from the cloud, and messages put aside whose ticks other windows have.

use std::collections::BTreeMap;

use sotto_agent::spool::{Learnt, PutBack, Sent, WindowTicks};

use super::*;

/// Returns what the cloud tells of windows with a reading at each of these minutes.
fn learnt(next: u64, minutes: &[i64]) -> Learnt {
    let (mut sent, mut ticks) = (Sent::default(), WindowTicks::default());
    for (number, minute) in (1 << 40..).zip(minutes) {
        let contents = Contents::of(&description(*minute, 1), (minute + 1) * 60_000);
        sent.add(&contents);
        ticks.add(number, &contents);
    }
    Learnt { next, signed_next: next, sent, ticks, of_windows: true }
}

fn learn(spool: &Spool, next: u64, minutes: &[i64]) {
    spool.learn("a", learnt(next, minutes), &cuts()).unwrap();
    spool.begin().unwrap();
}

/// Puts a window with a reading at a minute.
fn put_window(spool: &Spool, site: &Site, sequence: u64, minute: i64) -> Entry {
    let window = window(site, sequence, minute, 1);
    spool.put("a", sequence, &window, &contents(&window, minute + 1)).unwrap()
}

fn refuse(spool: &Spool, entry: &Entry, reason: &str) {
    let problem = format!(r#"{{"problem":{{"type":"urn:sotto:problem:{reason}"}}}}"#);
    assert!(spool.refuse(entry, problem.as_bytes()).unwrap());
}

#[test]
fn a_new_spool_has_the_ticks_of_the_clouds_windows() {
    let folder = tempfile::tempdir().unwrap();
    let spool = free(folder.path()).unwrap();
    learn(&spool, 9, &[3, 4, 7]);
    drop(spool);
    let spool = free(folder.path()).unwrap();
    assert!(!spool.is_new());
    assert_eq!(minutes(&spool), [3, 4, 7]);
    assert_eq!((spool.next_sequence("a").unwrap(), spool.sent_until("a")), (9, Some(8 * 60_000)));
    assert_eq!(spool.sent("a").before, None, "late readings before the last window are taken");
}

#[test]
fn ticks_that_neither_the_cloud_nor_the_spool_has_are_free_again() {
    let (site, folder) = (Site::new(4, 1), tempfile::tempdir().unwrap());
    let spool = begun(free(folder.path()).unwrap());
    let entries: Vec<Entry> = (0..5).map(|at| put_window(&spool, &site, at, at as i64)).collect();
    // The cloud has the first; the second waits; the others are put aside.
    spool.delivered(&entries[0]).unwrap();
    refuse(&spool, &entries[2], "tick-taken");
    refuse(&spool, &entries[3], "sequence-taken");
    refuse(&spool, &entries[4], "invalid-value");
    assert_eq!(minutes(&spool), [0, 1, 2, 3, 4]);
    learn(&spool, 2, &[0, 40]);
    let expected = [0, 1, 3, 4, 40];
    assert_eq!(minutes(&spool), expected, "the readings of a message that `requeue` sends are sent");
    assert_eq!(spool.next_sequence("a").unwrap(), 5, "a number does not decrease");
    drop(spool);
    let spool = free(folder.path()).unwrap();
    assert_eq!(minutes(&spool), expected);
    assert_eq!(spool.sent_until("a"), Some(41 * 60_000));
    // The cloud has lost its windows: they may be sent again.
    learn(&spool, 2, &[]);
    assert_eq!(minutes(&spool), [1, 3, 4]);
}

/// A crash between the steps of a snapshot leaves the ticks of both, never fewer than the cloud's.
#[test]
fn no_step_of_a_snapshot_lacks_a_tick() {
    let folder = tempfile::tempdir().unwrap();
    let spool = free(folder.path()).unwrap();
    // An earlier version knew a time only.
    spool.resume("a", 2, Some(30 * 60_000)).unwrap();
    spool.begin().unwrap();
    let copy = |name: &str| fs::read(folder.path().join(name)).unwrap();
    let journal = copy("sent.journal");
    learn(&spool, 2, &[3, 4]);
    let (learnt_state, learnt_journal) = (copy("state.json"), copy("sent.journal"));
    drop(spool);
    assert!(learnt_journal.len() > journal.len());
    // The lines come first: `state.json`, which has no time any more, is never there without them.
    fs::write(folder.path().join("sent.journal"), [journal, learnt_journal].concat()).unwrap();
    fs::write(folder.path().join("state.json"), learnt_state).unwrap();
    let spool = free(folder.path()).unwrap();
    assert_eq!((minutes(&spool), spool.sent("a").before), (vec![3, 4], None));
}

#[test]
fn a_doubt_outlasts_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let spool = open(folder.path());
    assert!(!spool.is_in_doubt());
    spool.doubt().unwrap();
    spool.doubt().unwrap();
    drop(spool);
    let spool = open(folder.path());
    assert!(spool.is_in_doubt() && !spool.is_new());
    spool.clear_doubt().unwrap();
    spool.clear_doubt().unwrap();
    assert!(!spool.is_in_doubt());
}

#[test]
fn messages_whose_ticks_the_cloud_has_are_not_sent_again() {
    let (site, folder) = (Site::new(4, 1), tempfile::tempdir().unwrap());
    let spool = begun(free(folder.path()).unwrap());
    // Two minutes a window, so that a part of it may be in the cloud.
    let window = |sequence: u64, minute: i64| {
        let mut both = description(minute, 2);
        both.present = vec![2];
        let message = message_with(&site, "a", sequence, both.to_json().unwrap());
        spool.put("a", sequence, &message, &contents(&message, minute + 2)).unwrap()
    };
    let reasons =
        ["tick-taken", "tick-taken", "tick-taken", "sequence-taken", "sequence-taken", "invalid-value"];
    for (sequence, reason) in (0..).zip(reasons) {
        refuse(&spool, &window(sequence, 10 * sequence as i64), reason);
    }
    assert_eq!(spool.refused_for("tick-taken").unwrap(), 3);
    assert_eq!(spool.disputed_streams().unwrap(), ["a".to_owned()].into());
    // All of the first, half of the second, none of the third; all of the fourth; all of the last, whose fault is another.
    let told = learnt(6, &[0, 1, 11, 30, 31, 50, 51]);
    spool.learn("a", told.clone(), &cuts()).unwrap();
    let sign = |envelope: Envelope, sequence: u64, names: &NewNames| {
        let sign = |message: &[u8]| site.identity.sign(message);
        Ok(envelope.renamed(sequence, |number| names.of(number), sign)?.write())
    };
    let in_cloud: BTreeMap<String, Sent> = [("a".to_owned(), told.sent)].into();
    let done = spool.put_back(&in_cloud, &cuts(), sign).unwrap();
    let PutBack { messages, renumbered, damaged, superfluous, divided, .. } = done;
    assert_eq!((messages, renumbered, damaged, superfluous, divided), (3, 1, 0, 2, 1));
    let aside = files(&folder.path().join(REFUSED), ".envelope");
    assert!(aside.len() == 1 && aside[0].ends_with(".a.1.envelope"), "{aside:?}");
    assert_eq!(spool.waiting(), 3);
    // The second one's other tick is free: the source has it, or nobody.
    let expected = [0, 1, 11, 20, 21, 30, 31, 40, 41, 50, 51];
    assert_eq!(minutes(&spool), expected);
    drop(spool);
    assert_eq!(minutes(&free(folder.path()).unwrap()), expected);
}
