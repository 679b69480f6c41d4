//! Three devices with readings of every kind, over a change of the clocks.

use std::fmt::Write as _;
use std::path::Path;

use jiff::tz::TimeZone;
use jiff::{Timestamp, civil};

use super::numbers::Numbers;
use crate::session;

pub(crate) const ZONE: &str = "Europe/Vienna";
pub(crate) const HOUR: i64 = 3_600_000;
pub(crate) const QUARTER: i64 = HOUR / 4;

/// The kind of a channel's readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Gauge,
    Counter,
    State,
    Amount,
    Angle,
}

/// A channel as it is declared.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) kind: Kind,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) resolution: f64,
    pub(crate) period: i64,
    pub(crate) tag: Option<&'static str>,
}

const fn channel(name: &'static str, unit: &'static str, kind: Kind, high: f64, resolution: f64) -> Channel {
    Channel { name, unit, kind, low: 0.0, high, resolution, period: QUARTER, tag: None }
}

pub(crate) const TEMP: usize = 0;
pub(crate) const POWER: usize = 1;
pub(crate) const METER: usize = 2;
pub(crate) const DOOR: usize = 3;
pub(crate) const RAIN: usize = 4;
pub(crate) const WIND: usize = 5;
pub(crate) const LEVEL: usize = 6;

pub(crate) const INLET: usize = 7;

pub(crate) const CHANNELS: [Channel; 8] = [
    Channel { low: -20.0, ..channel("temp", "°C", Kind::Gauge, 60.0, 0.1) },
    Channel { tag: Some("grid"), ..channel("power", "W", Kind::Gauge, 4000.0, 1.0) },
    channel("meter", "kWh", Kind::Counter, 99_999.0, 0.01),
    channel("door", "", Kind::State, 1.0, 1.0),
    channel("rain", "mm", Kind::Amount, 50.0, 0.1),
    channel("wind", "°", Kind::Angle, 360.0, 1.0),
    Channel { period: 2 * QUARTER, ..channel("level", "m", Kind::Gauge, 5.0, 0.01) },
    channel("inlet", "°C", Kind::Gauge, 90.0, 0.5),
];

/// A device, with the first day of its readings and the day after the last.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) name: &'static str,
    pub(crate) tags: &'static [&'static str],
    pub(crate) channels: &'static [usize],
    days: [civil::Date; 2],
}

pub(crate) const DEVICES: [Device; 3] = [
    Device {
        name: "boiler",
        tags: &["barn"],
        channels: &[TEMP, POWER, METER, DOOR, INLET],
        days: [civil::date(2025, 3, 10), civil::date(2025, 4, 7)],
    },
    Device {
        name: "roof",
        tags: &["north"],
        channels: &[TEMP, RAIN, WIND],
        days: [civil::date(2025, 3, 12), civil::date(2025, 4, 7)],
    },
    Device {
        name: "tank",
        tags: &["barn", "north"],
        channels: &[POWER, LEVEL],
        days: [civil::date(2025, 3, 10), civil::date(2025, 4, 4)],
    },
];

pub(crate) const TAGS: [&str; 3] = ["barn", "grid", "north"];

/// The questions for which the devices send squares, products, extremes, bins and angles.
const DECLARED: [&str; 9] = [
    "variance(temp), min(temp), max(temp), histogram(temp, 16), count(temp > 20), count(temp < 5) by day",
    "variance(power), covariance(temp, power), max(power) by day",
    "increase(meter), variance(meter) by day",
    "changes(door), time(door = open), variance(door) by day",
    "sum(rain), max(rain), variance(rain), covariance(temp, rain) by day",
    "direction(wind), changes(wind) by day",
    "variance(level), min(level), changes(level) by day",
    "mean(polynomial(level, [1, -0.5, 0.25])) by day",
    "changes(temp), covariance(temp, inlet) by day",
];

/// One reading: as the file has it, and as the device rounds it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub(crate) at: i64,
    pub(crate) value: f64,
    pub(crate) rounded: f64,
}

impl Reading {
    /// Returns true if the device had to round it.
    pub(crate) fn is_off(&self) -> bool {
        (self.value - self.rounded).abs() > 1e-9
    }
}

/// The readings of all devices in the clear.
pub(crate) struct House {
    pub(crate) zone: TimeZone,
    /// By device and channel, in order of time.
    readings: Vec<Vec<Vec<Reading>>>,
}

impl House {
    pub(crate) fn new() -> Self {
        let zone = TimeZone::get(ZONE).unwrap();
        let mut house = Self { zone, readings: Vec::new() };
        let mut numbers = Numbers(20_250_310);
        for (device, of) in DEVICES.iter().enumerate() {
            let (from, to) = house.span(device);
            let mut channels = vec![Vec::new(); CHANNELS.len()];
            for channel in of.channels {
                channels[*channel] = readings(*channel, device, from, to, &mut numbers);
            }
            house.readings.push(channels);
        }
        house
    }

    /// Returns the beginning of a device's first window and the end of the last, in milliseconds since 1970.
    pub(crate) fn span(&self, device: usize) -> (i64, i64) {
        let [from, to] = DEVICES[device].days.map(|day| self.midnight(day));
        (from, to)
    }

    /// Returns the first moment of a day.
    pub(crate) fn midnight(&self, day: civil::Date) -> i64 {
        day.to_zoned(self.zone.clone()).unwrap().timestamp().as_millisecond()
    }

    /// Returns the readings of a device's channel between two moments.
    pub(crate) fn readings(&self, device: usize, channel: usize, from: i64, to: i64) -> &[Reading] {
        let all = &self.readings[device][channel];
        let until = |at: i64| all.partition_point(|reading| reading.at < at);
        &all[until(from)..until(to).max(until(from))]
    }

    /// Returns the table of a device.
    fn table(&self, device: usize) -> String {
        let own = DEVICES[device].channels;
        let names: Vec<&str> = own.iter().map(|channel| CHANNELS[*channel].name).collect();
        let mut text = format!("time,{}\n", names.join(","));
        let (from, to) = self.span(device);
        for at in (from..to).step_by(QUARTER as usize) {
            let cells = own.iter().map(|channel| {
                let reading = self.readings(device, *channel, at, at + 1).first();
                reading.map_or_else(String::new, |reading| reading.value.to_string())
            });
            let cells: Vec<String> = cells.collect();
            if cells.iter().any(|cell| !cell.is_empty()) {
                writeln!(text, "{},{}", Timestamp::from_millisecond(at).unwrap(), cells.join(",")).unwrap();
            }
        }
        text
    }

    /// Makes the plant in a folder, and sends all readings to its cloud, which ends with the runtime.
    pub(crate) fn send(&self, folder: &Path) -> tokio::runtime::Runtime {
        let run = |arguments: &[&str]| session::sotto(folder, arguments).unwrap();
        run(&["init", "plant", "--time-zone", ZONE]);
        for channel in &CHANNELS {
            let range = format!("{}..{}", channel.low, channel.high);
            let (step, every) = (channel.resolution.to_string(), format!("{}m", channel.period / 60_000));
            let mut words = vec!["channel", "add", channel.name, "--every", &every];
            match channel.kind {
                Kind::State => words.extend(["--states", "closed,open"]),
                kind => {
                    words.extend(["--unit", channel.unit, "--range", &range, "--resolution", &step]);
                    words.extend(match kind {
                        Kind::Counter => &["--kind", "counter"][..],
                        Kind::Amount => &["--kind", "amount"],
                        Kind::Angle => &["--kind", "angle"],
                        Kind::Gauge | Kind::State => &[],
                    });
                }
            }
            run(&words);
            if let Some(tag) = channel.tag {
                run(&["channel", "tag", channel.name, tag]);
            }
        }
        for (number, text) in DECLARED.iter().enumerate() {
            run(&["question", "add", &format!("declared{number}"), text]);
        }
        std::fs::write(folder.join("plant/tariff.toml"), TARIFF).unwrap();
        std::fs::write(folder.join("plant/holidays.txt"), "# days off\n2025-03-19\n2025-03-29..2025-03-31\n")
            .unwrap();
        let cloud = session::serve(folder);
        for (at, device) in DEVICES.iter().enumerate() {
            let channels: Vec<&str> = device.channels.iter().map(|channel| CHANNELS[*channel].name).collect();
            run(&["device", "add", device.name, "--channels", &channels.join(",")]);
            run(&[&["device", "tag", device.name], device.tags].concat());
            session::send_text(folder, &format!("{}.bundle", device.name), &self.table(at));
        }
        cloud
    }
}

/// Prices by day and by night.
pub(crate) const NIGHT_PRICE: f64 = 0.18;
pub(crate) const DAY_PRICE: f64 = 0.31;
const TARIFF: &str = r#"currency = "EUR"

[[prices]]
price = 0.18
time = "22:00-06:00"

[[prices]]
price = 0.31
"#;

/// Returns the readings of a channel of a device.
fn readings(channel: usize, device: usize, from: i64, to: i64, numbers: &mut Numbers) -> Vec<Reading> {
    let Channel { low, high, resolution, period, kind, .. } = CHANNELS[channel];
    let (mut all, mut total, mut state) = (Vec::new(), 99.5, 0.0);
    let mut gap = 0u64;
    for at in (from..to).step_by(period as usize) {
        let of_day = (at.rem_euclid(24 * HOUR) as f64 / (24 * HOUR) as f64 * std::f64::consts::TAU).sin();
        let day = (at - from) / (24 * HOUR);
        let random = numbers.unit();
        let value = match channel {
            // Two thirds are multiples of the resolution.
            TEMP => {
                let tenths = (10.0 * (12.0 - 3.0 * device as f64 - 9.0 * of_day + 6.0 * (random - 0.5)))
                    .round()
                    / 10.0;
                let more = [0.0, 0.0, 0.0, 0.0, 0.02, -0.03][numbers.below(6)];
                ((tenths + more) * 100.0_f64).round() / 100.0
            }
            POWER => (1500.0 + 1200.0 * of_day + 900.0 * (random - 0.5)).round(),
            METER => {
                total = if numbers.below(700) == 0 { 0.0 } else { total + (random * 90.0).floor() / 100.0 };
                (total * 100.0_f64).round() / 100.0
            }
            DOOR => {
                state = if numbers.below(9) == 0 { 1.0 - state } else { state };
                state
            }
            RAIN if day % 3 == 0 && random > 0.6 => (random * 40.0).round() / 10.0,
            RAIN => 0.0,
            WIND => (220.0 + 100.0 * of_day + 80.0 * random).rem_euclid(360.0).floor(),
            INLET => (2.0 * (45.0 + 20.0 * of_day + 8.0 * random)).round() / 2.0,
            // Hundredths and a few thousandths, which are rounded.
            _ => ((2.0 + 1.5 * of_day + random) * 1000.0).round() / 1000.0,
        };
        let value = value.clamp(low, high);
        // A value in the middle between two multiples could be rounded to either.
        let steps = (value - low) / resolution;
        let value = if (steps.fract().abs() - 0.5).abs() < 1e-6 { value + resolution / 10.0 } else { value };
        let rounded = low + ((value - low) / resolution).round() * resolution;
        // Single readings are missing, some hours, and one day of the boiler's temperature. States and amounts have all.
        gap = match numbers.below(300) {
            0..4 => 1,
            4 if channel == LEVEL => 16,
            4 => 40,
            _ => gap.saturating_sub(1),
        };
        let is_there = matches!(kind, Kind::State | Kind::Amount)
            || gap == 0 && !(channel == TEMP && device == 0 && day == 9);
        // Each stream has a window every day.
        let is_end = at == from || at + period >= to || channel == LEVEL && (at - from) % (24 * HOUR) == 0;
        if is_there || is_end {
            all.push(Reading { at, value, rounded });
        }
    }
    all
}
