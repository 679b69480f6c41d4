//! The shape that a plan gives an answer, against which a ciphertext from elsewhere is held before it is decrypted.

use crate::ciphertext::Ciphertext;
use crate::parameters::{KeyId, ParameterId};
use crate::reduced::Reduction;
use crate::scheme::Scheme;
use crate::shape::Shape;

/// Bits by which rounding in f64 may move the noise bound of one plan between two machines.
const ROUNDED: f64 = 1e-6;

/// What a plan says of an answer: everything that its bytes claim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected<S: Scheme> {
    /// The parameters.
    pub parameters: ParameterId,
    /// The key that decrypts it.
    pub key: KeyId,
    /// The shape, with the bound on the noise that decryption, rounding and flooding count on.
    pub shape: Shape<S>,
    /// The form in which it travels. None: whole.
    pub reduction: Option<Reduction>,
}

/// How a ciphertext differs from what the plan gives. Names the first difference.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unexpected {
    /// Other parameters.
    #[error("it has parameters {found}, and the plan has {expected}")]
    Parameters {
        /// The plan's.
        expected: ParameterId,
        /// Its own.
        found: ParameterId,
    },
    /// Another key.
    #[error("it is under key {found}, and the plan's answer is under {expected}")]
    Key {
        /// The plan's.
        expected: KeyId,
        /// Its own.
        found: KeyId,
    },
    /// Another level.
    #[error("its level is {found}, and the plan's {expected}")]
    Level {
        /// The plan's.
        expected: usize,
        /// Its own.
        found: usize,
    },
    /// Another number of components.
    #[error("it has {found} components, and the plan's answer {expected}")]
    Components {
        /// The plan's.
        expected: usize,
        /// Its own.
        found: usize,
    },
    /// Another scale or plaintext factor.
    #[error("its scale or plaintext factor is {found}, and the plan's {expected}")]
    Scaling {
        /// The plan's.
        expected: String,
        /// Its own.
        found: String,
    },
    /// A larger bound on the noise.
    #[error(
        "its noise bound of 2^{found:.1} is larger than the plan's of 2^{expected:.1}: it may be made from other inputs"
    )]
    Noise {
        /// log2 of the plan's bound.
        expected: f64,
        /// log2 of its own.
        found: f64,
    },
    /// Another form.
    #[error("it travels {}, and the plan's answer {}", form(*found), form(*expected))]
    Form {
        /// The plan's.
        expected: Option<Reduction>,
        /// Its own.
        found: Option<Reduction>,
    },
}

fn form(reduction: Option<Reduction>) -> String {
    match reduction {
        None => "whole".to_owned(),
        Some(Reduction { width, selection }) => {
            format!("with {width} bits of {} of every {} coefficients", selection.count, selection.spacing)
        }
    }
}

impl<S: Scheme> Expected<S> {
    /// Refuses a form that is not the plan's.
    ///
    /// # Errors
    /// [`Unexpected::Form`].
    pub fn check_form(&self, found: Option<Reduction>) -> Result<(), Unexpected> {
        let expected = self.reduction;
        if found == expected { Ok(()) } else { Err(Unexpected::Form { expected, found }) }
    }

    /// Refuses parameters, key and shape that are not the plan's. Of the claimed noise only the error is compared: the bound on the message,
    /// and both averages, are the plan's afterwards whatever was claimed.
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
        // The plan's bound includes what encoding constants rounded off, so it is never below the evaluator's.
        let (expected, claimed) = (shape.noise.error.0, found.noise.error.0);
        let bounded = claimed <= expected + ROUNDED;
        if bounded { Ok(()) } else { Err(Unexpected::Noise { expected, found: claimed }) }
    }
}

impl<S: Scheme> Ciphertext<S> {
    /// The ciphertext with the shape that the plan gives, whose noise bound is the plan's.
    ///
    /// # Errors
    /// [`Unexpected`] where parameters, key, level, components or scaling differ, or the noise bound is larger than the plan's.
    pub fn expect(mut self, expected: &Expected<S>) -> Result<Self, Unexpected> {
        expected.check(self.params().id(), self.key(), self.shape())?;
        self.set_shape(expected.shape);
        Ok(self)
    }
}
