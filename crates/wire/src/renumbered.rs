//! Signs an envelope again under another number.

use sotto_pack::{Replaces, WindowDescription};

use crate::envelope::Envelope;
use crate::error::WireError;
use crate::header::EnvelopeHeader;
use crate::reader::Reader;
use crate::signature::SIGNATURE_BYTES;
use crate::signed::{SignedHeader, SignedWindow};
use crate::window::{TakenReceipt, WindowHead};

impl Envelope {
    /// Signs the envelope again under another sequence number. A window keeps the name of its mask or pads, which
    /// carries the number of its encryption.
    ///
    /// # Errors
    /// [`WireError::Value`] if the new number is smaller than the mask's, or not above those of the windows that it
    /// replaces.
    pub fn renumbered(
        self,
        sequence: u64,
        sign: impl FnOnce(&[u8]) -> [u8; SIGNATURE_BYTES],
    ) -> Result<Self, WireError> {
        self.renamed(sequence, Some, sign)
    }

    /// Signs a window again, with the last receipt that the device took. An envelope of version 1 stays as it is.
    ///
    /// ```
    /// use sotto_keys::SigningIdentity;
    /// use sotto_wire::{Envelope, SignedHeader, TakenReceipt, WireError};
    ///
    /// /// Signs the eighth window, after the receipt for the seventh, which was the ninth to be stored.
    /// fn signed(window: Envelope, device: &SigningIdentity) -> Result<Envelope, WireError> {
    ///     let receipt = TakenReceipt { sequence: 6, position: 8 };
    ///     let window = window.after_receipt(receipt, |message| device.sign(message))?;
    ///     assert_eq!(SignedHeader::of(&window).taken_receipt(), Some(receipt));
    ///     Ok(window)
    /// }
    /// ```
    ///
    /// # Errors
    /// Those of [`Envelope::renumbered`].
    pub fn after_receipt(
        self,
        receipt: TakenReceipt,
        sign: impl FnOnce(&[u8]) -> [u8; SIGNATURE_BYTES],
    ) -> Result<Self, WireError> {
        let (signed, body) = self.into_parts();
        let window = match signed.window() {
            None => return Ok(Self::from_parts(signed, body)),
            Some(SignedWindow { stream, bytes, .. }) => {
                let head = WindowHead::parse(&mut Reader::new(bytes), stream)?;
                let head = WindowHead { receipt: Some(receipt), ..head };
                SignedWindow::of(&head, stream)?.tagged(&body)
            }
        };
        let (header, _) = signed.into_parts();
        let signed = SignedHeader::sign(header, Some(window), *body.digest(), sign);
        Ok(Self::from_parts(signed, body))
    }

    /// Like [`Envelope::renumbered`], and names the windows that it replaces by their new numbers; `None` takes one out
    /// of the list. Neither the body nor a tag binds the list.
    ///
    /// # Errors
    /// Those of [`Envelope::renumbered`].
    pub fn renamed(
        self,
        sequence: u64,
        named: impl Fn(u64) -> Option<u64>,
        sign: impl FnOnce(&[u8]) -> [u8; SIGNATURE_BYTES],
    ) -> Result<Self, WireError> {
        let (signed, body) = self.into_parts();
        let (header, window) = signed.into_parts();
        let (header, window) = match window {
            None => {
                let layout = match WindowDescription::parse(&header.layout) {
                    Ok(window) if window.replaces.is_some() => {
                        let written = renamed(window, named).to_json();
                        written.map_err(|_| WireError::Value("the description is too long"))?
                    }
                    _ => header.layout,
                };
                (EnvelopeHeader { sequence, layout, ..header }, None)
            }
            Some(SignedWindow { stream, bytes, .. }) => {
                let head = WindowHead::parse(&mut Reader::new(&bytes), &stream)?;
                let description = renamed(head.description, named);
                let head = WindowHead { sequence, description, ..head };
                (head.header(&stream)?, Some(SignedWindow::of(&head, &stream)?.tagged(&body)))
            }
        };
        let signed = SignedHeader::sign(header, window, *body.digest(), sign);
        Ok(Self::from_parts(signed, body))
    }
}

/// Returns a description with other numbers in its list.
fn renamed(description: WindowDescription, named: impl Fn(u64) -> Option<u64>) -> WindowDescription {
    let replaces = description.replaces.and_then(|Replaces { windows, channels }| {
        let mut windows: alloc::vec::Vec<u64> = windows.into_iter().filter_map(named).collect();
        windows.sort_unstable();
        windows.dedup();
        (!windows.is_empty()).then_some(Replaces { windows, channels })
    });
    WindowDescription { replaces, ..description }
}
