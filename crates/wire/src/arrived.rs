//! Ciphertexts read from bytes. Their shape is a claim of the sender.

/// A ciphertext read from bytes: an [`AnyCiphertext`](crate::AnyCiphertext), a
/// [`Reduced`](sotto_rlwe::Reduced) or a [`Compact`](sotto_rlwe::Compact).
///
/// The residues are checked. Level, scaling and noise bound are only claimed: a sender who lies about them makes the
/// owner publish noise that reveals information about the secret key.
///
/// `expect`, of each kind of ciphertext, assigns the plan's shape and is the only way to decryption.
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
