//! Powers of a fixed base from a small table: Lim and Lee's comb (CRYPTO '94).

use alloc::vec::Vec;

use aligned_vec::{AVec, ConstAlign};

use super::power::digit;
use super::{Montgomery, Residue};

/// A table of powers of one base. The exponent is written in TEETH rows of `columns` bits. A table entry is the product
/// of the base's powers at the rows that its index selects; the columns are split over BLOCKS tables, which leaves
/// columns/BLOCKS squarings.
///
/// ```
/// use sotto_kernels::{Comb, Montgomery};
///
/// let modulus = Montgomery::new(&[1_000_003])?;
/// let two = modulus.enter(&[2]);
/// // The table serves every exponent of at most 16 bits.
/// let powers = Comb::new(&modulus, &two, 16);
/// assert_eq!(modulus.leave(&powers.power(&modulus, &[10])), [1024]);
/// assert_eq!(modulus.leave(&powers.power(&modulus, &[20])), [48_573]);
/// # Ok::<(), sotto_kernels::UnfitModulus>(())
/// ```
pub struct Comb {
    table: AVec<u64, ConstAlign<64>>,
    columns: u32,
    /// Columns of a block.
    span: u32,
    bits: u32,
}

const TEETH: u32 = 6;
const BLOCKS: u32 = 4;

impl Comb {
    /// Prepares powers with exponents of at most `bits` bits.
    pub fn new(modulus: &Montgomery, base: &Residue, bits: u32) -> Self {
        let span = bits.div_ceil(TEETH * BLOCKS).max(1);
        let columns = span * BLOCKS;
        // Powers of two of the base, one for the start of each row and block.
        let mut corners = Vec::new();
        let mut power = base.clone();
        for _ in 0..TEETH * BLOCKS {
            corners.push(power.clone());
            for _ in 0..span {
                power = modulus.multiply(&power, &power);
            }
        }
        let table = modulus.table((BLOCKS << TEETH) as usize, |entry, built| {
            let (block, rows) = (entry >> TEETH, entry & ((1 << TEETH) - 1));
            match rows {
                0 => modulus.one(),
                _ => {
                    let row = rows.ilog2() as usize;
                    let rest = &built[entry ^ (1 << row)];
                    modulus.multiply(rest, &corners[row * BLOCKS as usize + block])
                }
            }
        });
        Self { table, columns, span, bits }
    }

    /// Returns the bit length of the longest exponent.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns the size of the table in bytes.
    pub fn bytes(&self) -> usize {
        self.table.len() * 8
    }

    /// Returns base^exponent. Range: exponent < 2^bits. Every look-up reads every entry of its block.
    pub fn power(&self, modulus: &Montgomery, exponent: &[u64]) -> Residue {
        let mut result = modulus.one();
        let (mut entry, mut next) = (modulus.blank(), modulus.blank());
        let block_words = self.table.len() / BLOCKS as usize;
        for column in (0..self.span).rev() {
            if column + 1 != self.span {
                modulus.multiply_into(&mut next, &result, &result);
                core::mem::swap(&mut next, &mut result);
            }
            for (block, table) in self.table.chunks_exact(block_words).enumerate() {
                let at = block as u32 * self.span + column;
                let index = (0..TEETH)
                    .fold(0, |index, row| index | digit(exponent, row * self.columns + at, 1) << row);
                modulus.select(&mut entry, table, index);
                modulus.multiply_into(&mut next, &result, &entry);
                core::mem::swap(&mut next, &mut result);
            }
        }
        result
    }
}
