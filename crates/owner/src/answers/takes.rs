//! The calls of a question in which readings of a device count.

use crate::declared::settings::Settings;
use crate::question::{Asked, AskedCall};

/// Returns, for each call, whether readings of a device count in it.
pub(super) fn taken(settings: &Settings, asked: &Asked<'_>, device: &str) -> Vec<bool> {
    asked.calls().map(|call| takes(settings, asked, call, device)).collect()
}

/// Returns true if readings of a device count in a call.
pub(super) fn takes(settings: &Settings, asked: &Asked<'_>, call: &AskedCall<'_>, device: &str) -> bool {
    settings.takes(asked.question, (call.call, call.of), settings.member(device))
}
