//! Polynomials in SEAL's format: 64-bit words, prime by prime.

use sotto_ring::{Coeff, Eval, Form, Modulus, Poly, Ring};
use sotto_rlwe::{Params, Scheme};
use std::sync::Arc;
use zeroize::{Zeroize as _, Zeroizing};

use crate::compression::Compression;
use crate::error::SealError;
use crate::header::{HEADER, Header};
use crate::parameters::ParmsId;
use crate::randomness::{Generator, SEED_BYTES, Stream, limb_words, uniform_words};
use crate::reader::Reader;
use crate::version::Version;

/// Bytes before the words of an array: a header and the number of words.
pub(crate) const ARRAY: usize = HEADER + 8;
/// Bytes of a seed with its header and its generator.
pub(crate) const SEED_INFO: usize = HEADER + 1 + SEED_BYTES;

/// The form of a polynomial's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordForm {
    /// Coefficients of X^0, X^1 and so on.
    Coefficients,
    /// Values of the number-theoretic transform, in our order: SEAL uses the same ψ and the same bit
    /// reversal.
    Transformed,
}

/// The limbs of a polynomial in the order of its words.
pub(crate) struct Layout<'p> {
    ring: &'p Arc<Ring>,
    order: Vec<usize>,
}

impl<'p> Layout<'p> {
    /// Makes a layout. `order` holds each limb of a range once.
    pub(crate) fn new<S: Scheme>(params: &'p Params<S>, order: Vec<usize>) -> Self {
        Self { ring: params.ring(), order }
    }

    /// Returns the words of a polynomial.
    pub(crate) fn words(&self) -> usize {
        self.order.len() * self.ring.degree()
    }

    fn zero<F: Form>(&self) -> Poly<F> {
        let start = self.order.iter().min().copied().unwrap_or(0);
        Poly::zero(self.ring, start..start + self.order.len())
    }

    fn moduli(&self) -> Vec<Modulus> {
        self.order.iter().map(|limb| *self.ring.modulus(*limb)).collect()
    }

    /// Reads a polynomial, each word below its prime. Compares all words of a prime before it refuses them,
    /// and then skips the primes after it.
    pub(crate) fn poly(&self, reader: &mut Reader<'_>, form: WordForm) -> Result<Poly<Eval>, SealError> {
        match form {
            WordForm::Transformed => self.filled(reader),
            WordForm::Coefficients => self.filled::<Coeff>(reader).map(Poly::<Coeff>::into_eval),
        }
    }

    fn filled<F: Form>(&self, reader: &mut Reader<'_>) -> Result<Poly<F>, SealError> {
        let bytes = reader.take(8 * self.words() as u64)?;
        let (words, _) = bytes.as_chunks::<8>();
        let mut poly = self.zero();
        for (index, limb) in self.order.iter().enumerate() {
            let modulus = self.ring.modulus(*limb).value();
            let mut outside = false;
            let words = &words[limb_words(index, self.ring.degree())];
            for (residue, word) in poly.limb_mut(*limb).iter_mut().zip(words) {
                *residue = u64::from_le_bytes(*word);
                outside |= *residue >= modulus;
            }
            if outside {
                // The polynomial may have been a secret key.
                poly.zeroize();
                return Err(SealError::Residue { modulus });
            }
        }
        Ok(poly)
    }

    /// Expands a seed to a polynomial; `form` is the form of the words drawn.
    pub(crate) fn seeded(&self, reader: &mut Reader<'_>, form: WordForm) -> Result<Poly<Eval>, SealError> {
        let (_, mut members) = Header::nested(reader)?;
        let generator = Generator::from_number(members.u8()?)?;
        let mut stream = Stream::new(generator, members.array()?);
        members.finish()?;
        let words = uniform_words(&mut stream, &self.moduli(), self.ring.degree());
        Ok(match form {
            WordForm::Transformed => self.placed(&words),
            WordForm::Coefficients => self.placed::<Coeff>(&words).into_eval(),
        })
    }

    fn placed<F: Form>(&self, words: &[u64]) -> Poly<F> {
        let mut poly = self.zero();
        for (index, limb) in self.order.iter().enumerate() {
            poly.limb_mut(*limb).copy_from_slice(&words[limb_words(index, self.ring.degree())]);
        }
        poly
    }

    /// Appends a polynomial's words.
    pub(crate) fn write(&self, out: &mut Vec<u8>, poly: &Poly<Eval>, form: WordForm) {
        match form {
            WordForm::Transformed => self.append(out, poly),
            WordForm::Coefficients => self.append(out, &poly.clone().into_coeff()),
        }
    }

    fn append<F: Form>(&self, out: &mut Vec<u8>, poly: &Poly<F>) {
        for limb in &self.order {
            poly.limb(*limb).iter().for_each(|residue| out.extend_from_slice(&residue.to_le_bytes()));
        }
    }
}

/// Reads the header of an array of at most `most` words. Returns the number of words, and a reader of the
/// words.
pub(crate) fn array<'b>(reader: &mut Reader<'b>, most: u64) -> Result<(u64, Reader<'b>), SealError> {
    let (_, mut members) = Header::nested(reader)?;
    let count = members.u64()?;
    if count > most {
        return Err(SealError::Length { expected: most, found: count });
    }
    if members.left() as u64 != 8 * count {
        return Err(SealError::Length { expected: 8 * count, found: members.left() as u64 });
    }
    Ok((count, members))
}

/// Appends an array's header and number of words.
pub(crate) fn write_array(out: &mut Vec<u8>, version: Version, count: usize) {
    Header::write(out, version, Compression::None, ARRAY + 8 * count);
    out.extend_from_slice(&(count as u64).to_le_bytes());
}

pub(crate) fn parms_id(reader: &mut Reader<'_>) -> Result<ParmsId, SealError> {
    reader.array().map(ParmsId)
}

/// Reads the words of an object with one polynomial: a plaintext or a secret key. The polynomial may be
/// secret.
pub(crate) fn single(
    members: &mut Reader<'_>,
    layout: &Layout<'_>,
    count: u64,
) -> Result<Zeroizing<Poly<Eval>>, SealError> {
    let expected = layout.words() as u64;
    if count != expected {
        return Err(SealError::Length { expected, found: count });
    }
    let (found, mut words) = array(members, expected)?;
    if found != expected {
        return Err(SealError::Length { expected, found });
    }
    let poly = Zeroizing::new(layout.poly(&mut words, WordForm::Transformed)?);
    words.finish()?;
    members.finish()?;
    Ok(poly)
}
