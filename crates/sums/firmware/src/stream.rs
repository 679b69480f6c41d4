//! The two streams of the board, and the encryption of their windows.

use sotto_sums::{EncryptError, Encryptor, Form, Place, TAG_BYTES};

/// Readings of a window.
pub(crate) const TICKS: u32 = 16;
/// Most parts of a window.
#[cfg(feature = "signature")]
pub(crate) const MOST_PARTS: usize = 2;
/// Most bytes of the parts of a window: 16 places of 23 bits, 16 of 35, two tags.
pub(crate) const MOST_BYTES: usize = 46 + 70 + 2 * TAG_BYTES;

/// A stream as its owner registered it.
pub(crate) struct Stream {
    /// Hashes of its facts, and of its header: made by `crates/wire/examples/firmware_device.rs`.
    pub(crate) id: [u8; 32],
    pub(crate) header_id: [u8; 32],
    pub(crate) parts: &'static [Part],
}

/// A part of a window: powers of its readings.
pub(crate) struct Part {
    is_square: bool,
    form: Form<'static>,
}

/// Readings of 12 bits, 0 to 4,094, as steps from the middle of their range.
const MIDDLE: i64 = 2047;
const READINGS: Part = Part { is_square: false, form: form(&[place(23, -MIDDLE, MIDDLE)]) };
const SQUARES: Part = Part { is_square: true, form: form(&[place(35, 0, MIDDLE * MIDDLE)]) };

/// The first stream has the readings alone, the second their squares, too.
pub(crate) static STREAMS: [Stream; 2] = [
    Stream {
        id: *include_bytes!("../provision/readings.stream"),
        header_id: *include_bytes!("../provision/readings.header"),
        parts: &[READINGS],
    },
    Stream {
        id: *include_bytes!("../provision/squares.stream"),
        header_id: *include_bytes!("../provision/squares.header"),
        parts: &[READINGS, SQUARES],
    },
];

/// Returns a place for sums of 2,048 windows.
const fn place(width: u32, least: i64, most: i64) -> Place {
    match Place::new(width, least, most) {
        Ok(place) => place,
        Err(_) => panic!("no place"),
    }
}

/// Returns the form of a part: a window counts itself and each reading.
const fn form(places: &'static [Place]) -> Form<'static> {
    match Form::new(&[], places, 1, 1, TICKS) {
        Ok(form) => form,
        Err(_) => panic!("no form"),
    }
}

impl Part {
    /// Returns the bytes of body and tag.
    pub(crate) fn bytes(&self) -> usize {
        self.form.body_bytes(TICKS) + TAG_BYTES
    }
}

impl Stream {
    /// Encrypts a window: body and tag, part after part. Returns their length.
    #[inline(never)]
    pub(crate) fn encrypt(
        &self,
        encryptor: &mut Encryptor,
        number: u64,
        readings: &[u16; TICKS as usize],
        out: &mut [u8; MOST_BYTES],
    ) -> Result<usize, EncryptError> {
        let mut window = encryptor.window(number)?;
        let mut used = 0;
        for (index, part) in (0..).zip(self.parts) {
            let power = |reading: &u16| {
                let reading = i64::from(*reading) - MIDDLE;
                Some(if part.is_square { reading * reading } else { reading })
            };
            let counts = core::iter::repeat_n(1, 1 + TICKS as usize);
            let end = used + part.bytes() - TAG_BYTES;
            let (values, body) = (readings.iter().map(power), &mut out[used..end]);
            let tag = window.encrypt(&part.form, TICKS, index, values, counts, body)?;
            used = end + TAG_BYTES;
            out[end..used].copy_from_slice(&tag.to_bytes());
        }
        Ok(used)
    }
}
