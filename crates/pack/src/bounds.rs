//! Bounds on the error of answers that are computed from inexact readings.
//!
//! Throughout, x is the vector of true readings, x + δ the vector used by the computation, and `|δ_i| ≤ h`
//! for each i. For quantised readings h is [`Quantiser::value_error`](crate::Quantiser::value_error), for
//! real ones [`Normaliser::value_error`](crate::Normaliser::value_error) of the encryption noise. Variances
//! divide by the count.

/// Returns the error bound of the mean: h.
///
/// Proof. mean(x + δ) − mean(x) = mean(δ), and a mean of numbers in −h … h is in −h … h.
#[must_use]
pub fn mean(h: f64) -> f64 {
    h
}

/// Returns the error bound of the variance: `2·sd·h + h²`, where sd is the standard deviation of the true
/// readings.
///
/// Proof. var(x + δ) = var(x) + 2·cov(x, δ) + var(δ). By Cauchy and Schwarz |cov(x, δ)| ≤ sd(x)·sd(δ). And
/// var(δ) = mean(δ²) − mean(δ)² ≤ h², so sd(δ) ≤ h, and the two terms are at most 2·sd·h and h².
#[must_use]
pub fn variance(sd: f64, h: f64) -> f64 {
    2.0 * sd * h + h * h
}

/// Returns the error bound of the standard deviation: h.
///
/// Proof. sd is a seminorm, so |sd(x + δ) − sd(x)| ≤ sd(δ) ≤ h.
#[must_use]
pub fn deviation(h: f64) -> f64 {
    h
}

/// Returns the error bound of the third central moment `mean((x − mean x)³)`, where sd is the standard deviation of the
/// readings used and `root` the square root of their fourth central moment: `3·h·root + 6·sd·h² + 2√2·h³`.
///
/// Proof. With d the readings used less their mean and e = δ − mean(δ), the difference is the mean of
/// 3·d²·e − 3·d·e² + e³. By Cauchy and Schwarz its terms are at most 3·√mean(d⁴)·√mean(e²), 3·sd·√mean(e⁴) and
/// mean(e²)^½·mean(e⁴)^½. And mean(e²) ≤ h², |e| ≤ 2h, so mean(e⁴) ≤ 4h⁴.
#[must_use]
pub fn third_moment(sd: f64, root: f64, h: f64) -> f64 {
    3.0 * h * root + 6.0 * sd * h * h + 2.0 * core::f64::consts::SQRT_2 * h * h * h
}

/// Returns the error bound of the fourth root of the fourth central moment: `√2·h`.
///
/// Proof. It is a seminorm, so its difference is at most that of δ, the fourth root of mean(e⁴) ≤ 4h⁴ with e as in
/// [`third_moment`].
#[must_use]
pub fn fourth_norm(h: f64) -> f64 {
    core::f64::consts::SQRT_2 * h
}

/// Returns the error bound of a weighted sum `Σ w_i·x_i`: `Σ |w_i|·h_i`, for terms `(w_i, h_i)`.
///
/// Proof. The difference is Σ w_i·δ_i; apply the triangle inequality.
#[must_use]
pub fn weighted_sum(terms: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    terms.into_iter().map(|(weight, h)| weight.abs() * h).sum()
}

/// Returns an upper bound of |p′| on `minimum ..= maximum`, for `p(x) = Σ coefficients[k]·x^k`.
///
/// Proof. p′(x) = Σ k·c_k·x^(k−1), and |x| ≤ m = max(|minimum|, |maximum|); apply the triangle inequality.
#[must_use]
pub fn derivative(coefficients: &[f64], minimum: f64, maximum: f64) -> f64 {
    let most = minimum.abs().max(maximum.abs());
    let terms = coefficients.iter().enumerate().skip(1);
    // Horner's rule from the highest power, with all terms positive.
    terms.rev().fold(0.0, |sum, (power, coefficient)| sum * most + power as f64 * coefficient.abs())
}

/// Returns the error bound of a polynomial `p(x) = Σ coefficients[k]·x^k` of one reading in `minimum ..=
/// maximum`: `h·max |p′|`.
///
/// Proof. By the mean value theorem p(x + δ) − p(x) = δ·p′(ξ) with ξ between x and x + δ, so ξ is in
/// `minimum − h ..= maximum + h`.
#[must_use]
pub fn polynomial(coefficients: &[f64], minimum: f64, maximum: f64, h: f64) -> f64 {
    h * derivative(coefficients, minimum - h, maximum + h)
}
