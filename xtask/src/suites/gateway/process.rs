//! The gateway as a process.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::process;
use crate::suites::ask::{Running, Site};

/// Longest wait for a gateway to listen, and to answer.
const LONGEST: Duration = Duration::from_secs(30);

/// A gateway, killed when dropped.
pub(super) struct Gateway {
    running: Running,
    pub(super) port: u16,
}

impl Gateway {
    /// Starts it with the bundles of the folder `bundles`.
    pub(super) fn start(site: &Site) -> Result<Self> {
        Self::start_at(site, process::free_port()?)
    }

    pub(super) fn start_at(site: &Site, port: u16) -> Result<Self> {
        let listen = format!("127.0.0.1:{port}");
        let mut command = site.command("sotto-agent", &["run", "--devices", "bundles", "--listen", &listen]);
        let (mut running, begin) = (site.start_program(&mut command, "gateway.log")?, Instant::now());
        while TcpStream::connect(&listen).is_err() {
            let waits = !running.has_ended()? && begin.elapsed() < LONGEST;
            ensure!(waits, "the gateway does not listen at {listen}: gateway.log says why");
            thread::sleep(Duration::from_millis(10));
        }
        Ok(Self { running, port })
    }

    /// Writes lines. Returns the status; None if the gateway gave no answer.
    pub(super) fn write(&self, lines: &str) -> Option<u16> {
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

    /// Ends it by a signal.
    pub(super) fn end(mut self, signal: &str) -> Result<()> {
        self.running.end(signal).map(drop)
    }
}
