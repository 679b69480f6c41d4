//! The report of `sotto eval`, as text and as JSON.

use serde::Serialize;

use super::Eval;
use super::parameters::Parameters;
use super::trip::Trip;
use crate::memory;
use crate::output::say;
use crate::phases::{Phase, table};
use crate::values::Number;

/// The JSON document.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    expression: String,
    scheme: String,
    /// 0 … t − 1 for BGV and BFV (centred with `--signed`), a rounded real number for CKKS.
    result: Number,
    /// The answer in the clear, without any modulus.
    clear: Number,
    /// True if the clear answer is outside the range of the plain modulus.
    wrapped: bool,
    pub(super) error: f64,
    pub(super) bound: f64,
    /// True if the bound on the error is smaller than the largest possible answer.
    useful: bool,
    #[serde(skip)]
    range: f64,
    parameters: Parameters,
    phases: Vec<Phase>,
    bytes: Bytes,
    /// The requests to the re-encryption agent and the values that it saw; None for schemes without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<RecryptorReport>,
    /// The peak of resident memory; None if the system does not report it.
    peak_memory_bytes: Option<u64>,
    #[serde(skip)]
    plan: String,
}

#[derive(Debug, Serialize)]
struct Bytes {
    fresh_ciphertext: usize,
    result_ciphertext: usize,
    evaluation_keys: usize,
}

/// The re-encryption agent's part.
#[derive(Debug, Serialize)]
pub(super) struct RecryptorReport {
    pub(super) requests: u64,
    pub(super) trips: u64,
    /// Numbers that it saw in clear.
    pub(super) values_seen: usize,
    /// Numbers that it saw blinded: within a statistical distance of 2^-80 they say nothing about the values.
    pub(super) values_blinded: usize,
}

impl std::fmt::Display for Parameters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Lattice { n, log2_q, plain_modulus, security_bits } => {
                let modulus = plain_modulus.map_or(String::new(), |t| format!(", t = {t}"));
                write!(f, "n = {n}, log2 Q = {log2_q:.1}{modulus}, {security_bits}-bit security (chosen)")
            }
            Self::Partial { key_bits, security_bits, .. } => {
                write!(f, "{key_bits} bits, {security_bits}-bit security")
            }
        }
    }
}

impl Report {
    pub(super) fn new(
        arguments: &Eval,
        trip: Trip,
        clear: Number,
        wrapped: bool,
        error: f64,
        bound: f64,
    ) -> Self {
        Self {
            expression: arguments.expression.clone(),
            scheme: arguments.scheme.name(),
            result: trip.result,
            clear,
            wrapped,
            error,
            bound,
            useful: true,
            range: f64::INFINITY,
            parameters: trip.parameters,
            phases: trip.phases.summary(),
            bytes: Bytes {
                fresh_ciphertext: trip.fresh_bytes,
                result_ciphertext: trip.result_bytes,
                evaluation_keys: trip.key_bytes,
            },
            agent: None,
            peak_memory_bytes: memory::peak_bytes(),
            plan: trip.plan,
        }
    }

    /// Sets the bound on the absolute value of the answer.
    pub(super) fn within(self, range: f64) -> Self {
        Self { useful: self.bound < range, range, ..self }
    }

    pub(super) fn with_agent(self, agent: RecryptorReport) -> Self {
        Self { agent: Some(agent), ..self }
    }

    pub(super) fn print(&self) {
        say(format!("{} = {}", self.expression, self.result));
        if self.wrapped {
            let around = self.parameters.wraps_around();
            say(format!("  in the clear {}: the answer wrapped around {around}", self.clear));
        } else if self.bound > 0.0 {
            say(format!(
                "  in the clear {}, off by {:.1e} (bound {:.1e})",
                self.clear, self.error, self.bound
            ));
        } else {
            say(format!("  in the clear {}: exact", self.clear));
        }
        if !self.useful {
            say(format!(
                "  NOT USEFUL: the answer is at most {:.1e}, and its error may be larger: compute on larger numbers",
                self.range
            ));
        }
        say(format!("  {}: {}", self.scheme.to_uppercase(), self.parameters));
        let b = &self.bytes;
        say(format!(
            "  bytes: {} a fresh ciphertext, {} the answer, {} evaluation keys",
            b.fresh_ciphertext, b.result_ciphertext, b.evaluation_keys
        ));
        if let Some(agent) = &self.agent {
            say(format!(
                "  agent: requests {}, trips {}; values that it saw in clear {}, blinded {}",
                agent.requests, agent.trips, agent.values_seen, agent.values_blinded
            ));
        }
        if let Some(bytes) = self.peak_memory_bytes {
            say(format!("  at most {:.1} MiB of memory held\n", bytes as f64 / f64::from(1 << 20)));
        }
        say(format!("{}\n\n{}", self.plan.trim_end(), table(&self.phases)));
    }
}
