//! Checks a group: all of its windows are stored, or none.

use std::collections::HashMap;

use sotto_wire::{Envelope, MaskName, WindowGroup, WireError, message_digest};

use super::{Checked, known, named, receipt, registered_key};
use crate::cloud::Cloud;
use crate::problem::Problem;
use crate::store::{EarlierUpload, Upload};

/// Checks the windows of a group, each of which is kept with the group's signature.
///
/// The receipts are in the order of the windows. A refusal names the refused window.
pub(super) fn check(cloud: &Cloud, idempotency_key: &str, group: WindowGroup) -> Result<Checked, Problem> {
    named(idempotency_key, &group.upload_key())?;
    let first = group.windows().first().ok_or_else(Problem::internal)?;
    let device = known(
        cloud,
        &first.header().device,
        |key| group.verify(key),
        |device| registered_key(device, first),
    )?;
    let upload = |envelope: Envelope| {
        // Each member has its own idempotency key, so that the window is recognised if it is sent alone.
        let (idempotency_key, bytes) = (envelope.header().upload_key(), envelope.write());
        let digest = message_digest(&bytes)?;
        // The digest of head and body only, which does not depend on the grouping.
        let receipt_digest = envelope.window_digest().ok_or(WireError::Magic)?;
        Ok(Upload { envelope, idempotency_key, bytes, digest, receipt_digest })
    };
    let uploads = group.into_windows().into_iter().map(upload).collect::<Result<Vec<_>, WireError>>()?;
    let mut masks: HashMap<MaskName, &Envelope> = HashMap::with_capacity(uploads.len());
    let repeated = uploads.iter().enumerate().find_map(|(index, upload)| {
        let window = &upload.envelope;
        let other = window.mask().and_then(|mask| masks.insert(mask, window))?;
        Some((index, EarlierUpload::of_mask(other.signed_header(), window.signed_header())))
    });
    let repeated = repeated.map(|(index, refused)| (index, receipt(cloud, refused, &uploads[index]).err()));
    let checked = Checked::of_group(uploads, device.verifying_key);
    match repeated {
        Some((index, Some(problem))) => Err(checked.refusal(index, &problem)),
        _ => checked.compared(cloud),
    }
}
