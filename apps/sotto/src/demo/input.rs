//! The source of the readings: the channels that it declares, and the agents' options to read it.

use std::ffi::OsString;
use std::path::Path;

use anyhow::Context;
use serde::Deserialize;
use sotto_agent::source::{Generator, Source};
use sotto_owner::settings::ChannelSettings;
use sotto_owner::{Every, Range};
use sotto_pack::{Channel, Period};

use super::arguments::Demo;
use super::processes::Processes;
use super::series::{Far, Series};

/// Milliseconds between two readings of the sensors; a load is measured over this time.
const SENSOR_PERIOD: u32 = 200;
const SENSOR_ROWS: u32 = 25;
const SENSOR_RESOLUTION: f64 = 0.1;
/// The generator makes 288 rows a day.
const GENERATOR_PERIOD: u32 = 300_000;
const GENERATOR_ROWS: u32 = 7 * 288;
/// The generator rounds to hundredths.
const GENERATOR_RESOLUTION: f64 = 0.01;
/// Characters of the longest channel name that fits the screen.
const LONGEST_NAME: usize = 12;

/// The source of both devices' readings.
pub(super) struct Input {
    /// `sensors`, `csv` or `generator`, as agents report it.
    pub(super) source: &'static str,
    /// The source in words, for people.
    pub(super) description: String,
    pub(super) channels: Vec<Measured>,
    /// Milliseconds from the first reading to the last.
    pub(super) span: i64,
    /// Estimate of the seconds until both devices end.
    pub(super) seconds: f64,
    /// Values of a file that lie far from the others.
    pub(super) far: Option<Far>,
    /// The agents' options, device by device.
    pub(super) options: [Vec<OsString>; 2],
}

/// A channel and its name in the source.
pub(super) struct Measured {
    pub(super) name: String,
    pub(super) column: String,
    pub(super) channel: ChannelSettings,
}

impl Input {
    pub(super) fn decide(arguments: &Demo, processes: &mut Processes) -> anyhow::Result<Self> {
        match (&arguments.csv, &arguments.column) {
            (Some(file), Some(column)) => {
                let time = arguments.time.as_deref().ok_or(arguments.start.as_str());
                let series = Series::read(file, column, time)?;
                Self::of_series(&series, column, file, processes)
            }
            _ if arguments.generate => Self::generator(arguments),
            _ => Self::sensors(arguments, processes),
        }
    }

    fn sensors(arguments: &Demo, processes: &mut Processes) -> anyhow::Result<Self> {
        #[derive(Deserialize)]
        struct Sensor {
            #[serde(flatten)]
            channel: Channel,
        }
        let way_out = "this machine's sensors cannot be read; a generator takes their place with --generate";
        let json = processes.output("sensors", "sotto-agent", &["sources".into(), "--json".into()]);
        let sensors: Vec<Sensor> = serde_json::from_str(&json.context(way_out)?).context(way_out)?;
        let channels: Vec<Channel> = sensors.into_iter().map(|sensor| sensor.channel).collect();
        anyhow::ensure!(!channels.is_empty(), way_out);
        let rows = arguments.ticks.unwrap_or(SENSOR_ROWS);
        let channels = measured(&channels, SENSOR_RESOLUTION, SENSOR_PERIOD);
        let seconds = f64::from(rows * SENSOR_PERIOD) / 1000.0 + 1.0;
        let options = |_| vec!["--source".into(), "sensors".into()];
        let description = "this machine's sensors".to_owned();
        Ok(Self::of_rows("sensors", description, channels, rows, SENSOR_PERIOD, seconds, options))
    }

    fn generator(arguments: &Demo) -> anyhow::Result<Self> {
        let seed = arguments.seed;
        let rows = arguments.ticks.unwrap_or(GENERATOR_ROWS);
        let channels = Generator::new(seed, Period::from_milliseconds(GENERATOR_PERIOD)).channels().to_vec();
        let channels = measured(&channels, GENERATOR_RESOLUTION, GENERATOR_PERIOD);
        let options = |device: u64| {
            let seed = seed.wrapping_add(device).to_string();
            ["--source", "generate", "--seed", &seed].map(OsString::from).to_vec()
        };
        let description = format!("a generator (seeds {seed} and {})", seed.wrapping_add(1));
        Ok(Self::of_rows("generator", description, channels, rows, GENERATOR_PERIOD, 2.0, options))
    }

    fn of_rows(
        source: &'static str,
        description: String,
        channels: Vec<Measured>,
        rows: u32,
        period: u32,
        seconds: f64,
        options: impl Fn(u64) -> Vec<OsString>,
    ) -> Self {
        let of_device = |device| {
            let mut options = options(device);
            options.extend(["--ticks".into(), rows.to_string().into()]);
            with_columns(options, &channels)
        };
        let options = [of_device(0), of_device(1)];
        let span = i64::from(rows - 1) * i64::from(period);
        Self { source, description, channels, span, seconds, far: None, options }
    }

    fn of_series(series: &Series, column: &str, file: &Path, processes: &Processes) -> anyhow::Result<Self> {
        let resolution = series.resolution();
        let every = Every::from_milliseconds(series.period()?);
        let channel = ChannelSettings::new("", series.range(), resolution, every);
        let name = plain_name(column, &[]);
        let channels = vec![Measured { name: name.clone(), column: name, channel }];
        let mut options = Vec::new();
        for (device, half) in series.halves().into_iter().enumerate() {
            let path = processes.folder().join(format!("half-{}.csv", device + 1));
            let text = Series::text(half, &channels[0].name);
            processes
                .uninterrupted(|| std::fs::write(&path, text))
                .with_context(|| path.display().to_string())?;
            let half = vec!["--csv".into(), path.into_os_string(), "--time".into(), "time".into()];
            options.push(with_columns(half, &channels));
        }
        let [first, second] = <[_; 2]>::try_from(options).unwrap_or_default();
        let (span, options, source) = (series.span(), [first, second], "csv");
        let description = format!("half each of {} rows of {column:?} in {}", series.rows(), file.display());
        Ok(Self { source, description, channels, span, seconds: 2.0, far: series.far(), options })
    }
}

fn measured(channels: &[Channel], resolution: f64, period: u32) -> Vec<Measured> {
    let mut all: Vec<Measured> = Vec::new();
    for channel in channels {
        let name = plain_name(&channel.name, &all);
        let range = Range { minimum: channel.minimum, maximum: channel.maximum };
        let (unit, every) = (channel.unit.clone(), Every::from_milliseconds(period));
        let new = ChannelSettings::new(unit, range, resolution, every);
        all.push(Measured { name, column: channel.name.clone(), channel: new });
    }
    all
}

/// Adds a `--column` option for each channel.
fn with_columns(mut options: Vec<OsString>, channels: &[Measured]) -> Vec<OsString> {
    for Measured { name, column, .. } in channels {
        options.extend(["--column".into(), format!("{name}={column}").into()]);
    }
    options
}

/// Makes a channel name of a label: ASCII letters, digits and `_`, short, unlike the others and unlike words of the
/// language.
fn plain_name(label: &str, others: &[Measured]) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let spaced: String = label.chars().map(letter).collect();
    let mut plain = spaced.split('_').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_");
    plain.truncate(LONGEST_NAME);
    let words = ["as", "over", "since", "until", "by", "per", "across", "where"];
    if !plain.starts_with(|c: char| c.is_ascii_alphabetic()) || words.contains(&plain.as_str()) {
        plain.insert_str(0, "x_");
    }
    let numbered = |number: usize| if number == 1 { plain.clone() } else { format!("{plain}_{number}") };
    let unused = |name: &String| others.iter().all(|other| !other.name.eq_ignore_ascii_case(name));
    (1..=others.len() + 1).map(numbered).find(unused).unwrap_or(plain.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_become_names_of_the_language() {
        let channel = |name: &str| Channel { name: name.into(), maximum: 1.0, ..Channel::default() };
        let labels = ["cpu0", "Core 0", "core 0", "by", "2 °C", "", "a name that is very long"];
        let named = measured(&labels.map(channel), 0.1, 200);
        let names: Vec<&str> = named.iter().map(|measured| measured.name.as_str()).collect();
        assert_eq!(names, ["cpu0", "Core_0", "core_0_2", "x_by", "x_2_C", "x_", "a_name_that_"]);
        for name in names {
            assert!(sotto_owner::question::Question::parse(&format!("mean({name})")).is_ok(), "{name}");
        }
        assert_eq!(named[1].column, "Core 0");
    }
}
