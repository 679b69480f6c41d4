//! Blocks of time in which a cloud keeps sums of windows, and owners ask for them.

use sotto_pack::{Layout, Period};

use crate::stream::StreamHeader;

/// Largest number of windows that a block of time is made for.
const MOST_WINDOWS: u64 = 4096;

/// The share of the most windows of a sum that a block of time has, in sixteenths: windows may be shorter than the longest,
/// as days of 24 hours beside one of 25.
const FILLED: i128 = 15;

/// Blocks of time, each as long as about as many windows as one sum holds. A sum of more windows is cut where they end, so that
/// windows that come later, or a question that begins later, leave the sums between as they are.
///
/// ```
/// use sotto_pack::{Channel, Layout, Period};
/// use sotto_wire::SumBlocks;
///
/// // Windows of 60 readings, one a minute; 512 of them in a sum.
/// let level = Channel { name: "level".into(), maximum: 15.0, resolution: Some(1.0), ..Channel::default() };
/// let layout = Layout::of_sums(vec![level], 60)?;
/// let blocks = SumBlocks::new(Period::of_seconds(60, 1)?, &layout, 512);
/// let hour = 3_600_000;
/// assert_eq!((blocks.of(0), blocks.of(479 * hour), blocks.of(480 * hour), blocks.of(-1)), (0, 0, 1, -1));
/// assert_eq!((blocks.part_of(59 * hour), blocks.part_of(60 * hour)), (0, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SumBlocks {
    milliseconds: i128,
}

impl SumBlocks {
    /// Parts of a block of which sums are kept, too.
    pub const PARTS: u32 = 8;

    /// Makes the blocks for windows of a layout, of which a sum holds at most `most`.
    #[must_use]
    pub fn new(period: Period, layout: &Layout, most: u64) -> Self {
        let window = i128::from(period.at(0, layout.ticks()).max(1));
        Self { milliseconds: (window * i128::from(most) * FILLED / 16).max(1) }
    }

    /// Returns the blocks of a stream, and the most windows of a sum that is cut by them: as many as each part whose values add
    /// holds. Returns None if the stream is not one of sums, or no value adds.
    #[must_use]
    pub fn of_stream(header: &StreamHeader) -> Option<(Self, u64)> {
        let capacity = |part: u8| header.sums_form(part.into()).map_or(0, |form| form.capacity());
        let most = header.adding_parts().map(capacity).min()?;
        let most = most.min(MOST_WINDOWS);
        Some((Self::new(header.period(), header.layout(), most), most))
    }

    /// Returns the number of the block in which a window begins: milliseconds since 1970.
    #[must_use]
    pub fn of(&self, start: i64) -> i128 {
        i128::from(start).div_euclid(self.milliseconds)
    }

    /// Returns the number of the part of a block in which a window begins. A block's parts are [`SumBlocks::PARTS`].
    #[must_use]
    pub fn part_of(&self, start: i64) -> i128 {
        (i128::from(start) * i128::from(Self::PARTS)).div_euclid(self.milliseconds)
    }
}
