//! Makes keys, plaintexts and ciphertexts.

use std::collections::HashMap;

use poulpy_ckks::prelude::*;
use poulpy_core::api::{
    GLWEAutomorphismKeyEncryptSk as _, GLWEAutomorphismKeyPreparedFactory as _, GLWEEncryptPk as _,
    GLWEKeyswitch as _, GLWENormalize as _, GLWEPublicKeyGenerate as _, GLWEPublicKeyPreparedFactory as _,
    GLWESecretPreparedFactory as _, GLWESecretSampling as _, GLWESwitchingKeyEncryptSk as _,
    GLWESwitchingKeyPreparedFactory as _, GLWETensorKeyEncryptSk as _, GLWETensorKeyPreparedFactory as _,
};
use poulpy_core::layouts::{
    GLWEAutomorphismKeyAlloc as _, GLWEPublicKeyAlloc as _, GLWESecretAlloc as _, GLWESwitchingKeyAlloc as _,
    GLWETensorKeyAlloc as _, LWEInfos as _,
};
use poulpy_hal::api::{ScratchOwnedAlloc as _, ScratchOwnedBorrow as _};
use poulpy_hal::source::Source;
use rand::RngCore as _;

use crate::Failure;
use crate::backend::{
    Ciphertext, Plaintext, PreparedProductKey, PreparedPublicKey, PreparedRotationKey, PreparedSecret,
    PreparedSwitchingKey, ProductKey, PublicKey, Ring, RotationKey, Scratch, Secret,
};
use crate::parameters::Parameters;

/// Bits of an encoded value above its scale: 2 for values in -1 … 1.
pub const SMALL: usize = 2;
/// Bits of a decrypted value above its scale; the library decodes 127 bits at most.
const DECODED: usize = 24;

/// The parts of a secret key: as drawn, for making keys, and prepared, for encryption and decryption.
pub struct Secrets {
    pub raw: Secret,
    pub prepared: PreparedSecret,
}

/// Returns a stream of random bytes under a seed of the system.
fn random() -> Source {
    let mut seed = [0; 32];
    rand::rng().fill_bytes(&mut seed);
    Source::new(seed)
}

/// Makes objects of a ring and its parameters.
#[derive(Clone, Copy)]
pub struct Maker<'a> {
    pub parameters: Parameters,
    pub ring: &'a Ring,
}

impl Maker<'_> {
    /// Allocates work space that is enough for every operation.
    pub fn scratch(&self) -> Scratch {
        let (ring, it) = (self.ring, &self.parameters);
        let widest = self.ciphertext(it.data_bits);
        let (product, rotation) = (it.product_key(), it.rotation_key());
        let (layout, switching) = (it.ciphertext(it.data_bits), it.switching_key());
        let bytes = [
            ring.ckks_all_ops_with_atk_tmp_bytes(&widest, &widest, &product, &rotation),
            ring.glwe_keyswitch_tmp_bytes(&layout, &layout, &switching),
            ring.glwe_switching_key_encrypt_sk_tmp_bytes(&switching),
            ring.glwe_switching_key_prepare_tmp_bytes(&switching),
            ring.glwe_encrypt_pk_tmp_bytes(&layout, &layout),
            ring.glwe_public_key_generate_tmp_bytes(&layout),
            ring.glwe_public_key_prepare_tmp_bytes(&layout),
            CKKSEncodingHostOps::<_, f64>::ckks_encoding_host_tmp_bytes(ring, it.degree / 2),
        ];
        Scratch::alloc(bytes.into_iter().max().unwrap_or_default())
    }

    /// Allocates a ciphertext of k bits.
    pub fn ciphertext(&self, k: usize) -> Ciphertext {
        let mut made = self.ring.ckks_ciphertext_alloc_from_glwe_infos(&self.parameters.ciphertext(k));
        made.set_meta(self.meta());
        made
    }

    fn meta(&self) -> GLWEPlaintextMeta {
        GLWEPlaintextMeta {
            scale: Scale::Log(self.parameters.scale_bits),
            slots: SlotsKind::Complex,
            log_sparsity: 0,
        }
    }

    /// Encodes slots, with `room` bits above the scale.
    pub fn encode(&self, slots: &[f64], room: usize, scratch: &mut Scratch) -> Result<Plaintext, Failure> {
        let it = &self.parameters;
        let bits = (it.scale_bits + room).min(it.data_bits);
        let mut plain = self.ring.ckks_plaintext_alloc(it.degree.into(), it.base2k.into(), bits.into());
        plain.set_meta_checked(self.meta())?;
        let zeros = vec![0.0; slots.len()];
        self.ring.ckks_encode_slots_host_into(&mut plain, slots, &zeros, &mut scratch.borrow())?;
        Ok(plain)
    }

    pub fn decode(&self, plain: &Plaintext, scratch: &mut Scratch) -> Result<Vec<f64>, Failure> {
        let (mut real, mut imaginary) =
            (vec![0.0; self.parameters.degree / 2], vec![0.0; self.parameters.degree / 2]);
        self.ring.ckks_decode_slots_host_into(plain, &mut real, &mut imaginary, &mut scratch.borrow())?;
        Ok(real)
    }

    /// Draws a secret key with uniform ternary coefficients.
    pub fn secret(&self) -> Secrets {
        let layout = self.parameters.ciphertext(self.parameters.data_bits);
        let mut raw = self.ring.glwe_secret_alloc_from_infos(&layout);
        self.ring.glwe_secret_fill_ternary_prob(&mut raw, 2.0 / 3.0, &mut random());
        let mut prepared = self.ring.glwe_secret_prepared_alloc_from_infos(&layout);
        self.ring.glwe_secret_prepare(&mut prepared, &raw);
        Secrets { raw, prepared }
    }

    pub fn public(&self, secret: &Secrets, scratch: &mut Scratch) -> PublicKey {
        let layout = self.parameters.ciphertext(self.parameters.data_bits);
        let mut key = self.ring.glwe_public_key_alloc_from_infos(&layout);
        let (mut errors, mut masks) = (random(), random());
        self.ring.glwe_public_key_generate(
            &mut key,
            &secret.prepared,
            &mut errors,
            &mut masks,
            &mut scratch.borrow(),
        );
        key
    }

    pub fn prepared_public(&self, key: &PublicKey, scratch: &mut Scratch) -> PreparedPublicKey {
        let mut prepared = self.ring.glwe_public_key_prepared_alloc_from_infos(key);
        self.ring.glwe_public_key_prepare(&mut prepared, key, &mut scratch.borrow());
        prepared
    }

    pub fn product_key(&self, secret: &Secrets, scratch: &mut Scratch) -> ProductKey {
        let mut key = self.ring.glwe_tensor_key_alloc_from_infos(&self.parameters.product_key());
        let (mut errors, mut masks) = (random(), random());
        self.ring.glwe_tensor_key_encrypt_sk(
            &mut key,
            &secret.raw,
            &mut errors,
            &mut masks,
            &mut scratch.borrow(),
        );
        key
    }

    pub fn prepared_product_key(&self, key: &ProductKey, scratch: &mut Scratch) -> PreparedProductKey {
        let mut prepared = self.ring.glwe_tensor_key_prepared_alloc_from_infos(key);
        self.ring.glwe_tensor_key_prepare(&mut prepared, key, &mut scratch.borrow());
        prepared
    }

    /// Makes and prepares the key that switches from one secret key to another.
    pub fn switching_key(&self, from: &Secrets, to: &Secrets, scratch: &mut Scratch) -> PreparedSwitchingKey {
        let mut key = self.ring.glwe_switching_key_alloc_from_infos(&self.parameters.switching_key());
        let (mut errors, mut masks) = (random(), random());
        let ring = self.ring;
        ring.glwe_switching_key_encrypt_sk(
            &mut key,
            &from.raw,
            &to.raw,
            &mut errors,
            &mut masks,
            &mut scratch.borrow(),
        );
        let mut prepared = ring.glwe_switching_key_prepared_alloc_from_infos(&key);
        ring.glwe_switching_key_prepare(&mut prepared, &key, &mut scratch.borrow());
        prepared
    }

    pub fn rotation_key(&self, element: i64, secret: &Secrets, scratch: &mut Scratch) -> RotationKey {
        let mut key = self.ring.glwe_automorphism_key_alloc_from_infos(&self.parameters.rotation_key());
        let (mut errors, mut masks) = (random(), random());
        self.ring.glwe_automorphism_key_encrypt_sk(
            &mut key,
            element,
            &secret.raw,
            &mut errors,
            &mut masks,
            &mut scratch.borrow(),
        );
        key
    }

    pub fn prepared_rotation_key(&self, key: &RotationKey, scratch: &mut Scratch) -> PreparedRotationKey {
        let mut prepared = self.ring.glwe_automorphism_key_prepared_alloc_from_infos(key);
        self.ring.glwe_automorphism_key_prepare(&mut prepared, key, &mut scratch.borrow());
        prepared
    }

    /// Makes and prepares the keys of Galois elements.
    pub fn rotation_keys(
        &self,
        elements: &[i64],
        secret: &Secrets,
        scratch: &mut Scratch,
    ) -> HashMap<i64, PreparedRotationKey> {
        let mut one = |element: &i64| {
            let key = self.rotation_key(*element, secret, scratch);
            (*element, self.prepared_rotation_key(&key, scratch))
        };
        elements.iter().map(&mut one).collect()
    }

    /// Encrypts under the public key: an encryption of zero, to which the plaintext is added, as the library's scheme
    /// does under a secret key.
    pub fn encrypt_public(
        &self,
        plain: &Plaintext,
        public: &PreparedPublicKey,
        scratch: &mut Scratch,
    ) -> Result<Ciphertext, Failure> {
        let mut made = self.ciphertext(self.parameters.data_bits);
        let (mut ephemeral, mut errors) = (random(), random());
        self.ring.glwe_encrypt_zero_pk(&mut made, public, &mut ephemeral, &mut errors, &mut scratch.borrow());
        made.set_meta(plain.meta());
        self.ring.ckks_add_pt_vec_assign(&mut made, plain, &mut scratch.borrow())?;
        self.ring.glwe_normalize_assign(&mut made, &mut scratch.borrow());
        Ok(made)
    }

    pub fn encrypt_secret(
        &self,
        plain: &Plaintext,
        secret: &Secrets,
        scratch: &mut Scratch,
    ) -> Result<Ciphertext, Failure> {
        let mut made = self.ciphertext(self.parameters.data_bits);
        let (mut errors, mut masks) = (random(), random());
        let scratch = &mut scratch.borrow();
        self.ring.ckks_encrypt_sk(&mut made, plain, &secret.prepared, &mut errors, &mut masks, scratch)?;
        Ok(made)
    }

    pub fn decrypt(
        &self,
        ciphertext: &Ciphertext,
        secret: &Secrets,
        scratch: &mut Scratch,
    ) -> Result<Plaintext, Failure> {
        let (n, base2k) = (self.parameters.degree.into(), self.parameters.base2k.into());
        let bits = ciphertext.k().as_usize().min(self.parameters.scale_bits + DECODED);
        let mut plain = self.ring.ckks_plaintext_alloc(n, base2k, bits.into());
        plain.set_meta_checked(ciphertext.meta())?;
        self.ring.ckks_decrypt(&mut plain, ciphertext, &secret.prepared, &mut scratch.borrow())?;
        Ok(plain)
    }

    pub fn decrypt_decode(
        &self,
        ciphertext: &Ciphertext,
        secret: &Secrets,
        scratch: &mut Scratch,
    ) -> Result<Vec<f64>, Failure> {
        self.decode(&self.decrypt(ciphertext, secret, scratch)?, scratch)
    }
}
