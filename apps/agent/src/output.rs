//! Standard output and standard error, whose readers may close them at any time.

use std::io::{self, ErrorKind, Write};

/// Prints a line on standard error, which may be closed or full: that stops nothing.
pub fn tell(text: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

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
