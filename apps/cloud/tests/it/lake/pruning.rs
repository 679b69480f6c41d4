//! Segments and blocks that cannot match are not read.

use super::site::{Site, program, start};

/// Runs a query; returns its number, and the segments and blocks that were read.
fn read(site: &Site, condition: &str) -> (i64, usize, u64) {
    let lake = site.lake(2);
    let output = lake.run(&format!("select count(*) from windows {condition}"), &["--csv", "--stats"]);
    let (out, stats) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    // read S segments, B blocks
    let words: Vec<&str> = stats.trim().split(' ').collect();
    let found = out.lines().nth(1).and_then(|line| line.parse().ok());
    (found.unwrap_or_else(|| panic!("{stats}")), words[1].parse().unwrap(), words[3].parse().unwrap())
}

#[test]
fn conditions_decide_what_is_read() {
    if program().is_none() {
        return;
    }
    let mut site = Site::new(&[("kitchen", &["load"]), ("cellar", &["load"])]);
    // A stop seals: two segments, each with a block of either device.
    for turn in 0..2 {
        site.upload(turn * 50..turn * 50 + 50);
        site.seal();
    }
    let at = |number| format!("to_timestamp_millis({})", start(number));
    assert_eq!(read(&site, ""), (200, 2, 4));
    assert_eq!(read(&site, "where device = 'cellar'"), (100, 2, 2));
    assert_eq!(read(&site, "where device in ('cellar', 'attic')"), (100, 2, 2));
    assert_eq!(read(&site, "where device = 'attic'"), (0, 0, 0));
    assert_eq!(read(&site, "where stream = 'heat'"), (0, 0, 0));
    assert_eq!(read(&site, "where tenant = 1"), (0, 0, 0));
    assert_eq!(read(&site, &format!("where start >= {}", at(60))), (80, 1, 2));
    assert_eq!(read(&site, &format!("where start < {}", at(40))), (80, 1, 2));
    assert_eq!(
        read(&site, "where start between '1970-01-01T00:00:00Z' and '1970-01-01T00:11:59Z'"),
        (6, 1, 2)
    );
    // The other segment has no window that comes in the place of others, as the catalogue says.
    assert_eq!(read(&site, "where number >= 60 and device = 'kitchen'"), (40, 1, 1));
    // Conditions that decide nothing are left to the engine.
    assert_eq!(read(&site, "where readings < 4 and device = 'kitchen'"), (23, 2, 2));
    assert_eq!(read(&site, "where start >= '1990-01-01'"), (0, 0, 0));
}
