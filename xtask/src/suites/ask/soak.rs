//! 200 days of readings, while the agent is stopped and killed.

use super::Cases;
use super::functions::RMS;
use super::generator::{Numbers, csv};
use super::judge::{Query, spans};
use super::series::{By, Channel, Sample, Series, instant};
use super::site::Site;
use super::truth::Statistic as S;
use anyhow::{Context as _, Result};
use std::thread;
use std::time::{Duration, Instant};

const PERIOD: i64 = 300_000;
const DAYS: i64 = 200;
/// The longest time in seconds for an answer over all days.
const MOST_SECONDS: f64 = 60.0;
const ASKED: &[S] =
    &[S::Count(0), S::Sum(0), S::Mean(0), S::Variance(0), S::Stddev(0), S::Readings(0, &RMS), S::Energy(0)];
/// Milliseconds after which the agent gets a signal; the whole work takes about a second.
const SIGNALS: [(u64, &str); 12] = [
    (20, "KILL"),
    (60, "TERM"),
    (40, "KILL"),
    (80, "KILL"),
    (30, "TERM"),
    (70, "KILL"),
    (50, "TERM"),
    (90, "KILL"),
    (60, "TERM"),
    (100, "KILL"),
    (40, "KILL"),
    (80, "TERM"),
];
/// The fewest signals that must come while the agent works; with fewer, the rest shows nothing.
const LEAST_ON_ITS_WAY: usize = 5;

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let channel = Channel { name: "temperature", unit: "°C", low: -20.0, high: 120.0, resolution: 0.1 };
    let mut series = Series::new("Europe/Vienna", PERIOD, vec![channel], vec!["boiler"])?;
    // The clocks go forward and back within these days.
    let (begin, mut numbers) = (instant("2025-03-21T11:00:00Z").context("a time")?, Numbers(11));
    let rows: Vec<Sample> = (0..DAYS * 288)
        .filter_map(|tick| {
            let value = 60.0 + 40.0 * (tick as f64 / 288.0).sin() + 5.0 * numbers.next();
            let there = numbers.next() > 0.05;
            there.then_some(Sample { at: begin + tick * PERIOD, device: 0, values: [Some(value), None] })
        })
        .collect();
    series.take(rows);
    let mut site = Site::new(cases.sotto(), "Europe/Vienna")?;
    site.channel(&series.channels[0], "5m")?;
    let asked = Query { statistics: ASKED, by: By::Day, per_device: true, spans: &[] };
    site.sotto(&["question", "add", "daily", &asked.text(&series)])?;
    site.sotto(&["device", "add", "boiler", "--channels", "temperature"])?;
    site.write("boiler.csv", csv(&series, 0))?;
    site.start_cloud()?;
    let mut on_its_way = 0;
    for (milliseconds, signal) in SIGNALS {
        let mut agent = site.start_agent("boiler", &["--csv", "boiler.csv"])?;
        thread::sleep(Duration::from_millis(milliseconds));
        on_its_way += usize::from(agent.end(signal)?);
    }
    let late = on_its_way < LEAST_ON_ITS_WAY;
    let found = late.then(|| format!("only {on_its_way} signals came while the agent worked"));
    cases.case("200 days: the agent is stopped and killed on its way", found.into_iter().collect());
    site.agent("boiler", &["--csv", "boiler.csv"])?;
    let windows = Query { statistics: &[S::Count(0)], by: By::Window, per_device: true, spans: &[] };
    let found = site.ask(&windows.text(&series), &[])?;
    let spans = spans(&series, &found);
    cases.case("200 days: every reading is in one window", windows.judge(&series, &found));
    for by in [By::Day, By::Week, By::Month, By::All] {
        let begin = Instant::now();
        let asked = Query { by, spans: &spans, ..asked };
        let answer = site.ask(&asked.text(&series), &[])?;
        let mut faults = asked.judge(&series, &answer);
        let seconds = begin.elapsed().as_secs_f64();
        println!("200 days{}: {seconds:.1} s, {} windows", asked.clauses(), answer["windows"]);
        if seconds > MOST_SECONDS {
            faults.push(format!("took {seconds:.1} s; {MOST_SECONDS} is the most"));
        }
        cases.case(&format!("200 days{}", asked.clauses()), faults);
    }
    let again = site.agent("boiler", &["--csv", "boiler.csv"])?;
    let left_out = &again["left_out"]["already-sent"];
    let found = (again["windows"] != 0 || *left_out != series.samples.len())
        .then(|| format!("the file is not known again: {again}"));
    cases.case("200 days: the file again sends nothing", found.into_iter().collect());
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}
