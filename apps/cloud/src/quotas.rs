//! Quotas of a device: stored bytes, and envelopes a minute.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::http::StatusCode;

use crate::cloud::Cloud;
use crate::problem::Problem;

/// Maximum number of devices counted in memory. Beyond it, all counts are dropped and read again from the store.
const MOST_DEVICES: usize = 10_000;
const MINUTE: f64 = 60.0;

/// The current use of each device's quotas.
#[derive(Default)]
pub(crate) struct Quotas {
    devices: Mutex<HashMap<String, Used>>,
}

struct Used {
    bytes: u64,
    /// Envelopes that the device may send now. Grows with time up to the rate per minute; negative after a group larger
    /// than that.
    allowance: f64,
    at: Instant,
}

impl Quotas {
    /// Refuses envelopes that together would exceed a quota; the device keeps them and tries again. A group larger than
    /// the rate per minute is accepted if the allowance is full, and delays the next one accordingly.
    pub(crate) fn admit(
        &self,
        cloud: &Cloud,
        device: &str,
        bytes: u64,
        envelopes: usize,
    ) -> Result<(), Problem> {
        let (most_bytes, rate) = (cloud.config.device_bytes, cloud.config.device_rate);
        if most_bytes == 0 && rate == 0 {
            return Ok(());
        }
        let known = self.devices().contains_key(device);
        if !known {
            let stored = cloud.store.stored_bytes(device)?;
            let mut devices = self.devices();
            if devices.len() >= MOST_DEVICES {
                devices.clear();
            }
            let used = Used { bytes: stored, allowance: rate as f64, at: Instant::now() };
            devices.entry(device.to_owned()).or_insert(used);
        }
        let mut devices = self.devices();
        let Some(used) = devices.get_mut(device) else { return Ok(()) };
        if most_bytes > 0 && used.bytes.saturating_add(bytes) > most_bytes {
            let detail = format!(
                "device {device} has {} of its {most_bytes} bytes (`device_bytes`): the owner deletes with `sotto forget`",
                used.bytes
            );
            return Err(Problem::new(StatusCode::INSUFFICIENT_STORAGE, "device-quota", detail));
        }
        if rate > 0 {
            let earned = used.at.elapsed().as_secs_f64() / MINUTE * rate as f64;
            used.allowance = (used.allowance + earned).min(rate as f64);
            used.at = Instant::now();
            let envelopes = envelopes as f64;
            if used.allowance < envelopes.min(rate as f64) {
                let detail = format!("device {device} may send {rate} envelopes a minute (`device_rate`)");
                return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "device-rate", detail));
            }
            used.allowance -= envelopes;
        }
        Ok(())
    }

    /// Counts the bytes of a stored envelope.
    pub(crate) fn stored(&self, device: &str, bytes: u64) {
        if let Some(used) = self.devices().get_mut(device) {
            used.bytes = used.bytes.saturating_add(bytes);
        }
    }

    /// Drops a device's counts; they are read again at its next envelope.
    pub(crate) fn forget(&self, device: &str) {
        self.devices().remove(device);
    }

    fn devices(&self) -> MutexGuard<'_, HashMap<String, Used>> {
        self.devices.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
