//! The CSV files of SOTTO_DATASETS, read by code that shares nothing with the agent's.

use super::Cases;
use super::functions::{ALL, PAIRS, spans_of};
use super::judge::Query;
use super::series::{By, Channel, Sample, Series, cells, instant};
use super::site::Site;
use super::truth::Statistic;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::PathBuf;

const HOUR: i64 = 3_600_000;
const MINUTE: i64 = 60_000;

/// A file, and how to read it.
pub(super) struct File {
    pub(super) name: &'static str,
    pub(super) zone: &'static str,
    pub(super) every: &'static str,
    pub(super) period: i64,
    pub(super) channels: Vec<Channel>,
    /// Devices with their arguments.
    pub(super) devices: &'static [(&'static str, &'static [&'static str])],
    questions: &'static [(&'static str, &'static [Statistic])],
    pub(super) rows: fn(&Series, &str) -> Vec<Sample>,
}

pub(super) fn files() -> [File; 3] {
    let channel = |name, unit, low, high, resolution| Channel { name, unit, low, high, resolution };
    [
        File {
            name: "seattle-temps.csv",
            zone: "America/Los_Angeles",
            every: "1h",
            period: HOUR,
            channels: vec![channel("temp", "°F", -20.0, 120.0, 0.5)],
            devices: &[("roof", &["--time", "date"])],
            questions: &[("single", ALL)],
            rows: |series, text| {
                let row = |cells: Vec<&str>| {
                    let at = series.local(&cells[0].replace('/', "-").replace(' ', "T"))?;
                    Some(Sample { at, device: 0, values: [cells[1].parse().ok(), None] })
                };
                cells(text).filter_map(row).collect()
            },
        },
        File {
            name: "water-flow.csv",
            zone: "Europe/Vienna",
            every: "1h",
            period: HOUR,
            channels: vec![channel("flow", "l/s", 0.0, 150.0, 0.05)],
            devices: &[("meter", &["--column", "flow=Water flow [l/s]"])],
            questions: &[("single", ALL)],
            rows: |_, text| {
                let row = |cells: Vec<&str>| {
                    Some(Sample { at: instant(cells[0])?, device: 0, values: [cells[1].parse().ok(), None] })
                };
                cells(text).filter_map(row).collect()
            },
        },
        File {
            name: "sensor-network.csv",
            zone: "Asia/Kolkata",
            every: "1m",
            period: MINUTE,
            channels: vec![
                channel("temperature", "°C", -20.0, 60.0, 0.1),
                channel("humidity", "%", 0.0, 100.0, 0.25),
            ],
            devices: &[
                ("first", &["--start", "2010-05-09T22:00", "--where", "mote_id=1"]),
                ("second", &["--start", "2010-05-09T22:00", "--where", "mote_id=2"]),
            ],
            questions: &[("single", ALL), ("pairs", PAIRS)],
            rows: |series, text| {
                let mut rows = [0, 0];
                let start = series.local("2010-05-09T22:00").unwrap_or_default();
                let row = |cells: Vec<&str>| {
                    let device = cells[1].parse::<usize>().ok()?.checked_sub(1).filter(|mote| *mote < 2)?;
                    let at = start + rows[device] * MINUTE;
                    rows[device] += 1;
                    Some(Sample { at, device, values: [cells[4].parse().ok(), cells[3].parse().ok()] })
                };
                cells(text).filter_map(row).collect()
            },
        },
    ]
}

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let Some(folder) = std::env::var_os("SOTTO_DATASETS").map(PathBuf::from) else {
        println!("skipped: SOTTO_DATASETS names no folder of data sets");
        return Ok(());
    };
    for file in files() {
        let path = folder.join(file.name);
        let text = fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
        one(cases, &file, &path.to_string_lossy(), &text).with_context(|| file.name)?;
    }
    Ok(())
}

impl File {
    /// Returns the series of the file's text, and a site that has its channels.
    pub(super) fn series_and_site(&self, cases: &Cases, text: &str) -> Result<(Series, Site)> {
        let devices = self.devices.iter().map(|(name, _)| *name).collect();
        let mut series = Series::new(self.zone, self.period, self.channels.clone(), devices)?;
        let rows = (self.rows)(&series, text);
        series.take(rows);
        let site = Site::new(cases.sotto(), self.zone)?;
        for channel in &self.channels {
            site.channel(channel, self.every)?;
        }
        Ok((series, site))
    }
}

fn one(cases: &mut Cases, file: &File, path: &str, text: &str) -> Result<()> {
    let (series, mut site) = file.series_and_site(cases, text)?;
    for (name, statistics) in file.questions {
        let asked = Query { statistics, by: By::Day, per_device: false, spans: &[] };
        site.sotto(&["question", "add", name, &asked.text(&series)])?;
    }
    let names: Vec<&str> = file.channels.iter().map(|channel| channel.name).collect();
    site.start_cloud()?;
    for (at, (device, args)) in file.devices.iter().enumerate() {
        site.sotto(&["device", "add", device, "--channels", &names.join(",")])?;
        let summary = site.agent(device, &[&["--csv", path], *args].concat())?;
        let readings = series.samples.iter().filter(|sample| sample.device == at);
        let readings = readings.flat_map(|sample| sample.values).flatten().count();
        let found = (summary["readings"] != readings)
            .then(|| format!("{} readings were sent, not {readings}", summary["readings"]));
        cases.case(&format!("{}: {device} sends all", file.name), found.into_iter().collect());
    }
    let spans = spans_of(&site, &series)?;
    for by in [By::All, By::Day, By::Week, By::Month, By::Window] {
        // By window, devices whose last windows differ have different groups.
        let across = by != By::Window && (file.devices.len() > 1 || by == By::Day);
        for per_device in [true, false].into_iter().take(if across { 2 } else { 1 }) {
            for (name, statistics) in file.questions {
                let asked = Query { statistics, by, per_device, spans: &spans };
                let title = format!("{}: {name}{}", file.name, asked.clauses());
                cases.asked(&title, &site, &series, &asked, "");
            }
        }
    }
    cases.case(&format!("{}: nothing is left behind", file.name), site.close()?);
    Ok(())
}
