//! Arithmetic modulo large odd numbers in Montgomery form, for the partially homomorphic schemes.
//!
//! Montgomery, *Modular multiplication without trial division*, 1985. A residue x is stored as x·R modulo n. R is a
//! power of two that depends on the target, so residues of different targets do not mix. Numbers go in and out as
//! 64-bit words, least significant first, and are the same on every target. Nothing here branches or addresses memory
//! by a residue or an exponent; the lengths of modulus and exponent are public. Ranges:
//! docs/math/kernels.md#montgomery.

mod comb;
mod limbs;
mod power;
pub(crate) mod scalar;

pub use comb::Comb;

use alloc::vec::Vec;

use aligned_vec::{AVec, ConstAlign};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// The longest modulus in bits: n² for an n of 4,096 bits.
pub const LONGEST_MODULUS: u32 = 8192;

/// The functions of one target for large residues.
///
/// Example: [`Montgomery`]
#[derive(Clone, Copy)]
pub struct MontgomeryKernel {
    /// Bits of a limb; a limb is stored in a 64-bit word.
    pub(crate) limb_bits: u32,
    /// Returns the number of limbs of R and of words of a residue, for a modulus of this many bits.
    pub(crate) size: fn(u32) -> (usize, usize),
    /// Computes out = a·b/R modulo n. Range: in < 2n, out < 2n (scalar: < n).
    pub(crate) multiply: fn(&Montgomery, &mut [u64], &[u64], &[u64]),
    /// Copies entry `index` of a table, reading every entry.
    pub(crate) select: fn(&mut [u64], &[u64], usize),
}

/// A number modulo n in the target's form, wiped on drop.
///
/// Example: [`Montgomery`]
#[derive(Clone)]
pub struct Residue(AVec<u64, ConstAlign<64>>);

impl Drop for Residue {
    fn drop(&mut self) {
        self.0.as_mut_slice().zeroize();
    }
}

impl ZeroizeOnDrop for Residue {}

/// The reason why a number cannot be a modulus here.
///
/// Example: [`Montgomery`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnfitModulus {
    /// Even, zero or one.
    Even,
    /// Longer than [`LONGEST_MODULUS`].
    TooLong {
        /// The bit length of the number.
        bits: usize,
    },
}

impl core::fmt::Display for UnfitModulus {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Even => write!(f, "the modulus must be odd and above 1"),
            Self::TooLong { bits } => {
                write!(f, "the modulus has {bits} bits; {LONGEST_MODULUS} are the most")
            }
        }
    }
}

impl core::error::Error for UnfitModulus {}

/// An odd modulus with its constants. Wiped on drop, as it may be secret.
///
/// ```
/// use sotto_kernels::{Montgomery, MontgomeryKernel, Residue, Target, UnfitModulus};
///
/// let modulus = Montgomery::new(&[1_000_003])?;
/// let (a, b): (Residue, Residue) = (modulus.enter(&[999_999]), modulus.enter(&[5]));
/// // -4·5 = -20.
/// assert_eq!(modulus.leave(&modulus.multiply(&a, &b)), [999_983]);
/// assert_eq!(Montgomery::new(&[1_000_000]).err(), Some(UnfitModulus::Even));
/// // Every target gives the same numbers.
/// let scalar: MontgomeryKernel = Target::SCALAR.montgomery;
/// let again = Montgomery::on(&Target { montgomery: scalar, ..*Target::best() }, &[1_000_003])?;
/// assert_eq!(again.product(&[999_999], &[5]), [999_983]);
/// # Ok::<(), UnfitModulus>(())
/// ```
pub struct Montgomery {
    kernel: MontgomeryKernel,
    /// The length of the modulus in 64-bit words.
    words: usize,
    bits: u32,
    /// Limbs of R.
    pub(crate) steps: usize,
    n: Residue,
    /// −1/n modulo 2^64.
    pub(crate) inverse: u64,
    /// R² modulo n; `one` is R modulo n.
    square: Residue,
    one: Residue,
}

impl Drop for Montgomery {
    fn drop(&mut self) {
        // This is the lowest word of the modulus in another form; the residues wipe themselves.
        self.inverse.zeroize();
    }
}

impl ZeroizeOnDrop for Montgomery {}

impl Montgomery {
    /// Prepares an odd modulus above 1 for the functions of a target.
    pub(crate) fn with(kernel: MontgomeryKernel, modulus: &[u64]) -> Result<Self, UnfitModulus> {
        let words = modulus.len() - modulus.iter().rev().take_while(|word| **word == 0).count();
        let modulus = &modulus[..words];
        let top = modulus.last().copied().unwrap_or(0);
        if words == 0 || modulus[0] & 1 == 0 || (words == 1 && top == 1) {
            return Err(UnfitModulus::Even);
        }
        let bits = words * 64 - top.leading_zeros() as usize;
        if bits > LONGEST_MODULUS as usize {
            return Err(UnfitModulus::TooLong { bits });
        }
        let bits = bits as u32;
        let (steps, width) = (kernel.size)(bits);
        let zero = Residue(AVec::from_iter(64, core::iter::repeat_n(0, width)));
        let mut n = zero.clone();
        limbs::split(&mut n.0[..steps], modulus, kernel.limb_bits);
        // Newton's iteration: the start is right modulo 2^3, and each step doubles the bits.
        let inverse =
            (0..5).fold(modulus[0], |x, _| x.wrapping_mul(2u64.wrapping_sub(modulus[0].wrapping_mul(x))));
        let mut one = zero;
        one.0[0] = 1;
        let length = steps * kernel.limb_bits as usize;
        for _ in 0..length {
            limbs::double(&mut one.0[..steps], &n.0[..steps], kernel.limb_bits);
        }
        let mut square = one.clone();
        for _ in 0..length {
            limbs::double(&mut square.0[..steps], &n.0[..steps], kernel.limb_bits);
        }
        Ok(Self { kernel, words, bits, steps, n, inverse: inverse.wrapping_neg(), square, one })
    }

    /// Returns the length of the modulus in 64-bit words.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Returns the length of the modulus in bits.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns the residue 1.
    pub fn one(&self) -> Residue {
        self.one.clone()
    }

    /// Converts a number below n to a residue.
    pub fn enter(&self, value: &[u64]) -> Residue {
        let mut out = self.load(value);
        self.multiply_assign(&mut out, &self.square);
        out
    }

    /// Converts a residue to the number below n.
    pub fn leave(&self, value: &Residue) -> Vec<u64> {
        let mut plain = self.blank();
        let mut one = self.blank();
        one.0[0] = 1;
        (self.kernel.multiply)(self, &mut plain.0, &value.0, &one.0);
        self.store(&mut plain)
    }

    /// Returns a·b modulo n as a number, of a number and a residue. Cost: one multiplication.
    pub fn leave_product(&self, number: &[u64], residue: &Residue) -> Vec<u64> {
        let mut product = self.load(number);
        self.multiply_assign(&mut product, residue);
        self.store(&mut product)
    }

    /// Returns a·b modulo n of numbers below n.
    pub fn product(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        self.leave_product(a, &self.enter(b))
    }

    /// Returns a·b modulo n, in Montgomery form.
    pub fn multiply(&self, a: &Residue, b: &Residue) -> Residue {
        let mut out = self.blank();
        (self.kernel.multiply)(self, &mut out.0, &a.0, &b.0);
        out
    }

    /// Computes a ·= b.
    pub fn multiply_assign(&self, a: &mut Residue, b: &Residue) {
        let mut out = self.blank();
        (self.kernel.multiply)(self, &mut out.0, &a.0, &b.0);
        core::mem::swap(a, &mut out);
    }

    /// Computes out = a·b without allocating.
    pub(crate) fn multiply_into(&self, out: &mut Residue, a: &Residue, b: &Residue) {
        (self.kernel.multiply)(self, &mut out.0, &a.0, &b.0);
    }

    pub(crate) fn select(&self, out: &mut Residue, table: &[u64], index: usize) {
        (self.kernel.select)(&mut out.0, table, index);
    }

    /// Returns the modulus in the target's limbs.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn limbs(&self) -> &[u64] {
        &self.n.0
    }

    pub(crate) fn blank(&self) -> Residue {
        Residue(AVec::from_iter(64, core::iter::repeat_n(0, self.n.0.len())))
    }

    fn load(&self, value: &[u64]) -> Residue {
        let mut out = self.blank();
        // The words of a number below n are zero beyond the length of n.
        let value = &value[..value.len().min(self.words)];
        limbs::split(&mut out.0[..self.steps], value, self.kernel.limb_bits);
        out
    }

    /// Converts a value below 2n to words.
    fn store(&self, value: &mut Residue) -> Vec<u64> {
        limbs::reduce(&mut value.0[..self.steps], &self.n.0[..self.steps], 0, self.kernel.limb_bits);
        limbs::join(&value.0[..self.steps], self.words, self.kernel.limb_bits)
    }
}

#[cfg(test)]
mod tests;
