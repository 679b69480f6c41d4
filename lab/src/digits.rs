//! `sotto-lab digits`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressStyle};
use sotto_runner::digits::{CHOOSERS, Cell, Trial, chains, read, search as try_all, settled, written};
use sotto_runner::{Contender, Scheme};

use super::engines;
use super::measure::scheme;
use crate::output::say;

/// Time limit of an engine for one answer.
const LIMIT: Duration = Duration::from_secs(600);

/// Arguments of `sotto-lab digits`.
#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    /// How often every engine is tried with every number of special primes; the shortest times count.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
    /// Keep the rows of this table, and measure only chains that it lacks or whose times contradict each other.
    #[arg(long, value_name = "TABLE")]
    keep: Option<PathBuf>,
    /// Try only these engines, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "NAMES", default_values_t = CHOOSERS.map(str::to_owned))]
    engines: Vec<String>,
    /// Try only these ring degrees.
    #[arg(long, value_delimiter = ',', value_name = "SIZES")]
    n: Vec<usize>,
    /// Try only these schemes: bfv, bgv, ckks.
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = scheme)]
    schemes: Vec<Scheme>,
}

/// Searches on every chain of the definitions and prints the table.
pub(super) fn search(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let ours = engines::ours()?;
    let named = |name: &String| Contender::named(name, Some(&ours), LIMIT);
    let contenders = arguments.engines.iter().map(named).collect::<Result<Vec<_>, _>>()?;
    if let Some((name, reason)) = contenders.iter().find_map(|one| Some((&one.name, one.absence()?))) {
        anyhow::bail!("{name} {reason}");
    }
    let kept = match &arguments.keep {
        None => Vec::new(),
        Some(file) => {
            read(&std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?)
        }
    };
    let mut spans = Vec::new();
    for (chain, profile, asked) in chains()? {
        let is_size = arguments.n.is_empty() || arguments.n.contains(&chain.degree);
        if is_size && (arguments.schemes.is_empty() || arguments.schemes.contains(&chain.scheme)) {
            let asked: Vec<&Contender> = contenders.iter().filter(|one| asked.contains(&one.name)).collect();
            // Engines are measured in turns: one that is missing or disturbed needs the others again.
            let of: Option<Vec<_>> = asked.iter().map(|one| settled(&kept, &one.name, &chain)).collect();
            spans.push((chain, profile.parse()?, asked, of.map(|of| of.concat())));
        }
    }
    // The time of a trial is taken as proportional to n.
    let weight = |count: usize, n: usize| count as u64 * n as u64;
    let open = spans.iter().filter(|(.., settled)| settled.is_none());
    let whole = open.map(|(chain, _, asked, _)| weight(Cell::of(asked, chain).len(), chain.degree));
    let bar = ProgressBar::new(whole.sum::<u64>() * u64::from(arguments.runs));
    bar.set_style(ProgressStyle::with_template("{wide_bar} {percent} %, {eta} left  {msg}")?);
    bar.enable_steady_tick(Duration::from_millis(200));
    let mut trials = Vec::new();
    for (chain, profile, asked, settled) in spans {
        if let Some(settled) = settled {
            trials.extend(settled);
            continue;
        }
        let mut step = 0;
        let mut progress = |cell: &Cell<'_>| {
            bar.inc(step);
            step = weight(1, chain.degree);
            bar.set_message(format!("{} n = {}: {}", chain.scheme.name(), chain.degree, cell.name()));
        };
        let found = try_all(Cell::of(&asked, &chain), &chain, profile, arguments.runs, &mut progress);
        bar.inc(step);
        bar.suspend(|| found.iter().for_each(|trial| eprintln!("{}", told(trial))));
        trials.extend(found);
    }
    bar.finish_and_clear();
    say(written(&trials, arguments.runs).trim_end());
    let doubtful = trials.iter().filter(|trial| !trial.is_coherent()).count();
    if doubtful > 0 {
        eprintln!(
            "sotto: in {doubtful} rows the times of product and rotation contradict each other: write the table to \
             a file and measure these again, with `--keep` and its name"
        );
    }
    Ok(if doubtful > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Describes a trial for people.
fn told(trial: &Trial) -> String {
    let time = |us: Option<f64>| us.map_or("nothing".to_owned(), |us| format!("{us} µs"));
    format!(
        "{} {} n = {}, {} special primes: {} and {}{}{}",
        trial.engine,
        trial.scheme,
        trial.n,
        trial.special,
        time(trial.multiply_relin_us),
        time(trial.rotate_us),
        if trial.secure { "" } else { ", below 128 bits" },
        if trial.is_coherent() { "" } else { ", which contradict each other" }
    )
}
