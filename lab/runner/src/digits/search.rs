//! Searches for the best digits: times every engine with every number of special primes on one chain, in rounds.

use std::time::Duration;

use sotto_harness::protocol::{Measure, Prepare, Prepared, Version};
use sotto_rlwe::SecurityProfile;

use super::{Key, Trial};
use crate::contender::{Contender, Speaker};
use crate::definition::{Chain, security_bits};

/// The measured operations, both of which switch keys.
const OPERATIONS: [&str; 2] = ["multiply_relin", "rotate"];
/// The time of one engine for one operation in one run; below it the fewest and the most repetitions.
const SHARE: Duration = Duration::from_millis(600);
const REPETITIONS: (u32, u32) = (4, 40);

/// One engine with one number of special primes, and its times so far.
pub struct Cell<'a> {
    contender: &'a Contender,
    special: usize,
    requests: Vec<Prepare>,
    known: Option<(Version, Prepared)>,
    /// The shortest times so far. None before the first run; an inner None is final, after a wrong or refused result.
    times: Option<[Option<f64>; 2]>,
}

impl<'a> Cell<'a> {
    /// Returns the cells of a chain: for each engine, every number of special primes from the most that fit down to
    /// none.
    pub fn of(contenders: &[&'a Contender], chain: &Chain) -> Vec<Self> {
        let Some(key) = Key::of(chain) else { return Vec::new() };
        let specials = (0..=key.most_special).rev();
        let cells =
            contenders.iter().flat_map(|contender| specials.clone().map(move |one| (*contender, one)));
        let new = |(contender, special)| {
            let requests = chain.with_special(special);
            Cell { contender, special, requests, known: None, times: None }
        };
        cells.map(new).collect()
    }

    /// Returns the name for people.
    pub fn name(&self) -> String {
        format!("{} with {} special primes", self.contender.name, self.special)
    }

    /// Runs the cell once in its own process, so that only one cell's keys are in memory. A refused operation is not
    /// tried again.
    fn run(&mut self, scheme: &str) {
        if self.times == Some([None; 2]) {
            return;
        }
        let Some((mut speaker, known)) = self.started(scheme) else {
            self.times = Some([None; 2]);
            return;
        };
        self.known = Some(known);
        let before = self.times;
        let mut times = [None; 2];
        for (place, operation) in OPERATIONS.into_iter().enumerate() {
            if before.is_some_and(|times| times[place].is_none()) {
                continue;
            }
            let now = shortest(speaker.as_mut(), operation);
            times[place] =
                now.map(|now| before.and_then(|times| times[place]).map_or(now, |old| old.min(now)));
        }
        self.times = Some(times);
    }

    fn started(&self, scheme: &str) -> Option<(Box<dyn Speaker>, (Version, Prepared))> {
        let mut speaker = self.contender.start.as_ref().ok()?().ok()?;
        let version = speaker.version().ok()?;
        if !version.schemes.iter().any(|known| known == scheme) {
            return None;
        }
        let prepared = self.requests.iter().find_map(|request| speaker.prepare(request).ok())?;
        Some((speaker, (version, prepared)))
    }

    /// Returns the trial. None if the engine refuses the parameters.
    fn trial(self, key: &Key, profile: SecurityProfile) -> Option<Trial> {
        let (version, prepared) = self.known?;
        let [multiply_relin_us, rotate_us] = self.times.unwrap_or_default().map(|time| time.map(tenths));
        let bits = |primes: &[u64]| primes.iter().map(|prime| (*prime as f64).log2()).sum::<f64>();
        let log2_q = if prepared.data.is_empty() { prepared.log2_q } else { bits(&prepared.data) };
        let known =
            (prepared.special.len() == prepared.special_limbs).then(|| log2_q + bits(&prepared.special));
        let log2_qp = prepared.log2_qp.or(known);
        Some(Trial {
            engine: self.contender.name.clone(),
            version: version.version,
            scheme: key.scheme.clone(),
            n: key.n,
            data_primes: key.data_primes,
            data_bits: key.data_bits,
            most_special: key.most_special,
            special: self.special,
            log2_q: tenths(log2_q),
            log2_qp: log2_qp.map(tenths),
            secure: log2_qp.is_some_and(|bits| security_bits(profile, key.n, bits).is_some()),
            multiply_relin_us,
            rotate_us,
        })
    }
}

/// Runs every cell of a chain `runs` times and keeps the shortest times. Each round starts with another cell. A wrong
/// or refused result in any run leaves no time. `progress` receives the next cell.
pub fn search(
    mut cells: Vec<Cell<'_>>,
    chain: &Chain,
    profile: SecurityProfile,
    runs: u32,
    progress: &mut dyn FnMut(&Cell<'_>),
) -> Vec<Trial> {
    let Some(key) = Key::of(chain) else { return Vec::new() };
    let count = cells.len();
    for run in 0..runs as usize {
        for place in 0..count {
            let cell = &mut cells[(run + place) % count];
            progress(cell);
            cell.run(&key.scheme);
        }
    }
    cells.into_iter().filter_map(|cell| cell.trial(&key, profile)).collect()
}

fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// Returns the shortest time: one run checks the result and estimates its time, then as many as fit follow. On a shared
/// machine, the shortest time measures the code best.
fn shortest(speaker: &mut dyn Speaker, operation: &str) -> Option<f64> {
    let mut request = Measure { operation: operation.to_owned(), repetitions: 1, ..Measure::default() };
    let once = speaker.measure(&request).ok().filter(|measured| measured.verified)?;
    let estimate = once.microseconds.first()?.max(1.0);
    let (least, most) = REPETITIONS;
    request.repetitions = ((SHARE.as_secs_f64() * 1e6 / estimate) as u32).clamp(least, most);
    (request.warm_up, request.checked) = (1, true);
    let measured = speaker.measure(&request).ok()?;
    measured.microseconds.into_iter().min_by(f64::total_cmp)
}
