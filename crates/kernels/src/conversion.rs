//! Parameters of the kernels of base conversion.

/// Bits after the binary point of the sum in [`Kernels::round_quotient`](crate::Kernels::round_quotient).
pub const FRACTION_BITS: u32 = 25;

/// One term floor(y·constant / 2^shift) of [`Kernels::round_quotient`](crate::Kernels::round_quotient).
///
/// ```
/// use sotto_kernels::{FRACTION_BITS, Quotient, Target};
///
/// // round(y/17) for y below 17: 1 from 9 on.
/// let shift = 5 + 51 - FRACTION_BITS;
/// let quotient = Quotient { constant: (1 << 56) / 17, shift };
/// let mut out = [0; 3];
/// (Target::best().kernels.round_quotient)(&mut out, &[&[3, 8, 9]], &[quotient]);
/// assert_eq!(out, [0, 0, 1]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Quotient {
    /// Below 2^52.
    pub constant: u64,
    /// y is below 2^(shift − 26) ≤ 2^61.
    pub shift: u32,
}

/// The parameters of [`Kernels::lift`](crate::Kernels::lift), which maps a residue to the representative nearest to zero.
///
/// ```
/// use sotto_kernels::{Lift, Modulus, Target};
///
/// // Residues modulo 17, centred, as residues modulo 97: 16 is -1.
/// let mut out = [0; 2];
/// let lift = Lift { modulus: 17, threshold: 9 };
/// (Target::best().kernels.lift)(&Modulus::new(97)?, &mut out, &[3, 16], &lift);
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
