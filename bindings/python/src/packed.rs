//! The bytes of an array that is one vector, in the form of `_frames.pack`: Python code reads all other forms.

/// The magic of `_frames.ARRAY`.
const MAGIC: &[u8] = b"sotto.array\x01";
/// Maximum number of digits of a length or size.
const DIGITS: usize = 18;

/// An array that is one vector without a resolution or a last step of the owner.
pub(crate) struct Packed<'a> {
    /// The number of values.
    pub(crate) length: usize,
    pub(crate) is_real: bool,
    /// The bytes of the vector.
    pub(crate) frame: &'a [u8],
}

impl<'a> Packed<'a> {
    /// Reads a header that Python's `json.dumps` wrote. None for another form, and for a size that is not that of the bytes.
    pub(crate) fn of(data: &'a [u8]) -> Option<Self> {
        let (size, rest) = data.strip_prefix(MAGIC)?.split_first_chunk()?;
        let (header, frame) = rest.split_at_checked(u32::from_le_bytes(*size) as usize)?;
        let (length, header) = number(header.strip_prefix(br#"{"shape": [], "length": "#)?)?;
        let header = header.strip_prefix(br#", "real": "#)?;
        let (is_real, header) = match header.strip_prefix(b"true") {
            Some(header) => (true, header),
            None => (false, header.strip_prefix(b"false")?),
        };
        let header = header.strip_prefix(br#", "grid": null, "finish": null, "frames": ["#)?;
        let (size, header) = number(header)?;
        (header == b"]}" && size == frame.len() && length > 0).then_some(Self { length, is_real, frame })
    }
}

/// Reads a whole number without leading zeros; returns it and the rest.
fn number(text: &[u8]) -> Option<(usize, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(digits);
    if digits.len() > DIGITS || (digits.len() > 1 && digits[0] == b'0') {
        return None;
    }
    Some((core::str::from_utf8(digits).ok()?.parse().ok()?, rest))
}
