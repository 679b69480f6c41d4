//! A gateway between senders that cannot encrypt and a cloud, as processes: readings that it answered 204 are in the owner's
//! answers, once.

use super::ask::{Cases, Site, run_parts};
use crate::guide;
use crate::process;
use crate::suite::{Context, Outcome};
use anyhow::{Context as _, Result, bail, ensure};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Number of kills.
const KILLS: u64 = 5;
/// Longest wait for a process.
const LONGEST: Duration = Duration::from_secs(30);
/// The first of March 2025: seconds since 1970.
const FIRST: u64 = 1_740_787_200;
const MINUTE: u64 = 60;
const DEVICES: [&str; 3] = ["boiler", "oven", "tank"];

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let outcome = run_parts(context, &[("kills between senders and a cloud", kills)])?;
    let Outcome::Passed = outcome else { return Ok(outcome) };
    Ok(Outcome::from_faults(guide::of_gateway(context)?))
}

/// A gateway, killed when dropped.
struct Gateway {
    child: Child,
    port: u16,
}

impl Gateway {
    fn start(site: &Site) -> Result<Self> {
        let port = process::free_port()?;
        let listen = format!("127.0.0.1:{port}");
        let mut command = site.command("sotto-agent", &["run", "--devices", "bundles", "--listen", &listen]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let (mut gateway, begin) = (Self { child, port }, Instant::now());
        while TcpStream::connect(&listen).is_err() {
            let ended = gateway.child.try_wait()?;
            ensure!(ended.is_none() && begin.elapsed() < LONGEST, "the gateway does not listen: {ended:?}");
            thread::sleep(Duration::from_millis(10));
        }
        Ok(gateway)
    }

    /// Writes lines. Returns the status; None if the gateway gave no answer.
    fn write(&self, lines: &str) -> Option<u16> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(LONGEST)).ok()?;
        let length = lines.len();
        let head = format!(
            "POST /write?precision=s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(lines.as_bytes())).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        answer.split(' ').nth(1)?.parse().ok()
    }

    fn end(mut self, signal: &str) -> Result<()> {
        let (signal, process) = (format!("-{signal}"), self.child.id().to_string());
        Command::new("kill").args([&signal, &process]).status().context("no kill")?;
        let begin = Instant::now();
        while self.child.try_wait()?.is_none() {
            ensure!(begin.elapsed() < LONGEST, "the gateway does not end after {signal}");
            thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the reading of a device at a minute.
fn value(device: usize, minute: u64) -> f64 {
    ((minute * 7 + device as u64 * 31) % 200) as f64 / 2.0
}

/// Senders write through kills.
fn kills(cases: &mut Cases) -> Result<()> {
    let mut site = Site::new(cases.sotto(), "UTC")?;
    site.sotto(&["channel", "add", "flow", "--range", "0..100", "--resolution", "0.5", "--every", "1m"])?;
    site.sotto(&["question", "add", "total", "count(flow), sum(flow) by day per device"])?;
    std::fs::create_dir(site.folder().join("bundles"))?;
    for device in DEVICES {
        let bundle = format!("bundles/{device}.bundle");
        site.sotto(&["device", "add", device, "--channels", "flow", "--bundle", &bundle])?;
    }
    site.start_cloud()?;
    let mut minute = 0;
    for kill in 0..=KILLS {
        let gateway = Gateway::start(&site)?;
        let (begin, time) = (Instant::now(), Duration::from_millis(200 + kill * 61 % 300));
        while begin.elapsed() < time {
            let mut lines = String::new();
            for (at, device) in DEVICES.iter().enumerate() {
                // Writing to a string cannot fail.
                let _ = writeln!(
                    lines,
                    "heat,device={device} flow={} {}",
                    value(at, minute),
                    FIRST + minute * MINUTE
                );
            }
            match gateway.write(&lines) {
                Some(204) => minute += 1,
                other => bail!("the gateway answers {other:?} at minute {minute}"),
            }
        }
        gateway.end(if kill < KILLS { "KILL" } else { "TERM" })?;
    }
    // A gateway that runs again sends the rest of the spools.
    let gateway = Gateway::start(&site)?;
    thread::sleep(Duration::from_secs(1));
    gateway.end("TERM")?;
    let answer = site.ask("total", &[])?;
    cases.case("kills between senders and a cloud", judge(&answer, minute)?);
    cases.case("processes that are left", site.close()?);
    Ok(())
}

/// Compares counts and sums of all devices with those of the requests that were answered.
fn judge(answer: &serde_json::Value, minutes: u64) -> Result<Vec<String>> {
    let rows = answer["rows"].as_array().context("the answer has no rows")?;
    let mut found: BTreeMap<(String, String), f64> = BTreeMap::new();
    for row in rows {
        let (device, name) =
            (row["device"].as_str().unwrap_or_default(), row["name"].as_str().unwrap_or_default());
        *found.entry((device.to_owned(), name.to_owned())).or_default() +=
            row["value"].as_f64().unwrap_or(f64::NAN);
    }
    let mut faults = Vec::new();
    for (at, device) in DEVICES.iter().enumerate() {
        let sum: f64 = (0..minutes).map(|minute| value(at, minute)).sum();
        for (name, expected) in [("count(flow)", minutes as f64), ("sum(flow)", sum)] {
            let value = found.get(&((*device).to_owned(), name.to_owned())).copied();
            if value.is_none_or(|value| (value - expected).abs() > 1e-6) {
                faults.push(format!("{name} of {device} is {value:?}, not {expected}"));
            }
        }
    }
    println!("{minutes} requests were answered 204, through {KILLS} kills");
    Ok(faults)
}
