//! The table has the windows that count now: those that are replaced, deleted, rolled up or pieces are as the owner's rules say.

use sotto_pack::Replaces;
use sotto_wire::{LogPage, Ordered, RollUp, StreamHead};

use super::site::{MINUTE, Site, program, readings, start};

const BY_DEVICE: &str = "select device, sotto_sum(body, tag) from windows group by device";

/// Sends a window in the place of others, for these channels.
fn replace(site: &mut Site, at: u64, number: u64, windows: Vec<u64>, channels: Vec<u16>) {
    let of = site.devices[0].header.layout().channels().len();
    let mut readings = readings(5, number, of);
    // Other channels have no readings: their ticks are taken.
    for channel in (0..of).filter(|channel| !channels.contains(&(*channel as u16))) {
        readings[channel].fill(None);
    }
    let window = site.devices[0].window((number, start(at)), readings, |description| {
        description.replaces = Some(Replaces { windows, channels });
    });
    site.send_group(0, &[window]);
}

#[test]
fn a_replaced_window_does_not_count() {
    if program().is_none() {
        return;
    }
    let mut site = Site::new(&[("kitchen", &["load"])]);
    site.upload(0..60);
    site.seal();
    replace(&mut site, 7, 100, vec![7], vec![0]);
    // Of two windows that replace one, the higher number counts.
    replace(&mut site, 9, 101, vec![9], vec![0]);
    replace(&mut site, 9, 102, vec![9, 101], vec![0]);
    let counting: Vec<u64> = (0..60).filter(|number| ![7, 9].contains(number)).chain([100, 102]).collect();
    for sealed in [false, true] {
        if sealed {
            site.seal();
        }
        let lake = site.lake(2);
        assert_eq!(lake.number("select count(*) from windows"), 60);
        let sums = lake.frames(BY_DEVICE).unwrap();
        assert_eq!(sums["kitchen"], site.cloud_sum(0, &counting, &[0, 1], None));
        // The window that replaces is out of the time that is asked about, but overlaps it.
        let sql = format!(
            "select count(*) from windows where number < 60 and start = to_timestamp_millis({})",
            start(7)
        );
        assert_eq!(lake.number(&sql), 0);
    }
}

#[test]
fn a_window_of_which_a_channel_is_replaced_counts_for_the_other() {
    if program().is_none() {
        return;
    }
    let mut site = Site::new(&[("kitchen", &["load", "level"])]);
    site.upload(0..30);
    site.seal();
    replace(&mut site, 7, 100, vec![7], vec![1]);
    site.seal();
    let lake = site.lake(2);
    let error = lake.lines(BY_DEVICE).unwrap_err();
    assert!(
        error.contains("window 7 of stream `load` of `kitchen`") && error.contains("name a channel"),
        "{error}"
    );
    let all: Vec<u64> = (0..30).chain([100]).collect();
    let without: Vec<u64> = all.iter().copied().filter(|number| *number != 7).collect();
    for (channel, numbers, parts) in [("load", &all, [0, 1]), ("level", &without, [2, 3])] {
        let sql = format!("select device, sotto_sum(body, tag, '{channel}') from windows group by device");
        let frame = &lake.frames(&sql).unwrap()["kitchen"];
        assert_eq!(*frame, site.cloud_sum(0, numbers, &parts, None), "{channel}");
    }
}

#[test]
fn pieces_count_until_their_window_comes() {
    if program().is_none() {
        return;
    }
    let mut site = Site::new(&[("kitchen", &["load"])]);
    let piece = |site: &mut Site, number: u64, tick: i64| {
        let window =
            site.devices[0].window((number, start(10) + tick * MINUTE), vec![vec![Some(tick)]], |window| {
                window.provisional = true;
            });
        site.send_group(0, &[window]);
    };
    (0..3).for_each(|number| piece(&mut site, number, number as i64));
    let lake = site.lake(2);
    assert_eq!(lake.frames(BY_DEVICE).unwrap()["kitchen"], site.cloud_sum(0, &[0, 1, 2], &[0, 1], None));
    replace(&mut site, 10, 3, vec![0, 1, 2], vec![0]);
    for sealed in [false, true] {
        if sealed {
            site.seal();
        }
        let lake = site.lake(2);
        assert_eq!(lake.frames(BY_DEVICE).unwrap()["kitchen"], site.cloud_sum(0, &[3], &[0, 1], None));
    }
}

#[test]
fn deleted_windows_are_gone() {
    if program().is_none() {
        return;
    }
    let mut site = Site::new(&[("kitchen", &["load"])]);
    site.upload(0..60);
    site.seal();
    let before = site.lake(2);
    site.forget("kitchen", start(25));
    let left: Vec<u64> = (25..60).collect();
    // Also for a session that was there before.
    for lake in [before, site.lake(2)] {
        assert_eq!(lake.frames(BY_DEVICE).unwrap()["kitchen"], site.cloud_sum(0, &left, &[0, 1], None));
        assert_eq!(lake.number("select min(number) from windows"), 25);
    }
}

#[test]
fn a_roll_up_is_a_row_with_all_of_its_windows() {
    if program().is_none() {
        return;
    }
    let mut site = Site::new(&[("kitchen", &["load"])]);
    site.upload(0..60);
    site.seal();
    let page = LogPage::read(&site.client().log("kitchen", "load", 0, None).unwrap()).unwrap();
    let head = StreamHead::read(&page.head).unwrap();
    let groups = vec![vec![(0, 10)], vec![(10, 15), (20, 25)]];
    let roll_up = RollUp { stream: "load".to_owned(), size: head.size, root: head.root, groups };
    site.order("kitchen", Ordered::RollUp(roll_up));
    let lake = site.lake(2);
    assert_eq!(lake.number("select count(*) from windows"), 42);
    assert_eq!(lake.number("select sum(windows) from windows"), 60);
    let all: Vec<u64> = (0..60).collect();
    let frame = &lake.frames(BY_DEVICE).unwrap()["kitchen"];
    assert_eq!(*frame, site.cloud_sum(0, &all, &[0, 1], None));
    assert_eq!(
        site.devices[0].open(frame, &all, None).unwrap(),
        site.devices[0].expected(&all, &[0, 1], None)
    );
    // A condition takes it by the start of its first window.
    let sql = "select device, sotto_sum(body, tag) from windows";
    let sql = format!("{sql} where start < to_timestamp_millis({}) group by device", start(12));
    let some: Vec<u64> = (0..15).chain(20..25).collect();
    assert_eq!(lake.frames(&sql).unwrap()["kitchen"], site.cloud_sum(0, &some, &[0, 1], None));
}

#[test]
fn the_lake_reads_while_the_cloud_writes() {
    if program().is_none() {
        return;
    }
    let mut site = Site::with_windows(60);
    let lake = site.lake(2);
    for turn in 3..6 {
        site.upload(turn * 20..turn * 20 + 20);
        let expected = i64::try_from(2 * (turn * 20 + 20)).unwrap();
        assert_eq!(lake.number("select count(*) from windows"), expected);
    }
}
