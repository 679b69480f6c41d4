//! The bits of quantised values.

/// Minimum bits: −1, 0 and 1.
pub const MIN_BITS: u32 = 2;
/// Maximum bits that are quantised exactly.
pub const MAX_BITS: u32 = 32;
