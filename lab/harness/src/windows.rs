//! Sums of windows of readings: the sizes that all engines share, and the operations.

/// Readings in a window.
pub const READINGS: usize = 16;
/// Bits of a reading.
pub const BITS: u32 = 12;
/// The most windows in a sum.
pub const MOST: usize = 10_000;

/// A timed operation on windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Encrypt one window.
    Encrypt,
    /// Add this many encrypted windows.
    Sum(usize),
    /// Decrypt the sum of this many windows.
    Open(usize),
}

impl Step {
    /// Returns the step that an operation names. None if it names none.
    ///
    /// ```
    /// use sotto_harness::windows::Step;
    ///
    /// assert_eq!(Step::named("window_sum_1000"), Some(Step::Sum(1000)));
    /// assert_eq!(Step::named("add"), None);
    /// ```
    pub fn named(operation: &str) -> Option<Self> {
        Some(match operation {
            "window_encrypt" => Self::Encrypt,
            "window_sum_1000" => Self::Sum(1000),
            "window_sum_10000" => Self::Sum(MOST),
            "window_open_1000" => Self::Open(1000),
            "window_open_10000" => Self::Open(MOST),
            _ => return None,
        })
    }
}
