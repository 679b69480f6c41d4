//! The security table.

/// Largest log2 of the whole modulus (special primes included) for 128-bit security with a uniform ternary secret,
/// classical attacks, σ = 3.19: Bossuat et al., *Security Guidelines for Implementing Homomorphic Encryption*,
/// ePrint 2024/463, table 5.2. None where the table has no row.
pub fn largest_modulus_bits(degree: usize) -> Option<u32> {
    Some(match degree {
        1024 => 26,
        2048 => 53,
        4096 => 106,
        8192 => 214,
        16384 => 430,
        32768 => 868,
        65536 => 1747,
        131_072 => 3523,
        _ => return None,
    })
}
