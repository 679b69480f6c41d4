use std::fs;

use sotto_keys::{DeviceKeys, DeviceSecret, SigningIdentity};
use sotto_pack::LeftOut;

use super::*;
use crate::spool::Runs;

const DAY: i64 = 86_400_000;

fn key(byte: u8) -> KeptKey {
    let secret = DeviceKeys::Secret(DeviceSecret::from_bytes(&[byte; 32]));
    KeptKey::derive(&secret, &SigningIdentity::from_bytes(&[9; 32]))
}

fn open(folder: &Path, next: u64) -> Kept {
    Kept::open(folder, "gateway", key(1), DAY, |_| next).unwrap()
}

fn window(start: i64, numbers: &[u64], readings: &[(i64, i64)]) -> KeptWindow {
    let reading = |(at, number): &(i64, i64)| KeptReading { at: *at, number: *number };
    let readings: KeptReadings = Zeroizing::new(readings.iter().map(reading).collect());
    let last = Zeroizing::new(vec![readings.last().copied()]);
    let head = KeptHead {
        start,
        until: start + 100,
        numbers: numbers.to_vec(),
        sent_at: 5,
        held: Zeroizing::new(vec![None]),
        last,
        ..KeptHead::default()
    };
    let mut presence = Runs::default();
    presence.push(start, start + 100);
    KeptWindow {
        head,
        readings: vec![readings],
        presence: vec![presence],
        left_out: vec![LeftOut::default()],
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder.join(FOLDER)).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn a_window_is_kept_encrypted_and_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let value = 0x0123_4567_89ab_cdef;
    let kept = window(-100, &[0], &[(-100, value), (-50, value + 1)]);
    let store = open(folder.path(), 0);
    store.put("a.b", &kept).unwrap();
    assert_eq!(open(folder.path(), 1).window("a.b", -100).unwrap(), Some(kept));
    let bytes = fs::read(&files(folder.path())[0]).unwrap();
    let shows = |part: &[u8]| bytes.windows(part.len()).any(|bytes| bytes == part);
    assert!(
        !shows(&value.to_le_bytes()) && !shows(&value.to_be_bytes()) && !shows(&value.to_le_bytes()[..5])
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&files(folder.path())[0]).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_file_of_another_key_place_or_content_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path(), 0).put("s", &window(0, &[0], &[(1, 7)])).unwrap();
    let path = files(folder.path()).remove(0);
    let whole = fs::read(&path).unwrap();
    let found = |kept: &Kept| kept.heads("s", i64::MIN, i64::MAX).len();
    assert_eq!(found(&open(folder.path(), 1)), 1);
    let other = Kept::open(folder.path(), "gateway", key(2), DAY, |_| 1).unwrap();
    assert_eq!(found(&other), 0, "another key");
    let other = Kept::open(folder.path(), "cellar", key(1), DAY, |_| 1).unwrap();
    assert_eq!(found(&other), 0, "another device");
    let public = KeptKey::derive(&DeviceKeys::Public(Vec::new()), &SigningIdentity::from_bytes(&[1; 32]));
    let other = Kept::open(folder.path(), "gateway", public, DAY, |_| 1).unwrap();
    assert_eq!(found(&other), 0, "the key of a device without a secret");
    fs::rename(&path, path.with_file_name("s.100.window")).unwrap();
    assert_eq!(found(&open(folder.path(), 1)), 0, "the time of another window");
    fs::rename(path.with_file_name("s.100.window"), path.with_file_name("t.0.window")).unwrap();
    assert_eq!(open(folder.path(), 1).heads("t", i64::MIN, i64::MAX).len(), 0, "another stream");
    fs::remove_file(path.with_file_name("t.0.window")).unwrap();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 4;
        fs::write(&path, &damaged).unwrap();
        let kept = open(folder.path(), 1);
        assert!(kept.window("s", 0).unwrap().is_none(), "byte {at}");
        fs::write(&path, &whole[..at]).unwrap();
        assert!(open(folder.path(), 1).window("s", 0).unwrap().is_none(), "{at} bytes");
    }
    fs::write(&path, &whole).unwrap();
    assert!(open(folder.path(), 1).window("s", 0).unwrap().is_some());
}

#[test]
fn a_window_whose_number_no_message_has_counts_as_not_sent() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), 4);
    store.put("s", &window(0, &[1, 4], &[(1, 7)])).unwrap();
    store.put("s", &window(100, &[3], &[(101, 7)])).unwrap();
    // Killed before message 4: another message may get its number.
    let again = open(folder.path(), 4);
    assert_eq!(again.unsent("s"), [0]);
    let later = open(folder.path(), 9);
    let head = later.window("s", 0).unwrap().unwrap().head;
    assert_eq!((head.numbers, head.is_unsent), (vec![1], true));
    // A window in whose place another came.
    let mut both = window(0, &[1, 3, 8], &[(1, 9)]);
    both.head.until = 200;
    later.put("s", &both).unwrap();
    let kept = open(folder.path(), 9);
    assert_eq!(kept.heads("s", i64::MIN, i64::MAX).len(), 1);
    assert_eq!(files(folder.path()).len(), 1);
    kept.renumber("s", 8, Some(12)).unwrap();
    let heads = open(folder.path(), 13).heads("s", i64::MIN, i64::MAX);
    assert_eq!(heads[0].numbers, [1, 3, 12]);
}

#[test]
fn readings_are_forgotten_but_not_the_last_one_nor_which_ticks_had_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), 2);
    store.put("s", &window(0, &[0], &[(1, 7), (55, 8)])).unwrap();
    store.put("s", &window(100, &[1], &[(120, 9)])).unwrap();
    let tick = |at: i64| (at / 10 * 10, at / 10 * 10 + 10);
    store.forget("s", DAY, &[true], tick).unwrap();
    assert_eq!(files(folder.path()).len(), 2, "not yet");
    store.forget("s", DAY + 6, &[true], tick).unwrap();
    let again = open(folder.path(), 2);
    assert!(again.heads("s", i64::MIN, i64::MAX).is_empty());
    let forgotten = again.forgotten("s").unwrap();
    assert_eq!(forgotten.last[..], [Some(KeptReading { at: 120, number: 9 })]);
    assert_eq!(forgotten.reported[0].iter().collect::<Vec<_>>(), [(0, 10), (50, 60), (120, 130)]);
    // Of an unsent one nothing is forgotten.
    let mut unsent = window(200, &[], &[(210, 1)]);
    unsent.head.is_unsent = true;
    again.put("s", &unsent).unwrap();
    again.forget("s", 9 * DAY, &[true], tick).unwrap();
    assert_eq!(open(folder.path(), 2).unsent("s"), [200]);
}

#[test]
fn what_cannot_be_used_any_more_is_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), 1);
    store.put("old", &window(0, &[0], &[(1, 7)])).unwrap();
    store.put("new", &window(0, &[0], &[(1, 7)])).unwrap();
    store.prune(2 * DAY, |stream| stream == "new").unwrap();
    assert_eq!(files(folder.path()).len(), 1);
    // Of another key: after the time for which it would be kept.
    drop(Kept::open(folder.path(), "gateway", key(2), DAY, |_| 1).unwrap());
    assert_eq!(files(folder.path()).len(), 1);
    std::thread::sleep(std::time::Duration::from_millis(10));
    drop(Kept::open_unchanged(folder.path(), "gateway", key(2), 1).unwrap());
    assert_eq!(files(folder.path()).len(), 1);
    drop(Kept::open(folder.path(), "gateway", key(2), 1, |_| 1).unwrap());
    assert_eq!(files(folder.path()).len(), 0);
    store.put("new", &window(0, &[0], &[(1, 7)])).unwrap();
    Kept::clear(folder.path()).unwrap();
    assert!(!folder.path().join(FOLDER).exists());
}

#[test]
fn windows_are_found_by_time() {
    let kept = Kept::for_tests(DAY);
    for (start, last) in [(0, 5), (100, 110), (300, 310)] {
        kept.put("s", &window(start, &[1], &[(last, start)])).unwrap();
    }
    let starts = |from, to| kept.heads("s", from, to).iter().map(|head| head.start).collect::<Vec<_>>();
    assert_eq!(starts(0, 400), [0, 100, 300]);
    assert_eq!(starts(100, 300), [100]);
    assert_eq!(starts(99, 101), [0, 100]);
    assert_eq!(starts(200, 300), Vec::<i64>::new());
    let last = |at| kept.last_before("s", at, &[true], |_, _| false)[0].map(|reading| reading.at);
    assert_eq!([0, 100, 199, 200, 400].map(last), [None, Some(5), Some(5), Some(110), Some(310)]);
    assert_eq!(kept.head_from("s", 101).map(|head| head.start), Some(300));
}
