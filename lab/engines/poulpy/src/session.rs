//! Parameters, keys and inputs.

use poulpy_ckks::prelude::*;
use rand::Rng as _;
use serde_json::{Value, json};

use crate::backend::{Ciphertext, Plaintext, PreparedPublicKey, Ring};
use crate::maker::{Maker, SMALL, Secrets};
use crate::parameters::Parameters;
use crate::{Failure, Request};

/// The largest error of a slot that passes a check.
const TOLERANCE: f64 = 1e-3;

/// Parameters, keys, and two inputs in every form.
pub struct Session {
    pub parameters: Parameters,
    pub ring: Ring,
    pub secret: Secrets,
    pub public: PreparedPublicKey,
    pub slots: [Vec<f64>; 2],
    pub plain: [Plaintext; 2],
    pub ciphertext: [Ciphertext; 2],
}

impl Session {
    pub fn new(request: &Request) -> Result<Self, Failure> {
        let parameters = Parameters::of(request)?;
        let ring = Ring::new(parameters.degree as u64);
        let maker = Maker { parameters, ring: &ring };
        let mut scratch = maker.scratch();
        let secret = maker.secret();
        let public = maker.prepared_public(&maker.public(&secret, &mut scratch), &mut scratch);
        let mut generator = rand::rng();
        let mut draw =
            || (0..parameters.degree / 2).map(|_| generator.random_range(-1.0..=1.0)).collect::<Vec<f64>>();
        let slots = [draw(), draw()];
        let plain =
            [maker.encode(&slots[0], SMALL, &mut scratch)?, maker.encode(&slots[1], SMALL, &mut scratch)?];
        let mut encrypt = |plain| maker.encrypt_public(plain, &public, &mut scratch);
        let ciphertext = [encrypt(&plain[0])?, encrypt(&plain[1])?];
        Ok(Self { parameters, secret, public, slots, plain, ciphertext, ring })
    }

    pub fn maker(&self) -> Maker<'_> {
        Maker { parameters: self.parameters, ring: &self.ring }
    }

    /// Describes the parameters. The library has no primes and states no security for a size without bootstrapping.
    pub fn prepared(&self) -> Value {
        let it = &self.parameters;
        json!({
            "data": [], "special": [], "log2_q": it.data_bits as f64, "limbs": it.limbs(),
            "special_limbs": it.special_limbs(), "log2_qp": it.whole_bits() as f64, "security": null,
        })
    }

    /// Returns true if a ciphertext decrypts to these slots.
    pub fn says(&self, ciphertext: &Ciphertext, expected: &[f64]) -> Result<bool, Failure> {
        let decoded = self.maker().decrypt_decode(ciphertext, &self.secret, &mut self.maker().scratch())?;
        Ok(near(&decoded, expected))
    }

    /// Combines the two inputs slot by slot.
    pub fn expected(&self, combine: fn(f64, f64) -> f64) -> Vec<f64> {
        self.slots[0].iter().zip(&self.slots[1]).map(|(x, y)| combine(*x, *y)).collect()
    }

    /// Returns the first input rotated to the left by one.
    pub fn rotated(&self) -> Vec<f64> {
        let mut slots = self.slots[0].clone();
        slots.rotate_left(1);
        slots
    }

    /// Returns the Galois elements of rotations by powers of two in both directions, without duplicates, and of the
    /// conjugation.
    pub fn elements(&self) -> Vec<i64> {
        let slots = self.parameters.degree as i64 / 2;
        let powers = std::iter::successors(Some(1), |step| Some(2 * step)).take_while(|step| *step < slots);
        let steps = powers.flat_map(|step| [step, -step]);
        let mut elements: Vec<i64> = steps.map(|step| self.ring.ckks_galois_element(step)).collect();
        elements.push(-1);
        elements.sort_unstable();
        elements.dedup();
        elements
    }
}

/// Returns true if two vectors of slots agree.
pub fn near(found: &[f64], expected: &[f64]) -> bool {
    found.len() == expected.len() && found.iter().zip(expected).all(|(x, y)| (x - y).abs() <= TOLERANCE)
}
