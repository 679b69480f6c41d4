//! Accepts a group: all of its windows, or none.

use std::borrow::Cow;
use std::collections::HashMap;

use sotto_api::uploads::Receipt;
use sotto_wire::{Envelope, MaskName, WindowGroup, WireError, message_digest};

use super::{keep, known, named, receipt, registered_key};
use crate::cloud::Cloud;
use crate::problem::Problem;
use crate::store::{EarlierUpload, Upload};

/// Checks the windows of a group and stores each in a file of its own, with the group's signature.
///
/// The receipts are in the order of the windows. A refusal names the refused window, and nothing is stored.
pub(super) fn ingest(
    cloud: &Cloud,
    idempotency_key: &str,
    group: &WindowGroup,
) -> Result<Vec<Receipt>, Problem> {
    named(idempotency_key, &group.upload_key())?;
    let windows = group.windows();
    let first = windows.first().ok_or_else(Problem::internal)?;
    let device = known(
        cloud,
        &first.header().device,
        |key| group.verify(key),
        |device| registered_key(device, first),
    )?;
    // Each member has its own idempotency key, so that the window is recognised if it is sent alone.
    let names: Vec<String> = windows.iter().map(|window| window.header().upload_key()).collect();
    let uploads = windows
        .iter()
        .zip(&names)
        .map(|(envelope, idempotency_key)| {
            let bytes = envelope.write();
            let digest = message_digest(&bytes)?;
            // The digest of head and body only, which does not depend on the grouping.
            let receipt_digest = envelope.window_digest().ok_or(WireError::Magic)?;
            let bytes = Cow::Owned(bytes);
            Ok(Upload { envelope, idempotency_key, bytes, digest, receipt_digest })
        })
        .collect::<Result<Vec<_>, WireError>>()?;
    let refused = |(index, problem): (usize, Problem)| {
        let header = windows[index].header();
        let (stream, sequence) = (&header.stream, header.sequence);
        let place =
            format!("window {} of {} of the group, number {sequence} of {stream}", index + 1, windows.len());
        let detail = format!("{place}: {}", problem.detail);
        Problem::new(problem.status, problem.reason, detail).of_known()
    };
    let mut masks: HashMap<MaskName, &Envelope> = HashMap::with_capacity(windows.len());
    for (index, window) in windows.iter().enumerate() {
        if let Some(other) = window.mask().and_then(|mask| masks.insert(mask, window)) {
            receipt(
                cloud,
                EarlierUpload::of_mask(other.signed_header(), window.signed_header()),
                &uploads[index],
            )
            .map_err(|problem| refused((index, problem)))?;
        }
    }
    keep(cloud, &uploads, &device.verifying_key).map_err(refused)
}
