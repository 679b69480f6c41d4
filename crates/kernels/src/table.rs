//! A target as a value: the table of its functions.

use alloc::vec::Vec;

use crate::detect;
use crate::modulus::{Factor, Modulus};
use crate::montgomery::{self, MontgomeryKernel};
use crate::ntt::NttTable;
use crate::once::Once;
use crate::scalar;

/// `(modulus, a, [b, c, d, e])`, see [`Kernels::add_four`].
///
/// ```
/// use sotto_kernels::{AddFourKernel, Kernels, Modulus};
///
/// let add_four: AddFourKernel = Kernels::best().add_four;
/// let mut sum = [1, 2];
/// add_four(&Modulus::new(97)?, &mut sum, [&[10, 20], &[30, 30], &[40, 40], &[50, 3]]);
/// assert_eq!(sum, [34, 95]);
/// # Ok::<(), sotto_kernels::InvalidModulus>(())
/// ```
pub type AddFourKernel = fn(&Modulus, &mut [u64], [&[u64]; 4]);
/// `(modulus, out, sources, source_bits, weights, base)`, see [`Kernels::convert`].
///
/// ```
/// use sotto_kernels::{ConvertKernel, Kernels, Modulus};
///
/// let convert: ConvertKernel = Kernels::best().convert;
/// let mut out = [0; 2];
/// // Sources of at most 4 bits: 2·10 + 5·20 + 1 and 3·10 + 7·20 + 1 modulo 97.
/// convert(&Modulus::new(97)?, &mut out, &[&[2, 3], &[5, 7]], 4, &[10, 20], 1);
/// assert_eq!(out, [121 - 97, 171 - 97]);
/// # Ok::<(), sotto_kernels::InvalidModulus>(())
/// ```
pub type ConvertKernel = fn(&Modulus, &mut [u64], &[&[u64]], u32, &[u64], u64);
/// `(modulus, out, digits, keys, map)`, see [`Kernels::inner_products`].
///
/// ```
/// use sotto_kernels::{InnerProductsKernel, Kernels, Modulus};
///
/// let inner_products: InnerProductsKernel = Kernels::best().inner_products;
/// let (mut body, mut mask) = ([0; 2], [0; 2]);
/// // Two digits, and for each a body and a mask of the key.
/// let (digits, keys) = ([&[1, 2][..], &[3, 4]], [[&[5, 5][..], &[6, 6]], [&[7, 7], &[8, 8]]]);
/// inner_products(&Modulus::new(97)?, [&mut body, &mut mask], &digits, &keys, None);
/// assert_eq!((body, mask), ([5 + 21, 10 + 28], [6 + 24, 12 + 32]));
/// # Ok::<(), sotto_kernels::InvalidModulus>(())
/// ```
pub type InnerProductsKernel = fn(&Modulus, [&mut [u64]; 2], &[&[u64]], &[[&[u64]; 2]], Option<&[u32]>);
/// `(modulus, out, sum, rest, constants, addend)`, see [`Kernels::subtract_rest`].
///
/// ```
/// use sotto_kernels::{Kernels, Modulus, SubtractRestKernel};
///
/// let subtract_rest: SubtractRestKernel = Kernels::best().subtract_rest;
/// let q = Modulus::new(97)?;
/// let mut out = [0; 2];
/// subtract_rest(&q, &mut out, &[10, 20], &[1, 2], [q.factor(3), q.factor(5)], Some(&[4, 4]));
/// assert_eq!(out, [39, 74]);
/// # Ok::<(), sotto_kernels::InvalidModulus>(())
/// ```
pub type SubtractRestKernel = fn(&Modulus, &mut [u64], &[u64], &[u64], [Factor; 2], Option<&[u64]>);
/// `(modulus, out, a, b)`, see [`Kernels::tensor`].
///
/// ```
/// use sotto_kernels::{Kernels, Modulus, TensorKernel};
///
/// let tensor: TensorKernel = Kernels::best().tensor;
/// let [mut low, mut middle, mut high] = [[0; 1]; 3];
/// // (2 + 3s)·(5 + 7s) = 10 + 29s + 21s².
/// tensor(&Modulus::new(97)?, [&mut low, &mut middle, &mut high], [&[2], &[3]], [&[5], &[7]]);
/// assert_eq!([low, middle, high], [[10], [29], [21]]);
/// # Ok::<(), sotto_kernels::InvalidModulus>(())
/// ```
pub type TensorKernel = fn(&Modulus, [&mut [u64]; 3], [&[u64]; 2], [&[u64]; 2]);
/// `(modulus, out, a, b, addend)`, see [`Kernels::product_sum`].
///
/// ```
/// use sotto_kernels::{Kernels, Modulus, ProductSumKernel};
///
/// let product_sum: ProductSumKernel = Kernels::best().product_sum;
/// let mut out = [0; 2];
/// product_sum(&Modulus::new(97)?, &mut out, &[10, 20], &[9, 9], &[32, 32]);
/// assert_eq!(out, [122 - 97, 212 - 2 * 97]);
/// # Ok::<(), sotto_kernels::InvalidModulus>(())
/// ```
pub type ProductSumKernel = fn(&Modulus, &mut [u64], &[u64], &[u64], &[u64]);

/// Bits after the binary point of the sum in [`Kernels::round_quotient`].
pub const FRACTION_BITS: u32 = 25;

/// One term floor(y·constant / 2^shift) of [`Kernels::round_quotient`].
///
/// ```
/// use sotto_kernels::{FRACTION_BITS, Kernels, Quotient};
///
/// // round(y/17) for y below 17: 1 from 9 on.
/// let shift = 5 + 51 - FRACTION_BITS;
/// let quotient = Quotient { constant: (1 << 56) / 17, shift };
/// let mut out = [0; 3];
/// (Kernels::best().round_quotient)(&mut out, &[&[3, 8, 9]], &[quotient]);
/// assert_eq!(out, [0, 0, 1]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Quotient {
    /// Below 2^52.
    pub constant: u64,
    /// y is below 2^(shift − 26) ≤ 2^61.
    pub shift: u32,
}

/// The parameters of [`Kernels::lift`], which maps a residue to the representative nearest to zero.
///
/// ```
/// use sotto_kernels::{Kernels, Lift, Modulus};
///
/// // Residues modulo 17, centred, as residues modulo 97: 16 is -1.
/// let mut out = [0; 2];
/// let lift = Lift { modulus: 17, threshold: 9 };
/// (Kernels::best().lift)(&Modulus::new(97)?, &mut out, &[3, 16], &lift);
/// assert_eq!(out, [3, 96]);
/// # Ok::<(), sotto_kernels::InvalidModulus>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Lift {
    /// The modulus of the residues, below 2^61.
    pub modulus: u64,
    /// Residues from here on have the modulus subtracted. Range: at most the modulus.
    pub threshold: u64,
}

/// The functions of one target. Slices of one call have equal length; entries are residues in [0, q) unless a function
/// says otherwise; a conversion takes at most 34 slices. Unreduced (*open*) values are the output of
/// [`Kernels::ntt_forward_open`] of the same target and modulus, or residues. All functions are free of branches and
/// addresses that depend on the values.
///
/// ```
/// use sotto_kernels::{Kernels, Modulus};
///
/// let q = Modulus::new(97)?;
/// // Every target of this machine gives the same sum.
/// for kernels in Kernels::available() {
///     let mut sum = [90, 21];
///     (kernels.add)(&q, &mut sum, &[10, 20]);
///     assert_eq!(sum, [3, 41], "{}", kernels.name);
/// }
/// assert_eq!(Kernels::available()[0].name, Kernels::SCALAR.name);
/// # Ok::<(), sotto_kernels::InvalidModulus>(())
/// ```
#[derive(Clone, Copy)]
pub struct Kernels {
    /// The target's name in output and tests.
    pub name: &'static str,
    /// Transforms in place from natural order to bit-reversed Eval form. The slice has the table's degree.
    pub ntt_forward: fn(&NttTable, &mut [u64]),
    /// Like `ntt_forward`, but returns unreduced words: congruent to the values, in a representation that depends on
    /// the target.
    pub ntt_forward_open: fn(&NttTable, &mut [u64]),
    /// Transforms in place from Eval form back to natural order, 1/n included.
    pub ntt_inverse: fn(&NttTable, &mut [u64]),
    /// Computes out = the inverse transform of the values times a constant: see [`NttTable::inverse_scale`].
    pub ntt_inverse_from: fn(&NttTable, &mut [u64], &[u64], Factor),
    /// Computes a += b.
    pub add: fn(&Modulus, &mut [u64], &[u64]),
    /// Computes a += b + c + d + e, for operands that stream from memory: four loads in flight, and a is read and
    /// written once.
    pub add_four: AddFourKernel,
    /// Computes a −= b.
    pub subtract: fn(&Modulus, &mut [u64], &[u64]),
    /// Computes a = −a.
    pub negate: fn(&Modulus, &mut [u64]),
    /// Computes a ·= b, entry by entry.
    pub multiply: fn(&Modulus, &mut [u64], &[u64]),
    /// Computes sum += a·b, entry by entry.
    pub add_product: fn(&Modulus, &mut [u64], &[u64], &[u64]),
    /// Computes a ·= constant.
    pub scale: fn(&Modulus, &mut [u64], Factor),
    /// Computes a = (a − b)·constant.
    pub subtract_scale: fn(&Modulus, &mut [u64], &[u64], Factor),
    /// Reduces signed integers to residues.
    pub from_signed: fn(&Modulus, &mut [u64], &[i64]),
    /// Computes the first half of a base conversion: out = round(Σ floor(y·constant / 2^shift) / 2^25).
    pub round_quotient: fn(&mut [u64], &[&[u64]], &[Quotient]),
    /// Computes the second half of a base conversion: out = Σ source·weight + base. Range: sources below 2^source_bits
    /// ≤ 2^61, weights and base < q.
    pub convert: ConvertKernel,
    /// Converts residues x of another modulus (one prime): out = x, or x − modulus from the threshold on.
    pub lift: fn(&Modulus, &mut [u64], &[u64], &Lift),
    /// Computes `out[h] = Σ digit·key[h]` for unreduced digits. If there is a map, it permutes the digits as `permute`
    /// does.
    pub inner_products: InnerProductsKernel,
    /// Computes out = sum·first + rest·second + addend, the last step of a division. `rest` may be unreduced.
    pub subtract_rest: SubtractRestKernel,
    /// Computes a0·b0, a0·b1 + a1·b0, a1·b1.
    pub tensor: TensorKernel,
    /// Computes out = a + b.
    pub sum: fn(&Modulus, &mut [u64], &[u64], &[u64]),
    /// Computes out = a·b + addend, entry by entry.
    pub product_sum: ProductSumKernel,
    /// Computes out = the representative in [−floor(q/2), ceil(q/2) − 1].
    pub centre: fn(&Modulus, &mut [i64], &[u64]),
    /// Computes out = out·radix + digits modulo 2^64.
    pub horner: fn(&mut [i64], i64, &[i64]),
    /// Computes out = a·b, entry by entry.
    pub product: fn(&Modulus, &mut [u64], &[u64], &[u64]),
    /// Computes `out[i] = values[map[i]]`.
    pub permute: fn(&mut [u64], &[u64], &[u32]),
    /// Multiplies large residues: see [`crate::Montgomery`].
    pub montgomery: MontgomeryKernel,
}

impl core::fmt::Debug for Kernels {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Kernels({})", self.name)
    }
}

impl Kernels {
    /// The scalar target, in plain Rust, for every machine.
    pub const SCALAR: Self = Self {
        name: "scalar",
        ntt_forward: scalar::ntt_forward,
        ntt_forward_open: scalar::ntt_forward_open,
        ntt_inverse: scalar::ntt_inverse,
        ntt_inverse_from: scalar::ntt_inverse_from,
        add: scalar::add,
        add_four: scalar::add_four,
        subtract: scalar::subtract,
        negate: scalar::negate,
        multiply: scalar::multiply,
        add_product: scalar::add_product,
        scale: scalar::scale,
        subtract_scale: scalar::subtract_scale,
        from_signed: scalar::from_signed,
        round_quotient: scalar::round_quotient,
        convert: scalar::convert,
        lift: scalar::lift,
        inner_products: scalar::inner_products,
        subtract_rest: scalar::subtract_rest,
        tensor: scalar::tensor,
        sum: scalar::sum,
        product: scalar::product,
        product_sum: scalar::product_sum,
        centre: scalar::centre,
        horner: scalar::horner,
        permute: scalar::permute,
        montgomery: montgomery::scalar::KERNEL,
    };

    /// Returns every target that this machine can run, the scalar one first.
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut, reason = "other architectures have the scalar target only")]
        let mut targets = vec![Self::SCALAR];
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        targets.extend(crate::vectors::available());
        #[cfg(target_arch = "x86_64")]
        targets.extend(crate::ifma::kernels());
        targets
    }

    /// Returns the fastest target that this machine can run. The environment variable `SOTTO_KERNELS` names another
    /// one, for tests and comparisons; a name that this machine does not have is ignored. Without the feature `std`,
    /// the fastest target of the processors that the program is compiled for.
    pub fn best() -> Self {
        static BEST: Once<Kernels> = Once::new();
        *BEST.or_init(|| {
            let targets = Self::available();
            let forced = detect::forced();
            let named = targets.iter().find(|target| Some(target.name) == forced.as_deref());
            *named.or(targets.last()).unwrap_or(&Self::SCALAR)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(q: u64, n: usize) -> NttTable {
        NttTable::new(Modulus::new(q).unwrap(), n).unwrap()
    }

    fn fill(q: u64, n: usize, mut state: u64) -> Vec<u64> {
        (0..n)
            .map(|i| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                if i % 5 == 0 { q - 1 } else { (state >> 3) % q }
            })
            .collect()
    }

    #[test]
    fn a_target_of_this_machine_that_is_named_is_the_best() {
        let forced = std::env::var("SOTTO_KERNELS").unwrap_or_default();
        if Kernels::available().iter().any(|target| target.name == forced) {
            assert_eq!(Kernels::best().name, forced);
        }
    }

    #[test]
    fn transform_of_a_published_example() {
        for kernels in Kernels::available() {
            let t = table(17, 8);
            let mut a = vec![1, 2, 3, 4, 5, 6, 7, 8];
            (kernels.ntt_forward)(&t, &mut a);
            assert_eq!(a, [5, 0, 13, 8, 9, 11, 5, 8], "{}", kernels.name);
        }
    }

    #[test]
    fn transform_is_evaluation_and_inverts() {
        for kernels in Kernels::available() {
            for (q, n) in [(97, 16), (0xf_fffe_e001, 64), (1_152_921_504_606_830_593, 32)] {
                let t = table(q, n);
                let m = *t.modulus();
                let a = fill(q, n, 7);
                let mut out = a.clone();
                (kernels.ntt_forward)(&t, &mut out);
                let shift = usize::BITS - n.trailing_zeros();
                for (i, value) in out.iter().enumerate() {
                    let x = m.power_vartime(t.root(), 2 * (i.reverse_bits() >> shift) as u64 + 1);
                    let evaluated = a.iter().rev().fold(0, |acc, c| m.add(m.multiply(acc, x), *c));
                    assert_eq!(*value, evaluated);
                }
                (kernels.ntt_inverse)(&t, &mut out);
                assert_eq!(out, a, "{} {q} {n}", kernels.name);
            }
        }
    }

    #[test]
    fn every_target_equals_the_scalar_one() {
        for fast in Kernels::available() {
            // Miri takes minutes for more.
            let degrees: &[usize] = if cfg!(miri) { &[16] } else { &[16, 1024, 4096] };
            for n in degrees.iter().copied() {
                let q = 1_152_921_504_606_830_593;
                if (q - 1) % (2 * n as u64) != 0 {
                    continue;
                }
                let t = table(q, n);
                let (a, b) = (fill(q, n, 1), fill(q, n, 2));
                let run = |k: &Kernels| {
                    let mut x = a.clone();
                    (k.ntt_forward)(&t, &mut x);
                    (k.multiply)(t.modulus(), &mut x, &b);
                    (k.add_product)(t.modulus(), &mut x, &a, &b);
                    (k.ntt_inverse)(&t, &mut x);
                    (k.subtract_scale)(t.modulus(), &mut x, &b, t.modulus().factor(q - 1));
                    x
                };
                assert_eq!(run(&fast), run(&Kernels::SCALAR), "{}", fast.name);
            }
        }
    }
}
