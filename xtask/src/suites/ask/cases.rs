//! Cases of the suites that run processes: each is judged, and its faults are gathered.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::judge::Query;
use super::series::Series;
use super::site::Site;
use crate::suite::{self, Context, Outcome, PARTS};

/// The time of a slower answer is printed.
const LONG: Duration = Duration::from_secs(2);

pub(in crate::suites) type Part = fn(&mut Cases) -> Result<()>;

/// The number of cases that ran, and their faults.
pub(in crate::suites) struct Cases {
    /// The path of `sotto`; the other programs are in the same folder.
    sotto: PathBuf,
    faults: Vec<String>,
    count: usize,
}

impl Cases {
    /// Reports the outcome of a case.
    pub(in crate::suites) fn case(&mut self, name: &str, found: Vec<String>) {
        self.count += 1;
        match found.first() {
            None => println!("{name}: right"),
            Some(first) => println!("{name}: wrong: {first}"),
        }
        self.faults.extend(found.into_iter().map(|fault| format!("{name}: {fault}")));
    }

    /// Asks a question, and judges the answer.
    pub(super) fn asked(
        &mut self,
        name: &str,
        site: &Site,
        series: &Series,
        asked: &Query<'_>,
        period: &str,
    ) {
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

    pub(in crate::suites) fn sotto(&self) -> &Path {
        &self.sotto
    }
}

pub(in crate::suites) fn run_parts(context: &Context, parts: &[(&str, Part)]) -> Result<Outcome> {
    let sotto = context.built()?.program("sotto")?.to_owned();
    let mut cases = Cases { sotto, faults: Vec::new(), count: 0 };
    let wanted = suite::parts();
    if let Some(unknown) = wanted.iter().flatten().find(|name| !parts.iter().any(|(part, _)| part == name)) {
        let names: Vec<&str> = parts.iter().map(|(name, _)| *name).collect();
        bail!("{PARTS}: there is no part {unknown:?}; the parts are {}", names.join(", "));
    }
    for (name, run) in parts {
        if wanted.as_ref().is_none_or(|wanted| wanted.iter().any(|part| part == name)) {
            cases.part(name, *run);
        }
    }
    println!("{} cases", cases.count);
    Ok(Outcome::from_faults(cases.faults))
}
