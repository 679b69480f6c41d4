//! Round trips between two processes of one engine: the edge encrypts, the cloud computes, the edge decrypts.

use sotto_harness::LabError;
use sotto_harness::protocol::{Exchange, Exchanged, Prepare, Values};

use super::budget::Budget;
use super::outcome::Outcome;
use super::session::Session;
use super::tally::is_unsupported;
use crate::contender::Speaker;
use crate::definition::Measurement;
use crate::statistics::Statistics;

/// The vector that the paper edge-cloud-2023 encrypts.
const INPUT: [i64; 10] = [11, 20, 30, 75, 5, 16, 7, 80, 60, 10];
/// The largest absolute error of an answer, and the largest relative one. A library that takes a prime for the scale
/// near it has the relative error of that approximation.
const CLOSE: f64 = 1e-2;
const CLOSE_PART: f64 = 1e-5;
/// A cloud's step, and its expected answer for a number if both inputs are equal.
type Operation = (&'static str, fn(i64) -> i64);
const ANSWERS: [Operation; 2] = [("add", |x| x + x), ("multiply", |x| x * x)];

/// The round trips of one engine: the finished steps, and the reasons why others failed.
pub(super) struct Trips<'m> {
    pub(super) done: Vec<(&'m Measurement, Outcome)>,
    pub(super) failures: Vec<String>,
}

/// Times each step, under the public key (`ciphertext`) and with masks that travel as seeds (`seeded`). A step that the
/// engine lacks gives no row.
pub(super) fn trips<'m>(session: &mut Session<'_>, steps: &[&'m Measurement], budget: &Budget) -> Trips<'m> {
    let mut trips = Trips { done: Vec::new(), failures: Vec::new() };
    let begun = Folder::new().map_err(|error| error.to_string()).and_then(|folder| {
        let (cloud, parameters) = session.cloud().map_err(|error| error.to_string())?;
        Ok((folder, cloud, parameters))
    });
    let (folder, mut cloud, parameters) = match begun {
        Ok(begun) => begun,
        Err(reason) => {
            trips.failures.push(reason);
            return trips;
        }
    };
    for object in ["ciphertext", "seeded"] {
        let trip = Trip { folder: &folder, seeded: object == "seeded", budget };
        let mut done = Vec::new();
        match trip.go(session, cloud.as_mut(), &parameters, &mut done) {
            Err(error) if !is_unsupported(&error) => trips.failures.push(format!("{object}: {error}")),
            Ok(()) | Err(_) => {}
        }
        let wanted = |name: &str| {
            let is_of = |step: &&&Measurement| {
                step.operation == name && step.object.as_deref().unwrap_or("ciphertext") == object
            };
            steps.iter().find(is_of).copied()
        };
        trips.done.extend(done.into_iter().filter_map(|(name, outcome)| Some((wanted(name)?, outcome))));
    }
    trips
}

struct Trip<'a> {
    folder: &'a Folder,
    seeded: bool,
    budget: &'a Budget,
}

impl Trip<'_> {
    fn go(
        &self,
        session: &mut Session<'_>,
        cloud: &mut dyn Speaker,
        parameters: &Prepare,
        done: &mut Vec<(&'static str, Outcome)>,
    ) -> Result<(), LabError> {
        let mut keep = |name: &'static str, exchanged: &Exchanged, verified: bool| {
            let statistics = Statistics::of(&exchanged.microseconds);
            let bytes = exchanged.bytes;
            done.extend(
                statistics.map(|statistics| (name, Outcome { statistics, bytes, verified, instead: None })),
            );
        };
        let encrypted = self.timed("encrypt", |request| session.exchange(request), None)?;
        for (step, answer) in ANSWERS {
            let computed = self.timed(step, |request| cloud.exchange(request), Some(parameters))?;
            let decrypted = self.timed("decrypt", |request| session.exchange(request), None)?;
            let expected = INPUT.map(answer);
            let right = decrypted.output.as_ref().is_some_and(|output| is_close(output, &expected));
            keep(if step == "add" { "cloud_add" } else { "cloud_multiply" }, &computed, right);
            if step == "add" {
                // A right sum shows that encryption and decryption are right.
                keep("edge_encrypt", &encrypted, right);
                keep("edge_decrypt", &decrypted, right);
            }
        }
        Ok(())
    }

    /// Runs a step once to estimate its time, then as often as the budget allows.
    fn timed(
        &self,
        step: &str,
        mut ask: impl FnMut(&Exchange) -> Result<Exchanged, LabError>,
        parameters: Option<&Prepare>,
    ) -> Result<Exchanged, LabError> {
        let input = || Values::Integers(INPUT.to_vec());
        let mut request = Exchange {
            step: step.to_owned(),
            folder: self.folder.0.display().to_string(),
            repetitions: 1,
            seeded: self.seeded,
            inputs: if step == "encrypt" { vec![input(), input()] } else { Vec::new() },
            parameters: parameters.cloned().map(Box::new),
        };
        let first = ask(&request)?;
        let once = first.microseconds.first().copied().unwrap_or_default();
        let plan = self.budget.plan_alone(once);
        if plan.rounds == 0 {
            return Ok(first);
        }
        request.repetitions = plan.rounds * plan.repetitions;
        let mut all = ask(&request)?;
        if plan.first_counts {
            all.microseconds.extend(first.microseconds);
        }
        Ok(all)
    }
}

fn is_close(output: &Values, expected: &[i64]) -> bool {
    let output = output.reals();
    let is_near = |(a, b): (&f64, &i64)| {
        let b = *b as f64;
        (a - b).abs() <= CLOSE.max(CLOSE_PART * b.abs())
    };
    output.len() >= expected.len() && output.iter().zip(expected).all(is_near)
}

/// A temporary folder that is removed when dropped.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new() -> std::io::Result<Self> {
        // In memory if possible, so that no disk is measured.
        let memory = std::path::Path::new("/dev/shm");
        let parent = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let folder = parent.join(format!("sotto-lab-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A failed removal must not end the run.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
