//! Ciphertexts read from bytes. Their shape is a claim of the sender.

use sotto_rlwe::{Ciphertext, Expected, Reduced, Scheme, Unexpected};

use crate::ciphertext::AnyCiphertext;

/// A ciphertext read from bytes: an [`AnyCiphertext`], a [`Reduced`] or a [`Compact`](sotto_rlwe::Compact).
///
/// The residues are checked. Level, scaling and noise bound are only claimed: a sender who lies about them makes the
/// owner publish noise that reveals information about the secret key.
///
/// [`expect`](Arrived::expect) assigns the plan's shape and is the only way to decryption.
/// [`with_claimed_shape`](Arrived::with_claimed_shape) is for programs that compute on the ciphertext and hold no
/// secret key.
///
/// ```
/// use sotto_keys::{DeviceSecret, SecretKey};
/// use sotto_rlwe::{Bfv, Expected, Params, Scheme};
/// use sotto_wire::{AnyCiphertext, Arrived};
/// # let mut rng = sotto_ring::secure_rng()?;
/// # let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// # let key = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
///
/// let plain = Bfv::encode_slots(&params, &[215, 198], params.top_level())?;
/// let sent = key.encrypt(&plain, &mut rng)?.expand();
/// // The owner knows the answer's shape from its plan.
/// let expected =
///     Expected { parameters: params.id(), key: key.id(), shape: *sent.shape(), reduction: None };
/// let bytes = AnyCiphertext::Expanded(sent).write();
/// let arrived: Arrived<AnyCiphertext<Bfv>> = AnyCiphertext::read(&bytes, &params)?;
/// let ciphertext = arrived.expect(&expected)?;
/// assert_eq!(*ciphertext.shape(), expected.shape);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Arrived<C>(C);

impl<C> Arrived<C> {
    /// Wraps a ciphertext whose residues were checked.
    pub(crate) fn new(claimed: C) -> Self {
        Self(claimed)
    }

    /// Returns the ciphertext with the shape that its bytes claim.
    ///
    /// **Never decrypt it**, nor anything computed from it, unless the sender is trusted: rounding and flooding would
    /// rely on the sender's bound. Use it in evaluators, whose answers carry claims again, and in measurements.
    #[must_use]
    pub fn with_claimed_shape(self) -> C {
        self.0
    }
}

impl<S: Scheme> Arrived<AnyCiphertext<S>> {
    /// Returns the ciphertext with the plan's shape.
    ///
    /// # Errors
    /// [`Unexpected`] names the first difference, in the order key, parameters, level, components, scaling, noise
    /// bound, form.
    pub fn expect(self, expected: &Expected<S>) -> Result<Ciphertext<S>, Unexpected> {
        expected.check_form(None)?;
        self.0.expand().expect(expected)
    }
}

impl<S: Scheme> Arrived<Reduced<S>> {
    /// Lifts the ciphertext to the level's modulus and returns it with the plan's shape. Only the coefficients of the
    /// plan's selection are valid.
    ///
    /// # Errors
    /// [`Unexpected`] names the first difference, in the order key, parameters, level, components, scaling, noise
    /// bound, form.
    pub fn expect(self, expected: &Expected<S>) -> Result<Ciphertext<S>, Unexpected> {
        let form = Some(self.0.reduction());
        expected.check_form(form)?;
        // Reading already checked the form against the claimed shape, so lifting cannot fail here.
        let lifted =
            self.0.lift().map_err(|_| Unexpected::Form { expected: expected.reduction, found: form })?;
        lifted.expect(expected)
    }
}
