//! A form together with its parameters, and the error bound of its sums.

#[cfg(not(feature = "std"))]
use num_traits::Float as _;
use sotto_device::Form;
use sotto_rlwe::{Bfv, Params};

use crate::error::CompactError;
use crate::sum::Weights;

/// Variance and largest magnitude of an error: centred binomial with 21 + 21 bits, sub-Gaussian with this
/// variance.
const ERROR_VARIANCE: f64 = sotto_ring::ERROR_VARIANCE;
const LARGEST_ERROR: f64 = 21.0;
/// -log2 of the probability that an error exceeds its bound.
const FAILURE_BITS: f64 = 128.0;

/// A form whose prime, degree and plain modulus are those of BFV parameters, and which is as secure as these.
///
/// ```
/// use sotto_compact::Profile;
/// use sotto_rlwe::{Bfv, ChainRequest, Params, SchemeId};
///
/// // 16 readings of 12 bits, for sums of up to 2048 windows.
/// let request = ChainRequest::one_prime(SchemeId::Bfv, 4096, (1 << 24) + 43, 50);
/// let profile = Profile::new(&Params::<Bfv>::new(request.build()?)?, 16, 36)?;
/// assert_eq!(profile.form().body_bytes(), 72);
/// assert!(profile.most_windows() >= 2048);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Profile {
    params: Params<Bfv>,
    form: Form,
}

impl Profile {
    /// Makes a form with this many places and bits a place on parameters.
    ///
    /// # Errors
    /// [`CompactError::Chain`] unless the parameters have one data prime and no special prime,
    /// [`CompactError::Form`] if the form is out of range.
    pub fn new(params: &Params<Bfv>, places: usize, width: u32) -> Result<Self, CompactError> {
        let spec = params.spec();
        let ([prime], []) = (&spec.data[..], &spec.special[..]) else { return Err(CompactError::Chain) };
        let form = Form::new(spec.degree, *prime, spec.plain, places, width)?;
        Ok(Self { params: params.clone(), form })
    }

    /// Returns the parameters.
    pub fn params(&self) -> &Params<Bfv> {
        &self.params
    }

    /// Returns places, width and ring of the bodies.
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// Returns the bits between the error bound of a weighted sum and the limit of correct decryption.
    /// Decryption is right if it is not negative.
    ///
    /// As a fraction of the modulus, the error of a coefficient Σ c·body is at most the sum of two terms:
    ///
    /// - rounding of bodies and messages: Σ|c|·((1/2 + 2^(w−64))/2^w + 1/2q);
    /// - encryption errors: E/q with E = |Σ c·e| ≤ min(21·Σ|c|, √(2·ln(2r·2^128)·10.5·Σc²)), because errors are
    ///   independent and sub-Gaussian, and no input is counted twice.
    ///
    /// The limit is half of 1/t.
    pub fn room(&self, weights: Weights) -> f64 {
        let (q, t) = (self.form.prime() as f64, self.form.plain() as f64);
        let unit = (-f64::from(self.form.width())).exp2();
        let rounding = weights.total() * (unit * (0.5 + 2f64.powi(-64) / unit) + 0.5 / q);
        let union = (2.0 * self.form.places() as f64).ln() + FAILURE_BITS * core::f64::consts::LN_2;
        let random = (2.0 * union * ERROR_VARIANCE * weights.squares()).sqrt();
        let error = random.min(LARGEST_ERROR * weights.total()) / q;
        // The owner truncates fractions to 64 bits.
        -((rounding + error + 2f64.powi(-63)) * 2.0 * t).log2()
    }

    /// Returns the maximum number of windows in a sum of windows taken once each.
    pub fn most_windows(&self) -> u64 {
        let fits = |count: u64| self.room(Weights::of_ones(count)) >= 0.0;
        let mut most = 0;
        for bit in (0..32).rev() {
            if fits(most | 1 << bit) {
                most |= 1 << bit;
            }
        }
        most
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use sotto_rlwe::{ChainRequest, SchemeId};

    use super::*;

    fn profile(degree: usize, bits: u32, plain: u64, places: usize, width: u32) -> Profile {
        let request = ChainRequest::one_prime(SchemeId::Bfv, degree, plain, bits);
        Profile::new(&Params::new(request.build().unwrap()).unwrap(), places, width).unwrap()
    }

    #[test]
    fn sums_of_2048_windows_of_12_bits_fit_36_bits_a_place() {
        // Twice 2048 · 2^12, then the next prime.
        let profile = profile(4096, 50, (1 << 24) + 43, 16, 36);
        assert!(profile.most_windows() >= 2048, "{}", profile.most_windows());
        assert_eq!(profile.form().body_bytes(), 72);
        let narrow = Profile::new(profile.params(), 16, 34).unwrap();
        assert!(narrow.most_windows() < 2048);
        assert!(profile.room(Weights::of_ones(1)) > profile.room(Weights::of_ones(2)));
    }

    #[test]
    fn chains_of_several_primes_are_refused() {
        let params = Params::<Bfv>::default_chain(4096, 65537).unwrap();
        assert_eq!(Profile::new(&params, 16, 36).unwrap_err(), CompactError::Chain);
    }
}
