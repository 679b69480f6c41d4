//! Sums of blocks of time that are there before anyone asks: no answer depends on them.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use proptest::prelude::*;
use sotto_cloud::{inspect, maintain};
use sotto_cloud_client::{PartsOf, WindowsOf};
use sotto_wire::{Envelope, SumBlocks};

use crate::segments::segments;
use crate::store::open;
use crate::streams::site::{Site, start};
use crate::windows::remove_database;

/// More windows than a block of time has.
const WINDOWS: u64 = 5000;

/// Waits until the sums of all segments are made; returns the number of rows.
fn made(site: &Site) -> i64 {
    let number =
        |query: &str| open(&site.world.data()).query_row(query, [], |row| row.get::<_, i64>(0)).unwrap();
    for _ in 0..600 {
        if number("SELECT count(*) FROM segments WHERE summed = 0") == 0 {
            return number("SELECT count(*) FROM nodes");
        }
        sleep(Duration::from_millis(100));
    }
    panic!("sums of segments are not made");
}

/// Returns a request for sums of windows that follow each other, of these lengths.
fn request(first: u64, lengths: &[u32], weights: bool) -> WindowsOf {
    let mut from = 0;
    let sums = lengths.iter().map(|length| {
        let windows = (from, *length);
        from += length;
        let weights = weights.then(|| (0..i64::from(*length)).map(|at| at % 3 - 1).collect());
        PartsOf { windows, parts: vec![0, 1], weights }
    });
    WindowsOf { sums: sums.collect(), windows: vec![(first, from)] }
}

/// Returns a site whose windows are in segments.
fn site() -> Site {
    let mut site = Site::new();
    site.enrol();
    let windows: Vec<Envelope> = (0..WINDOWS).map(|number| site.window(number)).collect();
    for group in windows.chunks(64) {
        site.upload_group(group).expect(201);
    }
    site.world.stop();
    site.world.resume();
    site
}

/// Returns the first windows of two neighbouring blocks of time, and of the parts of the first one.
fn blocks(site: &Site) -> (Vec<u64>, Vec<u64>) {
    let (of, _) = SumBlocks::of_stream(&site.header).unwrap();
    let begins = |block: &dyn Fn(i64) -> i128| {
        (1..WINDOWS).filter(|number| block(start(*number)) != block(start(number - 1))).collect::<Vec<u64>>()
    };
    let (blocks, parts) = (begins(&|at| of.of(at)), begins(&|at| of.part_of(at)));
    assert!(!blocks.is_empty() && parts.len() > 8, "{blocks:?} {parts:?}");
    (blocks, parts)
}

#[test]
fn no_answer_depends_on_stored_sums() {
    let mut site = site();
    assert!(made(&site) >= 2);
    let (blocks, parts) = blocks(&site);
    let (block, part) = (blocks[0] as u32, (parts[1] - parts[0]) as u32);
    let check = |site: &Site| {
        // All windows; from a part on, and one more at either end; sums that end within a part; weights; not in order.
        site.check(&request(0, &[WINDOWS as u32], false));
        site.check(&request(parts[0], &[part, part, 3 * part], false));
        site.check(&request(parts[0] - 1, &[part + 2, part - 1], false));
        site.check(&request(0, &[block, part + 17, 400], false));
        site.check(&request(0, &[block, part], true));
        let all = |windows: Vec<(u64, u32)>| {
            let count = windows.iter().map(|(_, count)| count).sum();
            let sum = |windows| PartsOf { windows, parts: vec![1], weights: None };
            // The second sum has some of the windows of the first.
            WindowsOf { windows, sums: vec![sum((0, count)), sum((count / 3, count / 2))] }
        };
        site.check(&all(vec![(parts[2], part), (0, part), (parts[1], 5), (parts[3], part)]));
        site.check(&all(vec![(parts[2], part), (parts[2], part)]));
    };
    check(&site);
    for first in [u64::MAX - 10, i64::MAX as u64, i64::MAX as u64 + 1, WINDOWS] {
        site.ask(&request(first, &[2 * part], false)).refused(422, "unknown-envelope");
    }
    // Sums of windows that begin and end anywhere.
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(48));
    let lengths = prop::collection::vec(prop_oneof![1_u32..40, part - 2..part + 3, 300_u32..1500], 1..4);
    runner
        .run(&(0..WINDOWS, lengths, any::<bool>()), |(first, mut lengths, aligned)| {
            let first = if aligned { parts[first as usize % parts.len()] } else { first };
            let (mut left, mut kept) = ((WINDOWS - first) as u32, Vec::new());
            for length in lengths.drain(..) {
                kept.push(length.min(left));
                left -= kept.last().unwrap();
            }
            kept.retain(|length| *length > 0);
            site.check(&request(first, &kept, false));
            Ok(())
        })
        .unwrap();
    // Without the database they are made again, from segments.
    site.world.stop();
    remove_database(&site.world);
    maintain::rebuild(&site.world.config()).unwrap();
    site.world.resume();
    assert!(made(&site) >= 2);
    check(&site);
}

#[test]
fn stored_sums_answer_while_their_windows_are_away() {
    let mut site = site();
    made(&site);
    let (blocks, parts) = blocks(&site);
    site.world.stop();
    // As if a disk had lost them.
    let files = segments(&site.world.data());
    let aside = site.world.folder().join("aside");
    fs::create_dir(&aside).unwrap();
    files.iter().for_each(|file| fs::rename(file, aside.join(file.file_name().unwrap())).unwrap());
    site.world.resume();
    site.check(&request(0, &[blocks[0] as u32], false));
    site.check(&request(parts[0], &[(parts[1] - parts[0]) as u32], false));
    let beyond = request(parts[0], &[(parts[1] - parts[0]) as u32 + 1], false);
    assert_eq!(site.ask(&beyond).status, 500, "the window behind is in its segment alone");
}

#[test]
fn sums_with_a_deleted_window_go_and_damaged_ones_are_not_used() {
    let mut site = site();
    let before = made(&site);
    let (blocks, parts) = blocks(&site);
    let (config, data) = (site.world.config(), site.world.data());
    site.world.stop();
    // A flipped bit in each row.
    let flip = "UPDATE nodes SET sums = CAST(substr(sums, 1, 40) || x'ff' || substr(sums, 42) AS BLOB)";
    assert_eq!(open(&data).execute(flip, []).unwrap() as i64, before);
    assert!(inspect::check(&config, false, true).is_err(), "damage is named");
    site.world.resume();
    site.check(&request(0, &[blocks[0] as u32], false));
    site.world.stop();
    inspect::repair(&config, None::<sotto_cloud::Place>).unwrap();
    inspect::check(&config, false, true).unwrap();
    site.world.resume();
    assert_eq!(made(&site), before);
    site.check(&request(0, &[blocks[0] as u32], false));
    // A deleted window ends before the next one starts.
    site.world.forget("kitchen", None, start(parts[0] + 10)).expect(200);
    made(&site);
    let left = "SELECT count(*) FROM nodes WHERE number < ?1";
    let left: i64 = open(&data).query_row(left, [(parts[0] + 10) as i64], |row| row.get(0)).unwrap();
    assert_eq!(left, 0, "no sum has a deleted window");
    site.check(&request(parts[1], &[(parts[3] - parts[1]) as u32], false));
    let of_deleted = request(parts[0], &[(parts[1] - parts[0]) as u32], false);
    site.ask(&of_deleted).refused(422, "unknown-envelope");
}
