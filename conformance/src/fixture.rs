//! What the generic suite needs of a scheme: parameters, messages, and how close is right.

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_rlwe::{Bfv, Bgv, Ciphertext, Ckks, EvaluationKeys, Evaluator, Params, PublicKey, Scheme};

/// A scheme that the suite can be run on.
pub trait Testable: Scheme {
    /// A random slot value, small enough for a product of two.
    fn random(rng: &mut impl Rng) -> Self::Value;
    /// The value that a small integer has.
    fn small(value: i64) -> Self::Value;
    /// a + b in the plaintext space.
    fn plus(params: &Params<Self>, a: Self::Value, b: Self::Value) -> Self::Value;
    /// a − b.
    fn minus(params: &Params<Self>, a: Self::Value, b: Self::Value) -> Self::Value;
    /// a · b.
    fn times(params: &Params<Self>, a: Self::Value, b: Self::Value) -> Self::Value;
    /// The slots of a ciphertext and a bound on their error.
    fn slots(decryptor: &Decryptor<'_, Self>, ciphertext: &Ciphertext<Self>) -> (Vec<Self::Value>, f64);
    /// The distance between two values: 0 or 1 for exact schemes.
    fn distance(a: Self::Value, b: Self::Value) -> f64;
    /// After a product: CKKS rescales.
    fn after_product(evaluator: &Evaluator<Self>, a: Ciphertext<Self>) -> Ciphertext<Self>;
    /// A plain modulus that has slots at this degree.
    fn plain_modulus(degree: usize) -> u64 {
        if degree == 4096 { 40_961 } else { 786_433 }
    }
}

macro_rules! exact {
    ($($scheme:ty),*) => {$(
        impl Testable for $scheme {
            fn random(rng: &mut impl Rng) -> i64 {
                (rng.next_u64() % 12_289) as i64 - 6_144
            }
            fn small(value: i64) -> i64 {
                value
            }
            fn plus(params: &Params<Self>, a: i64, b: i64) -> i64 {
                centre(params.plain_modulus(), i128::from(a) + i128::from(b))
            }
            fn minus(params: &Params<Self>, a: i64, b: i64) -> i64 {
                centre(params.plain_modulus(), i128::from(a) - i128::from(b))
            }
            fn times(params: &Params<Self>, a: i64, b: i64) -> i64 {
                centre(params.plain_modulus(), i128::from(a) * i128::from(b))
            }
            fn slots(decryptor: &Decryptor<'_, Self>, ciphertext: &Ciphertext<Self>) -> (Vec<i64>, f64) {
                (decryptor.slots(ciphertext).expect("decrypts").into_exact(), 0.0)
            }
            fn distance(a: i64, b: i64) -> f64 {
                if a == b { 0.0 } else { 1.0 }
            }
            fn after_product(_evaluator: &Evaluator<Self>, a: Ciphertext<Self>) -> Ciphertext<Self> {
                a
            }
        }
    )*};
}
exact!(Bfv, Bgv);

fn centre(t: u64, value: i128) -> i64 {
    let t = i128::from(t);
    let residue = value.rem_euclid(t);
    (if 2 * residue >= t { residue - t } else { residue }) as i64
}

impl Testable for Ckks {
    fn random(rng: &mut impl Rng) -> f64 {
        (rng.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    fn small(value: i64) -> f64 {
        value as f64
    }
    fn plus(_: &Params<Self>, a: f64, b: f64) -> f64 {
        a + b
    }
    fn minus(_: &Params<Self>, a: f64, b: f64) -> f64 {
        a - b
    }
    fn times(_: &Params<Self>, a: f64, b: f64) -> f64 {
        a * b
    }
    fn slots(decryptor: &Decryptor<'_, Self>, ciphertext: &Ciphertext<Self>) -> (Vec<f64>, f64) {
        let decrypted = decryptor.slots(ciphertext).expect("decrypts");
        (decrypted.raw_values_for_owner_only().to_vec(), decrypted.error_bound())
    }
    fn distance(a: f64, b: f64) -> f64 {
        (a - b).abs()
    }
    fn after_product(evaluator: &Evaluator<Self>, a: Ciphertext<Self>) -> Ciphertext<Self> {
        evaluator.drop_modulus(&a).expect("a product can be rescaled")
    }
}

/// Keys and an evaluator for one parameter set, from a fixed generator so that a failure repeats.
pub struct Fixture<S: Testable> {
    /// The parameters.
    pub params: Params<S>,
    /// The secret key.
    pub secret: SecretKey<S>,
    /// The public key.
    pub public: PublicKey<S>,
    /// Relinearisation, rotations by 1, −1 and 2, and the row swap.
    pub keys: EvaluationKeys<S>,
    /// The evaluator.
    pub evaluator: Evaluator<S>,
    /// Randomness of the test.
    pub rng: ChaCha20Rng,
}

impl<S: Testable> Fixture<S> {
    /// For these parameters.
    pub fn new(params: Params<S>, seed: u8) -> Self {
        let mut rng = ChaCha20Rng::from_seed([seed; 32]);
        let secret = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
        let public = secret.public_key(&mut rng);
        let steps: &[i32] = if params.can_switch_keys() { &[0, 1, -1, 2] } else { &[] };
        let keys = secret.evaluation_keys(params.can_switch_keys(), steps, &mut rng).expect("keys");
        let evaluator = Evaluator::new(&params);
        Self { params, secret, public, keys, evaluator, rng }
    }

    /// The default chain of a degree.
    pub fn default_chain(degree: usize, seed: u8) -> Self {
        Self::new(Params::default_chain(degree, S::plain_modulus(degree)).expect("parameters"), seed)
    }

    /// Random values in every slot.
    pub fn values(&mut self) -> Vec<S::Value> {
        let (rows, columns) = S::slot_shape(&self.params).expect("slots");
        (0..rows * columns).map(|_| S::random(&mut self.rng)).collect()
    }

    /// Encrypts with the secret key, or with the public one.
    pub fn encrypt(&mut self, values: &[S::Value], public: bool) -> Ciphertext<S> {
        let plaintext = S::encode_slots(&self.params, values, self.params.top_level()).expect("encodes");
        if public {
            self.public.encrypt(&plaintext, &mut self.rng).expect("encrypts")
        } else {
            self.secret.encrypt(&plaintext, &mut self.rng).expect("encrypts").expand()
        }
    }

    /// Fails unless the ciphertext decrypts to these slots within its own bound.
    pub fn check(&self, what: &str, ciphertext: &Ciphertext<S>, expected: &[S::Value]) {
        let decryptor = Decryptor::new(&self.secret);
        let (found, bound) = S::slots(&decryptor, ciphertext);
        for (i, (a, b)) in found.iter().zip(expected).enumerate() {
            let distance = S::distance(*a, *b);
            assert!(
                distance <= bound,
                "{what}: slot {i} is {a:?}, not {b:?}; off by {distance:e}, bound {bound:e}"
            );
        }
    }
}
