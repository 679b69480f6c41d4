//! Kills at any moment: nothing that was answered 204 is lost, and nothing is there twice.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::farm::{Farm, HOUR, PERIOD, Readings};

/// Number of kills; more with `SOTTO_KILLS` in the environment.
fn kills() -> u32 {
    std::env::var("SOTTO_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(6)
}

const DEVICES: [&str; 3] = ["boiler", "oven", "tank"];

/// Returns the reading of a sender's row.
fn value(sender: usize, row: i64) -> f64 {
    ((row * 7 + sender as i64 * 13) % 400) as f64 / 4.0 - 50.0
}

/// Returns the lines of a request: a row of every device of a sender, some of them again.
fn lines(sender: usize, row: i64) -> (String, Readings) {
    let (mut text, mut readings) = (String::new(), Readings::new());
    for row in [row, row - row % 3] {
        // Each sender has its own second of a minute; hours pass.
        let at = HOUR + row * 60_000 + sender as i64 * PERIOD;
        let device = DEVICES[(row as usize + sender) % DEVICES.len()];
        let value = value(sender, row);
        text += &format!("heat,device={device} flow={value},noise=1 {at}\n");
        readings.insert((device.to_owned(), "flow".to_owned(), at), value);
    }
    (text, readings)
}

#[test]
fn a_kill_at_any_moment_loses_nothing_and_doubles_nothing() {
    let farm = Farm::new(&DEVICES.map(|device| (device, &["flow"][..])));
    let (answered, sent) = (Mutex::new(Readings::new()), Mutex::new(Readings::new()));
    let mut next = [0_i64; 4];
    for kill in 0..kills() {
        let gateway = farm.start(&[]);
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for (sender, next) in next.iter_mut().enumerate() {
                let (gateway, over, answered, sent) = (&gateway, &over, &answered, &sent);
                scope.spawn(move || {
                    while !over.load(Ordering::Relaxed) {
                        let (text, readings) = lines(sender, *next);
                        sent.lock().unwrap().extend(readings.clone());
                        match gateway.try_request("POST", "/write?precision=ms", &[], text.as_bytes()) {
                            Some((204, _)) => answered.lock().unwrap().extend(readings),
                            // Its answer is lost: the sender sends it again.
                            None => return,
                            Some(other) => panic!("{other:?}"),
                        }
                        *next += 1;
                    }
                });
            }
            std::thread::sleep(Duration::from_millis(150 + u64::from(kill * 97 % 400)));
            // Killed, not stopped: in the middle of requests, windows and files.
            assert!(
                std::process::Command::new("kill")
                    .args(["-KILL", &gateway.child.id().to_string()])
                    .status()
                    .unwrap()
                    .success()
            );
            over.store(true, Ordering::Relaxed);
        });
        drop(gateway);
    }
    let gateway = farm.start(&[]);
    // All that was answered is sent once more: senders repeat themselves.
    let answered = answered.into_inner().unwrap();
    let again: String = answered
        .iter()
        .map(|((device, _, at), value)| format!("heat,device={device} flow={value} {at}\n"))
        .collect();
    assert_eq!(gateway.write(&again), 204);
    let (status, said) = gateway.stop();
    assert!(status.success(), "{said}");
    let (found, sent) = (farm.readings(), sent.into_inner().unwrap());
    assert!(answered.len() > 20, "{} readings were answered", answered.len());
    for (reading, value) in &answered {
        assert_eq!(found.get(reading), Some(value), "{reading:?} of {} was answered 204", answered.len());
    }
    for (reading, value) in &found {
        assert_eq!(sent.get(reading), Some(value), "{reading:?} was never sent");
    }
    let left = crate::site::files(&farm.path("gateway"), ".journal");
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn readings_are_encrypted_while_they_wait() {
    let farm = Farm::new(&[("boiler", &["flow"])]);
    let gateway = farm.start(&[]);
    assert_eq!(gateway.write(&format!("secretname,device=boiler flow=77.25 {HOUR}")), 204);
    gateway.kill();
    let [journal] = &crate::site::files(&farm.path("gateway"), ".journal")[..] else { panic!("one file") };
    let bytes = std::fs::read(farm.path("gateway").join(journal)).unwrap();
    for clear in ["boiler", "flow", "secretname", "77.25"] {
        assert!(!bytes.windows(clear.len()).any(|part| part == clear.as_bytes()), "{clear}");
    }
    let gateway = farm.start(&[]);
    assert!(gateway.stop().0.success());
    assert_eq!(farm.readings().into_values().collect::<Vec<_>>(), [77.25]);
}
