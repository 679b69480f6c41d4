//! A target as a value: the table of its functions.

use crate::conversion::{Lift, Quotient};
use crate::modulus::{Factor, Modulus};
use crate::montgomery::{self, MontgomeryKernel};
use crate::ntt::NttTable;
use crate::scalar;

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
}
