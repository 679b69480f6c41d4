//! Encryption of windows, part by part, without allocation.

use zeroize::Zeroize;

use crate::bits::BitWriter;
use crate::encrypt_error::EncryptError;
use crate::field::{Residue, Total};
use crate::form::{Form, Walk};
use crate::key::{SALT_BYTES, SECRET_BYTES, StartKeys, StreamKeys};
use crate::tag::Tag;
#[cfg(feature = "alloc")]
use crate::tag_key::TagKey;

/// Encrypts the windows of one start of a stream. Wiped when dropped.
///
/// Two windows under one pad number give away the difference of their values, and an equation by which every sum of the
/// stream can be shifted. An encryptor takes growing numbers only; the device keeps them apart beyond this: it draws a
/// salt at each start, and writes down a number before it uses it.
///
/// ```
/// use sotto_sums::{EncryptError, Encryptor, Form, Place};
///
/// // Readings of 12 bits at up to four ticks, sums of 2,048 windows. Counts: the window, and each tick's reading.
/// let columns = [Place::new(23, 0, 4095)?];
/// let form = Form::new(&[], &columns, 1, 1, 4)?;
/// let (secret, stream, salt) = ([1; 32], [2; 32], [3; 12]); // a real secret and salt are random
/// let mut encryptor = Encryptor::new(&secret, &stream, &salt, 0);
///
/// // Three ticks, of which the second has no reading.
/// let mut body = [0; 9];
/// let mut window = encryptor.window(0)?;
/// let tag = window.encrypt(&form, 3, 0, [Some(215), None, Some(198)], [1, 1, 0, 1], &mut body)?;
/// assert!(tag.to_bytes() != [0; 8]);
/// // Neither the part nor the number serves twice.
/// let again = window.encrypt(&form, 3, 0, [Some(215), None, Some(198)], [1, 1, 0, 1], &mut body);
/// assert_eq!(again, Err(EncryptError::Part));
/// assert_eq!(encryptor.window(0).map(|_| ()), Err(EncryptError::Number));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct Encryptor {
    stream: StreamKeys,
    start: StartKeys,
    /// The least number that no window had; None after the largest.
    next: Option<u64>,
}

/// A window that is being encrypted: its pad number, for one body of each part.
///
/// Example: [`Encryptor`]
pub struct Window<'e> {
    stream: &'e StreamKeys,
    start: &'e StartKeys,
    number: u64,
    /// The least part that was not encrypted; None after the largest.
    next_part: Option<u32>,
}

impl Encryptor {
    /// Derives the keys of a start. `first` is the least pad number that may be used.
    pub fn new(
        secret: &[u8; SECRET_BYTES],
        stream: &[u8; SECRET_BYTES],
        salt: &[u8; SALT_BYTES],
        first: u64,
    ) -> Self {
        let start = StartKeys::derive(secret, stream, salt);
        Self { stream: StreamKeys::derive(secret, stream), start, next: Some(first) }
    }

    /// Begins a window under a pad number. Numbers grow, and may leave gaps.
    ///
    /// # Errors
    /// [`EncryptError::Number`].
    pub fn window(&mut self, number: u64) -> Result<Window<'_>, EncryptError> {
        if self.next.is_none_or(|next| number < next) {
            return Err(EncryptError::Number);
        }
        self.next = number.checked_add(1);
        Ok(Window { stream: &self.stream, start: &self.start, number, next_part: Some(0) })
    }
}

impl Window<'_> {
    /// Encrypts a part of a window of this many ticks into `body`, and returns its tag. Values are in the order of places,
    /// None where absent; their presence is public, as counts are. A count is below 2^16, so that sums of counts are known.
    ///
    /// `values` is read twice. No branch and no address depends on a value or a key.
    ///
    /// # Errors
    /// [`EncryptError`]; then `body` is zero, and the part may be encrypted with other values.
    pub fn encrypt<V>(
        &mut self,
        form: &Form<'_>,
        ticks: u32,
        part: u32,
        values: V,
        counts: impl IntoIterator<Item = u16>,
        body: &mut [u8],
    ) -> Result<Tag, EncryptError>
    where
        V: IntoIterator<Item = Option<i64>>,
        V::IntoIter: Clone,
    {
        let values = values.into_iter();
        let tag = self.seal(form, ticks, part, &values, body).and_then(|mut tag| {
            self.draw_places(&mut tag, form, ticks, part, &values);
            self.draw_counts(&mut tag, form.counts(ticks), part, counts.into_iter())?;
            Ok(Tag(tag.residue()))
        });
        self.end(part, tag, body)
    }

    /// Adds Σ k·m. Not inlined, as those below: small cores have room for one key stream at a time.
    #[inline(never)]
    fn draw_places(
        &self,
        tag: &mut Total,
        form: &Form<'_>,
        ticks: u32,
        part: u32,
        values: &(impl Iterator<Item = Option<i64>> + Clone),
    ) {
        let mut keys = self.stream.tag.words(0, part, 2 * form.places(ticks));
        add_places(tag, form.walk(ticks), values.clone(), |place| keys.residue(place));
    }

    /// Adds Σ k′·n.
    #[inline(never)]
    fn draw_counts(
        &self,
        tag: &mut Total,
        expected: usize,
        part: u32,
        counts: impl Iterator<Item = u16>,
    ) -> Result<(), EncryptError> {
        let mut keys = self.stream.count.words(0, part, 2 * expected);
        add_counts(tag, expected, counts, |count| keys.residue(count))
    }

    /// Like [`encrypt`](Self::encrypt), for devices that keep the residues k and k′ of a part in memory: in half the time.
    ///
    /// ```
    /// use sotto_sums::{Encryptor, Form, Place, StreamKeys, TagKey};
    ///
    /// let columns = [Place::new(23, 0, 4095)?];
    /// let form = Form::new(&[], &columns, 1, 0, 4)?;
    /// let key = TagKey::new(&StreamKeys::derive(&[1; 32], &[2; 32]), &form, 0);
    /// let mut encryptor = Encryptor::new(&[1; 32], &[2; 32], &[3; 12], 0);
    /// let (mut body, mut again) = ([0; 6], [0; 6]);
    /// let tag = encryptor.window(0)?.encrypt_with(&key, &form, 2, [Some(215), None], [1], &mut body)?;
    /// let mut other = Encryptor::new(&[1; 32], &[2; 32], &[3; 12], 0);
    /// assert_eq!(other.window(0)?.encrypt(&form, 2, 0, [Some(215), None], [1], &mut again)?, tag);
    /// assert_eq!(body, again);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`EncryptError`], among them [`EncryptError::Key`] if the key has fewer places or counts than the window.
    #[cfg(feature = "alloc")]
    pub fn encrypt_with<V>(
        &mut self,
        key: &TagKey,
        form: &Form<'_>,
        ticks: u32,
        values: V,
        counts: impl IntoIterator<Item = u16>,
        body: &mut [u8],
    ) -> Result<Tag, EncryptError>
    where
        V: IntoIterator<Item = Option<i64>>,
        V::IntoIter: Clone,
    {
        let values = values.into_iter();
        let tag = self.seal(form, ticks, key.part, &values, body).and_then(|mut tag| {
            if key.places.len() < form.places(ticks) || key.counts.len() < form.counts(ticks) {
                return Err(EncryptError::Key);
            }
            add_places(&mut tag, form.walk(ticks), values, |place| key.places[place]);
            add_counts(&mut tag, form.counts(ticks), counts.into_iter(), |count| key.counts[count])?;
            Ok(Tag(tag.residue()))
        });
        self.end(key.part, tag, body)
    }

    /// Encrypts the body; returns F.
    fn seal(
        &self,
        form: &Form<'_>,
        ticks: u32,
        part: u32,
        values: &(impl Iterator<Item = Option<i64>> + Clone),
        body: &mut [u8],
    ) -> Result<Total, EncryptError> {
        if self.next_part.is_none_or(|next| part < next) {
            return Err(EncryptError::Part);
        }
        if ticks > form.ticks() {
            return Err(EncryptError::Ticks);
        }
        if body.len() != form.body_bytes(ticks) {
            return Err(EncryptError::Output);
        }
        self.fill(form, ticks, part, values, body)?;
        let mut tag = Total::default();
        tag.add(self.start.tag_pads.residue(self.number, part));
        Ok(tag)
    }

    fn end(
        &mut self,
        part: u32,
        tag: Result<Tag, EncryptError>,
        body: &mut [u8],
    ) -> Result<Tag, EncryptError> {
        match tag {
            Ok(_) => self.next_part = part.checked_add(1),
            Err(_) => body.zeroize(),
        }
        tag
    }

    /// Writes value plus pad at each place.
    #[inline(never)]
    fn fill(
        &self,
        form: &Form<'_>,
        ticks: u32,
        part: u32,
        values: &(impl Iterator<Item = Option<i64>> + Clone),
        body: &mut [u8],
    ) -> Result<(), EncryptError> {
        let mut values = values.clone();
        let mut pads = self.start.pads.words(self.number, part, form.words(ticks));
        let mut out = BitWriter::new(body);
        let mut outside = 0;
        for at in form.walk(ticks) {
            let sent = match values.next().ok_or(EncryptError::Values)? {
                Some(value) => {
                    outside |= is_outside(at.place.least(), at.place.span(), value);
                    let mut pad = u64::from(pads.word(at.word));
                    if at.place.words() == 2 {
                        pad |= u64::from(pads.word(at.word + 1)) << 32;
                    }
                    pad.wrapping_add(value as u64) & at.place.low_bits()
                }
                None => 0,
            };
            out.put(sent, at.place.width());
        }
        out.finish();
        if values.next().is_some() {
            return Err(EncryptError::Values);
        }
        if outside == 0 { Ok(()) } else { Err(EncryptError::Range) }
    }
}

/// Adds k·m for each value.
#[inline]
fn add_places(
    tag: &mut Total,
    places: Walk<'_>,
    values: impl Iterator<Item = Option<i64>>,
    mut residue: impl FnMut(usize) -> Residue,
) {
    for (index, (at, value)) in places.zip(values).enumerate() {
        match value {
            Some(value) if at.place.is_small() => tag.add_small_product(residue(index), value),
            Some(value) => tag.add_product(residue(index), Residue::from_integer(value)),
            None => {}
        }
    }
}

/// Adds k′·n for each count. Counts are public, and nearly all 0 or 1.
#[inline]
fn add_counts(
    tag: &mut Total,
    expected: usize,
    counts: impl Iterator<Item = u16>,
    mut residue: impl FnMut(usize) -> Residue,
) -> Result<(), EncryptError> {
    let mut found = 0;
    for count in counts {
        if found == expected {
            return Err(EncryptError::Values);
        }
        match count {
            0 => {}
            1 => tag.add(residue(found)),
            _ => tag.add_product(residue(found), Residue::from_public(count.into())),
        }
        found += 1;
    }
    if found == expected { Ok(()) } else { Err(EncryptError::Values) }
}

/// Returns 1 if a value is not in least..=least + span, else 0, for spans below 2^63.
pub(crate) fn is_outside(least: i64, span: u64, value: i64) -> u64 {
    let above = (value as u64).wrapping_sub(least as u64);
    (above | span.wrapping_sub(above)) >> 63
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_ends() {
        for (least, span) in [(0, 0), (0, 1), (-5, 9), (-(1 << 60) + 1, (1 << 60) - 1)] {
            let most = least + span as i64;
            for value in [least, most] {
                assert_eq!(is_outside(least, span, value), 0, "{value} from {least} to {most}");
            }
            for value in [least - 1, most + 1, i64::MIN, i64::MAX, i64::MIN + 1] {
                assert_eq!(is_outside(least, span, value), 1, "{value} from {least} to {most}");
            }
        }
    }
}
