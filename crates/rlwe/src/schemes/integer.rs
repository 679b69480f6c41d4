//! Integer plaintexts, shared by BFV and BGV: batched if t ≡ 1 (mod 2n), as coefficients for any t.

use alloc::vec::Vec;

#[cfg(not(feature = "std"))]
use num_traits::Float as _;
use sotto_ring::{LeanTransform, Modulus, NttTable, Scratch, Target, Wiped, primes};

use crate::error::{EncodeError, ParameterError};
use crate::lean::SlotValues;
use crate::noise::Log2;
use crate::parameters::{ParameterSpec, Params};
use crate::plaintext::Plaintext;
use crate::scheme::Scheme;

/// The encoding methods of [`Scheme`], identical in BFV and BGV: their tables hold an `encoder`.
macro_rules! integer_encoding {
    () => {
        fn slot_shape(params: &$crate::parameters::Params<Self>) -> Option<(usize, usize)> {
            params.tables().encoder.slots()
        }

        fn encode_slots(
            params: &$crate::parameters::Params<Self>,
            values: &[i64],
            level: usize,
        ) -> Result<$crate::plaintext::Plaintext<Self>, $crate::error::EncodeError> {
            params.tables().encoder.encode_slots(params, values, level)
        }

        fn encode_coefficients(
            params: &$crate::parameters::Params<Self>,
            values: &[i64],
            level: usize,
        ) -> Result<$crate::plaintext::Plaintext<Self>, $crate::error::EncodeError> {
            params.tables().encoder.encode_coefficients(params, values, level)
        }

        fn decode_slots(
            params: &$crate::parameters::Params<Self>,
            plaintext: &$crate::plaintext::Plaintext<Self>,
        ) -> Result<Vec<i64>, $crate::error::EncodeError> {
            params.tables().encoder.decode_slots(plaintext)
        }

        fn decode_coefficients(
            params: &$crate::parameters::Params<Self>,
            plaintext: &$crate::plaintext::Plaintext<Self>,
        ) -> Vec<i64> {
            params.tables().encoder.decode_coefficients(plaintext)
        }

        fn decode_scalar(
            params: &$crate::parameters::Params<Self>,
            plaintext: &$crate::plaintext::Plaintext<Self>,
        ) -> i64 {
            params.tables().encoder.decode_scalar(plaintext)
        }
    };
}
pub(crate) use integer_encoding;

/// Encoder of integers modulo t.
#[derive(Debug)]
pub(crate) struct IntegerEncoder {
    pub(crate) modulus: Modulus,
    degree: usize,
    batch: Option<Batch>,
    target: Target,
}

#[derive(Debug)]
struct Batch {
    table: NttTable,
    /// The index of each slot in Eval form modulo t, and the slot of each index.
    places: Vec<u32>,
    slots: Vec<u32>,
}

/// Refuses a t that is not a modulus, is not below 2^60, or shares a factor with a prime of the chain.
pub(crate) fn check_plain_modulus(spec: &ParameterSpec) -> Result<(), ParameterError> {
    let refuse = |reason| Err(ParameterError::PlainModulus { value: spec.plain, reason });
    if spec.plain < 2 || spec.plain >> 60 != 0 {
        return refuse("must be at least 2 and below 2^60");
    }
    if spec.special.iter().chain(&spec.data).any(|q| spec.plain.is_multiple_of(*q)) {
        return refuse("shares a factor with a prime of the chain");
    }
    if (spec.plain as f64).log2() + 4.0 > spec.data_bits() {
        return refuse("is too large for the data modulus: take a larger n");
    }
    Ok(())
}

impl IntegerEncoder {
    pub(crate) fn new(spec: &ParameterSpec, target: &Target) -> Result<Self, ParameterError> {
        let refused = |_| ParameterError::PlainModulus { value: spec.plain, reason: "is out of range" };
        let modulus = Modulus::new(spec.plain).map_err(refused)?;
        let prime = primes::is_prime(spec.plain);
        let table = if prime { NttTable::new(modulus, spec.degree) } else { None };
        let batch = table.map(|table| {
            let places: Vec<u32> = places(spec.degree).collect();
            let mut slots = vec![0; places.len()];
            (0..).zip(&places).for_each(|(slot, place)| slots[*place as usize] = slot);
            Batch { places, slots, table }
        });
        Ok(Self { modulus, degree: spec.degree, batch, target: *target })
    }

    pub(crate) fn slots(&self) -> Option<(usize, usize)> {
        self.batch.as_ref().map(|_| (2, self.degree / 2))
    }

    fn batch(&self) -> Result<&Batch, EncodeError> {
        let plain_modulus = self.modulus.value();
        self.batch.as_ref().ok_or(EncodeError::NoSlots { plain_modulus, degree: self.degree })
    }

    /// Refuses values that are neither centred nor in [0, t). Searches for the index only if there is one.
    fn check(&self, values: &[i64]) -> Result<(), EncodeError> {
        let outside = |value: &i64| value.unsigned_abs() >= self.modulus.value();
        if (self.target.streams.any_beyond)(values, self.modulus.value()) {
            let index = values.iter().position(outside).unwrap_or(0);
            return Err(EncodeError::OutOfRange { index, limit: (self.modulus.value() - 1) as f64 });
        }
        Ok(())
    }

    /// Returns the residue of a value. Values may be centred or in [0, t).
    fn residue(&self, index: usize, value: i64) -> Result<u64, EncodeError> {
        if value.unsigned_abs() >= self.modulus.value() {
            let limit = (self.modulus.value() - 1) as f64;
            return Err(EncodeError::OutOfRange { index, limit });
        }
        Ok(self.modulus.from_signed(value))
    }

    pub(crate) fn encode_slots<S: Scheme>(
        &self,
        params: &Params<S>,
        values: &[i64],
        level: usize,
    ) -> Result<Plaintext<S>, EncodeError> {
        let batch = self.batch()?;
        if values.len() > self.degree {
            return Err(EncodeError::TooMany { given: values.len(), slots: self.degree });
        }
        self.check(values)?;
        let mut scratch = Scratch::new();
        let [mut given, mut residues] = [(); 2].map(|()| scratch.rows(1, self.degree));
        let (given, residues) = (given.row_mut(0), residues.row_mut(0));
        (self.target.streams.lift)(&self.modulus, &mut given[..values.len()], values);
        given[values.len()..].fill(0);
        (self.target.kernels.permute)(residues, given, &batch.slots);
        (self.target.kernels.ntt_inverse)(&batch.table, residues);
        let mut coefficients = Wiped::zeros(self.degree);
        (self.target.kernels.centre)(&self.modulus, &mut coefficients, residues);
        let plaintext = Plaintext::from_coefficients(params, coefficients, level, Log2::ZERO);
        Ok(plaintext.with_largest(self.largest()))
    }

    /// Returns n·t/2, a bound on the norm of any message. An even t reaches the declared bound exactly, and the
    /// rounding of f64 must not exceed it.
    fn largest(&self) -> Log2 {
        Log2::of(self.degree as f64 * (self.modulus.value() as f64 / 2.0) * (1.0 - 1e-9))
    }

    /// Returns the coefficients modulo t. Secret.
    pub(crate) fn residues(&self, coefficients: &[i64]) -> Wiped<u64> {
        let mut residues = Wiped::zeros(coefficients.len());
        self.write_residues(coefficients, &mut residues);
        residues
    }

    /// Coefficients that were decrypted or encoded here are below t; those from elsewhere need not be.
    fn write_residues(&self, coefficients: &[i64], out: &mut [u64]) {
        let streams = &self.target.streams;
        if (streams.any_beyond)(coefficients, self.modulus.value()) {
            (self.target.kernels.from_signed)(&self.modulus, out, coefficients);
        } else {
            (streams.lift)(&self.modulus, out, coefficients);
        }
    }

    /// Computes residues ·= factor.
    pub(crate) fn scale(&self, residues: &mut [u64], factor: u64) {
        (self.target.kernels.scale)(&self.modulus, residues, self.modulus.factor(factor));
    }

    /// Returns the representatives nearest to zero. Secret.
    pub(crate) fn centred(&self, residues: &[u64]) -> Wiped<i64> {
        let mut centred = Wiped::zeros(residues.len());
        (self.target.kernels.centre)(&self.modulus, &mut centred, residues);
        centred
    }

    /// Encodes one value a coefficient, for any t.
    pub(crate) fn encode_coefficients<S: Scheme>(
        &self,
        params: &Params<S>,
        values: &[i64],
        level: usize,
    ) -> Result<Plaintext<S>, EncodeError> {
        if values.len() > self.degree {
            return Err(EncodeError::TooManyCoefficients { given: values.len(), degree: self.degree });
        }
        // Allocated once: a vector that grows would leave copies in memory.
        let mut coefficients = zeroize::Zeroizing::new(Vec::with_capacity(values.len()));
        for (index, value) in values.iter().enumerate() {
            coefficients.push(self.modulus.centre(self.residue(index, *value)?));
        }
        let coefficients = core::mem::take(&mut *coefficients);
        let plaintext = Plaintext::from_coefficients(params, coefficients, level, Log2::ZERO);
        Ok(plaintext.with_largest(self.largest()))
    }

    pub(crate) fn decode_coefficients<S: Scheme>(&self, plaintext: &Plaintext<S>) -> Vec<i64> {
        let mut values = plaintext.coefficients().to_vec();
        values.resize(self.degree, 0);
        values
    }

    pub(crate) fn decode_slots<S: Scheme>(&self, plaintext: &Plaintext<S>) -> Result<Vec<i64>, EncodeError> {
        let batch = self.batch()?;
        let mut scratch = Scratch::new();
        let [mut residues, mut ordered] = [(); 2].map(|()| scratch.rows(1, self.degree));
        let (residues, ordered) = (residues.row_mut(0), ordered.row_mut(0));
        let coefficients = plaintext.coefficients();
        let (given, rest) = residues.split_at_mut(coefficients.len());
        self.write_residues(coefficients, given);
        rest.fill(0);
        (self.target.kernels.ntt_forward)(&batch.table, residues);
        (self.target.kernels.permute)(ordered, residues, &batch.places);
        let mut values = vec![0; self.degree];
        (self.target.kernels.centre)(&self.modulus, &mut values, ordered);
        Ok(values)
    }

    pub(crate) fn decode_scalar<S: Scheme>(&self, plaintext: &Plaintext<S>) -> i64 {
        plaintext.coefficients().first().copied().unwrap_or(0)
    }
}

/// Transforms slots of residues modulo t to coefficients.
pub(crate) fn lean_residues(
    spec: &ParameterSpec,
    values: SlotValues<'_>,
) -> Result<(Modulus, Wiped<u64>), EncodeError> {
    let degree = spec.degree;
    let none = EncodeError::NoSlots { plain_modulus: spec.plain, degree };
    let SlotValues::Integers(values) = values else { return Err(none) };
    if values.len() > degree {
        return Err(EncodeError::TooMany { given: values.len(), slots: degree });
    }
    let t = Modulus::new(spec.plain).map_err(|_| none.clone())?;
    let limit = (t.value() - 1) as f64;
    if let Some(index) = values.iter().position(|value| value.unsigned_abs() >= t.value()) {
        return Err(EncodeError::OutOfRange { index, limit });
    }
    let mut residues = Wiped::zeros(degree);
    for (value, place) in values.iter().zip(places(degree)) {
        residues[place as usize] = t.from_signed(*value);
    }
    let transform = LeanTransform::inverse(t, degree).filter(|_| primes::is_prime(t.value()));
    transform.ok_or(none)?.run(&mut residues);
    Ok((t, residues))
}

/// Returns the index of each slot in Eval form: slot i of row 0 is the value at ψ^(3^i), of row 1 at ψ^(2n − 3^i).
pub(crate) fn places(degree: usize) -> impl Iterator<Item = u32> {
    let shift = usize::BITS - degree.trailing_zeros();
    let place = move |exponent: usize| (((exponent - 1) / 2).reverse_bits() >> shift) as u32;
    let powers =
        move || core::iter::successors(Some(1), move |p| Some(p * 3 % (2 * degree))).take(degree / 2);
    powers().map(place).chain(powers().map(move |p| place(2 * degree - p)))
}

#[cfg(test)]
mod tests {
    #[test]
    fn slot_places_match_the_published_ones() {
        assert_eq!(super::places(8).collect::<Vec<_>>(), [0, 4, 1, 5, 7, 3, 6, 2]);
        assert_eq!(
            super::places(16).collect::<Vec<_>>(),
            [0, 8, 2, 11, 1, 9, 3, 10, 15, 7, 13, 4, 14, 6, 12, 5]
        );
    }
}
