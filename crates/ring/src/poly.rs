//! Polynomials modulo a range of a ring's primes, with the form in the type.

use alloc::sync::Arc;
use core::marker::PhantomData;
use core::ops::Range;

use arrayvec::ArrayVec;
use zeroize::Zeroize;

pub(crate) use crate::buffer::Buffer;
use crate::parallel;
use crate::ring::Ring;

/// Polynomials that are added in one pass.
const MOST_ROWS: usize = 32;

/// Coefficient form, natural order.
///
/// Example: [`Form`]
#[derive(Clone, Copy, Debug)]
pub enum Coeff {}
/// Evaluation form, bit-reversed order.
///
/// Example: [`Form`]
#[derive(Clone, Copy, Debug)]
pub enum Eval {}

/// The form of a polynomial.
///
/// ```
/// use sotto_ring::{Coeff, Eval, Form, Poly, Ring};
///
/// fn doubled<F: Form>(mut poly: Poly<F>) -> Poly<F> {
///     poly.scale_signed(2);
///     poly
/// }
/// let ring = Ring::new(8, &[17])?;
/// let poly: Poly<Coeff> = Poly::from_signed(&ring, 0..1, &[3, -4]);
/// let values: Poly<Eval> = doubled(poly.clone().into_eval());
/// assert_eq!(values.into_coeff(), doubled(poly));
/// assert!(Eval::IS_EVAL && !Coeff::IS_EVAL);
/// # Ok::<(), sotto_ring::RingError>(())
/// ```
pub trait Form: sealed::Sealed + Copy + Send + Sync + 'static {
    /// True for [`Eval`].
    const IS_EVAL: bool;
}
impl Form for Coeff {
    const IS_EVAL: bool = false;
}
impl Form for Eval {
    const IS_EVAL: bool = true;
}
mod sealed {
    /// Limits [`Form`](super::Form) to its two forms.
    ///
    /// Example: [`Form`](super::Form)
    pub trait Sealed {}
    impl Sealed for super::Coeff {}
    impl Sealed for super::Eval {}
}

/// A polynomial of degree below n modulo each prime of a range of its ring's limbs.
///
/// Limbs are contiguous and 64-byte aligned, with a stride that is not a multiple of 4 KiB. Limb indices are always
/// those of the ring. Entries are residues in [0, q).
///
/// ```
/// use sotto_ring::{Poly, Ring};
///
/// let ring = Ring::new(8, &[17, 97])?;
/// let mut sum = Poly::from_signed(&ring, ring.all_limbs(), &[21, -4]);
/// sum.add_assign(&Poly::from_signed(&ring, ring.all_limbs(), &[19, 3]));
/// // 40 and -1, modulo 17 and modulo 97.
/// assert_eq!(sum.limb(0)[..2], [6, 16]);
/// assert_eq!(sum.limb(1)[..2], [40, 96]);
/// # Ok::<(), sotto_ring::RingError>(())
/// ```
pub struct Poly<F: Form> {
    ring: Arc<Ring>,
    limbs: Range<usize>,
    data: Buffer,
    form: PhantomData<F>,
}

impl<F: Form> Clone for Poly<F> {
    /// Copies only the words in use: a pooled buffer may be longer.
    fn clone(&self) -> Self {
        let data = self.data.start(stride(self.ring.degree()) * self.limbs.len());
        Self { ring: Arc::clone(&self.ring), limbs: self.limbs.clone(), data, form: PhantomData }
    }
}

impl<F: Form> core::fmt::Debug for Poly<F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Poly {{ degree: {}, limbs: {:?}, eval: {} }}", self.ring.degree(), self.limbs, F::IS_EVAL)
    }
}

impl<F: Form> PartialEq for Poly<F> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.ring, &other.ring)
            && self.limbs == other.limbs
            && self.limbs.clone().all(|i| self.limb(i) == other.limb(i))
    }
}

impl<F: Form> Zeroize for Poly<F> {
    fn zeroize(&mut self) {
        sotto_kernels::wipe(&mut self.data);
    }
}

/// Returns the words from one limb or row to the next. The stride avoids multiples of 4 KiB, so that equal entries of
/// neighbours fall into different cache sets; equal parts ([`parallel::PART`]) of long neighbours use different halves
/// of the sets.
pub(crate) fn stride(degree: usize) -> usize {
    match degree {
        parallel::LONG.. if degree.is_multiple_of(512) => degree + 8 + parallel::PART,
        _ if degree.is_multiple_of(512) => degree + 8,
        _ => degree.next_multiple_of(8),
    }
}

/// Returns the bytes of memory of a polynomial of this degree over this many limbs.
pub fn polynomial_bytes(degree: usize, limbs: usize) -> usize {
    stride(degree) * limbs * size_of::<u64>()
}

impl<F: Form> Poly<F> {
    /// Returns the zero polynomial. Panics if `limbs` are not in the ring.
    pub fn zero(ring: &Arc<Ring>, limbs: Range<usize>) -> Self {
        assert!(limbs.start <= limbs.end && limbs.end <= ring.limb_count(), "limbs outside the ring");
        let data = Buffer::zeros(stride(ring.degree()) * limbs.len());
        Self { ring: Arc::clone(ring), limbs, data, form: PhantomData }
    }

    /// Returns a polynomial with unspecified content, for a caller that writes every limb. Panics if `limbs` are not in
    /// the ring.
    pub fn unfilled(ring: &Arc<Ring>, limbs: Range<usize>) -> Self {
        assert!(limbs.start <= limbs.end && limbs.end <= ring.limb_count(), "limbs outside the ring");
        let data = Buffer::unfilled(stride(ring.degree()) * limbs.len());
        Self { ring: Arc::clone(ring), limbs, data, form: PhantomData }
    }

    /// Makes a polynomial, with unspecified content, in a given buffer.
    pub(crate) fn in_buffer(ring: &Arc<Ring>, limbs: Range<usize>, mut data: Buffer) -> Self {
        assert!(limbs.start <= limbs.end && limbs.end <= ring.limb_count(), "limbs outside the ring");
        data.lengthen(stride(ring.degree()) * limbs.len());
        Self { ring: Arc::clone(ring), limbs, data, form: PhantomData }
    }

    /// Returns true if the buffer is longer than long-lived values may keep.
    pub(crate) fn is_loose(&self) -> bool {
        self.data.is_loose(stride(self.ring.degree()) * self.limbs.len())
    }

    pub(crate) fn into_buffer(self) -> Buffer {
        self.data
    }

    /// Omits the limbs behind `limbs`, which begin where self's do, without a division.
    pub(crate) fn keep_first(&mut self, limbs: Range<usize>) {
        assert!(limbs.start == self.limbs.start && limbs.end <= self.limbs.end, "the first limbs");
        self.limbs = limbs;
    }

    /// Sets self to 0.
    pub fn fill_zero(&mut self) {
        self.data.fill(0);
    }

    /// Returns the ring, which holds moduli and transforms.
    pub fn ring(&self) -> &Arc<Ring> {
        &self.ring
    }

    /// Returns the range of its limbs, as indices into the ring.
    pub fn limbs(&self) -> Range<usize> {
        self.limbs.clone()
    }

    /// Returns the residues of one limb. Panics if the polynomial does not hold it.
    #[inline]
    pub fn limb(&self, index: usize) -> &[u64] {
        let start = self.offset(index);
        &self.data[start..start + self.ring.degree()]
    }

    /// Returns the residues of one limb, mutable. The caller keeps them below the prime.
    #[inline]
    pub fn limb_mut(&mut self, index: usize) -> &mut [u64] {
        let start = self.offset(index);
        let degree = self.ring.degree();
        &mut self.data[start..start + degree]
    }

    /// Returns the residues of every limb, first to last, mutable. The caller keeps them below the primes.
    pub fn limbs_mut(&mut self) -> impl Iterator<Item = &mut [u64]> {
        let (degree, count) = (self.ring.degree(), self.limbs.len());
        self.data.chunks_mut(stride(degree)).take(count).map(move |limb| &mut limb[..degree])
    }

    #[inline]
    fn offset(&self, index: usize) -> usize {
        assert!(self.limbs.contains(&index), "limb {index} is not among {:?}", self.limbs);
        (index - self.limbs.start) * stride(self.ring.degree())
    }

    fn each(&mut self, run: impl Fn(&Ring, usize, &mut [u64]) + Sync) {
        let (ring, limbs) = (Arc::clone(&self.ring), self.limbs.clone());
        parallel::for_each(ring.degree(), limbs.zip(self.limbs_mut()), |(i, limb)| run(&ring, i, limb));
    }

    /// Computes self += other. `other` must hold at least self's limbs of the same ring.
    pub fn add_assign(&mut self, other: &Self) {
        self.each(|ring, i, limb| (ring.kernels().add)(ring.modulus(i), limb, other.limb(i)));
    }

    /// Computes self += the sum of others, each of which is read once. They must hold at least self's limbs of the same
    /// ring.
    pub fn add_all(&mut self, others: &[&Self]) {
        self.each(|ring, i, limb| {
            for others in others.chunks(MOST_ROWS) {
                let rows: ArrayVec<&[u64], MOST_ROWS> = others.iter().map(|other| other.limb(i)).collect();
                (ring.kernels().add_rows)(ring.modulus(i), limb, &rows);
            }
        });
    }

    /// Computes self = a + b on self's limbs and overwrites them. Both must hold at least self's limbs of the same
    /// ring.
    pub fn set_sum(&mut self, a: &Self, b: &Self) {
        self.each(|ring, i, limb| (ring.kernels().sum)(ring.modulus(i), limb, a.limb(i), b.limb(i)));
    }

    /// Computes self −= other. `other` must hold at least self's limbs of the same ring.
    pub fn subtract_assign(&mut self, other: &Self) {
        self.each(|ring, i, limb| (ring.kernels().subtract)(ring.modulus(i), limb, other.limb(i)));
    }

    /// Computes self = −self.
    pub fn negate(&mut self) {
        self.each(|ring, i, limb| (ring.kernels().negate)(ring.modulus(i), limb));
    }

    /// Multiplies self by an integer.
    pub fn scale_signed(&mut self, scalar: i64) {
        self.each(|ring, i, limb| {
            let q = ring.modulus(i);
            (ring.kernels().scale)(q, limb, q.factor(q.from_signed(scalar)));
        });
    }

    /// Multiplies self by an integer, given by its residue for each limb.
    pub fn scale_by(&mut self, residue: impl Fn(&sotto_kernels::Modulus) -> u64 + Sync) {
        self.each(|ring, i, limb| {
            let q = ring.modulus(i);
            (ring.kernels().scale)(q, limb, q.factor(residue(q)));
        });
    }

    /// Returns the polynomial modulo fewer primes: omits the limbs outside `limbs`, without a division.
    pub fn restricted(&self, limbs: Range<usize>) -> Self {
        let mut out = Self::zero(&self.ring, limbs.clone());
        for i in limbs {
            out.limb_mut(i).copy_from_slice(self.limb(i));
        }
        out
    }
}

impl Poly<Coeff> {
    /// Makes a polynomial from signed coefficients, small or plain. Range: at most n of them; missing ones are zero.
    pub fn from_signed(ring: &Arc<Ring>, limbs: Range<usize>, coefficients: &[i64]) -> Self {
        let mut out = Self::zero(ring, limbs);
        out.each(|ring, i, limb| {
            (ring.kernels().from_signed)(ring.modulus(i), &mut limb[..coefficients.len()], coefficients);
        });
        out
    }

    /// Transforms to evaluation form.
    pub fn into_eval(mut self) -> Poly<Eval> {
        self.each(|ring, i, limb| (ring.kernels().ntt_forward)(ring.table(i), limb));
        Poly { ring: self.ring, limbs: self.limbs, data: self.data, form: PhantomData }
    }
}

impl Poly<Eval> {
    /// Transforms to coefficient form.
    pub fn into_coeff(mut self) -> Poly<Coeff> {
        self.each(|ring, i, limb| (ring.kernels().ntt_inverse)(ring.table(i), limb));
        Poly { ring: self.ring, limbs: self.limbs, data: self.data, form: PhantomData }
    }

    /// Computes self ·= other. `other` must hold at least self's limbs of the same ring.
    pub fn multiply_assign(&mut self, other: &Self) {
        self.each(|ring, i, limb| (ring.kernels().multiply)(ring.modulus(i), limb, other.limb(i)));
    }

    /// Computes self += a·b. Both must hold at least self's limbs of the same ring.
    pub fn add_product(&mut self, a: &Self, b: &Self) {
        self.each(|ring, i, limb| {
            (ring.kernels().add_product)(ring.modulus(i), limb, a.limb(i), b.limb(i));
        });
    }

    /// Returns self·other, on self's limbs.
    pub fn product(&self, other: &Self) -> Self {
        let mut out = self.clone();
        out.multiply_assign(other);
        out
    }

    /// Computes self = a·b on self's limbs and overwrites them. Both must hold at least self's limbs of the same ring.
    pub fn set_product(&mut self, a: &Self, b: &Self) {
        self.each(|ring, i, limb| (ring.kernels().product)(ring.modulus(i), limb, a.limb(i), b.limb(i)));
    }

    /// Computes self = a·b + addend on self's limbs and overwrites them. All must hold at least self's limbs of the
    /// same ring.
    pub fn set_product_sum(&mut self, a: &Self, b: &Self, addend: &Self) {
        self.each(|ring, i, limb| {
            (ring.kernels().product_sum)(ring.modulus(i), limb, a.limb(i), b.limb(i), addend.limb(i));
        });
    }

    /// Returns true if every residue is zero (the mask of a transparent ciphertext).
    pub fn is_zero(&self) -> bool {
        self.limbs.clone().all(|i| self.limb(i).iter().all(|x| *x == 0))
    }
}
