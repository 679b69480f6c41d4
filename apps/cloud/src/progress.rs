//! Counts that commands show on a terminal while they work.

use std::fmt::Display;
use std::io::IsTerminal as _;

/// Returns a callback that shows a count.
pub(crate) fn progress<T: Display>(doing: &'static str) -> impl FnMut(T) {
    let shown = std::io::stderr().is_terminal();
    move |count| {
        if shown {
            eprint!("\r{doing}: {count} ");
        }
    }
}

/// Clears the line.
pub(crate) fn end_progress() {
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[K");
    }
}
