//! A choice of parameters, as a report for programs.

use std::collections::BTreeMap;

use sotto_pack::{Span, SumsPart};
use sotto_rlwe::ParameterSpec;

use super::chosen::{Alternative, Chosen};
use super::held::HeldReport;
use super::sums::bins_of;
use super::ways::Way;

/// Numbers of windows of a sum for which a report has the bytes.
pub const SHOWN_WINDOWS: [u64; 4] = [64, 512, 4_096, 1_000_000];

/// The report on a stream.
///
/// ```
/// use sotto_owner::{Alternative, Kind, Needs, StreamNeeds, StreamReport, choose, stream_report};
/// # use sotto_pack::{Channel, Period, Span};
/// # let temperature = Channel {
/// #     name: "temperature".into(), unit: "°C".into(), minimum: -20.0, maximum: 120.0, resolution: Some(0.1),
/// #     ..Channel::default()
/// # };
/// # let needs = StreamNeeds {
/// #     kind: Kind::Exact, period: Period::from_milliseconds(300_000), span: Span::Day, channels: vec!["temperature".into()],
/// #     needs: Needs::default(), questions: vec!["daily".into()], public: false, scheme: None, joined: false, part: 0,
/// # };
///
/// // `needs` are a device's daily windows with one channel, and their questions ask for means.
/// let report: StreamReport = stream_report(&choose(&needs, &[temperature])?);
/// assert_eq!((report.stream.as_str(), report.readings_a_window), ("exact-5m", 300));
/// let others: &[Alternative] = &report.alternatives;
/// assert!(others.iter().all(|other| !other.why.is_empty()));
/// # Ok::<(), sotto_owner::OwnerError>(())
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct StreamReport {
    /// The stream's name.
    pub stream: String,
    /// The questions that it serves; empty for the default stream.
    pub questions: Vec<String>,
    /// The names of its channels, in the device's order.
    pub channels: Vec<String>,
    /// The scheme's name.
    pub scheme: String,
    /// The way of its windows to an answer.
    pub way: Way,
    /// The reason for this way.
    pub why: String,
    /// The way not taken, with its bytes. None if the questions of the stream have no other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_way: Option<Alternative>,
    /// The ring's degree. None for sums, which have no ring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<usize>,
    /// Bits of the whole modulus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modulus_bits: Option<f64>,
    /// Bits of security: by the 2024 guidelines for ciphertexts, those of the stream cipher's key for sums.
    pub security_bits: u32,
    /// The plain modulus of the exact schemes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plain_modulus: Option<u64>,
    /// Number of levels below the top one.
    pub levels: usize,
    /// Number of levels that the deepest computation uses.
    pub levels_used: u8,
    /// The span whose end no window crosses.
    pub span: Span,
    /// Number of readings in a full window.
    pub readings_a_window: u64,
    /// Bytes of a window's ciphertext.
    pub bytes_a_window: usize,
    /// Bytes per reading of a full window.
    pub bytes_a_reading: f64,
    /// Bytes that a device sends in a day, for windows without gaps.
    pub bytes_a_day: u64,
    /// Bytes of an answer's ciphertext.
    pub bytes_an_answer: u64,
    /// Number of results in one answer's ciphertext.
    pub results_an_answer: usize,
    /// Rotations whose Galois keys are uploaded.
    pub rotations: Vec<i32>,
    /// True if a relinearisation key is uploaded.
    pub relinearisation: bool,
    /// Bytes of the evaluation keys.
    pub bytes_of_keys: usize,
    /// Bits between the noise bound and the limit. None for sums, which have no noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_bits_left: Option<f64>,
    /// Largest number of windows of a sum.
    pub sums_of: u64,
    /// For sums: bytes of a window whose places hold sums of so many windows.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub bytes_for_windows: BTreeMap<u64, usize>,
    /// For sums: the quantities of each part, with the bits of their places.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<SumsPart>,
    /// For shared values: the bits of precision that flooding takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flooding_bits: Option<f64>,
    /// Seconds of computing per window, if measured: see [`crate::seconds_a_window`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_a_window: Option<f64>,
    /// Number of coefficients that a compact window sends: for sums one per reading, square and product, for reals one
    /// per slot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<usize>,
    /// Bits of each coefficient; for reals over all limbs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bits_a_place: Option<u32>,
    /// True if the device encrypts under a public key: windows are whole ciphertexts.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub public: bool,
    /// Number of bins in which a device counts the readings of a channel, by channel.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub bins: BTreeMap<String, usize>,
    /// For sums: the values of a window that come down window by window, as they do not add.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_by_window: Option<HeldReport>,
    /// Bytes in which the readings of a full window come down, for results that are computed from readings.
    pub readings_down: u64,
    /// Other choices, each with the reason why it was not chosen.
    pub alternatives: Vec<Alternative>,
}

/// Puts the choice into numbers for people and JSON.
#[must_use]
pub fn stream_report(chosen: &Chosen) -> StreamReport {
    let spec = chosen.spec.as_ref();
    let plain = spec.filter(|spec| spec.scheme.is_exact()).map(|spec| spec.plain);
    let bins = (0..)
        .zip(chosen.layout.channels())
        .filter_map(|(at, channel)| Some((channel.name.clone(), bins_of(&chosen.sums, at)?.count())));
    let bytes_for = |windows: u64| Some((windows, chosen.window_bytes_for(windows)?));
    StreamReport {
        stream: chosen.stream.name(),
        questions: chosen.stream.questions.clone(),
        channels: chosen.stream.channels.clone(),
        scheme: chosen.scheme().to_owned(),
        way: chosen.way(),
        why: chosen.why(),
        other_way: chosen.other_way().cloned(),
        n: spec.map(|spec| spec.degree),
        modulus_bits: spec.map(ParameterSpec::modulus_bits),
        security_bits: if spec.is_some() { chosen.wishes.security.bits() } else { 256 },
        plain_modulus: plain,
        levels: spec.map_or(0, |spec| spec.data.len() - 1),
        levels_used: chosen.levels_used,
        span: chosen.cut.span,
        readings_a_window: chosen.readings(),
        bytes_a_window: chosen.window_bytes,
        bytes_a_reading: chosen.bytes_a_reading(),
        bytes_a_day: chosen.bytes_a_day(),
        bytes_an_answer: chosen.answer_bytes,
        results_an_answer: chosen.results_in_one,
        rotations: chosen.keys.rotations.clone(),
        relinearisation: chosen.keys.relinearisation,
        bytes_of_keys: chosen.key_bytes,
        noise_bits_left: Some(chosen.noise_bits_left).filter(|bits| bits.is_finite()),
        sums_of: chosen.sums_of,
        bytes_for_windows: SHOWN_WINDOWS.into_iter().filter_map(bytes_for).collect(),
        parts: chosen.sums.clone(),
        flooding_bits: chosen.flooding_bits,
        seconds_a_window: None,
        places: chosen.sent().map(|(places, _)| places),
        bits_a_place: chosen.sent().map(|(_, bits)| bits),
        public: chosen.stream.public,
        bins: bins.collect(),
        window_by_window: chosen.held(),
        readings_down: chosen.readings_down(),
        alternatives: chosen.alternatives.clone(),
    }
}
