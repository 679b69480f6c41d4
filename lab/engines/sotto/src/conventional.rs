//! The baselines of homomorphic encryption: well-kept crates of authenticated encryption, where the cloud has to
//! decrypt to compute, and arithmetic in the clear.

use std::hint::black_box;

use aes_gcm::Aes256Gcm;
use chacha20::ChaCha20Rng;
use chacha20poly1305::ChaCha20Poly1305;
use chacha20poly1305::aead::{Aead, AeadCore, KeyInit, Nonce};
use rand_core::{Rng as _, SeedableRng as _};
use sotto_harness::protocol::{Measure, Measured, Prepare};
use sotto_ring::secure_rng;

use crate::error::EngineError;
use crate::measure::Timer;

/// A reading is a two-digit number of four bytes; arithmetic wraps.
type Word = u32;

/// Two vectors of readings, in the clear or under a conventional cipher.
pub(crate) struct Conventional {
    cipher: Option<Cipher>,
    readings: [Vec<Word>; 2],
    rng: ChaCha20Rng,
}

enum Cipher {
    Aes(Box<Aes256Gcm>),
    ChaCha(ChaCha20Poly1305),
}

impl Conventional {
    /// Draws `request.degree` readings and a new key.
    pub(crate) fn prepare(request: &Prepare) -> Result<Self, EngineError> {
        const MOST: usize = 1 << 24;
        let (mut seed, mut key) = ([0; 32], [0; 32]);
        let mut secure = secure_rng()?;
        secure.fill_bytes(&mut seed);
        secure.fill_bytes(&mut key);
        let cipher = match request.scheme.as_str() {
            "aes-256-gcm" => Some(Cipher::Aes(Box::new(Aes256Gcm::new(&key.into())))),
            "chacha20-poly1305" => Some(Cipher::ChaCha(ChaCha20Poly1305::new(&key.into()))),
            "clear" => None,
            _ => return Err(EngineError::Unsupported),
        };
        if !(1..=MOST).contains(&request.degree) {
            return Err(EngineError::Request(format!("1 to {MOST} readings are possible")));
        }
        let mut rng = ChaCha20Rng::from_seed(seed);
        let mut readings = || (0..request.degree).map(|_| 10 + rng.next_u32() % 90).collect::<Vec<Word>>();
        let readings = [readings(), readings()];
        Ok(Self { cipher, readings, rng })
    }

    /// Times an operation: the device's encryption, the cloud's decryption, arithmetic and encryption, or the owner's
    /// decryption.
    pub(crate) fn measure(&mut self, request: &Measure) -> Result<Measured, EngineError> {
        let timer = Timer::of(request);
        let Self { cipher, readings: [x, y], rng } = self;
        let operation = request.operation.as_str();
        let arithmetic = match operation {
            "add" => Some(Word::wrapping_add as fn(Word, Word) -> Word),
            "subtract" => Some(Word::wrapping_sub as fn(Word, Word) -> Word),
            "multiply" | "multiply_relin" => Some(Word::wrapping_mul as fn(Word, Word) -> Word),
            _ => None,
        };
        let pairwise = |f: fn(Word, Word) -> Word, x: &[Word], y: &[Word]| {
            x.iter().zip(y).map(|(x, y)| f(*x, *y)).collect::<Vec<_>>()
        };
        let Some(cipher) = cipher else {
            // In the clear, `multiply` and `multiply_relin` would be the same row.
            let f = arithmetic.filter(|_| operation != "multiply_relin").ok_or(EngineError::Unsupported)?;
            let microseconds = timer.time(
                &mut (),
                |()| (),
                |(), ()| Ok(pairwise(f, black_box(x), black_box(y))),
                |(), _| (),
            )?;
            return Ok(Measured { microseconds, bytes: None, verified: true });
        };
        let (a, b) = (cipher.encrypt(x, rng)?, cipher.encrypt(y, rng)?);
        if cipher.decrypt(&a)? != *x || cipher.decrypt(&b)? != *y {
            return Err(EngineError::Wrong);
        }
        let microseconds = match (operation, arithmetic) {
            (_, Some(f)) => {
                let run = |rng: &mut ChaCha20Rng| {
                    let sum = pairwise(f, &cipher.decrypt(&a)?, &cipher.decrypt(&b)?);
                    cipher.encrypt(&sum, rng)
                };
                if cipher.decrypt(&run(rng)?)? != pairwise(f, x, y) {
                    return Err(EngineError::Wrong);
                }
                timer.time(rng, |_| (), |rng, ()| run(rng), |_, _| ())?
            }
            ("encode_encrypt_secret", _) => {
                timer.time(rng, |_| (), |rng, ()| cipher.encrypt(x, rng), |_, _| ())?
            }
            ("decrypt_decode", _) => timer.time(&mut (), |()| (), |(), ()| cipher.decrypt(&a), |(), _| ())?,
            ("serialise", _) if request.codec.is_none() || request.codec.as_deref() == Some("packed") => {
                timer.time(&mut (), |()| (), |(), ()| Ok(a.clone()), |(), _| ())?
            }
            _ => return Err(EngineError::Unsupported),
        };
        Ok(Measured { microseconds, bytes: Some(a.len() as u64), verified: true })
    }
}

impl Cipher {
    /// Returns nonce, ciphertext and tag.
    fn encrypt(&self, readings: &[Word], rng: &mut ChaCha20Rng) -> Result<Vec<u8>, EngineError> {
        match self {
            Self::Aes(cipher) => encrypt(cipher.as_ref(), readings, rng),
            Self::ChaCha(cipher) => encrypt(cipher, readings, rng),
        }
    }

    fn decrypt(&self, bytes: &[u8]) -> Result<Vec<Word>, EngineError> {
        match self {
            Self::Aes(cipher) => decrypt(cipher.as_ref(), bytes),
            Self::ChaCha(cipher) => decrypt(cipher, bytes),
        }
    }
}

fn encrypt<C: Aead>(cipher: &C, readings: &[Word], rng: &mut ChaCha20Rng) -> Result<Vec<u8>, EngineError> {
    let clear: Vec<u8> = readings.iter().flat_map(|reading| reading.to_le_bytes()).collect();
    let mut nonce = Nonce::<C>::default();
    rng.fill_bytes(&mut nonce);
    let sealed = cipher.encrypt(&nonce, clear.as_slice()).map_err(|_| EngineError::Cipher)?;
    Ok([nonce.as_slice(), &sealed].concat())
}

fn decrypt<C: Aead + AeadCore>(cipher: &C, bytes: &[u8]) -> Result<Vec<Word>, EngineError> {
    let mut nonce = Nonce::<C>::default();
    let (first, sealed) = bytes.split_at_checked(nonce.len()).ok_or(EngineError::Cipher)?;
    nonce.copy_from_slice(first);
    let clear = cipher.decrypt(&nonce, sealed).map_err(|_| EngineError::Cipher)?;
    Ok(clear.as_chunks::<4>().0.iter().map(|bytes| Word::from_le_bytes(*bytes)).collect())
}
