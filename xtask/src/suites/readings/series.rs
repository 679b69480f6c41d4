//! A clean series: three days of a state, a counter, an amount and three gauges, two of them with a product.

use anyhow::Result;

use crate::suites::ask::{Numbers, Site};

/// Milliseconds between ticks.
pub(super) const PERIOD: i64 = 300_000;
/// 4 March 2024, 00:00 UTC.
const BEGIN: i64 = 1_709_510_400_000;
const TICKS: i64 = 3 * 288;

/// The channels, in the order of the values of a row. The first is of gauges alone.
pub(super) const CHANNELS: [&str; 6] = ["air", "inlet", "outlet", "meter", "door", "rain"];

/// The questions whose answers must not depend on how readings come.
pub(super) const QUESTIONS: [&str; 3] = [
    "sum(air), count(air), variance(air), max(air), coverage(air) by day",
    "covariance(inlet, outlet), mean(inlet), increase(meter), time(door = open), changes(door), sum(rain), max(rain)",
    "increase(meter), time(door = open), sum(rain), count(door) by day",
];

/// A reading: milliseconds since 1970, the channel, the value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reading {
    pub(super) at: i64,
    pub(super) channel: usize,
    pub(super) value: f64,
}

impl Reading {
    /// Returns the text of the value.
    pub(super) fn text(&self) -> String {
        match CHANNELS[self.channel] {
            "door" => if self.value > 0.0 { "open" } else { "closed" }.to_owned(),
            _ => format!("{:.1}", self.value),
        }
    }
}

/// Declares the channels and the questions of a plant.
pub(super) fn declare(site: &Site) -> Result<()> {
    let gauge = ["--range", "-50..150", "--resolution", "0.1"];
    for name in ["air", "inlet", "outlet"] {
        site.sotto(&[&["channel", "add", name, "--every", "5m", "--unit", "°C"], &gauge[..]].concat())?;
    }
    let of = |name, more: &[&str]| site.sotto(&[&["channel", "add", name, "--every", "5m"], more].concat());
    of("meter", &["--kind", "counter", "--range", "0..9999.9", "--resolution", "0.1"])?;
    of("door", &["--states", "closed,open"])?;
    of("rain", &["--kind", "amount", "--range", "0..100", "--resolution", "0.1"])?;
    for (at, question) in QUESTIONS.iter().enumerate() {
        site.sotto(&["question", "add", &format!("q{at}"), question])?;
    }
    Ok(())
}

/// Returns the readings in order of time. Gauges and the meter have gaps; the door and the rain report when something
/// happens; the meter passes its end and begins again.
pub(super) fn readings() -> Vec<Reading> {
    let mut numbers = Numbers(11);
    let (mut meter, mut all) = (9_950.0, Vec::new());
    for tick in 0..TICKS {
        let at = BEGIN + tick * PERIOD;
        let hours = tick as f64 / 12.0;
        let (air, noise) = (12.0 + 8.0 * (hours / 3.8).sin(), numbers.next());
        meter += (10.0 * numbers.next()).round() / 10.0;
        if tick == 600 {
            meter = 0.0;
        }
        meter %= 10_000.0;
        let silent = (300..340).contains(&tick);
        let mut push = |channel, value: f64, there: bool| {
            if there {
                all.push(Reading { at, channel, value: (value * 10.0).round() / 10.0 });
            }
        };
        push(0, air + noise, numbers.next() < 0.97 && !silent);
        push(1, 40.0 + air, numbers.next() < 0.98);
        push(2, 35.0 + 0.8 * air + noise, numbers.next() < 0.98);
        push(3, meter, numbers.next() < 0.95 && !silent);
        push(4, f64::from(u8::from(numbers.next() < 0.5)), tick == 0 || numbers.next() < 0.05);
        push(5, numbers.next(), tick == 0 || tick == TICKS - 1 || numbers.next() < 0.1);
    }
    all
}
