//! The column that functions take, row by row.

use std::any::type_name;
use std::collections::HashSet;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, BinaryViewArray, Int64Array, StringViewArray, StructArray};
use sotto_rlwe::KeyId;
use sotto_wire::Digest;

use super::columns::{ciphertext, ciphertext_fields};
use crate::LakeError;

/// A ciphertext of the store, by its row: everything but its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) device: Arc<[u8]>,
    pub(crate) stream: Arc<[u8]>,
    pub(crate) number: u64,
    pub(crate) id: [u8; 16],
    pub(crate) digest: Digest,
    pub(crate) key: KeyId,
    /// The bytes of a [`Setting`](crate::store::Setting).
    pub(crate) setting: Arc<[u8]>,
    /// The frame of its stream's header; empty for an envelope that names none.
    pub(crate) header: Arc<[u8]>,
}

impl Stored {
    /// Returns the error about this ciphertext.
    pub(crate) fn refused(&self, reason: &impl ToString) -> LakeError {
        LakeError::Ciphertext {
            device: String::from_utf8_lossy(&self.device).into_owned(),
            stream: String::from_utf8_lossy(&self.stream).into_owned(),
            number: self.number,
            reason: reason.to_string(),
        }
    }

    /// Returns its name for errors.
    pub(crate) fn name(&self) -> String {
        let text = String::from_utf8_lossy;
        format!("number {} of stream `{}` of `{}`", self.number, text(&self.stream), text(&self.device))
    }
}

/// Bytes that many rows share, held once.
#[derive(Default)]
pub(crate) struct Shared(HashSet<Arc<[u8]>>);

impl Shared {
    /// Returns these bytes, as they are held.
    pub(crate) fn of(&mut self, bytes: &[u8]) -> Arc<[u8]> {
        if let Some(held) = self.0.get(bytes) {
            return Arc::clone(held);
        }
        let held: Arc<[u8]> = bytes.into();
        self.0.insert(Arc::clone(&held));
        held
    }
}

/// Rows of the column `ciphertext`.
pub(crate) struct Values<'v> {
    all: &'v StructArray,
    numbers: &'v Int64Array,
    bytes: [&'v BinaryViewArray; 5],
    texts: [&'v StringViewArray; 3],
}

fn typed<T: Array + 'static>(all: &StructArray, column: usize) -> Result<&T, LakeError> {
    let array = all.column(column);
    let wrong = || LakeError::Plan(format!("a column is {}, not {}", array.data_type(), type_name::<T>()));
    array.as_any().downcast_ref::<T>().ok_or_else(wrong)
}

impl<'v> Values<'v> {
    pub(crate) fn of(values: Option<&'v ArrayRef>) -> Result<Self, LakeError> {
        let all = values.and_then(|values| values.as_any().downcast_ref::<StructArray>());
        let all = all.filter(|all| all.num_columns() == ciphertext_fields().len());
        let Some(all) = all else {
            return Err(LakeError::Plan("the first argument is the column ciphertext".to_owned()));
        };
        use ciphertext::{DEVICE, DIGEST, HEADER, ID, KEY, NUMBER, REPLACED, SETTING, STREAM};
        Ok(Self {
            all,
            numbers: typed(all, NUMBER)?,
            bytes: [
                typed(all, ID)?,
                typed(all, DIGEST)?,
                typed(all, KEY)?,
                typed(all, SETTING)?,
                typed(all, HEADER)?,
            ],
            texts: [typed(all, DEVICE)?, typed(all, STREAM)?, typed(all, REPLACED)?],
        })
    }

    pub(crate) fn rows(&self) -> usize {
        self.all.len()
    }

    /// Returns a row; None if it is null. Refuses one some of whose channels do not count.
    pub(crate) fn row(&self, row: usize, shared: &mut Shared) -> Result<Option<Stored>, LakeError> {
        if self.all.is_null(row) {
            return Ok(None);
        }
        fn sized<const N: usize>(bytes: &[u8]) -> Result<[u8; N], LakeError> {
            let wrong = || LakeError::Plan(format!("a name of {} bytes has {N}", bytes.len()));
            bytes.try_into().map_err(|_| wrong())
        }
        let [id, digest, key, setting, header] = self.bytes.map(|column| column.value(row));
        let [device, stream, replaced] = self.texts.map(|column| column.value(row));
        let stored = Stored {
            device: shared.of(device.as_bytes()),
            stream: shared.of(stream.as_bytes()),
            number: self.numbers.value(row).cast_unsigned(),
            id: sized(id)?,
            digest: sized(digest)?,
            key: KeyId(sized(key)?),
            setting: shared.of(setting),
            header: shared.of(header),
        };
        if replaced.is_empty() {
            return Ok(Some(stored));
        }
        Err(stored.refused(&format!(
            "a later window replaces the readings of {replaced}, and a ciphertext has all channels of its window: leave it out"
        )))
    }
}
