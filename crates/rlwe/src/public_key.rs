//! Public keys and encryption with them.

use sotto_ring::{Eval, Once, Poly, SecretRng, Seed, SmallPoly, Wiped};

use crate::ciphertext::Ciphertext;
use crate::error::EvalError;
use crate::injection::Injection;
use crate::noise::Origin;
use crate::parameters::{KeyId, Params};
use crate::plaintext::Plaintext;
use crate::scheme::Scheme;
use crate::shape::Shape;

/// A public key (−a·s + f·e, a) over special and data primes. The mask of a key made by this library is a seed.
///
/// ```
/// # mod owner { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/owner/mod.rs")); }
/// # use owner::Owner;
/// # use sotto_ring::secure_rng;
/// # use sotto_rlwe::{Bfv, Params, PublicKey, Scheme};
/// # let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// # let owner = Owner::new(&params, 1);
/// let public_key: PublicKey<Bfv> = owner.public_key();
/// let plaintext = Bfv::encode_slots(&params, &[215, 198], params.top_level())?;
/// // Anybody with the public key encrypts; only the owner decrypts.
/// let reading = public_key.encrypt(&plaintext, &mut secure_rng()?)?;
/// assert_eq!(Bfv::decode_slots(&params, &owner.decrypt(&reading))?[..2], [215, 198]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PublicKey<S: Scheme> {
    params: Params<S>,
    key: KeyId,
    body: Poly<Eval>,
    /// None in a key that another library made.
    seed: Option<Seed>,
    /// Expanded at first use, so that making and passing on a key stays cheap.
    mask: Once<Poly<Eval>>,
}

impl<S: Scheme> PublicKey<S> {
    /// Makes a key from its parts. Panics unless the body holds all key limbs.
    pub fn from_parts(params: &Params<S>, key: KeyId, body: Poly<Eval>, seed: Seed) -> Self {
        assert_eq!(body.limbs(), params.key_limbs(), "a public key holds every key limb");
        Self { params: params.clone(), key, body, seed: Some(seed), mask: Once::new() }
    }

    /// Makes a key whose mask has no seed. Panics unless body and mask hold all key limbs.
    pub fn from_pair(params: &Params<S>, key: KeyId, body: Poly<Eval>, mask: Poly<Eval>) -> Self {
        let whole = |p: &Poly<Eval>| p.limbs() == params.key_limbs();
        assert!(whole(&body) && whole(&mask), "a public key holds every key limb");
        Self { params: params.clone(), key, body, seed: None, mask: mask.into() }
    }

    /// Returns the parameters.
    pub fn params(&self) -> &Params<S> {
        &self.params
    }

    /// Returns the key that decrypts.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Returns −a·s + f·e, where a is the mask and f the scheme's factor.
    pub fn body(&self) -> &Poly<Eval> {
        &self.body
    }

    /// Returns the mask, over the key limbs.
    pub fn mask(&self) -> &Poly<Eval> {
        let (ring, limbs) = (self.params.ring(), self.params.key_limbs());
        // A key without a seed was made with its mask.
        let expand = |seed: &Seed| seed.expand(0, ring, limbs.clone());
        self.mask.or_init(|| self.seed.as_ref().map_or_else(|| Poly::zero(ring, limbs.clone()), expand))
    }

    /// Returns the seed of the mask, or None if it has none.
    pub fn seed(&self) -> Option<&Seed> {
        self.seed.as_ref()
    }

    /// Encrypts at the top level: (b·u + f·e0 + message, a·u + f·e1).
    ///
    /// # Errors
    /// As [`Shape::of_encryption`].
    pub fn encrypt(
        &self,
        plaintext: &Plaintext<S>,
        rng: &mut impl SecretRng,
    ) -> Result<Ciphertext<S>, EvalError> {
        let degree = self.params.degree();
        let u = SmallPoly::fresh_ternary(degree, rng);
        let e0 = SmallPoly::centred_binomial(degree, rng);
        let e1 = SmallPoly::centred_binomial(degree, rng);
        self.encrypt_with(plaintext, &u, &e0, &e1)
    }

    /// Encrypts with given randomness, for known answers. Never use the same randomness twice.
    ///
    /// # Errors
    /// As [`PublicKey::encrypt`].
    pub fn encrypt_with(
        &self,
        plaintext: &Plaintext<S>,
        u: &SmallPoly,
        e0: &SmallPoly,
        e1: &SmallPoly,
    ) -> Result<Ciphertext<S>, EvalError> {
        let params = &self.params;
        let level = params.top_level();
        let shape = Shape::of_encryption(params, Origin::PublicKey, plaintext)?;
        let (ring, limbs) = (params.ring(), params.limbs(level));
        let message = Injection::of_encryption(params, plaintext, level, shape.scaling, e0);
        let error = Injection::of_error(params, e1);
        let mask = Injection::of_small(u);
        let [mut c0, mut c1] = [(); 2].map(|()| Poly::<Eval>::unfilled(ring, limbs.clone()));
        let kernels = ring.kernels();
        let mut u = Wiped::zeros(params.degree());
        for i in limbs {
            let (q, table) = (params.modulus(i), ring.table(i));
            mask.write_limb(params, i, &mut u);
            (kernels.ntt_forward)(table, &mut u);
            for (c, injection, key) in [(&mut c0, &message, &self.body), (&mut c1, &error, self.mask())] {
                let c = c.limb_mut(i);
                injection.write_limb(params, i, c);
                (kernels.ntt_forward)(table, c);
                (kernels.add_product)(q, c, &u, key.limb(i));
            }
        }
        Ok(Ciphertext::from_parts(params, self.key, shape, [c0, c1]))
    }
}
