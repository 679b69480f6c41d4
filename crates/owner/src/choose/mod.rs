//! The choice of parameters for a stream: the scheme, n and modulus with the fewest bytes per window that satisfy the
//! noise bound for all questions of the stream.

mod compact;
mod compared;
mod exact;
mod judge;
mod real;
mod report;
mod steps;
mod worst;

use sotto_pack::{Channel, Cut, Layout, Places, StreamProfile};
use sotto_program::KeysNeeded;
use sotto_rlwe::{Bfv, Bgv, Ckks, Kept, ParameterSpec, SchemeId};

use crate::compute::frame;
use crate::error::OwnerError;
use crate::needs::{Kind, StreamNeeds};

pub(crate) use compared::carried_gap;
pub use real::{REAL_ERROR, SHARED_ERROR, real_error};
pub use report::{StreamReport, stream_report};
pub(crate) use worst::{largest_result, typical, worst};

use exact::best;
use judge::attempt;
use real::choose_real;
use steps::choose_steps;

/// Largest number of windows summed into one result. The owner adds the results of larger sums.
pub(crate) const MOST_WINDOWS: usize = 64;
/// Largest number of compared windows summed into one result. More would take a larger degree for their noise.
pub(crate) const MOST_COMPARED: usize = 4;
/// Degrees to try.
const DEGREES: [usize; 4] = [4096, 8192, 16384, 32768];

/// The choice for a stream, with the alternatives.
///
/// ```
/// use sotto_owner::{Chosen, Kind, Needs, StreamNeeds, choose};
/// use sotto_pack::{Channel, Span};
///
/// let temperature = Channel {
///     name: "temperature".into(), unit: "°C".into(), minimum: -20.0, maximum: 120.0, resolution: Some(0.1),
/// };
/// let daily_means = StreamNeeds {
///     kind: Kind::Exact, period: 300_000, span: Span::Day, channels: vec!["temperature".into()],
///     needs: Needs::default(), questions: vec!["daily".into()], public: false,
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
    /// The parameters.
    pub spec: ParameterSpec,
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
    /// The form of compact windows. None: windows are whole ciphertexts.
    pub compact: Option<Places>,
}

/// A scheme and degree that was not chosen.
///
/// Example: [`StreamReport`]
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Alternative {
    /// The scheme.
    pub scheme: String,
    /// The ring's degree.
    pub n: usize,
    /// Bytes of a window, if the parameters are suitable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_bytes: Option<usize>,
    /// The reason why it was not chosen.
    pub why: String,
}

/// Returns the best parameters for a stream.
///
/// # Errors
/// [`OwnerError::NoParameters`] with the reason and a remedy.
pub fn choose(stream: &StreamNeeds, channels: &[Channel]) -> Result<Chosen, OwnerError> {
    match stream.kind {
        Kind::Real => choose_real(stream, channels),
        Kind::Steps => choose_steps(stream, channels),
        Kind::Exact => {
            let compact = if stream.public {
                without_secret(SchemeId::Bfv, 4096)
            } else {
                match compact::best(stream, channels) {
                    Ok(chosen) => return Ok(chosen),
                    Err(why) if !stream.needs.bins.is_empty() => {
                        return Err(OwnerError::NoParameters(format!(
                            "counts by bin travel in compact windows only, and these do not fit: {why}; declare fewer bins, a coarser resolution or a narrower range"
                        )));
                    }
                    Err(why) => {
                        Alternative { scheme: "compact BFV".to_owned(), n: 4096, window_bytes: None, why }
                    }
                }
            };
            let (bfv, bgv) = (best::<Bfv>(stream, channels), best::<Bgv>(stream, channels));
            let (mut winner, loser) = match (bfv.0, bgv.0) {
                (Some(bfv_best), Some(bgv_best)) if bgv_best.window_bytes < bfv_best.window_bytes => {
                    (bgv_best, Some(bfv_best))
                }
                (Some(bfv_best), other) => (bfv_best, other),
                (None, Some(bgv_best)) => (bgv_best, None),
                (None, None) => {
                    return Err(no_parameters(&bfv.1, "declare a coarser resolution or a narrower range"));
                }
            };
            winner.alternatives = [compact].into_iter().chain(bfv.1).chain(bgv.1).collect();
            if let Some(loser) = loser {
                let bytes = loser.window_bytes;
                let why = if bytes == winner.window_bytes {
                    "as many bytes a window; the first of the two was taken".to_owned()
                } else {
                    format!("{bytes} bytes a window, {} where it was chosen", winner.window_bytes)
                };
                winner.alternatives.push(Alternative {
                    scheme: loser.spec.scheme.to_string(),
                    n: loser.spec.degree,
                    window_bytes: Some(bytes),
                    why,
                });
            }
            winner.alternatives.push(Alternative {
                scheme: SchemeId::Ckks.to_string(),
                n: winner.spec.degree,
                window_bytes: None,
                why: "rounds: the resolution would not be the only error".to_owned(),
            });
            Ok(winner)
        }
    }
}

/// Returns the compact alternative for a device that holds public keys.
fn without_secret(scheme: SchemeId, n: usize) -> Alternative {
    let why = "needs the device's secret, and the device holds public keys".to_owned();
    Alternative { scheme: format!("compact {scheme}"), n, window_bytes: None, why }
}

/// Returns the alternative for a stream whose windows are compact, as the device holds its secret.
fn under_public_key(scheme: SchemeId, n: usize) -> Alternative {
    let why = "has no compact form: its mask follows from no name, so both polynomials travel".to_owned();
    Alternative { scheme: format!("public-key {scheme}"), n, window_bytes: None, why }
}

fn no_parameters(tried: &[Alternative], way_out: &str) -> OwnerError {
    let last = tried.last().map_or_else(String::new, |last| format!(": at n = {}, {}", last.n, last.why));
    OwnerError::NoParameters(format!(
        "no parameters of 128-bit security suffice for the questions{last}; {way_out}, or ask for less in one question"
    ))
}

impl Chosen {
    /// Returns the number of readings in a full window.
    #[must_use]
    pub fn readings(&self) -> u64 {
        u64::from(self.cut.ticks) * self.layout.channels().len() as u64
    }

    /// Returns the coefficients that hold a window's values, if these repeat over the slots; compact windows send them
    /// alone. Returns None for compact sums, and for whole ciphertexts whose values do not repeat.
    #[must_use]
    pub fn kept(&self) -> Option<Kept> {
        if self.compact.is_some() {
            return None;
        }
        crate::compute::kept(&self.layout, self.spec.degree)
    }

    /// Returns the number of coefficients that a compact window sends, and the bits of each. Returns None for whole
    /// ciphertexts.
    #[must_use]
    pub fn sent(&self) -> Option<(usize, u32)> {
        let of_sums = |places: &Places| (places.count(&self.layout, self.cut.ticks), places.width);
        let bits = || self.spec.data.iter().map(|q| u64::BITS - q.leading_zeros()).sum();
        if self.stream.public {
            return None;
        }
        self.compact.as_ref().map(of_sums).or_else(|| self.kept().map(|kept| (kept.places(), bits())))
    }

    /// Returns the number of slots in a result.
    #[must_use]
    pub fn frame(&self) -> u32 {
        frame(&self.layout)
    }

    /// Returns the stream's entry in the device's profile, for bundle number `bundle`, from 0. Each bundle's streams
    /// have names of their own, so their windows are numbered anew, and readings of a file are sent again.
    #[must_use]
    pub fn profile(&self, bundle: usize) -> sotto_pack::StreamProfile {
        let name = self.stream.name();
        sotto_pack::StreamProfile {
            stream: if bundle == 0 { name } else { format!("{name}.{}", bundle + 1) },
            parameters: hex::encode(sotto_wire::write_parameters(&self.spec)),
            encoding: self.layout.encoding(),
            ticks: self.cut.ticks,
            period_ms: Some(self.cut.period),
            span: Some(self.cut.span),
            channels: self.layout.channels().to_vec(),
            compact: self.compact.clone(),
            slots: self.kept().map(|kept| kept.values() as u32),
            envelope: if self.sent().is_some() { 2 } else { 1 },
            fleet: None,
            public: self.stream.public,
        }
    }
}

/// Checks that a parameter set holds everything that a stream needs.
///
/// # Errors
/// The reason why it does not.
pub(crate) fn fits(
    stream: &StreamNeeds,
    spec: &ParameterSpec,
    profile: &StreamProfile,
) -> Result<(), String> {
    let (channels, public) = (&profile.channels, profile.public);
    let stream = &StreamNeeds { public, ..stream.clone() };
    if let Some(places) = &profile.compact {
        return compact::fits(stream, channels, spec, places);
    }
    let layout = crate::ask::layout_of(profile, spec).map_err(|error| error.to_string())?;
    let cut = Cut { span: stream.span, period: stream.period, ticks: profile.ticks };
    match spec.scheme {
        SchemeId::Bfv => attempt::<Bfv>(stream, &layout, cut, spec.clone()),
        SchemeId::Bgv => attempt::<Bgv>(stream, &layout, cut, spec.clone()),
        SchemeId::Ckks => attempt::<Ckks>(stream, &layout, cut, spec.clone()),
    }
    .map(drop)
}
