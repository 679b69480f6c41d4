//! Ciphertexts.

use arrayvec::ArrayVec;
use sotto_ring::{Eval, Poly, Seed};

use crate::parameters::{KeyId, Params};
use crate::scheme::Scheme;
use crate::shape::Shape;

/// A ciphertext: two or three components in Eval form at one level.
///
/// ```
/// # mod owner { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/owner/mod.rs")); }
/// # use owner::Owner;
/// # use sotto_ring::secure_rng;
/// # use sotto_rlwe::{Bfv, Ciphertext, Params, Scheme};
/// # let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// # let public_key = Owner::new(&params, 1).public_key();
/// let plaintext = Bfv::encode_slots(&params, &[215, 198], params.top_level())?;
/// let reading: Ciphertext<Bfv> = public_key.encrypt(&plaintext, &mut secure_rng()?)?;
/// assert_eq!(reading.components().len(), 2);
/// assert_eq!(reading.level(), params.top_level());
/// assert_eq!(reading.key(), public_key.key());
/// assert!(!reading.is_transparent());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ciphertext<S: Scheme> {
    params: Params<S>,
    key: KeyId,
    shape: Shape<S>,
    components: ArrayVec<Poly<Eval>, 3>,
}

impl<S: Scheme> Ciphertext<S> {
    /// Makes a ciphertext from its parts. Panics unless the number and the level of the components are those of the
    /// shape.
    pub fn from_parts(
        params: &Params<S>,
        key: KeyId,
        shape: Shape<S>,
        components: impl IntoIterator<Item = Poly<Eval>>,
    ) -> Self {
        let components: ArrayVec<Poly<Eval>, 3> = components.into_iter().collect();
        assert_eq!(components.len(), shape.components, "components as the shape says");
        assert!(
            components.iter().all(|c| c.limbs() == params.limbs(shape.level)),
            "components at the shape's level"
        );
        Self { params: params.clone(), key, shape, components }
    }

    /// Returns the parameters.
    pub fn params(&self) -> &Params<S> {
        &self.params
    }

    /// Returns the key that decrypts it.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Returns its shape: level, components, scaling and noise bound.
    pub fn shape(&self) -> &Shape<S> {
        &self.shape
    }

    /// Replaces the bounds by those that the caller has proved: see [`Shape::with_slot_bounds`].
    #[must_use]
    pub fn with_slot_bounds(mut self, within: f64, error: f64) -> Self {
        self.shape = self.shape.with_slot_bounds(&self.params, within, error);
        self
    }

    /// Returns the index of the highest data prime left.
    pub fn level(&self) -> usize {
        self.shape.level
    }

    /// Returns true if transparent: every component but c0 is zero. Readers reject it.
    pub fn is_transparent(&self) -> bool {
        self.components[1..].iter().all(Poly::is_zero)
    }

    /// Returns the components c0, c1 (and c2).
    pub fn components(&self) -> &[Poly<Eval>] {
        &self.components
    }

    pub(crate) fn components_mut(&mut self) -> &mut [Poly<Eval>] {
        &mut self.components
    }

    pub(crate) fn map_components(mut self, map: impl FnMut(Poly<Eval>) -> Poly<Eval>) -> Self {
        self.components = self.components.into_iter().map(map).collect();
        self
    }

    pub(crate) fn into_components(self) -> impl Iterator<Item = Poly<Eval>> {
        self.components.into_iter()
    }

    /// Sets a shape with the same number of components. The caller brings them to its level.
    pub(crate) fn set_shape(&mut self, shape: Shape<S>) {
        debug_assert_eq!(shape.components, self.components.len(), "components as the shape says");
        self.shape = shape;
    }

    /// Sets a shape with at least as many components; new ones come from `more`.
    pub(crate) fn reshape(&mut self, shape: Shape<S>, mut more: impl FnMut() -> Poly<Eval>) {
        while self.components.len() < shape.components {
            self.components.push(more());
        }
        self.set_shape(shape);
    }
}

/// A fresh ciphertext made with the secret key. A public seed of 24 bytes stands for the mask.
///
/// ```
/// # mod owner { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/owner/mod.rs")); }
/// # use owner::Owner;
/// # use sotto_ring::Seed;
/// # use sotto_rlwe::{Bfv, Params, Scheme, Seeded};
/// # let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// # let device = Owner::new(&params, 1);
/// # let seed = Seed([3; 24]);
/// let plaintext = Bfv::encode_slots(&params, &[215, 198], params.top_level())?;
/// // The device sends the body and 24 bytes; the cloud expands the mask.
/// let sent: Seeded<Bfv> = device.encrypt(&plaintext, seed)?;
/// let reading = sent.expand();
/// assert_eq!(reading.components()[0], sent.body);
/// assert_eq!(reading.components()[1], seed.expand(0, params.ring(), params.limbs(params.top_level())));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Seeded<S: Scheme> {
    /// The parameters.
    pub params: Params<S>,
    /// The key that decrypts it.
    pub key: KeyId,
    /// Level, scaling and noise of the ciphertext that it expands to.
    pub shape: Shape<S>,
    /// c0.
    pub body: Poly<Eval>,
    /// The seed that expands to c1.
    pub seed: Seed,
}

impl<S: Scheme> Seeded<S> {
    /// Returns the ciphertext with its mask expanded.
    pub fn expand(&self) -> Ciphertext<S> {
        let mask = self.seed.expand(0, self.params.ring(), self.body.limbs());
        Ciphertext::from_parts(&self.params, self.key, self.shape, [self.body.clone(), mask])
    }
}
