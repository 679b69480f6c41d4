//! The ticks of a stream as its windows in the cloud tell: for a new spool, and for one whose ticks are in doubt.

use sotto_api::reason::{SEQUENCE_TAKEN, TICK_TAKEN};

use super::contents::contents;
use super::durable;
use super::folder::{REFUSED, entries};
use super::refusals::reason;
use super::sent::{Held, Sent};
use super::window_ticks::WindowTicks;
use super::{Contents, Cuts, Entry, Spool, SpoolError};

/// The file that says that the ticks are in doubt.
const DOUBT: &str = "in-doubt";

/// A stream's state, learnt from the cloud.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learnt {
    /// The sequence number of the next window.
    pub next: u64,
    /// The number behind the last window with the device's signature; 0 without one.
    pub signed_next: u64,
    /// The ticks that are sent.
    pub sent: Sent,
    /// The same ticks by window; empty if the cloud's version tells a time only.
    pub ticks: WindowTicks,
    /// True if the ticks are those of windows. False if the cloud's version tells a time only.
    pub of_windows: bool,
}

impl Spool {
    /// Replaces the ticks of a stream that count as sent, in memory only: by those learnt, and those of the messages in the
    /// spool. Messages put aside for another window that has one of their ticks do not count: the cloud does not take them.
    /// Neither the next sequence number nor the end of the last window decreases.
    ///
    /// # Errors
    /// [`SpoolError::NoneLeft`] if the stream has no sequence number left, [`SpoolError::Io`] if messages cannot be listed.
    pub fn learn(&self, stream: &str, learnt: Learnt, cuts: &Cuts) -> Result<(), SpoolError> {
        let Learnt { next, mut sent, mut ticks, .. } = learnt;
        let cloud = sent.clone();
        let mut add = |entry: &Entry, contents: &Contents| {
            sent.until = sent.until.max(contents.until);
            if let Some(time) = contents.start.zip(contents.until) {
                sent.windows.add(entry.sequence, time, contents.sent.keys().cloned().collect());
            }
            ticks.add(entry.sequence, contents);
        };
        for entry in entries(&self.folder)?.into_iter().filter(|entry| entry.stream == stream) {
            contents(&self.folder, &entry, cuts).iter().for_each(|contents| add(&entry, contents));
        }
        let (refused, mut without_number) = (self.folder.join(REFUSED), Vec::new());
        for entry in entries(&refused)?.into_iter().filter(|entry| entry.stream == stream) {
            let Some(contents) = contents(&refused, &entry, cuts) else { continue };
            match reason(&refused, &entry).as_deref() {
                Some(TICK_TAKEN) => {}
                // Its number is that of another window.
                Some(SEQUENCE_TAKEN) => without_number.push(contents),
                _ => add(&entry, &contents),
            }
        }
        sent.channels = ticks.counted();
        let free = without_number.into_iter().filter(|contents| cloud.held(&contents.sent) == Held::None);
        free.for_each(|contents| sent.add(&contents));
        let mut state = self.lock();
        if let Some(last) = next.checked_sub(1) {
            state.sequences.used(stream, last);
        }
        state.sequences.learn(stream, sent);
        state.sequences.next(stream).map(drop)
    }

    /// Notes durably that the cloud has other windows than this spool knows: the next start asks for them.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if the note cannot be written.
    pub fn doubt(&self) -> Result<(), SpoolError> {
        let path = self.folder.join(DOUBT);
        if path.exists() {
            return Ok(());
        }
        durable::write(&path, b"", durable::Audience::Owner).map_err(SpoolError::io(&path))
    }

    /// Returns true if the cloud has other windows than this spool knows.
    #[must_use]
    pub fn is_in_doubt(&self) -> bool {
        self.folder.join(DOUBT).exists()
    }

    /// Notes that the spool knows the cloud's windows.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if the note cannot be removed.
    pub fn clear_doubt(&self) -> Result<(), SpoolError> {
        let path = self.folder.join(DOUBT);
        durable::remove_if_there(&path).map_err(SpoolError::io(&path))
    }
}
