//! Runs clouds, agents and `sotto ask` as processes, and compares answers with values that this suite computes by other
//! means.

mod conditions;
mod contract;
mod datasets;
mod distributions;
mod each;
mod fleets;
mod functions;
mod generator;
mod growing;
mod judge;
mod many;
mod messy;
mod refusals;
mod series;
mod shared;
mod site;
mod soak;
mod truth;

use crate::cargo;
use crate::ci::{Context, Outcome};
use anyhow::Result;
pub(super) use generator::Numbers;
use judge::Asked;
pub(super) use refusals::refusal;
use series::Series;
pub(super) use site::Site;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The time of a slower answer is printed.
const LONG: Duration = Duration::from_secs(2);

/// A part of a suite.
pub(super) type Part = fn(&mut Cases) -> Result<()>;

/// The number of cases that ran, and their faults.
pub(super) struct Cases {
    /// The path of `sotto`; the other programs are in the same folder.
    sotto: PathBuf,
    faults: Vec<String>,
    count: usize,
}

impl Cases {
    /// Reports the outcome of a case.
    pub(super) fn case(&mut self, name: &str, found: Vec<String>) {
        self.count += 1;
        match found.first() {
            None => println!("{name}: right"),
            Some(first) => println!("{name}: wrong: {first}"),
        }
        self.faults.extend(found.into_iter().map(|fault| format!("{name}: {fault}")));
    }

    /// Asks a question, and judges the answer.
    fn asked(&mut self, name: &str, site: &Site, series: &Series, asked: &Asked<'_>, period: &str) {
        let begin = Instant::now();
        let answer = site.ask(&asked.text_with(series, period), &[]);
        if begin.elapsed() > LONG {
            println!("{name}: {:.1} s", begin.elapsed().as_secs_f64());
        }
        let found = match answer {
            Ok(answer) => asked.judge(series, &answer),
            Err(error) => vec![format!("{error:#}")],
        };
        self.case(name, found);
    }

    /// Runs a part; an error that ends it is a fault.
    fn part(&mut self, name: &str, run: Part) {
        let begin = Instant::now();
        if let Err(error) = run(self) {
            self.case(name, vec![format!("{error:#}")]);
        }
        println!("-- {name}: {:.1} s", begin.elapsed().as_secs_f64());
    }

    pub(super) fn sotto(&self) -> &Path {
        &self.sotto
    }
}

pub(super) fn run_parts(context: &Context, parts: &[(&str, Part)]) -> Result<Outcome> {
    let sotto = cargo::build_programs(&context.root)?;
    let mut cases = Cases { sotto, faults: Vec::new(), count: 0 };
    for (name, run) in parts {
        cases.part(name, *run);
    }
    println!("{} cases", cases.count);
    Ok(Outcome::from_faults(cases.faults))
}

/// Runs the cases that take seconds.
pub(crate) fn run(context: &Context) -> Result<Outcome> {
    run_parts(
        context,
        &[
            ("functions by day", functions::by_day),
            ("functions by hour", functions::by_hour),
            ("data sets", datasets::run),
            ("distributions", distributions::on_datasets),
            ("random windows", distributions::on_random_windows),
            ("comparable channels", distributions::on_comparable_channels),
            ("conditions in the cloud", conditions::run),
            ("conditions declared late", conditions::declared_late),
            ("growing file", growing::run),
            ("shared masks", fleets::run),
            ("messy files", messy::run),
            ("answers for others", shared::run),
            ("refusals", refusals::run),
        ],
    )
}

/// Runs the cases that take minutes.
pub(crate) fn deep(context: &Context) -> Result<Outcome> {
    run_parts(
        context,
        &[
            ("functions by day", functions::by_day_thoroughly),
            ("functions by hour", functions::by_hour_longer),
            ("200 days", soak::run),
            ("10,000 windows", many::run),
        ],
    )
}
