//! `sotto-agent check`: reads a source to its end, counts the readings that `run` would send, and tells how files are
//! read and which of their rows are not taken. Sends and writes nothing.

mod report;
mod watch;

use std::sync::{Arc, PoisonError};

use anyhow::{Context, Result};

use crate::arguments::CheckArguments;
use crate::bundle::{self, Bundle};
use crate::feed::{self, Feed};
use crate::lost::LostSummary;
use crate::nouns::counted;
use crate::spool::Inventory;
use crate::spool::kept::{Kept, KeptKey};
use crate::stop::Stop;
use crate::streams;
use crate::summary::{Summary, left_out_words};
use crate::windows::{Options, Windows};
use report::{Report, Times};
use watch::Watched;

/// Reads the source and returns its counts as lines for people, or as JSON.
///
/// # Errors
/// The bundle or the source cannot be used.
pub fn run(arguments: &CheckArguments, stop: &Stop) -> Result<String> {
    #[cfg(feature = "gateway")]
    if arguments.gateway.devices.is_some() || arguments.gateway.collect.is_any() {
        return crate::gateway::check(arguments, stop);
    }
    let Bundle { profile, keys, identity, .. } = Bundle::read(&arguments.bundle)?;
    let folder = arguments.spool.clone().unwrap_or_else(|| bundle::spool_of(&arguments.bundle));
    let status = Inventory::read(&folder)?;
    let sent =
        |stream: &str| status.streams.get(stream).map(|stream| stream.sent.clone()).unwrap_or_default();
    let sent_until = |stream: &str| sent(stream).until;
    let (cuts, streams) = (streams::cuts(&profile)?, streams::open(&profile, &keys)?);
    let Feed { source, name, own_period, first_times, .. } =
        feed::open(&arguments.read, &profile, false, stop)?;
    let future = arguments.read.allow_future;
    let phase = arguments.read.phase;
    let key = KeptKey::derive(&keys, &identity);
    let kept = Some(Arc::new(Kept::open_unchanged(&folder, &profile.device, key, i64::MAX)?));
    let options = Options { own_period, future, phase, first_times, kept, ..Options::default() };
    let (source, seen) = Watched::of(source);
    let mut windows = Windows::new(source, &streams, &cuts, sent, stop.clone(), &options);
    while windows.next_closed()?.is_some() {}
    let taken = windows.taken();
    let summary = Summary::new(&profile.device, name, taken, &streams, cuts.clock(), sent_until);
    let lost = LostSummary::of(&windows.lost(), &windows.files());
    let summary = Summary { lost, ..summary };
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    let times = Times::of(&seen, cuts.clock());
    if arguments.json {
        let report = Report { summary: &summary, files: &seen.files, times, numbers: &seen.channels };
        return serde_json::to_string_pretty(&report).context("the counts cannot be written as JSON");
    }
    let about_files = report::lines(&seen, &times, arguments.read.zone.as_ref().unwrap_or(cuts.clock()));
    Ok([lines(&summary), about_files].concat().join("\n"))
}

fn lines(summary: &Summary) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, stream) in &summary.streams {
        let mut line = format!("{name}: {}", counted(stream.windows, "window"));
        if let (Some(first), Some(last)) = (&stream.first, &stream.last) {
            line += &format!(", from {first} to {last}");
        }
        if stream.phase_ms > 0 {
            line += &format!("; ticks {} later (`--phase`)", report::duration(stream.phase_ms));
        }
        lines.push(line);
        for (channel, totals) in &stream.channels {
            let left_out = left_out_words(&totals.left_out)
                .map_or_else(String::new, |words| format!("; left out: {words}"));
            lines.push(format!("  {channel}: {}{left_out}", counted(totals.readings, "reading")));
        }
    }
    if let Some(words) = summary.lost.words() {
        lines.push(words);
        let more = summary.lost.rows().into_iter().chain(summary.lost.ways_out());
        lines.extend(more.map(|line| format!("  {line}")));
    }
    lines
}
