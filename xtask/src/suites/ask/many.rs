//! Ten thousand windows of one device, grouped by day: the time of the answer, and each day's mean.

use super::Cases;
use super::generator::{Numbers, csv};
use super::series::{Channel, Sample, Series, instant};
use super::site::Site;
use anyhow::{Context as _, Result};
use std::time::Instant;

const PERIOD: i64 = 1_800_000;
const DAYS: usize = 10_000;
const PER_DAY: usize = 48;
const RESOLUTION: f64 = 0.1;

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let channel =
        Channel { name: "temperature", unit: "°C", low: -20.0, high: 120.0, resolution: RESOLUTION };
    let mut series = Series::new("UTC", PERIOD, vec![channel], vec!["boiler"])?;
    let (begin, mut numbers) = (instant("1999-01-01T00:00:00Z").context("a time")?, Numbers(12));
    let values: Vec<f64> = (0..DAYS * PER_DAY)
        .map(|tick| 60.0 + 40.0 * (tick as f64 / PER_DAY as f64).sin() + 5.0 * numbers.next())
        .collect();
    let sample = |(tick, value): (usize, &f64)| Sample {
        at: begin + tick as i64 * PERIOD,
        device: 0,
        values: [Some(*value), None],
    };
    series.take(values.iter().enumerate().map(sample).collect::<Vec<_>>());
    let mut site = Site::new(cases.sotto(), "UTC")?;
    site.channel(&series.channels[0], "30m")?;
    site.sotto(&["question", "add", "daily", "mean(temperature) by day"])?;
    site.sotto(&["device", "add", "boiler", "--channels", "temperature"])?;
    site.write("boiler.csv", csv(&series, 0))?;
    site.start_cloud()?;
    site.agent("boiler", &["--csv", "boiler.csv"])?;
    let start = Instant::now();
    let answer = site.ask("mean(temperature) by day", &[])?;
    println!("{} windows by day: {:.2} s", answer["windows"], start.elapsed().as_secs_f64());
    let means: Vec<f64> = answer["rows"]
        .as_array()
        .map_or(&[][..], Vec::as_slice)
        .iter()
        .filter_map(|row| row["value"].as_f64().filter(|_| row["count"] == PER_DAY))
        .collect();
    let expected = values.chunks(PER_DAY).map(|day| day.iter().sum::<f64>() / PER_DAY as f64);
    let off =
        means.iter().zip(expected).filter(|(mean, exact)| (*mean - exact).abs() > RESOLUTION / 2.0 + 1e-9);
    let (off, days) = (off.count(), means.len());
    let wrong = (off > 0 || days != DAYS).then(|| format!("{days} whole days, {off} of them wrong"));
    cases.case("10,000 windows by day", wrong.into_iter().collect());
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}
