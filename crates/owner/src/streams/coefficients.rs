//! Coefficients of polynomials and models on normalised values, which are −1 … 1 over a channel's declared range.

use crate::language::Measurand;

/// Returns the size of the coefficients of a polynomial or a model on normalised values. A slot's error is multiplied
/// by it.
pub(crate) fn coefficient_size(
    reading: &Measurand,
    channel: impl Fn(&str) -> Option<sotto_pack::Channel>,
) -> Option<f64> {
    let ends = |name: &str| channel(name).map(|channel| (channel.minimum, channel.maximum));
    match reading {
        Measurand::Channel(_) => None,
        Measurand::Polynomial { channel, coefficients } => {
            let (low, high) = ends(channel)?;
            let shifted = shifted(coefficients, (low + high) / 2.0, (high - low) / 2.0);
            Some(shifted.iter().skip(1).map(|c| c.abs()).sum())
        }
        Measurand::Linear { model, .. } => {
            let factors = model.as_ref()?.coefficients.iter();
            factors
                .map(|(name, factor)| ends(name).map(|(low, high)| factor.abs() * (high - low) / 2.0))
                .sum()
        }
    }
}

/// Returns the coefficients of p(centre + half · u) as a polynomial in u.
pub(crate) fn shifted(coefficients: &[f64], centre: f64, half: f64) -> Vec<f64> {
    // Horner's rule on polynomials: p = p · (centre + half·u) + c.
    let mut shifted = vec![0.0];
    for coefficient in coefficients.iter().rev() {
        let mut next = vec![0.0; shifted.len() + 1];
        for (power, value) in shifted.iter().enumerate() {
            next[power] += value * centre;
            next[power + 1] += value * half;
        }
        next[0] += coefficient;
        shifted = next;
    }
    shifted.truncate(coefficients.len().max(1));
    shifted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_the_same_on_normalised_values() {
        let coefficients = [3.0, -0.5, 0.02, 0.001];
        let evaluate = |c: &[f64], x: f64| c.iter().rev().fold(0.0, |sum, c| sum * x + c);
        let moved = shifted(&coefficients, 50.0, 70.0);
        for u in [-1.0, -0.3, 0.0, 0.7, 1.0] {
            let (a, b) = (evaluate(&moved, u), evaluate(&coefficients, 50.0 + 70.0 * u));
            assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{u}: {a} {b}");
        }
    }
}
