//! Slot values in the clear.

use core::fmt::Debug;

/// A slot's value. With a modulus, results are centred modulo it: in [−floor(t/2), ceil(t/2) − 1].
///
/// ```
/// use sotto_circuits::Number;
///
/// fn mean_of_two<V: Number>(a: V, b: V, half: V, modulus: Option<u64>) -> V {
///     a.plus(b, modulus).times(half, modulus)
/// }
/// assert_eq!(mean_of_two(21.0, 22.0, 0.5, None), 21.5);
/// // Modulo 257, half is 129.
/// assert_eq!(mean_of_two(21, 25, 129, Some(257)), 23);
/// ```
pub trait Number: Copy + Debug + Default + PartialEq + Send + Sync + 'static {
    /// One.
    const ONE: Self;
    /// Returns the value, centred if there is a modulus.
    fn canonical(self, modulus: Option<u64>) -> Self;
    /// Returns a + b.
    fn plus(self, other: Self, modulus: Option<u64>) -> Self;
    /// Returns a·b.
    fn times(self, other: Self, modulus: Option<u64>) -> Self;
    /// Returns −a.
    fn negated(self, modulus: Option<u64>) -> Self;
}

impl Number for i64 {
    const ONE: Self = 1;

    fn canonical(self, modulus: Option<u64>) -> Self {
        centred(i128::from(self), modulus)
    }

    fn plus(self, other: Self, modulus: Option<u64>) -> Self {
        centred(i128::from(self) + i128::from(other), modulus)
    }

    fn times(self, other: Self, modulus: Option<u64>) -> Self {
        centred(i128::from(self) * i128::from(other), modulus)
    }

    fn negated(self, modulus: Option<u64>) -> Self {
        centred(-i128::from(self), modulus)
    }
}

/// Returns the centred value. Panics if there is no modulus and the value does not fit.
fn centred(value: i128, modulus: Option<u64>) -> i64 {
    let Some(t) = modulus.map(i128::from) else {
        return i64::try_from(value).expect("integers without a modulus stay within 64 bits");
    };
    let residue = value.rem_euclid(t);
    (if 2 * residue >= t { residue - t } else { residue }) as i64
}

impl Number for f64 {
    const ONE: Self = 1.0;

    fn canonical(self, _modulus: Option<u64>) -> Self {
        self
    }

    fn plus(self, other: Self, _modulus: Option<u64>) -> Self {
        self + other
    }

    fn times(self, other: Self, _modulus: Option<u64>) -> Self {
        self * other
    }

    fn negated(self, _modulus: Option<u64>) -> Self {
        -self
    }
}
