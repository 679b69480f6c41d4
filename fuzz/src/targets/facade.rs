//! The containers of the facade: encrypted vectors and an owner's public keys. The frames inside have targets of their own.

use sotto_wire::{LARGEST_BUNDLE, OwnerKeys, VectorHeader, VectorOffset, read_vector, write_vector};

use super::{Inputs, Target, as_frame};

#[rustfmt::skip]
pub(super) const TARGETS: &[Target] = &[
    Target { name: "vector", run: vector, inputs: Inputs::Kept(vectors), memory: |bytes| 4 * bytes.len() + (128 << 10) },
    Target { name: "owner-keys", run: owner_keys, inputs: Inputs::Kept(keys), memory: |bytes| 4 * bytes.len() + (16 << 10) },
];

fn vectors() -> Vec<Vec<u8>> {
    let none = VectorOffset::None;
    let header = VectorHeader { len: 3, zero_padded: true, unit: 1024.0, magnitude: 1000.0, offset: none };
    let whole = write_vector(&header, &[vec![1, 2, 3], Vec::new()]);
    let long = VectorHeader { len: 1 << 28, zero_padded: false, ..header.clone() };
    let single = write_vector(&long, &[vec![7; 40]]);
    let offset = VectorOffset::Number { number: -273.15, encrypted: 1000.0 };
    let shifted = write_vector(&VectorHeader { offset, ..header }, &[vec![1, 2, 3]]);
    let offset = VectorOffset::Numbers { numbers: [1.0, -2.0, 1e300].into(), encrypted: 0.0 };
    let public = write_vector(&VectorHeader { unit: 0.0, offset, ..header }, &[vec![1, 2, 3]]);
    [whole, single, shifted, public].into_iter().map(|bytes| bytes.expect("a vector")).collect()
}

/// Reads a vector, which must be written again byte for byte.
fn vector(bytes: &[u8]) -> bool {
    as_frame(bytes, |bytes| {
        let Ok((header, parts)) = read_vector(bytes, LARGEST_BUNDLE) else { return false };
        let parts: Vec<Vec<u8>> = parts.into_iter().map(<[u8]>::to_vec).collect();
        assert!(
            write_vector(&header, &parts).is_ok_and(|written| written == bytes),
            "rewriting changes bytes"
        );
        true
    })
}

fn keys() -> Vec<Vec<u8>> {
    let keys = OwnerKeys {
        values_within: 1000.0,
        public_inputs: true,
        range: None,
        parameters: b"parameters",
        public_key: b"public key",
        evaluation_keys: b"evaluation keys",
    };
    let ranged = OwnerKeys { range: Some((-20, 120)), ..keys };
    vec![keys.write(), ranged.write()]
}

/// Reads an owner's keys, which must be written again byte for byte.
fn owner_keys(bytes: &[u8]) -> bool {
    as_frame(bytes, |bytes| {
        let Ok(read) = OwnerKeys::read(bytes, LARGEST_BUNDLE) else { return false };
        assert!(read.write() == bytes, "rewriting changes bytes");
        true
    })
}
