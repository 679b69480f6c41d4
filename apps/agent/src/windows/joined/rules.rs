//! The rules of the channels of a stream, in numbers.

use sotto_pack::{Between, Layout, Several};

use crate::spool::kept::KeptReading;
use crate::windows::several::{Fixed, FixedPoint, Readings};

/// Milliseconds that a reading holds at most, whatever its channel says: 366 days.
const LONGEST_HOLD: i64 = 366 * 86_400_000;

/// The rules of a channel.
#[derive(Clone, Debug)]
pub(super) struct ChannelRules {
    /// The name of the channel.
    pub(super) name: String,
    several: Several,
    between: Between,
    /// True if a reading changes what is sent about other ticks of its window, and none is filled.
    pub(super) is_counter: bool,
    /// The range of values, as they are given.
    range: (f64, f64),
    /// The same in fixed point, and the number of the value 0.
    least: Fixed,
    most: Fixed,
    zero: Fixed,
}

impl ChannelRules {
    /// Returns the rules of a stream's channels.
    pub(super) fn of(layout: &Layout, fixed: FixedPoint) -> Vec<Self> {
        let rules = |(at, channel): (u16, &sotto_pack::Channel)| {
            let number = |value: f64| layout.unrounded(at, value).map(|number| fixed.fixed(number));
            let (kind, number) = (channel.kind.rules(), |value| number(value).unwrap_or_default());
            Self {
                name: channel.name.clone(),
                several: kind.several(),
                between: kind.between(),
                is_counter: kind.is_joined() && kind.between() == Between::Nothing,
                range: (channel.minimum, channel.maximum),
                least: number(channel.minimum),
                most: number(channel.maximum),
                zero: number(0.0),
            }
        };
        (0..).zip(layout.channels()).map(rules).collect()
    }

    /// Returns true if ticks between readings are filled.
    pub(super) fn fills(&self) -> bool {
        self.between != Between::Nothing
    }

    /// Returns true if what fills a tick is the reading before it.
    pub(super) fn holds(&self) -> bool {
        matches!(self.between, Between::Held(_))
    }

    /// Returns true if a tick keeps the first of its readings alone.
    pub(super) fn refuses(&self) -> bool {
        self.several == Several::Refuse
    }

    /// Returns true if this value can be a reading.
    pub(super) fn takes(&self, value: f64) -> bool {
        (self.range.0..=self.range.1).contains(&value)
    }

    /// Returns the time up to which a reading fills the ticks after it, if no other comes.
    pub(super) fn holds_until(&self, at: i64) -> i64 {
        let most = match self.between {
            Between::Held(Some(hold)) => i64::try_from(hold).unwrap_or(LONGEST_HOLD).min(LONGEST_HOLD),
            Between::Held(None) | Between::Zero => LONGEST_HOLD,
            Between::Nothing => 0,
        };
        at.saturating_add(most)
    }

    /// Returns true if ticks from `at` on are filled by the reading `now`, and were by another one. Values do not matter but
    /// for those of one time: which windows come again does not follow from them.
    pub(super) fn holds_other(
        &self,
        at: i64,
        (now, was): (Option<KeptReading>, Option<KeptReading>),
    ) -> bool {
        let holds = |reading: KeptReading| at < self.holds_until(reading.at);
        match (now, was) {
            (None, None) => false,
            (Some(one), None) | (None, Some(one)) => holds(one),
            // Zeros are the same behind every reading.
            (Some(now), Some(was)) => self.holds() && now != was && (holds(now) || holds(was)),
        }
    }

    /// Returns what fills a tick after a reading of this number.
    pub(super) fn filled(&self, number: i64) -> Fixed {
        if self.holds() { Fixed(number) } else { self.zero }
    }

    /// Returns what a tick with several readings holds, each with the milliseconds after the tick's beginning; `None` if
    /// it is outside the range.
    pub(super) fn merged(&self, readings: impl Iterator<Item = (u32, i64)>) -> Option<Fixed> {
        let mut readings = readings.map(|(offset, number)| (offset, Fixed(number)));
        let first = readings.next()?;
        let mut rest = readings.peekable();
        if rest.peek().is_none() {
            return Some(first.1);
        }
        let mut all = Readings::of(first);
        rest.for_each(|reading| {
            all.add(reading);
        });
        let merged = all.merged(self.several, self.zero);
        (self.least..=self.most).contains(&merged).then_some(merged)
    }
}
