//! One row of readings.

use sotto_pack::Reason;
use zeroize::Zeroizing;

/// One reading of each channel, taken at the same time. Wiped when dropped.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Milliseconds since 1970.
    pub at: i64,
    /// The values; `None` if missing.
    pub values: Zeroizing<Vec<Option<f64>>>,
    /// The reason why each value is missing: [`Reason::Empty`], [`Reason::NotANumber`] or [`Reason::Text`]; `None` if
    /// present, or if the row is not about the channel: then nothing is missing.
    pub missing: Vec<Option<Reason>>,
}

impl Row {
    /// Creates a row. `None` counts as empty; NaN and infinities become missing, as [`Reason::NotANumber`].
    #[must_use]
    pub fn new(at: i64, values: Vec<Option<f64>>) -> Self {
        let mut values = Zeroizing::new(values);
        let reason = |value: &mut Option<f64>| match value {
            None => Some(Reason::Empty),
            Some(number) if number.is_finite() => None,
            Some(_) => {
                *value = None;
                Some(Reason::NotANumber)
            }
        };
        let missing = values.iter_mut().map(reason).collect();
        Self { at, values, missing }
    }
}
