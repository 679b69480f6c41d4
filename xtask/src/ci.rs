//! `cargo ci`: reports missing tools, runs the suites in order, and summarises.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::beside::{self, Beside};
use crate::compilations;
use crate::process::Scratch;
use crate::suite::{Context, Depth, Outcome, Row, Suite};
use crate::suites::SUITES;
use crate::tools::Tool;
use crate::{cargo, tools};

pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    if args.iter().any(|arg| arg == "--list") {
        for suite in SUITES {
            let depth = match suite.depth {
                Depth::Quick => "(quick) ",
                Depth::Usual => "",
                Depth::Deep => "(deep) ",
            };
            println!("{:17} {depth}{}", suite.name, suite.shows);
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let Some((_, rest)) = args.split_first().filter(|(first, _)| *first == "--count") {
        return counted(rest);
    }
    let chosen = choose(args)?;
    let strict = std::env::var("CI").is_ok_and(|value| value == "true");
    let missing = announce(&chosen, strict);
    let context = Context::new(cargo::root()?, beside::list());
    let start = Instant::now();
    let mut rows = run_all(&chosen, &context, &missing, strict)?;
    rows.sort_by_key(|row| chosen.iter().position(|suite| suite.name == row.name));
    Ok(summarise(&rows, start.elapsed().as_secs_f64()))
}

/// Runs the suites in order. Those that may run beside the others begin when everything is built.
fn run_all(chosen: &[&'static Suite], context: &Context, missing: &[&str], strict: bool) -> Result<Vec<Row>> {
    let (aside, here): (Vec<&'static Suite>, Vec<&'static Suite>) =
        chosen.iter().partition(|suite| suite.beside && lacking(suite, missing).is_none());
    let (mut rows, mut started) = (Vec::new(), None);
    for suite in here {
        if started.is_none() && context.is_built() {
            started = Some(Beside::start(&aside, context)?);
        }
        rows.push(run_one(suite, context, missing, strict));
    }
    let Some(beside) = started else {
        rows.extend(aside.into_iter().map(|suite| run_one(suite, context, missing, strict)));
        return Ok(rows);
    };
    while let Some(suite) = beside.next() {
        rows.push(run_one(suite, context, missing, strict));
    }
    rows.extend(beside.finish()?);
    Ok(rows)
}

/// Returns the first tool that a suite needs and that is missing.
fn lacking(suite: &Suite, missing: &[&str]) -> Option<&'static Tool> {
    suite.needs.iter().copied().find(|tool| missing.contains(&tool.name))
}

/// Runs this program again, with every compiler's call counted.
fn counted(args: &[String]) -> Result<ExitCode> {
    let scratch = Scratch::new()?;
    let file = scratch.path().join("compilations");
    let mut again = cargo::command(std::env::current_exe()?);
    again.arg("ci").args(args).envs(compilations::count_in(&file)?);
    let status = again.status()?;
    println!("{}", compilations::summary(&file)?);
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Chooses suites, in the table's order: the named ones and those of a depth. No names: all but the deep ones.
fn choose(names: &[String]) -> Result<Vec<&'static Suite>> {
    let depth = |name: &String| match name.as_str() {
        "quick" => Some(Depth::Quick),
        "deep" => Some(Depth::Deep),
        _ => None,
    };
    let is_suite = |name: &String| SUITES.iter().any(|suite| suite.name == *name);
    if let Some(name) = names.iter().find(|name| depth(name).is_none() && !is_suite(name)) {
        let known: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
        bail!("no suite is named {name}; there are: {}; `quick` for some, `deep` for all", known.join(", "));
    }
    let deepest = if names.is_empty() { Some(Depth::Usual) } else { names.iter().filter_map(depth).max() };
    let wanted = |suite: &&Suite| deepest >= Some(suite.depth) || names.iter().any(|name| name == suite.name);
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
    let outcome = match lacking(suite, missing) {
        Some(tool) => Outcome::Skipped(format!("needs {}", tool.name)),
        None => (suite.run)(context).unwrap_or_else(|error| Outcome::Failed(vec![format!("{error:#}")])),
    };
    let outcome = match outcome {
        Outcome::Skipped(reason) if strict => {
            Outcome::Failed(vec![format!("{reason} (CI=true: nothing is skipped)")])
        }
        other => other,
    };
    match &outcome {
        Outcome::Passed => {}
        Outcome::Failed(faults) => faults.iter().for_each(|fault| println!("fault: {fault}")),
        Outcome::Skipped(reason) => println!("skipped: {reason}"),
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("-- {} {} in {seconds:.1} s", suite.name, word(&outcome));
    Row { name: suite.name, outcome, seconds }
}

/// Prints the outcomes in the order of the table, then the suites that took longest.
fn summarise(rows: &[Row], total: f64) -> ExitCode {
    println!("\n{:17} {:8} {:>8}", "suite", "outcome", "seconds");
    for Row { name, outcome, seconds } in rows {
        let line = format!("{name:17} {:8} {seconds:>8.1}  {}", word(outcome), note(outcome));
        println!("{}", line.trim_end());
    }
    let mut slowest: Vec<&Row> = rows.iter().collect();
    slowest.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    let share = |row: &&Row| format!("{} {:.0} s", row.name, row.seconds);
    let most: Vec<String> = slowest.iter().take(8).map(share).collect();
    println!("{:.0} min {:02.0} s: {}", (total / 60.0).floor(), total % 60.0, most.join(", "));
    let count = |counted: &str| rows.iter().filter(|row| word(&row.outcome) == counted).count();
    println!("{} passed, {} failed, {} skipped", count("passed"), count("failed"), count("skipped"));
    if count("failed") == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "passed",
        Outcome::Failed(_) => "failed",
        Outcome::Skipped(_) => "skipped",
    }
}

/// Returns the first fault or the reason for one line of the summary.
fn note(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Passed => "",
        Outcome::Failed(faults) => faults.first().map_or("", String::as_str),
        Outcome::Skipped(reason) => reason,
    }
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
        assert_eq!(names(&[]).len(), SUITES.iter().filter(|s| s.depth < Depth::Deep).count());
        assert_eq!(names(&["quick"]).len(), SUITES.iter().filter(|s| s.depth == Depth::Quick).count());
        assert_eq!(names(&["quick", "miri"]).len(), names(&["quick"]).len() + 1);
        assert!(names(&["no-such-suite"]).is_empty());
    }
}
