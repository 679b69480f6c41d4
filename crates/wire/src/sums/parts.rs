//! Parts of windows of sums, by the forms of their stream.

use alloc::vec::Vec;

use sotto_pack::SumsPart;
use sotto_sums::{Form, Part, TAG_BYTES};

use super::forms::part_refused;
use crate::error::WireError;
use crate::reader::Reader;
use crate::stream::StreamHeader;

impl StreamHeader {
    /// Returns the form of a part of a stream of sums.
    ///
    /// # Errors
    /// [`WireError::Value`] if the stream is not one of sums, or has no such part.
    pub fn sums_form(&self, part: usize) -> Result<Form<'_>, WireError> {
        let places = self.sums.as_ref().and_then(|sums| sums.places.get(part));
        places.ok_or(WireError::Value("the stream has no such part"))?.form(self.layout().ticks())
    }

    /// Returns false for a part whose values do not add. One that the stream does not have counts as one that adds.
    #[must_use]
    pub fn adds(&self, part: u8) -> bool {
        self.parts().get(usize::from(part)).is_none_or(SumsPart::adds)
    }

    /// Iterates over the parts whose values add.
    pub fn adding_parts(&self) -> impl Iterator<Item = u8> + '_ {
        (0..).zip(self.parts()).filter(|(_, part)| part.adds()).map(|(part, _)| part)
    }

    /// Returns the bytes of all parts of a window of this many ticks, bodies and tags.
    ///
    /// # Errors
    /// [`WireError::Value`] if a part has no form.
    pub fn parts_bytes(&self, ticks: u32) -> Result<usize, WireError> {
        let bytes = |part| Ok(self.sums_form(part)?.body_bytes(ticks) + TAG_BYTES);
        (0..self.parts().len()).map(bytes).sum()
    }

    /// Returns a part of a window of this many ticks.
    pub(crate) fn part_of<'p>(
        &'p self,
        part: usize,
        ticks: u32,
        parts: &'p [u8],
    ) -> Result<Part<'p>, WireError> {
        let form = self.sums_form(part)?;
        let mut first = 0;
        for before in 0..part {
            first += self.sums_form(before)?.body_bytes(ticks) + TAG_BYTES;
        }
        let bytes = parts.get(first..first + form.body_bytes(ticks) + TAG_BYTES).unwrap_or_default();
        Part::read(&form, ticks, bytes).map_err(part_refused)
    }

    /// Returns the tags of the parts of a window of this many ticks, 8 bytes each. Returns None for parts of another length.
    #[must_use]
    pub fn tags_of(&self, ticks: u32, parts: &[u8]) -> Option<Vec<u8>> {
        let (mut tags, mut rest) = (Vec::with_capacity(self.parts().len() * TAG_BYTES), parts);
        for part in 0..self.parts().len() {
            let body = self.sums_form(part).ok()?.body_bytes(ticks);
            let (tag, after) = rest.get(body..)?.split_at_checked(TAG_BYTES)?;
            tags.extend_from_slice(tag);
            rest = after;
        }
        rest.is_empty().then_some(tags)
    }

    /// Checks all parts of a window of this many ticks. Returns their tags.
    pub(crate) fn check_parts(&self, ticks: u32, parts: &[u8]) -> Result<Vec<u8>, WireError> {
        let mut reader = Reader::new(parts);
        reader.expect_left(self.parts_bytes(ticks)?)?;
        let mut tags = Vec::with_capacity(self.parts().len() * TAG_BYTES);
        for part in 0..self.parts().len() {
            let form = self.sums_form(part)?;
            let bytes = reader.take(form.body_bytes(ticks) + TAG_BYTES)?;
            let part = Part::read(&form, ticks, bytes).map_err(part_refused)?;
            tags.extend(part.tag().to_bytes());
        }
        Ok(tags)
    }
}
