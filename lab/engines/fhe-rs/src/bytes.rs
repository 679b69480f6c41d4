//! Objects to bytes and back. The library always packs residues and always writes seeds.

use fhe::bfv::{Ciphertext, EvaluationKey, PublicKey, RelinearizationKey};
use fhe_traits::{DeserializeParametrized, FheEncrypter as _, Serialize};
use serde_json::Value;

use crate::session::Session;
use crate::timer::Timer;
use crate::{Failure, Request, unsupported};

impl Session {
    pub fn bytes(&mut self, request: &Request, timer: &Timer) -> Result<Value, Failure> {
        if request.codec.as_deref().is_some_and(|codec| codec != "packed") {
            return Err(unsupported());
        }
        let parse = request.operation == "parse";
        match request.object.as_deref().unwrap_or("ciphertext") {
            "ciphertext" => {
                let object = self.ciphertext[0].clone();
                self.through(object, parse, timer, |read: &Ciphertext| self.says(read, &self.slots[0]))
            }
            "seeded" => {
                let object: Ciphertext = self.secret.try_encrypt(&self.plain[0], &mut self.rng)?;
                self.through(object, parse, timer, |read: &Ciphertext| self.says(read, &self.slots[0]))
            }
            "public_key" => self.through(self.public.clone(), parse, timer, |read: &PublicKey| {
                self.says(&read.try_encrypt(&self.plain[0], &mut rand::rng())?, &self.slots[0])
            }),
            "relin_keys" => {
                let object = self.relinearisation()?;
                self.through(object, parse, timer, |read: &RelinearizationKey| {
                    let mut product = &self.ciphertext[0] * &self.ciphertext[1];
                    read.relinearizes(&mut product)?;
                    self.says(&product, &self.expected(|x, y| x * y))
                })
            }
            "galois_keys" => {
                let steps = self.powers_of_two();
                let object = self.rotations(&steps, true)?;
                self.through(object, parse, timer, |read: &EvaluationKey| {
                    self.says(&read.rotates_columns_by(&self.ciphertext[0], 1)?, &self.rotated())
                })
            }
            _ => Err(unsupported()),
        }
    }

    /// Checks and times writing or parsing. Keys may take gigabytes, so that the original is dropped and the parsed
    /// copy is used.
    fn through<O>(
        &self,
        object: O,
        parse: bool,
        timer: &Timer,
        right: impl FnOnce(&O) -> Result<bool, Failure>,
    ) -> Result<Value, Failure>
    where
        O: Serialize + DeserializeParametrized<Parameters = fhe::bfv::BfvParameters>,
        O::Error: std::error::Error + 'static,
    {
        let written = object.to_bytes();
        drop(object);
        let read = || -> Result<O, Failure> { Ok(O::from_bytes(&written, &self.params)?) };
        let size = Some(written.len());
        if parse {
            return timer.time(|| (), |()| read(), |object| right(&object), size);
        }
        let object = read()?;
        drop(written);
        let is_right = right(&object)?;
        timer.time(|| (), |()| Ok(object.to_bytes()), |_| Ok(is_right), size)
    }
}
