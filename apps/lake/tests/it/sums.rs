//! Sums are the cloud's, bit for bit, and their owner opens them.

use sotto_lake::session::Limits;

use crate::site::{Site, frames, number, rows};

const BY_DEVICE: &str = "select device, sotto_sum(body, tag) from windows group by device";

#[tokio::test]
async fn a_sum_is_the_frame_of_the_cloud_and_opens() {
    let site = Site::with_windows(150);
    let all: Vec<u64> = (0..150).collect();
    for threads in [1, 2, 5] {
        let (lake, _) = site.lake(threads).await;
        let sums = frames(&lake, BY_DEVICE).await.unwrap();
        assert_eq!(sums.len(), 2);
        for (at, device) in site.devices.iter().enumerate() {
            let frame = &sums[device.name];
            assert_eq!(*frame, site.cloud_sum(at, &all, &[0, 1], None), "{threads} threads");
            assert_eq!(device.open(frame, &all, None).unwrap(), device.expected(&all, &[0, 1], None));
        }
        assert_eq!(number(&lake, "select count(*) from windows").await, 300);
    }
}

#[tokio::test]
async fn groups_by_time_are_the_sums_of_their_windows() {
    let site = Site::with_windows(150);
    let (lake, _) = site.lake(2).await;
    // Windows of 4 minutes: 15 in an hour.
    let sql = "select to_char(date_trunc('hour', start), '%Y-%m-%dT%H'), sotto_sum(body, tag) from windows
               where device = 'cellar' and start >= '1970-01-01T01:00:00Z' group by 1";
    let sums = frames(&lake, sql).await.unwrap();
    assert_eq!(sums.len(), 9);
    for (hour, frame) in (1_u64..).zip(sums.values()) {
        let numbers: Vec<u64> = (hour * 15..hour * 15 + 15).collect();
        assert_eq!(*frame, site.cloud_sum(1, &numbers, &[0, 1], None), "hour {hour}");
        assert!(site.devices[1].open(frame, &numbers, None).is_some());
    }
}

#[tokio::test]
async fn weights_and_channels() {
    let mut site = Site::new(&[("kitchen", &["load", "level"])]);
    site.upload(0..60);
    site.seal();
    let all: Vec<u64> = (0..60).collect();
    let weights: Vec<i64> = all.iter().map(|number| *number as i64 % 7 - 3).collect();
    let (lake, _) = site.lake(2).await;
    let sql = "select device, sotto_weighted_sum(body, tag, number % 7 - 3) from windows group by device";
    let sums = frames(&lake, sql).await.unwrap();
    let frame = &sums["kitchen"];
    assert_eq!(*frame, site.cloud_sum(0, &all, &[0, 1, 2, 3], Some(&weights)));
    let device = &site.devices[0];
    let expected = device.expected(&all, &[0, 1, 2, 3], Some(&weights));
    assert_eq!(device.open(frame, &all, Some(&weights)).unwrap(), expected);
    for (channel, parts) in [("load", [0_u8, 1]), ("level", [2, 3])] {
        let sql = format!("select device, sotto_sum(body, tag, '{channel}') from windows group by device");
        assert_eq!(frames(&lake, &sql).await.unwrap()["kitchen"], site.cloud_sum(0, &all, &parts, None));
    }
    // Without a group, with a condition of the function, and of no window.
    let sql = "select 'all', sotto_sum(body, tag) filter (where number < 7), sotto_sum(body, tag) from windows";
    assert_eq!(frames(&lake, sql).await.unwrap()["all"], site.cloud_sum(0, &all[..7], &[0, 1, 2, 3], None));
    let none = "select 'none', sotto_sum(body, tag) from windows where number < 0";
    assert!(frames(&lake, none).await.unwrap()["none"].is_empty());
}

#[tokio::test]
async fn streams_in_one_group_have_a_frame_each() {
    let site = Site::with_windows(40);
    let all: Vec<u64> = (0..40).collect();
    let (lake, _) = site.lake(2).await;
    let both = &frames(&lake, "select 'all', sotto_sum(body, tag) from windows").await.unwrap()["all"];
    let mut expected = [0, 1].map(|device| (site.devices[device].header.id().0, device));
    expected.sort_unstable();
    let expected = expected.map(|(_, device)| site.cloud_sum(device, &all, &[0, 1], None));
    assert_eq!(*both, expected.concat());
}

#[tokio::test]
async fn little_memory_gives_the_same_bits() {
    let site = Site::with_windows(150);
    let sql = "select concat(device, number), sotto_sum(body, tag) from windows group by 1";
    let (lake, _) = site.lake(2).await;
    let expected = frames(&lake, sql).await.unwrap();
    let limits = Limits { threads: Some(2), memory: Some(1 << 20) };
    let (lake, _) = site.lake_with(|builder| builder, limits).await;
    match frames(&lake, sql).await {
        Ok(found) => assert_eq!(found, expected),
        Err(error) => assert!(error.contains("Resources exhausted"), "{error}"),
    }
}

#[tokio::test]
async fn refusals_name_the_way_out() {
    let site = Site::with_windows(20);
    let (lake, _) = site.lake(2).await;
    for (sql, reason) in [
        ("select sotto_sum(body) from windows", "sotto_sum(body, tag)"),
        ("select sotto_sum(tag, body) from windows", "the first arguments are the columns body and tag"),
        ("select sotto_sum(body, tag, 'heat') from windows", "has no channel `heat`, but load"),
        ("select sotto_weighted_sum(body, tag, 0.5) from windows", "a weight is a whole number"),
        ("select sotto_weighted_sum(body, tag, 1000000000) from windows", "do not fit the bits of its places"),
        ("create table t as select 1", "DDL not supported"),
        ("copy (select 1) to '/tmp/x.csv'", "DML not supported"),
    ] {
        let error = rows(&lake, sql).await.unwrap_err();
        assert!(error.contains(reason), "{sql}: {error}");
    }
}
