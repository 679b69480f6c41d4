//! `sotto-lab run`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use sotto_harness::Installed;
use sotto_runner::{
    Contender, Definition, Extent, Host, RunnerError, Scheme, Selection, Store, definition, report,
};

use super::engines;
use super::watch::Watch;

/// Time limit of an engine for one answer: enough for the slowest keys at the largest n, several times.
const LIMIT: Duration = Duration::from_secs(600);
const QUICK_LIMIT: Duration = Duration::from_secs(90);
/// Time limit for all evaluations of a comparison with its keys.
const COMPARISON_LIMIT: Duration = Duration::from_secs(1800);

/// Arguments of `sotto-lab run`.
#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    /// The definitions to measure.
    #[arg(required = true, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(definition::names()))]
    names: Vec<String>,
    /// Measure only these engines, separated by commas [default: those of the definition].
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    engines: Vec<String>,
    /// Measure only these ring degrees.
    #[arg(long, value_delimiter = ',', value_name = "SIZES")]
    n: Vec<usize>,
    /// Measure only these schemes: bfv, bgv, ckks.
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = scheme)]
    schemes: Vec<Scheme>,
    /// Fewer repetitions, and fewer sizes if the definition says so.
    #[arg(long)]
    quick: bool,
    /// Write the rows to this folder too; `sotto-lab report` makes a page of them.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The folder that keeps the rows of every run, by processor and commit [default: `results` in the cache
    /// folder].
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// Print only rows, as JSON, one a line.
    #[arg(long)]
    json: bool,
}

impl Arguments {
    fn extent(&self) -> Extent {
        if !(self.engines.is_empty() && self.n.is_empty() && self.schemes.is_empty()) {
            Extent::Part
        } else if self.quick {
            Extent::Quick
        } else {
            Extent::Full
        }
    }
}

/// Returns the scheme of this name, in any case.
pub(super) fn scheme(name: &str) -> Result<Scheme, String> {
    let known = Scheme::ALL.map(Scheme::name).join(", ");
    Scheme::named(&name.to_lowercase()).ok_or_else(|| format!("there is {known}"))
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let machine = Host::here();
    let ours = engines::ours()?;
    // All arguments are checked before anything is measured.
    let mut runs = Vec::new();
    for name in &arguments.names {
        let definition = Definition::named(name)?;
        let contenders = contenders(arguments, &definition, &ours)?;
        runs.push((
            Selection::new(definition, arguments.quick, &arguments.n, &arguments.schemes)?,
            contenders,
        ));
    }
    let here = Path::new(".");
    let results = match &arguments.results {
        Some(folder) => folder.clone(),
        None => sotto_harness::cache_folder()?.join("results"),
    };
    let kept = results.join(machine.slug()).join(commit(here));
    let whole = runs.iter().map(|(selection, _)| selection.whole()).sum();
    let mut watch = Watch::new(whole, arguments.json)?;
    let mut spare = Duration::ZERO;
    for (selection, contenders) in &runs {
        let folders = std::iter::once(&kept).chain(&arguments.out);
        let stores = folders
            .map(|folder| Store::create(folder, &selection.definition.name, arguments.extent(), &machine));
        watch.keep_in(stores.collect::<Result<_, _>>()?);
        let left = sotto_runner::run(selection, contenders, spare, &mut watch)?;
        // A quick run has its own short budget; a full run inherits the time that the runs before it left over.
        spare = if arguments.quick { Duration::ZERO } else { left };
        watch.keep()?;
    }
    // The measurements are kept, so a failure to write the report is only a warning.
    if let Err(error) = report::write(&kept, &kept) {
        eprintln!("sotto: no report: {error}");
    }
    watch.finish(&kept);
    Ok(ExitCode::SUCCESS)
}

/// Returns the engines to measure. An unknown engine is an error on the command line, and a gap in a definition.
fn contenders(
    arguments: &Arguments,
    definition: &Definition,
    ours: &Installed,
) -> Result<Vec<Contender>, RunnerError> {
    let compares = !definition.comparisons.is_empty();
    let limit = match (arguments.quick, compares) {
        (true, _) => QUICK_LIMIT,
        (false, true) => COMPARISON_LIMIT,
        (false, false) => LIMIT,
    };
    let named = |name: &String| Contender::named(name, Some(ours), limit);
    if !arguments.engines.is_empty() {
        // An engine that is named twice is measured once.
        let mut seen = BTreeSet::new();
        return arguments.engines.iter().filter(|name| seen.insert(*name)).map(named).collect();
    }
    let absent = |name: &String| Contender::absent(name, "is no engine of this program", None);
    Ok(definition.engines.iter().map(|name| named(name).unwrap_or_else(|_| absent(name))).collect())
}

/// Returns the output of git in a folder. None if git fails.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Returns the root of this project's checkout. None outside of one.
fn checkout(folder: &Path) -> Option<PathBuf> {
    let root = git(folder, &["rev-parse", "--show-toplevel"]).map(PathBuf::from);
    root.filter(|root| root.join("lab/METHODOLOGY.md").is_file())
}

/// Returns the commit of the checkout, marked if tracked files other than results differ from it; outside of a
/// checkout, the program's version.
fn commit(folder: &Path) -> String {
    let git = |arguments: &[&str]| git(folder, arguments);
    let version = || format!("v{}", env!("CARGO_PKG_VERSION"));
    // A repository of another project says nothing about this program.
    let commit = checkout(folder).and_then(|_| git(&["rev-parse", "--short=12", "HEAD"]));
    let Some(commit) = commit else { return version() };
    let changed = git(&["status", "--porcelain", "--untracked-files=no", "--", ":(top,exclude)results"])
        .is_some_and(|text| !text.is_empty());
    if changed { format!("{commit}-changed") } else { commit }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn outside_of_a_checkout_the_version_stands_for_the_commit() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(commit(folder.path()), format!("v{}", env!("CARGO_PKG_VERSION")));
        assert_eq!(checkout(folder.path()), None);
        assert!(git(folder.path(), &["init", "-q"]).is_some());
        let name = ["-c", "user.name=a", "-c", "user.email=a@a.example"];
        assert!(
            git(folder.path(), &[&name[..], &["commit", "-q", "--allow-empty", "-m", "x"]].concat())
                .is_some()
        );
        assert_eq!(commit(folder.path()), format!("v{}", env!("CARGO_PKG_VERSION")), "not our repository");
        assert_eq!(scheme("CKKS"), Ok(Scheme::Ckks));
        let refused = scheme("tfhe").unwrap_err();
        assert!(["bfv", "bgv", "ckks"].iter().all(|name| refused.contains(name)), "{refused}");
    }
}
