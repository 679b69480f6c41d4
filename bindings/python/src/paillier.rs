//! Paillier's scheme for `sotto.paillier`. Numbers cross as big-endian bytes; the exponents of python-paillier's encoding
//! stay in Python.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sotto::secure_rng;
use sotto_decrypt::partial::paillier::Decryptor;
use sotto_kernels::Target;
use sotto_keys::partial::paillier::{Masking, SecretKey};
use sotto_partial::PartialError;
use sotto_partial::number::{from_bytes, to_bytes, words};
use sotto_partial::paillier::{Ciphertext as RustCiphertext, Plaintext, PublicKey as RustPublic, Randomness};
use zeroize::Zeroizing;

use crate::rlwe::{OrRefuse as _, Refusal};

#[pymodule(submodule)]
#[pyo3(name = "paillier")]
pub(crate) mod module {
    #[pymodule_export]
    use super::{Ciphertext, PrivateKey, PublicKey};
}

impl Refusal for PartialError {
    fn exception(&self) -> &'static str {
        match self {
            Self::KeyLength { .. } | Self::Modulus | Self::Primes => "WrongParameters",
            Self::OtherKey => "WrongKeys",
            Self::Length { .. } | Self::NoInverse => "BadBytes",
            _ => "OutOfRange",
        }
    }
}

/// The modulus n with its tables.
#[pyclass(frozen, module = "sotto._native.paillier")]
pub(crate) struct PublicKey(Arc<RustPublic>);

/// A unit modulo n².
#[pyclass(frozen, module = "sotto._native.paillier")]
pub(crate) struct Ciphertext(RustCiphertext);

/// The factors of n. Wiped when it is freed.
#[pyclass(frozen, module = "sotto._native.paillier")]
pub(crate) struct PrivateKey {
    secret: SecretKey,
    decryptor: Decryptor,
    public: Arc<RustPublic>,
}

#[pymethods]
impl PublicKey {
    /// Makes a key of 2048, 3072 or 4096 bits.
    #[new]
    fn new(py: Python<'_>, n: &[u8]) -> PyResult<Self> {
        let n = from_bytes(n);
        let key = py.detach(|| RustPublic::new(&n, Randomness::Textbook)).or_refuse(py)?;
        Ok(Self(Arc::new(key)))
    }

    /// Makes a key of any length, for tests.
    #[staticmethod]
    fn insecure_any_length(py: Python<'_>, n: &[u8]) -> PyResult<Self> {
        let n = from_bytes(n);
        let made = py.detach(|| RustPublic::insecure_any_length(Target::best(), &n, Randomness::Textbook));
        Ok(Self(Arc::new(made.or_refuse(py)?)))
    }

    /// The modulus n as big-endian bytes.
    #[getter]
    fn n<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &to_bytes(&words(self.0.modulus()), self.length()))
    }

    /// Encrypts a number below n.
    fn encrypt(&self, py: Python<'_>, plaintext: &[u8]) -> PyResult<Ciphertext> {
        let plaintext = self.plaintext(plaintext).or_refuse(py)?;
        let mut rng = secure_rng().or_refuse(py)?;
        py.detach(|| self.0.encrypt(&plaintext, &mut rng)).or_refuse(py).map(Ciphertext)
    }

    /// Encrypts numbers below n one after another.
    fn encrypt_many(&self, py: Python<'_>, plaintexts: Vec<Vec<u8>>) -> PyResult<Vec<Ciphertext>> {
        let plaintexts = Zeroizing::new(plaintexts);
        let mut rng = secure_rng().or_refuse(py)?;
        let encrypted = py.detach(|| {
            let mut one =
                |number: &Vec<u8>| self.0.encrypt(&self.plaintext(number)?, &mut rng).map(Ciphertext);
            plaintexts.iter().map(&mut one).collect::<Result<Vec<_>, PartialError>>()
        });
        encrypted.or_refuse(py)
    }

    /// Encrypts under the mask r^n. Anybody who knows r can read the message; 1 hides nothing.
    fn insecure_encrypt_with(&self, py: Python<'_>, plaintext: &[u8], r: &[u8]) -> PyResult<Ciphertext> {
        let plaintext = self.plaintext(plaintext).or_refuse(py)?;
        // r below n, like a plaintext.
        let r = self.plaintext(r).or_refuse(py)?;
        let encrypted = py.detach(|| self.0.encrypt_with(&plaintext, self.0.insecure_mask(r.value())));
        encrypted.or_refuse(py).map(Ciphertext)
    }

    /// Reads a number below n².
    fn read(&self, py: Python<'_>, number: &[u8]) -> PyResult<Ciphertext> {
        self.0.read(number).or_refuse(py).map(Ciphertext)
    }

    /// Writes a ciphertext as a number below n².
    fn write<'py>(&self, py: Python<'py>, ciphertext: &Ciphertext) -> PyResult<Bound<'py, PyBytes>> {
        if ciphertext.0.key() != self.0.id() {
            return Err(PartialError::OtherKey).or_refuse(py);
        }
        Ok(PyBytes::new(py, &self.0.write(&ciphertext.0)))
    }

    /// Bytes of a ciphertext: twice those of n.
    #[getter]
    fn ciphertext_bytes(&self) -> usize {
        self.0.ciphertext_bytes()
    }

    /// E(a + b).
    fn add(&self, py: Python<'_>, a: &Ciphertext, b: &Ciphertext) -> PyResult<Ciphertext> {
        py.detach(|| self.0.add(&a.0, &b.0)).or_refuse(py).map(Ciphertext)
    }

    /// E(a + m) under a's mask.
    fn add_plain(&self, py: Python<'_>, a: &Ciphertext, plaintext: &[u8]) -> PyResult<Ciphertext> {
        let plaintext = self.plaintext(plaintext).or_refuse(py)?;
        py.detach(|| self.0.add_plain(&a.0, &plaintext)).or_refuse(py).map(Ciphertext)
    }

    /// E(−a).
    fn negate(&self, py: Python<'_>, a: &Ciphertext) -> PyResult<Ciphertext> {
        py.detach(|| self.0.negate(&a.0)).or_refuse(py).map(Ciphertext)
    }

    /// E(a·k) for a k below n of so many bits. Timing shows `bits`.
    fn multiply(&self, py: Python<'_>, a: &Ciphertext, k: &[u8], bits: u32) -> PyResult<Ciphertext> {
        let k = self.plaintext(k).or_refuse(py)?;
        py.detach(|| self.0.multiply_plaintext_of(&a.0, &k, bits)).or_refuse(py).map(Ciphertext)
    }

    /// The same message under a further mask.
    fn rerandomise(&self, py: Python<'_>, a: &Ciphertext) -> PyResult<Ciphertext> {
        let mut rng = secure_rng().or_refuse(py)?;
        py.detach(|| self.0.rerandomise(&a.0, self.0.uniform_mask(&mut rng))).or_refuse(py).map(Ciphertext)
    }
}

impl PublicKey {
    /// Bytes of n.
    fn length(&self) -> usize {
        self.0.bits().div_ceil(8) as usize
    }

    fn plaintext(&self, number: &[u8]) -> Result<Plaintext, PartialError> {
        self.0.plaintext(from_bytes(number))
    }
}

#[pymethods]
impl PrivateKey {
    /// Generates a key of 2048, 3072 or 4096 bits.
    #[staticmethod]
    fn generate(py: Python<'_>, bits: u32) -> PyResult<Self> {
        let mut rng = secure_rng().or_refuse(py)?;
        py.detach(|| Self::of(SecretKey::generate(bits, Masking::Textbook, &mut rng)?, false)).or_refuse(py)
    }

    /// Generates a key of at least 256 bits, a multiple of 128, for tests.
    #[staticmethod]
    fn insecure_generate(py: Python<'_>, bits: u32) -> PyResult<Self> {
        let mut rng = secure_rng().or_refuse(py)?;
        py.detach(|| Self::of(SecretKey::insecure_generate(bits, Masking::Textbook, &mut rng)?, true))
            .or_refuse(py)
    }

    /// Makes a key of primes of equal length whose product has 2048, 3072 or 4096 bits.
    #[staticmethod]
    fn from_primes(py: Python<'_>, p: &[u8], q: &[u8]) -> PyResult<Self> {
        let (p, q) = (from_bytes(p), from_bytes(q));
        py.detach(|| Self::of(SecretKey::from_primes(p, q)?, false)).or_refuse(py)
    }

    /// Makes a key of primes of any length, for tests.
    #[staticmethod]
    fn insecure_from_primes(py: Python<'_>, p: &[u8], q: &[u8]) -> PyResult<Self> {
        let (p, q) = (from_bytes(p), from_bytes(q));
        py.detach(|| Self::of(SecretKey::insecure_from_primes(p, q)?, true)).or_refuse(py)
    }

    /// The key that encrypts for this one.
    #[getter]
    fn public_key(&self) -> PublicKey {
        PublicKey(Arc::clone(&self.public))
    }

    /// Decrypts to a number below n.
    fn decrypt<'py>(&self, py: Python<'py>, ciphertext: &Ciphertext) -> PyResult<Bound<'py, PyBytes>> {
        let number = py.detach(|| self.number(ciphertext)).or_refuse(py)?;
        Ok(PyBytes::new(py, &number))
    }

    /// Decrypts to numbers below n.
    fn decrypt_many<'py>(
        &self,
        py: Python<'py>,
        ciphertexts: Vec<PyRef<'py, Ciphertext>>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let ciphertexts: Vec<&Ciphertext> = ciphertexts.iter().map(|ciphertext| &**ciphertext).collect();
        let numbers = py.detach(|| ciphertexts.iter().map(|c| self.number(c)).collect::<Result<Vec<_>, _>>());
        Ok(numbers.or_refuse(py)?.iter().map(|number| PyBytes::new(py, number)).collect())
    }

    /// The primes. Anybody who has them reads everything under this key.
    fn expose_secret_primes<'py>(&self, py: Python<'py>) -> (Bound<'py, PyBytes>, Bound<'py, PyBytes>) {
        let (p, q) = self.secret.expose_secret_primes();
        let bytes = |prime| {
            let words = words(prime);
            PyBytes::new(py, &Zeroizing::new(to_bytes(&words, 8 * words.len())))
        };
        (bytes(p), bytes(q))
    }
}

impl PrivateKey {
    fn of(secret: SecretKey, any_length: bool) -> Result<Self, PartialError> {
        let public =
            if any_length { secret.insecure_public_key(Target::best())? } else { secret.public_key()? };
        Ok(Self { decryptor: Decryptor::new(&secret)?, secret, public: Arc::new(public) })
    }

    fn number(&self, ciphertext: &Ciphertext) -> Result<Zeroizing<Vec<u8>>, PartialError> {
        let plaintext = self.decryptor.decrypt(&self.public, &ciphertext.0)?;
        let length = self.public.bits().div_ceil(8) as usize;
        Ok(Zeroizing::new(to_bytes(&words(plaintext.value()), length)))
    }
}
