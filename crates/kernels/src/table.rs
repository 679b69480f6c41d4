//! A target as a value: the table of its functions.

use crate::modulus::{Factor, Modulus};
use crate::montgomery::{self, MontgomeryKernel};
use crate::ntt::NttTable;
use crate::scalar;

/// `(modulus, a, [b, c, d, e])`, see [`Kernels::add_four`].
pub type AddFourKernel = fn(&Modulus, &mut [u64], [&[u64]; 4]);
/// `(modulus, out, sources, source_bits, weights, base)`, see [`Kernels::convert`].
pub type ConvertKernel = fn(&Modulus, &mut [u64], &[&[u64]], u32, &[u64], u64);
/// `(modulus, out, digits, keys, map)`, see [`Kernels::inner_products`].
pub type InnerProductsKernel = fn(&Modulus, [&mut [u64]; 2], &[&[u64]], &[[&[u64]; 2]], Option<&[u32]>);
/// `(modulus, out, sum, rest, constants, addend)`, see [`Kernels::subtract_rest`].
pub type SubtractRestKernel = fn(&Modulus, &mut [u64], &[u64], &[u64], [Factor; 2], Option<&[u64]>);
/// `(modulus, out, a, b)`, see [`Kernels::tensor`].
pub type TensorKernel = fn(&Modulus, [&mut [u64]; 3], [&[u64]; 2], [&[u64]; 2]);
/// `(modulus, out, a, b, addend)`, see [`Kernels::product_sum`].
pub type ProductSumKernel = fn(&Modulus, &mut [u64], &[u64], &[u64], &[u64]);

/// Bits after the point of the sum in [`Kernels::round_quotient`].
pub const FRACTION_BITS: u32 = 25;

/// floor(y·constant / 2^shift) is a part of [`Kernels::round_quotient`].
#[derive(Clone, Copy, Debug)]
pub struct Quotient {
    /// Below 2^52.
    pub constant: u64,
    /// y is below 2^(shift − 26) ≤ 2^61.
    pub shift: u32,
}

/// How [`Kernels::lift`] brings a residue to the representative nearest to zero.
#[derive(Clone, Copy, Debug)]
pub struct Lift {
    /// The modulus that the residue is of, below 2^61.
    pub modulus: u64,
    /// From here on the modulus is subtracted: at most the modulus.
    pub threshold: u64,
}

/// The functions of one target. Slices that belong together have equal length; entries are residues in [0, q) unless a
/// function says otherwise; at most 34 slices are converted together. *Open* values are what [`Kernels::ntt_forward_open`]
/// of the same target gives for the same modulus, or residues. All are free of branches and addresses that depend on the
/// values.
#[derive(Clone, Copy)]
pub struct Kernels {
    /// The target's name, as people and tests see it.
    pub name: &'static str,
    /// In place, natural order to bit-reversed Eval form; the slice has the table's degree.
    pub ntt_forward: fn(&NttTable, &mut [u64]),
    /// The same, but open: the words are congruent to the values, and how is the target's own affair.
    pub ntt_forward_open: fn(&NttTable, &mut [u64]),
    /// In place, Eval form back to natural order, 1/n included.
    pub ntt_inverse: fn(&NttTable, &mut [u64]),
    /// out = the inverse transform of the values, times a constant: see [`NttTable::inverse_scale`].
    pub ntt_inverse_from: fn(&NttTable, &mut [u64], &[u64], Factor),
    /// a += b.
    pub add: fn(&Modulus, &mut [u64], &[u64]),
    /// a += b + c + d + e, for what streams from memory: four lines on their way at once, a is read and written once.
    pub add_four: AddFourKernel,
    /// a −= b.
    pub subtract: fn(&Modulus, &mut [u64], &[u64]),
    /// a = −a.
    pub negate: fn(&Modulus, &mut [u64]),
    /// a ·= b, entry by entry.
    pub multiply: fn(&Modulus, &mut [u64], &[u64]),
    /// sum += a·b, entry by entry.
    pub add_product: fn(&Modulus, &mut [u64], &[u64], &[u64]),
    /// a ·= constant, for residues.
    pub scale: fn(&Modulus, &mut [u64], Factor),
    /// a = (a − b)·constant.
    pub subtract_scale: fn(&Modulus, &mut [u64], &[u64], Factor),
    /// Signed integers to residues.
    pub from_signed: fn(&Modulus, &mut [u64], &[i64]),
    /// The first half of a base conversion: out = round(Σ floor(y·constant / 2^shift) / 2^25).
    pub round_quotient: fn(&mut [u64], &[&[u64]], &[Quotient]),
    /// out = Σ source·weight + base: the second half. Sources below 2^source_bits ≤ 2^61, weights and base < q.
    pub convert: ConvertKernel,
    /// out = x, or x − modulus from the threshold on, for residues x of another modulus: a conversion from one prime.
    pub lift: fn(&Modulus, &mut [u64], &[u64], &Lift),
    /// `out[h] = Σ digit·key[h]`, digits open; where there is a map, digits are moved by it as in `permute`.
    pub inner_products: InnerProductsKernel,
    /// out = sum·first + rest·second + addend, the rest open: the end of a division.
    pub subtract_rest: SubtractRestKernel,
    /// a0·b0, a0·b1 + a1·b0, a1·b1.
    pub tensor: TensorKernel,
    /// out = a + b.
    pub sum: fn(&Modulus, &mut [u64], &[u64], &[u64]),
    /// out = a·b + addend, entry by entry.
    pub product_sum: ProductSumKernel,
    /// out = the representative in [−floor(q/2), ceil(q/2) − 1].
    pub centre: fn(&Modulus, &mut [i64], &[u64]),
    /// out = out·radix + digits modulo 2^64.
    pub horner: fn(&mut [i64], i64, &[i64]),
    /// out = a·b, entry by entry.
    pub product: fn(&Modulus, &mut [u64], &[u64], &[u64]),
    /// `out[i] = values[map[i]]`.
    pub permute: fn(&mut [u64], &[u64], &[u32]),
    /// Products of large residues: see [`crate::Montgomery`].
    pub montgomery: MontgomeryKernel,
}

impl core::fmt::Debug for Kernels {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Kernels({})", self.name)
    }
}

impl Kernels {
    /// Plain Rust, every machine.
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

    /// Every target that this machine can run, the scalar one first.
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut, reason = "other architectures have the scalar target only")]
        let mut targets = vec![Self::SCALAR];
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        targets.extend(crate::vectors::available());
        #[cfg(target_arch = "x86_64")]
        targets.extend(crate::ifma::kernels());
        targets
    }

    /// The fastest target that this machine can run. The environment variable `SOTTO_KERNELS` names another one, for tests and
    /// comparisons; a name that this machine does not have is ignored.
    pub fn best() -> Self {
        static BEST: std::sync::OnceLock<Kernels> = std::sync::OnceLock::new();
        *BEST.get_or_init(|| {
            let targets = Self::available();
            let forced = std::env::var("SOTTO_KERNELS").ok();
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
            // The interpreter takes minutes for more.
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
