//! How far an answer can be off because its readings were.
//!
//! Throughout, x is the vector of true readings, x + δ what is computed on, and `|δ_i| ≤ h` for each of them. For
//! quantised readings h is [`Quantiser::value_error`](crate::Quantiser::value_error), for real ones
//! [`Normaliser::value_error`](crate::Normaliser::value_error) of the encryption noise. Variances divide by the count.

/// The mean is off by at most h.
///
/// Proof. mean(x + δ) − mean(x) = mean(δ), and a mean of numbers in −h … h is in −h … h.
#[must_use]
pub fn mean(h: f64) -> f64 {
    h
}

/// The variance is off by at most `2·sd·h + h²`, where sd is the standard deviation of the true readings.
///
/// Proof. var(x + δ) = var(x) + 2·cov(x, δ) + var(δ). By Cauchy and Schwarz |cov(x, δ)| ≤ sd(x)·sd(δ). And
/// var(δ) = mean(δ²) − mean(δ)² ≤ h², so sd(δ) ≤ h, and the two terms are at most 2·sd·h and h².
#[must_use]
pub fn variance(sd: f64, h: f64) -> f64 {
    2.0 * sd * h + h * h
}

/// The same where only the range of the readings is known.
///
/// Proof. Readings in `minimum ..= maximum` are within half the range r of its middle c, so
/// var(x) ≤ mean((x − c)²) ≤ r², and sd ≤ r.
#[must_use]
pub fn variance_in_range(minimum: f64, maximum: f64, h: f64) -> f64 {
    variance(maximum / 2.0 - minimum / 2.0, h)
}

/// The same where only the answer is known: the computed variance.
///
/// Proof. sd is a seminorm, so sd(x) ≤ sd(x + δ) + sd(δ) ≤ √answer + h.
#[must_use]
pub fn variance_of_answer(answer: f64, h: f64) -> f64 {
    variance(answer.max(0.0).sqrt() + h, h)
}

/// The standard deviation is off by at most h.
///
/// Proof. sd is a seminorm, so |sd(x + δ) − sd(x)| ≤ sd(δ) ≤ h.
#[must_use]
pub fn deviation(h: f64) -> f64 {
    h
}

/// A weighted sum `Σ w_i·x_i` is off by at most `Σ |w_i|·h_i`, for terms `(w_i, h_i)`.
///
/// Proof. The difference is Σ w_i·δ_i; the triangle inequality.
#[must_use]
pub fn weighted_sum(terms: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    terms.into_iter().map(|(weight, h)| weight.abs() * h).sum()
}

/// The largest |p′| in `minimum ..= maximum` is at most this, for `p(x) = Σ coefficients[k]·x^k`.
///
/// Proof. p′(x) = Σ k·c_k·x^(k−1), and |x| ≤ m = max(|minimum|, |maximum|); the triangle inequality.
#[must_use]
pub fn derivative(coefficients: &[f64], minimum: f64, maximum: f64) -> f64 {
    let most = minimum.abs().max(maximum.abs());
    let terms = coefficients.iter().enumerate().skip(1);
    // Horner from the highest power, all terms positive.
    terms.rev().fold(0.0, |sum, (power, coefficient)| sum * most + power as f64 * coefficient.abs())
}

/// A polynomial of one reading in `minimum ..= maximum` is off by at most `h·max |p′|`, for
/// `p(x) = Σ coefficients[k]·x^k`.
///
/// Proof. By the mean value theorem p(x + δ) − p(x) = δ·p′(ξ) with ξ between x and x + δ, so ξ is in
/// `minimum − h ..= maximum + h`.
#[must_use]
pub fn polynomial(coefficients: &[f64], minimum: f64, maximum: f64, h: f64) -> f64 {
    h * derivative(coefficients, minimum - h, maximum + h)
}
