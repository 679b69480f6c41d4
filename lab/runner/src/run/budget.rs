//! The number of repetitions: as requested, fewer if the operation is slow or the run is late, none if the time is used
//! up.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::definition::Repetitions;

/// Microseconds from which keys are made only once: the keys of all rotations at n = 32768 would otherwise take half of
/// a run.
const LONG: f64 = 4e6;

/// One engine's plan for an operation, made after a first repetition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Schedule {
    pub(super) rounds: u32,
    /// Counted repetitions in each round.
    pub(super) repetitions: u32,
    /// Uncounted repetitions before them.
    pub(super) warm_up: u32,
    /// True if the first repetition counts, because few others follow.
    pub(super) first_counts: bool,
}

/// Returns the plan for an operation that took `first` microseconds, with `left` microseconds to spend. `pace` is
/// between 0 and 1: a late run skips nothing, but repeats everything less. A `large` operation of at least `LONG`, and
/// one that does not fit, runs once, and this run counts. A shorter `large` operation keeps its repetitions in a late
/// run: when a process first writes so much memory, a virtual machine's host may have to supply it, which can take
/// longer than the computation.
pub(super) fn plan(first: f64, large: bool, asked: &Repetitions, left: f64, pace: f64) -> Schedule {
    let estimate = first.max(0.1);
    let whole = asked.seconds * 1e6 * pace;
    let a_round = whole / f64::from(asked.rounds);
    let repetitions = (a_round / estimate).clamp(1.0, f64::from(asked.most)) as u32;
    let rounds = (whole / estimate).clamp(0.0, f64::from(asked.rounds)) as u32;
    let warm_up = if estimate * f64::from(asked.rounds) < whole { asked.warm_up } else { 0 };
    let plan = Schedule { rounds, repetitions, warm_up, first_counts: false };
    // The first repetition counts if each is expensive.
    let few = |counted: u32| Schedule { rounds: counted - 1, repetitions: 1, warm_up: 0, first_counts: true };
    // Expensive operations exceed their share of time even at the minimum, so that a small delay reduces them more: the
    // factor is cubed.
    let late = (f64::from(asked.least) * pace.powi(3)).max(1.0) as u32;
    let least = match (large, estimate >= LONG) {
        (true, true) => 1,
        (true, false) => asked.least,
        (false, _) => late,
    };
    let plan = if plan.counted() < least { few(least) } else { plan };
    if plan.cost(estimate) <= left {
        return plan;
    }
    (1..=least).rev().map(few).find(|plan| plan.cost(estimate) <= left).unwrap_or_else(|| few(1))
}

impl Schedule {
    fn counted(&self) -> u32 {
        self.rounds * self.repetitions + u32::from(self.first_counts)
    }

    /// Returns the microseconds of the remaining repetitions.
    fn cost(&self, estimate: f64) -> f64 {
        f64::from(self.rounds * (self.repetitions + self.warm_up)) * estimate
    }
}

/// The time of a definition, and the known durations of operations.
pub(super) struct Budget {
    begun: Instant,
    asked: Repetitions,
    /// Time that earlier definitions left over, in addition to this one's minutes.
    spare: Duration,
    /// The definition's work ([`crate::Selection::weight`]), and the part that is done.
    work: (u64, u64),
    /// The time left for the remaining work, divided by the time planned for it when the run began; at most 1. Equal
    /// for all engines until more work is done.
    pace: f64,
    /// For an engine, scheme and operation: n, and the microseconds at that n.
    known: BTreeMap<(String, String, String), (usize, f64)>,
    /// Microseconds of the planned work that is not done yet.
    promised: f64,
}

impl Budget {
    /// Starts the budget for `work` units of work.
    pub(super) fn new(asked: Repetitions, spare: Duration, work: u64) -> Self {
        Self {
            begun: Instant::now(),
            asked,
            spare,
            work: (work, 0),
            pace: 1.0,
            known: BTreeMap::new(),
            promised: 0.0,
        }
    }

    /// Plans an operation that took `first` microseconds, in the time that earlier plans leave.
    pub(super) fn plan(&mut self, first: f64, large: bool) -> Schedule {
        let plan = plan(first, large, &self.asked, self.left() - self.promised, self.pace);
        self.promised += plan.cost(first.max(0.1));
        plan
    }

    /// Plans an operation that one engine does alone.
    pub(super) fn plan_alone(&self, first: f64) -> Schedule {
        plan(first, false, &self.asked, self.left(), self.pace)
    }

    /// Marks all planned work as done.
    pub(super) fn kept(&mut self) {
        self.promised = 0.0;
    }

    /// Adds finished work and updates the pace.
    pub(super) fn done(&mut self, work: u64) {
        self.work.1 += work;
        let (whole, done) = self.work;
        let left = whole.saturating_sub(done).max(1) as f64 / whole.max(1) as f64;
        self.pace = (self.left() / (self.asked.minutes * 60e6 * left)).clamp(0.0, 1.0);
    }

    pub(super) fn asked(&self) -> &Repetitions {
        &self.asked
    }

    /// Returns the microseconds that are left.
    pub(super) fn left(&self) -> f64 {
        (self.asked.minutes * 60.0 + self.spare.as_secs_f64() - self.begun.elapsed().as_secs_f64()) * 1e6
    }

    /// Returns the time that is left for later definitions.
    pub(super) fn unused(&self) -> Duration {
        Duration::from_secs_f64((self.left() / 1e6).max(0.0))
    }

    /// Returns the reason why nothing more is started. None if there is time.
    pub(super) fn used_up(&self) -> Option<String> {
        (self.left() <= 0.0).then(|| format!("was left out: {} are used up", self.minutes()))
    }

    fn minutes(&self) -> String {
        let others = self.spare.as_secs() / 60;
        let minutes = self.asked.minutes;
        match others {
            0 => format!("the definition's {minutes} minutes"),
            others => format!("the definition's {minutes} minutes and {others} of the ones before"),
        }
    }

    /// Records the duration of an operation at one n.
    pub(super) fn learn(&mut self, engine: &str, scheme: &str, operation: &str, n: usize, us: f64) {
        self.known.insert((engine.to_owned(), scheme.to_owned(), operation.to_owned()), (n, us));
    }

    /// Returns the reason why not even one repetition would fit, judged from another n. None if it may fit.
    pub(super) fn refuses(&self, engine: &str, scheme: &str, operation: &str, n: usize) -> Option<String> {
        let known = self.known.get(&(engine.to_owned(), scheme.to_owned(), operation.to_owned()));
        let expected = known.map_or(0.0, |(before, us)| grown(*us, *before, n));
        let left = self.left().max(0.0);
        (expected > left).then(|| {
            format!(
                "was left out: one repetition, of some {:.1} s, is more than the {:.0} s that are left of {}",
                expected / 1e6,
                left / 1e6,
                self.minutes()
            )
        })
    }
}

/// Extrapolates a duration: keys grow with n and with the numbers of primes and digits, which also grow with n.
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
        let plan = plan(10.0, false, &ASKED, AMPLE, 1.0);
        assert_eq!(plan, Schedule { rounds: 5, repetitions: 20, warm_up: 1, first_counts: false });
    }

    #[test]
    fn what_is_slow_is_done_less_often_and_never_less_than_the_least() {
        for first in [1.0, 1e3, 4e4, 1e5, 2e5, 4e5, 1e6, 3.9e6] {
            for (pace, least) in [(1.0, 3), (0.9, 2), (0.5, 1), (0.0, 1)] {
                let plan = plan(first, false, &ASKED, AMPLE, pace);
                assert!(plan.counted() >= least, "{first}: {plan:?}");
                let useful = plan.cost(first) <= 2.0 * pace * ASKED.seconds * 1e6 || plan.counted() == least;
                assert!(useful, "{first}: {plan:?}");
            }
        }
        let slow = plan(1e6, false, &ASKED, AMPLE, 1.0);
        assert_eq!(slow, Schedule { rounds: 2, repetitions: 1, warm_up: 0, first_counts: true });
        let once = plan(1e6, false, &Repetitions { least: 1, ..ASKED }, AMPLE, 1.0);
        assert_eq!((once.rounds, once.counted()), (0, 1), "a quick run is content with the first time");
        let long = |large| plan(LONG, large, &ASKED, AMPLE, 1.0).counted();
        assert_eq!([long(true), long(false)], [1, 3], "keys that take seconds are made once");
        let late = |large| plan(LONG - 1.0, large, &ASKED, AMPLE, 0.5).counted();
        assert_eq!([late(true), late(false)], [3, 1], "the first time of other keys does not decide");
    }

    #[test]
    fn what_does_not_fit_is_done_as_often_as_it_does() {
        let counted = |left| plan(1e5, false, &ASKED, left, 1.0).counted();
        assert_eq!([5e5, 3e5, 1.5e5, 0.0].map(counted), [5, 3, 2, 1]);
    }

    #[test]
    fn nothing_is_begun_that_would_pass_the_time() {
        let short = || Budget::new(Repetitions { minutes: 1.0, ..ASKED }, Duration::ZERO, 100);
        let mut budget = short();
        assert!(budget.used_up().is_none() && budget.refuses("a", "bfv", "galois_keys", 4096).is_none());
        budget.learn("a", "bfv", "galois_keys", 4096, 8e6);
        assert!(budget.refuses("a", "bfv", "galois_keys", 4096).is_none());
        let refusal = budget.refuses("a", "bfv", "galois_keys", 8192).unwrap();
        assert!(
            refusal.contains("of some 64.0 s") && refusal.ends_with("the definition's 1 minutes"),
            "{refusal}"
        );
        assert!(budget.refuses("b", "bfv", "galois_keys", 8192).is_none());
        let more = (0..40).filter(|_| budget.plan(1e6, false).counted() == 3).count();
        assert_eq!(more, 29, "2 s each of 60 are promised once");
        budget.kept();
        assert_eq!(budget.plan(1e6, false).counted(), 3);
        let mut spent = short();
        spent.begun = Instant::now().checked_sub(Duration::from_secs(61)).unwrap();
        assert!(spent.used_up().is_some() && spent.unused().is_zero());
    }

    #[test]
    fn what_others_leave_is_used_and_a_late_run_slows_nothing_down_but_repeats_less() {
        let asked = Repetitions { minutes: 1.0, ..ASKED };
        let mut budget = Budget::new(asked, Duration::from_secs(600), 100);
        budget.learn("a", "bfv", "galois_keys", 4096, 8e6);
        assert!(budget.refuses("a", "bfv", "galois_keys", 8192).is_none());
        assert!(budget.unused() > Duration::from_secs(650) && budget.pace == 1.0);
        budget.done(99);
        assert!(budget.pace == 1.0);
        let mut late = Budget::new(asked, Duration::ZERO, 100);
        late.begun = Instant::now().checked_sub(Duration::from_secs(45)).unwrap();
        late.done(0);
        assert!((0.2..0.26).contains(&late.pace), "{}", late.pace);
        assert!(late.plan(1e4, false).counted() < plan(1e4, false, &ASKED, AMPLE, 1.0).counted());
        late.done(75);
        assert!(late.pace > 0.9, "{}", late.pace);
    }

    #[test]
    fn a_late_run_leaves_nothing_out_that_fits_once() {
        let mut budget = Budget::new(Repetitions { minutes: 1.0, ..ASKED }, Duration::ZERO, 50);
        let mut spent = 0.0;
        for _ in 0..50 {
            assert!(budget.used_up().is_none());
            let plan = budget.plan(1e6, false);
            spent += 1.0 + plan.cost(1e6) / 1e6;
            budget.kept();
            budget.begun = Instant::now().checked_sub(Duration::from_secs_f64(spent)).unwrap();
            budget.done(1);
        }
    }
}
