//! Columns of a stream of sums, and its period.

use alloc::string::String;
use alloc::vec::Vec;

use super::codec::write_text;
use crate::error::WireError;
use crate::reader::Reader;

/// A column of readings: a reading is `origin + step · q` with a whole number q from `least` to `most`.
///
/// Example: [`SumsHeader`](crate::SumsHeader)
#[derive(Clone, Debug, PartialEq)]
pub struct SumsColumn {
    /// The name, at most 255 bytes, unique in its stream.
    pub name: String,
    /// The unit of the readings, at most 255 bytes.
    pub unit: String,
    /// The reading that q = 0 stands for.
    pub origin: f64,
    /// The difference of two readings whose q differ by 1. Above 0.
    pub step: f64,
    /// The least q, at most 0.
    pub least: i64,
    /// The largest q, at least 0; `most − least` is below 2^60.
    pub most: i64,
}

impl SumsColumn {
    pub(super) fn check(&self) -> Result<(), WireError> {
        let Self { origin, step, least, most, .. } = self;
        if !origin.is_finite() || !step.is_normal() || *step <= 0.0 {
            return Err(WireError::Value("a column has a finite origin, and a step above 0"));
        }
        // i128: the ends may be any numbers.
        if *least > 0 || *most < 0 || i128::from(*most) - i128::from(*least) >= 1 << 60 {
            return Err(WireError::Value("the numbers of a column include 0, and span less than 2^60"));
        }
        Ok(())
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        write_text(out, &self.name)?;
        write_text(out, &self.unit)?;
        out.extend_from_slice(&self.origin.to_le_bytes());
        out.extend_from_slice(&self.step.to_le_bytes());
        out.extend_from_slice(&self.least.to_le_bytes());
        out.extend_from_slice(&self.most.to_le_bytes());
        Ok(())
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let (name, unit) = (reader.text()?, reader.text()?);
        let (origin, step) = (reader.f64()?, reader.f64()?);
        Ok(Self { name, unit, origin, step, least: reader.i64()?, most: reader.i64()? })
    }
}

/// The time from one tick of a stream to the next: a fraction of a second, in lowest terms.
///
/// ```
/// use sotto_wire::TickPeriod;
///
/// // 44,100 readings a second.
/// let period = TickPeriod::new(10, 441_000)?;
/// assert_eq!((period.numerator(), period.denominator()), (1, 44_100));
/// assert_eq!(period.milliseconds(44_100 * 3), 3_000);
/// assert_eq!(TickPeriod::new(60, 1)?.milliseconds(24), 1_440_000);
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

    /// Returns the whole milliseconds that this many ticks take.
    #[must_use]
    pub fn milliseconds(&self, ticks: u32) -> i64 {
        // Below 2^74; the quotient saturates above 2^63.
        let total = u128::from(ticks) * u128::from(self.numerator) * 1000 / u128::from(self.denominator);
        i64::try_from(total).unwrap_or(i64::MAX)
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let (numerator, denominator) = (reader.u32()?, reader.u32()?);
        let period = Self::new(numerator, denominator)?;
        if period.numerator == numerator {
            Ok(period)
        } else {
            Err(WireError::Value("the period of a stream is in lowest terms"))
        }
    }
}
