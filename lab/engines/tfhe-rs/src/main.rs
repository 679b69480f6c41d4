//! The crate `tfhe` as an engine: comparisons of encrypted readings with a limit. PROTOCOL.md describes the protocol.
//!
//! To install it by hand: `cargo build --release --locked`.
//! To try it: `echo '{"do":"version"}' | target/release/engine`.

mod compare;

use std::io::{BufRead as _, Write as _};

use serde::Deserialize;
use serde_json::{Value, json};

/// An error in the library's words.
type Failure = Box<dyn std::error::Error>;

/// The fields of the command `compare`.
#[derive(Deserialize)]
struct Request {
    r#do: String,
    #[serde(default)]
    method: String,
    #[serde(default)]
    readings: Vec<f64>,
    #[serde(default)]
    range: [f64; 2],
    #[serde(default)]
    limit: f64,
    #[serde(default)]
    gap: f64,
    #[serde(default)]
    least: usize,
    #[serde(default)]
    most: usize,
    #[serde(default)]
    seconds: f64,
}

fn answer(line: &str) -> Result<Value, Failure> {
    let request: Request = serde_json::from_str(line)?;
    match (request.r#do.as_str(), request.method.as_str()) {
        ("version", _) => Ok(json!({
            "engine": "tfhe-rs", "library": "TFHE-rs", "version": "1.8.2", "schemes": [], "comparisons": ["integer"],
            "threads": 1, "flags": "default features (avx512), compiled for this processor",
        })),
        ("compare", "integer") => compare::compare(&request),
        _ => Err("unsupported".into()),
    }
}

fn main() -> std::io::Result<()> {
    let mut replies = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let reply = answer(&line?).unwrap_or_else(|error| json!({ "error": error.to_string() }));
        writeln!(replies, "{reply}")?;
        replies.flush()?;
    }
    Ok(())
}
