//! The crate `poulpy-ckks` as an engine: CKKS without primes. PROTOCOL.md describes the protocol.
//!
//! To install it by hand: `RUSTFLAGS="-C target-cpu=native" cargo build --release --locked`, with nightly Rust.
//! To try it: `echo '{"do":"version"}' | target/release/engine`.

mod backend;
mod bytes;
mod keys;
mod maker;
mod operations;
mod parameters;
mod programs;
mod session;
mod timer;

use std::io::{BufRead as _, Write as _};

use programs::Program;
use serde::Deserialize;
use serde_json::{Value, json};
use session::Session;

/// An error in the library's words.
type Failure = Box<dyn std::error::Error>;

const NOTHING: &str = "nothing is prepared: send prepare first";

/// The fields of every command.
#[derive(Deserialize)]
struct Request {
    r#do: String,
    #[serde(default)]
    scheme: String,
    #[serde(default)]
    degree: usize,
    #[serde(default)]
    scale_bits: usize,
    #[serde(default)]
    data: Vec<u64>,
    #[serde(default)]
    special: Vec<u64>,
    #[serde(default)]
    data_bits: Vec<usize>,
    #[serde(default)]
    special_bits: Vec<usize>,
    #[serde(default)]
    operation: String,
    #[serde(default)]
    repetitions: usize,
    #[serde(default)]
    warm_up: usize,
    #[serde(default)]
    checked: bool,
    #[serde(default)]
    codec: Option<String>,
    #[serde(default)]
    object: Option<String>,
    #[serde(default)]
    inputs: Vec<Vec<f64>>,
    #[serde(default)]
    program: Program,
}

fn unsupported() -> Failure {
    "unsupported".into()
}

fn answer(line: &str, prepared: &mut Option<Session>) -> Result<Value, Failure> {
    let request: Request = serde_json::from_str(line)?;
    match request.r#do.as_str() {
        "version" => Ok(json!({
            "engine": "poulpy", "library": "poulpy-ckks", "version": "0.10.0", "schemes": ["ckks"], "threads": 1,
            "flags": format!("backend {}, compiled for this processor by nightly Rust", backend::NAME),
        })),
        "prepare" if request.scheme == "ckks" => {
            let session = Session::new(&request)?;
            let reply = session.prepared();
            *prepared = Some(session);
            Ok(reply)
        }
        "measure" => prepared.as_ref().ok_or(NOTHING)?.measure(&request),
        "verify" => prepared.as_ref().ok_or(NOTHING)?.verify(&request.program, &request.inputs),
        _ => Err(unsupported()),
    }
}

fn main() -> std::io::Result<()> {
    let mut prepared = None;
    let mut replies = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let reply =
            answer(&line?, &mut prepared).unwrap_or_else(|error| json!({ "error": error.to_string() }));
        writeln!(replies, "{reply}")?;
        replies.flush()?;
    }
    Ok(())
}
