//! The ciphertext of an envelope, parsed once.

use alloc::borrow::Cow;
use alloc::string::ToString;
use alloc::vec::Vec;

use sotto_rlwe::{Compact, Kept, KeyId, ParameterId, Params, Scheme, Shape};

use crate::arrived::Arrived;
use crate::ciphertext::{AnyCiphertext, CiphertextHeader};
use crate::error::WireError;
use crate::frame::{self, FRAME_OVERHEAD, frame_digest, frame_kind};
use crate::hash::{Digest, digest};
use crate::kind::Kind;
use crate::mask::MaskName;
use crate::slots::{SlotsWindow, mask_seed, read_compact_checked};
use crate::stream::{StreamHeader, WindowValues};
use crate::window::WindowHead;

/// The ciphertext of an [`Envelope`](crate::Envelope), checked once. Only residues are left to be checked, because that
/// takes the parameters.
///
/// ```
/// use sotto_rlwe::{Kept, KeyId, ParameterId};
/// use sotto_wire::{Body, Kind, MaskName, SlotsWindow, mask_seed};
///
/// let (parameters, key) = (ParameterId([1; 32]), KeyId([2; 16]));
/// let mask = MaskName { salt: [3; 12], sequence: 7 };
/// let (kept, seed) = (Kept::Folded(4), mask_seed(key, "boiler", &mask));
/// let window = SlotsWindow { parameters, key, kept, mask, seed, body: vec![0xa5; 40] };
/// let frame = window.write();
/// let body = Body::read(frame.clone(), 1 << 20)?;
/// assert_eq!((body.kind(), body.mask()), (Kind::SlotsWindow, Some(mask)));
/// assert_eq!(body.into_frame(), frame);
/// # Ok::<(), sotto_wire::WireError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    parsed: Parsed,
    covered: Covered,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Parsed {
    /// A ciphertext of which all coefficients are sent, or those at some places: its header and its frame.
    Frame {
        header: CiphertextHeader,
        frame: Vec<u8>,
    },
    Slots(SlotsWindow),
    Sums(SumsBody),
}

/// The parts of a window of sums.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SumsBody {
    /// The stream's id, from which its keys are derived.
    stream: ParameterId,
    key: KeyId,
    mask: MaskName,
    /// A body and a tag for each part.
    parts: Vec<u8>,
    tags: Vec<u8>,
}

/// The digest that a device's signature covers.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Covered {
    /// The digest that ends the frame: version 1.
    Frame(Digest),
    /// The digest of the coefficients, which are sent without a frame: version 2.
    Coefficients(Digest),
}

impl Body {
    /// Reads a ciphertext's frame of at most `limit` bytes: a ciphertext, a compact one, or a window of slots.
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not such a frame; [`WireError::Places`] if they are that of a window of places.
    pub fn read<'f>(frame: impl Into<Cow<'f, [u8]>>, limit: u64) -> Result<Self, WireError> {
        let frame = frame.into();
        let parsed = match frame_kind(&frame)? {
            Kind::SlotsWindow => Parsed::Slots(SlotsWindow::read(&frame)?),
            _ => {
                let (header, covered) = (CiphertextHeader::read(&frame, limit)?, frame_digest(&frame)?);
                let parsed = Parsed::Frame { header, frame: frame.into_owned() };
                return Ok(Self { parsed, covered: Covered::Frame(covered) });
            }
        };
        Ok(Self { parsed, covered: Covered::Frame(frame_digest(&frame)?) })
    }

    /// Joins a window's coefficients with what its head and its stream tell of its ciphertext.
    ///
    /// # Errors
    /// [`WireError`] if the number of coefficients does not match; [`WireError::Places`] for a stream of places.
    pub(crate) fn of_window(
        head: &WindowHead,
        stream: &StreamHeader,
        coefficients: &[u8],
    ) -> Result<Self, WireError> {
        let (mask, body) = (head.mask, coefficients.to_vec());
        let covered = Covered::Coefficients(digest(coefficients));
        let parsed = match stream.values() {
            WindowValues::Places => return Err(WireError::Places),
            WindowValues::Sums(_) => {
                let tags = stream.check_parts(head.description.sent_ticks(), coefficients)?;
                let (stream, key) = (stream.parameters(), stream.key());
                Parsed::Sums(SumsBody { stream, key, mask, parts: body, tags })
            }
            WindowValues::Slots(slots) | WindowValues::Steps(slots) => {
                let (parameters, key) = (stream.parameters(), stream.key());
                let (kept, seed) = (Kept::Folded(*slots as usize), mask_seed(key, stream.stream(), &mask));
                Parsed::Slots(SlotsWindow { parameters, key, kept, mask, seed, body })
            }
        };
        Ok(Self { parsed, covered })
    }

    /// Returns true if both are the same ciphertext, with or without a frame.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.parsed == other.parsed
    }

    /// Returns the kind of the ciphertext's frame.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match &self.parsed {
            Parsed::Frame { header, .. } if header.compact => Kind::CompactSlots,
            Parsed::Frame { .. } => Kind::Ciphertext,
            Parsed::Slots(_) => Kind::SlotsWindow,
            Parsed::Sums(_) => Kind::KeptSumsWindow,
        }
    }

    /// Returns the ciphertext's parameters.
    #[must_use]
    pub fn parameters(&self) -> ParameterId {
        match &self.parsed {
            Parsed::Frame { header, .. } => header.parameters,
            Parsed::Slots(window) => window.parameters,
            Parsed::Sums(window) => window.stream,
        }
    }

    /// Returns the key that decrypts the ciphertext.
    #[must_use]
    pub fn key(&self) -> KeyId {
        match &self.parsed {
            Parsed::Frame { header, .. } => header.key,
            Parsed::Slots(window) => window.key,
            Parsed::Sums(window) => window.key,
        }
    }

    /// Returns the name of a window's mask; None for other ciphertexts.
    #[must_use]
    pub fn mask(&self) -> Option<MaskName> {
        match &self.parsed {
            Parsed::Frame { .. } => None,
            Parsed::Slots(window) => Some(window.mask),
            Parsed::Sums(window) => Some(window.mask),
        }
    }

    /// Returns true if this is the body of a window of sums: its parameters are the id of its stream.
    #[must_use]
    pub fn is_of_sums(&self) -> bool {
        matches!(self.parsed, Parsed::Sums(_))
    }

    /// Returns the tags of a window of sums, 8 bytes for each part; empty for ciphertexts.
    pub(crate) fn tags(&self) -> Vec<u8> {
        match &self.parsed {
            Parsed::Sums(window) => window.tags.clone(),
            _ => Vec::new(),
        }
    }

    /// Returns the coefficients of a window, packed, or the parts of a window of sums; None for other ciphertexts.
    #[must_use]
    pub fn coefficients(&self) -> Option<&[u8]> {
        match &self.parsed {
            Parsed::Frame { .. } => None,
            Parsed::Slots(window) => Some(&window.body),
            Parsed::Sums(window) => Some(&window.parts),
        }
    }

    /// Returns the digest that the device's signature covers: in version 1 that of the frame, in version 2 that of the
    /// coefficients.
    #[must_use]
    pub fn digest(&self) -> &Digest {
        match &self.covered {
            Covered::Frame(digest) | Covered::Coefficients(digest) => digest,
        }
    }

    /// Returns the ciphertext's frame. In version 2 the frame was not sent: this makes it and its digest. Windows of sums
    /// have none: returns their parts.
    #[must_use]
    pub fn frame(&self) -> Cow<'_, [u8]> {
        match &self.parsed {
            Parsed::Frame { frame, .. } => Cow::Borrowed(frame),
            Parsed::Slots(window) => {
                self.framed(window.payload_bytes(), |out| window.write_payload(out)).into()
            }
            Parsed::Sums(window) => Cow::Borrowed(&window.parts),
        }
    }

    /// Like [`Body::frame`], without a copy.
    #[must_use]
    pub fn into_frame(self) -> Vec<u8> {
        match self.parsed {
            Parsed::Frame { frame, .. } => frame,
            Parsed::Sums(window) => window.parts,
            Parsed::Slots(_) => self.frame().into_owned(),
        }
    }

    /// Returns the length in bytes of the ciphertext's frame.
    #[must_use]
    pub fn frame_bytes(&self) -> usize {
        match &self.parsed {
            Parsed::Frame { frame, .. } => frame.len(),
            Parsed::Slots(window) => FRAME_OVERHEAD + window.payload_bytes(),
            Parsed::Sums(window) => window.parts.len(),
        }
    }

    fn framed(&self, payload_bytes: usize, payload: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        match &self.covered {
            Covered::Frame(digest) => frame::write_known(self.kind(), payload_bytes, payload, digest),
            Covered::Coefficients(_) => frame::write(self.kind(), payload_bytes, payload),
        }
    }

    /// Returns the shape that a ciphertext of kind 2 claims, without its residues; None for other kinds.
    ///
    /// # Errors
    /// [`WireError`] if the ciphertext is not of these parameters.
    pub fn claimed_shape<S: Scheme>(&self, params: &Params<S>) -> Result<Option<Shape<S>>, WireError> {
        match &self.parsed {
            Parsed::Frame { header, .. } if !header.compact => header.shape(params).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns a ciphertext of kind 2, like [`AnyCiphertext::read`].
    ///
    /// # Errors
    /// [`WireError`] if it is of another kind or of other parameters, or a residue is not below its prime.
    pub fn ciphertext<S: Scheme>(&self, params: &Params<S>) -> Result<Arrived<AnyCiphertext<S>>, WireError> {
        match &self.parsed {
            Parsed::Frame { header, frame } if !header.compact => AnyCiphertext::read_checked(frame, params),
            _ => Err(WireError::Kind { expected: Kind::Ciphertext, found: self.kind().to_string() }),
        }
    }

    /// Returns a compact ciphertext of slots, or that of a window of slots, like
    /// [`read_compact`](crate::read_compact) and [`SlotsWindow::compact`]; None for other kinds.
    ///
    /// # Errors
    /// [`WireError`] if it is of other parameters, or a residue is not below its prime.
    pub fn compact_slots<S: Scheme>(
        &self,
        params: &Params<S>,
    ) -> Result<Option<Arrived<Compact<S>>>, WireError> {
        match &self.parsed {
            Parsed::Frame { header, frame } if header.compact => {
                read_compact_checked(frame, params).map(Some)
            }
            Parsed::Slots(window) => window.compact(params).map(Arrived::new).map(Some),
            Parsed::Frame { .. } | Parsed::Sums(_) => Ok(None),
        }
    }
}
