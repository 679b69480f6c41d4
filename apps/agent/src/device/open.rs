//! Opens everything that a run needs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use sotto_pack::Span;

use super::{Device, SourceFacts};
use crate::arguments::RunArguments;
use crate::bundle::Bundle;
use crate::clear_log::ClearLog;
use crate::feed::{self, Feed};
use crate::position::{PATIENCE, Resumed};
use crate::send::Sending;
#[cfg(feature = "gateway")]
use crate::source::Source;
use crate::source::{awaited, first, now};
use crate::spool::{Cuts, refuse_places};
use crate::stop::Stop;
use crate::streams::{self, Stream};
use crate::windows::{Options, Windows};

impl Device {
    /// Reads every file and argument of a run and opens spool and source. Refuses wrong ones before it reads any row.
    ///
    /// # Errors
    /// Names the argument or file that cannot be used, and the reason.
    pub fn open(arguments: RunArguments, stop: &Stop) -> Result<Self> {
        let bundle = Bundle::read(&arguments.device.bundle)?;
        let (profile, folder) = (&bundle.profile, arguments.device.spool_folder());
        refuse_places(&folder, &profile.device, &profile.clock()?, false)?;
        let streams = streams::open(&bundle.profile, &bundle.keys)?;
        let sending = Sending::open(&arguments.device, &bundle, arguments.late)?;
        let feed = feed::open(&arguments.read, &bundle.profile, arguments.correct, stop)?;
        let source = match arguments.ticks {
            Some(rows) => first(feed.source, rows),
            None => feed.source,
        };
        let paced = source.paced();
        if arguments.correct && paced {
            bail!("--correct reads a source twice: give files, without --follow");
        }
        let mut periods = profile.streams.iter().map(|stream| stream.period_ms.unwrap_or(profile.period_ms));
        if arguments.correct && periods.any(|period| period.milliseconds().is_none()) {
            bail!(
                "--correct makes windows of periods of whole milliseconds: readings at other frequencies cannot be corrected"
            );
        }
        if let Some(fresh) = arguments.fresh {
            check_fresh(fresh, paced, &streams, &sending.cuts)?;
        }
        let source = awaited(source, stop);
        resume(&sending, &streams, paced.then_some(PATIENCE), stop)?;
        Ok(Self::fed(arguments, streams, sending, Feed { source, ..feed }, false, stop))
    }

    /// Opens a device whose rows are pushed to it: it never blocks on them, and many share a terminal. A new spool waits for
    /// the cloud's word about its streams at most for `patience`.
    ///
    /// # Errors
    /// The spool or the bundle cannot be used, or a stop was requested.
    #[cfg(feature = "gateway")]
    pub(crate) fn open_pushed(
        arguments: RunArguments,
        bundle: &Bundle,
        sending: Sending,
        source: Box<dyn Source>,
        patience: Duration,
        stop: &Stop,
    ) -> Result<Self> {
        let streams = streams::open(&bundle.profile, &bundle.keys)?;
        if let Some(fresh) = arguments.fresh {
            check_fresh(fresh, true, &streams, &sending.cuts)?;
        }
        resume(&sending, &streams, Some(patience), stop)?;
        let feed = feed::pushed(source, &bundle.profile)?;
        Ok(Self::fed(arguments, streams, sending, feed, true, stop))
    }

    fn fed(
        arguments: RunArguments,
        streams: Vec<Stream>,
        sending: Sending,
        feed: Feed,
        quiet: bool,
        stop: &Stop,
    ) -> Self {
        let Feed { source, name, generated, own_period, first_times } = feed;
        let clear_log = arguments.clear_log.as_deref().map(ClearLog::new);
        let (once, future) = (arguments.once, arguments.read.allow_future);
        let keep_clear = clear_log.is_some();
        let phase = arguments.read.phase;
        let (correct, allow_missing) = (arguments.correct, arguments.allow_missing);
        let kept = Some(Arc::clone(&sending.kept));
        let options = Options {
            once,
            keep_clear,
            own_period,
            future,
            phase,
            first_times,
            kept,
            correct,
            allow_missing,
            fresh: arguments.fresh,
            quiet,
            ..Options::default()
        };
        let sent = |stream: &str| sending.spool.sent(stream);
        let windows = Windows::new(source, &streams, &sending.cuts, sent, stop.clone(), &options);
        let source = SourceFacts { name, generated, started_at: now() };
        let (stop, pieces) = (stop.clone(), BTreeMap::new());
        Self { streams, windows, source, clear_log, sending, arguments, stop, pieces }
    }
}

const HOUR: i64 = 3_600_000;
/// Largest number of pieces of one window: a window can replace twice as many, as some are made again.
const MOST_PIECES: i64 = 2048;

/// Refuses pieces of a source that ends, those that are longer than a window, and more of a window than it can replace.
fn check_fresh(fresh: u32, paced: bool, streams: &[Stream], cuts: &Cuts) -> Result<()> {
    if !paced {
        bail!(
            "--fresh sends pieces while rows arrive: a file is sent at once, leave it out, or read a pipe or with --follow"
        );
    }
    for Stream { name, .. } in streams {
        let Some(cut) = cuts.of(name) else { continue };
        let (window, words) = match cut.span {
            Span::Hour => (HOUR, "an hour"),
            Span::Day => (24 * HOUR, "a day"),
            Span::Week => (7 * 24 * HOUR, "a week"),
            Span::Month => (31 * 24 * HOUR, "a month"),
        };
        let least = window / MOST_PIECES / 1000 + 1;
        if !(1000 * least..window).contains(&i64::from(fresh)) {
            bail!(
                "--fresh: windows of stream {name} take {words}: give {least}s or more, and less than {words}"
            );
        }
    }
    Ok(())
}

/// Sets a new spool to the windows that its streams have in the cloud, and one that is in doubt about them.
///
/// With `patience` the numbers begin at the present time if the cloud does not tell them before; else it waits.
fn resume(sending: &Sending, streams: &[Stream], patience: Option<Duration>, stop: &Stop) -> Result<()> {
    let names: Vec<String> = streams.iter().map(|stream| stream.name.clone()).collect();
    if !sending.spool.is_new() {
        if sending.spool.is_in_doubt() && sending.positions().relearn(&sending.spool, &names)? {
            // Another copy of the spool may have sent windows whose readings are not kept here.
            lose_before(sending, streams)?;
            sending.spool.clear_doubt()?;
        }
        return Ok(());
    }
    match sending.positions().resume(&sending.spool, &names, patience, stop)? {
        Resumed::Done => lose_before(sending, streams),
        Resumed::Stopped => bail!("stopped before the cloud told the device's position: nothing was read"),
        Resumed::Unregistered(reason) => bail!("{reason}; nothing was read"),
    }
}

/// Notes that readings were sent which are not kept: up to the end of the last window of each stream.
fn lose_before(sending: &Sending, streams: &[Stream]) -> Result<()> {
    for stream in streams.iter().filter(|stream| stream.is_joined()) {
        let Some(until) = sending.spool.sent(&stream.name).until else { continue };
        sending.kept.lose_before(&stream.name, until, stream.layout.channels().len())?;
    }
    Ok(())
}
