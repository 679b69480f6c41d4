//! The operations that can be measured.

use fhe::bfv::{Multiplicator, Plaintext, PublicKey, SecretKey};
use fhe_traits::{FheDecrypter as _, FheEncoder as _, FheEncrypter as _};
use serde_json::Value;

use crate::session::{Session, encoding};
use crate::timer::Timer;
use crate::{Failure, Request, unsupported};

impl Session {
    pub fn measure(&mut self, request: &Request) -> Result<Value, Failure> {
        let timer = Timer::of(request);
        match request.operation.as_str() {
            "serialise" | "parse" => self.bytes(request, &timer),
            operation @ ("keygen"
            | "relin_keys"
            | "galois_keys"
            | "encrypt_public"
            | "encrypt_secret"
            | "encode_encrypt_public"
            | "encode_encrypt_secret") => self.make(operation, &timer),
            operation @ ("multiply_relin" | "rotate") => self.switch_keys(operation, &timer),
            operation => self.evaluate(operation, &timer),
        }
    }

    fn evaluate(&self, operation: &str, timer: &Timer) -> Result<Value, Failure> {
        let ([a, b], [p, q]) = (&self.ciphertext, &self.plain);
        let sum = self.expected(|x, y| x + y);
        let product = self.expected(|x, y| x * y);
        let first = &self.slots[0];
        let encode = |slots: &Vec<u64>| Plaintext::try_encode(slots, encoding(), &self.params);
        match operation {
            "add" => timer.time(|| (), |()| Ok(a + b), |c| self.says(&c, &sum), None),
            "add_in_place" => timer.time(
                || a.clone(),
                |mut own| {
                    own += b;
                    Ok(own)
                },
                |c| self.says(&c, &sum),
                None,
            ),
            "subtract" => {
                let difference: Vec<u64> = self.minus();
                timer.time(|| (), |()| Ok(a - b), |c| self.says(&c, &difference), None)
            }
            "negate" => {
                let t = self.params.plaintext();
                let negated: Vec<u64> = first.iter().map(|x| (t - x) % t).collect();
                timer.time(|| (), |()| Ok(-a), |c| self.says(&c, &negated), None)
            }
            "add_plain" => timer.time(|| (), |()| Ok(a + q), |c| self.says(&c, &sum), None),
            "encode_add_plain" => {
                timer.time(|| (), |()| Ok(a + &encode(&self.slots[1])?), |c| self.says(&c, &sum), None)
            }
            "multiply_plain" => timer.time(|| (), |()| Ok(a * q), |c| self.says(&c, &product), None),
            "multiply" => timer.time(|| (), |()| Ok(a * b), |c| self.says(&c, &product), None),
            "square" => {
                let square = self.expected(|x, _| x * x);
                timer.time(|| (), |()| Ok(a * a), |c| self.says(&c, &square), None)
            }
            "modswitch" if self.params.max_level() > 0 => timer.time(
                || a.clone(),
                |mut own| {
                    own.switch_down()?;
                    Ok(own)
                },
                |c| self.says(&c, first),
                None,
            ),
            "encode" => {
                timer.time(|| (), |()| Ok(encode(first)?), |plain| Ok(self.decoded(&plain)? == *first), None)
            }
            "decode" => timer.time(|| (), |()| self.decoded(p), |slots| Ok(slots == *first), None),
            "decrypt" => timer.time(
                || (),
                |()| Ok(self.secret.try_decrypt(a)?),
                |plain: Plaintext| Ok(self.decoded(&plain)? == *first),
                None,
            ),
            "decrypt_decode" => timer.time(
                || (),
                |()| self.decoded(&self.secret.try_decrypt(a)?),
                |slots| Ok(slots == *first),
                None,
            ),
            _ => Err(unsupported()),
        }
    }

    fn minus(&self) -> Vec<u64> {
        let t = self.params.plaintext();
        self.slots[0].iter().zip(&self.slots[1]).map(|(x, y)| (x + t - y) % t).collect()
    }

    fn make(&mut self, operation: &str, timer: &Timer) -> Result<Value, Failure> {
        let (params, first) = (self.params.clone(), self.slots[0].clone());
        let mut rng = rand::rng();
        let (public, secret, plain) = (self.public.clone(), self.secret.clone(), self.plain[0].clone());
        let encode = || Plaintext::try_encode(&first, encoding(), &params);
        let fresh = |c| self.says(&c, &first);
        match operation {
            "keygen" => timer.time(
                || (),
                |()| {
                    let secret = SecretKey::random(&params, &mut rng);
                    let public = PublicKey::new(&secret, &mut rng);
                    Ok((secret, public))
                },
                |(secret, public)| {
                    let encrypted = public.try_encrypt(&plain, &mut rand::rng())?;
                    Ok(self.decoded(&secret.try_decrypt(&encrypted)?)? == first)
                },
                None,
            ),
            "encrypt_public" => {
                timer.time(|| (), |()| Ok(public.try_encrypt(&plain, &mut rng)?), fresh, None)
            }
            "encrypt_secret" => {
                timer.time(|| (), |()| Ok(secret.try_encrypt(&plain, &mut rng)?), fresh, None)
            }
            "encode_encrypt_public" => {
                timer.time(|| (), |()| Ok(public.try_encrypt(&encode()?, &mut rng)?), fresh, None)
            }
            "encode_encrypt_secret" => {
                timer.time(|| (), |()| Ok(secret.try_encrypt(&encode()?, &mut rng)?), fresh, None)
            }
            "relin_keys" => {
                let (product, [a, b]) = (self.expected(|x, y| x * y), self.ciphertext.clone());
                let check = Checker::of(self);
                timer.time(
                    || (),
                    |()| self.relinearisation(),
                    |key| {
                        let mut c = &a * &b;
                        key.relinearizes(&mut c)?;
                        check.says(&c, &product)
                    },
                    None,
                )
            }
            _ => {
                let (rotated, a, steps) = (self.rotated(), self.ciphertext[0].clone(), self.powers_of_two());
                let check = Checker::of(self);
                timer.time(
                    || (),
                    |()| self.rotations(&steps, true),
                    |keys| check.says(&keys.rotates_columns_by(&a, 1)?, &rotated),
                    None,
                )
            }
        }
    }

    fn switch_keys(&mut self, operation: &str, timer: &Timer) -> Result<Value, Failure> {
        if operation == "rotate" {
            let (keys, rotated) = (self.rotations(&[1], false)?, self.rotated());
            let a = &self.ciphertext[0];
            return timer.time(
                || (),
                |()| Ok(keys.rotates_columns_by(a, 1)?),
                |c| self.says(&c, &rotated),
                None,
            );
        }
        let multiplicator = Multiplicator::default(&self.relinearisation()?)?;
        let ([a, b], product) = (&self.ciphertext, self.expected(|x, y| x * y));
        timer.time(|| (), |()| Ok(multiplicator.multiply(a, b)?), |c| self.says(&c, &product), None)
    }
}

/// A copy of the secret key that checks results while the session is borrowed to make them.
pub struct Checker(SecretKey);

impl Checker {
    pub fn of(session: &Session) -> Self {
        Self(session.secret.clone())
    }

    pub fn says(&self, ciphertext: &fhe::bfv::Ciphertext, expected: &[u64]) -> Result<bool, Failure> {
        use fhe_traits::FheDecoder as _;
        let plain = self.0.try_decrypt(ciphertext)?;
        Ok(Vec::<u64>::try_decode(&plain, encoding())? == expected)
    }
}
