//! Standard output, whose reader may close it at any time.

use std::io::{ErrorKind, Write};

/// Prints a line, without characters that change the direction of writing: names and units come from files. Exits quietly
/// if the reader has closed the pipe, and with an error if the line is lost.
pub(crate) fn say(text: impl std::fmt::Display) {
    match written(&text) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => {
            eprintln!("sotto: standard output cannot be written: {error}");
            std::process::exit(1);
        }
    }
}

/// Prints a line, for a program that goes on without its output: a closed pipe or a full disk stops nothing.
pub(crate) fn tell(text: impl std::fmt::Display) {
    let _ = written(&text);
}

fn written(text: &dyn std::fmt::Display) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let mut text = text.to_string();
    text.retain(|c| !sotto_cloud_client::is_direction(c));
    writeln!(out, "{text}").and_then(|()| out.flush())
}

/// Returns a number with a comma between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
