//! Where values stand in plaintexts: one in each slot, or a single one in a plaintext, which works with any plain
//! modulus.

use sotto_decrypt::{DecryptError, Decryptor};
use sotto_harness::protocol::{Prepare, Values};
use sotto_rlwe::{Ciphertext, EncodeError, Params, Plaintext};

use crate::spoken::{Said as _, Spoken, decrypt};

/// Where values stand in plaintexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Slots,
    Scalar,
}

impl Packing {
    pub(crate) fn of(request: &Prepare) -> Self {
        if request.encoding.as_deref() == Some("scalar") { Self::Scalar } else { Self::Slots }
    }

    pub(crate) fn encode<S: Spoken>(
        self,
        params: &Params<S>,
        values: &[S::Value],
        level: usize,
    ) -> Result<Plaintext<S>, EncodeError> {
        match self {
            Self::Slots => S::encode_slots(params, values, level),
            Self::Scalar => S::encode_coefficients(params, values, level),
        }
    }

    pub(crate) fn decode<S: Spoken>(
        self,
        params: &Params<S>,
        plaintext: &Plaintext<S>,
    ) -> Result<Vec<S::Value>, EncodeError> {
        match self {
            Self::Slots => S::decode_slots(params, plaintext),
            Self::Scalar => Ok(vec![S::decode_scalar(params, plaintext)]),
        }
    }

    /// Decrypts and decodes to the protocol's values.
    pub(crate) fn values<S: Spoken>(
        self,
        decryptor: &Decryptor<'_, S>,
        ciphertext: &Ciphertext<S>,
    ) -> Result<Values, DecryptError> {
        let params = ciphertext.params();
        match self {
            Self::Slots => decrypt(decryptor, ciphertext, params.plain_modulus()),
            Self::Scalar => {
                let opened = decryptor.decrypt(ciphertext)?;
                Ok(S::Value::written(&[S::decode_scalar(params, &opened)], params.plain_modulus()))
            }
        }
    }
}
