//! The quantities that a window holds once, and that are opened window by window.

use sotto_pack::{ANGLE_STEPS, Layout, Quantity};

use super::between::Between;
use super::distribution::Distribution;

/// A quantity of the readings of one window, which the owner opens window by window: its values do not add over windows, or
/// mean nothing without others that do not.
///
/// ```
/// use sotto_owner::WindowQuantity;
/// use sotto_pack::Quantity;
///
/// assert_eq!(WindowQuantity::Least.sent(2), Quantity::Least(2));
/// assert_eq!(WindowQuantity::Largest.words(), "the largest reading");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WindowQuantity {
    /// The smallest reading.
    Least,
    /// The largest reading.
    Largest,
    /// The first reading.
    First,
    /// The last reading.
    Last,
    /// The increase of a counter from the first reading to the last.
    Increase,
    /// What is in doubt about the increase: it may be larger by this.
    Doubt,
    /// The number of readings of a counter that are below the one before.
    Falls,
    /// The number of readings that differ from the one before.
    Changes,
    /// The sum of the cosines of angles.
    Cosine,
    /// The sum of their sines.
    Sine,
    /// The sum of the powers of the readings' whole numbers with this exponent, 1 to 4.
    Power(u8),
}

impl WindowQuantity {
    /// Returns the quantity that a device sends of a column.
    #[must_use]
    pub fn sent(self, column: u16) -> Quantity {
        match self {
            Self::Least => Quantity::Least(column),
            Self::Largest => Quantity::Largest(column),
            Self::First => Quantity::First(column),
            Self::Last => Quantity::Last(column),
            Self::Increase => Quantity::Increase(column),
            Self::Doubt => Quantity::Doubt(column),
            Self::Falls => Quantity::Falls(column),
            Self::Changes => Quantity::Changes(column),
            Self::Cosine => Quantity::Cosine(column),
            Self::Sine => Quantity::Sine(column),
            Self::Power(exponent) => Quantity::Power { column, exponent },
        }
    }

    /// Returns its name, after "sends".
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Least => "the smallest reading",
            Self::Largest => "the largest reading",
            Self::First => "the first reading",
            Self::Last => "the last reading",
            Self::Increase | Self::Doubt | Self::Falls => "the increase",
            Self::Changes => "the number of changes",
            Self::Cosine | Self::Sine => "the sum of directions",
            Self::Power(_) => "the sums of powers up to the fourth",
        }
    }

    /// Returns the value that a window sent, as a whole number, of readings that are off by at most `error`. Returns None if no
    /// readings of the declared range have it.
    pub(crate) fn of_sent(self, layout: &Layout, column: u16, sent: i128, error: f64) -> Option<Between> {
        let (least, most) = self.sent(column).range(layout).ok()?;
        let sent = Some(sent).filter(|sent| (least..=most).contains(sent))?;
        let quantiser = layout.quantiser(column)?;
        if let Self::Power(_) = self {
            return Some(Between::exactly(sent as f64));
        }
        let sent = i64::try_from(sent).ok()?;
        Some(match self {
            Self::Least | Self::Largest | Self::First | Self::Last => {
                Between::of_reading(quantiser, sent, error)
            }
            Self::Increase | Self::Doubt => Between::exactly(quantiser.sum(0, sent.into())),
            Self::Falls | Self::Changes => Between::exactly(sent as f64),
            Self::Cosine | Self::Sine | Self::Power(_) => Between::exactly(sent as f64 / ANGLE_STEPS as f64),
        })
    }

    /// Returns the value of quantised readings, each with its tick, in order, that are off by at most `error`; None if there are
    /// none.
    pub(crate) fn of_readings(
        self,
        layout: &Layout,
        column: u16,
        readings: &[(u32, i64)],
        error: f64,
    ) -> Option<Between> {
        let all = || readings.iter().map(|(_, reading)| *reading);
        let over = || layout.increase(column).map(|rule| rule.over(readings));
        let directions = |at: usize| all().map(|q| layout.cosine_and_sine(column, q)[at]).sum();
        let sent: i64 = match self {
            _ if readings.is_empty() => return None,
            Self::Power(exponent) => {
                let sum = Quantity::sum_of_powers(all(), exponent);
                return self.of_sent(layout, column, sum, error);
            }
            Self::Least => all().min()?,
            Self::Largest => all().max()?,
            Self::First => all().next()?,
            Self::Last => all().next_back()?,
            Self::Increase => over()?.increase,
            Self::Doubt => over()?.doubt,
            Self::Falls => over()?.falls,
            Self::Changes => readings.windows(2).filter(|pair| pair[0].1 != pair[1].1).count() as i64,
            Self::Cosine => directions(0),
            Self::Sine => directions(1),
        };
        self.of_sent(layout, column, sent.into(), error)
    }

    /// Returns true if [`WindowQuantity::of_distribution`] has its value.
    pub(crate) fn compares(self) -> bool {
        matches!(self, Self::Least | Self::Largest)
    }

    /// Returns the value of readings that were counted in bins. Returns None if there are none, or it does not follow from
    /// how readings compare.
    pub(crate) fn of_distribution(self, readings: &Distribution) -> Option<Between> {
        match self {
            Self::Least => readings.between(1),
            Self::Largest => readings.between(readings.count()),
            _ => None,
        }
    }
}
