//! Names of sums: digests of everything that their values depend on.

use sotto_sums::SALT_BYTES;

use crate::quantities::InputRun;

/// The name of a sum.
pub(super) type Name = [u8; 32];

/// Bytes of the facts of a window.
const FACTS: usize = 32 + 8 + 8 + 8 + 8 + 1 + SALT_BYTES + 8 + 8;

/// The kind of a stretch, beside sums without weights and with them.
const STRETCH: u8 = 2;

/// The windows of a sum, one after the other. The name may be taken after each. Windows that follow each other are named
/// together, whether they come one by one or in runs.
pub(super) struct Windows {
    hasher: blake3::Hasher,
    last: Option<Run>,
}

/// Windows that follow each other: the facts of the first, those that the next one would have, and their number.
#[derive(Clone, Copy)]
struct Run {
    first: [u8; FACTS],
    next: [u8; FACTS],
    count: u64,
}

impl Windows {
    /// Begins a sum of a part of a stream, or a stretch of a channel's values. Sums with weights have other names, even if all
    /// weights are 1.
    pub(super) fn new(stream: &[u8; 32], (part, channel): (u8, Option<u16>), is_weighted: bool) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("sotto cached sum v2");
        let kind = if channel.is_some() { STRETCH } else { is_weighted.into() };
        hasher.update(stream).update(&[part, kind]);
        if let Some(channel) = channel {
            hasher.update(&channel.to_le_bytes());
        }
        Self { hasher, last: None }
    }

    /// Adds windows: of each its stream and its number, its pads, its time, and how many readings each channel has. The log that was
    /// compared last has one window of a number; where another log is accepted, the device's sums are forgotten.
    pub(super) fn push(&mut self, run: InputRun<'_>, weight: Option<i64>) {
        let first = facts(run, 0, weight);
        let next = facts(run, run.count, weight);
        match &mut self.last {
            Some(last) if last.next == first => {
                last.count += u64::from(run.count);
                last.next = next;
            }
            last => {
                if let Some(last) = last.replace(Run { first, next, count: run.count.into() }) {
                    last.add_to(&mut self.hasher);
                }
            }
        }
    }

    pub(super) fn name(&self) -> Name {
        let mut hasher = self.hasher.clone();
        self.last.iter().for_each(|last| last.add_to(&mut hasher));
        hasher.finalize().into()
    }
}

impl Run {
    fn add_to(&self, hasher: &mut blake3::Hasher) {
        // One piece for the hasher, which takes longer for several small ones.
        let mut piece = [0; FACTS + 8];
        let (first, count) = piece.split_at_mut(FACTS);
        first.copy_from_slice(&self.first);
        count.copy_from_slice(&self.count.to_le_bytes());
        hasher.update(&piece);
    }
}

/// Returns the facts of a window by its index, or those that a window behind the last would have.
fn facts(run: InputRun<'_>, index: u32, weight: Option<i64>) -> [u8; FACTS] {
    let (mut facts, input) = ([0; FACTS], run.input);
    let ahead = u64::from(run.from + index);
    let (identity, rest) = facts.split_at_mut(32);
    identity.copy_from_slice(&input.identity);
    // That of a window of sums ends with its number.
    if identity[24..] == input.sequence.to_le_bytes() {
        identity[24..].copy_from_slice(&input.sequence.wrapping_add(ahead).to_le_bytes());
    }
    let window = &input.window;
    // Sums of products of the counts: windows of other counts are of other pads, too.
    let readings = window
        .present
        .iter()
        .fold(0_u64, |sum, present| sum.wrapping_mul(1_000_003).wrapping_add(u64::from(*present) + 1));
    let (time, rest) = rest.split_at_mut(24);
    time[..8].copy_from_slice(&run.start(index).to_le_bytes());
    time[8..16].copy_from_slice(&u64::from(window.length).to_le_bytes());
    time[16..].copy_from_slice(&readings.to_le_bytes());
    let (sequence, rest) = rest.split_at_mut(8);
    sequence.copy_from_slice(&input.sequence.wrapping_add(ahead).to_le_bytes());
    if let Some(name) = &input.name {
        rest[0] = 1;
        rest[1..=SALT_BYTES].copy_from_slice(&name.salt);
        rest[1 + SALT_BYTES..][..8].copy_from_slice(&name.sequence.wrapping_add(ahead).to_le_bytes());
    }
    rest[1 + SALT_BYTES + 8..].copy_from_slice(&weight.unwrap_or(1).to_le_bytes());
    facts
}

/// Returns the digits by which sums that begin with one window are found.
pub(super) fn first_of(name: &Name) -> [u8; 8] {
    let mut first = [0; 8];
    first.copy_from_slice(&name[..8]);
    first
}
