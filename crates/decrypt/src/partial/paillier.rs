//! Paillier's decryption modulo the squares of both primes (Paillier 1999, section 7), in constant time.

use crypto_bigint::{BoxedUint, ConcatenatingMul, ConcatenatingSquare, NonZero, Resize};
use sotto_kernels::{Montgomery, Residue, Target};
use sotto_keys::partial::paillier::SecretKey;
use sotto_partial::PartialError;
use sotto_partial::number::{from_words, words};
use sotto_partial::paillier::{Ciphertext, Plaintext, PublicKey};
use zeroize::Zeroizing;

/// Decrypts under one key. Values that depend on the primes alone are computed once and wiped on drop. Not
/// wiped: copies that crypto-bigint makes inside a division or an inversion.
///
/// ```
/// use sotto_decrypt::partial::paillier::Decryptor;
/// use sotto_keys::partial::paillier::{Masking, SecretKey};
///
/// let mut rng = sotto_ring::secure_rng()?;
/// let secret = SecretKey::generate(2048, Masking::HalfLength, &mut rng)?;
/// let public = secret.public_key()?; // all that the device and the cloud need
/// let mut encrypted = |watts| public.encrypt(&public.signed(watts), &mut rng);
/// let sum = public.add(&encrypted(1250)?, &encrypted(-300)?)?;
/// let opened = Decryptor::new(&secret)?.decrypt(&public, &sum)?;
/// assert_eq!(opened.to_signed(&public), Some(950));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct Decryptor {
    p: Half,
    q: Half,
    /// 1/p modulo q.
    join: Residue,
}

/// The part of decryption modulo one prime.
struct Half {
    prime: Zeroizing<NonZero<BoxedUint>>,
    square: Zeroizing<NonZero<BoxedUint>>,
    modulo_prime: Montgomery,
    modulo_square: Montgomery,
    /// p − 1.
    exponent: Zeroizing<Vec<u64>>,
    /// 1/p modulo a power of two above p.
    inverse: Zeroizing<BoxedUint>,
    /// 1/L(g^(p − 1)) modulo p, L(x) = (x − 1)/p.
    factor: Residue,
}

impl Decryptor {
    /// Prepares decryption with a secret key on the fastest kernel target.
    ///
    /// # Errors
    /// [`PartialError`] if the primes do not fit the scheme.
    pub fn new(key: &SecretKey) -> Result<Self, PartialError> {
        Self::on(Target::best(), key)
    }

    /// Prepares decryption on a given kernel target.
    ///
    /// # Errors
    /// [`PartialError`] if the primes do not fit the scheme.
    pub fn on(target: &Target, key: &SecretKey) -> Result<Self, PartialError> {
        let (p, q) = key.expose_secret_primes();
        let (p, q) = (Half::new(target, p, q)?, Half::new(target, q, p)?);
        let join = q.inverse_of(&p.prime)?;
        Ok(Self { p, q, join })
    }

    /// Decrypts a ciphertext.
    ///
    /// # Errors
    /// [`PartialError::OtherKey`] if ciphertext, public key and secret key do not belong together.
    pub fn decrypt(&self, key: &PublicKey, ciphertext: &Ciphertext) -> Result<Plaintext, PartialError> {
        if ciphertext.key() != key.id() || *key.modulus() != self.p.prime.concatenating_mul(&**self.q.prime) {
            return Err(PartialError::OtherKey);
        }
        let number = from_words(&key.number(ciphertext));
        let (p, q) = (self.p.message(&number), self.q.message(&number));
        // m = m_p + p·((m_q − m_p)/p modulo q)
        let p_in_q = Zeroizing::new(p.rem(&self.q.prime));
        let p_in_q = Zeroizing::new(Resize::resize_unchecked(&*p_in_q, q.bits_precision()));
        let difference = Zeroizing::new(q.sub_mod(&p_in_q, &self.q.prime));
        let quotient = Zeroizing::new(self.q.modulo_prime.leave_product(&words(&difference), &self.join));
        let quotient = Zeroizing::new(from_words(&quotient));
        let lifted = Zeroizing::new(self.p.prime.concatenating_mul(&*quotient));
        key.plaintext(lifted.wrapping_add(&*p))
    }
}

impl Half {
    fn new(target: &Target, prime: &BoxedUint, other: &BoxedUint) -> Result<Self, PartialError> {
        let unfit = |_| PartialError::Modulus;
        let square = Zeroizing::new(prime.concatenating_square());
        let modulo_prime = Montgomery::on(target, &words(prime)).map_err(unfit)?;
        let modulo_square = Montgomery::on(target, &words(&square)).map_err(unfit)?;
        let bits = prime.bits_precision();
        let (inverse, _) = prime.invert_mod2k(bits);
        let non_zero =
            |x: &BoxedUint| x.as_nz_vartime().cloned().map(Zeroizing::new).ok_or(PartialError::Modulus);
        let mut half = Self {
            prime: non_zero(prime)?,
            square: non_zero(&square)?,
            exponent: words(&Zeroizing::new(prime.wrapping_sub(BoxedUint::one()))),
            inverse: Zeroizing::new(inverse),
            factor: modulo_prime.one(),
            modulo_prime,
            modulo_square,
        };
        // (1 + n)^(p − 1) = 1 + (p − 1)·n modulo p², so L is −q modulo p.
        let other = Zeroizing::new(other.rem(&half.prime).resize_unchecked(bits));
        let minus = Zeroizing::new(prime.wrapping_sub(&*other));
        half.factor = half.inverse_of(&minus)?;
        Ok(half)
    }

    /// Computes 1/x modulo the prime.
    fn inverse_of(&self, x: &BoxedUint) -> Result<Residue, PartialError> {
        let x = Zeroizing::new(x.rem(&self.prime));
        let modulus = self.prime.as_odd_vartime().ok_or(PartialError::Modulus)?;
        let inverse: Option<BoxedUint> = x.invert_odd_mod(modulus).into();
        let inverse = Zeroizing::new(inverse.ok_or(PartialError::NoInverse)?);
        Ok(self.modulo_prime.enter(&words(&inverse)))
    }

    /// Computes the message modulo the prime.
    fn message(&self, number: &BoxedUint) -> Zeroizing<BoxedUint> {
        let reduced = Zeroizing::new(number.rem(&self.square));
        let base = self.modulo_square.enter(&words(&reduced));
        let power = self.modulo_square.power(&base, &self.exponent, self.prime.bits_precision());
        let power = Zeroizing::new(from_words(&Zeroizing::new(self.modulo_square.leave(&power))));
        // The division by p is exact, so it is a product modulo a power of two.
        let less_one = Zeroizing::new(power.wrapping_sub(BoxedUint::one()));
        let less_one = Zeroizing::new(Resize::resize_unchecked(&*less_one, self.inverse.bits_precision()));
        let quotient = Zeroizing::new(less_one.wrapping_mul(&*self.inverse));
        let message = Zeroizing::new(self.modulo_prime.leave_product(&words(&quotient), &self.factor));
        Zeroizing::new(from_words(&message))
    }
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::FileExt;

    use rand_core::SeedableRng;
    use sotto_keys::partial::paillier::Masking;
    use zeroize::ZeroizeOnDrop;

    use super::*;

    fn wipes(_: &impl ZeroizeOnDrop) {}

    /// Returns the address and the bytes of a number's words.
    fn place(number: &BoxedUint) -> (u64, Vec<u8>) {
        let words = number.as_words();
        (words.as_ptr() as u64, words.iter().flat_map(|word| word.to_ne_bytes()).collect())
    }

    /// Reads this process's memory through the kernel, as a crash dump would show it.
    fn memory(at: u64, bytes: usize) -> Vec<u8> {
        let mut found = vec![0; bytes];
        std::fs::File::open("/proc/self/mem").unwrap().read_exact_at(&mut found, at).unwrap();
        found
    }

    /// Ignored under emulation, where the program's addresses are not those of the process.
    #[cfg_attr(not(target_arch = "x86_64"), ignore)]
    #[test]
    fn the_primes_are_gone_after_the_drop() {
        let mut rng = chacha20::ChaCha20Rng::from_seed([5; 32]);
        let secret = SecretKey::insecure_generate(1024, Masking::Textbook, &mut rng).unwrap();
        let decryptor = Decryptor::new(&secret).unwrap();
        let halves = [&decryptor.p, &decryptor.q];
        let places: Vec<_> =
            halves.iter().flat_map(|half| [place(&half.prime), place(&half.square)]).collect();
        for half in halves {
            wipes(&half.prime);
            wipes(&half.square);
            wipes(&half.modulo_prime);
            wipes(&half.modulo_square);
        }
        for (at, secret) in &places {
            assert_eq!(memory(*at, secret.len()), *secret);
        }
        drop(decryptor);
        // The allocator overwrites the start of a freed block and leaves the rest.
        for (at, secret) in &places {
            let half = secret.len() / 2;
            assert_ne!(memory(at + half as u64, secret.len() - half), secret[half..]);
        }
    }
}
