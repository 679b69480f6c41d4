//! Names of sums: digests of everything that their values depend on.

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

    /// Adds a window. Its leaf is the digest of its signed head; pads and number stand there, too.
    pub(super) fn push(&mut self, input: &Input, weight: Option<i64>) {
        let hasher = self.0.update(&input.leaf).update(&input.sequence.to_le_bytes());
        if let Some(name) = &input.name {
            hasher.update(&name.salt).update(&name.sequence.to_le_bytes());
        }
        if let Some(weight) = weight {
            hasher.update(&weight.to_le_bytes());
        }
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
