//! Agent and cloud are killed at random while a file grows and disks fill up: nothing is lost, nothing counts twice.

use super::disk::Disk;
use super::fixture::holds;
use super::{Cases, Site};
use crate::suites::ask::Numbers;
use anyhow::Result;
use serde_json::Value;
use std::fs::File;
use std::io::Write as _;
use std::thread;
use std::time::{Duration, Instant};

/// Rows that the file grows by at a time.
const PIECE: i64 = 90;
const MINUTE: i64 = 60_000;
const BEGIN: i64 = 1_735_689_600_000;
/// The disks of agent and cloud, and their sizes.
const DISKS: [(&str, &str); 2] = [("disk", "4m"), ("plant/cloud", "512m")];

pub(super) fn seconds(cases: &mut Cases) -> Result<()> {
    faults(cases, Duration::from_secs(20))
}

pub(super) fn hour(cases: &mut Cases) -> Result<()> {
    faults(cases, Duration::from_secs(3600))
}

/// The number of faults, by kind.
#[derive(Debug, Default)]
struct Happened {
    agents: [u32; 2],
    clouds: [u32; 2],
    filled: [u32; 2],
}

fn faults(cases: &mut Cases, time: Duration) -> Result<()> {
    let mut site = Site::new(cases.sotto(), "UTC")?;
    site.sotto(&["channel", "add", "power", "--range", "0..50", "--resolution", "0.5", "--every", "1m"])?;
    site.sotto(&["question", "add", "hourly", "count(power), sum(power) by hour"])?;
    site.sotto(&["device", "add", "pump", "--channels", "power"])?;
    let [agents, clouds] = DISKS.map(|(folder, size)| Disk::mount(&site.folder().join(folder), size));
    let disks = [agents?, clouds?];
    site.start_cloud()?;
    let mut file = File::create(site.folder().join("pump.csv"))?;
    writeln!(file, "time,power")?;
    let agent = ["--csv", "pump.csv", "--spool", "disk/spool"];
    let following = [&agent[..], &["--follow"]].concat();
    let (begin, mut numbers, mut rows) = (Instant::now(), Numbers(41), 0);
    let (mut running, mut happened) = (site.start_agent("pump", &following)?, Happened::default());
    while begin.elapsed() < time {
        for _ in 0..PIECE {
            writeln!(file, "{},{}", BEGIN + rows * MINUTE, power(rows))?;
            rows += 1;
        }
        let signal = usize::from(numbers.next() < 0.5);
        match (numbers.next() * 100.0) as u32 {
            0..35 => {
                running.end(["TERM", "KILL"][signal])?;
                happened.agents[signal] += 1;
                running = site.start_agent("pump", &following)?;
            }
            35..60 => {
                site.stop_cloud(["TERM", "KILL"][signal])?;
                happened.clouds[signal] += 1;
                pause(&mut numbers);
                site.start_cloud()?;
            }
            60..75 => {
                if let Some(disk) = &disks[signal] {
                    disk.fill()?;
                    happened.filled[signal] += 1;
                    pause(&mut numbers);
                    if numbers.next() < 0.5 {
                        running.end("KILL")?;
                        running = site.start_agent("pump", &following)?;
                        pause(&mut numbers);
                    }
                    disk.free()?;
                }
            }
            _ => {}
        }
        pause(&mut numbers);
    }
    running.end("TERM")?;
    site.agent("pump", &agent)?;
    println!("{rows} rows; TERM and KILL, agent and cloud: {happened:?}");
    let answer = site.ask("hourly", &[])?;
    cases.case("faults at random: every reading counts once", judge(&answer, rows));
    let status = site.status("pump")?;
    let right = status["unusable"] == 0;
    cases.case("faults at random: no window is unusable", holds(right, || status.to_string()));
    drop(disks);
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}

fn power(row: i64) -> f64 {
    (row * 13 % 97) as f64 / 2.0
}

/// Waits up to a second and a half.
fn pause(numbers: &mut Numbers) {
    thread::sleep(Duration::from_secs_f64(1.5 * numbers.next()));
}

fn judge(answer: &Value, rows: i64) -> Vec<String> {
    let all = answer["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let mut faults = Vec::new();
    let hours = (rows + 59) / 60;
    for (hour, row) in (0..).zip(all.iter().filter(|row| row["name"] == "sum(power)")) {
        let minutes = hour * 60..((hour + 1) * 60).min(rows);
        let sum: f64 = minutes.clone().map(power).sum();
        let value = row["value"].as_f64().unwrap_or(f64::NAN);
        let bound = row["bound"].as_f64().unwrap_or(f64::NAN);
        let right = (value - sum).abs() <= bound && row["count"] == minutes.end - minutes.start;
        if !right || row["missing"] != 0 {
            faults.push(format!("hour {hour} with sum {sum}: {row}"));
        }
    }
    let found = all.iter().filter(|row| row["name"] == "sum(power)").count() as i64;
    faults.extend(holds(found == hours, || format!("{found} hours, not {hours}")));
    faults
}
