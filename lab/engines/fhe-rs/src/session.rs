//! Parameters, keys and inputs.

use std::sync::Arc;

use fhe::bfv::{
    BfvParameters, BfvParametersBuilder, Ciphertext, Encoding, EvaluationKey, EvaluationKeyBuilder,
    Plaintext, PublicKey, RelinearizationKey, SecretKey,
};
use fhe_traits::{FheDecoder as _, FheDecrypter as _, FheEncoder as _, FheEncrypter as _};
use rand::{Rng as _, rngs::ThreadRng};
use serde_json::{Value, json};

use crate::{Failure, Request};

/// Parameters, keys, and two inputs in every form.
pub struct Session {
    pub params: Arc<BfvParameters>,
    pub secret: SecretKey,
    pub public: PublicKey,
    pub slots: [Vec<u64>; 2],
    pub plain: [Plaintext; 2],
    pub ciphertext: [Ciphertext; 2],
    pub rng: ThreadRng,
}

/// Returns the encoding of slots at the top level.
pub fn encoding() -> Encoding {
    Encoding::simd()
}

impl Session {
    pub fn new(request: &Request) -> Result<Self, Failure> {
        let mut builder = BfvParametersBuilder::new();
        builder.set_degree(request.degree).set_plaintext_modulus(request.plain_modulus);
        if request.data.is_empty() {
            builder.set_moduli_sizes(&request.data_bits);
        } else {
            builder.set_moduli(&request.data);
        }
        let params = builder.build_arc()?;
        let mut rng = rand::rng();
        let secret = SecretKey::random(&params, &mut rng);
        let public = PublicKey::new(&secret, &mut rng);
        let mut random =
            || (0..request.degree).map(|_| rng.random_range(0..request.plain_modulus)).collect::<Vec<u64>>();
        let slots = [random(), random()];
        let plain = [
            Plaintext::try_encode(&slots[0], encoding(), &params)?,
            Plaintext::try_encode(&slots[1], encoding(), &params)?,
        ];
        let ciphertext = [public.try_encrypt(&plain[0], &mut rng)?, public.try_encrypt(&plain[1], &mut rng)?];
        Ok(Self { params, secret, public, slots, plain, ciphertext, rng })
    }

    /// Describes the parameters. Key switching has no special primes here, and the library states no security.
    pub fn prepared(&self) -> Value {
        let data = self.params.moduli();
        let log2_q: f64 = data.iter().map(|prime| (*prime as f64).log2()).sum();
        json!({
            "data": data, "special": [], "log2_q": log2_q, "limbs": data.len(), "special_limbs": 0,
            "security": null,
        })
    }

    pub fn relinearisation(&mut self) -> Result<RelinearizationKey, Failure> {
        Ok(RelinearizationKey::new(&self.secret, &mut self.rng)?)
    }

    /// Makes the keys of rotations to the left by `steps` columns, and of the row swap if `swap` is set.
    pub fn rotations(&mut self, steps: &[usize], swap: bool) -> Result<EvaluationKey, Failure> {
        let mut builder = EvaluationKeyBuilder::new(&self.secret)?;
        for step in steps {
            builder.enable_column_rotation(*step)?;
        }
        if swap {
            builder.enable_row_rotation()?;
        }
        Ok(builder.build(&mut self.rng)?)
    }

    /// Returns the powers of two as steps in both directions, without duplicates.
    pub fn powers_of_two(&self) -> Vec<usize> {
        let columns = self.params.degree() / 2;
        let powers = std::iter::successors(Some(1), |step| Some(2 * step)).take_while(|step| *step < columns);
        let mut steps: Vec<usize> = powers.flat_map(|step| [step, columns - step]).collect();
        steps.sort_unstable();
        steps.dedup();
        steps
    }

    /// Combines the two inputs slot by slot, modulo t.
    pub fn expected(&self, combine: fn(u128, u128) -> u128) -> Vec<u64> {
        let modulus = u128::from(self.params.plaintext());
        let one = |(x, y): (&u64, &u64)| (combine(u128::from(*x), u128::from(*y)) % modulus) as u64;
        self.slots[0].iter().zip(&self.slots[1]).map(one).collect()
    }

    /// Returns the first input with each row rotated to the left by one.
    pub fn rotated(&self) -> Vec<u64> {
        let mut slots = self.slots[0].clone();
        slots.chunks_mut(self.params.degree() / 2).for_each(|row| row.rotate_left(1));
        slots
    }

    pub fn decoded(&self, plain: &Plaintext) -> Result<Vec<u64>, Failure> {
        Ok(Vec::<u64>::try_decode(plain, encoding())?)
    }

    pub fn says(&self, ciphertext: &Ciphertext, expected: &[u64]) -> Result<bool, Failure> {
        Ok(self.decoded(&self.secret.try_decrypt(ciphertext)?)? == expected)
    }
}
