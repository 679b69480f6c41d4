//! The end of a run: its report, and the work that it left undone.

use anyhow::{Context, Result, bail};
use sotto_api::reason::TICK_TAKEN;

use super::Device;
use crate::fruitless::{self, NothingTaken, fruitless};
use crate::journal::WhatWasRead;
use crate::lost::LostSummary;
use crate::nouns::counted;
use crate::output::{say, tell};
use crate::send::Sender;
use crate::summary::Summary;
use crate::windows::End;

impl Device {
    /// Waits until the spool is empty, after a stop for at most 3 s; then writes the report, the clear log and the
    /// summary.
    ///
    /// # Errors
    /// With `--once` or at the end of a source: a message was refused or still waits, or a file could not be read.
    /// [`ReadingsLost`](crate::lost::ReadingsLost) if readings are lost, [`NothingTaken`] if the spool never had a window and
    /// every row was left out.
    pub fn finish(self, sender: Sender) -> Result<()> {
        self.sending.spool.close();
        let sent = sender.finish();
        let waiting = self.sending.spool.waiting();
        let summary = self.summary(waiting)?;
        if let Some(path) = &self.arguments.report {
            let channels = self.windows.channels().to_vec();
            let started_at = self.source.started_at;
            let read = WhatWasRead { started_at, channels, summary: summary.clone() };
            let report = self.sending.journal.report(read, waiting);
            report.write(path).with_context(|| format!("{} cannot be written", path.display()))?;
        }
        if let Some(log) = &self.clear_log {
            log.write().context("the clear log cannot be written")?;
        }
        tell(summary.line());
        if self.arguments.json {
            say(serde_json::to_string(&summary)?).context("standard output cannot be written")?;
        }
        if self.arguments.read.reads_files()? {
            fruitless::empty(&self.windows).into_iter().for_each(tell);
        }
        sent?;
        if let Some(undone) = self.undone()? {
            bail!("{undone}");
        }
        summary.lost.check()?;
        match self.left(waiting)? {
            Some(left) => bail!("{left}"),
            None => Ok(()),
        }
    }

    /// Returns the counts of this run.
    fn summary(&self, waiting: usize) -> Result<Summary> {
        let (taken, clock) = (self.windows.taken(), self.sending.cuts.clock());
        let until = |stream: &str| self.sending.spool.sent_until(stream);
        let summary =
            Summary::new(&self.sending.device, self.source.name, taken, &self.streams, clock, until);
        let lost = LostSummary::of(&self.windows.lost(), &self.windows.files());
        let tick_taken = self.sending.spool.refused_for(TICK_TAKEN)? as u64;
        let (refused, sent_again) =
            (self.sending.journal.refusals(), self.sending.journal.windows_sent_again());
        Ok(Summary { waiting, refused, lost, tick_taken, sent_again, ..summary })
    }

    /// Returns true if the run ended by itself. A stopped run may leave messages in the spool.
    fn has_ended(&self) -> bool {
        self.arguments.once || self.windows.end() == Some(End::Source)
    }

    /// Returns the first thing that a run left undone which ended by itself.
    fn undone(&self) -> Result<Option<String>> {
        if !self.has_ended() {
            return Ok(None);
        }
        if let Some(refused) = self.refused()? {
            return Ok(Some(refused));
        }
        let waiting = self.sending.spool.waiting();
        let unregistered = || {
            let (reason, waiting) =
                (self.sending.journal.why_unregistered()?, counted(waiting as u64, "message"));
            Some(format!("{reason}; {waiting} in the spool: the next run sends what is there"))
        };
        Ok(self.without_window().or_else(unregistered))
    }

    /// Returns what a run that ended by itself did not read, or not send.
    ///
    /// # Errors
    /// [`NothingTaken`] if the spool never had a window, and every row was left out or counts as sent by the cloud's word.
    fn left(&self, waiting: usize) -> Result<Option<String>> {
        if !self.has_ended() {
            return Ok(None);
        }
        let read = &self.arguments.read;
        let fruitless = if read.reads_files()? { fruitless(&self.windows, &read.conditions) } else { None };
        if read.reads_files()? && !self.sending.spool.has_had_windows() {
            let claimed = || Some(self.claimed_as_sent()?).filter(|_| self.windows.rows() > 0);
            if let Some(why) = fruitless.clone().or_else(claimed) {
                return Err(NothingTaken(why).into());
            }
        }
        let waits = (waiting > 0).then(|| {
            let waiting = counted(waiting as u64, "message");
            format!("{waiting} still in the spool: the next run sends what is there")
        });
        Ok(fruitless.or(waits))
    }

    /// Says that rows count as sent by a time that the cloud has named, and where to look. `None` if the windows that count
    /// have the device's own signatures: then the same rows were read before.
    fn claimed_as_sent(&self) -> Option<String> {
        let (clock, spool) = (self.sending.cuts.clock(), &self.sending.spool);
        let stream = |name: &str| {
            let before = spool.sent(name).before?;
            Some(format!("of stream {name} all before {}", clock.rfc3339(before)))
        };
        let streams: Vec<String> = self.streams.iter().filter_map(|one| stream(&one.name)).collect();
        (!streams.is_empty()).then(|| {
            format!(
                "this spool has sent no window, and the cloud says that every row was sent or that its owner has deleted the windows: {}. \
                 If so, all is well. Else the readings are in no cloud: ask the owner for `sotto status`",
                streams.join(", ")
            )
        })
    }

    /// Says that messages of this run or an earlier one were refused.
    fn refused(&self) -> Result<Option<String>> {
        let (refused, earlier) = match self.sending.journal.refusals() {
            0 => (self.sending.spool.refused()? as u64, " of earlier runs"),
            refused => (refused, ""),
        };
        let folder = self.sending.spool.refused_folder();
        let refused = (refused > 0).then(|| {
            format!(
                "the cloud refused {}{earlier}: see {} for the reasons; `sotto-agent requeue` sends what is there again",
                counted(refused, "message"),
                folder.display()
            )
        });
        let taken = match self.sending.spool.refused_for(TICK_TAKEN)? {
            0 => String::new(),
            taken => format!(
                "; {} among them with ticks that other windows have: run the agent on the same source again, which sends what the \
                 cloud lacks, then `sotto-agent requeue`",
                counted(taken as u64, "message")
            ),
        };
        Ok(refused.map(|refused| refused + &taken))
    }

    /// Says that with `--once` a stream has had no window.
    fn without_window(&self) -> Option<String> {
        let without = self.windows.without_window().filter(|_| self.arguments.once)?;
        let because = match self.windows.end() {
            Some(End::Source) => "the source ended",
            _ => "it was stopped",
        };
        let stream = &self.streams.get(without)?.name;
        Some(format!("{because} before stream {stream} had a reading: read more, or ask for fewer ticks"))
    }
}
