//! Windows of one stream of sums under one signature.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::codec::GROUP;
use super::head::SumsHead;
use super::header::SumsHeader;
use super::signed::{group_message, read_head};
use super::window::{SumsWindow, parts_bytes};
use crate::error::WireError;
use crate::hash::Digest;
use crate::membership::{self, MOST_GROUPED, Membership};
use crate::reader::Reader;
use crate::signature::SIGNATURE_BYTES;

const WRONG_COUNT: WireError = WireError::Value("a group has 2 to 64 windows");

/// Windows of one stream in ascending order of their numbers, 2 to [`MOST_GROUPED`], under one signature.
///
/// ```
/// use std::sync::Arc;
/// use sotto_keys::SigningIdentity;
/// use sotto_wire::{PadName, SumsGroup, SumsHead, SumsWindow};
/// # use sotto_rlwe::KeyId;
/// # use sotto_wire::{Digit, Placed, Quantity, SumsColumn, SumsHeader, SumsPart, SumsStream, TickPeriod};
/// # let level = SumsColumn {
/// #     name: "level".into(), unit: "cm".into(), origin: 0.0, step: 0.1, least: 0, most: 15,
/// # };
/// # let readings = Placed { quantity: Quantity::Reading(0), digit: Digit::Whole, width: 16 };
/// # let stream = SumsStream {
/// #     device: "cellar".into(),
/// #     stream: "tank".into(),
/// #     period: TickPeriod::new(60, 1)?,
/// #     ticks: 16,
/// #     columns: vec![level],
/// #     parts: vec![SumsPart { quantities: vec![readings], reasons: 0 }],
/// # };
/// # let header = Arc::new(SumsHeader::new(stream, |_| KeyId([2; 16]))?);
/// # let device = SigningIdentity::generate(&mut sotto_ring::secure_rng()?);
/// # let window = |sequence: u64| {
/// #     let pad = PadName { salt: [3; 12], number: sequence };
/// #     let head = SumsHead::whole(&header, sequence, pad, 60_000 * sequence as i64, 1);
/// #     SumsWindow::sign(&header, head, vec![0; 10], |message| device.sign(message))
/// # };
///
/// // Two windows that waited for the network.
/// let group = SumsGroup::sign(vec![window(7)?, window(8)?], |message| device.sign(message))?;
/// assert_eq!(group.upload_key(), "cellar.tank.7-8");
/// let received = SumsGroup::read(&group.write(), &header)?;
/// received.verify(&device.verifying_key())?;
/// // Each window can be kept and verified without the other.
/// let kept = SumsWindow::read(&received.windows()[1].write(), &header)?;
/// kept.signed().verify(&device.verifying_key())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumsGroup {
    /// Each window carries its path to the signed root.
    windows: Vec<SumsWindow>,
}

impl SumsGroup {
    /// Signs windows of one stream, in ascending order of their numbers. Drops their own signatures.
    ///
    /// # Errors
    /// [`WireError::Value`] if there are fewer than 2 or more than [`MOST_GROUPED`] windows, windows of several streams,
    /// or numbers that do not ascend.
    pub fn sign(
        windows: Vec<SumsWindow>,
        sign: impl FnOnce(&[u8]) -> [u8; SIGNATURE_BYTES],
    ) -> Result<Self, WireError> {
        let header = windows.first().map(|window| Arc::clone(window.signed().header())).ok_or(WRONG_COUNT)?;
        if windows.iter().any(|window| *window.signed().header() != header) {
            return Err(WireError::Value("the windows of a group are of one stream"));
        }
        let leaves = leaves(&windows)?;
        let signature = sign(&group_message(&header, leaves.len() as u8, &membership::root(&leaves)));
        Ok(Self::of(windows, &leaves, signature))
    }

    /// Reads a group of windows of this stream. Does not check the signature: see [`SumsGroup::verify`].
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a group of windows of the stream.
    pub fn read(bytes: &[u8], header: &Arc<SumsHeader>) -> Result<Self, WireError> {
        let mut reader = Reader::new(bytes);
        match reader.u8()? {
            GROUP => {}
            other => return Err(WireError::Version(other)),
        }
        let count = usize::from(reader.u8()?);
        if !(2..=MOST_GROUPED).contains(&count) {
            return Err(WRONG_COUNT);
        }
        // Grows with the windows that are read: the count alone reserves nothing.
        let mut windows: Vec<SumsWindow> = Vec::new();
        for _ in 0..count {
            let (head, head_bytes) = match windows.last() {
                None => read_head(&mut reader, header)?,
                Some(before) => {
                    let head = SumsHead::parse_next(&mut reader, header, before.signed().head())?;
                    let bytes = head.bytes(header);
                    (head, bytes)
                }
            };
            let parts = reader.take(parts_bytes(header, head.sent_ticks())?)?.to_vec();
            windows.push(SumsWindow::of(header, head, head_bytes, parts)?);
        }
        let signature = reader.array()?;
        reader.finish()?;
        let leaves = leaves(&windows)?;
        Ok(Self::of(windows, &leaves, signature))
    }

    fn of(windows: Vec<SumsWindow>, leaves: &[Digest], signature: [u8; SIGNATURE_BYTES]) -> Self {
        let windows = windows.into_iter().zip(Membership::all(leaves));
        Self { windows: windows.map(|(window, place)| window.placed(Some(place), signature)).collect() }
    }

    /// Returns the bytes to send.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let mut out = vec![GROUP, self.windows.len() as u8];
        let (mut before, mut signature): (Option<&SumsHead>, _) = (None, [0; SIGNATURE_BYTES]);
        for window in &self.windows {
            let signed = window.signed();
            match before {
                None => out.extend_from_slice(&signed.head_bytes),
                Some(before) => signed.head.write_next(&mut out, &signed.header, before),
            }
            out.extend_from_slice(window.parts());
            (before, signature) = (Some(&signed.head), signed.signature);
        }
        out.extend_from_slice(&signature);
        out
    }

    /// Returns the windows. Each carries the group's signature and its place in the group, so it can be kept and
    /// verified without the others.
    #[must_use]
    pub fn windows(&self) -> &[SumsWindow] {
        &self.windows
    }

    /// Returns the idempotency key of the upload: `device.stream.first-last`, with the numbers of the first and last
    /// window.
    #[must_use]
    pub fn upload_key(&self) -> String {
        let first = self.windows.first().map_or_else(String::new, SumsWindow::upload_key);
        format!("{first}-{}", self.windows.last().map_or(0, |window| window.signed().head().sequence))
    }

    /// Checks the signature, which covers all windows, against a device's Ed25519 verifying key.
    ///
    /// # Errors
    /// [`WireError::Signature`] if the signature is not valid under the key.
    pub fn verify(&self, verifying_key: &[u8; 32]) -> Result<(), WireError> {
        // Every path comes from the same list of leaves, so all paths lead to the signed root.
        self.windows.first().ok_or(WireError::Signature)?.signed().verify(verifying_key)
    }
}

/// Checks the number and the order of windows, and returns their leaves.
fn leaves(windows: &[SumsWindow]) -> Result<Vec<Digest>, WireError> {
    if !(2..=MOST_GROUPED).contains(&windows.len()) {
        return Err(WRONG_COUNT);
    }
    let number = |window: &SumsWindow| window.signed().head().sequence;
    if !windows.is_sorted_by(|before, after| number(before) < number(after)) {
        return Err(WireError::Value("the numbers of a group's windows ascend"));
    }
    Ok(windows.iter().map(|window| window.signed().window_digest()).collect())
}
