//! The P1 port of a smart meter: on a serial line, or behind a network adapter.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use jiff::tz::TimeZone;
use sotto_preset::{Decoded, Decoder, Preset, Telegrams};

use super::hand_over::hand_over;
use super::points::points;
use super::{Collector, Site, Trouble};
use crate::output::tell;

/// The name of a meter that has none.
const UNNAMED: &str = "p1";
/// A meter sends a telegram at least every ten seconds: this long a silence ends the connection.
const LONGEST_SILENCE: Duration = Duration::from_secs(60);
const CONNECT: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(500);
/// The speed of meters since version 4, in bits a second.
const SPEED: u32 = 115_200;

/// A meter.
pub(super) struct Meter {
    device: String,
    port: Port,
    decoder: Decoder,
}

/// Where its telegrams come in.
#[derive(Debug, PartialEq, Eq)]
enum Port {
    Tcp(String),
    Serial { path: String, speed: u32 },
}

impl Port {
    /// Parses `NAME=tcp://host:port` or `NAME=/dev/ttyUSB0@9600`.
    fn parse(text: &str) -> Result<(String, Self)> {
        let (device, place) = match text.split_once('=') {
            Some((device, place)) if !device.contains(['/', ':']) => (device, place),
            _ => (UNNAMED, text),
        };
        if device.is_empty() || place.is_empty() {
            bail!("--p1 {text}: write it as NAME=tcp://host:port or NAME=/dev/ttyUSB0");
        }
        if let Some(address) = place.strip_prefix("tcp://") {
            if !address.contains(':') {
                bail!("--p1 {text}: give the port, as tcp://host:23");
            }
            return Ok((device.to_owned(), Self::Tcp(address.to_owned())));
        }
        let (path, speed) = match place.rsplit_once('@') {
            Some((path, speed)) => match speed.parse() {
                Ok(speed @ (9600 | SPEED)) => (path, speed),
                _ => bail!("--p1 {text}: the speed is 115200, or 9600 of meters before version 4"),
            },
            None => (place, SPEED),
        };
        Ok((device.to_owned(), Self::Serial { path: path.to_owned(), speed }))
    }
}

impl Meter {
    pub(super) fn new(port: &str, zone: &TimeZone) -> Result<Self> {
        let (device, port) = Port::parse(port)?;
        Ok(Self { device, port, decoder: Decoder::new(Preset::named("p1")?, zone.clone()) })
    }

    fn open(&self) -> io::Result<Box<dyn Read>> {
        match &self.port {
            Port::Tcp(address) => {
                let mut last = io::Error::new(ErrorKind::NotFound, "the name has no address");
                for address in address.to_socket_addrs()? {
                    match TcpStream::connect_timeout(&address, CONNECT) {
                        Ok(stream) => {
                            stream.set_read_timeout(Some(LOOK))?;
                            return Ok(Box::new(stream));
                        }
                        Err(error) => last = error,
                    }
                }
                Err(last)
            }
            Port::Serial { path, speed } => {
                let file = File::open(path)?;
                set_speed(&file, *speed)?;
                Ok(Box::new(file))
            }
        }
    }

    /// Reads until a stop. Returns true in the error's place of a connection that had worked.
    fn read(&mut self, site: &Site) -> Result<(), (io::Error, bool)> {
        let mut port = self.open().map_err(|error| (error, false))?;
        tell(format!("sotto-agent: listening to the meter {} at {}", self.device, self.name()));
        let (mut telegrams, mut buffer) = (Telegrams::default(), [0; 4096]);
        let (mut last, mut had_worked) = (Instant::now(), false);
        while !site.stop.is_asked() {
            let count = match port.read(&mut buffer) {
                Ok(0) if matches!(self.port, Port::Serial { .. }) && last.elapsed() < LONGEST_SILENCE => {
                    continue;
                }
                Ok(0) => return Err((ErrorKind::UnexpectedEof.into(), had_worked)),
                Ok(count) => count,
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                    ) && last.elapsed() < LONGEST_SILENCE =>
                {
                    continue;
                }
                Err(error) => return Err((error, had_worked)),
            };
            last = Instant::now();
            telegrams.push(&buffer[..count]);
            while let Some(telegram) = telegrams.next() {
                had_worked = true;
                if !self.take(&telegram, site) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, telegram: &str, site: &Site) -> bool {
        let topic = format!("p1/{}", self.device);
        let decoded = self.decoder.decode(&topic, telegram.as_bytes(), false);
        if let Some(seen) = &site.seen {
            seen.count(&topic, &decoded);
        }
        match decoded {
            Decoded::Reports(reports) => {
                let all: Vec<_> = reports.into_iter().flat_map(|report| points(report, &topic)).collect();
                hand_over(&all, &self.name(), site)
            }
            Decoded::Refused(reason) => {
                tracing::warn!(meter = self.device, %reason, "a telegram is refused");
                true
            }
            _ => true,
        }
    }
}

impl Collector for Meter {
    fn name(&self) -> String {
        match &self.port {
            Port::Tcp(address) => format!("tcp://{address}"),
            Port::Serial { path, .. } => path.clone(),
        }
    }

    fn collect(&mut self, site: &Site) -> Result<(), Trouble> {
        self.read(site).map_err(|(error, had_worked)| Trouble { reason: error.to_string(), had_worked })
    }
}

/// Sets a serial line to raw bytes: eight bits, or seven with even parity at 9,600 bits a second. Anything that is no
/// terminal, such as a pipe, stays as it is.
#[cfg(unix)]
fn set_speed(file: &File, speed: u32) -> io::Result<()> {
    use rustix::termios::{ControlModes, OptionalActions, SpecialCodeIndex, isatty, tcgetattr, tcsetattr};
    if !isatty(file) {
        return Ok(());
    }
    let mut modes = tcgetattr(file)?;
    modes.make_raw();
    modes.set_speed(speed)?;
    if speed == 9600 {
        modes.control_modes.remove(ControlModes::CSIZE | ControlModes::PARODD);
        modes.control_modes.insert(ControlModes::CS7 | ControlModes::PARENB);
    }
    modes.control_modes.insert(ControlModes::CREAD | ControlModes::CLOCAL);
    // A read returns after half a second without a byte.
    modes.special_codes[SpecialCodeIndex::VMIN] = 0;
    modes.special_codes[SpecialCodeIndex::VTIME] = 5;
    tcsetattr(file, OptionalActions::Now, &modes)?;
    Ok(())
}

/// Other systems have other ways: the port stays as it is set.
#[cfg(not(unix))]
fn set_speed(_file: &File, _speed: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_have_names_addresses_and_speeds() {
        let tcp = |address: &str| Port::Tcp(address.to_owned());
        let serial = |path: &str, speed| Port::Serial { path: path.to_owned(), speed };
        for (text, device, port) in [
            ("tcp://10.0.0.8:23", "p1", tcp("10.0.0.8:23")),
            ("house=tcp://meter.local:2001", "house", tcp("meter.local:2001")),
            ("/dev/ttyUSB0", "p1", serial("/dev/ttyUSB0", SPEED)),
            ("house=/dev/serial/by-id/a=b", "house", serial("/dev/serial/by-id/a=b", SPEED)),
            ("old=/dev/ttyUSB0@9600", "old", serial("/dev/ttyUSB0", 9600)),
        ] {
            assert_eq!(Port::parse(text).unwrap(), (device.to_owned(), port), "{text}");
        }
        for wrong in ["", "=tcp://a:1", "house=", "tcp://meter", "/dev/ttyUSB0@300"] {
            assert!(Port::parse(wrong).is_err(), "{wrong}");
        }
    }
}
