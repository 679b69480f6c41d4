//! Rotations of polynomials, as arithmetic progressions.

use core::ops::Range;

/// Equal multiples of some polynomials at the rotations `offset`, `offset + stride`, …, modulo the row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Run {
    /// The polynomials' numbers.
    pub(super) polynomials: Range<u32>,
    pub(super) offset: u32,
    /// 0 for a single rotation, a power of two for all rotations of a residue class.
    pub(super) stride: u32,
    pub(super) count: u32,
    /// A bound on the absolute value of the factors, times the polynomial's size. The factor itself, with its sign, if
    /// the run is even.
    pub(super) factor: f64,
    /// True if all slots and all rotations have this factor.
    pub(super) even: bool,
}

impl Run {
    /// Polynomials without rotation.
    pub(super) fn new(polynomials: Range<u32>, factor: f64) -> Self {
        Self { polynomials, offset: 0, stride: 0, count: 1, factor, even: true }
    }

    fn with_places(&self, offset: u32, stride: u32, count: u32, row: u32) -> Self {
        let run = self.clone();
        if count == 1 {
            return Self { offset, stride: 0, count, ..run };
        }
        let divisor = divisor(stride, row);
        if count == row / divisor {
            return Self { offset: offset % divisor, stride: divisor, count, ..run };
        }
        Self { offset, stride: stride % row, count, ..run }
    }

    /// The order within a sum.
    pub(super) fn key(&self) -> (u32, u32, u32, u32, u32) {
        (self.polynomials.start, self.polynomials.end, self.offset, self.stride, self.count)
    }

    /// True for all rotations of a residue class.
    pub(super) fn is_cycle(&self, row: u32) -> bool {
        self.count > 1 && self.count == row / divisor(self.stride, row) || row == 1
    }

    pub(super) fn rotated(&self, by: i32, row: u32) -> Self {
        let offset = (i64::from(self.offset) + i64::from(by)).rem_euclid(i64::from(row)) as u32;
        self.with_places(offset, self.stride, self.count, row)
    }

    /// Returns the run with factors of the same absolute value that may differ.
    pub(super) fn turned(self) -> Self {
        Self { factor: self.factor.abs(), even: false, ..self }
    }

    fn places(&self, row: u32) -> impl Iterator<Item = u32> {
        let (offset, stride) = (u64::from(self.offset), u64::from(self.stride));
        (0..u64::from(self.count)).map(move |step| ((offset + step * stride) % u64::from(row)) as u32)
    }

    /// Returns the number of strides from a run's offset to a place; None if no number of strides leads there.
    fn steps_to(&self, place: u32, row: u32) -> Option<u32> {
        let distance = (place + row - self.offset) % row;
        if self.stride == 0 {
            return (distance == 0).then_some(0);
        }
        let divisor = divisor(self.stride, row);
        let around = row / divisor;
        distance
            .is_multiple_of(divisor)
            .then(|| (distance / divisor).wrapping_mul(inverse(self.stride / divisor)) & (around - 1))
    }

    /// Returns both as one run, if they have one factor and make up one progression.
    pub(super) fn joined(&self, other: &Self, row: u32) -> Option<Self> {
        if self.even != other.even || self.factor.to_bits() != other.factor.to_bits() {
            return None;
        }
        if self.polynomials == other.polynomials {
            return self.followed_by(other, row).or_else(|| other.followed_by(self, row));
        }
        let places = |run: &Self| (run.offset, run.stride, run.count);
        let [a, b] = [&self.polynomials, &other.polynomials];
        let polynomials = match (a.end == b.start, b.end == a.start) {
            (true, _) => a.start..b.end,
            (_, true) => b.start..a.end,
            _ => return None,
        };
        (places(self) == places(other)).then(|| Self { polynomials, ..self.clone() })
    }

    /// Returns the run that begins with this one and contains `next`.
    fn followed_by(&self, next: &Self, row: u32) -> Option<Self> {
        let distance = (next.offset + row - self.offset) % row;
        if distance == 0 {
            return None;
        }
        let stride = match (self.count, next.count) {
            (1, 1) => distance,
            (1, _) => next.stride,
            _ => self.stride,
        };
        if self.count > 1 && next.count > 1 && self.stride != next.stride {
            return None;
        }
        let around = row / divisor(stride, row);
        let all = self.count + next.count;
        let stepping = Self { stride, ..self.clone() };
        if all <= around && stepping.steps_to(next.offset, row) == Some(self.count) {
            return Some(self.with_places(self.offset, stride, all, row));
        }
        // Of two alternating runs the second begins half a stride later; of two cycles it may begin anywhere between.
        let half = stride / 2;
        let alternate = self.count == next.count && self.count > 1 && stride % 2 == 0;
        let late = if self.is_cycle(row) { distance % stride } else { distance };
        (alternate && late == half).then(|| self.with_places(self.offset, half, all, row))
    }

    /// True if no polynomial has a rotation in both; false if that is not known.
    pub(super) fn is_apart(&self, other: &Self, row: u32) -> bool {
        let polynomials = self.polynomials.start.max(other.polynomials.start)
            < self.polynomials.end.min(other.polynomials.end);
        if !polynomials {
            return true;
        }
        let (fine, coarse) = match (self.stride, other.stride) {
            (0, _) => (other, self),
            (_, 0) => (self, other),
            (a, b) if a <= b => (self, other),
            _ => (other, self),
        };
        if coarse.stride == 0 {
            return fine.steps_to(coarse.offset, row).is_none_or(|steps| steps >= fine.count);
        }
        let [fine_divisor, coarse_divisor] = [fine.stride, coarse.stride].map(|stride| divisor(stride, row));
        let common = fine_divisor.min(coarse_divisor);
        if fine.offset % common != coarse.offset % common {
            return true;
        }
        // The coarse run as a stretch of the fine one's progression.
        let around = u64::from(row / fine_divisor);
        let Some(start) = fine.steps_to(coarse.offset, row).map(u64::from) else { return false };
        if coarse.stride % fine.stride != 0 {
            return false;
        }
        let reach = u64::from(coarse.count - 1) * u64::from(coarse.stride / fine.stride);
        start >= u64::from(fine.count) && start + reach < around
    }

    /// Returns the run with its rotations taken modulo `ring`, a divisor of the row: those that coincide add up.
    pub(super) fn folded(&self, ring: u32) -> impl Iterator<Item = Self> {
        let (offset, stride) = (self.offset % ring, self.stride % ring);
        let around = ring / divisor(stride, ring);
        let (turns, rest) = (self.count / around, self.count % around);
        let whole = (turns > 0).then(|| Self {
            factor: self.factor * f64::from(turns),
            ..self.with_places(offset, stride, around, ring)
        });
        let rest = (rest > 0).then(|| self.with_places(offset, stride, rest, ring));
        whole.into_iter().chain(rest)
    }
}

/// Returns the largest common divisor of a stride and the row, a power of two.
fn divisor(stride: u32, row: u32) -> u32 {
    if stride == 0 { row } else { row.min(1 << stride.trailing_zeros()) }
}

/// Returns the inverse of an odd number modulo 2^32, by Newton's iteration.
fn inverse(odd: u32) -> u32 {
    let once = |x: u32, _| x.wrapping_mul(2_u32.wrapping_sub(odd.wrapping_mul(x)));
    (0..5).fold(odd, once)
}

/// Most rotations that are listed one by one.
const LISTED: u64 = 1 << 14;
/// More runs are not compared pair by pair.
const COMPARED: usize = 64;

/// The size of a sum of rotations of one polynomial.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Extent {
    /// √(Σ factor²) over the rotations.
    pub(super) root: f64,
    /// The largest factor.
    pub(super) largest: f64,
}

/// Returns a bound on the size of a sum of runs of one polynomial. Exact if no two meet, or if they are short.
pub(super) fn extent(runs: &[&Run], row: u32) -> Extent {
    let of = |runs: &[&Run]| {
        let squares: f64 = runs.iter().map(|run| f64::from(run.count) * run.factor * run.factor).sum();
        let largest = runs.iter().map(|run| run.factor.abs()).fold(0.0, f64::max);
        Extent { root: squares.sqrt(), largest }
    };
    let few = runs.len() <= COMPARED;
    let apart = |i: usize| runs[..i].iter().all(|other| runs[i].is_apart(other, row));
    if few && (1..runs.len()).all(apart) {
        return of(runs);
    }
    if runs.iter().map(|run| u64::from(run.count)).sum::<u64>() <= LISTED {
        return listed(runs, row);
    }
    // Runs that may meet add up; of groups without meeting, only the groups do.
    let mut groups: Vec<Vec<&Run>> = Vec::new();
    for run in runs {
        let fits = |group: &&mut Vec<&Run>| group.iter().all(|other| run.is_apart(other, row));
        match groups.iter_mut().take(COMPARED).find(fits) {
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
    }
    let sum = |sum: Extent, group: &Vec<&Run>| {
        let Extent { root, largest } = of(group);
        Extent { root: sum.root + root, largest: sum.largest + largest }
    };
    groups.iter().fold(Extent::default(), sum)
}

/// Adds up the factors of every rotation.
fn listed(runs: &[&Run], row: u32) -> Extent {
    let factors = |run: &Run| if run.even { (run.factor, 0.0) } else { (0.0, run.factor.abs()) };
    let mut all: Vec<(u32, (f64, f64))> =
        runs.iter().flat_map(|run| run.places(row).map(|place| (place, factors(run)))).collect();
    all.sort_unstable_by_key(|(place, _)| *place);
    let (mut squares, mut largest) = (0.0, 0.0_f64);
    for same in all.chunk_by(|a, b| a.0 == b.0) {
        let (even, uneven) = same.iter().fold((0.0, 0.0), |sum, (_, (a, b))| (sum.0 + a, sum.1 + b));
        let factor = f64::abs(even) + uneven;
        squares += factor * factor;
        largest = largest.max(factor);
    }
    Extent { root: f64::sqrt(squares), largest }
}

/// Adds a run to a sorted list of runs: joins it to its neighbours, adds its factor to that of equal rotations.
pub(super) fn insert(runs: &mut Vec<Run>, mut run: Run, row: u32) {
    loop {
        let place = match runs.binary_search_by_key(&run.key(), Run::key) {
            Ok(same) => {
                let other = runs.remove(same);
                run = if run.even && other.even {
                    Run { factor: run.factor + other.factor, ..run }
                } else {
                    Run { factor: run.factor.abs() + other.factor.abs(), even: false, ..run }
                };
                continue;
            }
            Err(place) => place,
        };
        let joined = |(at, other): (usize, &Run)| Some((at, run.joined(other, row)?));
        let found = if runs.len() <= COMPARED { runs.iter().enumerate().find_map(joined) } else { None };
        match found {
            Some((at, joined)) => {
                runs.remove(at);
                run = joined;
            }
            None => {
                if run.factor != 0.0 {
                    runs.insert(place, run);
                }
                return;
            }
        }
    }
}
