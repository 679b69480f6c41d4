//! Readings that the gateway fetches itself: from a broker, a smart meter, registers, files of the kernel, a command.
//!
//! Each collector has a thread of its own, and hands points to the [`Intake`]. One that fails tells so, waits, and begins
//! again; the others do not notice.

mod command;
mod hand_over;
mod lines;
mod modbus;
mod mqtt;
mod p1;
mod points;
mod preset;
mod seen;
mod sensors;

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context as _, Result};
use jiff::tz::TimeZone;

use super::point::Intake;
use crate::arguments::CollectArguments;
use crate::backoff::Backoff;
use crate::output::tell;
use crate::stop::Stop;

pub use modbus::ModbusFile;
use preset::decoder;
pub(crate) use seen::Seen;

/// Everything that a collector works with.
#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) intake: Arc<dyn Intake>,
    pub(crate) stop: Stop,
    /// The times without an offset are of this zone.
    pub(crate) zone: TimeZone,
    /// Counts of topics and channels, for `check`.
    pub(crate) seen: Option<Arc<Seen>>,
}

/// A source that is asked, or listened to.
trait Collector: Send {
    /// Returns its name for messages: an address, never with a password.
    fn name(&self) -> String;

    /// Collects until a stop. An error is told, and the next attempt follows.
    fn collect(&mut self, site: &Site) -> Result<(), Trouble>;
}

/// The reason why a collector stopped, and if it had worked before.
struct Trouble {
    reason: String,
    had_worked: bool,
}

/// The threads of the collectors.
pub(crate) struct Collectors(Vec<JoinHandle<()>>);

impl Collectors {
    /// Starts the collectors that the arguments name. `folder` keeps the name under which a broker knows this gateway.
    ///
    /// # Errors
    /// An argument or a file that it names cannot be used.
    pub(crate) fn start(arguments: &CollectArguments, folder: &Path, site: &Site) -> Result<Self> {
        let mut all: Vec<Box<dyn Collector>> = Vec::new();
        if let Some(broker) = &arguments.mqtt {
            all.push(Box::new(mqtt::Subscriber::new(arguments, broker, folder, site)?));
        }
        for port in &arguments.p1 {
            all.push(Box::new(p1::Meter::new(port, &site.zone)?));
        }
        for path in &arguments.modbus {
            let file = ModbusFile::read(path)?;
            all.push(Box::new(modbus::Registers::new(file)));
        }
        let every = Duration::from_millis(arguments.every.into());
        for (device, tree) in [(&arguments.iio, sensors::Tree::Iio), (&arguments.hwmon, sensors::Tree::Hwmon)]
        {
            if let Some(device) = device {
                all.push(Box::new(sensors::Sensors::new(device, tree, &arguments.sys, every)));
            }
        }
        for command in &arguments.exec {
            let limit = Duration::from_millis(arguments.exec_limit.into());
            all.push(Box::new(command::Scheduled::new(command, every, limit)?));
        }
        let threads = all.into_iter().map(|collector| spawn(collector, site.clone()));
        Ok(Self(threads.collect::<Result<_>>()?))
    }

    /// Waits for the threads, after a stop.
    pub(crate) fn join(self) {
        for thread in self.0 {
            if thread.join().is_err() {
                tracing::error!("a collector has panicked");
            }
        }
    }
}

fn spawn(mut collector: Box<dyn Collector>, site: Site) -> Result<JoinHandle<()>> {
    let run = move || {
        let (mut backoff, mut told) = (Backoff::new(), String::new());
        while !site.stop.is_asked() {
            let Err(Trouble { reason, had_worked }) = collector.collect(&site) else { continue };
            if had_worked {
                backoff = Backoff::new();
            }
            let wait = backoff.next(None);
            // Told once, not at each attempt.
            if reason != told {
                tell(format!("sotto-agent: {}: {reason}; it is tried again", collector.name()));
                told = reason;
            }
            let _ = site.stop.wait(wait);
        }
    };
    std::thread::Builder::new().name("collector".to_owned()).spawn(run).context("a thread cannot be started")
}

/// Waits until the next multiple of `every` by the clock. Returns true if a stop was requested.
fn wait_for(every: Duration, stop: &Stop) -> bool {
    let period = i64::try_from(every.as_millis()).unwrap_or(i64::MAX).max(1);
    let left = period - crate::source::now().rem_euclid(period);
    stop.wait(Duration::from_millis(left.unsigned_abs()))
}
