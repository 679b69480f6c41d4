//! Ten thousand windows of one device, asked for by day: how long an answer takes.

use super::Cases;
use super::generator::{Numbers, csv};
use super::judge::Asked;
use super::series::{By, Channel, Sample, Series, instant};
use super::site::Site;
use super::truth::Statistic as S;
use anyhow::{Context as _, Result};
use std::time::Instant;

const PERIOD: i64 = 1_800_000;
const DAYS: i64 = 10_000;

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let channel = Channel { name: "temperature", unit: "°C", low: -20.0, high: 120.0, resolution: 0.1 };
    let mut series = Series::new("UTC", PERIOD, vec![channel], vec!["boiler"])?;
    let (begin, mut numbers) = (instant("1999-01-01T00:00:00Z").context("a time")?, Numbers(12));
    let per_day = 86_400_000 / PERIOD;
    let rows = (0..DAYS * per_day).map(|tick| {
        let value = 60.0 + 40.0 * (tick as f64 / per_day as f64).sin() + 5.0 * numbers.next();
        Sample { at: begin + tick * PERIOD, device: 0, values: [Some(value), None] }
    });
    series.take(rows.collect::<Vec<Sample>>());
    let spans = [(begin, begin + DAYS * 86_400_000)];
    let mut site = Site::new(cases.sotto(), "UTC")?;
    site.channel(&series.channels[0], "30m")?;
    let asked =
        Asked { statistics: &[S::Count(0), S::Mean(0)], by: By::Day, per_device: true, spans: &spans };
    site.sotto(&["question", "add", "daily", &asked.text(&series)])?;
    site.sotto(&["device", "add", "boiler", "--channels", "temperature"])?;
    site.write("boiler.csv", csv(&series, 0))?;
    site.start_cloud()?;
    site.agent("boiler", &["--csv", "boiler.csv"])?;
    for by in [By::Day, By::Month] {
        let asked = Asked { by, ..asked };
        let start = Instant::now();
        let answer = site.ask(&asked.text(&series), &[])?;
        let seconds = start.elapsed().as_secs_f64();
        println!("{} windows{}: {seconds:.2} s", answer["windows"], asked.clauses());
        let mut faults = asked.judge(&series, &answer);
        if answer["windows"] != DAYS {
            faults.push(format!("{} windows", answer["windows"]));
        }
        cases.case(&format!("10,000 windows{}", asked.clauses()), faults);
    }
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}
