//! The choice of the best parameters for a stream.

use sotto_pack::{Channel, Cut, StreamProfile};
use sotto_rlwe::{ParameterSpec, Scheme as _, with_scheme};

use super::chosen::{Alternative, Chosen, DEGREES, NEEDS_SECRET, Real, SUMS, no_parameters};
use super::exact::best;
use super::judge::attempt;
use super::real::choose_real;
use super::steps::choose_steps;
use super::sums;
use super::ways::Way;
use super::worst::ticks_wished;
use crate::error::OwnerError;
use crate::question::ExactScheme;
use crate::streams::{Kind, StreamNeeds, Wishes, layout_of};

/// Returns the best parameters for a stream.
///
/// # Errors
/// [`OwnerError::NoParameters`] with the reason and a remedy.
pub fn choose(stream: &StreamNeeds, channels: &[Channel]) -> Result<Chosen, OwnerError> {
    choose_with(stream, channels, Wishes::default())
}

/// Returns the best parameters for a stream that also meet some wishes.
pub(crate) fn choose_with(
    stream: &StreamNeeds,
    channels: &[Channel],
    wishes: Wishes,
) -> Result<Chosen, OwnerError> {
    // No parameters would mend a length that cannot be: it is refused in its own words.
    ticks_wished(stream, wishes)?;
    match (stream.kind, stream.scheme) {
        (Kind::Real, _) => choose_real(stream, channels, wishes),
        (Kind::Steps, _) => choose_steps(stream, channels, wishes),
        (Kind::Exact, Some(scheme)) => choose_stated(stream, channels, scheme, wishes),
        (Kind::Exact, None) => choose_exact(stream, channels, wishes),
    }
}

/// Returns sums with tags, or ciphertexts where the device holds public keys or sums do not fit.
fn choose_exact(stream: &StreamNeeds, channels: &[Channel], wishes: Wishes) -> Result<Chosen, OwnerError> {
    let of_sums = match sums::best(stream, channels, wishes) {
        Ok(chosen) if !stream.public => return Ok(chosen),
        Err(why) if !stream.public && !stream.needs.bins.is_empty() => {
            return Err(OwnerError::NoParameters(format!(
                "counts by bin travel in windows of sums only, and these do not fit: {why}; declare fewer bins, a coarser resolution or a narrower range"
            )));
        }
        of_sums => sums_not_taken(of_sums, NEEDS_SECRET),
    };
    let [bfv, bgv] = ExactScheme::ALL.map(|scheme| best_of(scheme, stream, channels, wishes));
    let (mut winner, loser) = match (bfv.0, bgv.0) {
        (Some(bfv_best), Some(bgv_best)) if bgv_best.window_bytes < bfv_best.window_bytes => {
            (bgv_best, Some(bfv_best))
        }
        (Some(bfv_best), other) => (bfv_best, other),
        (None, Some(bgv_best)) => (bgv_best, None),
        (None, None) => {
            return Err(no_parameters(&bfv.1, wishes, "declare a coarser resolution or a narrower range"));
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
        winner.alternatives.push(Alternative::of(&loser, why));
    }
    winner.alternatives.push(rounds(winner.degree()));
    Ok(winner)
}

/// Returns the best parameters of a scheme, if there are any, and the ones that were refused.
fn best_of(
    scheme: ExactScheme,
    stream: &StreamNeeds,
    channels: &[Channel],
    wishes: Wishes,
) -> (Option<Chosen>, Vec<Alternative>) {
    with_scheme!(scheme.id(), S => best::<S>(stream, channels, wishes))
}

/// Returns ciphertexts of the scheme that the stream's questions state.
fn choose_stated(
    stream: &StreamNeeds,
    channels: &[Channel],
    scheme: ExactScheme,
    wishes: Wishes,
) -> Result<Chosen, OwnerError> {
    let (chosen, tried) = best_of(scheme, stream, channels, wishes);
    let way_out = "declare a coarser resolution or a narrower range, or take `scheme` from the question";
    let mut chosen = chosen.ok_or_else(|| no_parameters(&tried, wishes, way_out))?;
    let why = if stream.public { NEEDS_SECRET.to_owned() } else { chosen.why() };
    let of_sums = sums_not_taken(sums::best(stream, channels, wishes), &why);
    chosen.alternatives = [of_sums].into_iter().chain(tried).chain([rounds(chosen.degree())]).collect();
    Ok(chosen)
}

impl Chosen {
    /// Adds to sums, as alternatives, the ciphertexts that they are taken in place of. Takes 20 ms to a second, so a choice
    /// comes without them.
    #[must_use]
    pub fn compared(mut self) -> Self {
        if self.way() == Way::Added {
            self.alternatives = evaluated(&self);
        }
        self
    }
}

/// Returns the ciphertexts that these sums are taken in place of.
fn evaluated(sums: &Chosen) -> Vec<Alternative> {
    let of = |(chosen, tried): (Option<Chosen>, Vec<Alternative>)| match chosen {
        Some(chosen) => {
            let why = format!(
                "{:.0} bytes a reading, {:.0} where it was chosen, and its sums carry no tag; `scheme = \"{}\"` of a question takes it",
                chosen.bytes_a_reading(),
                sums.bytes_a_reading(),
                chosen.scheme().to_lowercase()
            );
            vec![Alternative::of(&chosen, why)]
        }
        None => tried,
    };
    let (stream, channels, wishes) = (&sums.stream, sums.layout.channels(), sums.wishes);
    let ciphertexts =
        ExactScheme::ALL.into_iter().flat_map(|scheme| of(best_of(scheme, stream, channels, wishes)));
    ciphertexts.chain([rounds(DEGREES[0])]).collect()
}

/// Returns sums with tags, which are not taken, as an alternative.
fn sums_not_taken(of_sums: Result<Chosen, String>, why: &str) -> Alternative {
    match of_sums {
        Ok(chosen) => Alternative::of(&chosen, why.to_owned()),
        Err(why) => Alternative::refused(SUMS, 0, why),
    }
}

fn rounds(degree: usize) -> Alternative {
    let why = "rounds: the resolution would not be the only error";
    Alternative::refused(Real::ID.title(), degree, why.to_owned())
}

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
    let Some(spec) = spec else { return sums::fits(&stream.needs, channels, &profile.sums) };
    let layout = layout_of(profile, Some(spec)).map_err(|error| error.to_string())?;
    let cut = Cut::new(stream.span, stream.period, profile.ticks);
    with_scheme!(spec.scheme, S => attempt::<S>(stream, &layout, cut, spec.clone(), Wishes::default()))
        .map(drop)
}
