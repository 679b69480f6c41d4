//! The partially homomorphic schemes: one number a ciphertext.

use std::sync::Arc;

use chacha20::ChaCha20Rng;
use crypto_bigint::BoxedUint;
use rand_core::{Rng as _, SeedableRng as _};
use sotto_decrypt::partial as opens;
use sotto_keys::partial as secrets;
use sotto_lab::protocol::{Measure, Measured, Prepare, Prepared};
use sotto_partial::elgamal::{self, Group, GroupName};
use sotto_partial::ristretto::BabySteps;
use sotto_partial::{lwe, paillier, ristretto};
use sotto_ring::secure_rng;

use crate::error::EngineError;
use crate::measure::Timer;

/// The schemes that are spoken to here.
pub(crate) const SCHEMES: [&str; 4] = ["paillier", "elgamal", "elgamal-ristretto", "lwe"];
/// Bits of answers that are searched for where a scheme hides numbers in exponents: sums and products of two-digit numbers.
const SEARCHED_BITS: u32 = 16;

/// A pair of keys. Numbers are from −99 to 99 where a scheme hides them in exponents or modulo a small number, and of 60 bits
/// in Paillier, as in the other engine that has it.
trait Pair: Sized {
    type Ciphertext;
    /// Keys as these, drawn again.
    fn another(&self, rng: &mut ChaCha20Rng) -> Result<Self, EngineError>;
    /// A positive number that is timed on.
    fn draw(rng: &mut ChaCha20Rng) -> i128 {
        i128::from(10 + rng.next_u32() % 90)
    }
    fn encrypt(&self, value: i128, rng: &mut ChaCha20Rng) -> Result<Self::Ciphertext, EngineError>;
    fn decrypt(&self, ciphertext: &Self::Ciphertext) -> Result<i128, EngineError>;
    /// The operation on two ciphertexts, or on the first and the number in the second; unsupported, if the scheme lacks it.
    fn apply(
        &self,
        operation: &str,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
        plain: i128,
    ) -> Result<Self::Ciphertext, EngineError>;
    /// What decryption says of a number.
    fn said(value: i128) -> i128 {
        value
    }
    /// Bits of the numbers that ciphertexts consist of.
    fn bits(&self) -> u32;
}

/// Keys, two numbers and their ciphertexts.
struct Partial<P: Pair> {
    pair: P,
    values: [i128; 2],
    ciphertexts: [P::Ciphertext; 2],
    rng: ChaCha20Rng,
}

/// A session whose scheme is forgotten.
pub(crate) trait Numbers {
    /// Times an operation; its result is decrypted and compared first.
    fn measure(&mut self, request: &Measure) -> Result<Measured, EngineError>;
}

/// Makes keys of the scheme that is asked for.
pub(crate) fn prepare(request: &Prepare) -> Result<(Box<dyn Numbers>, Prepared), EngineError> {
    let mut seed = [0; 32];
    secure_rng()?.fill_bytes(&mut seed);
    let mut rng = ChaCha20Rng::from_seed(seed);
    let bits = request.key_bits.unwrap_or_default();
    match request.scheme.as_str() {
        "paillier" => hold(Paillier::new(bits, &mut rng)?, rng),
        "elgamal" => {
            let known = [GroupName::Ffdhe2048, GroupName::Ffdhe3072];
            let none = || EngineError::Request(format!("there is no group of {bits} bits: 2048 or 3072"));
            let name = known.into_iter().find(|name| name.bits() == bits).ok_or_else(none)?;
            hold(ElGamal::new(&Arc::new(Group::new(name)?), &mut rng), rng)
        }
        "elgamal-ristretto" => hold(Ristretto::new(Arc::new(BabySteps::new(SEARCHED_BITS)?), &mut rng)?, rng),
        "lwe" => hold(Lwe::new(&mut rng)?, rng),
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

struct Paillier {
    public: paillier::PublicKey,
    decryptor: opens::paillier::Decryptor,
}

impl Paillier {
    fn new(bits: u32, rng: &mut ChaCha20Rng) -> Result<Self, EngineError> {
        let masking = secrets::paillier::Masking::default();
        let secret = secrets::paillier::SecretKey::generate(bits, masking, rng)?;
        Ok(Self { public: secret.public_key()?, decryptor: opens::paillier::Decryptor::new(&secret)? })
    }
}

impl Pair for Paillier {
    type Ciphertext = paillier::Ciphertext;

    fn another(&self, rng: &mut ChaCha20Rng) -> Result<Self, EngineError> {
        Self::new(self.bits(), rng)
    }
    fn draw(rng: &mut ChaCha20Rng) -> i128 {
        const BITS: u32 = 60;
        i128::from(rng.next_u64() >> (u64::BITS - BITS) | 1 << (BITS - 1))
    }
    fn encrypt(&self, value: i128, rng: &mut ChaCha20Rng) -> Result<Self::Ciphertext, EngineError> {
        Ok(self.public.encrypt(&self.public.signed(value), rng)?)
    }
    fn decrypt(&self, ciphertext: &Self::Ciphertext) -> Result<i128, EngineError> {
        let plain = self.decryptor.decrypt(&self.public, ciphertext)?;
        plain.to_signed(&self.public).ok_or(EngineError::Wrong)
    }
    fn apply(
        &self,
        operation: &str,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
        plain: i128,
    ) -> Result<Self::Ciphertext, EngineError> {
        Ok(match operation {
            "add" => self.public.add(a, b)?,
            "subtract" => self.public.subtract(a, b)?,
            "add_plain" => self.public.add_plain(a, &self.public.signed(plain))?,
            "multiply_plain" => self.public.multiply_plain(a, plain)?,
            _ => return Err(EngineError::Unsupported),
        })
    }
    fn bits(&self) -> u32 {
        self.public.bits()
    }
}

struct ElGamal {
    secret: secrets::elgamal::SecretKey,
    public: elgamal::PublicKey,
}

impl ElGamal {
    fn new(group: &Arc<Group>, rng: &mut ChaCha20Rng) -> Self {
        let secret = secrets::elgamal::SecretKey::generate(group, rng);
        Self { public: secret.public_key(), secret }
    }
}

impl Pair for ElGamal {
    type Ciphertext = elgamal::Ciphertext;

    fn another(&self, rng: &mut ChaCha20Rng) -> Result<Self, EngineError> {
        Ok(Self::new(self.public.group(), rng))
    }
    fn encrypt(&self, value: i128, rng: &mut ChaCha20Rng) -> Result<Self::Ciphertext, EngineError> {
        let positive = u64::try_from(value).map_err(|_| EngineError::Wrong)?;
        Ok(self.public.encrypt(&BoxedUint::from(positive), rng)?)
    }
    fn decrypt(&self, ciphertext: &Self::Ciphertext) -> Result<i128, EngineError> {
        let found = opens::elgamal::decrypt(&self.secret, &self.public, ciphertext)?;
        let words = sotto_partial::number::words(&found);
        let (low, high) = words.split_first().ok_or(EngineError::Wrong)?;
        if high.iter().any(|word| *word != 0) { Err(EngineError::Wrong) } else { Ok(i128::from(*low)) }
    }
    fn apply(
        &self,
        operation: &str,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
        _: i128,
    ) -> Result<Self::Ciphertext, EngineError> {
        if operation == "multiply" { Ok(self.public.multiply(a, b)?) } else { Err(EngineError::Unsupported) }
    }
    fn bits(&self) -> u32 {
        self.public.group().name().bits()
    }
}

struct Ristretto {
    secret: secrets::ristretto::SecretKey,
    public: ristretto::PublicKey,
    table: Arc<BabySteps>,
}

impl Ristretto {
    fn new(table: Arc<BabySteps>, rng: &mut ChaCha20Rng) -> Result<Self, EngineError> {
        let secret = secrets::ristretto::SecretKey::generate(rng);
        Ok(Self { public: secret.public_key()?, secret, table })
    }
}

/// A number that fits into 64 bits; those that are drawn do.
fn narrow(value: i128) -> Result<i64, EngineError> {
    i64::try_from(value).map_err(|_| EngineError::Wrong)
}

impl Pair for Ristretto {
    type Ciphertext = ristretto::Ciphertext;

    fn another(&self, rng: &mut ChaCha20Rng) -> Result<Self, EngineError> {
        Self::new(Arc::clone(&self.table), rng)
    }
    fn encrypt(&self, value: i128, rng: &mut ChaCha20Rng) -> Result<Self::Ciphertext, EngineError> {
        Ok(self.public.encrypt(narrow(value)?, rng)?)
    }
    fn decrypt(&self, ciphertext: &Self::Ciphertext) -> Result<i128, EngineError> {
        let found = opens::ristretto::decrypt_vartime(&self.secret, ciphertext, &self.table, |_, _| {})?;
        Ok(i128::from(found))
    }
    fn apply(
        &self,
        operation: &str,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
        plain: i128,
    ) -> Result<Self::Ciphertext, EngineError> {
        Ok(match operation {
            "add" => self.public.add(a, b)?,
            "subtract" => self.public.subtract(a, b)?,
            "multiply_plain" => self.public.multiply_plain(a, narrow(plain)?)?,
            _ => return Err(EngineError::Unsupported),
        })
    }
    fn bits(&self) -> u32 {
        255
    }
}

struct Lwe {
    secret: secrets::lwe::SecretKey,
    public: lwe::PublicKey,
}

impl Lwe {
    fn new(rng: &mut ChaCha20Rng) -> Result<Self, EngineError> {
        let (secret, public) = secrets::lwe::SecretKey::generate(1, rng)?;
        Ok(Self { secret, public })
    }
}

/// What the scheme's product gives is of another kind.
enum LweCiphertext {
    Vector(lwe::Ciphertext),
    Matrix(lwe::Product),
}

impl Pair for Lwe {
    type Ciphertext = LweCiphertext;

    fn another(&self, rng: &mut ChaCha20Rng) -> Result<Self, EngineError> {
        Self::new(rng)
    }
    fn encrypt(&self, value: i128, rng: &mut ChaCha20Rng) -> Result<Self::Ciphertext, EngineError> {
        Ok(LweCiphertext::Vector(self.public.encrypt(&[narrow(value)?], rng)?))
    }
    fn decrypt(&self, ciphertext: &Self::Ciphertext) -> Result<i128, EngineError> {
        let found = match ciphertext {
            LweCiphertext::Vector(vector) => opens::lwe::decrypt(&self.secret, vector)?,
            LweCiphertext::Matrix(matrix) => opens::lwe::decrypt_product(&self.secret, matrix)?,
        };
        found.first().map(|value| i128::from(*value)).ok_or(EngineError::Wrong)
    }
    fn apply(
        &self,
        operation: &str,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
        _: i128,
    ) -> Result<Self::Ciphertext, EngineError> {
        match (operation, a, b) {
            ("add", LweCiphertext::Vector(a), LweCiphertext::Vector(b)) => {
                Ok(LweCiphertext::Vector(a.add(b)?))
            }
            ("multiply", LweCiphertext::Vector(a), LweCiphertext::Vector(b)) => {
                Ok(LweCiphertext::Matrix(a.multiply(b)?))
            }
            _ => Err(EngineError::Unsupported),
        }
    }
    fn said(value: i128) -> i128 {
        let p = i128::from(lwe::PLAIN_MODULUS);
        (value + p / 2).rem_euclid(p) - p / 2
    }
    fn bits(&self) -> u32 {
        lwe::LOG2_Q
    }
}
