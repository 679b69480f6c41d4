//! The period of a stream of sums.

use crate::error::WireError;
use crate::reader::Reader;

/// The time from one tick of a stream to the next: a fraction of a second, in lowest terms.
///
/// ```
/// use sotto_wire::TickPeriod;
///
/// // 44,100 readings a second.
/// let period = TickPeriod::new(10, 441_000)?;
/// assert_eq!((period.numerator(), period.denominator()), (1, 44_100));
/// assert_eq!(period.milliseconds(), None);
/// assert_eq!(TickPeriod::new(60, 1)?.milliseconds(), Some(60_000));
/// assert!(TickPeriod::new(0, 1).is_err());
/// # Ok::<(), sotto_wire::WireError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TickPeriod {
    numerator: u32,
    denominator: u32,
}

impl TickPeriod {
    /// Makes a period of `numerator / denominator` seconds.
    ///
    /// # Errors
    /// [`WireError::Value`] if one of them is 0.
    pub fn new(numerator: u32, denominator: u32) -> Result<Self, WireError> {
        if numerator == 0 || denominator == 0 {
            return Err(WireError::Value("the period of a stream is a fraction of a second above 0"));
        }
        let (mut common, mut rest) = (numerator, denominator);
        while rest != 0 {
            (common, rest) = (rest, common % rest);
        }
        Ok(Self { numerator: numerator / common, denominator: denominator / common })
    }

    /// Returns the numerator.
    #[must_use]
    pub fn numerator(&self) -> u32 {
        self.numerator
    }

    /// Returns the denominator.
    #[must_use]
    pub fn denominator(&self) -> u32 {
        self.denominator
    }

    /// Makes a period of whole milliseconds, at least 1.
    ///
    /// # Errors
    /// [`WireError::Value`] if it is 0.
    pub fn of_milliseconds(milliseconds: u32) -> Result<Self, WireError> {
        Self::new(milliseconds, 1000)
    }

    /// Returns the period in milliseconds. Returns None if it is not a whole number of them below 2^32.
    #[must_use]
    pub fn milliseconds(&self) -> Option<u32> {
        let thousandfold = u64::from(self.numerator) * 1000;
        let whole = thousandfold % u64::from(self.denominator) == 0;
        u32::try_from(thousandfold / u64::from(self.denominator)).ok().filter(|_| whole)
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let (numerator, denominator) = (reader.u32()?, reader.u32()?);
        let period = Self::new(numerator, denominator)?;
        if period.numerator == numerator {
            Ok(period)
        } else {
            Err(WireError::Value("the period of a stream is in lowest terms"))
        }
    }
}
