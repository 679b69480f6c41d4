//! The windows, times and refusals of a run, for the report at its end.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use sotto_pack::Channel;

use crate::spool::Entry;
use crate::spool::durable::{self, Audience};
use crate::summary::Summary;
use crate::upload::Refusal;

/// Maximum number of windows and of refusals listed; further ones are only counted.
const MOST_LISTED: usize = 10_000;

/// Duration of each step of a window.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// From readings to slots.
    pub pack: Duration,
    /// From slots to a plaintext.
    pub encode: Duration,
    /// From a plaintext to a ciphertext, or from values to bodies and tags.
    pub encrypt: Duration,
    /// Signing, framing and the durable write.
    pub spool: Duration,
}

/// The windows, times and refusals so far. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Journal(Arc<Mutex<Record>>);

#[derive(Clone, Debug, Default, Serialize)]
struct Record {
    streams: Vec<WindowRecord>,
    /// In microseconds, one number per window.
    phases: Phases,
    refused: u64,
    refusals: Vec<RefusalRecord>,
    /// Messages that were not sent because the owner has deleted the windows of their time.
    forgotten: u64,
    /// Windows of earlier messages that a restored cloud lacked, and has again.
    sent_again: u64,
    /// The reason why the cloud does not know the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    unregistered: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
struct WindowRecord {
    stream: String,
    sequence: u64,
    readings: u64,
    upload_bytes: u64,
    envelope_id: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize)]
struct Phases {
    pack: Vec<f64>,
    encode: Vec<f64>,
    encrypt: Vec<f64>,
    spool: Vec<f64>,
    upload: Vec<f64>,
}

#[derive(Clone, Debug, Serialize)]
struct RefusalRecord {
    stream: String,
    sequence: u64,
    status: u16,
    problem: Value,
}

/// The report: the journal, and facts about the source.
#[derive(Debug, Serialize)]
pub struct Report {
    pid: u32,
    source: &'static str,
    /// Milliseconds since 1970.
    started_at: i64,
    channels: Vec<Channel>,
    missing: u64,
    out_of_range: u64,
    summary: Summary,
    #[serde(flatten)]
    record: Record,
    /// Messages still in the spool.
    waiting: usize,
}

/// Facts about the source, for the report.
#[derive(Clone, Debug)]
pub struct WhatWasRead {
    /// When reading began: milliseconds since 1970.
    pub started_at: i64,
    /// The source's channels, in its order.
    pub channels: Vec<Channel>,
    /// The counts by stream.
    pub summary: Summary,
}

impl Journal {
    /// Records a window that is about to enter the spool.
    pub fn window(&self, stream: &str, sequence: u64, readings: u64, upload_bytes: u64) {
        let mut record = self.lock();
        if record.streams.len() < MOST_LISTED {
            let stream = stream.to_owned();
            record.streams.push(WindowRecord { stream, sequence, readings, upload_bytes, envelope_id: None });
        }
    }

    /// Records the durations of a window's steps.
    pub fn times(&self, times: &Times) {
        let phases = &mut self.lock().phases;
        if phases.pack.len() < MOST_LISTED {
            phases.pack.push(microseconds(times.pack));
            phases.encode.push(microseconds(times.encode));
            phases.encrypt.push(microseconds(times.encrypt));
            phases.spool.push(microseconds(times.spool));
        }
    }

    /// Records that the cloud has a message: `bytes` were sent within `upload`. A message of an earlier run is not
    /// listed.
    pub fn delivered(&self, entry: &Entry, id: String, bytes: u64, upload: Duration) {
        let mut record = self.lock();
        let mut windows = record.streams.iter_mut().rev();
        let window = windows.find(|w| w.stream == entry.stream && w.sequence == entry.sequence);
        if let Some(window) = window {
            (window.envelope_id, window.upload_bytes) = (Some(id), bytes);
            record.phases.upload.push(microseconds(upload));
        }
    }

    /// Records that the cloud has refused a message for good.
    pub fn refused(&self, entry: &Entry, refusal: &Refusal) {
        let mut record = self.lock();
        record.refused += 1;
        if record.refusals.len() < MOST_LISTED {
            record.refusals.push(RefusalRecord {
                stream: entry.stream.clone(),
                sequence: entry.sequence,
                status: refusal.status,
                problem: refusal.problem.clone(),
            });
        }
    }

    /// Records that a message was not sent: the owner has deleted the windows of its time.
    pub fn forgotten(&self) {
        self.lock().forgotten += 1;
    }

    /// Records windows that a restored cloud lacked, and has again.
    pub fn sent_again(&self, windows: u64) {
        self.lock().sent_again += windows;
    }

    /// Returns the number of windows that a restored cloud lacked, and has again.
    #[must_use]
    pub fn windows_sent_again(&self) -> u64 {
        self.lock().sent_again
    }

    /// Records that sending has ended because the cloud does not know the device, with the reason.
    pub fn unregistered(&self, reason: String) {
        self.lock().unregistered = Some(reason);
    }

    /// Returns the reason why the cloud does not know the device, if sending has ended for that.
    #[must_use]
    pub fn why_unregistered(&self) -> Option<String> {
        self.lock().unregistered.clone()
    }

    /// Returns the number of messages that the cloud has refused.
    #[must_use]
    pub fn refusals(&self) -> u64 {
        self.lock().refused
    }

    /// Returns the report of the run.
    #[must_use]
    pub fn report(&self, read: WhatWasRead, waiting: usize) -> Report {
        let WhatWasRead { started_at, channels, summary } = read;
        Report {
            pid: std::process::id(),
            source: summary.source,
            started_at,
            channels,
            missing: summary.missing(),
            out_of_range: summary.out_of_range(),
            summary,
            record: self.lock().clone(),
            waiting,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Record> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Report {
    /// Writes the report atomically, as JSON.
    ///
    /// # Errors
    /// The I/O error.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        durable::write(path, &serde_json::to_vec_pretty(self)?, Audience::Default)
    }
}

fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
