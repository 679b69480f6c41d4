//! Quotas of a device: bytes that are stored of it, and envelopes a minute.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::http::StatusCode;

use crate::cloud::Cloud;
use crate::problem::Problem;

/// Devices that are counted in memory. When there are more, the counts are made anew from the store.
const MOST_DEVICES: usize = 10_000;
const MINUTE: f64 = 60.0;

/// The use that devices make of their quotas.
#[derive(Default)]
pub(crate) struct Quotas {
    devices: Mutex<HashMap<String, Used>>,
}

struct Used {
    bytes: u64,
    /// Envelopes that may come at once; grows with time up to the rate of a minute. Below 0 after a group of more than that.
    allowance: f64,
    at: Instant,
}

impl Quotas {
    /// Refuses envelopes that together would pass a quota. The device keeps them and tries again. More than a minute's envelopes at once
    /// are taken when the allowance is whole, and paid off before the next one.
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

    /// Counts the bytes of an envelope that was stored.
    pub(crate) fn stored(&self, device: &str, bytes: u64) {
        if let Some(used) = self.devices().get_mut(device) {
            used.bytes = used.bytes.saturating_add(bytes);
        }
    }

    /// Counts a device anew at its next envelope.
    pub(crate) fn forget(&self, device: &str) {
        self.devices().remove(device);
    }

    fn devices(&self) -> MutexGuard<'_, HashMap<String, Used>> {
        self.devices.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
