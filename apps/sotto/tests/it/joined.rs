//! Late and corrected readings of a contact, a meter, a rain gauge and two gauges with a product: the answers are those of
//! one sorted file.

use std::path::Path;

use serde_json::Value;

use crate::session::{self, sotto, try_text_with};

const QUESTIONS: [&str; 2] = ["increase(energy), time(door = open), sum(rain) by day", "covariance(a, b)"];

struct Plant {
    outside: tempfile::TempDir,
    _cloud: tokio::runtime::Runtime,
}

impl Plant {
    fn new() -> Self {
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path();
        let run = |arguments: &[&str]| sotto(folder, arguments).unwrap();
        run(&["init", "plant", "--time-zone", "UTC"]);
        let gauge = ["--range", "0..100", "--resolution", "1", "--every", "10m"];
        let add = |name: &str, words: &[&str]| run(&[&["channel", "add", name][..], words].concat());
        add("door", &["--states", "closed,open", "--every", "10m"]);
        add("energy", &["--kind", "counter", "--range", "0..9999", "--resolution", "1", "--every", "10m"]);
        add("rain", &["--kind", "amount", "--range", "0..50", "--resolution", "1", "--every", "10m"]);
        add("a", &gauge);
        add("b", &gauge);
        for (name, question) in ["q", "p"].into_iter().zip(QUESTIONS) {
            run(&["question", "add", name, question]);
        }
        let cloud = session::serve(folder);
        run(&["device", "add", "gw", "--channels", "door,energy,rain,a,b"]);
        Self { outside, _cloud: cloud }
    }

    fn folder(&self) -> &Path {
        self.outside.path()
    }

    fn send(&self, rows: &[String], options: &[&str]) {
        let text = format!("time,door,energy,rain,a,b\n{}", rows.concat());
        try_text_with(self.folder(), "gw.bundle", &text, options).unwrap();
    }

    /// Returns the rows of all questions.
    fn answers(&self) -> Vec<Value> {
        let ask = |question: &&str| {
            let said = sotto(self.folder(), &["ask", question, "--json"]).unwrap();
            let answer: Value = serde_json::from_str(&said).unwrap();
            answer["rows"].clone()
        };
        QUESTIONS.iter().map(ask).collect()
    }
}

/// Two days of rows, each about one channel.
fn rows() -> Vec<String> {
    let at = |minute: u32| {
        format!("2024-01-{:02}T{:02}:{:02}:00Z", 1 + minute / 1440, minute / 60 % 24, minute % 60)
    };
    let mut rows = Vec::new();
    for step in 0..288 {
        let minute = 10 * step;
        rows.push(format!("{},,,,{},\n", at(minute), step * 7 % 60));
        rows.push(format!("{},,,,,{}\n", at(minute), step * 11 % 70));
        if step % 3 == 0 {
            rows.push(format!("{},,{},,,\n", at(minute), step * 5));
        }
        if step % 17 == 0 {
            rows.push(format!("{},{},,,,\n", at(minute + 4), ["open", "closed"][step as usize / 17 % 2]));
        }
        if step % 23 == 0 {
            rows.push(format!("{},,,{},,\n{},,,2,,\n", at(minute + 2), 1 + step % 4, at(minute + 3)));
        }
    }
    rows
}

#[test]
fn answers_do_not_depend_on_the_order_of_arrival() {
    let (clean, messy) = (Plant::new(), Plant::new());
    let rows = rows();
    clean.send(&rows, &[]);
    // Every third row, newest first; then the rest in two runs; some rows twice.
    let part = |of: usize| rows.iter().skip(of).step_by(3).cloned().collect::<Vec<_>>();
    messy.send(&part(1).into_iter().rev().collect::<Vec<_>>(), &[]);
    messy.send(&part(0), &[]);
    messy.send(&[part(2), part(1)].concat(), &[]);
    assert_eq!(messy.answers(), clean.answers());
}

#[test]
fn a_corrected_file_gives_the_answers_of_the_right_one() {
    let (clean, corrected) = (Plant::new(), Plant::new());
    let right = rows();
    clean.send(&right, &[]);
    let wrong: Vec<String> =
        right.iter().map(|row| row.replace(",open,", ",closed,").replace(",2,,", ",9,,")).collect();
    corrected.send(&wrong, &[]);
    assert_ne!(corrected.answers(), clean.answers());
    corrected.send(&right, &["--correct"]);
    assert_eq!(corrected.answers(), clean.answers());
}
