//! Sums are the cloud's, bit for bit, and their owner opens them.

use super::site::{Site, program};

const BY_DEVICE: &str = "select device, sotto_sum(body, tag) from windows group by device";

#[test]
fn a_sum_is_the_frame_of_the_cloud_and_opens() {
    if program().is_none() {
        return;
    }
    let site = Site::with_windows(150);
    let all: Vec<u64> = (0..150).collect();
    for threads in [1, 2, 5] {
        let lake = site.lake(threads);
        let sums = lake.frames(BY_DEVICE).unwrap();
        assert_eq!(sums.len(), 2);
        for (at, device) in site.devices.iter().enumerate() {
            let frame = &sums[device.name];
            assert_eq!(*frame, site.cloud_sum(at, &all, &[0, 1], None), "{threads} threads");
            assert_eq!(device.open(frame, &all, None).unwrap(), device.expected(&all, &[0, 1], None));
        }
        assert_eq!(lake.number("select count(*) from windows"), 300);
    }
}

#[test]
fn groups_by_time_are_the_sums_of_their_windows() {
    if program().is_none() {
        return;
    }
    let site = Site::with_windows(150);
    let lake = site.lake(2);
    // Windows of 4 minutes: 15 in an hour.
    let sql = "select to_char(date_trunc('hour', start), '%Y-%m-%dT%H'), sotto_sum(body, tag) from windows
               where device = 'cellar' and start >= '1970-01-01T01:00:00Z' group by 1";
    let sums = lake.frames(sql).unwrap();
    assert_eq!(sums.len(), 9);
    for (hour, frame) in (1_u64..).zip(sums.values()) {
        let numbers: Vec<u64> = (hour * 15..hour * 15 + 15).collect();
        assert_eq!(*frame, site.cloud_sum(1, &numbers, &[0, 1], None), "hour {hour}");
        assert!(site.devices[1].open(frame, &numbers, None).is_some());
    }
}

#[test]
fn weights_and_channels() {
    if program().is_none() {
        return;
    }
    let mut site = Site::new(&[("kitchen", &["load", "level"])]);
    site.upload(0..60);
    site.seal();
    let all: Vec<u64> = (0..60).collect();
    let weights: Vec<i64> = all.iter().map(|number| *number as i64 % 7 - 3).collect();
    let lake = site.lake(2);
    let sql = "select device, sotto_weighted_sum(body, tag, number % 7 - 3) from windows group by device";
    let sums = lake.frames(sql).unwrap();
    let frame = &sums["kitchen"];
    assert_eq!(*frame, site.cloud_sum(0, &all, &[0, 1, 2, 3], Some(&weights)));
    let device = &site.devices[0];
    let expected = device.expected(&all, &[0, 1, 2, 3], Some(&weights));
    assert_eq!(device.open(frame, &all, Some(&weights)).unwrap(), expected);
    for (channel, parts) in [("load", [0_u8, 1]), ("level", [2, 3])] {
        let sql = format!("select device, sotto_sum(body, tag, '{channel}') from windows group by device");
        assert_eq!(lake.frames(&sql).unwrap()["kitchen"], site.cloud_sum(0, &all, &parts, None));
    }
    // Without a group, with a condition of the function, and of no window.
    let sql = "select 'all', sotto_sum(body, tag) filter (where number < 7) from windows";
    assert_eq!(lake.frames(sql).unwrap()["all"], site.cloud_sum(0, &all[..7], &[0, 1, 2, 3], None));
    let none = "select 'none', sotto_sum(body, tag) from windows where number < 0";
    assert!(lake.frames(none).unwrap()["none"].is_empty());
}

#[test]
fn many_windows_are_several_sums_of_one_frame() {
    if program().is_none() {
        return;
    }
    // Places hold 16 windows.
    let mut site = Site::narrow("kitchen");
    site.upload(3..60);
    site.seal();
    site.upload(60..75);
    let all: Vec<u64> = (3..75).collect();
    let pieces = [(0, 13), (13, 16), (29, 16), (45, 16), (61, 11)];
    let expected = site.cloud_sums(0, &all, &pieces, &[0, 1], None);
    for threads in [1, 2, 5] {
        let sums =
            site.lake(threads).frames("select device, sotto_sum(body, tag) from windows group by 1").unwrap();
        assert_eq!(sums["kitchen"], expected);
    }
    let device = &site.devices[0];
    assert_eq!(device.open(&expected, &all, None).unwrap(), device.expected(&all, &[0, 1], None));
}

#[test]
fn streams_in_one_group_have_a_frame_each() {
    if program().is_none() {
        return;
    }
    let site = Site::with_windows(40);
    let all: Vec<u64> = (0..40).collect();
    let lake = site.lake(2);
    let both = &lake.frames("select 'all', sotto_sum(body, tag) from windows").unwrap()["all"];
    let mut expected = [0, 1].map(|device| (site.devices[device].header.id().0, device));
    expected.sort_unstable();
    let expected = expected.map(|(_, device)| site.cloud_sum(device, &all, &[0, 1], None));
    assert_eq!(*both, expected.concat());
}

#[test]
fn little_memory_gives_the_same_bits_or_says_so() {
    if program().is_none() {
        return;
    }
    let site = Site::with_windows(150);
    let sql = "select concat(device, number), sotto_sum(body, tag) from windows group by 1";
    let expected = site.lake(2).frames(sql).unwrap();
    for memory in ["30000", "300000", "3000000"] {
        match site.lake_with(&["--threads", "2", "--memory", memory]).frames(sql) {
            Ok(found) => assert_eq!(found, expected),
            Err(error) => assert!(error.contains("Resources exhausted"), "{error}"),
        }
    }
}

#[test]
fn answers_for_scripts_and_others() {
    if program().is_none() {
        return;
    }
    let site = Site::with_windows(40);
    let all: Vec<u64> = (0..40).collect();
    let sql =
        "select device, sotto_sum(body, tag) as sum from windows where device = 'kitchen' group by device";
    let frame = hex::encode(site.cloud_sum(0, &all, &[0, 1], None));
    let lake = site.lake(2);
    let json: serde_json::Value = serde_json::from_slice(&lake.run(sql, &["--json"]).stdout).unwrap();
    assert_eq!(json, serde_json::json!([{ "device": "kitchen", "sum": frame }]));
    let table = String::from_utf8(lake.run(sql, &[]).stdout).unwrap();
    assert!(
        table.contains("| kitchen |") && table.contains(&format!("{} bytes", frame.len() / 2)),
        "{table}"
    );
    let file = site.folder().join("sums.parquet");
    let written = |file: &std::path::Path| lake.run(sql, &["--parquet", file.to_str().unwrap()]);
    assert!(written(&file).status.success());
    let bytes = std::fs::read(&file).unwrap();
    assert!(bytes.starts_with(b"PAR1"));
    assert!(bytes.windows(frame.len() / 2).any(|bytes| hex::encode(bytes) == frame));
    // A file that exists is not written over.
    assert!(!written(&file).status.success());
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
}

#[test]
fn refusals_name_the_way_out() {
    if program().is_none() {
        return;
    }
    let site = Site::with_windows(20);
    let lake = site.lake(2);
    for (sql, reason) in [
        ("select sotto_sum(body) from windows", "sotto_sum(body, tag)"),
        ("select sotto_sum(tag, body) from windows", "the first arguments are the columns body and tag"),
        ("select sotto_sum(body, tag, 'heat') from windows", "has no channel `heat`, but load"),
        ("select sotto_weighted_sum(body, tag, 0.5) from windows", "a weight is a whole number"),
        ("select sotto_weighted_sum(body, tag, 1000000000) from windows", "the bits of a place hold"),
        ("create table t as select 1", "DDL not supported"),
        ("copy (select 1) to '/tmp/x.csv'", "DML not supported"),
    ] {
        let error = lake.lines(sql).unwrap_err();
        assert!(error.contains(reason), "{sql}: {error}");
    }
}
