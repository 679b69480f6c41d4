//! Names of sums: digests of everything that their values depend on.

use sotto_sums::SALT_BYTES;

use crate::quantities::Input;

/// The name of a sum.
pub(super) type Name = [u8; 32];

/// The windows of a sum, one after the other. The name may be taken after each.
pub(super) struct Windows(blake3::Hasher);

impl Windows {
    /// Begins a sum of a part of a stream. Sums with weights have other names, even if all weights are 1.
    pub(super) fn new(stream: &[u8; 32], part: u8, is_weighted: bool) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("sotto cached sum v1");
        hasher.update(stream).update(&[part, is_weighted.into()]);
        Self(hasher)
    }

    /// Adds a window: its stream and its number, its pads, its time, and how many readings each channel has. The log that was
    /// compared last has one window of a number; where another log is accepted, the device's sums are forgotten.
    pub(super) fn push(&mut self, input: &Input, weight: Option<i64>) {
        // One piece for the hasher, which takes longer for several small ones.
        let mut piece = [0; 32 + 8 + 8 + 8 + 8 + 1 + SALT_BYTES + 8 + 8];
        let (identity, rest) = piece.split_at_mut(32);
        identity.copy_from_slice(&input.identity);
        let window = &input.window;
        // Sums of products of the counts: windows of other counts are of other pads, too.
        let readings = window
            .present
            .iter()
            .fold(0_u64, |sum, present| sum.wrapping_mul(1_000_003).wrapping_add(u64::from(*present) + 1));
        let (facts, rest) = rest.split_at_mut(24);
        facts[..8].copy_from_slice(&window.start.to_le_bytes());
        facts[8..16].copy_from_slice(&u64::from(window.length).to_le_bytes());
        facts[16..].copy_from_slice(&readings.to_le_bytes());
        let (sequence, rest) = rest.split_at_mut(8);
        sequence.copy_from_slice(&input.sequence.to_le_bytes());
        if let Some(name) = &input.name {
            rest[0] = 1;
            rest[1..=SALT_BYTES].copy_from_slice(&name.salt);
            rest[1 + SALT_BYTES..][..8].copy_from_slice(&name.sequence.to_le_bytes());
        }
        rest[1 + SALT_BYTES + 8..].copy_from_slice(&weight.unwrap_or(1).to_le_bytes());
        self.0.update(&piece);
    }

    pub(super) fn name(&self) -> Name {
        self.0.finalize().into()
    }
}

/// Returns the digits by which sums that begin with one window are found.
pub(super) fn first_of(name: &Name) -> [u8; 8] {
    let mut first = [0; 8];
    first.copy_from_slice(&name[..8]);
    first
}
