//! The only source of randomness: ChaCha20, seeded by the operating system.

#[cfg(feature = "std")]
use chacha20::ChaCha20Rng;
#[cfg(feature = "std")]
use rand_core::SeedableRng;
#[cfg(feature = "std")]
use zeroize::Zeroizing;

/// A generator for secrets and errors.
///
/// ```
/// use sotto_ring::{RandomnessUnavailable, SecretRng, Seed, SmallPoly, secure_rng};
///
/// fn mask_and_error(rng: &mut impl SecretRng) -> (Seed, SmallPoly) {
///     (Seed::random(rng), SmallPoly::centred_binomial(4096, rng))
/// }
/// let mut rng = secure_rng()?;
/// let [(first, _), (second, _)] = [(); 2].map(|()| mask_and_error(&mut rng));
/// assert_ne!(first, second);
/// # Ok::<(), RandomnessUnavailable>(())
/// ```
pub trait SecretRng: rand_core::CryptoRng {}
impl<R: rand_core::CryptoRng + ?Sized> SecretRng for R {}

/// The operating system gave no randomness.
///
/// Example: [`SecretRng`]
#[cfg(feature = "std")]
#[derive(Debug, thiserror::Error)]
#[error("the operating system gave no randomness: {0}")]
pub struct RandomnessUnavailable(getrandom::Error);

/// Returns a fresh generator, seeded by the operating system.
///
/// # Errors
/// [`RandomnessUnavailable`] if the operating system gives no randomness.
#[cfg(feature = "std")]
pub fn secure_rng() -> Result<ChaCha20Rng, RandomnessUnavailable> {
    let mut seed = Zeroizing::new([0; 32]);
    getrandom::fill(seed.as_mut_slice()).map_err(RandomnessUnavailable)?;
    Ok(ChaCha20Rng::from_seed(*seed))
}
