//! `sotto verify`: `cargo bench -p sotto --bench verify`.
//!
//! The cloud's work on sums carries tags and is not repeated; that on ciphertexts is, on the windows as their device signed them.
//! Plants of 1 and 14 days of windows of an hour, or of the days that are given (`-- 30`): the least of several runs, in
//! microseconds a window. `fetch` is the way of the messages, their digests and the log; `repeat` is the work itself.
#![allow(missing_docs, dead_code, clippy::unwrap_used)]

mod plant;
#[path = "../tests/it/session.rs"]
mod session;

use plant::{Plant, days_asked};

const RUNS: usize = 7;

const QUESTIONS: [(&str, &[&str]); 3] = [
    ("sums, with tags", &["level", "mean(heat) by hour"]),
    ("CKKS, a polynomial", &["curve", "mean(polynomial(heat, [0.5, 1, 0.001])) by hour"]),
    ("BFV, a deviation", &["spread", "stddev(heat) by hour", "--scheme", "bfv"]),
];

fn main() {
    println!("µs a window, the least of {RUNS} runs");
    println!(
        "{:<22} {:>8} {:>10} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "", "windows", "bytes each", "all", "start", "fetch", "repeat", "the cloud"
    );
    for days in days_asked(&[1, 14]) {
        println!("{days} days");
        for (name, question) in QUESTIONS {
            let plant = Plant::new(&[question], days);
            plant.run(&["ask", question[0], "--unchecked"]);
            let start = (0..RUNS).map(|_| plant.run(&["--version"]).0).min().unwrap().as_secs_f64();
            let (mut all, mut repeat, mut within) = (f64::MAX, f64::MAX, f64::MAX);
            let (mut windows, mut bytes, mut cloud) = (0.0, 0.0, 0.0);
            for _ in 0..RUNS {
                let (time, document) = plant.document(&["verify"]);
                let done = &document["answers"][0];
                assert_eq!(document["holds"], true, "{done}");
                let number = |name: &str| done[name].as_f64().unwrap();
                all = f64::min(all, time.as_secs_f64());
                (repeat, within) =
                    (f64::min(repeat, number("repeat_us")), f64::min(within, number("seconds")));
                windows = number("windows") + number("tagged");
                (bytes, cloud) = (number("bytes"), number("cloud_us"));
            }
            let fetch = within * 1e6 - repeat;
            println!(
                "{name:<22} {windows:>8} {:>10.0} {:>9.1} {:>9.1} {:>9.1} {:>9.1} {:>9.1}",
                bytes / windows,
                all * 1e6 / windows,
                start * 1e6 / windows,
                fetch / windows,
                repeat / windows,
                cloud / windows
            );
        }
    }
}
