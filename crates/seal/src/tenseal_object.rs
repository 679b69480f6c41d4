//! Objects of TenSEAL, and the way to SEAL's files from them.

/// An object that TenSEAL's `serialize()` wrote. SEAL's objects are inside; TenSEAL saves them as files of
/// SEAL.
///
/// ```
/// use sotto_seal::{SealError, SealParameters, TensealObject};
///
/// // The first bytes of context.serialize(): field 1, of 85 bytes, is an object of SEAL.
/// let refused = SealParameters::read(&[0x0a, 85, 0x5e, 0xa1, 0x10, 4, 3]).unwrap_err();
/// assert_eq!(refused, SealError::Tenseal(TensealObject::Context));
/// assert!(refused.to_string().contains(".save("));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensealObject {
    /// Parameters and keys.
    Context,
    /// A vector or a tensor of encrypted values.
    Values,
}

impl TensealObject {
    /// Returns the object's name, and the Python that saves its parts as files of SEAL.
    pub(crate) fn way_out(self) -> &'static str {
        match self {
            Self::Context => {
                "this is a context from TenSEAL's serialize(), with SEAL's objects inside: in Python load it, \
                 context = tenseal.context_from(data), and save its parts as SEAL's files, \
                 context.seal_context().data.key_context_data().parms().save('parameters.seal'), \
                 and each key as context.secret_key().data.save('secret-key.seal'); the others are public_key(), relin_keys() \
                 and galois_keys()"
            }
            Self::Values => {
                "these are encrypted values from TenSEAL's serialize(), with SEAL's ciphertexts inside: in Python load them, \
                 vector = tenseal.ckks_vector_from(context, data), or with bfv_vector_from, ckks_tensor_from or bfv_tensor_from, \
                 and save each ciphertext as SEAL's file, vector.ciphertext()[0].save('values.seal')"
            }
        }
    }
}
