//! Standard output, whose reader may close it at any time.

use std::io::{self, ErrorKind, Write};

/// Prints a line. Succeeds if the reader has closed the pipe.
///
/// # Errors
/// The line cannot be written for another reason.
pub fn say(text: impl std::fmt::Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
