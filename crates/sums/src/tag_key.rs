//! The residues of tags, kept in memory.

use alloc::vec::Vec;

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::field::Residue;
use crate::form::Form;
use crate::key::{Key, StreamKeys};

/// The residues k and k′ of a part of a stream, for all its places and counts: 8 bytes each. Wiped when dropped.
///
/// ```
/// use sotto_sums::{Form, Place, StreamKeys, TagKey};
///
/// let columns = [Place::new(23, 0, 4095)?];
/// let form = Form::new(&[], &columns, 1, 1, 16)?;
/// let key = TagKey::new(&StreamKeys::derive(&[1; 32], &[2; 32]), &form, 0);
/// # let _ = key;
/// # Ok::<(), sotto_sums::FormError>(())
/// ```
pub struct TagKey {
    pub(crate) places: Vec<Residue>,
    pub(crate) counts: Vec<Residue>,
    pub(crate) part: u32,
}

impl TagKey {
    /// Draws the residues of a part.
    pub fn new(keys: &StreamKeys, form: &Form<'_>, part: u32) -> Self {
        let draw = |key: &Key, count: usize| {
            let mut words = key.words(0, part, 2 * count);
            (0..count).map(|index| words.residue(index)).collect()
        };
        let (places, counts) = (form.places(form.ticks()), form.counts(form.ticks()));
        Self { places: draw(&keys.tag, places), counts: draw(&keys.count, counts), part }
    }
}

impl Drop for TagKey {
    fn drop(&mut self) {
        self.places.zeroize();
        self.counts.zeroize();
    }
}

impl ZeroizeOnDrop for TagKey {}
