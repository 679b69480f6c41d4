// The owner's secret key for the examples of this crate, which holds no secret keys. Applications take the crates
// `sotto-keys` and `sotto-decrypt`: they derive, store and wipe keys, and guard decryption.

use sotto_ring::{Eval, GaloisMap, Poly, Seed, SmallPoly, secure_rng};
use sotto_rlwe::{
    Ciphertext, EvalError, EvaluationKeys, Injection, KeyId, KeySwitchKey, Origin, Params, Plaintext,
    PublicKey, Scheme, Seeded, SeededKey, Shape,
};

pub struct Owner<S: Scheme> {
    params: Params<S>,
    pub id: KeyId,
    secret: Poly<Eval>,
}

#[allow(dead_code, reason = "no example needs every function")]
impl<S: Scheme> Owner<S> {
    pub fn new(params: &Params<S>, number: u8) -> Self {
        let mut rng = secure_rng().expect("randomness");
        let secret = SmallPoly::ternary(params.degree(), &mut rng).to_eval(params.ring(), params.key_limbs());
        Self { params: params.clone(), id: KeyId([number; 16]), secret }
    }

    /// Returns f·e − a·s over the key limbs, with a expanded from the seed.
    fn zero(&self, seed: &Seed, domain: u8) -> Poly<Eval> {
        let (ring, limbs) = (self.params.ring(), self.params.key_limbs());
        let mut rng = secure_rng().expect("randomness");
        let mut body =
            SmallPoly::centred_binomial(self.params.degree(), &mut rng).to_eval(ring, limbs.clone());
        body.scale_signed(S::error_factor(&self.params) as i64);
        body.subtract_assign(&seed.expand(domain, ring, limbs).product(&self.secret));
        body
    }

    pub fn public_key(&self) -> PublicKey<S> {
        let seed = Seed::random(&mut secure_rng().expect("randomness"));
        PublicKey::from_parts(&self.params, self.id, self.zero(&seed, 0), seed)
    }

    pub fn encrypt(&self, plaintext: &Plaintext<S>, seed: Seed) -> Result<Seeded<S>, EvalError> {
        let params = &self.params;
        let shape = Shape::of_encryption(params, Origin::SecretKey, plaintext)?;
        let mut body = self.zero(&seed, 0).restricted(params.limbs(shape.level));
        let message = Injection::of_message(params, plaintext, shape.level, shape.scaling);
        body.add_assign(&message.polynomial(params, shape.level).into_eval());
        Ok(Seeded { params: params.clone(), key: self.id, shape, body, seed })
    }

    /// Returns the key that switches from `secret` to this one: digit i holds P·secret on its own limbs.
    fn switching_key(&self, secret: &Poly<Eval>) -> KeySwitchKey {
        let (params, ring) = (&self.params, self.params.ring());
        let seed = Seed::random(&mut secure_rng().expect("randomness"));
        let special = 0..params.limbs(0).start;
        let digit = |(digit, own): (usize, core::ops::Range<usize>)| {
            let mut body = self.zero(&seed, digit as u8);
            for limb in own {
                let q = *params.modulus(limb);
                let factor = q.factor(ring.product_modulo(special.clone(), &q));
                for (out, s) in body.limb_mut(limb).iter_mut().zip(secret.limb(limb)) {
                    *out = q.add(*out, q.multiply_factor(*s, factor));
                }
            }
            body
        };
        let bodies = params.digits(params.top_level()).enumerate().map(digit).collect();
        KeySwitchKey::new(params, SeededKey { bodies, seed })
    }

    pub fn evaluation_keys(&self, steps: &[i32]) -> EvaluationKeys<S> {
        let mut keys = EvaluationKeys::empty(&self.params, self.id);
        keys.relinearisation = Some(self.switching_key(&self.secret.product(&self.secret)));
        for step in steps {
            let element = self.params.galois_element(*step).expect("a rotation");
            let map = GaloisMap::new(self.params.degree(), element).expect("an odd element");
            let key = self.switching_key(&map.apply(&self.secret));
            keys.galois.insert(map, key);
        }
        keys
    }

    pub fn transfer_key(&self, from: &Self) -> KeySwitchKey {
        self.switching_key(&from.secret)
    }

    pub fn decrypt(&self, ciphertext: &Ciphertext<S>) -> Plaintext<S> {
        let shape = ciphertext.shape();
        let [c0, c1] = ciphertext.components() else { panic!("a ciphertext of two components") };
        let mut phase = c0.clone();
        phase.add_product(c1, &self.secret);
        S::recover(&self.params, &phase, shape.level, shape.scaling)
    }
}
