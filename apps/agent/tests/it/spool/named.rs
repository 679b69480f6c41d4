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
