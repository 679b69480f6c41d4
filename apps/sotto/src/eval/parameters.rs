//! The parameters of a report.

use serde::Serialize;

/// The parameters, for lattice schemes or for partially homomorphic ones.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Parameters {
    Lattice {
        n: usize,
        log2_q: f64,
        /// None for CKKS.
        plain_modulus: Option<u64>,
        security_bits: u32,
    },
    Partial {
        /// Bits of the modulus, or of the curve's field.
        key_bits: u32,
        /// Bits of the largest answer, without the sign.
        message_bits: u32,
        security_bits: u32,
    },
}

impl Parameters {
    pub(super) fn wraps_around(&self) -> String {
        match self {
            Self::Lattice { plain_modulus, .. } => {
                format!("the plain modulus {}", plain_modulus.unwrap_or_default())
            }
            Self::Partial { message_bits, .. } => format!("{message_bits} bits and a sign"),
        }
    }
}
