//! A cell that is written once: the standard library's, or one that spins where there is none.

#[cfg(feature = "std")]
pub use std::sync::OnceLock;

#[cfg(not(feature = "std"))]
pub use spinning::OnceLock;

#[cfg(not(feature = "std"))]
mod spinning {
    /// A cell that is written once. A second thread spins while the first computes the value: do not use the same cell
    /// in an interrupt.
    #[derive(Debug)]
    pub struct OnceLock<T>(spin::Once<T>);

    impl<T> Default for OnceLock<T> {
        fn default() -> Self {
            Self::new()
        }
    }

    impl<T: Clone> Clone for OnceLock<T> {
        fn clone(&self) -> Self {
            self.get().cloned().map_or_else(Self::new, Self::from)
        }
    }

    impl<T> From<T> for OnceLock<T> {
        fn from(value: T) -> Self {
            Self(spin::Once::initialized(value))
        }
    }

    impl<T> OnceLock<T> {
        /// Returns an empty cell.
        pub const fn new() -> Self {
            Self(spin::Once::new())
        }

        /// Returns the value, or None if there is none yet.
        pub fn get(&self) -> Option<&T> {
            self.0.get()
        }

        /// Returns the value, mutable, or None if there is none yet.
        pub fn get_mut(&mut self) -> Option<&mut T> {
            self.0.get_mut()
        }

        /// Returns the value, computed now if there is none yet.
        pub fn get_or_init(&self, value: impl FnOnce() -> T) -> &T {
            self.0.call_once(value)
        }
    }
}
