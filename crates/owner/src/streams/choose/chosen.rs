//! The choice of parameters for a stream, and the alternatives to it.

use sotto_pack::{Cut, Layout, SumsPart};
use sotto_program::KeysNeeded;
use sotto_rlwe::{Kept, ParameterSpec};

use crate::error::OwnerError;
use crate::quantities::{frame, kept};
use crate::streams::{StreamNeeds, Wishes};

/// The choice for a stream, with the alternatives.
///
/// ```
/// use sotto_owner::{Chosen, Kind, Needs, StreamNeeds, choose};
/// use sotto_pack::{Channel, Period, Span};
///
/// let temperature = Channel {
///     name: "temperature".into(), unit: "°C".into(), minimum: -20.0, maximum: 120.0, resolution: Some(0.1),
///     ..Channel::default()
/// };
/// let daily_means = StreamNeeds {
///     kind: Kind::Exact, period: Period::from_milliseconds(300_000), span: Span::Day, channels: vec!["temperature".into()],
///     needs: Needs::default(), questions: vec!["daily".into()], public: false, scheme: None, joined: false, part: 0,
/// };
/// let chosen: Chosen = choose(&daily_means, &[temperature])?;
/// assert_eq!(chosen.readings(), 300); // one every five minutes on the longest day, of 25 hours
/// assert!(chosen.noise_bits_left >= 0.0 && chosen.window_bytes < 4096);
/// # Ok::<(), sotto_owner::OwnerError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The stream's needs.
    pub stream: StreamNeeds,
    /// Scheme, degree and primes of ciphertexts. None: the windows are sums without a lattice.
    pub spec: Option<ParameterSpec>,
    /// The layout of a window.
    pub layout: Layout,
    /// The division of readings into windows.
    pub cut: Cut,
    /// Evaluation keys that the questions need.
    pub keys: KeysNeeded,
    /// Number of levels that the deepest computation uses.
    pub levels_used: u8,
    /// Bits between the noise bound and the limit, at the worst result.
    pub noise_bits_left: f64,
    /// For shared values: the bits by which the flooding noise is wider than the noise of the worst result.
    pub flooding_bits: Option<f64>,
    /// Bytes of a window's ciphertext, uploaded by the device.
    pub window_bytes: usize,
    /// Bytes of one answer's ciphertext, downloaded by the owner.
    pub answer_bytes: u64,
    /// Number of results in one ciphertext.
    pub results_in_one: usize,
    /// Largest number of windows summed in one result.
    pub sums_of: u64,
    /// Bytes of the evaluation keys.
    pub key_bytes: usize,
    /// Other schemes and degrees, each with the reason why it was not chosen.
    pub alternatives: Vec<Alternative>,
    /// The parts of windows of sums. Empty: windows are ciphertexts.
    pub sums: Vec<SumsPart>,
    /// The wishes that it was chosen with.
    pub wishes: Wishes,
}

/// A scheme and degree that was not chosen.
///
/// Example: [`StreamReport`](crate::StreamReport)
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Alternative {
    /// The scheme's name.
    pub scheme: String,
    /// The ring's degree.
    pub n: usize,
    /// Bytes of a window, if the parameters are suitable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_bytes: Option<usize>,
    /// Bytes per reading of a full window, if the parameters are suitable. Its windows may be of another length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_a_reading: Option<f64>,
    /// The reason why it was not chosen.
    pub why: String,
}

impl Alternative {
    /// Returns a suitable choice that another one was preferred to.
    pub(super) fn of(chosen: &Chosen, why: String) -> Self {
        Self {
            scheme: chosen.scheme().to_owned(),
            n: chosen.degree(),
            window_bytes: Some(chosen.window_bytes),
            bytes_a_reading: Some(chosen.bytes_a_reading()),
            why,
        }
    }

    /// Returns a choice that is not suitable.
    pub(super) fn refused(scheme: &str, n: usize, why: String) -> Self {
        Self { scheme: scheme.to_owned(), n, window_bytes: None, bytes_a_reading: None, why }
    }
}

/// The name of the form without a lattice.
pub(super) const SUMS: &str = "sums";

/// The scheme for results that are computed from reals.
pub(super) type Real = sotto_rlwe::Ckks;

impl Chosen {
    /// Returns the name of the scheme: that of the ciphertexts, or `sums`.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        self.spec.as_ref().map_or(SUMS, |spec| spec.scheme.title())
    }

    /// Returns the ring's degree; 0 for sums, which have no ring.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.spec.as_ref().map_or(0, |spec| spec.degree)
    }

    /// Returns the number of readings in a full window.
    #[must_use]
    pub fn readings(&self) -> u64 {
        u64::from(self.cut.ticks) * self.layout.channels().len() as u64
    }

    /// Returns the bytes per reading of a full window.
    #[must_use]
    pub fn bytes_a_reading(&self) -> f64 {
        self.window_bytes as f64 / self.readings().max(1) as f64
    }

    /// Returns the coefficients that hold a window's values, if these repeat over the slots; compact windows send them
    /// alone. Returns None for sums, and for whole ciphertexts whose values do not repeat.
    #[must_use]
    pub fn kept(&self) -> Option<Kept> {
        kept(&self.layout, self.spec.as_ref()?.degree)
    }

    /// Returns the number of coefficients that a compact window sends, and the bits of each. Returns None for whole
    /// ciphertexts and sums.
    #[must_use]
    pub fn sent(&self) -> Option<(usize, u32)> {
        let spec = self.spec.as_ref().filter(|_| !self.stream.public)?;
        let bits = spec.data.iter().map(|q| u64::BITS - q.leading_zeros()).sum();
        self.kept().map(|kept| (kept.places(), bits))
    }

    /// Returns the number of slots in a result.
    #[must_use]
    pub fn frame(&self) -> u32 {
        frame(&self.layout)
    }

    /// Returns the frame of the parameters in hexadecimal; empty for sums, which have none.
    fn parameters(&self) -> String {
        self.spec.as_ref().map(|spec| hex::encode(sotto_wire::write_parameters(spec))).unwrap_or_default()
    }

    /// Returns the stream's entry in the device's profile, under this name. Each bundle's streams have names of their own,
    /// so their windows are numbered anew, and readings of a file are sent again.
    #[must_use]
    pub fn profile(&self, name: String) -> sotto_pack::StreamProfile {
        sotto_pack::StreamProfile {
            stream: name,
            parameters: self.parameters(),
            encoding: self.layout.encoding(),
            ticks: self.cut.ticks,
            period_ms: Some(self.cut.period),
            span: Some(self.cut.span),
            channels: self.layout.channels().to_vec(),
            sums: self.sums.clone(),
            rounded: !self.sums.is_empty(),
            compact: None,
            slots: self.kept().map(|kept| kept.values() as u32),
            envelope: if self.sent().is_some() { 2 } else { 1 },
            public: self.stream.public,
            absolute: self.cut.is_absolute(),
        }
    }
}

/// The reason why a device with public keys sends whole ciphertexts.
pub(super) const NEEDS_SECRET: &str = "needs the device's secret, and the device holds public keys";

/// Returns the compact alternative for a device that holds public keys.
pub(super) fn without_secret(scheme: &str, n: usize) -> Alternative {
    Alternative::refused(&format!("compact {scheme}"), n, NEEDS_SECRET.to_owned())
}

/// Returns the alternative for a stream whose windows are compact, as the device holds its secret.
pub(super) fn under_public_key(scheme: &str, n: usize) -> Alternative {
    let why = "has no compact form: its mask follows from no name, so both polynomials travel".to_owned();
    Alternative::refused(&format!("public-key {scheme}"), n, why)
}

pub(super) fn no_parameters(tried: &[Alternative], wishes: Wishes, way_out: &str) -> OwnerError {
    let last = tried.last().map_or_else(String::new, |last| format!(": at n = {}, {}", last.n, last.why));
    let bits = wishes.security.bits();
    OwnerError::NoParameters(format!(
        "no parameters of {bits}-bit security suffice for the questions{last}; {way_out}, or ask for less in one question"
    ))
}

/// Largest number of windows summed into one result. The owner adds the results of larger sums.
pub(crate) const MOST_WINDOWS: usize = 64;

/// Largest number of compared windows summed into one result. More would take a larger degree for their noise.
pub(crate) const MOST_COMPARED: usize = 4;

/// Degrees to try.
pub(super) const DEGREES: [usize; 4] = [4096, 8192, 16384, 32768];
