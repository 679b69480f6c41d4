//! `cargo xtask guide`: runs the commands of a guide and writes their output into it; `--check` compares instead.

mod compare;
mod page;
mod session;

use std::ffi::OsStr;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::cargo;
use crate::ci::{Context, Outcome};
use page::Page;

/// The guide, from the root of the checkout.
const GUIDE: &str = "docs/guides/first-answer.md";
/// The file that the guide works on.
const DATASET: &str = "seattle-temps.csv";
/// The default port of `sotto init`: the guide shows the defaults.
const CLOUD: &str = "127.0.0.1:7410";
/// Another run of the guide takes about 20 s.
const PORT_WAIT: Duration = Duration::from_secs(60);

pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let check = match args {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => bail!("cargo xtask guide [--check]"),
    };
    let dataset = dataset()?.context("SOTTO_DATASETS is not set: name the folder that holds the dataset")?;
    let root = cargo::root()?;
    let (page, outputs) = execute(&root, &dataset)?;
    if check {
        let faults = compare::faults(&page, &outputs);
        faults.iter().for_each(|fault| eprintln!("{fault}"));
        return Ok(if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let path = root.join(GUIDE);
    std::fs::write(&path, page.with_outputs(&outputs)).with_context(|| format!("cannot write {GUIDE}"))?;
    println!("{GUIDE}: {} commands", outputs.len());
    Ok(ExitCode::SUCCESS)
}

/// The suite `guide`.
pub(crate) fn suite(context: &Context) -> Result<Outcome> {
    let Some(dataset) = dataset()? else {
        return Ok(Outcome::Skipped(format!("needs {DATASET} in the folder named by SOTTO_DATASETS")));
    };
    let (page, outputs) = execute(&context.root, &dataset)?;
    println!("{} commands", outputs.len());
    Ok(Outcome::from_faults(compare::faults(&page, &outputs)))
}

/// The dataset, if `SOTTO_DATASETS` is set.
fn dataset() -> Result<Option<PathBuf>> {
    let Some(folder) = std::env::var_os("SOTTO_DATASETS") else { return Ok(None) };
    let file = Path::new(&folder).join(DATASET);
    if !file.is_file() {
        bail!("{} is not there: correct SOTTO_DATASETS, or unset it", file.display());
    }
    Ok(Some(std::path::absolute(file)?))
}

/// Builds the programs and runs the guide's commands in a scratch folder.
fn execute(root: &Path, dataset: &Path) -> Result<(Page, Vec<String>)> {
    let text = std::fs::read_to_string(root.join(GUIDE)).with_context(|| format!("cannot read {GUIDE}"))?;
    let page = Page::parse(&text)?;
    let sotto = cargo::build_programs(root)?;
    let programs = sotto.parent().map_or(OsStr::new("."), Path::as_os_str);
    free_port()?;
    let outputs = session::run(&page, Path::new(programs), dataset)?;
    Ok((page, outputs))
}

/// Waits until the cloud's port is free.
fn free_port() -> Result<()> {
    let begin = Instant::now();
    while let Err(error) = TcpListener::bind(CLOUD) {
        if begin.elapsed() > PORT_WAIT {
            bail!("the guide starts a cloud at {CLOUD}, where another program listens ({error}): stop it");
        }
        std::thread::sleep(Duration::from_millis(500));
    }
    Ok(())
}
