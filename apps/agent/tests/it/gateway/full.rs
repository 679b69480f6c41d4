//! No room: senders are told to keep their readings, and those that were answered are safe.

use super::farm::{Farm, HOUR, wait_until};

#[test]
fn a_full_journal_is_told_and_loses_nothing() {
    let farm = Farm::new(&[("boiler", &["flow"])]);
    let gateway = farm.start(&["--journal-limit", "4096"]);
    let mut answered = Vec::new();
    let refused = loop {
        let second = answered.len() as i64;
        let line = format!("boiler flow={} {}", second % 100, HOUR + second * 1000);
        let (status, body) = gateway.request("POST", "/write?precision=ms", &[], line.as_bytes());
        match status {
            204 => answered.push((second % 100) as f64),
            503 => break body,
            other => panic!("{other}: {body}"),
        }
        assert!(answered.len() < 1000);
    };
    assert!(answered.len() > 10 && refused.contains("--journal-limit"), "{} {refused}", answered.len());
    // A restart empties the journal into the spool.
    assert!(gateway.stop().0.success());
    assert_eq!(farm.readings().into_values().collect::<Vec<_>>(), answered);
    let gateway = farm.start(&["--journal-limit", "4096"]);
    assert_eq!(gateway.write(&format!("boiler flow=1 {}", HOUR + 2_000_000)), 204);
    assert!(gateway.stop().0.success());
}

#[test]
fn a_full_spool_is_told_and_stops_no_other_device() {
    let farm = Farm::new(&[("boiler", &["flow"]), ("oven", &["flow"])]);
    // Room for the messages of a few hours.
    let gateway = farm.start(&["--spool-limit", "100000"]);
    let mut hour = 0;
    let write = |device: &str, hour: i64| {
        gateway.write(&format!("{device} flow={} {}", hour % 50, HOUR + hour * 3_600_000))
    };
    wait_until("a full spool", || {
        hour += 1;
        write("boiler", hour) == 503
    });
    assert_eq!((write("oven", 1), write("boiler", hour)), (204, 503));
    let (ended, said) = gateway.stop();
    assert!(ended.success(), "{said}");
    // With more room, the rest that was answered comes out of the journal.
    assert!(farm.start(&[]).stop().0.success());
    let found = farm.readings();
    let of = |device: &str| found.keys().filter(|(of, ..)| of == device).count() as i64;
    assert_eq!((of("boiler"), of("oven")), (hour - 1, 1));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_loses_nothing() {
    let farm = Farm::new(&[("boiler", &["flow"])]);
    let disk = farm.path("gateway");
    std::fs::create_dir(&disk).unwrap();
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k,mode=0700", "tmpfs"])
        .arg(&disk)
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no file system can be mounted here");
        return;
    }
    let gateway = farm.start(&[]);
    let mut answered = 0_i64;
    let refused = loop {
        let line = format!("boiler flow={} {}", answered % 100, HOUR + answered * 1000);
        let (status, body) = gateway.request("POST", "/write?precision=ms", &[], line.as_bytes());
        match status {
            204 => answered += 1,
            503 => break body,
            other => panic!("{other}: {body}"),
        }
        assert!(answered < 5000);
    };
    assert!(refused.contains("free some space"), "{refused}");
    let (ended, said) = gateway.stop();
    let _ = std::process::Command::new("umount").arg(&disk).status();
    assert!(ended.success(), "{said}");
    assert_eq!(farm.readings().len() as i64, answered);
}
