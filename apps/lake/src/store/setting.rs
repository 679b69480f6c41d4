//! Parameters of ciphertexts, with the evaluation keys that the store has for them.

use sotto_rlwe::KeyId;

use crate::LakeError;

/// Everything that an evaluation takes from the catalogue: a row of a ciphertext has it, so workers need no catalogue.
///
/// Bytes: `length of the frame 4 ‖ frame of the parameters ‖ of each set of keys its key 16, its file 16, and 1 with transfer
/// keys 1`, lowest byte first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// The frame of the parameters.
    pub(crate) parameters: Vec<u8>,
    pub(crate) keys: Vec<KeySet>,
}

/// Evaluation keys of a secret key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeySet {
    /// The key of the ciphertexts that they make.
    pub(crate) key: KeyId,
    /// The name of their file.
    pub(crate) file: [u8; 16],
    /// True if keys are among them that lead from other secret keys.
    pub(crate) transfers: bool,
}

const SET: usize = 16 + 16 + 1;

impl Setting {
    pub(crate) fn write(&self) -> Vec<u8> {
        let length = u32::try_from(self.parameters.len()).unwrap_or(u32::MAX);
        let mut out = length.to_le_bytes().to_vec();
        out.extend_from_slice(&self.parameters);
        for set in &self.keys {
            out.extend_from_slice(&set.key.0);
            out.extend_from_slice(&set.file);
            out.push(u8::from(set.transfers));
        }
        out
    }

    /// Reads a setting of a plan.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, LakeError> {
        let torn = || LakeError::Plan("the parameters of a ciphertext are damaged".to_owned());
        let (length, rest) = bytes.split_first_chunk().ok_or_else(torn)?;
        let (parameters, rest) =
            rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(torn)?;
        let (sets, []) = rest.as_chunks::<SET>() else { return Err(torn()) };
        let set = |bytes: &[u8; SET]| {
            let (key, rest) = bytes.split_first_chunk()?;
            let (file, rest) = rest.split_first_chunk()?;
            Some(KeySet { key: KeyId(*key), file: *file, transfers: rest == [1] })
        };
        let keys = sets.iter().map(set).collect::<Option<_>>().ok_or_else(torn)?;
        Ok(Self { parameters: parameters.to_vec(), keys })
    }

    /// Returns the file with the evaluation keys of a secret key; None if the store has none.
    pub(crate) fn file_of(&self, key: KeyId) -> Option<[u8; 16]> {
        self.keys.iter().find(|set| set.key == key).map(|set| set.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_again_and_torn_ones_refused() {
        let set = |byte: u8, transfers| KeySet { key: KeyId([byte; 16]), file: [byte + 1; 16], transfers };
        let setting = Setting { parameters: vec![7; 40], keys: vec![set(1, true), set(4, false)] };
        let bytes = setting.write();
        assert_eq!(Setting::read(&bytes).unwrap(), setting);
        assert_eq!(setting.file_of(KeyId([4; 16])), Some([5; 16]));
        assert_eq!(setting.file_of(KeyId([9; 16])), None);
        let is_whole = |length: &usize| Setting::read(&bytes[..*length]).is_ok();
        let whole: Vec<usize> = (0..bytes.len()).filter(is_whole).collect();
        assert_eq!(whole, [44, 44 + SET], "fewer sets, and nothing between");
    }
}
