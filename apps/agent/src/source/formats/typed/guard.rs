//! Readers of other people's formats panic on some damaged files. Such a panic is an error of the file.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// True while a reader runs in this thread.
    static READING: Cell<bool> = const { Cell::new(false) };
}

/// Runs a reader. Returns `None` if it panicked: then the file is damaged, and the reader must not be used again.
pub(in crate::source::formats) fn unharmed<T>(work: impl FnOnce() -> T) -> Option<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !READING.get() {
                before(panic);
            }
        }));
    });
    let outer = READING.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    READING.set(outer);
    result.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        assert_eq!(unharmed(|| 3), Some(3));
        let bytes = [1, 2];
        assert_eq!(unharmed(|| bytes[..std::hint::black_box(3)].len()), None);
        assert_eq!(unharmed(|| unharmed(|| bytes[std::hint::black_box(3)])), Some(None));
        assert!(!READING.get());
    }
}
