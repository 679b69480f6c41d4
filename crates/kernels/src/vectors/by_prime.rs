//! The choice of an arithmetic for a prime.

/// Bit lengths of primes in floating point. Longer primes are words, on processors where that gains (`Lanes::WHOLE`).
pub(crate) const FLOAT: core::ops::RangeInclusive<u32> = 3..=50;
/// Up to this bit length floating-point transforms settle only a few sums.
pub(crate) const LAZY: u32 = 48;
/// Up to this bit length their products are below 2^53.
pub(crate) const EXACT: u32 = 25;

/// Runs a transform with the arithmetic for a prime, or the scalar transform.
macro_rules! transform_by_prime {
    ($lanes:ident: $L:ty, $m:expr; $a:ident => $body:expr; $scalar:expr) => {{
        let m: &$crate::modulus::Modulus = $m;
        if $crate::vectors::FLOAT.contains(&m.bits()) && m.bits() > $crate::vectors::LAZY {
            let $a = $crate::vectors::Float::<$L, false>::new($lanes, m);
            $body
        } else if $crate::vectors::FLOAT.contains(&m.bits()) && m.bits() <= $crate::vectors::EXACT {
            let $a = $crate::vectors::Float::<$L, true, true>::new($lanes, m);
            $body
        } else {
            $crate::vectors::by_prime!($lanes: $L, m; $a => $body; $scalar)
        }
    }};
}

/// Runs a body with the arithmetic for a prime, or the scalar function.
macro_rules! by_prime {
    ($lanes:ident: $L:ty, $m:expr; $a:ident => $body:expr; $scalar:expr) => {{
        let m: &$crate::modulus::Modulus = $m;
        if $crate::vectors::FLOAT.contains(&m.bits()) {
            let $a = $crate::vectors::Float::<$L, true>::new($lanes, m);
            $body
        } else if <$L>::WHOLE && m.bits() > *$crate::vectors::FLOAT.end() {
            let $a = $crate::vectors::Whole::<$L>::new($lanes, m);
            $body
        } else {
            $scalar
        }
    }};
}
pub(crate) use {by_prime, transform_by_prime};
