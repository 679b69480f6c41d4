//! Primality and the search for primes p ≡ 1 (mod 2n).

use sotto_kernels::Modulus;

/// Returns true if the number is prime: deterministic Miller–Rabin below 2^61 (the first twelve prime bases suffice
/// below 2^64: Sorenson and Webster, "Strong pseudoprimes to twelve prime bases", 2015). Returns false for larger
/// values.
pub fn is_prime(candidate: u64) -> bool {
    const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    let Ok(modulus) = Modulus::new(candidate) else {
        return false;
    };
    if BASES.contains(&candidate) {
        return true;
    }
    if BASES.iter().any(|b| candidate.is_multiple_of(*b)) {
        return false;
    }
    let twos = (candidate - 1).trailing_zeros();
    BASES.iter().all(|base| {
        let mut x = modulus.power_vartime(*base, (candidate - 1) >> twos);
        if x == 1 || x == candidate - 1 {
            return true;
        }
        (1..twos).any(|_| {
            x = modulus.multiply(x, x);
            x == candidate - 1
        })
    })
}

/// Returns the primes p ≡ 1 (mod 2n), p ≤ `ceiling`, largest first.
pub fn below(ceiling: u64, degree: usize) -> impl Iterator<Item = u64> {
    let step = 2 * degree as u64;
    let first = ceiling.checked_sub(1).map(|c| c / step * step + 1);
    core::iter::successors(first, move |p| p.checked_sub(step))
        .take_while(|p| *p > 1)
        .filter(|p| is_prime(*p))
}

/// Returns the primes p ≡ 1 (mod 2n), p > `floor`, smallest first.
pub fn above(floor: u64, degree: usize) -> impl Iterator<Item = u64> {
    let step = 2 * degree as u64;
    let first = floor / step * step + 1;
    let first = if first > floor { first } else { first + step };
    core::iter::successors(Some(first), move |p| p.checked_add(step)).filter(|p| is_prime(*p))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primality_at_known_values() {
        let primes = [2, 3, 37, 41, 257, 65537, 1_032_193, 0x1f_fffe_0001, (1 << 61) - 1];
        let composites =
            [0, 1, 4, 91, 561, 3_215_031_751, 3_825_123_056_546_413_051 >> 1, (1 << 60) - 1, 0x1f_fffe_0003];
        assert!(primes.iter().all(|p| is_prime(*p)));
        assert!(composites.iter().all(|c| !is_prime(*c)));
    }

    #[test]
    fn search_finds_the_published_primes() {
        // The primes of SEAL's Create(4096, {40, 29, 40}).
        let found: Vec<u64> = below(1 << 40, 4096).take(2).collect();
        assert_eq!(found, [0xff_fffd_c001, 0xff_fffc_6001]);
        assert_eq!(below(1 << 29, 4096).next(), Some(0x1fff_2001));
        assert_eq!(above(0xff_fffc_6001, 4096).next(), Some(0xff_fffd_c001));
        assert_eq!(below(20, 64).next(), None);
    }
}
