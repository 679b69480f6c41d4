//! A cell that is written once.

#[cfg(not(feature = "std"))]
use spin::Once as Cell;
#[cfg(feature = "std")]
use std::sync::OnceLock as Cell;

/// A cell that is written once, by the first thread that needs the value; other threads wait. Without the feature `std`
/// they spin: a cell must not be read in an interrupt that may come while it is written.
///
/// ```
/// let cell = sotto_kernels::Once::new();
/// assert_eq!(*cell.or_init(|| 2), 2);
/// assert_eq!(*cell.or_init(|| 3), 2);
/// ```
#[derive(Debug)]
pub struct Once<T>(Cell<T>);

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for Once<T> {
    fn from(value: T) -> Self {
        let cell = Self::new();
        cell.or_init(|| value);
        cell
    }
}

impl<T: Clone> Clone for Once<T> {
    fn clone(&self) -> Self {
        self.0.get().cloned().map_or_else(Self::new, Self::from)
    }
}

impl<T> Once<T> {
    /// Returns an empty cell.
    pub const fn new() -> Self {
        Self(Cell::new())
    }

    /// Returns the value, computed now if the cell is empty.
    #[inline]
    pub fn or_init(&self, value: impl FnOnce() -> T) -> &T {
        #[cfg(feature = "std")]
        {
            self.0.get_or_init(value)
        }
        #[cfg(not(feature = "std"))]
        {
            self.0.call_once(value)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Once;

    #[test]
    fn the_first_value_stays() {
        let cell = Once::new();
        let empty = cell.clone();
        assert_eq!((*cell.or_init(|| 2), *cell.or_init(|| 3), *empty.or_init(|| 1)), (2, 2, 1));
        let copy = cell.clone();
        assert_eq!((*copy.or_init(|| 4), *cell.or_init(|| 5)), (2, 2));
        assert_eq!(*Once::from(7).or_init(|| 8), 7);
    }
}
