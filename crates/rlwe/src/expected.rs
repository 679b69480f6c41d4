//! The shape that a plan gives an answer. A ciphertext from elsewhere is compared with it before decryption.

use alloc::borrow::ToOwned;
use alloc::string::String;

use crate::ciphertext::Ciphertext;
use crate::parameters::{KeyId, ParameterId};
use crate::reduction::Reduction;
use crate::scheme::Scheme;
use crate::shape::Shape;

/// Bits by which rounding in f64 may move the noise bound of one plan between two machines.
const ROUNDED: f64 = 1e-6;

/// The plan's values for everything that an answer's bytes claim.
///
/// ```
/// # mod owner { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/owner/mod.rs")); }
/// # use owner::Owner;
/// # use sotto_ring::secure_rng;
/// # use sotto_rlwe::{Bfv, Expected, KeyId, Origin, Params, Scheme, Shape, Unexpected};
/// # let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// # let public_key = Owner::new(&params, 1).public_key();
/// # let plaintext = Bfv::encode_slots(&params, &[215], params.top_level())?;
/// # let answer = public_key.encrypt(&plaintext, &mut secure_rng()?)?;
/// let shape = Shape::fresh(&params, Origin::PublicKey, 1.0)?;
/// let expected = Expected { parameters: params.id(), key: public_key.key(), shape, reduction: None };
/// assert!(answer.clone().expect(&expected).is_ok());
/// // An answer under another key is refused before it is decrypted.
/// let other = Expected { key: KeyId([9; 16]), ..expected };
/// assert!(matches!(answer.expect(&other), Err(Unexpected::Key { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected<S: Scheme> {
    /// The parameters that the plan was made for.
    pub parameters: ParameterId,
    /// The key that decrypts it.
    pub key: KeyId,
    /// The shape, with the noise bound on which decryption, rounding and flooding rely.
    pub shape: Shape<S>,
    /// The reduced form of the transmitted answer; None: whole.
    pub reduction: Option<Reduction>,
}

/// The first difference between a ciphertext and the plan's answer.
///
/// Example: [`Expected`]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unexpected {
    /// The parameters differ.
    #[error("it has parameters {found}, and the plan has {expected}")]
    Parameters {
        /// The plan's value.
        expected: ParameterId,
        /// The ciphertext's value.
        found: ParameterId,
    },
    /// The key differs.
    #[error("it is under key {found}, and the plan's answer is under {expected}")]
    Key {
        /// The plan's value.
        expected: KeyId,
        /// The ciphertext's value.
        found: KeyId,
    },
    /// The level differs.
    #[error("its level is {found}, and the plan's {expected}")]
    Level {
        /// The plan's value.
        expected: usize,
        /// The ciphertext's value.
        found: usize,
    },
    /// The number of components differs.
    #[error("it has {found} components, and the plan's answer {expected}")]
    Components {
        /// The plan's value.
        expected: usize,
        /// The ciphertext's value.
        found: usize,
    },
    /// The scale or plaintext factor differs.
    #[error("its scale or plaintext factor is {found}, and the plan's {expected}")]
    Scaling {
        /// The plan's value.
        expected: String,
        /// The ciphertext's value.
        found: String,
    },
    /// The noise bound is larger.
    #[error(
        "its noise bound of 2^{found:.1} is larger than the plan's of 2^{expected:.1}: it may be made from other inputs"
    )]
    Noise {
        /// log2 of the plan's bound.
        expected: f64,
        /// log2 of the ciphertext's bound.
        found: f64,
    },
    /// The reduced form differs.
    #[error("its form is {}, and the plan's {}", form(*found), form(*expected))]
    Form {
        /// The plan's form.
        expected: Option<Reduction>,
        /// The ciphertext's form.
        found: Option<Reduction>,
    },
}

fn form(reduction: Option<Reduction>) -> String {
    match reduction {
        None => "whole".to_owned(),
        Some(Reduction { width, selection }) => {
            format!(
                "reduced to {width} bits of {} of every {} coefficients",
                selection.count, selection.spacing
            )
        }
    }
}

impl<S: Scheme> Expected<S> {
    /// Refuses a form that differs from the plan's.
    ///
    /// # Errors
    /// [`Unexpected::Form`].
    pub fn check_form(&self, found: Option<Reduction>) -> Result<(), Unexpected> {
        let expected = self.reduction;
        if found == expected { Ok(()) } else { Err(Unexpected::Form { expected, found }) }
    }

    /// Refuses parameters, key and shape that differ from the plan's. Compares only the error of the claimed noise: the
    /// bound on the message and both averages are replaced by the plan's in any case.
    fn check(&self, parameters: ParameterId, key: KeyId, found: &Shape<S>) -> Result<(), Unexpected> {
        let shape = &self.shape;
        if parameters != self.parameters {
            return Err(Unexpected::Parameters { expected: self.parameters, found: parameters });
        }
        if key != self.key {
            return Err(Unexpected::Key { expected: self.key, found: key });
        }
        if found.level != shape.level {
            return Err(Unexpected::Level { expected: shape.level, found: found.level });
        }
        if found.components != shape.components {
            return Err(Unexpected::Components { expected: shape.components, found: found.components });
        }
        if found.scaling != shape.scaling {
            let (expected, found) = (format!("{:?}", shape.scaling), format!("{:?}", found.scaling));
            return Err(Unexpected::Scaling { expected, found });
        }
        // The plan's bound includes the rounding errors of encoded constants, so it is never below the evaluator's.
        let (expected, claimed) = (shape.noise.error.0, found.noise.error.0);
        let bounded = claimed <= expected + ROUNDED;
        if bounded { Ok(()) } else { Err(Unexpected::Noise { expected, found: claimed }) }
    }
}

impl<S: Scheme> Ciphertext<S> {
    /// Returns the ciphertext with the plan's shape, including the plan's noise bound.
    ///
    /// # Errors
    /// [`Unexpected`] if parameters, key, level, components or scaling differ, or the noise bound is larger than the
    /// plan's.
    pub fn expect(mut self, expected: &Expected<S>) -> Result<Self, Unexpected> {
        expected.check(self.params().id(), self.key(), self.shape())?;
        self.set_shape(expected.shape);
        Ok(self)
    }
}
