//! Readings that are equal in each run, and their files.

use super::series::{Sample, Series, instant};
use anyhow::{Context as _, Result};
use std::fmt::Write as _;

/// A generator of numbers in 0 … 1, equal in each run.
pub(in crate::suites) struct Numbers(pub(in crate::suites) u64);

impl Numbers {
    pub(in crate::suites) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Adds readings with gaps, a day without any, and values out of range.
pub(super) fn generated(series: &mut Series, begin: &str, ticks: i64) -> Result<()> {
    let begin = instant(begin).context("a time")?;
    let (day, mut numbers) = (24 * 3_600_000 / series.period, Numbers(7));
    let mut rows = Vec::new();
    for tick in 0..ticks {
        for device in 0..series.devices.len() {
            let noise = numbers.next();
            let phase = (tick as f64 / day as f64 + 0.1 * device as f64) * std::f64::consts::TAU;
            let temperature = 21.5 + 6.0 * phase.sin() + noise + 3.0 * device as f64;
            let flow = 6.0 + 0.2 * temperature + 2.0 * numbers.next();
            let silent = numbers.next() < 0.03 || (ticks > 9 * day && (5 * day..7 * day).contains(&tick));
            let temperature = if numbers.next() < 0.01 { 999.0 } else { temperature };
            let of = |value: f64, there: bool| (there && !silent).then_some(value);
            let (first, second) = (numbers.next() > 0.02, numbers.next() > 0.04);
            let values = [of(temperature, first), of(flow, second)];
            rows.push(Sample { at: begin + tick * series.period, device, values });
        }
    }
    series.take(rows);
    Ok(())
}

/// Returns the readings of one device as a CSV file.
pub(super) fn csv(series: &Series, device: usize) -> String {
    let names: Vec<&str> = series.channels.iter().map(|channel| channel.name).collect();
    let mut text = format!("time,{}\n", names.join(","));
    for sample in series.samples.iter().filter(|sample| sample.device == device) {
        let time = jiff::Timestamp::from_millisecond(sample.at).unwrap_or_default();
        text += &time.to_string();
        for value in &sample.values[..names.len()] {
            let value = value.map_or_else(String::new, |value| value.to_string());
            // Writing to a string cannot fail.
            let _ = write!(text, ",{value}");
        }
        text.push('\n');
    }
    text
}
