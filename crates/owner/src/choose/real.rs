//! Parameters of CKKS.

use sotto_pack::{Channel, Cut, Layout};
use sotto_rlwe::{ChainRequest, Ckks, Digits, SchemeId};

use crate::compute::frame;
use crate::error::OwnerError;
use crate::needs::StreamNeeds;

use super::judge::attempt;
use super::worst::layout;
use super::{Alternative, Chosen, DEGREES, no_parameters};

/// Levels and scales of candidates in CKKS, and bits of the first prime beyond the scale: room for the whole part of a value.
const MOST_LEVELS: usize = 8;
const SCALE_BITS: [u32; 6] = [30, 34, 38, 42, 46, 50];
const FIRST_BITS: u32 = 8;
/// A polynomial's or a model's error from noise is at most this part of the size of its coefficients.
pub const REAL_ERROR: f64 = 1e-4;
/// The fewest slots of a compact window.
const LEAST_SLOTS: u32 = 2;

/// The layout of a stream's windows at a degree: one frame of slots, which repeats until a ciphertext is full.
fn real_layout(
    stream: &StreamNeeds,
    channels: &[Channel],
    degree: usize,
) -> Result<(Layout, Cut), OwnerError> {
    let (layout, cut) = layout(stream, channels, degree as u32 / 2, 1)?;
    let slots = frame(&layout).max(LEAST_SLOTS);
    let compact = Layout::smallest(channels.to_vec(), cut.ticks, slots, 1, layout.encoding());
    Ok((compact.map_err(|error| OwnerError::NoParameters(error.to_string()))?, cut))
}

/// The smallest chain at a degree on which the values are precise enough.
fn real_at_degree(stream: &StreamNeeds, channels: &[Channel], degree: usize) -> Result<Chosen, String> {
    let (layout, cut) = real_layout(stream, channels, degree).map_err(|error| error.to_string())?;
    let mut candidates: Vec<(usize, u32)> =
        (1..=MOST_LEVELS).flat_map(|levels| SCALE_BITS.map(|bits| (levels, bits))).collect();
    candidates.sort_by_key(|(levels, bits)| (*levels as u32 + 1) * bits);
    let mut why = String::from("128-bit security leaves no room for the modulus that they need");
    for (levels, bits) in candidates {
        let request = ChainRequest {
            special_primes: Some(1),
            digits: Some(Digits::Primes(1)),
            levels: Some(levels),
            first_bits: Some(bits + FIRST_BITS),
            other_bits: Some(bits),
            ..ChainRequest::new(SchemeId::Ckks, degree, 0)
        };
        let Ok(spec) = request.build() else { continue };
        match attempt::<Ckks>(stream, &layout, cut, spec) {
            Ok(chosen) => return Ok(chosen),
            Err(error) => why = error,
        }
    }
    Err(why)
}

pub(super) fn choose_real(stream: &StreamNeeds, channels: &[Channel]) -> Result<Chosen, OwnerError> {
    let mut tried = Vec::new();
    for degree in DEGREES {
        match real_at_degree(stream, channels, degree) {
            Ok(mut chosen) => {
                chosen.alternatives = tried;
                for scheme in [SchemeId::Bfv, SchemeId::Bgv] {
                    let why = "has whole numbers only: coefficients and models are reals".to_owned();
                    let (scheme, n) = (scheme.to_string(), degree);
                    chosen.alternatives.push(Alternative { scheme, n, window_bytes: None, why });
                }
                if chosen.kept().is_some() {
                    chosen.alternatives.push(super::under_public_key(SchemeId::Ckks, degree));
                }
                return Ok(chosen);
            }
            Err(why) => {
                tried.push(Alternative {
                    scheme: SchemeId::Ckks.to_string(),
                    n: degree,
                    window_bytes: None,
                    why,
                });
            }
        }
    }
    Err(no_parameters(&tried, "accept a larger error with --precision, take polynomials of a lower degree"))
}
