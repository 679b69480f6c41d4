//! A choice as programs read it.

use sotto_pack::Span;
use sotto_rlwe::SchemeId;

use super::{Alternative, Chosen};

/// A stream as programs read it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct StreamReport {
    /// The stream's name.
    pub stream: String,
    /// The questions that it serves; none where the default does.
    pub questions: Vec<String>,
    /// The channels.
    pub channels: Vec<String>,
    /// The scheme.
    pub scheme: String,
    /// The ring's degree.
    pub n: usize,
    /// Bits of the whole modulus.
    pub modulus_bits: f64,
    /// Bits of security by the 2024 guidelines.
    pub security_bits: u32,
    /// The plain modulus of the exact schemes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plain_modulus: Option<u64>,
    /// Levels below the top one, and how many of them the deepest computation uses.
    pub levels: usize,
    /// See `levels`.
    pub levels_used: u8,
    /// No window crosses the end of such a span.
    pub span: Span,
    /// Readings of a full window.
    pub readings_a_window: u64,
    /// Bytes of a window's ciphertext.
    pub bytes_a_window: usize,
    /// The same for each reading of a full window.
    pub bytes_a_reading: f64,
    /// Bytes of an answer's ciphertext.
    pub bytes_an_answer: u64,
    /// Results that one answer's ciphertext holds.
    pub results_an_answer: usize,
    /// Rotations whose Galois keys the cloud gets.
    pub rotations: Vec<i32>,
    /// True if the cloud gets a relinearisation key.
    pub relinearisation: bool,
    /// Bytes of the evaluation keys.
    pub bytes_of_keys: usize,
    /// Bits between the noise bound and the limit.
    pub noise_bits_left: f64,
    /// Bits of precision that flooding takes, where values are given to others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flooding_bits: Option<f64>,
    /// Seconds of computing on one window, where they were measured: see [`crate::seconds_a_window`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_a_window: Option<f64>,
    /// Coefficients of a compact window that travel: of sums one for each reading, square and product, of reals one a slot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<usize>,
    /// Bits of each; of reals in all limbs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bits_a_place: Option<u32>,
    /// Other choices, and why each lost.
    pub alternatives: Vec<Alternative>,
}

/// A stream as programs read it.
#[must_use]
pub fn stream_report(chosen: &Chosen) -> StreamReport {
    let exact = chosen.spec.scheme != SchemeId::Ckks;
    StreamReport {
        stream: chosen.stream.name(),
        questions: chosen.stream.questions.clone(),
        channels: chosen.stream.channels.clone(),
        scheme: chosen.spec.scheme.to_string(),
        n: chosen.spec.degree,
        modulus_bits: chosen.spec.modulus_bits(),
        security_bits: 128,
        plain_modulus: exact.then_some(chosen.spec.plain),
        levels: chosen.spec.data.len() - 1,
        levels_used: chosen.levels_used,
        span: chosen.cut.span,
        readings_a_window: chosen.readings(),
        bytes_a_window: chosen.window_bytes,
        bytes_a_reading: chosen.window_bytes as f64 / chosen.readings().max(1) as f64,
        bytes_an_answer: chosen.answer_bytes,
        results_an_answer: chosen.results_in_one,
        rotations: chosen.keys.rotations.clone(),
        relinearisation: chosen.keys.relinearisation,
        bytes_of_keys: chosen.key_bytes,
        noise_bits_left: chosen.noise_bits_left,
        flooding_bits: chosen.flooding_bits,
        seconds_a_window: None,
        places: chosen.sent().map(|(places, _)| places),
        bits_a_place: chosen.sent().map(|(_, bits)| bits),
        alternatives: chosen.alternatives.clone(),
    }
}
