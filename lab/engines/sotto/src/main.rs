//! Reads requests line by line and answers each: see `lab/engines/PROTOCOL.md`.
//!
//! To build it by hand: `cargo build --release --package sotto-engine`.
//! To try it: `echo '{"do":"version"}' | target/release/sotto-engine`.

use std::io::{BufRead as _, Write as _};

use sotto_engine::Engine;

fn main() -> std::io::Result<()> {
    let mut engine = Engine::default();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        writeln!(out, "{}", engine.answer(&line?))?;
        out.flush()?;
    }
    Ok(())
}
