//! What the devices read, and how much of it.

use std::path::PathBuf;

use anyhow::Context;

use super::arguments::Arguments;

/// Windows a device sends: one a scheme.
pub(super) const WINDOWS: u32 = 3;
const PERIOD_MS: u32 = 200;
const SENSOR_TICKS: u32 = 14;
const GENERATOR_TICKS: u32 = 256;
/// More would cost the weighted sum its precision, or the demo its half minute.
const MOST_TICKS: u32 = 2048;

/// Where readings come from.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    /// This machine's sensors.
    Sensors,
    /// A column of a file.
    Csv {
        /// The file.
        file: PathBuf,
        /// The column.
        column: String,
    },
    /// The seeded generator.
    Generator {
        /// Its seed.
        seed: u64,
    },
}

/// What is read.
#[derive(Clone, Debug)]
pub(super) struct Input {
    pub(super) origin: Origin,
    /// Readings of each channel in a window.
    pub(super) ticks: u32,
    /// What is left out.
    note: Option<String>,
}

impl Input {
    pub(super) fn decide(arguments: &Arguments) -> anyhow::Result<Self> {
        if let (Some(file), Some(column)) = (&arguments.csv, &arguments.column) {
            let rows = count_rows(file, column)?;
            let fair = rows / u64::from(2 * WINDOWS);
            anyhow::ensure!(fair >= 2, "{} has {rows} rows; the demo needs at least 12", file.display());
            let ticks = arguments.ticks.unwrap_or(MOST_TICKS).min(fair.min(u64::from(MOST_TICKS)) as u32);
            let used = u64::from(2 * WINDOWS * ticks);
            let note = (used < rows).then(|| format!("the first {used} of {rows} rows"));
            let origin = Origin::Csv { file: file.clone(), column: column.clone() };
            return Ok(Self { origin, ticks, note });
        }
        if arguments.generate {
            let ticks = arguments.ticks.unwrap_or(GENERATOR_TICKS);
            return Ok(Self { origin: Origin::Generator { seed: arguments.seed }, ticks, note: None });
        }
        Ok(Self { origin: Origin::Sensors, ticks: arguments.ticks.unwrap_or(SENSOR_TICKS), note: None })
    }

    /// Slots that a channel's block takes.
    pub(super) fn block(&self) -> u32 {
        self.ticks.next_power_of_two()
    }

    /// Milliseconds between readings.
    pub(super) fn period_ms(&self) -> u32 {
        PERIOD_MS
    }

    pub(super) fn expected_seconds(&self) -> f64 {
        match self.origin {
            Origin::Sensors => f64::from(self.ticks * WINDOWS * PERIOD_MS) / 1000.0 + 1.0,
            _ => 2.0,
        }
    }

    pub(super) fn describe(&self) -> String {
        match &self.origin {
            Origin::Sensors => "this machine's sensors".into(),
            Origin::Csv { file, column } => {
                let note = self.note.as_ref().map_or(String::new(), |note| format!(" ({note})"));
                format!("column {column:?} of {}{note}", file.display())
            }
            Origin::Generator { seed } => format!("a generator (seed {seed})"),
        }
    }

    /// A device's own arguments.
    pub(super) fn agent_arguments(&self, number: usize) -> Vec<String> {
        match &self.origin {
            Origin::Sensors => vec!["--source".into(), "sensors".into()],
            Origin::Generator { seed } => {
                let seed = seed.wrapping_add(number as u64).to_string();
                vec!["--source".into(), "generate".into(), "--seed".into(), seed]
            }
            Origin::Csv { file, column } => {
                let share = u64::from(self.ticks * WINDOWS);
                let from = share * number as u64;
                vec![
                    "--csv".into(),
                    file.display().to_string(),
                    "--column".into(),
                    column.clone(),
                    "--rows".into(),
                    format!("{from}..{}", from + share),
                ]
            }
        }
    }
}

fn count_rows(file: &std::path::Path, column: &str) -> anyhow::Result<u64> {
    let name = || file.display().to_string();
    anyhow::ensure!(file.metadata().with_context(name)?.is_file(), "{} is not a file", name());
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_path(file).with_context(name)?;
    let header = reader.headers().with_context(name)?;
    if !header.iter().any(|known| known.trim() == column) {
        let known: Vec<&str> = header.iter().collect();
        anyhow::bail!("{} has no column {column:?}; it has {}", name(), known.join(", "));
    }
    let mut row = csv::ByteRecord::new();
    let mut rows = 0;
    while reader.read_byte_record(&mut row).with_context(name)? {
        rows += 1;
    }
    Ok(rows)
}
