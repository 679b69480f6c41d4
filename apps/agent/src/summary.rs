//! The counts of a run, for people and for programs.

use std::collections::BTreeMap;

use serde::Serialize;
use sotto_pack::{Clock, LeftOut, Reason};

use crate::lost::LostSummary;
use crate::nouns::counted;
use crate::spool::{ChannelTotals, Totals};
use crate::streams::Stream;
use crate::windows::Taken;

/// The counts of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The device's name.
    pub device: String,
    /// The kind of source: `sensors`, `generator`, `stdin`, the format of the files such as `csv`, or `files` for several
    /// formats.
    pub source: &'static str,
    /// Number of windows of all streams.
    pub windows: u64,
    /// Number of readings in the windows.
    pub readings: u64,
    /// Readings left out, by reason.
    pub left_out: LeftOut,
    /// Readings that are lost: finite values with a valid time that end in no window.
    pub lost: LostSummary,
    /// Streams that the source feeds, by name.
    pub streams: BTreeMap<String, StreamSummary>,
    /// Messages that the cloud has not confirmed.
    pub waiting: usize,
    /// Messages of this run that the cloud has refused.
    pub refused: u64,
    /// Messages among them, and among those refused in earlier runs, with a tick that another window has.
    pub tick_taken: u64,
    /// Windows of earlier messages that a restored cloud lacked, and has again.
    pub sent_again: u64,
}

/// The counts of a stream.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StreamSummary {
    /// Number of windows.
    pub windows: u64,
    /// Number of readings in the windows.
    pub readings: u64,
    /// Readings left out, by reason.
    pub left_out: LeftOut,
    /// The time of the first reading in the plant's time zone, as RFC 3339.
    pub first: Option<String>,
    /// The time of the last reading, likewise.
    pub last: Option<String>,
    /// The milliseconds by which its ticks are later than those of the clock: the phase of its sensor.
    #[serde(skip_serializing_if = "is_zero")]
    pub phase_ms: i64,
    /// The time up to which the stream is sent: a later run takes readings from here on.
    pub sent_until: Option<String>,
    /// Channels by name.
    pub channels: BTreeMap<String, ChannelTotals>,
}

fn is_zero(milliseconds: &i64) -> bool {
    *milliseconds == 0
}

impl Summary {
    /// Creates the summary of the streams that the source fed.
    #[must_use]
    pub fn new(
        device: &str,
        source: &'static str,
        taken: Vec<Taken>,
        streams: &[Stream],
        clock: &Clock,
        sent_until: impl Fn(&str) -> Option<i64>,
    ) -> Self {
        let mut all = Totals::default();
        let mut of_streams = BTreeMap::new();
        for Taken { stream, totals, span, phase, .. } in taken {
            let Some(stream) = streams.get(stream) else { continue };
            let time = |at: i64| clock.rfc3339(at);
            let summary = StreamSummary {
                windows: totals.windows,
                readings: totals.readings(),
                left_out: totals.left_out(),
                first: span.map(|(first, _)| time(first)),
                last: span.map(|(_, last)| time(last)),
                phase_ms: phase,
                sent_until: sent_until(&stream.name).map(time),
                channels: totals.channels.clone(),
            };
            of_streams.insert(stream.name.clone(), summary);
            // Streams may have channels of the same name: add their counts.
            all.add(&totals);
        }
        Self {
            device: device.to_owned(),
            source,
            windows: all.windows,
            readings: all.readings(),
            left_out: all.left_out(),
            lost: LostSummary::default(),
            streams: of_streams,
            waiting: 0,
            refused: 0,
            tick_taken: 0,
            sent_again: 0,
        }
    }

    /// Returns the number of readings without a number.
    #[must_use]
    pub fn missing(&self) -> u64 {
        [Reason::Empty, Reason::NotANumber, Reason::Text]
            .map(|reason| self.left_out.count(reason))
            .iter()
            .sum()
    }

    /// Returns the number of readings outside their channels' ranges.
    #[must_use]
    pub fn out_of_range(&self) -> u64 {
        self.left_out.count(Reason::OutOfRange)
    }

    /// Returns one line for people.
    #[must_use]
    pub fn line(&self) -> String {
        let Self { device, windows, readings, .. } = self;
        let mut line =
            format!("{device}: {} with {}", counted(*windows, "window"), counted(*readings, "reading"));
        line +=
            &left_out_words(&self.left_out).map_or_else(String::new, |words| format!("; left out: {words}"));
        line += &self.lost.words().map_or_else(String::new, |words| format!("; {words}"));
        line += &self.nothing_new().map_or_else(String::new, |words| format!("; {words}"));
        if self.sent_again > 0 {
            line += &format!("; {} sent again that the cloud lacked", counted(self.sent_again, "window"));
        }
        if self.waiting > 0 {
            line += &format!("; {} not yet in the cloud", counted(self.waiting as u64, "message"));
        }
        if self.refused > 0 {
            line += &format!("; {} refused", counted(self.refused, "message"));
        }
        if self.tick_taken > 0 {
            line += &format!(
                "; {} put aside with ticks that other windows have",
                counted(self.tick_taken, "message")
            );
        }
        line
    }
}

impl Summary {
    /// Explains why no reading of a file is new; `None` if one is.
    fn nothing_new(&self) -> Option<String> {
        let before = self.left_out.count(Reason::AlreadySent);
        let others: u64 = self.left_out.iter().map(|(_, count)| count).sum::<u64>().saturating_sub(before);
        if self.readings > 0 || before <= others {
            return None;
        }
        let differing = self.lost.by_reason.count(Reason::AlreadySent);
        Some(if 2 * differing > before {
            format!(
                "nothing is new: this device has sent other values at {differing} of {before} times. Is this the file of another device, or another column?"
            )
        } else if differing > 0 {
            "nothing is new: the file was sent before, and some of its values have changed since".to_owned()
        } else {
            // Streams that keep no values cannot tell other ones.
            "nothing is new: these times were sent before".to_owned()
        })
    }
}

/// Returns the reasons and their counts in words; `None` if nothing was left out.
#[must_use]
pub fn left_out_words(left_out: &LeftOut) -> Option<String> {
    let words: Vec<String> =
        left_out.iter().map(|(reason, count)| format!("{count} {}", reason.words())).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_new_reading_is_explained() {
        let explained = |readings: u64, before: u64, empty: u64, differing: u64| {
            let clock = Clock::utc();
            let mut summary = Summary::new("boiler", "csv", Vec::new(), &[], &clock, |_| None);
            summary.readings = readings;
            summary.left_out.add(Reason::AlreadySent, before);
            summary.left_out.add(Reason::Empty, empty);
            summary.lost.by_reason.add(Reason::AlreadySent, differing);
            summary.line().split("; ").last().map(str::to_owned).unwrap()
        };
        assert_eq!(explained(0, 42_567, 3, 0), "nothing is new: these times were sent before");
        assert!(explained(0, 42_567, 0, 12).contains("some of its values have changed"));
        let other = explained(0, 42_567, 0, 40_000);
        assert!(other.contains("other values at 40000 of 42567 times"), "{other}");
        assert!(other.ends_with("Is this the file of another device, or another column?"), "{other}");
        for (readings, before, empty) in [(1, 42_567, 0), (0, 3, 50), (0, 0, 0)] {
            assert!(!explained(readings, before, empty, 0).contains("nothing is new"));
        }
    }
}
