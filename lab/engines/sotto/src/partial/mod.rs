//! The partially homomorphic schemes, with one number in each ciphertext. Each scheme is a [`Pair`] in its own file.

mod elgamal;
mod lwe;
mod paillier;
mod ristretto;

use chacha20::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};
use sotto_harness::protocol::{Measure, Measured, Prepare, Prepared};
use sotto_ring::secure_rng;

use crate::error::EngineError;
use crate::measure::Timer;

/// The partially homomorphic schemes, by their names in requests.
pub(crate) const SCHEMES: [&str; 4] = ["paillier", "elgamal", "elgamal-ristretto", "lwe"];

/// A pair of keys. Drawn numbers are 10 … 99 for schemes that hold them in exponents or modulo a small number, and
/// have 60 bits for Paillier, as in the engine `python-paillier`.
trait Pair: Sized {
    type Ciphertext;
    /// Makes new keys of the same parameters.
    fn another(&self, rng: &mut ChaCha20Rng) -> Result<Self, EngineError>;
    /// Draws a positive number to measure with.
    fn draw(rng: &mut ChaCha20Rng) -> i128 {
        i128::from(10 + rng.next_u32() % 90)
    }
    fn encrypt(&self, value: i128, rng: &mut ChaCha20Rng) -> Result<Self::Ciphertext, EngineError>;
    fn decrypt(&self, ciphertext: &Self::Ciphertext) -> Result<i128, EngineError>;
    /// Applies the operation to two ciphertexts, or to the first and the plain number of the second. Unsupported if the
    /// scheme lacks the operation.
    fn apply(
        &self,
        operation: &str,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
        plain: i128,
    ) -> Result<Self::Ciphertext, EngineError>;
    /// Returns the number that decryption of `value` returns.
    fn said(value: i128) -> i128 {
        value
    }
    /// Returns the bits of the numbers that ciphertexts consist of.
    fn bits(&self) -> u32;
}

/// Narrows a number to 64 bits; all drawn numbers fit.
fn narrow(value: i128) -> Result<i64, EngineError> {
    i64::try_from(value).map_err(|_| EngineError::Wrong)
}

/// Keys, two numbers and their ciphertexts.
struct Partial<P: Pair> {
    pair: P,
    values: [i128; 2],
    ciphertexts: [P::Ciphertext; 2],
    rng: ChaCha20Rng,
}

/// A session of any partially homomorphic scheme.
pub(crate) trait Numbers {
    /// Times an operation; decrypts and compares its result first.
    fn measure(&mut self, request: &Measure) -> Result<Measured, EngineError>;
}

/// Makes keys of the requested scheme.
pub(crate) fn prepare(request: &Prepare) -> Result<(Box<dyn Numbers>, Prepared), EngineError> {
    let mut seed = [0; 32];
    secure_rng()?.fill_bytes(&mut seed);
    let mut rng = ChaCha20Rng::from_seed(seed);
    let bits = request.key_bits.unwrap_or_default();
    match request.scheme.as_str() {
        "paillier" => hold(paillier::Paillier::new(bits, &mut rng)?, rng),
        "elgamal" => hold(elgamal::ElGamal::new(bits, &mut rng)?, rng),
        "elgamal-ristretto" => hold(ristretto::Ristretto::new(&mut rng)?, rng),
        "lwe" => hold(lwe::Lwe::new(&mut rng)?, rng),
        _ => Err(EngineError::Unsupported),
    }
}

fn hold<P: Pair + 'static>(
    pair: P,
    mut rng: ChaCha20Rng,
) -> Result<(Box<dyn Numbers>, Prepared), EngineError> {
    let values = [P::draw(&mut rng), P::draw(&mut rng)];
    let ciphertexts = [pair.encrypt(values[0], &mut rng)?, pair.encrypt(values[1], &mut rng)?];
    let prepared = Prepared { log2_q: f64::from(pair.bits()), ..Prepared::default() };
    Ok((Box::new(Partial { pair, values, ciphertexts, rng }), prepared))
}

impl<P: Pair> Numbers for Partial<P> {
    fn measure(&mut self, request: &Measure) -> Result<Measured, EngineError> {
        let timer = Timer::of(request);
        let Self { pair, values: [x, y], ciphertexts: [a, b], rng } = self;
        let (x, y) = (*x, *y);
        let right = |found: i128, expected: i128| {
            if found == P::said(expected) { Ok(()) } else { Err(EngineError::Wrong) }
        };
        let microseconds = match request.operation.as_str() {
            "keygen" => {
                let other = pair.another(rng)?;
                right(other.decrypt(&other.encrypt(x, rng)?)?, x)?;
                timer.time(rng, |_| (), |rng, ()| pair.another(rng), |_, _| ())?
            }
            "encrypt_public" => {
                right(pair.decrypt(&pair.encrypt(x, rng)?)?, x)?;
                timer.time(rng, |_| (), |rng, ()| pair.encrypt(x, rng), |_, _| ())?
            }
            "decrypt" => {
                right(pair.decrypt(a)?, x)?;
                timer.time(&mut (), |()| (), |(), ()| pair.decrypt(a), |(), _| ())?
            }
            operation => {
                let expected = match operation {
                    "add" | "add_plain" => x + y,
                    "subtract" => x - y,
                    "multiply" | "multiply_plain" => x * y,
                    _ => return Err(EngineError::Unsupported),
                };
                right(pair.decrypt(&pair.apply(operation, a, b, y)?)?, expected)?;
                timer.time(&mut (), |()| (), |(), ()| pair.apply(operation, a, b, y), |(), _| ())?
            }
        };
        Ok(Measured { microseconds, bytes: None, verified: true })
    }
}
