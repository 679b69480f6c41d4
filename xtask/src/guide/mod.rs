//! `cargo xtask guide`: runs the commands of the guides and writes their output into the pages; `--check` compares
//! instead.

mod compare;
mod page;
mod session;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::cargo;
use crate::suite::{Context, Outcome};
use crate::suites::venv::Venv;
use page::Page;

/// A page with commands, by its path from the root of the checkout, and the address of the cloud that they start.
#[derive(Clone, Copy)]
struct Guide {
    page: &'static str,
    cloud: &'static str,
}

/// The guides. The first uses the defaults of `sotto init`.
const GUIDES: [Guide; 9] = [
    Guide { page: "docs/guides/first-answer.md", cloud: "127.0.0.1:7410" },
    Guide { page: "docs/guides/tls.md", cloud: "127.0.0.1:7411" },
    Guide { page: "docs/guides/alarms.md", cloud: "127.0.0.1:7412" },
    Guide { page: "docs/guides/meter.md", cloud: "127.0.0.1:7413" },
    Guide { page: "docs/guides/contact.md", cloud: "127.0.0.1:7414" },
    Guide { page: "docs/guides/rain.md", cloud: "127.0.0.1:7415" },
    Guide { page: "docs/guides/wind.md", cloud: "127.0.0.1:7416" },
    Guide { page: "docs/guides/cookbook.md", cloud: "127.0.0.1:7417" },
    Guide { page: "docs/guides/store.md", cloud: "127.0.0.1:7418" },
];
/// The guides of the gateway: `cargo ci gateway` runs them, `cargo xtask guide --gateway` writes them.
const OF_GATEWAY: [Guide; 4] = [
    Guide { page: "docs/guides/telegraf.md", cloud: "127.0.0.1:7426" },
    Guide { page: "docs/guides/home-assistant.md", cloud: "127.0.0.1:7427" },
    Guide { page: "docs/guides/mqtt.md", cloud: "127.0.0.1:7422" },
    Guide { page: "docs/guides/modbus.md", cloud: "127.0.0.1:7423" },
];
/// The guide of the lake, which is built apart: `cargo ci scaleout` runs it, `cargo xtask guide --lake` writes it.
const OF_LAKE: Guide = Guide { page: "docs/guides/scale-out.md", cloud: "127.0.0.1:7425" };
/// The guide whose commands are those of other engines, too: `cargo ci warehouse` runs it, `cargo xtask guide --warehouse` writes it.
const WAREHOUSE: Guide = Guide { page: "docs/guides/warehouse.md", cloud: "127.0.0.1:7419" };
/// The engines, as packages of Python.
const ENGINES: [&str; 3] = ["duckdb-cli==1.5.6", "polars==2.1.0", "pyspark==4.3.0"];
/// The file that the guides use.
const DATASET: &str = "seattle-temps.csv";
/// How long to wait for the port: another run of a guide takes about 20 s.
const PORT_WAIT: Duration = Duration::from_secs(60);

pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let check = match args {
        [] => false,
        [flag] if flag == "--check" => true,
        [flag] if flag == "--lake" => {
            let root = cargo::root()?;
            return write(&root, OF_LAKE, &[&built(&root)?, &root.join("target/lake/release")]);
        }
        [flag] if flag == "--gateway" => {
            let root = cargo::root()?;
            let programs = built(&root)?;
            for guide in OF_GATEWAY {
                write(&root, guide, &[&programs])?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        [flag] if flag == "--warehouse" => {
            let root = cargo::root()?;
            let programs = built(&root)?;
            return write(&root, WAREHOUSE, &[&programs, &engines(&programs)?]);
        }
        _ => bail!("cargo xtask guide [--check | --gateway | --lake | --warehouse]"),
    };
    let dataset = dataset()?.context("SOTTO_DATASETS is not set: name the folder that holds the dataset")?;
    let root = cargo::root()?;
    let programs = built(&root)?;
    let mut faults = Vec::new();
    for guide in GUIDES {
        let (page, outputs) = execute(&root, guide, &[&programs], Some(&dataset))?;
        if check {
            faults.extend(named(guide.page, page.faults(&outputs)));
            continue;
        }
        let path = root.join(guide.page);
        std::fs::write(&path, page.with_outputs(&outputs))
            .with_context(|| format!("cannot write {}", guide.page))?;
        println!("{}: {} commands", guide.page, outputs.len());
    }
    faults.iter().for_each(|fault| eprintln!("{fault}"));
    Ok(if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the suite `guide`.
pub(crate) fn suite(context: &Context) -> Result<Outcome> {
    let Some(dataset) = dataset()? else {
        return Ok(Outcome::Skipped(format!("needs {DATASET} in the folder named by SOTTO_DATASETS")));
    };
    let programs = context.programs()?;
    let mut faults = Vec::new();
    for guide in GUIDES {
        let (page, outputs) = execute(&context.root, guide, &[programs], Some(&dataset))?;
        println!("{}: {} commands", guide.page, outputs.len());
        faults.extend(named(guide.page, page.faults(&outputs)));
    }
    Ok(Outcome::from_faults(faults))
}

/// Runs the commands of the gateway's guides; returns the faults.
pub(crate) fn of_gateway(context: &Context) -> Result<Vec<String>> {
    let programs = context.programs()?;
    let mut faults = Vec::new();
    for guide in OF_GATEWAY {
        let (page, outputs) = execute(&context.root, guide, &[programs], None)?;
        println!("{}: {} commands", guide.page, outputs.len());
        faults.extend(named(guide.page, page.faults(&outputs)));
    }
    Ok(faults)
}

/// Runs the commands of the lake's guide with its programs.
pub(crate) fn of_lake(context: &Context, programs: &Path) -> Result<Outcome> {
    apart(context, OF_LAKE, programs)
}

/// Runs the suite `warehouse`.
pub(crate) fn warehouse(context: &Context) -> Result<Outcome> {
    apart(context, WAREHOUSE, &engines(context.programs()?)?)
}

/// Builds our programs; returns their folder.
fn built(root: &Path) -> Result<PathBuf> {
    let sotto = cargo::build_programs(root)?;
    Ok(sotto.parent().context("the program has no folder")?.to_owned())
}

/// Installs the engines in a folder of our programs; returns the folder of theirs.
fn engines(programs: &Path) -> Result<PathBuf> {
    let venv = Venv::new(&programs.join("warehouse-venv"))?;
    venv.install(&ENGINES)?;
    Ok(venv.programs())
}

/// Runs a guide that needs more programs than ours.
fn apart(context: &Context, guide: Guide, programs: &Path) -> Result<Outcome> {
    let (page, outputs) = execute(&context.root, guide, &[context.programs()?, programs], None)?;
    println!("{}: {} commands", guide.page, outputs.len());
    Ok(Outcome::from_faults(named(guide.page, page.faults(&outputs)).collect()))
}

/// Writes the output of such a guide's commands into its page.
fn write(root: &Path, guide: Guide, programs: &[&Path]) -> Result<ExitCode> {
    let (page, outputs) = execute(root, guide, programs, None)?;
    std::fs::write(root.join(guide.page), page.with_outputs(&outputs))?;
    println!("{}: {} commands", guide.page, outputs.len());
    Ok(ExitCode::SUCCESS)
}

fn named(guide: &str, faults: Vec<String>) -> impl Iterator<Item = String> {
    faults.into_iter().map(move |fault| format!("{guide}, {fault}"))
}

/// Returns the dataset's path. None if `SOTTO_DATASETS` is not set.
fn dataset() -> Result<Option<PathBuf>> {
    let Some(folder) = std::env::var_os("SOTTO_DATASETS") else { return Ok(None) };
    let file = Path::new(&folder).join(DATASET);
    if !file.is_file() {
        bail!("{} is not there: correct SOTTO_DATASETS, or unset it", file.display());
    }
    Ok(Some(std::path::absolute(file)?))
}

/// Runs a guide's commands in a scratch folder, with the programs of some folders.
fn execute(
    root: &Path,
    guide: Guide,
    programs: &[&Path],
    dataset: Option<&Path>,
) -> Result<(Page, Vec<String>)> {
    let Guide { page, cloud } = guide;
    let text = std::fs::read_to_string(root.join(page)).with_context(|| format!("cannot read {page}"))?;
    let page = Page::parse(&text)?;
    free_port(cloud)?;
    let outputs = session::run(&page, programs, dataset)?;
    Ok((page, outputs))
}

/// Waits until the cloud's port is free.
fn free_port(cloud: &str) -> Result<()> {
    let begin = Instant::now();
    while let Err(error) = TcpListener::bind(cloud) {
        if begin.elapsed() > PORT_WAIT {
            bail!("a guide starts a cloud at {cloud}, where another program listens ({error}): stop it");
        }
        std::thread::sleep(Duration::from_millis(500));
    }
    Ok(())
}
