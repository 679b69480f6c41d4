//! ElGamal on Ristretto: sums, decrypted by a search for a discrete logarithm.

use std::time::{Duration, Instant};

use sotto_decrypt::partial::ristretto::decrypt_vartime;
use sotto_keys::partial::ristretto::SecretKey;
use sotto_partial::PartialError;
use sotto_partial::ristretto::{BabySteps, Ciphertext, LARGEST_BITS, PublicKey};
use sotto_ring::secure_rng;

use super::super::parameters::Parameters;
use super::{Opened, PartialScheme, lacks};

/// Bits of the first search, whose table takes almost no time to make.
const FIRST_BITS: u32 = 28;

pub(super) struct Ristretto {
    secret: SecretKey,
    key: PublicKey,
}

impl Ristretto {
    pub(super) fn new() -> anyhow::Result<Self> {
        let secret = SecretKey::generate(&mut secure_rng()?);
        Ok(Self { key: secret.public_key()?, secret })
    }

    fn search(&self, ciphertext: &Ciphertext, bits: u32) -> Result<i64, PartialError> {
        let start = Instant::now();
        let mut said = 0;
        decrypt_vartime(&self.secret, ciphertext, &BabySteps::new(bits)?, |done, total| {
            let tenths = done * 10 / total;
            if start.elapsed() > Duration::from_secs(2) && tenths > said {
                said = tenths;
                eprintln!("sotto: searching for the answer, {tenths}0 % of {bits} bits");
            }
        })
    }
}

impl PartialScheme for Ristretto {
    type Ciphertext = Ciphertext;

    fn encrypt(&self, value: i64) -> anyhow::Result<Ciphertext> {
        Ok(self.key.encrypt(value, &mut secure_rng()?)?)
    }

    fn add(&self, a: &Ciphertext, b: &Ciphertext) -> anyhow::Result<Ciphertext> {
        Ok(self.key.add(a, b)?)
    }

    fn subtract(&self, a: &Ciphertext, b: &Ciphertext) -> anyhow::Result<Ciphertext> {
        Ok(self.key.subtract(a, b)?)
    }

    fn multiply(&self, _: &Ciphertext, _: &Ciphertext) -> anyhow::Result<Ciphertext> {
        Err(lacks(
            "elgamal-ristretto",
            "multiply",
            "elgamal for products alone, paillier-blinded or bfv for both",
        ))
    }

    fn open(&self, ciphertext: &Ciphertext) -> anyhow::Result<Opened> {
        let found = self.search(ciphertext, FIRST_BITS).or_else(|_| self.search(ciphertext, LARGEST_BITS))?;
        Ok(Opened { value: i128::from(found), wrapped_in: None })
    }

    fn bytes(&self, ciphertext: &Ciphertext) -> usize {
        self.key.write_ciphertext(ciphertext).len()
    }

    fn parameters(&self) -> Parameters {
        Parameters::Partial { key_bits: 255, message_bits: LARGEST_BITS, security_bits: 128 }
    }
}
