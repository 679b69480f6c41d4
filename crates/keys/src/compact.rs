//! Compact encryption with a secret key: the device's code, with a device's secret.

use sotto_compact::{MaskSum, Profile};
use sotto_device::{EncryptError, Mask, SecretBits, encrypt_products};
use sotto_ring::{Coeff, Embedding, Eval, Poly, SecretRng};
use sotto_rlwe::{Bfv, KeyId, ParameterSpec, Params};
use zeroize::Zeroizing;

use crate::device::DeviceSecret;
use crate::secret::{SecretKey, accepted_secret};

/// The secret key of a device for a parameter specification at two bits a coefficient, as the smallest devices carry it
/// ([`SecretBits`]): the coefficients of [`SecretKey::derive`](crate::SecretKey::derive). None for a degree that is no ring's.
pub fn secret_bits(device: &DeviceSecret, spec: &ParameterSpec) -> Option<Zeroizing<Vec<u8>>> {
    let embedding = Embedding::new(spec.degree)?;
    let secret = accepted_secret(&embedding, &mut device.key_stream(&spec.id()));
    let mut bits = Zeroizing::new(vec![0; spec.degree / 4]);
    SecretBits::write(secret.coefficients().iter().copied(), &mut bits);
    Some(bits)
}

/// A sum of masks times a secret of the form's parameters. Wiped when it is dropped.
pub fn mask_product(key: &SecretKey<Bfv>, masks: &MaskSum) -> Zeroizing<Poly<Coeff>> {
    multiply(key.params(), key.expose_secret_eval(), masks)
}

fn multiply(params: &Params<Bfv>, secret: &Poly<Eval>, masks: &MaskSum) -> Zeroizing<Poly<Coeff>> {
    // Each form takes the buffer of the one before: the product is in one place.
    let mut product = masks.polynomial(params).into_eval();
    product.multiply_assign(secret);
    Zeroizing::new(product.into_coeff())
}

/// Σ s_i of several devices' secrets for one parameter set: opens sums of windows that share a mask. As secret as the secrets; wiped when it
/// is dropped.
pub struct SecretSum {
    params: Params<Bfv>,
    eval: Zeroizing<Poly<Eval>>,
    names: Vec<KeyId>,
}

impl SecretSum {
    /// The sum of no secret, for parameters of one prime and without special primes.
    pub fn new(params: &Params<Bfv>) -> Self {
        let eval = Zeroizing::new(Poly::zero(params.ring(), params.key_limbs()));
        Self { params: params.clone(), eval, names: Vec::new() }
    }

    /// Adds a secret; false, and nothing is added, for a key of other parameters. O(n).
    #[must_use]
    pub fn add(&mut self, key: &SecretKey<Bfv>) -> bool {
        let same = key.params() == &self.params;
        if same {
            self.eval.add_assign(key.expose_secret_eval());
            self.names.push(key.id());
        }
        same
    }

    /// The parameters.
    pub fn params(&self) -> &Params<Bfv> {
        &self.params
    }

    /// Secrets that were added.
    pub fn keys(&self) -> u64 {
        self.names.len() as u64
    }

    /// The public name of the sum: a hash of the keys' names in ascending order, so that equal names mean the same devices.
    pub fn id(&self) -> KeyId {
        let mut names: Vec<[u8; 16]> = self.names.iter().map(|name| name.0).collect();
        names.sort_unstable();
        let hash = blake3::derive_key("sotto sum of secrets v1", names.as_flattened());
        let mut id = [0; 16];
        id.copy_from_slice(&hash[..16]);
        KeyId(id)
    }

    /// A sum of masks times the sum of the secrets. Wiped when it is dropped.
    pub fn mask_product(&self, masks: &MaskSum) -> Zeroizing<Poly<Coeff>> {
        multiply(&self.params, &self.eval, masks)
    }
}

/// Encrypts windows with a device's key: the bodies of [`sotto_device::encrypt`], by a transform.
pub struct CompactEncryptor {
    key: SecretKey<Bfv>,
}

impl CompactEncryptor {
    /// With the key of a device for parameters.
    pub fn derive(device: &DeviceSecret, params: &Params<Bfv>) -> Self {
        Self { key: SecretKey::derive(device, params) }
    }

    /// The key's public name.
    pub fn key(&self) -> KeyId {
        self.key.id()
    }

    /// The body of a window's values modulo t, one a place. The mask must never have served under this key.
    ///
    /// # Errors
    /// [`EncryptError::Secret`] for a form of other parameters, [`EncryptError::Values`] where there are not as many values as places.
    pub fn encrypt(
        &self,
        profile: &Profile,
        values: &[i64],
        mask: &Mask,
        rng: &mut impl SecretRng,
    ) -> Result<Vec<u8>, EncryptError> {
        let (params, form) = (profile.params(), profile.form());
        if params != self.key.params() {
            return Err(EncryptError::Secret);
        }
        let mut masks = MaskSum::new(form);
        masks.add(mask, 1);
        let product = mask_product(&self.key, &masks);
        let whole = product.limb(params.limbs(0).start);
        let at = |place: usize| whole[place * form.spacing()] as i64;
        let products: Zeroizing<Vec<i64>> = Zeroizing::new((0..form.places()).map(at).collect());
        let modulus = form.plain() as i64;
        let residues: Zeroizing<Vec<u64>> =
            Zeroizing::new(values.iter().map(|value| value.rem_euclid(modulus) as u64).collect());
        let mut body = vec![0; form.body_bytes()];
        encrypt_products(form, &products, &residues, &mut || rng.next_u64(), &mut body)?;
        Ok(body)
    }
}
