//! Powers with a secret exponent of public length.

use alloc::vec::Vec;

use aligned_vec::{AVec, ConstAlign};
use zeroize::Zeroize;

use super::{Montgomery, Residue};

impl Montgomery {
    /// Returns base^exponent, using the lowest `bits` bits of the exponent. Fixed windows; every look-up reads every
    /// table entry.
    pub fn power(&self, base: &Residue, exponent: &[u64], bits: u32) -> Residue {
        let window = match bits {
            0..=24 => 2,
            25..=80 => 3,
            81..=240 => 4,
            _ => 5,
        };
        let mut table = self.table(1 << window, |entry, built| match entry {
            0 => self.one(),
            1 => base.clone(),
            _ => self.multiply(base, &built[entry - 1]),
        });
        let mut result = self.one();
        let (mut entry, mut next) = (self.blank(), self.blank());
        for at in (0..bits.div_ceil(window)).rev() {
            for _ in 0..window {
                self.multiply_into(&mut next, &result, &result);
                core::mem::swap(&mut next, &mut result);
            }
            let low = at * window;
            let digit = digit(exponent, low, window.min(bits - low));
            self.select(&mut entry, &table, digit);
            self.multiply_into(&mut next, &result, &entry);
            core::mem::swap(&mut next, &mut result);
        }
        table.as_mut_slice().zeroize();
        result
    }

    /// Builds a table of residues, each from those before it.
    pub(super) fn table(
        &self,
        entries: usize,
        make: impl Fn(usize, &[Residue]) -> Residue,
    ) -> AVec<u64, ConstAlign<64>> {
        let mut built: Vec<Residue> = Vec::with_capacity(entries);
        for entry in 0..entries {
            let residue = make(entry, &built);
            built.push(residue);
        }
        // Allocated once: a table that grew would leave copies in memory that are never wiped.
        let mut table = AVec::with_capacity(64, entries * self.n.0.len());
        for residue in &built {
            table.extend_from_slice(&residue.0);
        }
        table
    }
}

/// Returns bits low … low + count − 1 of a number.
pub(super) fn digit(number: &[u64], low: u32, count: u32) -> usize {
    let word = |k: u32| u128::from(number.get(k as usize).copied().unwrap_or(0));
    let pair = word(low / 64) | word(low / 64 + 1) << 64;
    (pair >> (low % 64)) as usize & ((1 << count) - 1)
}
