//! The error of an operand: a linear combination of rotated polynomials, and a bound on the rest.

use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

use super::runs::{Run, insert};

/// An evaluation key. The errors of different keys are independent.
///
/// Example: [`ErrorRules`](super::ErrorRules)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyUse {
    /// The Galois key of a rotation.
    Rotation(i32),
    /// The Galois key of the row swap.
    Rows,
    /// The relinearisation key.
    Relinearisation,
    /// A key that brings ciphertexts of another secret under the answer's, by its number.
    Transfer(u32),
}

/// A source of randomness. Different sources are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    /// The errors of fresh ciphertexts.
    Fresh,
    /// An evaluation key.
    Key(KeyUse),
    /// Divisions by a prime.
    Rescaling,
    /// The rounding of encodings: bounded, not random.
    Encoding,
}

/// The kind of a polynomial that an event adds to the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Random with one factor for all roots.
    Random,
    /// An evaluation key's errors times digits, with the bound of a digit at every root.
    Switched,
    /// Bounded coefficients of a message that repeats after this many slots.
    Rounding(u32),
}

/// An operation that adds errors, or one encryption of a vector. Events differ within a process.
///
/// Example: [`ErrorRules`](super::ErrorRules)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event(u64);

impl Event {
    /// Returns an event that differs from all others of this process.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Polynomials that one event adds. Those of different numbers are independent.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Term {
    pub(super) group: (Source, Event, Kind),
    pub(super) run: Run,
}

/// The error of a CKKS operand in units of its scaled message, by the random polynomials that caused it. The default is
/// no error.
///
/// Example: [`ErrorRules`](super::ErrorRules)
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Errors {
    /// Sorted by group, then by run.
    pub(super) terms: Vec<Term>,
    /// A bound on all other errors.
    pub(super) worst: f64,
    /// Evaluation keys used so far, sorted.
    pub(super) used: Vec<KeyUse>,
    /// Evaluation keys that the masks may depend on, sorted.
    pub(super) mixed: Vec<KeyUse>,
}

impl Errors {
    /// Adds an event's polynomials of these numbers, each of this size.
    pub(super) fn push(
        &mut self,
        group: (Source, Event, Kind),
        polynomials: Range<u32>,
        size: f64,
        row: u32,
    ) {
        let run = Run::new(polynomials, size);
        let added = Self { terms: vec![Term { group, run }], ..Self::default() };
        self.add(&added, row);
    }

    /// Adds the error of another operand.
    pub(super) fn add(&mut self, other: &Self, row: u32) {
        self.worst += other.worst;
        unite(&mut self.used, &other.used);
        unite(&mut self.mixed, &other.mixed);
        if other.terms.is_empty() {
            return;
        }
        let mut before = core::mem::take(&mut self.terms).into_iter().peekable();
        let mut all = Vec::with_capacity(before.len() + other.terms.len());
        for added in other.terms.chunk_by(|a, b| a.group == b.group) {
            let group = added[0].group;
            while let Some(term) = before.next_if(|term| term.group < group) {
                all.push(term);
            }
            let mut runs = Vec::with_capacity(added.len() + 1);
            while let Some(term) = before.next_if(|term| term.group == group) {
                runs.push(term.run);
            }
            if runs.is_empty() {
                all.extend_from_slice(added);
                continue;
            }
            added.iter().for_each(|term| insert(&mut runs, term.run.clone(), row));
            all.extend(runs.into_iter().map(|run| Term { group, run }));
        }
        all.extend(before);
        self.terms = all;
    }

    /// Subtracts the error of another operand.
    pub(super) fn subtract(&mut self, other: &Self, row: u32) {
        let mut negated = other.clone();
        negated.negate();
        self.add(&negated, row);
    }

    /// Negates the factors.
    pub(super) fn negate(&mut self) {
        self.terms
            .iter_mut()
            .filter(|term| term.run.even)
            .for_each(|term| term.run.factor = -term.run.factor);
    }

    /// Multiplies by one number in all slots.
    pub(super) fn scale(&mut self, factor: f64) {
        self.worst *= factor.abs();
        for Term { run, .. } in &mut self.terms {
            run.factor *= if run.even { factor } else { factor.abs() };
        }
    }

    /// Multiplies by numbers of at most this absolute value, which may differ between slots.
    pub(super) fn spread(&mut self, largest: f64) {
        self.worst *= largest;
        for Term { run, .. } in &mut self.terms {
            run.factor = run.factor.abs() * largest;
            run.even = false;
        }
    }

    /// Rotates the slots.
    pub(super) fn rotate(&mut self, by: i32, row: u32) {
        self.terms.iter_mut().for_each(|term| term.run = term.run.rotated(by, row));
        // Runs of one group keep their group, and may change their order.
        self.terms.sort_by_key(|term| (term.group, term.run.key()));
    }

    /// Replaces all terms by a bound on the whole error.
    pub(super) fn collapse(&mut self, bound: f64) {
        self.terms.clear();
        self.worst = bound;
    }

    /// Adds a key to those used so far.
    pub(super) fn uses(&mut self, key: KeyUse) {
        unite(&mut self.used, &[key]);
    }

    /// Notes that the masks may depend on every key used so far: after a product.
    pub(super) fn mix(&mut self) {
        unite(&mut self.mixed, &self.used);
    }
}

/// Adds keys to a sorted list.
fn unite(keys: &mut Vec<KeyUse>, more: &[KeyUse]) {
    for key in more {
        if let Err(place) = keys.binary_search(key) {
            keys.insert(place, *key);
        }
    }
}
