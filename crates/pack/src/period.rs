//! The time from one tick of a stream to the next.

use core::cmp::Ordering;

use serde::{Deserialize, Serialize};

/// The time from one tick of a stream to the next: a fraction of milliseconds in lowest terms, at least 1 ms.
///
/// Times are whole milliseconds. Tick `k` after an anchor begins at the millisecond in which its exact time lies. After a
/// *cycle* of [`Period::cycle_ticks`] ticks the exact time is a whole number of milliseconds again: windows begin there only,
/// so that the times of their ticks follow from their start.
///
/// In JSON a period is a number of milliseconds, or two numbers, `[50, 3]`.
///
/// ```
/// use sotto_pack::{Period, PeriodError};
///
/// let period = Period::of_seconds(1, 60).unwrap();
/// assert_eq!((period.cycle(), period.cycle_ticks()), (50, 3));
/// assert_eq!([0, 1, 2, 3].map(|tick| period.at(1000, tick)), [1000, 1016, 1033, 1050]);
/// assert_eq!([0, 15, 16, 32, 33, -1].map(|time| period.tick_at(time)), [0, 0, 1, 1, 2, -1]);
/// assert_eq!(period.milliseconds(), None);
/// assert_eq!(Period::of_seconds(1, 50), Ok(Period::from_milliseconds(20)));
/// assert_eq!(Period::of_seconds(1, 44_100), Err(PeriodError::Short));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Period {
    /// Milliseconds of a cycle.
    cycle: u32,
    /// Ticks of a cycle, at most as many as its milliseconds.
    ticks: u32,
}

/// A period in JSON.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Whole(u32),
    Fraction([u32; 2]),
}

/// The reason why a period is refused.
///
/// Example: [`Period`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PeriodError {
    /// The period is below 1 ms.
    #[error("a period is at least 1 ms, as times are in milliseconds")]
    Short,
    /// The cycle has 2^32 milliseconds or more.
    #[error("a period is below 2^32 ms")]
    Long,
    /// The cycle has more ticks than a window.
    #[error("a period is a fraction of milliseconds with a denominator of at most {}", u16::MAX)]
    Fine,
    /// The fraction in JSON has a common factor.
    #[error("a period is in lowest terms")]
    Terms,
}

impl Period {
    /// The period with the most digits.
    pub(crate) const LONGEST: Self = Self { cycle: u32::MAX, ticks: u16::MAX as u32 - 1 };

    /// Makes a period of `numerator / denominator` milliseconds.
    ///
    /// # Errors
    /// [`PeriodError`] if it is below 1 ms, its denominator in lowest terms is above 65,535, or its numerator is 2^32 or above.
    pub fn new(numerator: u128, denominator: u128) -> Result<Self, PeriodError> {
        if denominator == 0 {
            return Err(PeriodError::Long);
        }
        if numerator < denominator {
            return Err(PeriodError::Short);
        }
        let common = common_factor(numerator, denominator);
        let ticks = u16::try_from(denominator / common).map_err(|_| PeriodError::Fine)?;
        let cycle = u32::try_from(numerator / common).map_err(|_| PeriodError::Long)?;
        Ok(Self { cycle, ticks: ticks.into() })
    }

    /// Makes a period of `numerator / denominator` seconds.
    ///
    /// # Errors
    /// Those of [`Period::new`].
    pub fn of_seconds(numerator: u32, denominator: u32) -> Result<Self, PeriodError> {
        Self::new(1000 * u128::from(numerator), denominator.into())
    }

    /// Makes a period of whole milliseconds; of 1 ms in place of 0.
    #[must_use]
    pub const fn from_milliseconds(milliseconds: u32) -> Self {
        Self { cycle: if milliseconds == 0 { 1 } else { milliseconds }, ticks: 1 }
    }

    /// Returns the period in milliseconds. Returns None if it is not a whole number of them.
    #[must_use]
    pub fn milliseconds(&self) -> Option<u32> {
        (self.ticks == 1).then_some(self.cycle)
    }

    /// Returns numerator and denominator of the period in seconds, in lowest terms.
    #[must_use]
    pub fn seconds(&self) -> (u32, u32) {
        // The cycle and its ticks have no common factor; at most 65,535 ticks.
        let common = common_factor(self.cycle.into(), 1000) as u32;
        (self.cycle / common, self.ticks * (1000 / common))
    }

    /// Returns the milliseconds of a cycle: the numerator.
    #[must_use]
    pub fn cycle(&self) -> i64 {
        self.cycle.into()
    }

    /// Returns the ticks of a cycle: the denominator; 1 for whole milliseconds.
    #[must_use]
    pub fn cycle_ticks(&self) -> u32 {
        self.ticks
    }

    /// Returns the milliseconds from an anchor to the beginning of a tick.
    #[must_use]
    pub fn after(&self, tick: i64) -> i64 {
        // In 64 bits a division takes a tenth of the time, and of whole milliseconds there is none.
        if let Some(cycles) = tick.checked_mul(self.cycle.into()) {
            return if self.ticks == 1 { cycles } else { cycles.div_euclid(self.ticks.into()) };
        }
        let time = (i128::from(tick) * i128::from(self.cycle)).div_euclid(self.ticks.into());
        time.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    /// Returns the beginning of a tick after an anchor.
    #[must_use]
    pub fn at(&self, anchor: i64, tick: impl Into<i64>) -> i64 {
        anchor.saturating_add(self.after(tick.into()))
    }

    /// Returns the tick in which a time lies, in milliseconds after an anchor.
    #[must_use]
    pub fn tick_at(&self, time: i64) -> i64 {
        // The last tick k with floor(k · cycle / ticks) <= time.
        let ticks = time.checked_add(1).and_then(|time| time.checked_mul(self.ticks.into()));
        if let Some(before) = ticks.and_then(|ticks| ticks.checked_sub(1)) {
            return before.div_euclid(self.cycle.into());
        }
        let before = (i128::from(time) + 1) * i128::from(self.ticks) - 1;
        before.div_euclid(self.cycle.into()).clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    /// Returns the number of ticks that begin in a time after an anchor, in milliseconds: none in a negative one.
    #[must_use]
    pub fn ticks_in(&self, time: i64) -> u64 {
        if time <= 0 { 0 } else { self.tick_at(time - 1).unsigned_abs() + 1 }
    }

    /// Returns the number of ticks from one tick to another, each given by an anchor and its number behind it. Returns None if
    /// the anchors are not a whole number of cycles apart.
    #[must_use]
    pub fn ticks_apart(&self, (anchor, tick): (i64, u32), (other_anchor, other): (i64, u32)) -> Option<i64> {
        let apart = other_anchor.checked_sub(anchor).filter(|apart| apart % self.cycle() == 0)?;
        let cycles = (apart / self.cycle()).saturating_mul(self.ticks.into());
        Some(cycles.saturating_add(i64::from(other) - i64::from(tick)))
    }

    /// Returns the number of whole cycles' ticks that is nearest below `ticks`.
    #[must_use]
    pub fn whole_cycles(&self, ticks: u32) -> u32 {
        ticks - ticks % self.ticks
    }

    /// Returns the number of ticks nearest to a time in milliseconds; a half counts as a whole.
    #[must_use]
    pub fn nearest_ticks(&self, time: u64) -> u64 {
        let (ticks, cycle) = (u128::from(self.ticks), u128::from(self.cycle));
        let nearest = (2 * u128::from(time) * ticks + cycle) / (2 * cycle);
        u64::try_from(nearest).unwrap_or(u64::MAX)
    }

    /// Returns the largest number of milliseconds from one tick to the next.
    #[must_use]
    pub fn ceil(&self) -> u32 {
        self.cycle.div_ceil(self.ticks)
    }

    /// Returns the milliseconds of a number of ticks.
    #[must_use]
    pub fn milliseconds_of(&self, ticks: u64) -> f64 {
        ticks as f64 * f64::from(self.cycle) / f64::from(self.ticks)
    }

    /// Returns the hours from one tick to the next.
    #[must_use]
    pub fn hours(&self) -> f64 {
        self.milliseconds_of(1) / 3_600_000.0
    }
}

impl Ord for Period {
    fn cmp(&self, other: &Self) -> Ordering {
        let product = |of: &Self, by: &Self| u64::from(of.cycle) * u64::from(by.ticks);
        product(self, other).cmp(&product(other, self))
    }
}

impl PartialOrd for Period {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl TryFrom<Written> for Period {
    type Error = PeriodError;

    fn try_from(written: Written) -> Result<Self, PeriodError> {
        let [numerator, denominator] = match written {
            Written::Whole(milliseconds) => [milliseconds, 1],
            Written::Fraction(terms) => terms,
        };
        let period = Self::new(numerator.into(), denominator.into())?;
        let is_lowest = (period.cycle, period.ticks) == (numerator, denominator);
        is_lowest.then_some(period).ok_or(PeriodError::Terms)
    }
}

impl From<Period> for Written {
    fn from(period: Period) -> Self {
        period.milliseconds().map_or(Self::Fraction([period.cycle, period.ticks]), Self::Whole)
    }
}

fn common_factor(a: u128, b: u128) -> u128 {
    let (mut common, mut rest) = (a, b);
    while rest != 0 {
        (common, rest) = (rest, common % rest);
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn periods() -> impl Strategy<Value = Period> {
        let any = (1..=u128::from(u32::MAX), 1..=u128::from(u16::MAX));
        let usual = (1_u128..100_000, 1_u128..1000);
        prop_oneof![any, usual].prop_filter_map("a period", |(cycle, ticks)| Period::new(cycle, ticks).ok())
    }

    proptest! {
        #[test]
        fn a_time_lies_in_its_tick(period in periods(), time in -(1_i64 << 50)..1 << 50) {
            let tick = period.tick_at(time);
            prop_assert!((period.after(tick)..period.after(tick + 1)).contains(&time));
            // Ticks of a cycle later are those of now.
            let later = period.tick_at(time + period.cycle());
            prop_assert_eq!(later, tick + i64::from(period.cycle_ticks()));
            prop_assert_eq!(period.after(later), period.after(tick) + period.cycle());
            prop_assert_eq!(period.tick_at(period.after(tick)), tick);
            prop_assert!(period.after(tick + 1) - period.after(tick) <= i64::from(period.ceil()));
            // Ticks that begin before a time.
            let within = (0..time.clamp(0, 200)).filter(|at| period.after(period.tick_at(*at)) == *at).count();
            prop_assert_eq!(period.ticks_in(time.clamp(0, 200)), within as u64);
        }

        #[test]
        fn periods_are_read_as_written(period in periods()) {
            let (numerator, denominator) = period.seconds();
            prop_assert_eq!(Period::of_seconds(numerator, denominator), Ok(period));
            prop_assert_eq!(common_factor(numerator.into(), denominator.into()), 1);
            let json = serde_json::to_string(&period).unwrap();
            prop_assert_eq!(serde_json::from_str::<Period>(&json).unwrap(), period);
            prop_assert_eq!(json.parse::<u32>().ok(), period.milliseconds());
        }

        #[test]
        fn whole_milliseconds_divide_as_numbers(milliseconds in 1_u32.., time in 0..1_i64 << 50) {
            let (period, of) = (Period::from_milliseconds(milliseconds), i64::from(milliseconds));
            prop_assert_eq!(period.tick_at(time), time / of);
            prop_assert_eq!(period.ticks_in(time), time.unsigned_abs().div_ceil(milliseconds.into()));
            let half = u64::from(milliseconds / 2);
            prop_assert_eq!(period.nearest_ticks(time as u64), (time as u64 + half) / u64::from(milliseconds));
        }

        #[test]
        fn no_time_is_too_far(period in periods(), time in prop_oneof![any::<i64>(), -3_i64..3, (i64::MAX / 2 - 3)..i64::MAX / 2 + 3]) {
            let (cycle, ticks) = (i128::from(period.cycle), i128::from(period.ticks));
            let bounded = |time: i128| time.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
            for time in [time, -time.max(-i64::MAX), i64::MIN, i64::MAX] {
                let exact = i128::from(time);
                prop_assert_eq!(period.after(time), bounded((exact * cycle).div_euclid(ticks)));
                prop_assert_eq!(period.tick_at(time), bounded(((exact + 1) * ticks - 1).div_euclid(cycle)));
            }
        }

        #[test]
        fn periods_are_in_order_of_their_length(a in periods(), b in periods()) {
            let exact = u128::from(a.cycle) * u128::from(b.ticks);
            prop_assert_eq!(a.cmp(&b), exact.cmp(&(u128::from(b.cycle) * u128::from(a.ticks))));
        }
    }

    #[test]
    fn times_beyond_the_calendar_do_not_overflow() {
        let period = Period::new(50, 3).unwrap();
        assert_eq!(period.at(i64::MAX, 1), i64::MAX);
        assert_eq!(period.after(i64::MAX), i64::MAX);
        assert_eq!(period.tick_at(i64::MIN), (i128::from(i64::MIN) * 3 / 50 - 1) as i64);
    }
}
