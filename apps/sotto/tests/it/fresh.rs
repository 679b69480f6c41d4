//! Pieces of windows that are still open (`sotto-agent run --fresh`): a device as a process of its own, which is killed, a
//! cloud, and `sotto`.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::Value;

use crate::session::{self, sotto};

/// The words of an agent's command line, one a line, for a process that is an agent.
const WORDS: &str = "SOTTO_TEST_AGENT";
/// A wait that takes longer has failed.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The agent in a process of its own; no test.
#[test]
fn agent() {
    let Ok(words) = std::env::var(WORDS) else { return };
    session::run_agent(words.lines()).unwrap();
}

/// An agent that reads rows from its standard input. Killed when dropped.
struct Agent(Child);

impl Agent {
    fn start(folder: &Path) -> Self {
        let bundle = folder.join("gw.bundle");
        let words = ["sotto-agent", "run", "--bundle", bundle.to_str().unwrap(), "--stdin", "--fresh", "2s"];
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "fresh::agent", "--nocapture"]).env(WORDS, words.join("\n"));
        let mut agent = Self(command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap());
        agent.say("time,x");
        agent
    }

    fn say(&mut self, line: &str) {
        let mut input = self.0.stdin.as_ref().unwrap();
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
    }

    fn read(&mut self, (at, value): (Timestamp, f64)) {
        self.say(&format!("{at},{value:.1}"));
    }

    /// Ends its input, and waits until it has sent everything.
    fn end(mut self) {
        drop(self.0.stdin.take());
        assert!(self.0.wait().unwrap().success());
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Its extremes and counts stand once in each piece.
const QUESTION: &str = "mean(x), max(x), count(x > 50) over 1h";

/// Returns the number of the newest window of an answer.
fn number(answer: &Value) -> u64 {
    answer["complete"][0]["number"].as_u64().unwrap_or_default()
}

/// Asks until an answer has so many readings.
fn ask(folder: &Path, readings: usize) -> Value {
    ask_later(folder, readings, 0)
}

/// Asks until an answer has so many readings, up to a window of this number at least.
fn ask_later(folder: &Path, readings: usize, least: u64) -> Value {
    let begin = Instant::now();
    loop {
        let answer = sotto(folder, &["ask", "--json", QUESTION]);
        let answer: Value = answer.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap());
        let count = answer["rows"][0]["count"].as_u64();
        if count == Some(readings as u64) && number(&answer) >= least {
            return answer;
        }
        let notes = answer["notes"].to_string();
        assert!(!notes.contains("left out"), "{notes}");
        assert!(count.is_none_or(|count| count <= readings as u64), "{count:?} readings, not {readings}");
        assert!(begin.elapsed() < LONGEST_WAIT, "no answer has {readings} readings: {answer}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn has_mean_of(answer: &Value, readings: &[(Timestamp, f64)]) {
    let [value, bound] = ["value", "bound"].map(|name| answer["rows"][0][name].as_f64().unwrap());
    let values = || readings.iter().map(|(_, value)| *value);
    let mean = values().sum::<f64>() / readings.len() as f64;
    let of = |row: usize| answer["rows"][row]["value"].as_f64();
    assert_eq!(of(1), values().reduce(f64::max), "{answer}");
    assert_eq!(of(2), Some(values().filter(|value| *value > 50.0).count() as f64), "{answer}");
    assert!((value - mean).abs() <= bound + 1e-9, "{value} ± {bound}, not {mean}");
}

#[test]
fn an_open_window_is_in_answers_until_the_whole_one_takes_its_place() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path();
    let run = |arguments: &[&str]| sotto(folder, arguments).unwrap();
    run(&["init", "plant", "--time-zone", "UTC"]);
    let channel = ["channel", "add", "x", "--unit", "kW", "--range", "0..100", "--resolution", "0.1"];
    run(&[&channel[..], &["--every", "1s"]].concat());
    run(&["question", "add", "now", "mean(x), max(x), count(x > 50) by hour"]);
    let _cloud = session::serve(folder);
    run(&["device", "add", "gw", "--channels", "x"]);

    // A minute of readings, of which the first run gets a part. It is killed while their window is open.
    let first = Timestamp::from_second(Timestamp::now().as_second() - 60).unwrap();
    let at = |n: i64| (first + Duration::from_secs(n.unsigned_abs()), (n * 37 % 100) as f64);
    let mut readings: Vec<(Timestamp, f64)> = (0..40).map(at).collect();
    let mut agent = Agent::start(folder);
    readings[..25].iter().for_each(|reading| agent.read(*reading));
    has_mean_of(&ask(folder, 25), &readings[..25]);
    drop(agent);
    has_mean_of(&ask(folder, 25), &readings[..25]);

    // The next run reads them again, with some that the first one missed, and goes on.
    let mut agent = Agent::start(folder);
    readings.iter().for_each(|reading| agent.read(*reading));
    let now = Timestamp::from_second(Timestamp::now().as_second()).unwrap();
    readings.extend((0..3).map(|n| (now + Duration::from_secs(n), 50.0 + n as f64)));
    readings[40..].iter().for_each(|reading| agent.read(*reading));
    let open = ask(folder, 43);
    // Pieces without a row.
    let open = ask_later(folder, 43, number(&open) + 2);
    has_mean_of(&open, &readings);
    let kept = std::fs::read_dir(folder.join("plant/answers")).unwrap();
    let names = kept.map(|kept| kept.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned());
    let earlier = names.max().unwrap();
    agent.end();
    let whole = ask(folder, 43);
    has_mean_of(&whole, &readings);
    assert_eq!(whole["rows"][0]["value"], open["rows"][0]["value"]);

    // The whole window has taken the place of the pieces of the second run: their bodies are gone, but not their sums.
    let then = sotto(folder, &["ask", "--as-of", &earlier, QUESTION, "--json"]).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&then).unwrap()["rows"], open["rows"]);
    let refused = sotto(folder, &["ask", "--as-of", &earlier, QUESTION, "--no-cache"]);
    let refused = refused.unwrap_err();
    assert!(refused.contains("the body of the piece is dropped"), "{refused}");
    run(&["verify"]);
}
