//! `cargo ci`: reports missing tools, runs the suites in order, and summarises.

use crate::suites::SUITES;
use crate::tools::Tool;
use crate::{cargo, tools};
use anyhow::{Result, bail};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// The input of a suite.
pub(crate) struct Context {
    /// The root of the checkout.
    pub(crate) root: PathBuf,
}

/// The outcome of a suite. A returned error counts as a failure too.
pub(crate) enum Outcome {
    Passed,
    /// The faults, one line each.
    Failed(Vec<String>),
    /// The reason why it did not run.
    Skipped(String),
}

impl Outcome {
    /// Returns `Passed` if there are no faults.
    pub(crate) fn from_faults(faults: Vec<String>) -> Self {
        if faults.is_empty() { Self::Passed } else { Self::Failed(faults) }
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed(_) => "failed",
            Self::Skipped(_) => "skipped",
        }
    }

    /// Returns one line for the summary.
    fn note(&self) -> &str {
        match self {
            Self::Passed => "",
            Self::Failed(faults) => faults.first().map_or("", String::as_str),
            Self::Skipped(reason) => reason,
        }
    }
}

/// One row of the table of suites.
pub(crate) struct Suite {
    pub(crate) name: &'static str,
    /// The property that the suite shows, for `--list` and its headline.
    pub(crate) shows: &'static str,
    /// True if it runs only when named, or with `cargo ci deep`.
    pub(crate) deep: bool,
    pub(crate) needs: &'static [&'static Tool],
    pub(crate) run: fn(&Context) -> Result<Outcome>,
}

struct Row {
    name: &'static str,
    outcome: Outcome,
    seconds: f64,
}

pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    if args.iter().any(|arg| arg == "--list") {
        for suite in SUITES {
            println!("{:17} {}{}", suite.name, if suite.deep { "(deep) " } else { "" }, suite.shows);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let chosen = choose(args)?;
    let strict = std::env::var("CI").is_ok_and(|value| value == "true");
    let missing = announce(&chosen, strict);
    let context = Context { root: cargo::root()? };
    let rows: Vec<Row> = chosen.iter().map(|suite| run_one(suite, &context, &missing, strict)).collect();
    Ok(summarise(&rows))
}

/// Chooses suites. No names: all but the deep ones. `deep`: all. Otherwise the named ones, in the table's order.
fn choose(names: &[String]) -> Result<Vec<&'static Suite>> {
    if let Some(name) = names.iter().find(|name| *name != "deep" && SUITES.iter().all(|s| s.name != **name)) {
        let known: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
        bail!("no suite is named {name}; there are: {}, and `deep` for all", known.join(", "));
    }
    let all = names.iter().any(|name| name == "deep");
    let wanted = |s: &&Suite| all || names.iter().any(|name| name == s.name) || (names.is_empty() && !s.deep);
    Ok(SUITES.iter().filter(wanted).collect())
}

/// Prints the first lines: tools that are present, tools that are missing and how to get them. Returns the names of the
/// missing ones.
fn announce(chosen: &[&Suite], strict: bool) -> Vec<&'static str> {
    let mut needed: Vec<&'static Tool> = vec![&tools::CARGO];
    for tool in chosen.iter().flat_map(|suite| suite.needs) {
        if needed.iter().all(|known| known.name != tool.name) {
            needed.push(tool);
        }
    }
    let (here, missing): (Vec<_>, Vec<_>) = needed.into_iter().partition(|tool| tool.version().is_some());
    for tool in &missing {
        println!("missing: {}. To get it: {}.", tool.name, tool.get);
    }
    if missing.is_empty() {
        println!("nothing is missing");
    } else if strict {
        println!("CI=true: a suite that needs a missing tool fails");
    } else {
        println!("a suite that needs a missing tool is skipped");
    }
    println!("here: {}", here.iter().map(|tool| tool.name).collect::<Vec<_>>().join(", "));
    missing.iter().map(|tool| tool.name).collect()
}

fn run_one(suite: &'static Suite, context: &Context, missing: &[&str], strict: bool) -> Row {
    println!("\n== {}: {}", suite.name, suite.shows);
    let start = Instant::now();
    let lacking = suite.needs.iter().find(|tool| missing.contains(&tool.name));
    let outcome = match lacking {
        Some(tool) => Outcome::Skipped(format!("needs {}", tool.name)),
        None => (suite.run)(context).unwrap_or_else(|error| Outcome::Failed(vec![format!("{error:#}")])),
    };
    let outcome = match outcome {
        Outcome::Skipped(reason) if strict => {
            Outcome::Failed(vec![format!("{reason} (CI=true: nothing is skipped)")])
        }
        other => other,
    };
    if let Outcome::Failed(faults) = &outcome {
        for fault in faults {
            println!("fault: {fault}");
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("-- {} {} in {seconds:.1} s", suite.name, outcome.word());
    Row { name: suite.name, outcome, seconds }
}

fn summarise(rows: &[Row]) -> ExitCode {
    println!("\n{:17} {:8} {:>8}", "suite", "outcome", "seconds");
    for Row { name, outcome, seconds } in rows {
        println!(
            "{}",
            format!("{name:17} {:8} {seconds:>8.1}  {}", outcome.word(), outcome.note()).trim_end()
        );
    }
    let count = |word: &str| rows.iter().filter(|row| row.outcome.word() == word).count();
    println!("{} passed, {} failed, {} skipped", count("passed"), count("failed"), count("skipped"));
    if count("failed") == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_are_chosen_by_name_and_depth() {
        let names = |args: &[&str]| -> Vec<&str> {
            let args: Vec<String> = args.iter().map(ToString::to_string).collect();
            choose(&args).map(|suites| suites.iter().map(|s| s.name).collect()).unwrap_or_default()
        };
        assert_eq!(names(&["house", "format"]), ["format", "house"]);
        assert_eq!(names(&["deep"]).len(), SUITES.len());
        assert_eq!(names(&[]).len(), SUITES.iter().filter(|s| !s.deep).count());
        assert!(names(&["no-such-suite"]).is_empty());
    }
}
