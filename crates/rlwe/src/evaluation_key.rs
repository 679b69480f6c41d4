//! Evaluation keys, with which the cloud relinearises and rotates. A seed stands for their random half.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use sotto_ring::{Eval, GaloisMap, Once, Poly, Seed};

use crate::automorphism::Automorphism;
use crate::parameters::{KeyId, Params};
use crate::scheme::Scheme;

/// A key-switching key in its transmitted form: one body a digit, and one seed.
///
/// Example: [`KeySwitchKey`]
#[derive(Clone, Debug)]
pub struct SeededKey {
    /// −a_i·s + f·e_i + g_i·s' for each digit, over all key limbs.
    pub bodies: Vec<Poly<Eval>>,
    /// The seed that expands to a_i in domain i.
    pub seed: Seed,
}

/// A key-switching key, whose masks are expanded at first use or before.
///
/// ```
/// use sotto_ring::{Poly, Seed};
/// use sotto_rlwe::{Bfv, KeySwitchKey, Params, SeededKey};
///
/// let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// # let zero = || Poly::zero(params.ring(), params.key_limbs());
/// # let bodies = (0..params.digit_count()).map(|_| zero()).collect();
/// // The owner uploads one body a digit, and one seed; the cloud expands the masks.
/// let uploaded = SeededKey { bodies, seed: Seed([3; 24]) };
/// let key = KeySwitchKey::new(&params, uploaded);
/// assert_eq!(key.masks().len(), params.digit_count());
/// assert_eq!(key.masks()[1], Seed([3; 24]).expand(1, params.ring(), params.key_limbs()));
/// # Ok::<(), sotto_rlwe::ParameterError>(())
/// ```
#[derive(Clone, Debug)]
pub struct KeySwitchKey {
    bodies: Vec<Poly<Eval>>,
    masks: Once<Vec<Poly<Eval>>>,
    /// The seed of the masks; None in a key that another library made.
    seed: Option<Seed>,
}

impl KeySwitchKey {
    /// Makes a key and expands the masks. Panics unless there is one body a digit and each holds all key limbs.
    pub fn new<S: Scheme>(params: &Params<S>, seeded: SeededKey) -> Self {
        let key = Self::travelling(params, seeded);
        key.masks();
        key
    }

    /// Makes a key and defers the masks to their first use: the owner, who makes the key, rarely uses it. Panics as
    /// [`KeySwitchKey::new`].
    pub fn travelling<S: Scheme>(params: &Params<S>, seeded: SeededKey) -> Self {
        let SeededKey { bodies, seed } = seeded;
        assert_eq!(bodies.len(), params.digit_count(), "one body a digit");
        assert!(bodies.iter().all(|b| b.limbs() == params.key_limbs()), "bodies hold every key limb");
        Self { bodies, masks: Once::new(), seed: Some(seed) }
    }

    /// Makes a key whose masks have no seed. Panics unless there is one body and one mask a digit and each holds all
    /// key limbs.
    pub fn from_pairs<S: Scheme>(
        params: &Params<S>,
        bodies: Vec<Poly<Eval>>,
        masks: Vec<Poly<Eval>>,
    ) -> Self {
        assert_eq!(bodies.len(), params.digit_count(), "one body a digit");
        assert_eq!(masks.len(), bodies.len(), "one mask a body");
        let whole = |p: &Poly<Eval>| p.limbs() == params.key_limbs();
        assert!(bodies.iter().chain(&masks).all(whole), "bodies and masks hold every key limb");
        Self { bodies, masks: masks.into(), seed: None }
    }

    /// Returns the bodies −a_i·s + f·e_i + g_i·s', one for each digit.
    pub fn bodies(&self) -> &[Poly<Eval>] {
        &self.bodies
    }

    /// Returns the masks a_i, one for each digit.
    pub fn masks(&self) -> &[Poly<Eval>] {
        let expand = |seed: &Seed| {
            let mask =
                |(digit, body): (usize, &Poly<Eval>)| seed.expand(digit as u8, body.ring(), body.limbs());
            self.bodies.iter().enumerate().map(mask).collect()
        };
        // A key without a seed was made with its masks.
        self.masks.or_init(|| self.seed.as_ref().map_or_else(Vec::new, expand))
    }

    /// Returns the seed of the masks, or None if they have none.
    pub fn seed(&self) -> Option<&Seed> {
        self.seed.as_ref()
    }

    /// Returns body and mask of each digit.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&Poly<Eval>, &Poly<Eval>)> {
        self.bodies.iter().zip(self.masks())
    }
}

/// Keys for rotations and the row swap.
///
/// Example: [`EvaluationKeys`]
#[derive(Clone, Debug, Default)]
pub struct GaloisKeys {
    /// By Galois element.
    keys: BTreeMap<usize, (GaloisMap, KeySwitchKey)>,
}

impl GaloisKeys {
    /// Adds the key of one automorphism.
    pub fn insert(&mut self, map: GaloisMap, key: KeySwitchKey) {
        self.keys.insert(map.element(), (map, key));
    }

    /// Returns the key of a Galois element, or None if it is missing.
    pub fn key(&self, element: usize) -> Option<&(GaloisMap, KeySwitchKey)> {
        self.keys.get(&element)
    }

    /// Returns the Galois elements, ascending, with their keys.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &KeySwitchKey)> {
        self.keys.iter().map(|(element, (_, key))| (*element, key))
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns true if there are no keys.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}

/// All evaluation keys of one secret key.
///
/// ```
/// # mod owner { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/owner/mod.rs")); }
/// # use owner::Owner;
/// # use sotto_ring::secure_rng;
/// # use sotto_rlwe::{Bfv, EvaluationKeys, Evaluator, Params, Scheme};
/// # let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// # let owner = Owner::new(&params, 1);
/// # let plaintext = Bfv::encode_slots(&params, &[215, 198, 187], params.top_level())?;
/// # let readings = owner.public_key().encrypt(&plaintext, &mut secure_rng()?)?;
/// // The owner uploads a key for products and one for rotations by 1.
/// let keys: EvaluationKeys<Bfv> = owner.evaluation_keys(&[1]);
/// assert!(keys.relinearisation.is_some() && keys.galois.len() == 1);
/// assert!(keys.can_rotate(1) && !keys.can_rotate(2));
/// let later = Evaluator::new(&params).rotate(&readings, 1, &keys)?;
/// assert_eq!(Bfv::decode_slots(&params, &owner.decrypt(&later))?[..2], [198, 187]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct EvaluationKeys<S: Scheme> {
    /// The parameters.
    pub params: Params<S>,
    /// The secret key that they belong to.
    pub key: KeyId,
    /// The key that relinearises products.
    pub relinearisation: Option<KeySwitchKey>,
    /// The keys for rotations and the row swap.
    pub galois: GaloisKeys,
    /// The transfer keys, by the secret key that they switch from.
    pub transfers: BTreeMap<KeyId, KeySwitchKey>,
}

impl<S: Scheme> EvaluationKeys<S> {
    /// Returns evaluation keys without any key.
    pub fn empty(params: &Params<S>, key: KeyId) -> Self {
        Self {
            params: params.clone(),
            key,
            relinearisation: None,
            galois: GaloisKeys::default(),
            transfers: BTreeMap::new(),
        }
    }

    /// Returns true if there is a key for an automorphism.
    pub fn can_rotate(&self, automorphism: impl Into<Automorphism>) -> bool {
        self.params.galois_element(automorphism).is_some_and(|g| self.galois.key(g).is_some())
    }
}
