//! Messes made of a clean series: its readings in another order, over files and runs, more than once, with a clock that is
//! off, in other dialects, with kills and lost spools. The answers must be the same bits.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::forgetful::Forgetful;
use super::series::{CHANNELS, PERIOD, QUESTIONS, Reading, declare, readings};
use crate::suites::ask::{Cases, Numbers, Site};

/// The messes of a usual run.
const COUNT: u64 = 100;
/// Messes at a time: most of their time is waiting for disks and processes.
const TOGETHER: usize = 4;

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let clean = readings();
    let sotto = cases.sotto().to_owned();
    let (right, _) = answers(&sotto, |site| {
        let all = write(&clean, &Dialect::PLAIN);
        site.write("clean.csv", &all)?;
        site.agent("gw", &["--csv", "clean.csv"]).map(drop)
    })?;
    cases.case("the clean series", truth(&clean, &right));
    // To look at one of them.
    let one = std::env::var("SOTTO_MESS").ok().and_then(|seed| seed.parse().ok());
    let (first, end) = one.map_or((0, COUNT), |seed: u64| (seed, seed + 1));
    let next = AtomicU64::new(first);
    let found = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..TOGETHER {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        break;
                    }
                    let mess = Mess::new(seed, &clean);
                    let judged = (mess.words(), mess.judge(&sotto, &right));
                    found.lock().unwrap_or_else(PoisonError::into_inner).insert(seed, judged);
                }
            });
        }
    });
    for (seed, (words, faults)) in found.into_inner().unwrap_or_else(PoisonError::into_inner) {
        cases.case(&format!("mess {seed}: {words}"), faults);
    }
    Ok(())
}

/// Makes a plant, lets `send` send readings, and asks every question. Returns the rows, and all notes.
fn answers(sotto: &Path, send: impl FnOnce(&Site) -> Result<()>) -> Result<(Vec<Value>, String)> {
    let mut site = Site::new(sotto, "Europe/Vienna")?;
    declare(&site)?;
    site.sotto(&["device", "add", "gw", "--channels", &CHANNELS.join(",")])?;
    site.start_cloud()?;
    send(&site)?;
    let (mut rows, mut notes) = (Vec::new(), String::new());
    for question in QUESTIONS {
        let answer = site.ask(question, &[])?;
        rows.push(answer["rows"].clone());
        notes += &answer["notes"].to_string();
    }
    site.close()?;
    Ok((rows, notes))
}

/// Returns the results that differ in their bits.
fn differences(right: &[Value], found: &[Value]) -> Vec<String> {
    let rows = |answers: &[Value]| -> Vec<Value> {
        answers.iter().filter_map(Value::as_array).flatten().cloned().collect()
    };
    let (right, found) = (rows(right), rows(found));
    if right.len() != found.len() {
        return vec![format!("{} rows, not {}", found.len(), right.len())];
    }
    let differs = |(right, found): (&Value, &Value)| {
        ["from", "name", "value", "bound", "count"].iter().any(|key| right[key] != found[key])
    };
    let all = right.iter().zip(&found).filter(|(right, found)| differs((right, found)));
    all.map(|(right, found)| format!("{found}, not {right}")).take(5).collect()
}

/// Compares the answer to the second question, over all readings, with what the readings say.
fn truth(clean: &[Reading], answers: &[Value]) -> Vec<String> {
    let of = |channel: usize| clean.iter().filter(move |reading| reading.channel == channel);
    let mut meter = 0.0;
    for pair in of(3).collect::<Vec<_>>().windows(2) {
        let (before, next) = (pair[0].value, pair[1].value);
        meter += if next >= before { next - before } else { next };
    }
    // The last report holds to the end of its day in Vienna, an hour before that of UTC.
    let end = of(4).map(|reading| reading.at).max().unwrap_or_default();
    let day_end = (end + 3_600_000).div_euclid(86_400_000) * 86_400_000 + 86_400_000 - 3_600_000;
    let (mut open, mut changes) = (0.0, 0.0);
    let door: Vec<&Reading> = of(4).collect();
    for (at, report) in door.iter().enumerate() {
        let until = door.get(at + 1).map_or(day_end, |next| next.at);
        open += report.value * (until - report.at) as f64 / 3_600_000.0;
        changes += f64::from(u8::from(door.get(at + 1).is_some_and(|next| next.value != report.value)));
    }
    let rain = || of(5).map(|reading| reading.value);
    let expected = [
        ("increase(meter)", meter),
        ("time(door = open)", open),
        ("changes(door)", changes),
        ("sum(rain)", rain().sum()),
        ("max(rain)", rain().fold(0.0, f64::max)),
    ];
    let rows = answers.get(1).and_then(Value::as_array);
    let judge = |(name, expected): (&str, f64)| {
        let row = rows.and_then(|rows| rows.iter().find(|row| row["name"] == name));
        let (value, bound) = row.map_or((f64::NAN, 0.0), |row| {
            (row["value"].as_f64().unwrap_or(f64::NAN), row["bound"].as_f64().unwrap_or_default())
        });
        let right = (value - expected).abs() <= bound + 1e-6;
        (!right).then(|| format!("{name} is {value} ± {bound}, not {expected}"))
    };
    expected.into_iter().filter_map(judge).collect()
}

/// How a file is written.
#[derive(Clone, Copy, Debug)]
struct Dialect {
    delimiter: char,
    comma: bool,
    /// True for a row for each reading, with the channel's name in a column.
    long: bool,
}

impl Dialect {
    const PLAIN: Self = Self { delimiter: ',', comma: false, long: false };

    fn of(numbers: &mut Numbers) -> Self {
        let comma = numbers.next() < 0.3;
        Self { delimiter: if comma { ';' } else { ',' }, comma, long: numbers.next() < 0.3 }
    }

    fn args(self) -> Vec<String> {
        let of = |channel: &&str| ["--column".to_owned(), format!("{channel}=value[channel={channel}]")];
        let decimal = ["--decimal".to_owned(), if self.comma { "," } else { "." }.to_owned()];
        let columns = CHANNELS.iter().flat_map(of).filter(|_| self.long);
        columns.chain(decimal).collect()
    }
}

/// Writes readings in this order: those that follow each other with one time are one row.
fn write(readings: &[Reading], dialect: &Dialect) -> String {
    let Dialect { delimiter, comma, long } = *dialect;
    let time = |at: i64| jiff::Timestamp::from_millisecond(at).unwrap_or_default().to_string();
    let value = |reading: &Reading| {
        let text = reading.text();
        if comma { text.replace('.', ",") } else { text }
    };
    let line = |cells: &[String]| cells.join(&delimiter.to_string());
    let mut out = String::new();
    if long {
        let _ = writeln!(out, "{}", line(&["time", "channel", "value"].map(str::to_owned)));
        for reading in readings {
            let cells = [time(reading.at), CHANNELS[reading.channel].to_owned(), value(reading)];
            let _ = writeln!(out, "{}", line(&cells));
        }
        return out;
    }
    let names: Vec<String> = ["time"].into_iter().chain(CHANNELS).map(str::to_owned).collect();
    let _ = writeln!(out, "{}", line(&names));
    for row in readings.chunk_by(|a, b| a.at == b.at && a.channel < b.channel) {
        let cells: BTreeMap<usize, String> =
            row.iter().map(|reading| (reading.channel, value(reading))).collect();
        let cell = |channel| cells.get(&channel).cloned().unwrap_or_default();
        let cells: Vec<String> = [time(row[0].at)].into_iter().chain((0..CHANNELS.len()).map(cell)).collect();
        let _ = writeln!(out, "{}", line(&cells));
    }
    out
}

/// A run of the agent.
struct Run {
    readings: Vec<Reading>,
    dialect: Dialect,
    /// The time after which the agent is killed.
    killed: Option<Duration>,
}

/// The fate of the spool after all runs. If it is lost, a last run reads everything again.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Spool {
    Kept,
    Lost,
    /// Lost, and the cloud hides windows from the agent until its last run ends.
    Hidden,
}

/// Runs that bring all readings of a series.
struct Mess {
    seed: u64,
    runs: Vec<Run>,
    jitter: bool,
    spool: Spool,
    /// Every reading once, in order of time.
    all: Vec<Reading>,
}

impl Mess {
    fn new(seed: u64, clean: &[Reading]) -> Self {
        let mut numbers = Numbers(seed * 7919 + 5);
        let jitter = numbers.next() < 0.5;
        let count = 1 + (numbers.next() * 5.0) as usize;
        let (mut parts, mut all) = (vec![Vec::new(); count], Vec::new());
        // Every reading is in one run, and some in others too. With blocks, a run has hours at a time.
        let block = if numbers.next() < 0.5 { 1 } else { 36 };
        for group in clean.chunks(block * CHANNELS.len()) {
            let home = (numbers.next() * count as f64) as usize;
            for reading in group {
                let reading = Reading { at: reading.at + offset(reading, jitter, &mut numbers), ..*reading };
                all.push(reading);
                for (at, part) in parts.iter_mut().enumerate() {
                    if at == home || numbers.next() < 0.05 {
                        part.push(reading);
                    }
                }
            }
        }
        let mut runs: Vec<Run> = Vec::new();
        for mut readings in parts {
            match (numbers.next() * 3.0) as u8 {
                0 => shuffle(&mut readings, &mut numbers),
                1 => readings.reverse(),
                _ => {}
            }
            let killed =
                (numbers.next() < 0.3).then(|| Duration::from_millis((numbers.next() * 60.0) as u64));
            runs.push(Run { readings, dialect: Dialect::of(&mut numbers), killed });
        }
        all.sort_by_key(|reading| (reading.at, reading.channel));
        let spool = [Spool::Kept, Spool::Kept, Spool::Lost, Spool::Hidden][(seed % 4) as usize];
        Self { seed, runs, jitter, spool, all }
    }

    /// Returns the faults of the answers after this mess.
    fn judge(&self, sotto: &Path, right: &[Value]) -> Vec<String> {
        let mut again = 0;
        let sent = answers(sotto, |site| {
            self.send(site)?;
            again = self.lose(site)?;
            Ok(())
        });
        let (rows, notes) = match sent {
            Ok(sent) => sent,
            Err(error) => return vec![format!("{error:#}")],
        };
        let mut faults = differences(right, &rows);
        let (said, twice) = (notes.contains("the window with the lower number counts"), again > 0);
        if said != (twice && self.spool == Spool::Hidden) {
            faults.push(format!("{again} windows came twice, and the notes are {notes}"));
        }
        if self.spool == Spool::Lost && twice {
            faults.push(format!("{again} windows came twice, though the cloud showed all"));
        }
        faults
    }

    /// Loses the spool, if it is to be lost, and sends everything again. Returns the number of windows that came again.
    fn lose(&self, site: &Site) -> Result<u64> {
        if self.spool == Spool::Kept {
            return Ok(0);
        }
        fs::remove_dir_all(site.folder().join("gw.spool"))?;
        let hidden = match self.spool {
            Spool::Hidden => Some(Forgetful::hide(site, &mut Numbers(self.seed + 1))?),
            _ => None,
        };
        site.write("all.csv", write(&self.all, &Dialect::PLAIN))?;
        let summary = site.agent("gw", &["--csv", "all.csv"])?;
        let again = summary["windows"].as_u64().context("a number of windows")?;
        if let Some(hidden) = hidden {
            anyhow::ensure!(hidden.count() > 0, "nothing was hidden");
            hidden.show()?;
        }
        Ok(again)
    }

    fn words(&self) -> String {
        let killed = self.runs.iter().filter(|run| run.killed.is_some()).count();
        let jitter = if self.jitter { ", jitter" } else { "" };
        let spool = match self.spool {
            Spool::Kept => "",
            Spool::Lost => ", a lost spool",
            Spool::Hidden => ", a lost spool and a cloud that hides windows",
        };
        format!("{} runs, {killed} killed{jitter}{spool}", self.runs.len())
    }

    fn send(&self, site: &Site) -> Result<()> {
        for (at, run) in self.runs.iter().enumerate() {
            let file = format!("part{at}.csv");
            site.write(&file, write(&run.readings, &run.dialect))?;
            let options = run.dialect.args();
            let args: Vec<&str> =
                ["--csv", file.as_str()].into_iter().chain(options.iter().map(String::as_str)).collect();
            if let Some(after) = run.killed {
                let mut agent = site.start_agent("gw", &args)?;
                thread::sleep(after);
                agent.end("KILL")?;
            }
            site.agent("gw", &args).with_context(|| format!("run {at}"))?;
        }
        Ok(())
    }
}

/// Returns what a clock may be off by: samples stay nearest to their tick, reports in its interval.
fn offset(reading: &Reading, jitter: bool, numbers: &mut Numbers) -> i64 {
    let most = PERIOD / 2 - 1000;
    match (jitter, CHANNELS[reading.channel]) {
        (false, _) => 0,
        (true, "door" | "rain") => (numbers.next() * most as f64) as i64,
        (true, _) => ((2.0 * numbers.next() - 1.0) * most as f64 / 8.0) as i64,
    }
}

fn shuffle(readings: &mut [Reading], numbers: &mut Numbers) {
    for at in (1..readings.len()).rev() {
        readings.swap(at, (numbers.next() * (at + 1) as f64) as usize);
    }
}
