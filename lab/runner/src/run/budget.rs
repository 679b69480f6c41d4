//! How often something is repeated: as often as it was asked for, less often if it is slow, not at all if the definition's time
//! is used up.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::definition::Repetitions;

/// What one engine does of one operation, after a first time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plan {
    /// Rounds.
    pub(super) rounds: u32,
    /// Repetitions that count, in each round.
    pub(super) repetitions: u32,
    /// Those before them that do not.
    pub(super) warm_up: u32,
    /// Whether the first time counts, because few others follow.
    pub(super) first_counts: bool,
}

/// A plan for what took `first` microseconds, with `left` microseconds of the definition's time; or why there is none.
pub(super) fn plan(first: f64, asked: &Repetitions, left: f64) -> Result<Plan, String> {
    let estimate = first.max(0.1);
    let whole = asked.seconds * 1e6;
    let a_round = whole / f64::from(asked.rounds);
    let repetitions = (a_round / estimate).clamp(1.0, f64::from(asked.most)) as u32;
    let rounds = (whole / estimate).clamp(0.0, f64::from(asked.rounds)) as u32;
    let warm_up = if estimate * f64::from(asked.rounds) < whole { asked.warm_up } else { 0 };
    let mut plan = Plan { rounds, repetitions, warm_up, first_counts: false };
    if plan.counted() < asked.least {
        // The first time counts, where each is dear.
        plan = Plan { rounds: asked.least - 1, repetitions: 1, warm_up: 0, first_counts: true };
    }
    if plan.cost(estimate) > left {
        plan = Plan { rounds: asked.least - 1, repetitions: 1, warm_up: 0, first_counts: true };
    }
    if plan.cost(estimate) > left {
        return Err(format!(
            "was left out: {} repetitions of {:.1} s each are more than the {:.0} s that are left of the definition's {} minutes",
            asked.least,
            estimate / 1e6,
            (left / 1e6).max(0.0),
            asked.minutes
        ));
    }
    Ok(plan)
}

impl Plan {
    fn counted(&self) -> u32 {
        self.rounds * self.repetitions + u32::from(self.first_counts)
    }

    /// Microseconds of what is still to do.
    fn cost(&self, estimate: f64) -> f64 {
        f64::from(self.rounds * (self.repetitions + self.warm_up)) * estimate
    }
}

/// The time of a definition, and what is known of how long things take.
pub(super) struct Budget {
    begun: Instant,
    asked: Repetitions,
    /// For an engine, scheme and operation: n, and how long it took at that.
    known: BTreeMap<(String, String, String), (usize, f64)>,
    /// Microseconds of what is planned and not done yet.
    promised: f64,
}

impl Budget {
    pub(super) fn new(asked: Repetitions) -> Self {
        Self { begun: Instant::now(), asked, known: BTreeMap::new(), promised: 0.0 }
    }

    /// A plan for what took `first` microseconds, beside what is planned already.
    pub(super) fn plan(&mut self, first: f64) -> Result<Plan, String> {
        let plan = plan(first, &self.asked, self.left() - self.promised)?;
        self.promised += plan.cost(first.max(0.1));
        Ok(plan)
    }

    /// All that was planned is done.
    pub(super) fn settle(&mut self) {
        self.promised = 0.0;
    }

    pub(super) fn asked(&self) -> &Repetitions {
        &self.asked
    }

    /// Microseconds that are left.
    pub(super) fn left(&self) -> f64 {
        (self.asked.minutes * 60.0 - self.begun.elapsed().as_secs_f64()) * 1e6
    }

    /// Why nothing more is begun, if so.
    pub(super) fn used_up(&self) -> Option<String> {
        (self.left() <= 0.0)
            .then(|| format!("was left out: the definition's {} minutes are used up", self.asked.minutes))
    }

    /// What took so long at one n.
    pub(super) fn learn(&mut self, engine: &str, scheme: &str, operation: &str, n: usize, us: f64) {
        self.known.insert((engine.to_owned(), scheme.to_owned(), operation.to_owned()), (n, us));
    }

    /// Whether it is known, from another n, that the least repetitions do not fit; the reason.
    pub(super) fn refuses(&self, engine: &str, scheme: &str, operation: &str, n: usize) -> Option<String> {
        let known = self.known.get(&(engine.to_owned(), scheme.to_owned(), operation.to_owned()));
        let expected = known.map_or(0.0, |(before, us)| grown(*us, *before, n));
        // The first time, and what has to follow it.
        plan(expected, &self.asked, self.left() - self.promised - expected).err()
    }
}

/// Keys grow with n, and with the number of primes and of digits, which grow with n too.
fn grown(us: f64, from: usize, to: usize) -> f64 {
    us * (to as f64 / from as f64).max(1.0).powi(3)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const ASKED: Repetitions =
        Repetitions { rounds: 5, least: 3, most: 20, warm_up: 1, seconds: 0.5, minutes: 10.0 };
    const AMPLE: f64 = 1e12;

    #[test]
    fn what_is_fast_is_done_as_often_as_asked() {
        let plan = plan(10.0, &ASKED, AMPLE).unwrap();
        assert_eq!(plan, Plan { rounds: 5, repetitions: 20, warm_up: 1, first_counts: false });
    }

    #[test]
    fn what_is_slow_is_done_less_often_and_never_less_than_the_least() {
        for first in [1.0, 1e3, 4e4, 1e5, 2e5, 4e5, 1e6, 1e8] {
            let plan = plan(first, &ASKED, AMPLE).unwrap();
            assert!(plan.counted() >= 3, "{first}: {plan:?}");
            let useful = plan.cost(first) <= 2.0 * ASKED.seconds * 1e6 || plan.counted() == 3;
            assert!(useful, "{first}: {plan:?}");
        }
        let slow = plan(1e6, &ASKED, AMPLE).unwrap();
        assert_eq!(slow, Plan { rounds: 2, repetitions: 1, warm_up: 0, first_counts: true });
        let once = plan(1e6, &Repetitions { least: 1, ..ASKED }, AMPLE).unwrap();
        assert_eq!((once.rounds, once.counted()), (0, 1), "a quick run is content with the first time");
    }

    #[test]
    fn nothing_is_begun_that_would_pass_the_definitions_time() {
        let short = plan(1e5, &ASKED, 3e5).unwrap();
        assert_eq!((short.counted(), short.rounds), (3, 2), "the least that counts, where no more fits");
        let refusal = plan(1e6, &ASKED, 1.5e6).unwrap_err();
        assert!(refusal.contains("3 repetitions of 1.0 s") && refusal.contains("10 minutes"), "{refusal}");
        let mut budget = Budget::new(Repetitions { minutes: 1.0, ..ASKED });
        assert!(budget.used_up().is_none() && budget.refuses("a", "bfv", "galois_keys", 4096).is_none());
        budget.learn("a", "bfv", "galois_keys", 4096, 8e6);
        assert!(budget.refuses("a", "bfv", "galois_keys", 4096).is_none());
        assert!(budget.refuses("a", "bfv", "galois_keys", 8192).is_some(), "8 · 8 s, three times");
        budget.learn("a", "bfv", "add", 4096, 1e6);
        assert_eq!(
            (0..40).filter(|_| budget.plan(1e6).is_ok()).count(),
            29,
            "2 s each of 60 are promised once"
        );
        budget.settle();
        assert!(budget.plan(1e6).is_ok());
        assert!(budget.refuses("b", "bfv", "galois_keys", 8192).is_none());
    }
}
