//! This machine's sensors: load of each core, memory in use, and temperatures if the kernel reports them.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use sotto_pack::{Channel, NAME_BYTES, Period};
use sysinfo::{Component, Components, MINIMUM_CPU_UPDATE_INTERVAL, System};

use super::error::{NoSensors, SourceError};
use super::pace::Pace;
use super::{Row, Source};
use crate::stop::Stop;

/// Maximum number of channels.
const MAX_CHANNELS: usize = 8;
/// Maximum number of cores among them.
const MAX_CORES: usize = 5;
/// Longest wait of a tick for a load measurement.
const LATE: Duration = Duration::from_millis(10);

/// Sensors of this machine. Only percentages are clamped, to 0 … 100.
///
/// Most systems measure a load over at least 200 ms: with a shorter period it stays the same for several ticks.
pub struct Sensors {
    system: System,
    cores: usize,
    memory: bool,
    components: Option<Components>,
    /// Positions among the system's components.
    temperatures: Vec<usize>,
    channels: Vec<Channel>,
    pace: Pace,
    /// Time of the last load measurement.
    measured: Instant,
}

impl Sensors {
    /// Finds the channels, and waits once until load values are valid.
    ///
    /// # Errors
    /// [`NoSensors`] if this machine reports nothing.
    pub fn open(period: Period, stop: Stop) -> Result<Self, NoSensors> {
        let mut system = System::new().map_err(|error| NoSensors::Refused(error.to_string()))?;
        // A load is a difference of two measurements: the first call has no predecessor.
        system.refresh_cpu_usage();
        let _ = stop.wait(MINIMUM_CPU_UPDATE_INTERVAL);
        system.refresh_cpu_usage();
        system.refresh_memory();
        // Continue without temperatures if the system has none.
        let components = Components::new_with_refreshed_list().ok();

        let cores = system.cpus().len().min(MAX_CORES);
        let memory = system.total_memory() > 0;
        let mut channels: Vec<Channel> = (0..cores).map(|core| percent(format!("cpu{core}"))).collect();
        channels.extend(memory.then(|| percent("memory".to_owned())));
        let listed: &[Component] = components.as_deref().unwrap_or_default();
        let there = listed.iter().enumerate().filter(|(_, component)| component.temperature().is_some());
        let there = there.take(MAX_CHANNELS - channels.len());
        let mut temperatures = Vec::new();
        for (position, component) in there {
            let name = unused_name(component.label(), &channels);
            channels.push(Channel {
                name,
                unit: "°C".to_owned(),
                minimum: -40.0,
                maximum: 125.0,
                resolution: None,
                ..Channel::default()
            });
            temperatures.push(position);
        }
        if channels.is_empty() {
            return Err(NoSensors::Nothing);
        }
        if Duration::from_millis(period.ceil().into()) < MINIMUM_CPU_UPDATE_INTERVAL && cores > 0 {
            let least = MINIMUM_CPU_UPDATE_INTERVAL.as_millis();
            tracing::info!("loads are measured over {least} ms: they stay the same for several ticks");
        }
        let pace = Pace::new(period, stop);
        Ok(Self { system, cores, memory, components, temperatures, channels, pace, measured: Instant::now() })
    }

    /// Measures the loads, unless the last measurement is too recent.
    fn measure_loads(&mut self) {
        // A tick may be slightly early if the last one was slightly late.
        let early = MINIMUM_CPU_UPDATE_INTERVAL.saturating_sub(self.measured.elapsed());
        if early <= LATE {
            std::thread::sleep(early);
            self.system.refresh_cpu_usage();
            self.measured = Instant::now();
        }
    }

    fn values(&mut self) -> Vec<Option<f64>> {
        self.measure_loads();
        let cores = self.system.cpus().iter().take(self.cores);
        let mut values: Vec<Option<f64>> =
            cores.map(|core| Some(f64::from(core.usage()).clamp(0.0, 100.0))).collect();
        if self.memory {
            self.system.refresh_memory();
            let (used, total) = (self.system.used_memory() as f64, self.system.total_memory() as f64);
            values.push(Some((100.0 * used / total).clamp(0.0, 100.0)));
        }
        let components: &mut [Component] = self.components.as_deref_mut().unwrap_or_default();
        for position in &self.temperatures {
            components[*position].refresh();
            values.push(components[*position].temperature().map(f64::from));
        }
        values
    }
}

impl Source for Sensors {
    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn next_row(&mut self) -> Result<Row, SourceError> {
        let at = self.pace.tick().ok_or(SourceError::Stopped)?;
        Ok(Row::new(at, self.values()))
    }

    fn paced(&self) -> bool {
        true
    }

    fn restart(&mut self) -> Result<(), SourceError> {
        Err(SourceError::Ended)
    }
}

fn percent(name: String) -> Channel {
    Channel {
        name,
        unit: "%".to_owned(),
        minimum: 0.0,
        maximum: 100.0,
        resolution: None,
        ..Channel::default()
    }
}

/// Turns a label into a unique channel name: without control characters, of limited length.
fn unused_name(label: &str, channels: &[Channel]) -> String {
    let taken: BTreeSet<&str> = channels.iter().map(|channel| channel.name.as_str()).collect();
    let mut plain: String = label.trim().chars().filter(|c| !c.is_control()).collect();
    if plain.is_empty() {
        "temperature".clone_into(&mut plain);
    }
    let numbered = |number: usize| {
        let end = if number == 1 { String::new() } else { format!(" {number}") };
        let mut cut = NAME_BYTES - end.len();
        while cut < plain.len() && !plain.is_char_boundary(cut) {
            cut -= 1;
        }
        format!("{}{end}", &plain[..cut.min(plain.len())])
    };
    (1..=taken.len() + 1).map(numbered).find(|name| !taken.contains(name.as_str())).unwrap_or(plain.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_become_names() {
        let mut channels = vec![percent("cpu0".to_owned())];
        for (label, name) in [
            ("Core 0", "Core 0"),
            ("Core\u{1b}[0m 0", "Core[0m 0"),
            ("Core 0", "Core 0 2"),
            ("Core 0", "Core 0 3"),
            ("", "temperature"),
            (" \n", "temperature 2"),
            (&"ü".repeat(40), &"ü".repeat(32)),
            (&"ü".repeat(40), &format!("{} 2", "ü".repeat(31))),
        ] {
            let unused = unused_name(label, &channels);
            assert_eq!(unused, name);
            channels.push(percent(unused));
        }
    }
}
