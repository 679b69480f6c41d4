//! What `sotto eval` prints.

use serde::Serialize;

use super::Arguments;
use super::trip::Trip;
use crate::memory;
use crate::output::say;
use crate::phases::{Phase, table};

/// The JSON document.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    expression: String,
    scheme: String,
    /// 0 … t − 1 for BGV and BFV (centred with `--signed`), the rounded real for CKKS.
    result: Number,
    /// The answer in the clear, without any modulus.
    clear: Number,
    /// Whether the clear answer is outside what the plain modulus holds.
    wrapped: bool,
    pub(super) error: f64,
    pub(super) bound: f64,
    parameters: Parameters,
    phases: Vec<Phase>,
    bytes: Bytes,
    /// The most memory that the process held; none where the system does not say.
    peak_memory_bytes: Option<u64>,
    #[serde(skip)]
    plan: String,
}

/// Whole numbers are written without a fraction.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
enum Number {
    Whole(i64),
    Real(f64),
}

#[derive(Debug, Serialize)]
struct Parameters {
    n: usize,
    log2_q: f64,
    /// None for CKKS.
    plain_modulus: Option<u64>,
    security_bits: u32,
}

#[derive(Debug, Serialize)]
struct Bytes {
    fresh_ciphertext: usize,
    result_ciphertext: usize,
    evaluation_keys: usize,
}

impl Number {
    fn new(value: f64) -> Self {
        let whole = value.fract() == 0.0 && value.abs() < (1u64 << 53) as f64;
        if whole { Self::Whole(value as i64) } else { Self::Real(value) }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole(value) => value.fmt(f),
            Self::Real(value) => value.fmt(f),
        }
    }
}

impl Report {
    pub(super) fn new(
        arguments: &Arguments,
        trip: Trip,
        result: f64,
        clear: f64,
        wrapped: bool,
        error: f64,
        bound: f64,
    ) -> Self {
        Self {
            expression: arguments.expression.clone(),
            scheme: format!("{:?}", arguments.scheme).to_lowercase(),
            result: Number::new(result),
            clear: Number::new(clear),
            wrapped,
            error,
            bound,
            parameters: Parameters {
                n: trip.degree,
                log2_q: (trip.log2_q * 100.0).round() / 100.0,
                plain_modulus: trip.plain_modulus,
                security_bits: 128,
            },
            phases: trip.phases.summary(),
            bytes: Bytes {
                fresh_ciphertext: trip.fresh_bytes,
                result_ciphertext: trip.result_bytes,
                evaluation_keys: trip.key_bytes,
            },
            peak_memory_bytes: memory::peak_bytes(),
            plan: trip.plan,
        }
    }

    pub(super) fn print(&self) {
        let p = &self.parameters;
        say(format!("{} = {}", self.expression, self.result));
        if self.wrapped {
            let t = p.plain_modulus.unwrap_or_default();
            say(format!("  in the clear {}: the answer wrapped around the plain modulus {t}", self.clear));
        } else if self.bound > 0.0 {
            say(format!(
                "  in the clear {}, off by {:.1e} (bound {:.1e})",
                self.clear, self.error, self.bound
            ));
        } else {
            say(format!("  in the clear {}: exact", self.clear));
        }
        let modulus = p.plain_modulus.map_or(String::new(), |t| format!(", t = {t}"));
        say(format!(
            "  {}: n = {}, log2 Q = {:.1}{modulus}, {}-bit security (chosen)",
            self.scheme.to_uppercase(),
            p.n,
            p.log2_q,
            p.security_bits
        ));
        let b = &self.bytes;
        say(format!(
            "  bytes: {} a fresh ciphertext, {} the answer, {} evaluation keys",
            b.fresh_ciphertext, b.result_ciphertext, b.evaluation_keys
        ));
        if let Some(bytes) = self.peak_memory_bytes {
            say(format!("  at most {:.1} MiB of memory held\n", bytes as f64 / f64::from(1 << 20)));
        }
        say(format!("{}\n\n{}", self.plan.trim_end(), table(&self.phases)));
    }
}
