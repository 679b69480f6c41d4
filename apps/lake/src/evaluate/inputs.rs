//! The bytes of a group that waits for its plan: names of ciphertexts, not their bytes.
//!
//! Of each ciphertext `1 if names follow, else 0 ‖ names ‖ order 8 ‖ number 8 ‖ id 16 ‖ digest 32 ‖ key 16`, lowest byte first. The
//! names are device, stream, setting and header, each behind its length 4; without them they are those of the one before.

use std::sync::Arc;

use sotto_rlwe::KeyId;

use crate::bytes::{Bytes, Torn};
use crate::ciphertexts::{Shared, Stored};

/// The ciphertexts of a group, with their places in the order.
pub(super) type Inputs = Vec<(i64, Stored)>;

fn names(of: &Stored) -> [&Arc<[u8]>; 4] {
    [&of.device, &of.stream, &of.setting, &of.header]
}

pub(super) fn write(inputs: &Inputs) -> Vec<u8> {
    let (mut out, mut last) = (Vec::new(), None);
    for (order, stored) in inputs {
        let is_new = last.replace(names(stored)) != Some(names(stored));
        out.push(u8::from(is_new));
        for name in names(stored).into_iter().filter(|_| is_new) {
            out.extend_from_slice(&u32::try_from(name.len()).unwrap_or(u32::MAX).to_le_bytes());
            out.extend_from_slice(name);
        }
        out.extend_from_slice(&order.to_le_bytes());
        out.extend_from_slice(&stored.number.to_le_bytes());
        out.extend_from_slice(&stored.id);
        out.extend_from_slice(&stored.digest);
        out.extend_from_slice(&stored.key.0);
    }
    out
}

/// Adds the inputs of a state to a group.
pub(super) fn read(state: &[u8], shared: &mut Shared, group: &mut Inputs) -> Result<(), Torn> {
    let (mut bytes, mut names) = (Bytes(state), None);
    while !bytes.is_empty() {
        if bytes.array()? == [1] {
            let mut name = || bytes.sized().map(|name| shared.of(name));
            names = Some([name()?, name()?, name()?, name()?]);
        }
        let [device, stream, setting, header] = names.clone().ok_or(Torn)?;
        let (order, number) = (bytes.u64()?.cast_signed(), bytes.u64()?);
        let (id, digest, key) = (bytes.array()?, bytes.array()?, KeyId(bytes.array()?));
        group.push((order, Stored { device, stream, number, id, digest, key, setting, header }));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs() -> Inputs {
        let mut shared = Shared::default();
        let mut stored = |device: &str, number: u64| Stored {
            device: shared.of(device.as_bytes()),
            stream: shared.of(b"load"),
            number,
            id: [number as u8; 16],
            digest: [7; 32],
            key: KeyId([2; 16]),
            setting: shared.of(&[1; 90]),
            header: shared.of(b""),
        };
        let all = [("attic", 3), ("attic", 4), ("kitchen", 3), ("kitchen", u64::MAX)];
        all.map(|(device, number)| (number.cast_signed(), stored(device, number))).to_vec()
    }

    #[test]
    fn groups_are_read_again_in_parts() {
        let all = inputs();
        for parts in 0..all.len() {
            let (first, second) = all.split_at(parts);
            let (mut group, mut shared) = (Inputs::new(), Shared::default());
            for part in [first, second] {
                read(&write(&part.to_vec()), &mut shared, &mut group).unwrap();
            }
            assert_eq!(group, all);
        }
    }

    #[test]
    fn torn_groups_are_refused() {
        let bytes = write(&inputs());
        let reads = |bytes: &[u8]| read(bytes, &mut Shared::default(), &mut Inputs::new());
        let whole: Vec<usize> = (0..=bytes.len()).filter(|length| reads(&bytes[..*length]).is_ok()).collect();
        assert_eq!(whole.len(), 5, "after each ciphertext alone: {whole:?}");
        // Names that nothing has said.
        assert!(reads(&[0; 200]).is_err());
    }
}
