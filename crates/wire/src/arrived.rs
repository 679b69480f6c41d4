//! Ciphertexts that arrive as bytes: their shape is claimed by whoever sent them.

use sotto_rlwe::{Ciphertext, Expected, Reduced, Scheme, Unexpected};

use crate::ciphertext::AnyCiphertext;

/// A ciphertext read from bytes: an [`AnyCiphertext`], a [`Reduced`] or a [`Compact`](sotto_rlwe::Compact). Its residues are checked; level,
/// scaling and noise bound are only claimed, and a sender who lies about them has noise published that tells about the secret key.
///
/// [`expect`](Arrived::expect) gives it the shape of the plan, and is the way to decryption. [`with_claimed_shape`](Arrived::with_claimed_shape)
/// is for programs that compute on it and hold no secret key.
#[derive(Clone, Debug)]
pub struct Arrived<C>(C);

impl<C> Arrived<C> {
    /// Of a ciphertext whose residues were checked.
    pub(crate) fn new(claimed: C) -> Self {
        Self(claimed)
    }

    /// The ciphertext with the shape that its bytes claim. **Never decrypt it**, nor anything computed from it, unless the sender is trusted:
    /// rounding and flooding would count on the sender's bound. For evaluators, whose answers carry claims again, and for measurements.
    #[must_use]
    pub fn with_claimed_shape(self) -> C {
        self.0
    }
}

impl<S: Scheme> Arrived<AnyCiphertext<S>> {
    /// The ciphertext with the shape of the plan.
    ///
    /// # Errors
    /// [`Unexpected`] names the first of key, parameters, level, components, scaling, noise bound and form that differs.
    pub fn expect(self, expected: &Expected<S>) -> Result<Ciphertext<S>, Unexpected> {
        expected.check_form(None)?;
        self.0.expand().expect(expected)
    }
}

impl<S: Scheme> Arrived<Reduced<S>> {
    /// The ciphertext over the level's modulus again, with the shape of the plan. It holds at the coefficients of the plan's selection alone.
    ///
    /// # Errors
    /// [`Unexpected`] names the first of key, parameters, level, components, scaling, noise bound and form that differs.
    pub fn expect(self, expected: &Expected<S>) -> Result<Ciphertext<S>, Unexpected> {
        let form = Some(self.0.reduction());
        expected.check_form(form)?;
        // Reading has tried the form against the claimed shape: lifting refuses nothing that is left.
        let lifted =
            self.0.lift().map_err(|_| Unexpected::Form { expected: expected.reduction, found: form })?;
        lifted.expect(expected)
    }
}
