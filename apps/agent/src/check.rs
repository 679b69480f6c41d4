//! `sotto-agent check`: reads a source to its end and counts the readings that `run` would send. Sends and writes
//! nothing.

use anyhow::{Context, Result};

use crate::arguments::CheckArguments;
use crate::encrypt::DeviceKey;
use crate::spool::Status;
use crate::stop::Stop;
use crate::summary::{Summary, counted, left_out_words};
use crate::windows::{Options, Windows};
use crate::{feed, files, streams};

/// Reads the source and returns its counts as lines for people, or as JSON.
///
/// # Errors
/// The bundle or the source cannot be used, or the streams of the bundle have no channels.
pub fn run(arguments: &CheckArguments, stop: &Stop) -> Result<String> {
    let (bundle, profile) = files::bundle(&arguments.bundle)?;
    anyhow::ensure!(
        streams::follow_clock(&profile),
        "{}: its streams have no channels, so there is nothing to check before `run` reads the source",
        arguments.bundle.display()
    );
    let folder = arguments.spool.clone().unwrap_or_else(|| files::spool_of(&arguments.bundle));
    let status = Status::read(&folder)?;
    let sent_until = |stream: &str| status.streams.get(stream).and_then(|stream| stream.sent_until);
    let cuts = streams::cuts(&profile)?;
    let feed = feed::open(&arguments.read, &profile, stop)?;
    let key = DeviceKey::Secret(bundle.secret);
    let streams = streams::open(&profile, feed.opened.source.channels(), &key)?;
    let future = arguments.read.allow_future;
    let options = Options { own_period: feed.own_period, future, ..Options::default() };
    let name = feed.opened.name;
    let mut windows = Windows::new(feed.opened.source, &streams, &cuts, sent_until, stop.clone(), &options);
    while windows.next_closed()?.is_some() {}
    let taken = windows.taken();
    let summary = Summary::new(&profile.device, name, taken, &streams, cuts.clock(), sent_until);
    if arguments.json {
        return serde_json::to_string_pretty(&summary).context("the counts cannot be written as JSON");
    }
    Ok(lines(&summary))
}

fn lines(summary: &Summary) -> String {
    let mut lines = Vec::new();
    for (name, stream) in &summary.streams {
        let mut line = format!("{name}: {}", counted(stream.windows, "window"));
        if let (Some(first), Some(last)) = (&stream.first, &stream.last) {
            line += &format!(", from {first} to {last}");
        }
        lines.push(line);
        for (channel, totals) in &stream.channels {
            let left_out = left_out_words(&totals.left_out)
                .map_or_else(String::new, |words| format!("; left out: {words}"));
            lines.push(format!("  {channel}: {}{left_out}", counted(totals.readings, "reading")));
        }
    }
    lines.join("\n")
}
