//! `sotto ask` from the start of the process to its last line, against a cloud on loopback: `cargo bench -p sotto --bench ask`.
//!
//! Plants of 1, 60 and 365 days of windows of an hour, or of the days that are given (`-- 30`). Milliseconds, the least of
//! several runs. `process` is the whole of `sotto ask`, `start` of it the start of a program that prints its version. The steps are
//! of the same work in one process: `folder` reads the plant and the question, `list` brings the logs up to date and checks
//! them, `down` are the requests for sums without the cloud's additions, `cloud` these additions, `open` takes pads away and
//! checks tags, `rows` is the rest of an answer, `keep` stores it. `print` is the rest of the process. `first` is the first
//! question of a new computer, which checks the whole log.
#![allow(missing_docs, dead_code, clippy::unwrap_used)]

mod plant;
#[path = "../tests/it/session.rs"]
mod session;

use std::time::{Duration, Instant};

use sotto_owner::Answer;

use plant::{Plant, days_asked};

const RUNS: usize = 15;

const QUESTIONS: [(&str, &str, bool); 4] = [
    ("mean of all", "mean(heat)", false),
    ("mean by day", "mean(heat) by day", false),
    ("deviation by day", "stddev(heat) by day", false),
    ("mean by day, cached", "mean(heat) by day", true),
];

/// The columns behind the whole process and the start of a program.
const COLUMNS: [&str; 8] = ["folder", "list", "down", "cloud", "open", "rows", "keep", "print"];

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Asks in this process. Returns the times of all columns but the last, and the answer.
fn asked(plant: &Plant, question: &str, cache: bool) -> ([f64; COLUMNS.len() - 1], Answer) {
    let begin = Instant::now();
    let plant = sotto_owner::Plant::open(&plant.path().join("plant")).unwrap();
    let plant = if cache { plant } else { plant.without_cache() };
    let question = plant.question(question).unwrap();
    let folder = milliseconds(begin.elapsed());
    let begin = Instant::now();
    let answer = plant.ask(&question, &mut |_, _| {}).unwrap();
    let all = milliseconds(begin.elapsed());
    let begin = Instant::now();
    plant.keep(&answer).unwrap();
    let keep = milliseconds(begin.elapsed());
    let phase = |name: &str| answer.phases.get(name).into_iter().flatten().sum::<f64>() / 1000.0;
    let [list, down, cloud, open] = ["list", "download", "evaluate", "decrypt"].map(phase);
    ([folder, list, down, cloud, open, all - list - down - cloud - open, keep], answer)
}

/// Asks a question several times and prints the least time of each step.
fn measure(plant: &Plant, (name, question, cache): (&str, &str, bool)) {
    let words = [&["ask", question][..], if cache { &[] } else { &["--no-cache"] }].concat();
    let least = |words: &[&str]| (0..RUNS).map(|_| milliseconds(plant.run(words).0)).fold(f64::MAX, f64::min);
    let (mut steps, mut windows) = ([f64::MAX; COLUMNS.len() - 1], 0);
    for _ in 0..RUNS {
        let (times, answer) = asked(plant, question, cache);
        steps.iter_mut().zip(times).for_each(|(least, time)| *least = time.min(*least));
        windows = answer.windows;
    }
    let (start, process) = (least(&["--version"]), least(&words));
    let print = process - start - steps.iter().sum::<f64>();
    let steps: String = steps.iter().chain([&print]).map(|least| format!("{least:>8.2}")).collect();
    println!("{name:<20} {windows:>8} {process:>8.2} {start:>8.2}{steps}");
}

fn main() {
    println!("milliseconds, the least of {RUNS} runs");
    let columns: String = COLUMNS.iter().map(|column| format!("{column:>8}")).collect();
    println!("{:<20} {:>8} {:>8} {:>8}{columns}", "", "windows", "process", "start");
    for days in days_asked(&[1, 60, 365]) {
        let plant = Plant::new(&[&["daily", "mean(heat), stddev(heat) by hour"]], days);
        println!("{days} days");
        let (first, answer) = asked(&plant, QUESTIONS[0].1, false);
        let first: String = first.iter().map(|time| format!("{time:>8.2}")).collect();
        println!("{:<20} {:>8} {:>8} {:>8}{first}", "first", answer.windows, "", "");
        for question in QUESTIONS {
            measure(&plant, question);
        }
    }
}
