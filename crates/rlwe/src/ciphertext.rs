//! Ciphertexts.

use arrayvec::ArrayVec;
use sotto_ring::{Eval, Poly, Seed};

use crate::parameters::{KeyId, Params};
use crate::scheme::Scheme;
use crate::shape::Shape;

/// A ciphertext: two or three components in Eval form at one level.
#[derive(Clone, Debug)]
pub struct Ciphertext<S: Scheme> {
    params: Params<S>,
    key: KeyId,
    shape: Shape<S>,
    components: ArrayVec<Poly<Eval>, 3>,
}

impl<S: Scheme> Ciphertext<S> {
    /// From its parts. The components must be at the shape's level, as many as it says.
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

    /// The parameters.
    pub fn params(&self) -> &Params<S> {
        &self.params
    }

    /// The key that decrypts it.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Level, components, scaling and noise bound.
    pub fn shape(&self) -> &Shape<S> {
        &self.shape
    }

    /// The level.
    pub fn level(&self) -> usize {
        self.shape.level
    }

    /// Whether nothing hides what is in it: every component but the first is zero. Nobody reads such a ciphertext again.
    pub fn is_transparent(&self) -> bool {
        self.components[1..].iter().all(Poly::is_zero)
    }

    /// The components c0, c1 (and c2).
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

    /// A shape of as many components; the caller brings them to its level.
    pub(crate) fn set_shape(&mut self, shape: Shape<S>) {
        debug_assert_eq!(shape.components, self.components.len(), "components as the shape says");
        self.shape = shape;
    }

    /// A shape of at least as many components; those that are new come from `more`.
    pub(crate) fn reshape(&mut self, shape: Shape<S>, mut more: impl FnMut() -> Poly<Eval>) {
        while self.components.len() < shape.components {
            self.components.push(more());
        }
        self.set_shape(shape);
    }
}

/// A fresh ciphertext made with the secret key: the mask is a public seed, which takes 24 bytes.
#[derive(Clone, Debug)]
pub struct Seeded<S: Scheme> {
    /// The parameters.
    pub params: Params<S>,
    /// The key that decrypts it.
    pub key: KeyId,
    /// Its shape.
    pub shape: Shape<S>,
    /// c0.
    pub body: Poly<Eval>,
    /// Expands to c1.
    pub seed: Seed,
}

impl<S: Scheme> Seeded<S> {
    /// The ciphertext with its mask written out.
    pub fn expand(&self) -> Ciphertext<S> {
        let mask = self.seed.expand(0, self.params.ring(), self.body.limbs());
        Ciphertext::from_parts(&self.params, self.key, self.shape, [self.body.clone(), mask])
    }
}
