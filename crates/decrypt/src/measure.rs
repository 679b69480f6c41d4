//! Measures the actual noise of a ciphertext. Needs the secret key. Never send the result anywhere: it would
//! be a decryption oracle.

use sotto_ring::{Coeff, Eval, Poly, Wiped};
use sotto_rlwe::{Ciphertext, NoiseRules as _, Params, Scheme};
use zeroize::Zeroizing;

use crate::decryptor::Decryptor;

impl<S: Scheme> Decryptor<'_, S> {
    /// Returns log2 of the canonical norm of the error that the scheme's bound limits: phase − (Q/t)·m for
    /// BFV, the whole phase for BGV, phase − `message` for CKKS (`message` is the exact scaled message's
    /// coefficients).
    pub fn measure_error_bits(&self, ciphertext: &Ciphertext<S>, message: Option<&[i64]>) -> f64 {
        let params = ciphertext.params();
        let error: Zeroizing<Poly<Eval>> = match message {
            _ if S::Noise::WHOLE_PHASE => self.phase(ciphertext),
            Some(message) if !S::EXACT => {
                let mut phase = self.phase(ciphertext);
                let limbs = params.limbs(ciphertext.level());
                let message = Zeroizing::new(Poly::from_signed(params.ring(), limbs, message).into_eval());
                phase.subtract_assign(&message);
                phase
            }
            _ => {
                let (mut phase, message) = self.plaintext_phase(ciphertext);
                phase.subtract_assign(&message);
                phase
            }
        };
        let error = Zeroizing::new(Poly::clone(&error).into_coeff());
        let centred = centred(params, ciphertext.level(), &error);
        let slots = Zeroizing::new(params.embedding().to_slots(&centred));
        // hypot, because the square of a phase may overflow f64.
        slots.iter().map(|z| z.re.hypot(z.im)).fold(0.0, f64::max).log2()
    }
}

/// Returns the centred coefficients as f64, by mixed radix from the lowest prime up: each digit is exact, the
/// sum is rounded.
fn centred<S: Scheme>(params: &Params<S>, level: usize, poly: &Poly<Coeff>) -> Wiped<f64> {
    let limbs: Vec<usize> = params.limbs(level).collect();
    // 1/earlier modulo the prime of index `i`.
    let inverse = |i: usize, earlier: usize| {
        let q = params.modulus(i);
        q.invert_vartime(q.reduce(params.modulus(earlier).value())).expect("distinct primes")
    };
    let inverses: Vec<Vec<u64>> = limbs
        .iter()
        .enumerate()
        .map(|(j, i)| limbs[..j].iter().map(|earlier| inverse(*i, *earlier)).collect())
        .collect();
    let mut digits = Wiped::<i64>::zeros(limbs.len());
    let mut values = Wiped::zeros(params.degree());
    for (k, value) in values.iter_mut().enumerate() {
        for (j, i) in limbs.iter().enumerate() {
            let q = params.modulus(*i);
            // (x − Σ digit·product)/product, by Horner's rule on the digits found so far.
            let mut x = poly.limb(*i)[k];
            for (digit, inverse) in digits.iter().zip(&inverses[j]) {
                x = q.multiply(q.subtract(x, q.from_signed(*digit)), *inverse);
            }
            digits[j] = q.centre(x);
        }
        for (digit, i) in digits.iter().zip(&limbs).rev() {
            *value = *value * params.modulus(*i).value() as f64 + *digit as f64;
        }
    }
    values
}
