//! The evaluator: operations on ciphertexts, written once for every scheme.
//!
//! Every operation comes in two forms: with buffers from the caller (`…_with`, `…_assign`), which allocates nothing in
//! a steady state, and as a plain function that allocates its buffers.

mod automorphism;
mod counters;
mod expand;
mod guards;
mod linear;
mod modulus;
mod product;
mod transfer;
mod weighted;

pub use automorphism::Hoisted;
pub use counters::{Counters, Operation};

use sotto_ring::{Eval, Poly, Scratch};

use crate::ciphertext::Ciphertext;
use crate::parameters::Params;
use crate::scheme::Scheme;
use crate::shape::Shape;

/// Computes on ciphertexts of one parameter set. Every operation checks shapes and the noise bound before it computes.
///
/// ```
/// # mod owner { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/owner/mod.rs")); }
/// # use owner::Owner;
/// # use sotto_ring::secure_rng;
/// # use sotto_rlwe::{Bfv, Evaluator, Params, Scheme};
/// # let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// # let owner = Owner::new(&params, 1);
/// # let (public_key, keys) = (owner.public_key(), owner.evaluation_keys(&[]));
/// # let mut encrypt = |values: &[i64]| {
/// #     let plaintext = Bfv::encode_slots(&params, values, params.top_level())?;
/// #     Ok::<_, Box<dyn std::error::Error>>(public_key.encrypt(&plaintext, &mut secure_rng()?)?)
/// # };
/// let volts = encrypt(&[230, 229])?;
/// let amperes = encrypt(&[3, 5])?;
/// let evaluator = Evaluator::new(&params);
/// // The product has three components; the owner's relinearisation key brings it back to two.
/// let watts = evaluator.relinearise(&evaluator.multiply(&volts, &amperes)?, &keys)?;
/// assert_eq!(Bfv::decode_slots(&params, &owner.decrypt(&watts))?[..2], [690, 1145]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Evaluator<S: Scheme> {
    params: Params<S>,
    counters: Counters,
}

impl<S: Scheme> Evaluator<S> {
    /// Shares the parameters' tables; the counters start at 0.
    pub fn new(params: &Params<S>) -> Self {
        Self { params: params.clone(), counters: Counters::default() }
    }

    /// Returns the parameters.
    pub fn params(&self) -> &Params<S> {
        &self.params
    }

    /// Returns the counts of the operations so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns a copy in buffers from the caller.
    pub fn copy_with(&self, a: &Ciphertext<S>, scratch: &mut Scratch) -> Ciphertext<S> {
        self.result(a, *a.shape(), a.components().iter().map(|c| scratch.copy(c)))
    }

    /// Takes a ciphertext's buffers into the pool.
    pub fn recycle(&self, a: Ciphertext<S>, scratch: &mut Scratch) {
        a.into_components().for_each(|component| scratch.give(component));
    }

    /// Shrinks spare capacity to at most an eighth. Use for long-lived ciphertexts.
    pub fn fitted(&self, a: Ciphertext<S>, scratch: &mut Scratch) -> Ciphertext<S> {
        a.map_components(|component| component.fitted(scratch))
    }

    fn result(
        &self,
        a: &Ciphertext<S>,
        shape: Shape<S>,
        components: impl IntoIterator<Item = Poly<Eval>>,
    ) -> Ciphertext<S> {
        Ciphertext::from_parts(&self.params, a.key(), shape, components)
    }
}
