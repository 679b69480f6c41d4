//! `sotto-lake`: SQL over the windows of a cloud's store.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sotto-lake: {}", cli::reason(&error));
            ExitCode::FAILURE
        }
    }
}
