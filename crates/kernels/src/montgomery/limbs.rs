//! Limbs of 52 or 64 bits, one a word: conversion, doubling, the final subtraction.

use alloc::vec::Vec;
use core::hint::black_box;

/// Splits 64-bit words into limbs. The limbs must hold the number.
pub(super) fn split(limbs: &mut [u64], words: &[u64], bits: u32) {
    if bits == 64 {
        limbs[..words.len()].copy_from_slice(words);
        return;
    }
    for (i, limb) in limbs.iter_mut().enumerate() {
        let at = i * bits as usize;
        let word = |k: usize| u128::from(words.get(k).copied().unwrap_or(0));
        let pair = word(at / 64) | word(at / 64 + 1) << 64;
        *limb = (pair >> (at % 64)) as u64 & ((1 << bits) - 1);
    }
}

/// Joins limbs into `count` 64-bit words.
pub(super) fn join(limbs: &[u64], count: usize, bits: u32) -> Vec<u64> {
    if bits == 64 {
        return limbs[..count].to_vec();
    }
    let mut words = vec![0; count];
    for (i, limb) in limbs.iter().enumerate() {
        let at = i * bits as usize;
        let shifted = u128::from(*limb) << (at % 64);
        for (k, part) in [(at / 64, shifted as u64), (at / 64 + 1, (shifted >> 64) as u64)] {
            if let Some(word) = words.get_mut(k) {
                *word |= part;
            }
        }
    }
    words
}

/// Subtracts n if carry·2^length + x ≥ n, without a branch on it.
pub(super) fn reduce(x: &mut [u64], n: &[u64], carry: u64, bits: u32) {
    let radix = 1u128 << bits;
    let below = |borrow: u64, x: u64, n: u64| radix + u128::from(x) - u128::from(n) - u128::from(borrow);
    let borrow = x.iter().zip(n).fold(0, |borrow, (x, n)| 1 - (below(borrow, *x, *n) >> bits) as u64);
    // All ones if the difference is not negative.
    let mask = black_box((borrow & !carry & 1).wrapping_sub(1));
    let mut borrow = 0;
    for (x, n) in x.iter_mut().zip(n) {
        let difference = below(borrow, *x, *n & mask);
        borrow = 1 - (difference >> bits) as u64;
        *x = (difference & (radix - 1)) as u64;
    }
}

/// Doubles x modulo n. Range: in and out < n.
pub(super) fn double(x: &mut [u64], n: &[u64], bits: u32) {
    let mask = u64::MAX >> (64 - bits);
    let mut carry = 0;
    for limb in x.iter_mut() {
        let top = *limb >> (bits - 1);
        *limb = (*limb << 1 | carry) & mask;
        carry = top;
    }
    reduce(x, n, carry, bits);
}
