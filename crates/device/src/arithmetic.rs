//! Arithmetic in constant time: the same steps for every value.

use core::hint::black_box;

/// Returns x if the mask is all ones, y if it is zero.
fn select(mask: u64, x: u64, y: u64) -> u64 {
    y ^ (mask & (x ^ y))
}

/// Returns all ones if x < y, else zero, for x and y below 2^63. `black_box` hides the mask from the
/// compiler, which turns such masks into branches on cores without a conditional move.
fn is_below(x: u64, y: u64) -> u64 {
    black_box((x.wrapping_sub(y) as i64 >> 63) as u64)
}

/// Returns x modulo q, for x below q·2^bits ≤ 2^63.
pub(crate) fn reduce(mut x: u64, q: u64, bits: u32) -> u64 {
    for shift in (0..bits).rev() {
        let part = q << shift;
        x = select(is_below(x, part), x, x.wrapping_sub(part));
    }
    x
}

/// Returns quotient and remainder of x by d, both below 2^63.
pub(crate) fn divide(x: u64, d: u64) -> (u64, u64) {
    let (mut quotient, mut rest) = (0, 0);
    for bit in (0..63).rev() {
        rest = rest << 1 | (x >> bit & 1);
        let smaller = is_below(rest, d);
        rest = select(smaller, rest, rest.wrapping_sub(d));
        quotient |= (!smaller & 1) << bit;
    }
    (quotient, rest)
}

/// Returns floor(x·2^64/q) for x < q < 2^62, in constant time.
pub fn fraction(x: u64, q: u64) -> u64 {
    let (mut out, mut rest) = (0, x);
    for _ in 0..64 {
        rest <<= 1;
        let smaller = is_below(rest, q);
        rest = select(smaller, rest, rest.wrapping_sub(q));
        out = out << 1 | (!smaller & 1);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_division() {
        let values = [0, 1, 2, 96, 97, 98, 12_345_678_901_234, (1 << 62) - 1, (1 << 62) - 57];
        for q in [1, 2, 97, (1 << 40) - 87, (1 << 61) - 1] {
            for x in values {
                assert_eq!(divide(x, q), (x / q, x % q), "{x} by {q}");
                let bits = 62u32.saturating_sub(u64::BITS - q.leading_zeros());
                if x < q << bits {
                    assert_eq!(reduce(x, q, bits), x % q, "{x} modulo {q}");
                }
                let x = x % q;
                assert_eq!(fraction(x, q), ((u128::from(x) << 64) / u128::from(q)) as u64, "{x}/{q}");
            }
        }
    }
}
