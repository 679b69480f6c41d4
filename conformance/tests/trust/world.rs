//! A plant, a device and a cloud as real processes.

use std::fs;
use std::net::TcpListener;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::liar::Truth;
use crate::pieces;

/// The device of most lies, with its channel.
const METER: (&str, &str) = ("meter", "level");

/// Returns the programs' folder; None if the suite does not run.
pub(crate) fn programs() -> Option<PathBuf> {
    std::env::var_os("SOTTO_PROGRAMS").map(PathBuf::from)
}

/// A child process that is killed when this value is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The state after five days of readings, the second of which was corrected; the older copy of the cloud has two of them.
pub(crate) struct World {
    folder: TempDir,
    programs: PathBuf,
    /// The cloud's address.
    pub(crate) url: String,
    /// The address of a cloud on the older database.
    pub(crate) older: String,
    pub(crate) signing_key: [u8; 32],
    /// Number of days that were sent.
    days: AtomicUsize,
    _clouds: Vec<Running>,
}

/// The output of a command, and its exit code.
#[derive(Debug)]
pub(crate) struct Printed {
    pub(crate) code: i32,
    pub(crate) text: String,
}

pub(crate) const DAILY: &str = "mean(level), stddev(level) by day";
pub(crate) const TOTAL: &str = "sum(level)";
pub(crate) const CURVE: &str = "mean(polynomial(level, [0.5, 1, 0.001]))";
pub(crate) const FLOW: &str = "sum(flow) by day";
pub(crate) const FLOWED: &str = "sum(flow)";
/// Answers to it are given to others.
pub(crate) const GIVEN: &str = "polynomial(pressure, [1, 2]) per device shared";
pub(crate) const OTHER: &str = "mean(polynomial(level, [0.25, 0.5, 0.002]))";

impl World {
    pub(crate) fn new(programs: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_owned();
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let url = format!("http://{free}");
        let run = |words: &[&str]| {
            let done = sotto(programs, &root.join("plant"), words);
            assert_eq!(done.code, 0, "sotto {words:?}: {}", done.text);
        };
        let listen = free.to_string();
        let init = Command::new(programs.join("sotto"))
            .args(["init", "plant", "--listen", &listen])
            .current_dir(&root)
            .output()
            .unwrap();
        assert!(init.status.success(), "{init:?}");
        for channel in ["level", "flow", "pressure"] {
            let facts = ["--unit", "m", "--range", "0..100", "--resolution", "0.1", "--every", "1h"];
            run(&[&["channel", "add", channel], &facts[..]].concat());
        }
        for (name, question) in [("daily", DAILY), ("curve", CURVE), ("flow", FLOW)] {
            run(&["question", "add", name, question]);
        }
        // Two windows in a result.
        run(&["question", "add", "given", GIVEN, "--precision", "10"]);
        for (device, channel) in [("meter", "level"), ("pump", "flow"), ("boiler", "pressure")] {
            run(&["device", "add", device, "--channels", channel]);
        }
        let plant = root.join("plant");
        let config = plant.join("cloud.toml");
        let mut clouds = vec![cloud(programs, &["--config", config.to_str().unwrap()], &url)];
        run(&["status"]);
        send(programs, &plant, 0..48);
        for (device, channel, hours) in [("pump", "flow", 24), ("boiler", "pressure", 96)] {
            write_readings(&plant, 0..hours, 0.0);
            let done = printed(&agent(programs, &plant, (device, channel)).output().unwrap());
            assert_eq!(done.code, 0, "{}", done.text);
        }
        // The older copy.
        let backup = root.join("backup");
        let backed = Command::new(programs.join("sotto-cloud"))
            .args(["backup", "--to", backup.to_str().unwrap(), "--config", config.to_str().unwrap()])
            .output()
            .unwrap();
        assert!(backed.status.success(), "{backed:?}");
        send(programs, &plant, 48..96);
        // Window 4 replaces window 1; then comes another day.
        write_readings(&plant, 24..48, 1.5);
        let done = printed(&agent(programs, &plant, METER).arg("--correct").output().unwrap());
        assert_eq!(done.code, 0, "{}", done.text);
        send(programs, &plant, 96..120);
        let text = fs::read_to_string(plant.join("secrets/cloud-signing-key")).unwrap();
        let signing_key = hex::decode(text.trim()).unwrap().try_into().unwrap();
        pieces::send(&Truth::new(&url, &signing_key), &plant.join("pump.bundle"), true);
        copy(&plant, &root.join("fresh"));
        for question in ["daily", "curve", "flow", "given"] {
            run(&["ask", question]);
        }
        copy(&plant, &root.join("seen"));
        let other = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let older = format!("http://{other}");
        let (listen, token) = (other.to_string(), plant.join("secrets/owner-token"));
        let restored = root.join("older");
        let brought_back = Command::new(programs.join("sotto-cloud"))
            .args(["restore", "--from", backup.to_str().unwrap(), "--data", restored.to_str().unwrap()])
            .args(["--owner-token-file", token.to_str().unwrap()])
            .output()
            .unwrap();
        assert!(brought_back.status.success(), "{brought_back:?}");
        let signing = plant.join("secrets/cloud-signing-key");
        clouds.push(cloud(
            programs,
            &[
                "--data",
                restored.to_str().unwrap(),
                "--listen",
                &listen,
                "--owner-token-file",
                token.to_str().unwrap(),
                "--signing-key-file",
                signing.to_str().unwrap(),
            ],
            &older,
        ));
        pieces::send(&Truth::new(&older, &signing_key), &plant.join("pump.bundle"), false);
        let days = AtomicUsize::new(5);
        Self { programs: programs.to_owned(), folder, url, older, signing_key, days, _clouds: clouds }
    }

    /// Copies the owner's folder and points it at another address: with the kept logs of the cloud, or without them.
    pub(crate) fn owner(&self, name: &str, seen: bool, url: &str) -> PathBuf {
        let to = self.folder.path().join(name);
        let _ = fs::remove_dir_all(&to);
        copy(&self.folder.path().join(if seen { "seen" } else { "fresh" }), &to);
        self.asks_at(&to, url);
        to
    }

    /// Returns the name of the latest answer in an owner's folder.
    pub(crate) fn latest_answer(&self, plant: &Path) -> String {
        let files = fs::read_dir(plant.join("answers")).unwrap().flatten();
        let name = |file: fs::DirEntry| Some(file.file_name().to_str()?.strip_suffix(".json")?.to_owned());
        files.filter_map(name).max().unwrap()
    }

    /// Points an owner's folder at another address.
    pub(crate) fn asks_at(&self, plant: &Path, url: &str) {
        let settings = plant.join("sotto.toml");
        let text = fs::read_to_string(&settings).unwrap();
        let line = |line: &str| {
            if line.starts_with("url = ") { format!("url = \"{url}\"") } else { line.to_owned() }
        };
        fs::write(&settings, text.lines().map(line).collect::<Vec<_>>().join("\n") + "\n").unwrap();
    }

    /// Sets how long an owner waits for a job.
    pub(crate) fn waits(&self, plant: &Path, limit: &str) {
        let settings = plant.join("sotto.toml");
        let text = fs::read_to_string(&settings).unwrap();
        let text = text.replace("[cloud]\n", &format!("[cloud]\njob_limit = \"{limit}\"\n"));
        fs::write(&settings, text).unwrap();
    }

    /// Returns the path of the device's bundle.
    pub(crate) fn bundle(&self) -> PathBuf {
        self.folder.path().join("plant/meter.bundle")
    }

    pub(crate) fn sotto(&self, plant: &Path, words: &[&str]) -> Printed {
        sotto(&self.programs, plant, words)
    }

    /// Sends a day to an address from a copy of the device's folder, for some seconds. Returns the agent's log, and
    /// true if a message stays in its spool.
    pub(crate) fn send_to(&self, url: &str) -> (String, bool) {
        let plant = self.folder.path().join("elsewhere");
        let _ = fs::remove_dir_all(&plant);
        copy(&self.folder.path().join("fresh"), &plant);
        let (log, spool) = (plant.join("agent.log"), plant.join("meter.spool"));
        let day = self.next_day();
        write_readings(&plant, day, 0.0);
        let mut command = agent(&self.programs, &plant, METER);
        command.args(["--cloud", url]).stdout(Stdio::null()).stderr(fs::File::create(&log).unwrap());
        let mut running = Running(command.spawn().unwrap());
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(20) {
            let text = fs::read_to_string(&log).unwrap();
            if running.0.try_wait().unwrap().is_some() || text.contains("stays in the spool") {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        drop(running);
        let status = Command::new(self.programs.join("sotto-agent"))
            .args(["status", "--json", "--spool"])
            .arg(&spool)
            .output()
            .unwrap();
        let status: Value = serde_json::from_slice(&status.stdout).unwrap_or_default();
        (fs::read_to_string(&log).unwrap(), status["waiting"].as_u64().unwrap_or_default() > 0)
    }

    /// Returns the hours of a day that was not sent yet.
    fn next_day(&self) -> Range<usize> {
        let day = self.days.fetch_add(1, Ordering::Relaxed);
        24 * day..24 * (day + 1)
    }

    /// Sends another day to an address, until it is sent or does not get away. Returns the day, and the agent's log.
    pub(crate) fn send_day(&self, url: &str) -> (usize, String) {
        let plant = self.folder.path().join("plant");
        let hours = self.next_day();
        let day = hours.start / 24;
        write_readings(&plant, hours, 0.0);
        let log = plant.join("agent.log");
        let mut command = agent(&self.programs, &plant, METER);
        command.args(["--cloud", url]).stdout(Stdio::null()).stderr(fs::File::create(&log).unwrap());
        let mut running = Running(command.spawn().unwrap());
        let begin = Instant::now();
        let stays = || fs::read_to_string(&log).unwrap().contains("stays in the spool");
        while begin.elapsed() < Duration::from_secs(20) && running.0.try_wait().unwrap().is_none() && !stays()
        {
            std::thread::sleep(Duration::from_millis(20));
        }
        drop(running);
        (day, fs::read_to_string(&log).unwrap())
    }

    /// Sends refused messages again, to the true cloud.
    pub(crate) fn requeue(&self) {
        let plant = self.folder.path().join("plant");
        let mut command = Command::new(self.programs.join("sotto-agent"));
        command.args(["requeue", "--bundle", "meter.bundle"]).current_dir(&plant);
        printed(&command.output().unwrap());
        fs::write(plant.join("readings.csv"), "time,level\n").unwrap();
        agent(&self.programs, &plant, METER).output().unwrap();
    }

    /// Returns true if an answer has the mean of a day; None if it has none.
    pub(crate) fn mean_of(&self, document: &Value, day: usize) -> Option<bool> {
        let from = date(day);
        let is_of = |row: &&Value| {
            row["from"].as_str().is_some_and(|at| at.starts_with(&from)) && row["name"] == "mean(level)"
        };
        let value = document["rows"].as_array()?.iter().find(is_of)?["value"].as_f64()?;
        let mean = (24 * day..24 * (day + 1)).map(level).sum::<f64>() / 24.0;
        Some((value - mean).abs() < 1e-6)
    }

    /// Sends another day to the cloud.
    pub(crate) fn send_more(&self) {
        let day = self.next_day();
        send(&self.programs, &self.folder.path().join("plant"), day);
    }
}

fn sotto(programs: &Path, plant: &Path, words: &[&str]) -> Printed {
    let mut command = Command::new(programs.join("sotto"));
    command.args(words).current_dir(plant).env_remove("SOTTO_PLANT");
    printed(&command.output().unwrap())
}

fn printed(output: &Output) -> Printed {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    Printed { code: output.status.code().unwrap_or(-1), text: String::from_utf8_lossy(&text).into_owned() }
}

fn cloud(programs: &Path, words: &[&str], url: &str) -> Running {
    let mut command = Command::new(programs.join("sotto-cloud"));
    command.arg("run").args(words).stdout(Stdio::null()).stderr(Stdio::null());
    let running = Running(command.spawn().unwrap());
    let begin = Instant::now();
    while ureq::get(format!("{url}/readyz")).call().is_err() {
        assert!(begin.elapsed() < Duration::from_secs(30), "the cloud does not start");
        std::thread::sleep(Duration::from_millis(20));
    }
    running
}

/// Sends the readings of some hours.
fn send(programs: &Path, plant: &Path, hours: Range<usize>) {
    write_readings(plant, hours, 0.0);
    let done = printed(&agent(programs, plant, METER).output().unwrap());
    assert_eq!(done.code, 0, "{}", done.text);
}

/// Runs a device's agent on the readings of a folder, which are those of its channel.
fn agent(programs: &Path, plant: &Path, (device, channel): (&str, &str)) -> Command {
    let mut command = Command::new(programs.join("sotto-agent"));
    command.args(["run", "--bundle", &format!("{device}.bundle"), "--csv", "readings.csv"]);
    command.args(["--time", "time", "--column", &format!("{channel}=level")]).current_dir(plant);
    command
}

/// Writes the readings of some hours, all of them higher by some metres.
fn write_readings(plant: &Path, hours: Range<usize>, higher: f64) {
    let mut csv = String::from("time,level\n");
    for hour in hours {
        csv.push_str(&format!("{}T{:02}:00:00Z,{}\n", date(hour / 24), hour % 24, level(hour) + higher));
    }
    fs::write(plant.join("readings.csv"), csv).unwrap();
}

/// Returns the date of a day of 2025, from the first of March on.
fn date(mut day: usize) -> String {
    for (month, days) in [(3, 31), (4, 30), (5, 31), (6, 30)] {
        if day < days {
            return format!("2025-{month:02}-{:02}", 1 + day);
        }
        day -= days;
    }
    panic!("the days of 2025 end")
}

/// Returns the level at an hour.
fn level(hour: usize) -> f64 {
    20.0 + (hour * 37 % 100) as f64 / 10.0
}

/// Copies the owner's folder without the cloud's store and the device's spool.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
        assert_ne!(fs::metadata(to).unwrap().permissions().mode() & 0o700, 0);
    }
    for entry in fs::read_dir(from).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if name == "cloud" || name.to_string_lossy().contains("spool") {
            continue;
        }
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else {
            fs::copy(&path, to.join(name)).unwrap();
        }
    }
}
