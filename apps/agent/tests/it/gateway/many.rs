//! Many devices in one process: memory and processor time. `SOTTO_DEVICES=1000 SOTTO_SECONDS=20` measures more of them, for longer:
//! `cargo test --release -p sotto-agent --test it gateway::many -- --nocapture`.

use super::farm::{Farm, wait_until};

const CHANNELS: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
/// Rows of a device in a second, each of ten readings.
const ROWS: i64 = 10;
/// Maximum resident bytes while a thousand devices wait.
const MOST: u64 = 64 << 20;

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Returns a number of `/proc/PID/status` in kilobytes, as bytes.
fn memory(process: u32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(name));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).unwrap_or_default() << 10
}

/// Returns the seconds of processors that a process has taken, at 100 ticks a second.
fn processor_seconds(process: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let behind = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks: u64 =
        behind.split_whitespace().skip(11).take(2).filter_map(|text| text.parse::<u64>().ok()).sum();
    ticks as f64 / 100.0
}

#[cfg(target_os = "linux")]
#[test]
fn many_devices_share_a_process() {
    let (devices, seconds) = (number("SOTTO_DEVICES", 40), number("SOTTO_SECONDS", 2));
    let mut farm = Farm::new(&[]);
    (0..devices).for_each(|device| farm.add_of_minutes(&format!("device-{device}"), &CHANNELS));
    let gateway = farm.start(&["--spool-limit", "10000000"]);
    let process = gateway.child.id();
    let open = || {
        let is_open = |device: &u64| farm.spool(&format!("device-{device}")).join("state.json").exists();
        (0..devices).filter(is_open).count() as u64
    };
    wait_until("all devices", || open() == devices);
    let waiting = memory(process, "VmRSS:");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as i64;
    let (begin, before) = (std::time::Instant::now(), processor_seconds(process));
    for row in 0..seconds as i64 * ROWS {
        let at = now + row * 1000 / ROWS;
        let mut lines = String::new();
        for device in 0..devices {
            let fields: Vec<String> = CHANNELS
                .iter()
                .enumerate()
                .map(|(place, channel)| {
                    format!("{channel}={}.{}", 20 + (device + place as u64) % 40, row % 100)
                })
                .collect();
            lines += &format!("m,device=device-{device} {} {at}\n", fields.join(","));
        }
        assert_eq!(gateway.write(&lines), 204);
    }
    let readings = devices as i64 * 10 * seconds as i64 * ROWS;
    let (took, after) = (begin.elapsed(), memory(process, "VmRSS:"));
    // Until the rows that wait are taken, too.
    std::thread::sleep(std::time::Duration::from_millis(300));
    let processor = processor_seconds(process) - before;
    println!(
        "{devices} devices: {} MB resident while they wait, {} MB with {readings} readings; {:.0} readings a second of a processor, {:.0} of the clock",
        waiting >> 20,
        after >> 20,
        readings as f64 / processor.max(0.01),
        readings as f64 / took.as_secs_f64()
    );
    assert!(waiting <= MOST, "{waiting} bytes are resident");
    let (ended, said) = gateway.stop();
    assert!(ended.success(), "{said}");
    for device in 0..devices {
        let spool = farm.spool(&format!("device-{device}"));
        assert!(!crate::site::files(&spool, ".envelope").is_empty(), "{device}");
    }
}
