//! Every target's BLAKE3 equals the scalar one and the crate `blake3`, with a different input in each lane.
#![cfg(not(miri))]

use sotto_kernels::{BlockLanes, Streams, ValueLanes};

const CONTEXT: &str = "sotto 2026 test of lanes v1";

fn next(state: &mut u64) -> u32 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 32) as u32
}

/// Puts a material of each lane into blocks; the rest of the last block is zeros.
fn blocks(material: &[Vec<u8>; 16]) -> Vec<BlockLanes> {
    let mut blocks = vec![[[0; 16]; 16]; material[0].len().div_ceil(64).max(1)];
    for (lane, material) in material.iter().enumerate() {
        for (block, bytes) in blocks.iter_mut().zip(material.chunks(64)) {
            for (word, bytes) in block.iter_mut().zip(bytes.chunks(4)) {
                let mut padded = [0; 4];
                padded[..bytes.len()].copy_from_slice(bytes);
                word[lane] = u32::from_le_bytes(padded);
            }
        }
    }
    blocks
}

#[test]
fn keys_of_every_length_of_a_chunk_are_those_of_blake3() {
    let context = blake3::hazmat::hash_derive_key_context(CONTEXT);
    let mut state = 7;
    for length in 0..=1024_usize {
        let material: [Vec<u8>; 16] =
            core::array::from_fn(|_| (0..length).map(|_| next(&mut state) as u8).collect());
        let blocks = blocks(&material);
        let last = length - 64 * (blocks.len() - 1);
        let expected = material.map(|material| blake3::derive_key(CONTEXT, &material));
        for target in Streams::available() {
            let mut keys = [[u32::MAX; 16]; 8];
            target.derive_keys(&context, &blocks, last as u32, &mut keys);
            for (lane, expected) in expected.iter().enumerate() {
                let key: Vec<u8> = keys.iter().flat_map(|word| word[lane].to_le_bytes()).collect();
                assert_eq!(key, expected, "{}, {length} bytes, lane {lane}", target.name);
            }
        }
    }
}

/// Words of all ones and of all zeros carry furthest, or not at all.
#[test]
fn every_target_compresses_as_the_scalar_one() {
    let mut state = 3;
    for round in 0..2000_u32 {
        let mut word = || match next(&mut state) % 4 {
            0 if round % 2 == 0 => u32::MAX,
            1 if round % 3 == 0 => 0,
            _ => next(&mut state),
        };
        let values: ValueLanes = core::array::from_fn(|_| core::array::from_fn(|_| word()));
        let block: BlockLanes = core::array::from_fn(|_| core::array::from_fn(|_| word()));
        let (bytes, flags) = (round % 65, word());
        let mut expected = values;
        (Streams::SCALAR.blake3)(&mut expected, &block, bytes, flags);
        for target in Streams::available() {
            let mut found = values;
            (target.blake3)(&mut found, &block, bytes, flags);
            assert_eq!(found, expected, "{}, {bytes} bytes, flags {flags:x}", target.name);
        }
    }
}

#[test]
fn a_lane_depends_on_no_other() {
    let (values, block) = ([[5; 16]; 8], [[9; 16]; 16]);
    for target in Streams::available() {
        let mut alike = values;
        (target.blake3)(&mut alike, &block, 64, 3);
        for lane in 0..16 {
            let (mut found, mut other) = (values, block);
            other[15][lane] ^= 1;
            (target.blake3)(&mut found, &other, 64, 3);
            for (found, alike) in found.iter().zip(&alike) {
                let differ: Vec<usize> = (0..16).filter(|at| found[*at] != alike[*at]).collect();
                assert_eq!(differ, [lane], "{}", target.name);
            }
        }
    }
}
