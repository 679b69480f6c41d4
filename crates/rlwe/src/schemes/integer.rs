//! Integer plaintexts, shared by BFV and BGV: batched if t ≡ 1 (mod 2n), as coefficients for any t.

use alloc::vec::Vec;

#[cfg(not(feature = "std"))]
use num_traits::Float as _;
use sotto_ring::{LeanTransform, Modulus, NttTable, SlotMap, Target, Wiped, places, primes, words_mut};

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
    /// The places of slots in Eval form modulo t.
    slots: SlotMap,
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
        let batch = table.map(|table| Batch { slots: SlotMap::new(spec.degree), table });
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
        let mut coefficients = Wiped::zeros(self.degree);
        let residues = words_mut(&mut coefficients);
        (self.target.kernels.scatter_slots)(&self.modulus, residues, values, &batch.slots);
        (self.target.kernels.ntt_inverse)(&batch.table, residues);
        (self.target.kernels.centre)(&self.modulus, residues);
        let plaintext = Plaintext::from_coefficients(params, coefficients, level, Log2::ZERO);
        Ok(plaintext.with_largest(self.largest()))
    }

    /// Returns n·t/2, a bound on the norm of any message. An even t reaches the declared bound exactly, and the
    /// rounding of f64 must not exceed it.
    fn largest(&self) -> Log2 {
        Log2::of(self.degree as f64 * (self.modulus.value() as f64 / 2.0) * (1.0 - 1e-9))
    }

    /// Returns the multiple of a message, centred. Secret.
    pub(crate) fn centred_multiple(&self, coefficients: &[i64], factor: u64) -> Wiped<i64> {
        let (kernels, mut multiple) = (&self.target.kernels, Wiped::zeros(coefficients.len()));
        let residues = words_mut(&mut multiple);
        self.write_residues(coefficients, residues);
        if factor != 1 {
            (kernels.scale)(&self.modulus, residues, self.modulus.factor(factor));
        }
        (kernels.centre)(&self.modulus, residues);
        multiple
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
        let mut residues = Wiped::zeros(self.degree);
        let coefficients = plaintext.coefficients();
        self.write_residues(coefficients, &mut residues[..coefficients.len()]);
        (self.target.kernels.ntt_forward)(&batch.table, &mut residues);
        let mut values = vec![0; self.degree];
        (self.target.kernels.gather_slots)(&self.modulus, &mut values, &residues, &batch.slots);
        Ok(values)
    }

    pub(crate) fn decode_scalar<S: Scheme>(&self, plaintext: &Plaintext<S>) -> i64 {
        plaintext.coefficients().first().copied().unwrap_or(0)
    }
}

/// Transforms slots modulo t to coefficients, as residues.
pub(crate) fn lean_residues(
    spec: &ParameterSpec,
    values: SlotValues<'_>,
) -> Result<(Modulus, Wiped<i64>), EncodeError> {
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
    let mut coefficients = Wiped::zeros(degree);
    let residues = words_mut(&mut coefficients);
    for (value, place) in values.iter().zip(places(degree)) {
        residues[place as usize] = t.from_signed(*value);
    }
    let transform = LeanTransform::inverse(t, degree).filter(|_| primes::is_prime(t.value()));
    transform.ok_or(none)?.run(residues);
    Ok((t, coefficients))
}
