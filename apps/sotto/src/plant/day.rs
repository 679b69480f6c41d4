//! Bytes that devices send in a day, before and after a question is declared.

use sotto_owner::Plant;

use crate::output::{grouped, say};

/// The interval of pieces for which bytes are shown where none is given: 5 minutes, in milliseconds.
const USUAL_FRESH: u32 = 300_000;

/// The device that sends most in a day.
#[derive(Debug, Default)]
pub(crate) struct Most {
    device: String,
    /// Bytes of windows.
    bytes: u64,
    /// Bytes with pieces of open windows.
    fresh: u64,
    others: usize,
}

impl Most {
    /// Returns the device that sends most for what is declared; `None` if there is no channel, or if no parameters are
    /// suitable.
    pub(crate) fn of(plant: &Plant) -> Option<Self> {
        let devices = plant.streams_of_devices().ok()?;
        let others = devices.len().saturating_sub(1);
        let sent = devices.into_iter().map(|(device, streams)| Self {
            device,
            bytes: streams.iter().map(sotto_owner::Chosen::bytes_a_day).sum(),
            fresh: streams.iter().map(|stream| stream.fresh_bytes_a_day(USUAL_FRESH)).sum(),
            others,
        });
        sent.max_by_key(|sent| sent.bytes)
    }

    /// Prints what the device sends now, beside what it sent before.
    pub(crate) fn say(&self, before: Option<&Self>) {
        let Self { device, bytes, fresh, others } = self;
        let before = before.map_or_else(String::new, |before| format!(", {} before", grouped(before.bytes)));
        let others = if *others > 0 { ", the others less" } else { "" };
        say(format!(
            "  {device} sends {} bytes a day{before}; {} with `--fresh 5m`{others}",
            grouped(*bytes),
            grouped(*fresh)
        ));
    }
}
