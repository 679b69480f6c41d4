//! The choice of parameters for CKKS.

use sotto_pack::{Channel, Cut, Layout};
use sotto_rlwe::{ChainRequest, Digits, Scheme as _};

use super::chosen::{Alternative, Chosen, DEGREES, Real, no_parameters, under_public_key, without_secret};
use super::judge::attempt;
use super::worst::{layout, worst};
use crate::error::OwnerError;
use crate::quantities::{Quantity, frame, program, typical};
use crate::question::ExactScheme;
use crate::streams::{Needs, StreamNeeds, USUAL_GAP_BITS, Wishes};

// Largest number of levels, sizes of the scale in bits, and bits of the first prime beyond the scale, which hold the
// integral part of a value.
const MOST_LEVELS: usize = 8;

const SCALE_BITS: [u32; 6] = [30, 34, 38, 42, 46, 50];

const FIRST_BITS: u32 = 8;

/// Sizes of the scale, in bits, for values that are flooded: the flooding noise takes more than twenty bits.
const SHARED_SCALE_BITS: [u32; 4] = [46, 50, 54, 56];

/// Largest size of a prime, in bits.
const PRIME_BITS: u32 = 60;

/// The largest number of times that a compact window which the cloud compares repeats its values.
const MOST_COMPARED_SLOTS: u32 = 16;

/// The smallest number of slots in a compact window.
const LEAST_SLOTS: u32 = 2;

/// Returns the layout of a stream's windows at a degree. `frames` frames of slots, of which the first is filled, repeat
/// until a ciphertext is full. Doubling `frames` doubles the bytes and halves the noise of the expansion.
fn real_layout(
    stream: &StreamNeeds,
    channels: &[Channel],
    degree: usize,
    frames: u32,
    wishes: Wishes,
) -> Result<(Layout, Cut), OwnerError> {
    let (layout, cut) = layout(stream, channels, degree as u32 / 2, 1, wishes)?;
    let slots = (frame(&layout).max(LEAST_SLOTS) * frames).min(degree as u32 / 2);
    let compact = Layout::smallest(channels.to_vec(), cut.ticks, slots, 1, layout.encoding());
    Ok((compact.map_err(|error| OwnerError::NoParameters(error.to_string()))?, cut))
}

/// Returns the number of levels that the stream's deepest computation takes.
fn deepest(stream: &StreamNeeds, layout: &Layout, cut: &Cut, degree: usize) -> Result<usize, String> {
    let depth = |quantity: Quantity| {
        let part = typical(layout, cut, 1, &quantity);
        // Two results, so that comparisons put them side by side.
        let asked = program(layout, degree, &[part.clone(), part], &[quantity], true);
        Ok(asked
            .map_err(|error| error.to_string())?
            .program
            .map_or(0, |program| program.depth().any as usize))
    };
    let depths = worst(stream, layout, cut).into_iter().map(depth).collect::<Result<Vec<usize>, String>>()?;
    Ok(depths.into_iter().max().unwrap_or(1))
}

/// Returns the candidates with the numbers of special primes to try. Streams that are compared take many: their keys are
/// large, and several special primes make them smaller and switching faster.
fn with_special_primes(stream: &StreamNeeds, candidates: &[(usize, u32)]) -> Vec<(usize, u32, usize)> {
    let numbers: &[usize] = if stream.needs.gap_bits.is_some() { &[4, 3, 2, 1] } else { &[1] };
    let each = |(levels, bits): &(usize, u32)| {
        let (levels, bits) = (*levels, *bits);
        numbers.iter().map(move |special| (levels, bits, *special))
    };
    candidates.iter().flat_map(each).collect()
}

/// Returns the smallest chain at a degree on which the values are precise enough.
fn real_at_degree(
    stream: &StreamNeeds,
    channels: &[Channel],
    degree: usize,
    frames: u32,
    wishes: Wishes,
) -> Result<Chosen, String> {
    let (layout, cut) =
        real_layout(stream, channels, degree, frames, wishes).map_err(|error| error.to_string())?;
    let scales = if stream.needs.flooding.is_some() { &SHARED_SCALE_BITS[..] } else { &SCALE_BITS[..] };
    let levels = match stream.needs.gap_bits {
        None => 1..=MOST_LEVELS,
        // A comparison is most of the depth, and dry runs of it take time.
        Some(_) => {
            let levels = deepest(stream, &layout, &cut, degree)?;
            levels..=levels
        }
    };
    let mut candidates: Vec<(usize, u32)> =
        levels.flat_map(|levels| scales.iter().map(move |bits| (levels, *bits))).collect();
    candidates.sort_by_key(|(levels, bits)| (*levels as u32 + 1) * bits);
    let mut why = wishes.no_room();
    for (levels, bits, special) in with_special_primes(stream, &candidates) {
        let request = ChainRequest {
            special_primes: Some(special),
            digits: Some(Digits::Primes(special)),
            levels: Some(levels),
            first_bits: Some((bits + FIRST_BITS).min(PRIME_BITS)),
            other_bits: Some(bits),
            security: wishes.target(),
            ..ChainRequest::new(Real::ID, degree, 0)
        };
        let Ok(spec) = request.build() else { continue };
        match attempt::<Real>(stream, &layout, cut, spec, wishes) {
            Ok(chosen) => return Ok(chosen),
            Err(error) => why = error,
        }
    }
    Err(why)
}

pub(super) fn choose_real(
    stream: &StreamNeeds,
    channels: &[Channel],
    wishes: Wishes,
) -> Result<Chosen, OwnerError> {
    let chosen = choose_place(stream, channels, wishes)?;
    if !stream.needs.conditions {
        return Ok(chosen);
    }
    // The other place of the comparisons, as an alternative.
    let in_cloud = stream.needs.gap_bits.is_some();
    let gap_bits = if in_cloud { None } else { Some(USUAL_GAP_BITS) };
    let needs = Needs { gap_bits, ..stream.needs.clone() };
    let other = choose_place(&StreamNeeds { needs, ..stream.clone() }, channels, wishes);
    let scheme = if in_cloud { "CKKS, compared by you," } else { "CKKS, compared in the cloud," };
    let why = |found: &Chosen| {
        let (bytes, here) = (found.window_bytes, chosen.window_bytes);
        if in_cloud {
            format!(
                "{bytes} bytes a window, {here} where it was chosen; you would see the values (compare = \"owner\")"
            )
        } else {
            format!(
                "{bytes} bytes a window, {here} where it was chosen, and values near a limit stay undecided; it hides the values from you (compare = \"cloud\")"
            )
        }
    };
    let alternative = match &other {
        Ok(found) => Alternative { scheme: scheme.to_owned(), ..Alternative::of(found, why(found)) },
        Err(error) => Alternative::refused(scheme, DEGREES[DEGREES.len() - 1], error.to_string()),
    };
    let mut chosen = chosen;
    chosen.alternatives.push(alternative);
    Ok(chosen)
}

/// Returns the best parameters for comparisons at the place that the stream declares.
fn choose_place(stream: &StreamNeeds, channels: &[Channel], wishes: Wishes) -> Result<Chosen, OwnerError> {
    if let Some(gap_bits) = stream.needs.gap_bits
        && !sotto_program::limits::GAP_BITS.contains(&gap_bits)
    {
        return Err(OwnerError::NoParameters(
            "the finest comparison in the cloud leaves values undecided within 1/2048 of the size of their coefficients: accept more with --precision, or let the owner compare (compare = \"owner\")".to_owned(),
        ));
    }
    let mut tried = Vec::new();
    for degree in DEGREES {
        let most = match (stream.needs.flooding, stream.needs.gap_bits) {
            (None, None) => 1,
            (None, Some(_)) => MOST_COMPARED_SLOTS,
            (Some(_), _) => degree as u32 / 2,
        };
        let frames = core::iter::successors(Some(1), |frames| Some(4 * frames).filter(|more| *more <= most));
        let mut at_degree = Err(String::new());
        for frames in frames {
            at_degree = real_at_degree(stream, channels, degree, frames, wishes);
            if at_degree.is_ok() {
                break;
            }
        }
        match at_degree {
            Ok(mut chosen) => {
                chosen.alternatives = tried;
                for scheme in ExactScheme::ALL {
                    let why = "has whole numbers only: coefficients and models are reals".to_owned();
                    let other = Alternative::refused(&scheme.to_string(), degree, why);
                    chosen.alternatives.push(other);
                }
                if stream.public {
                    chosen.alternatives.push(without_secret(Real::ID.title(), degree));
                } else if chosen.kept().is_some() {
                    chosen.alternatives.push(under_public_key(Real::ID.title(), degree));
                }
                return Ok(chosen);
            }
            Err(why) => {
                tried.push(Alternative::refused(&Real::ID.to_string(), degree, why));
            }
        }
    }
    let way_out = match stream.needs.gap_bits {
        None => "accept a larger error with --precision, take polynomials of a lower degree",
        Some(_) => {
            "accept more undecided values with --precision, let the owner compare (compare = \"owner\")"
        }
    };
    Err(no_parameters(&tried, wishes, way_out))
}
