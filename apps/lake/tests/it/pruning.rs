//! Segments and blocks that cannot match are not read.

use crate::site::{Site, number, rows, start};

/// Runs a query on a new session; returns its number, and the segments and blocks that were read.
async fn read(site: &Site, condition: &str) -> (i64, usize, u64) {
    let (lake, files) = site.lake(2).await;
    let found = number(&lake, &format!("select count(*) from windows {condition}")).await;
    (found, files.segments_opened(), files.blocks_read())
}

#[tokio::test]
async fn conditions_decide_what_is_read() {
    let mut site = Site::new(&[("kitchen", &["load"]), ("cellar", &["load"])]);
    // A stop seals: two segments, each with a block of either device.
    for turn in 0..2 {
        site.upload(turn * 50..turn * 50 + 50);
        site.seal();
    }
    let at = |number| format!("to_timestamp_millis({})", start(number));
    assert_eq!(read(&site, "").await, (200, 2, 4));
    assert_eq!(read(&site, "where device = 'cellar'").await, (100, 2, 2));
    assert_eq!(read(&site, "where device in ('cellar', 'attic')").await, (100, 2, 2));
    assert_eq!(read(&site, "where device = 'attic'").await, (0, 0, 0));
    assert_eq!(read(&site, "where stream = 'heat'").await, (0, 0, 0));
    assert_eq!(read(&site, "where tenant = 1").await, (0, 0, 0));
    assert_eq!(read(&site, &format!("where start >= {}", at(60))).await, (80, 1, 2));
    assert_eq!(read(&site, &format!("where start < {}", at(40))).await, (80, 1, 2));
    assert_eq!(read(&site, "where start between '1970-01-01T00:00:00Z' and '1970-01-01T00:11:59Z'").await, (6, 1, 2));
    assert_eq!(read(&site, "where number >= 60 and device = 'kitchen'").await, (40, 1, 1));
    // Conditions that decide nothing are left to the engine.
    assert_eq!(read(&site, "where readings < 4 and device = 'kitchen'").await, (22, 2, 2));
    assert_eq!(read(&site, "where start >= '1990-01-01'").await, (0, 0, 0));
}

#[tokio::test]
async fn what_is_read_can_be_seen_before() {
    let site = Site::with_windows(40);
    let (lake, _) = site.lake(2).await;
    let plan = rows(&lake, "explain select count(*) from windows where device = 'cellar'").await.unwrap();
    let plan = datafusion::arrow::util::pretty::pretty_format_batches(&plan).unwrap().to_string();
    assert!(plan.contains("WindowsExec: blocks=9, partitions=2"), "{plan}");
}
