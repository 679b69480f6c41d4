//! `sotto lab run`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use sotto_lab::Installed;
use sotto_runner::{
    Contender, Definition, Extent, Machine, RunnerError, Scheme, Selection, Store, definition, report,
};

use super::engines;
use super::watch::Watch;

/// How long an engine may take for one answer: the slowest keys at the largest n, several times.
const LIMIT: Duration = Duration::from_secs(600);
const QUICK_LIMIT: Duration = Duration::from_secs(90);

/// Arguments of `sotto lab run`.
#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    /// What to measure.
    #[arg(required = true, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(definition::names()))]
    names: Vec<String>,
    /// These engines only, separated by commas; those of the definition, if none is named.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    engines: Vec<String>,
    /// These ring degrees only.
    #[arg(long, value_delimiter = ',', value_name = "SIZES")]
    n: Vec<usize>,
    /// These schemes only: bfv, bgv, ckks.
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = scheme)]
    schemes: Vec<Scheme>,
    /// Fewer repetitions, and where the definition says so fewer sizes.
    #[arg(long)]
    quick: bool,
    /// Write the rows here too; `sotto lab report` makes a page of them.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Where the rows of every run are kept, by processor and commit; `results` of the checkout, or of this folder.
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// Print rows as JSON, one a line, and nothing else.
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

/// The scheme of this name, in any case.
pub(super) fn scheme(name: &str) -> Result<Scheme, String> {
    let known = Scheme::ALL.map(Scheme::name).join(", ");
    Scheme::named(&name.to_lowercase()).ok_or_else(|| format!("there is {known}"))
}

/// Runs it.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let machine = Machine::here();
    let ours = engines::ours()?;
    // All mistakes are found before anything is measured.
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
    let results = arguments
        .results
        .clone()
        .unwrap_or_else(|| checkout(here).unwrap_or_else(|| here.to_owned()).join("results"));
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
        // Each quick run is short by itself; a full one has what those before it left.
        spare = if arguments.quick { Duration::ZERO } else { left };
        watch.keep()?;
    }
    // What was measured is kept; a report that cannot be written is no reason to say otherwise.
    if let Err(error) = report::write(&kept) {
        eprintln!("sotto: no report: {error}");
    }
    watch.finish(&kept);
    Ok(ExitCode::SUCCESS)
}

/// Engines that somebody names have to be known; one that a definition names is a gap otherwise.
fn contenders(
    arguments: &Arguments,
    definition: &Definition,
    ours: &Installed,
) -> Result<Vec<Contender>, RunnerError> {
    let limit = if arguments.quick { QUICK_LIMIT } else { LIMIT };
    let named = |name: &String| Contender::named(name, Some(ours), limit);
    if !arguments.engines.is_empty() {
        // An engine that is named twice has one row all the same.
        let mut seen = BTreeSet::new();
        return arguments.engines.iter().filter(|name| seen.insert(*name)).map(named).collect();
    }
    let absent = |name: &String| Contender::absent(name, "is no engine of this program", None);
    Ok(definition.engines.iter().map(|name| named(name).unwrap_or_else(|_| absent(name))).collect())
}

/// What git says in a folder, if it says anything.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The root of our checkout, if this is inside one.
fn checkout(folder: &Path) -> Option<PathBuf> {
    let root = git(folder, &["rev-parse", "--show-toplevel"]).map(PathBuf::from);
    root.filter(|root| root.join("lab/METHODOLOGY.md").is_file())
}

/// The commit of the checkout that this runs in, marked if files differ from it, but for results; the version, where there is
/// none.
fn commit(folder: &Path) -> String {
    let git = |arguments: &[&str]| git(folder, arguments);
    let version = || format!("v{}", env!("CARGO_PKG_VERSION"));
    // Somebody else's repository says nothing of this program.
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
