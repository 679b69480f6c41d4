//! Meters, registers, sensors and commands end to end.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};

use super::broker::Talker;
use super::farm::{Farm, wait_until};

/// Returns the readings of a device by channel, without their times.
fn values(farm: &Farm, device: &str) -> Vec<(String, f64)> {
    let mut values: Vec<(String, f64)> = Vec::new();
    for ((of, channel, _), value) in farm.readings() {
        if of == device && !values.contains(&(channel.clone(), value)) {
            values.push((channel, value));
        }
    }
    values
}

/// Returns a recorded telegram of DSMR 5.
fn telegram() -> Vec<u8> {
    let recorded = "../../crates/preset/tests/recorded/p1/dsmr5.telegram";
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(recorded)).unwrap()
}

#[test]
fn a_smart_meter_behind_a_network_adapter_is_read() {
    let telegram = telegram();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            // The first connection breaks in the middle of a telegram.
            let half = telegram.len() / 2;
            let bytes = if number == 0 { &telegram[..half] } else { &telegram[..] };
            let _ = stream.write_all(bytes);
            if number > 0 {
                std::thread::sleep(std::time::Duration::from_secs(60));
            }
        }
    });
    let farm = Farm::new(&[("house", &["power_delivered", "voltage_l1", "voltage_l2"])]);
    let p1 = format!("house=tcp://127.0.0.1:{port}");
    let gateway = Talker::start(farm.agent("run", &["--p1", &p1]));
    gateway.wait_for_times("listening to the meter house", 2);
    std::thread::sleep(std::time::Duration::from_secs(1));
    gateway.stop();
    assert_telegram(&farm);
}

/// Fails unless the readings are those of the recorded telegram.
fn assert_telegram(farm: &Farm) {
    // 9 December 2010, 11:30:20 in winter time.
    let at = 1_291_890_620_000;
    let of = |channel: &str, value: f64| (("house".to_owned(), channel.to_owned(), at), value);
    let expected = [of("power_delivered", 1.19), of("voltage_l1", 220.1), of("voltage_l2", 220.2)];
    assert_eq!(farm.readings().into_iter().collect::<Vec<_>>(), expected);
}

/// A terminal of the system is a serial line whose other end this test holds.
#[cfg(target_os = "linux")]
#[test]
fn a_smart_meter_on_a_serial_line_is_read() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let meter = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&meter).and_then(|()| unlockpt(&meter)).unwrap();
    let path = ptsname(&meter, Vec::new()).unwrap().into_string().unwrap();
    let farm = Farm::new(&[("house", &["power_delivered", "voltage_l1", "voltage_l2"])]);
    let gateway = Talker::start(farm.agent("run", &["--p1", &format!("house={path}")]));
    gateway.wait_for("listening to the meter house");
    let mut meter = std::fs::File::from(meter);
    let telegram = telegram();
    // The rest of one telegram, a damaged one, a whole one in pieces.
    let damaged = String::from_utf8_lossy(&telegram).replace("220.1", "330.1");
    meter.write_all(&telegram[telegram.len() / 2..]).unwrap();
    meter.write_all(damaged.as_bytes()).unwrap();
    for bytes in telegram.chunks(100) {
        meter.write_all(bytes).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    std::thread::sleep(std::time::Duration::from_secs(1));
    gateway.stop();
    assert_telegram(&farm);
}

/// Serves Modbus-TCP: holding registers 10 to 13 are 100 to 103, and all others do not exist. The packets are those of
/// the Modbus messaging guide 1.0b.
fn serve(mut stream: TcpStream, requests: &std::sync::Mutex<Vec<(u8, u16, u16)>>) {
    loop {
        let mut head = [0; 8];
        if stream.read_exact(&mut head).is_err() {
            return;
        }
        let mut body = vec![0; usize::from(u16::from_be_bytes([head[4], head[5]])) - 2];
        stream.read_exact(&mut body).unwrap();
        let (address, count) =
            (u16::from_be_bytes([body[0], body[1]]), u16::from_be_bytes([body[2], body[3]]));
        requests.lock().unwrap().push((head[7], address, count));
        let answer = if head[7] == 3 && address >= 10 && address + count <= 14 {
            let words = (address..address + count).flat_map(|register| (register + 90).to_be_bytes());
            [&[3, (count * 2) as u8][..], &words.collect::<Vec<u8>>()].concat()
        } else {
            vec![head[7] | 0x80, 2]
        };
        let length = (answer.len() as u16 + 1).to_be_bytes();
        let packet = [&head[..4], &length, &head[6..7], &answer].concat();
        if stream.write_all(&packet).is_err() {
            return;
        }
    }
}

#[test]
fn registers_are_read_at_once_and_a_missing_one_silences_no_other() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let requests: std::sync::Arc<std::sync::Mutex<Vec<(u8, u16, u16)>>> = std::sync::Arc::default();
    let kept = std::sync::Arc::clone(&requests);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let kept = std::sync::Arc::clone(&kept);
            std::thread::spawn(move || serve(stream.unwrap(), &kept));
        }
    });
    let farm = Farm::new(&[("inverter", &["power", "load", "gone"])]);
    let file = farm.path("inverter.modbus");
    let text = format!(
        "device = 'inverter'\nhost = '127.0.0.1:{port}'\nevery = '1s'\nlimit = '500ms'\n\
         [[register]]\nchannel = 'power'\naddress = 12\ntype = 'i16'\nscale = 0.1\n\
         [[register]]\nchannel = 'load'\naddress = 13\ntype = 'u16'\n\
         [[register]]\nchannel = 'gone'\naddress = 14\ntype = 'u16'\n"
    );
    std::fs::write(&file, text).unwrap();
    let gateway = Talker::start(farm.agent("run", &["--modbus", &file.display().to_string()]));
    wait_until("two rounds", || {
        requests.lock().unwrap().iter().filter(|request| **request == (3, 12, 3)).count() > 1
    });
    gateway.stop();
    let requests = requests.lock().unwrap().clone();
    assert_eq!(&requests[..4], &[(3, 12, 3), (3, 12, 1), (3, 13, 1), (3, 14, 1)]);
    // 102 · 0.1, and the register that is not there is no zero.
    assert_eq!(values(&farm, "inverter"), [("load".to_owned(), 103.0), ("power".to_owned(), 10.2)]);
}

fn sensors(root: &Path) {
    for (path, text) in [
        ("bus/iio/devices/iio:device0/name", "bme280"),
        ("bus/iio/devices/iio:device0/in_temp_input", "21430"),
        ("class/hwmon/hwmon0/name", "nvme"),
        ("class/hwmon/hwmon0/temp1_input", "36850"),
    ] {
        let path: PathBuf = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{text}\n")).unwrap();
    }
}

#[test]
fn sensors_of_the_kernel_and_commands_are_readings_and_one_that_fails_stops_no_other() {
    let farm = Farm::new(&[
        ("board", &["bme280_temp", "nvme_temp1"]),
        ("pump", &["value"]),
        ("tank", &["level"]),
        ("well", &["depth"]),
    ]);
    let root = tempfile::tempdir().unwrap();
    sensors(root.path());
    let sys = root.path().display().to_string();
    let words = [
        "--iio",
        "board",
        "--hwmon",
        "board",
        "--sys",
        &sys,
        "--every",
        "1s",
        "--exec-limit",
        "500ms",
        "--exec",
        "pump=echo 7.5",
        "--exec",
        "tank=echo '{\"level\": 31.25, \"time\": 1704067200}'",
        "--exec",
        "echo 'depths,device=well depth=4.5 1704067260000000000'",
        "--exec",
        "broken=exit 3",
        "--exec",
        "slow=sleep 100",
    ];
    let gateway = Talker::start(farm.agent("run", &words));
    gateway.wait_for("the command of broken: it ended with exit status: 3");
    gateway.wait_for("the command of slow: it did not end within 0.5 s");
    std::thread::sleep(std::time::Duration::from_secs(2));
    let said = gateway.stop();
    let of = |device: &str| values(&farm, device);
    let row = |channel: &str, value: f64| (channel.to_owned(), value);
    assert_eq!(of("board"), [row("bme280_temp", 21.43), row("nvme_temp1", 36.85)], "{said}");
    assert_eq!(of("pump"), [row("value", 7.5)], "{said}");
    assert_eq!(of("tank"), [row("level", 31.25)], "{said}");
    assert_eq!(of("well"), [row("depth", 4.5)], "{said}");
}
