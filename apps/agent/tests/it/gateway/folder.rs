//! The folder of bundles: devices come, change and go, and one that does not work stops no other.

use super::farm::{Farm, HOUR, wait_until};

/// Returns the answer of `status --json` about a device.
fn status(farm: &Farm, device: &str) -> serde_json::Value {
    let output = farm.agent("status", &["--json"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let devices = document["devices"].as_array().unwrap();
    devices.iter().find(|line| line["device"] == device).cloned().unwrap_or_default()
}

#[test]
fn devices_come_change_and_go() {
    let mut farm = Farm::new(&[("boiler", &["flow"])]);
    let gateway = farm.start(&[]);
    let write = |device: &str, channel: &str, second: i64| {
        gateway.write(&format!("{device} {channel}={second} {}", HOUR + second * 1000))
    };
    assert_eq!(write("boiler", "flow", 0), 204);
    farm.add("oven", &["flow"]);
    wait_until("the new device", || {
        write("oven", "flow", 1);
        status(&farm, "oven")["accepted"].as_u64() > Some(0)
    });
    // Another bundle for the boiler, with another channel before the first.
    farm.add("boiler", &["back", "flow"]);
    wait_until("the changed device", || {
        write("boiler", "back", 2);
        // The bundle before took one reading, and has no channel `back`.
        status(&farm, "boiler")["accepted"].as_u64() > Some(1)
    });
    assert_eq!(write("boiler", "flow", 3), 204);
    std::fs::remove_file(farm.bundle("oven")).unwrap();
    wait_until("the device's windows", || !crate::site::files(&farm.spool("oven"), ".envelope").is_empty());
    let (ended, said) = gateway.stop();
    assert!(ended.success(), "{said}");
    let found: Vec<(String, String, i64)> = farm
        .readings()
        .into_keys()
        .map(|(device, channel, at)| (device, channel, (at - HOUR) / 1000))
        .collect();
    let expected = [("boiler", "back", 2), ("boiler", "flow", 0), ("boiler", "flow", 3), ("oven", "flow", 1)];
    assert_eq!(
        found,
        expected.map(|(device, channel, second)| (device.to_owned(), channel.to_owned(), second))
    );
}

#[test]
fn a_device_that_does_not_work_stops_no_other() {
    let farm = Farm::new(&[("boiler", &["flow"]), ("oven", &["flow"])]);
    std::fs::write(farm.bundle("broken"), b"no bundle").unwrap();
    std::fs::create_dir(farm.spool("oven")).unwrap();
    std::fs::write(farm.spool("oven").join("state.json"), b"{").unwrap();
    let gateway = farm.start(&[]);
    assert_eq!(gateway.write(&format!("boiler flow=1 {HOUR}\noven flow=2 {HOUR}")), 204);
    wait_until("the fault", || status(&farm, "oven")["fault"].as_str().is_some());
    let names_it = |fault: &str| fault.contains("broken.bundle");
    wait_until("the other fault", || status(&farm, "broken")["fault"].as_str().is_some_and(names_it));
    assert!(gateway.stop().0.success());
    // Readings that were answered wait in the journal until the spool can be used.
    std::fs::remove_dir_all(farm.spool("oven")).unwrap();
    let gateway = farm.start(&[]);
    assert!(gateway.stop().0.success());
    let found: Vec<(String, f64)> =
        farm.readings().into_iter().map(|((device, ..), value)| (device, value)).collect();
    assert_eq!(found, [("boiler".to_owned(), 1.0), ("oven".to_owned(), 2.0)]);
    let table = String::from_utf8(farm.agent("status", &[]).output().unwrap().stdout).unwrap();
    assert!(table.contains("boiler") && table.contains("the gateway does not run: 3 devices"), "{table}");
}

#[test]
fn a_folder_has_one_gateway_and_a_bundle_that_can_be_used() {
    let farm = Farm::new(&[("boiler", &["flow"])]);
    let _gateway = farm.start(&[]);
    let second = farm.agent("run", &["--listen", "127.0.0.1:0"]).output().unwrap();
    assert!(String::from_utf8(second.stderr).unwrap().contains("another gateway has these devices"));
    let none = Farm::new(&[]);
    let refused = none.agent("run", &["--listen", "127.0.0.1:0"]).output().unwrap();
    assert!(String::from_utf8(refused.stderr).unwrap().contains("no bundle that can be used"));
}
