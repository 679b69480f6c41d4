//! The choice of the best parameters for a stream.

use sotto_pack::{Channel, Cut, StreamProfile};
use sotto_rlwe::{Bfv, Bgv, Ckks, ParameterSpec, SchemeId};

use super::chosen::{Alternative, Chosen, no_parameters, without_secret};
use super::compact;
use super::exact::best;
use super::judge::attempt;
use super::real::choose_real;
use super::steps::choose_steps;
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
    let layout = layout_of(profile, spec).map_err(|error| error.to_string())?;
    let cut = Cut { span: stream.span, period: stream.period, ticks: profile.ticks };
    match spec.scheme {
        SchemeId::Bfv => attempt::<Bfv>(stream, &layout, cut, spec.clone()),
        SchemeId::Bgv => attempt::<Bgv>(stream, &layout, cut, spec.clone()),
        SchemeId::Ckks => attempt::<Ckks>(stream, &layout, cut, spec.clone()),
    }
    .map(drop)
}
