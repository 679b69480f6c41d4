//! The polynomial of least degree through the points of a table, modulo t.

use sotto_ring::Modulus;

use crate::error::CircuitError;

/// Returns the coefficients, that of x^0 first, of the polynomial of degree below the number of points that takes the
/// values at them: Newton's divided differences, then the monomial basis; O(d²) products. The result is evaluated at
/// every point before it is returned.
///
/// # Errors
/// [`CircuitError::TableModulus`] if two points are equal modulo t or t is not a prime.
pub(super) fn interpolate(t: &Modulus, points: &[i64], values: &[i64]) -> Result<Vec<u64>, CircuitError> {
    let refused = || CircuitError::TableModulus { modulus: t.value(), steps: points.len() };
    if points.len() as u64 > t.value() {
        return Err(refused());
    }
    let xs: Vec<u64> = points.iter().map(|x| t.from_signed(*x)).collect();
    let mut divided: Vec<u64> = values.iter().map(|y| t.from_signed(*y)).collect();
    let inverses = inverses(t, &xs).ok_or_else(refused)?;
    for order in 1..xs.len() {
        for k in (order..xs.len()).rev() {
            // Points are equally far apart, so the difference depends on the distance of their places alone.
            divided[k] = t.multiply(t.subtract(divided[k], divided[k - 1]), inverses[order - 1]);
        }
    }
    let mut coefficients = vec![0; xs.len()];
    for (k, (x, difference)) in xs.iter().zip(&divided).enumerate().rev() {
        // coefficients = coefficients·(X − x) + difference.
        for power in (0..xs.len() - k).rev() {
            let lower = if power == 0 { *difference } else { coefficients[power - 1] };
            coefficients[power] = t.subtract(lower, t.multiply(*x, coefficients[power]));
        }
    }
    let holds = |(x, y): (&u64, &i64)| evaluate(t, &coefficients, *x) == t.from_signed(*y);
    if xs.iter().zip(values).all(holds) { Ok(coefficients) } else { Err(refused()) }
}

/// Returns the inverses of x_k − x_0 for k ≥ 1; None if one does not exist.
fn inverses(t: &Modulus, xs: &[u64]) -> Option<Vec<u64>> {
    let first = *xs.first()?;
    xs[1..].iter().map(|x| t.invert_vartime(t.subtract(*x, first))).collect()
}

fn evaluate(t: &Modulus, coefficients: &[u64], x: u64) -> u64 {
    coefficients.iter().rev().fold(0, |sum, c| t.add(t.multiply(sum, x), *c))
}
