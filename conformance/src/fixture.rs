//! The parts of a scheme that the generic suite needs: parameters, messages, and the allowed error.

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use sotto_circuits::{Clear, Number};
use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_rlwe::{
    Bfv, Bgv, Ciphertext, Ckks, EvaluationKeys, Evaluator, LevelRules, Params, Plaintext, PublicKey, Scheme,
};

/// A scheme for the generic suite.
pub trait Testable: LevelRules<Value: Number> {
    /// Returns a random slot value: any residue modulo t, or a real of magnitude at most 1.
    fn random(params: &Params<Self>, rng: &mut impl Rng) -> Self::Value;
    /// Converts a small integer to a slot value.
    fn small(value: i64) -> Self::Value;
    /// Returns a constant that is no small integer.
    fn fraction() -> Self::Value;
    /// Decrypts the slots of a ciphertext, or its one value, with a bound on their error.
    fn slots(decryptor: &Decryptor<'_, Self>, ciphertext: &Ciphertext<Self>) -> (Vec<Self::Value>, f64);
    /// Returns the distance between two values: 0 or 1 for exact schemes.
    fn distance(a: Self::Value, b: Self::Value) -> f64;
    /// Brings a product to rest: CKKS rescales.
    fn after_product(evaluator: &Evaluator<Self>, a: Ciphertext<Self>) -> Ciphertext<Self> {
        if Self::RESCALES { evaluator.drop_modulus(&a).expect("a product can be rescaled") } else { a }
    }
    /// Returns a + b in the plaintext space.
    fn plus(params: &Params<Self>, a: Self::Value, b: Self::Value) -> Self::Value {
        a.plus(b, Self::EXACT.then(|| params.plain_modulus()))
    }
    /// Returns a · b in the plaintext space.
    fn times(params: &Params<Self>, a: Self::Value, b: Self::Value) -> Self::Value {
        a.times(b, Self::EXACT.then(|| params.plain_modulus()))
    }
    /// Returns a plain modulus with slots at this degree.
    fn plain_modulus(degree: usize) -> u64 {
        if degree == 4096 { 40_961 } else { 786_433 }
    }
}

macro_rules! exact {
    ($($scheme:ty),*) => {$(
        impl Testable for $scheme {
            fn random(params: &Params<Self>, rng: &mut impl Rng) -> i64 {
                let t = params.plain_modulus();
                ((rng.next_u64() >> 3) % t) as i64 - (t / 2) as i64
            }
            fn small(value: i64) -> i64 {
                value
            }
            fn fraction() -> i64 {
                -12_345
            }
            fn slots(decryptor: &Decryptor<'_, Self>, ciphertext: &Ciphertext<Self>) -> (Vec<i64>, f64) {
                if Self::slot_shape(ciphertext.params()).is_some() {
                    return (decryptor.slots(ciphertext).expect("decrypts").into_residues(), 0.0);
                }
                (vec![decryptor.scalar(ciphertext).expect("decrypts").into_residues()], 0.0)
            }
            fn distance(a: i64, b: i64) -> f64 {
                if a == b { 0.0 } else { 1.0 }
            }
        }
    )*};
}
exact!(Bfv, Bgv);

impl Testable for Ckks {
    fn random(_: &Params<Self>, rng: &mut impl Rng) -> f64 {
        (rng.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    fn small(value: i64) -> f64 {
        value as f64
    }
    fn fraction() -> f64 {
        0.375
    }
    fn slots(decryptor: &Decryptor<'_, Self>, ciphertext: &Ciphertext<Self>) -> (Vec<f64>, f64) {
        let decrypted = decryptor.slots(ciphertext).expect("decrypts");
        (decrypted.raw_values_for_owner_only().to_vec(), decrypted.error_bound())
    }
    fn distance(a: f64, b: f64) -> f64 {
        (a - b).abs()
    }
}

/// Keys and an evaluator for one parameter set, from a generator with a fixed seed, so that a failure repeats.
pub struct Fixture<S: Testable> {
    /// The parameters.
    pub params: Params<S>,
    /// Encrypts and decrypts.
    pub secret: SecretKey<S>,
    /// Encrypts under the same key.
    pub public: PublicKey<S>,
    /// Relinearisation key and Galois keys.
    pub keys: EvaluationKeys<S>,
    /// Computes on ciphertexts of these parameters.
    pub evaluator: Evaluator<S>,
    /// The random generator of the test.
    pub rng: ChaCha20Rng,
}

impl<S: Testable> Fixture<S> {
    /// Makes keys for these parameters.
    pub fn new(params: Params<S>, seed: u8) -> Self {
        Self::with_steps(params, &[0, 1, -1, 2], seed)
    }

    /// Makes keys for these parameters, with Galois keys for these rotations if the chain has special primes.
    pub fn with_steps(params: Params<S>, steps: &[i32], seed: u8) -> Self {
        let mut rng = ChaCha20Rng::from_seed([seed; 32]);
        let secret = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
        let public = secret.public_key(&mut rng);
        let steps: &[i32] = if params.can_switch_keys() { steps } else { &[] };
        let keys = secret.evaluation_keys(params.can_switch_keys(), steps, &mut rng).expect("keys");
        let evaluator = Evaluator::new(&params);
        Self { params, secret, public, keys, evaluator, rng }
    }

    /// Makes keys for the default chain of a degree.
    pub fn default_chain(degree: usize, seed: u8) -> Self {
        Self::new(Params::default_chain(degree, S::plain_modulus(degree)).expect("parameters"), seed)
    }

    /// Returns random values for every slot.
    pub fn values(&mut self) -> Vec<S::Value> {
        let (rows, columns) = S::slot_shape(&self.params).unwrap_or((1, 1));
        (0..rows * columns).map(|_| S::random(&self.params, &mut self.rng)).collect()
    }

    /// Encodes slots, or one value where there are no slots, for a level. The declared magnitude of CKKS values is
    /// their largest.
    pub fn encode(&self, values: &[S::Value], level: usize) -> Plaintext<S> {
        let encoded = match S::slot_shape(&self.params) {
            Some(_) => S::encode_slots(&self.params, values, level),
            None => S::encode_scalar(&self.params, values[0], level),
        };
        let largest = values.iter().map(|v| S::distance(*v, S::small(0))).fold(1.0, f64::max);
        encoded.expect("encodes").declare_magnitude(largest)
    }

    /// Returns the machine in the clear, which defines the meaning.
    pub fn clear(&self) -> Clear<S::Value> {
        Clear::like(&self.params)
    }

    /// Encrypts with the secret or the public key.
    pub fn encrypt(&mut self, values: &[S::Value], public: bool) -> Ciphertext<S> {
        let plaintext = self.encode(values, self.params.top_level());
        if public {
            self.public.encrypt(&plaintext, &mut self.rng).expect("encrypts")
        } else {
            self.secret.encrypt(&plaintext, &mut self.rng).expect("encrypts").expand()
        }
    }

    /// Panics unless the ciphertext decrypts to these slots within its own bound.
    #[track_caller]
    pub fn check(&self, what: &str, ciphertext: &Ciphertext<S>, expected: &[S::Value]) {
        let decryptor = Decryptor::new(&self.secret);
        let (found, bound) = S::slots(&decryptor, ciphertext);
        assert_eq!(found.len(), expected.len(), "{what}: as many slots");
        for (i, (a, b)) in found.iter().zip(expected).enumerate() {
            let distance = S::distance(*a, *b);
            assert!(
                distance <= bound,
                "{what}: slot {i} is {a:?}, not {b:?}; off by {distance:e}, bound {bound:e}"
            );
        }
    }
}
