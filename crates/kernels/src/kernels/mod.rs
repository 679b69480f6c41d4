//! The kernels: one file each, with its scalar function (the definition), the one over any lanes, the one with 52-bit
//! products, and the test that compares them. The list makes the rest of it: the field of [`Kernels`](crate::Kernels),
//! the safe entries of every target, the scalar fallback, and the call of the test.
//!
//! To add a kernel: its file here, and its line in the list.

pub(crate) mod add;
pub(crate) mod add_product;
pub(crate) mod add_rows;
pub(crate) mod centre;
pub(crate) mod convert;
pub(crate) mod from_signed;
pub(crate) mod gather_slots;
pub(crate) mod horner;
pub(crate) mod inner_products;
pub(crate) mod lift;
pub(crate) mod multiply;
pub(crate) mod negate;
pub(crate) mod ntt_forward;
pub(crate) mod ntt_forward_open;
pub(crate) mod ntt_inverse;
pub(crate) mod ntt_inverse_from;
pub(crate) mod permute;
pub(crate) mod product;
pub(crate) mod product_sum;
pub(crate) mod round_quotient;
pub(crate) mod scale;
pub(crate) mod scatter_slots;
pub(crate) mod square;
pub(crate) mod subtract;
pub(crate) mod subtract_product;
pub(crate) mod subtract_rest;
pub(crate) mod subtract_scale;
pub(crate) mod sum;
pub(crate) mod tensor;
#[cfg(test)]
pub(crate) mod twins;

/// Calls a macro with the list of kernels, after some arguments in parentheses. `if`: the condition under which 52-bit
/// products hold the values; else the target with 64-bit products takes the call.
macro_rules! for_each_kernel {
    ($callback:ident $arguments:tt) => {
        $callback! { $arguments
            /// Transforms in place from natural order to bit-reversed Eval form. The slice has the table's degree.
            ntt_forward(table: &NttTable, values: &mut [u64]) if table.has_lanes(values.len());
            /// Like `ntt_forward`, but returns unreduced words: congruent to the values, in a representation that depends on
            /// the target.
            ntt_forward_open(table: &NttTable, values: &mut [u64]) if table.has_lanes(values.len());
            /// Transforms in place from Eval form back to natural order, 1/n included.
            ntt_inverse(table: &NttTable, values: &mut [u64]) if table.has_lanes(values.len());
            /// Computes out = the inverse transform of the values times a constant: see [`NttTable::inverse_scale`].
            ntt_inverse_from(table: &NttTable, out: &mut [u64], values: &[u64], scale: Factor) if table.has_lanes(out.len()) && values.len() == out.len();
            /// Computes a += b.
            add(m: &Modulus, a: &mut [u64], b: &[u64]) if small(m);
            /// Computes a += Σ row.
            add_rows(m: &Modulus, a: &mut [u64], rows: &[&[u64]]) if small(m);
            /// Computes a −= b.
            subtract(m: &Modulus, a: &mut [u64], b: &[u64]) if small(m);
            /// Computes a = −a.
            negate(m: &Modulus, a: &mut [u64]) if small(m);
            /// Computes a ·= b, entry by entry.
            multiply(m: &Modulus, a: &mut [u64], b: &[u64]) if small(m);
            /// Computes sum += a·b, entry by entry.
            add_product(m: &Modulus, sum: &mut [u64], a: &[u64], b: &[u64]) if small(m);
            /// Computes a ·= constant.
            scale(m: &Modulus, a: &mut [u64], factor: Factor) if small(m);
            /// Computes a = (a − b)·constant.
            subtract_scale(m: &Modulus, a: &mut [u64], b: &[u64], factor: Factor) if small(m);
            /// Reduces signed integers to residues.
            from_signed(m: &Modulus, out: &mut [u64], values: &[i64]) if small(m);
            /// Computes the first half of a base conversion: out = round(Σ floor(y·constant / 2^shift) / 2^25).
            round_quotient(out: &mut [u64], sources: &[&[u64]], quotients: &[Quotient]) if round_quotient::small(quotients);
            /// Computes the second half of a base conversion: out = Σ source·weight + base. Range: sources below 2^source_bits
            /// ≤ 2^61, weights and base < q.
            convert(m: &Modulus, out: &mut [u64], sources: &[&[u64]], source_bits: u32, weights: &[u64], base: u64) if small(m) && source_bits <= *BITS.end();
            /// Converts residues x of another modulus (one prime): out = x, or x − modulus from the threshold on.
            lift(m: &Modulus, out: &mut [u64], values: &[u64], lift: &Lift) if small(m) && lift.modulus >> BITS.end() == 0;
            /// Computes `out[h] = Σ digit·key[h]` for unreduced digits. If there is a map, it permutes the digits as `permute`
            /// does.
            inner_products(m: &Modulus, out: [&mut [u64]; 2], digits: &[&[u64]], keys: &[[&[u64]; 2]], map: Option<&[u32]>) if small(m);
            /// Computes out = sum·first + rest·second + addend, the last step of a division; without a sum, out is the sum.
            /// `rest` may be unreduced.
            subtract_rest(m: &Modulus, out: &mut [u64], sum: Option<&[u64]>, rest: &[u64], by: [Factor; 2], addend: Option<&[u64]>) if small(m);
            /// Computes a0·b0, a0·b1 + a1·b0, a1·b1.
            tensor(m: &Modulus, out: [&mut [u64]; 3], a: [&[u64]; 2], b: [&[u64]; 2]) if small(m);
            /// Computes a0², 2·a0·a1, a1².
            square(m: &Modulus, out: [&mut [u64]; 3], a: [&[u64]; 2]) if small(m);
            /// Computes out = a + b.
            sum(m: &Modulus, out: &mut [u64], a: &[u64], b: &[u64]) if small(m);
            /// Computes out = a·b + addend, entry by entry.
            product_sum(m: &Modulus, out: &mut [u64], a: &[u64], b: &[u64], addend: &[u64]) if small(m);
            /// Replaces residues by the representatives in [−floor(q/2), ceil(q/2) − 1], in two's complement: see
            /// [`words_mut`](crate::words_mut).
            centre(m: &Modulus, values: &mut [u64]) if small(m);
            /// Puts slots at their places in Eval form, as residues; places without a slot stay as they are. Range:
            /// magnitudes below q.
            scatter_slots(m: &Modulus, out: &mut [u64], values: &[i64], slots: &SlotMap) if true;
            /// Takes slots from their places in Eval form, as the representatives in [−floor(q/2), ceil(q/2) − 1].
            gather_slots(m: &Modulus, out: &mut [i64], values: &[u64], slots: &SlotMap) if true;
            /// Computes out = out·radix + digits modulo 2^64.
            horner(out: &mut [i64], radix: i64, digits: &[i64]) if true;
            /// Computes out = a·b, entry by entry.
            product(m: &Modulus, out: &mut [u64], a: &[u64], b: &[u64]) if small(m);
            /// Computes `out[i] = values[map[i]]`.
            permute(out: &mut [u64], values: &[u64], map: &[u32]) if true;
        }
    };
}
pub(crate) use for_each_kernel;

#[cfg(all(test, not(miri)))]
mod tests {
    macro_rules! tests {
        (() $($(#[$document:meta])* $name:ident($($argument:ident: $kind:ty),*) if $small:expr;)*) => {$(
            #[test]
            fn $name() {
                super::$name::twin();
            }
        )*};
    }
    super::for_each_kernel!(tests());
}
