//! The choice of the best parameters for a stream.

use sotto_pack::{Channel, Cut, StreamProfile};
use sotto_rlwe::{Bfv, Bgv, Ckks, ParameterSpec, SchemeId};

use super::chosen::{Alternative, Chosen, no_parameters, without_secret};
use super::exact::best;
use super::judge::attempt;
use super::real::choose_real;
use super::steps::choose_steps;
use super::sums;
use crate::error::OwnerError;
use crate::streams::{Kind, StreamNeeds, layout_of};

/// Returns the best parameters for a stream.
///
/// # Errors
/// [`OwnerError::NoParameters`] with the reason and a remedy.
pub fn choose(stream: &StreamNeeds, channels: &[Channel]) -> Result<Chosen, OwnerError> {
    match stream.kind {
        Kind::Real => choose_real(stream, channels),
        Kind::Steps => choose_steps(stream, channels),
        Kind::Exact => {
            let of_sums = if stream.public {
                without_secret(SUMS, 0)
            } else {
                match sums::best(stream, channels) {
                    Ok(chosen) => return Ok(chosen),
                    Err(why) if !stream.needs.bins.is_empty() => {
                        return Err(OwnerError::NoParameters(format!(
                            "counts by bin travel in windows of sums only, and these do not fit: {why}; declare fewer bins, a coarser resolution or a narrower range"
                        )));
                    }
                    Err(why) => Alternative { scheme: SUMS.to_owned(), n: 0, window_bytes: None, why },
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
            winner.alternatives = [of_sums].into_iter().chain(bfv.1).chain(bgv.1).collect();
            if let Some(loser) = loser {
                let bytes = loser.window_bytes;
                let why = if bytes == winner.window_bytes {
                    "as many bytes a window; the first of the two was taken".to_owned()
                } else {
                    format!("{bytes} bytes a window, {} where it was chosen", winner.window_bytes)
                };
                winner.alternatives.push(Alternative {
                    scheme: loser.scheme().to_owned(),
                    n: loser.degree(),
                    window_bytes: Some(bytes),
                    why,
                });
            }
            winner.alternatives.push(Alternative {
                scheme: SchemeId::Ckks.to_string(),
                n: winner.degree(),
                window_bytes: None,
                why: "rounds: the resolution would not be the only error".to_owned(),
            });
            Ok(winner)
        }
    }
}

/// The name of the form without a lattice.
const SUMS: &str = "sums";

/// Checks that the windows of a profile hold everything that a stream needs. `spec` has the parameters of ciphertexts; None
/// for sums.
///
/// # Errors
/// The reason why they do not.
pub(crate) fn fits(
    stream: &StreamNeeds,
    spec: Option<&ParameterSpec>,
    profile: &StreamProfile,
) -> Result<(), String> {
    let (channels, public) = (&profile.channels, profile.public);
    let stream = &StreamNeeds { public, ..stream.clone() };
    let Some(spec) = spec else { return sums::fits(stream, channels, &profile.sums) };
    let layout = layout_of(profile, Some(spec)).map_err(|error| error.to_string())?;
    let cut = Cut { span: stream.span, period: stream.period, ticks: profile.ticks };
    match spec.scheme {
        SchemeId::Bfv => attempt::<Bfv>(stream, &layout, cut, spec.clone()),
        SchemeId::Bgv => attempt::<Bgv>(stream, &layout, cut, spec.clone()),
        SchemeId::Ckks => attempt::<Ckks>(stream, &layout, cut, spec.clone()),
    }
    .map(drop)
}
