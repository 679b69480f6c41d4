//! Suites that run beside the others: each in a process of its own, as many at a time as there are processors, since
//! most of them wait. Their output is printed when they end.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use anyhow::{Result, anyhow};

use crate::cargo;
use crate::process::Scratch;
use crate::suite::{Context, Outcome, Row, Suite};

/// Most suites that run beside the others.
const MOST_LANES: usize = 4;

/// The variable that names the list of executables.
const BUILT: &str = "SOTTO_BUILT";

/// Returns the list of executables that another process built for this one.
pub(crate) fn list() -> Option<PathBuf> {
    std::env::var_os(BUILT).map(PathBuf::from)
}

/// Threads that run suites, and the suites that nobody has begun.
pub(crate) struct Beside {
    waiting: Arc<Mutex<VecDeque<&'static Suite>>>,
    threads: Vec<JoinHandle<Vec<Row>>>,
}

impl Beside {
    /// Starts threads for the suites, which take them in their order.
    pub(crate) fn start(suites: &[&'static Suite], context: &Context) -> Result<Self> {
        let scratch = Arc::new(Scratch::new()?);
        context.built()?.write(&scratch.path().join("built"))?;
        let waiting = Arc::new(Mutex::new(suites.iter().copied().collect()));
        let lane = |_| {
            let (waiting, scratch) = (Arc::clone(&waiting), Arc::clone(&scratch));
            thread::spawn(move || {
                core::iter::from_fn(|| next(&waiting)).map(|suite| finished(suite, &scratch)).collect()
            })
        };
        let lanes = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_LANES);
        Ok(Self { threads: (0..lanes).map(lane).collect(), waiting })
    }

    /// Takes the next suite from the threads.
    pub(crate) fn next(&self) -> Option<&'static Suite> {
        next(&self.waiting)
    }

    /// Waits for the suites that the threads have begun.
    pub(crate) fn finish(self) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for thread in self.threads {
            rows.extend(thread.join().map_err(|_| anyhow!("a suite panicked"))?);
        }
        Ok(rows)
    }
}

fn next(waiting: &Mutex<VecDeque<&'static Suite>>) -> Option<&'static Suite> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
}

fn finished(suite: &'static Suite, scratch: &Scratch) -> Row {
    let start = Instant::now();
    let outcome = run(suite, scratch).unwrap_or_else(|error| Outcome::Failed(vec![format!("{error:#}")]));
    Row { name: suite.name, outcome, seconds: start.elapsed().as_secs_f64() }
}

fn run(suite: &Suite, scratch: &Scratch) -> Result<Outcome> {
    let output = scratch.path().join(suite.name);
    let file = File::create(&output)?;
    let mut alone = cargo::command(std::env::current_exe()?);
    alone.args(["ci", suite.name]).env(BUILT, scratch.path().join("built"));
    let status = alone.stdout(file.try_clone()?).stderr(file).status()?;
    let text = String::from_utf8_lossy(&fs::read(&output)?).into_owned();
    let (shown, outcome) = read(&text, status.success());
    println!("{shown}");
    Ok(outcome)
}

/// Returns the part of the output between the suite's first line and its last, and the outcome that they tell.
fn read(text: &str, passed: bool) -> (&str, Outcome) {
    let begin = text.find("\n== ").unwrap_or_default();
    let end = text
        .rfind("\n-- ")
        .map_or(text.len(), |at| text[at + 1..].find('\n').map_or(text.len(), |n| at + 1 + n));
    let shown = text.get(begin..end).unwrap_or(text);
    let of = |prefix: &str| {
        shown.lines().filter_map(|line| line.strip_prefix(prefix)).map(str::to_owned).collect()
    };
    let (faults, reasons): (Vec<String>, Vec<String>) = (of("fault: "), of("skipped: "));
    let outcome = match reasons.into_iter().next() {
        Some(reason) if passed => Outcome::Skipped(reason),
        _ if passed => Outcome::Passed,
        _ if faults.is_empty() => Outcome::Failed(vec!["it failed".to_owned()]),
        _ => Outcome::Failed(faults),
    };
    (shown, outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_read_from_the_output() {
        let text = |middle: &str| {
            format!(
                "nothing is missing\nhere: cargo\n\n== ask: answers\n{middle}-- ask x in 1.0 s\n\nsuite\nask\n"
            )
        };
        let outcome = |middle: &str, passed| match read(&text(middle), passed).1 {
            Outcome::Passed => "passed".to_owned(),
            Outcome::Failed(faults) => format!("failed: {}", faults.join(", ")),
            Outcome::Skipped(reason) => format!("skipped: {reason}"),
        };
        assert_eq!(outcome("one case\n", true), "passed");
        assert_eq!(outcome("fault: a\nfault: b\n", false), "failed: a, b");
        assert_eq!(outcome("", false), "failed: it failed");
        assert_eq!(outcome("skipped: no data\n", true), "skipped: no data");
        assert_eq!(read(&text("one case\n"), true).0, "\n== ask: answers\none case\n-- ask x in 1.0 s");
        assert_eq!(read("panicked", false).0, "panicked");
    }
}
