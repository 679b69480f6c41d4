//! Asks the cloud where the streams of a device stand, and which ticks it has, after the device has lost its spool.

mod heads;
mod order;

use std::time::{Duration, Instant};

use sotto_keys::SigningIdentity;
use sotto_pack::WindowDescription;
use sotto_wire::{LARGEST_ENVELOPE, PositionRequest, SignedHeader};

pub use heads::Learning;
pub use order::{Deletion, Ordered};

use crate::backoff::Backoff;
use crate::source::now;
use crate::spool::{Cuts, Learnt, Spool, SpoolError};
use crate::stop::Stop;
use crate::upload::{Cloud, Later, Lookup, Position, PositionQuery};

/// Longest wait for an unreachable cloud before sensors are read: later readings would be lost.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// Attempts for a device that the cloud does not know; with backoff they take a few seconds.
const ATTEMPTS: u32 = 5;
/// Window numbers per second since 1970. Numbers that begin at the present time stay below 2^53 until the year 2242.
const EPOCH: u64 = 1 << 20;

impl NoPosition {
    /// Returns the reason, for people.
    #[must_use]
    pub fn reason(&self) -> &str {
        let (Self::Later(reason) | Self::Unregistered(reason) | Self::NotOurs(reason)) = self;
        reason
    }
}

/// Outcome of setting a new spool to the positions of its streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resumed {
    /// All streams are set.
    Done,
    /// A stop was requested while waiting.
    Stopped,
    /// The cloud does not know the device, for this reason.
    Unregistered(String),
}

/// Asks the cloud for the positions and the windows of a device's streams.
pub struct Positions<'p> {
    /// The device's name.
    pub device: &'p str,
    /// The device's key: it signs the questions, and has signed the windows.
    pub identity: &'p SigningIdentity,
    /// The cloud that is asked.
    pub cloud: &'p Cloud,
    /// Where the windows of each stream end.
    pub cuts: &'p Cuts,
    /// The owner's key, which signs orders. None for a bundle of before.
    pub owner: Option<[u8; 32]>,
}

/// A stream's position, as proved by the device's own signature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The sequence number of the next window.
    pub next: u64,
    /// The number behind the last window that the cloud shows with the device's signature, or that the owner's order names; 0
    /// without one. With a bundle without the owner's key `next` may be larger: deleted windows had numbers, too.
    pub signed_next: u64,
    /// The end of the last window in milliseconds since 1970. `None` before the first window.
    pub until: Option<i64>,
    /// The owner has deleted the windows that ended before this time: milliseconds since 1970.
    pub forgotten: Option<i64>,
}

/// Reason why there is no position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPosition {
    /// The cloud cannot be reached, or does not answer the question.
    Later(String),
    /// The cloud does not know the device: its owner has to register it.
    Unregistered(String),
    /// The answer is not signed by this device.
    NotOurs(String),
}

impl Positions<'_> {
    /// Sets a new spool to the numbers and the ticks of its streams' windows in the cloud.
    ///
    /// Waits for an unreachable cloud: without limit if `patience` is `None`, as files can wait. After it, sequence numbers
    /// begin at the present time, above every number used before.
    ///
    /// # Errors
    /// [`SpoolError`] if the spool cannot be written.
    pub fn resume(
        &self,
        spool: &Spool,
        streams: &[String],
        patience: Option<Duration>,
        stop: &Stop,
    ) -> Result<Resumed, SpoolError> {
        for stream in streams {
            let (begin, mut backoff, mut unregistered) = (Instant::now(), Backoff::new(), 0);
            let mut learning = Learning::default();
            let learnt = loop {
                match self.learn(stream, &mut learning) {
                    Ok(learnt) => break learnt,
                    Err(why) => {
                        let reason = why.reason();
                        // Another device of the same name signed the windows: waiting does not help.
                        let never = matches!(why, NoPosition::NotOurs(_));
                        if never || patience.is_some_and(|patience| begin.elapsed() >= patience) {
                            tracing::warn!(
                                stream,
                                reason,
                                "the spool is new and the stream's position is unknown: its sequence numbers begin at the present time"
                            );
                            let next = now().unsigned_abs() / 1000 * EPOCH;
                            break Learnt { next, ..learning.so_far() };
                        }
                        unregistered += u32::from(matches!(why, NoPosition::Unregistered(_)));
                        if unregistered == ATTEMPTS && patience.is_none() {
                            return Ok(Resumed::Unregistered(reason.to_owned()));
                        }
                        let wait = backoff.next(None);
                        tracing::warn!(stream, reason, again_in = ?wait, "the spool is new: the cloud is asked where the stream stood");
                        if stop.wait(wait) {
                            return Ok(Resumed::Stopped);
                        }
                    }
                }
            };
            self.tell(stream, &learnt);
            spool.learn(stream, learnt, self.cuts)?;
        }
        spool.begin()?;
        Ok(Resumed::Done)
    }

    fn tell(&self, stream: &str, learnt: &Learnt) {
        let until = learnt.sent.until.filter(|_| learnt.next > 0);
        let Some(until) = until.map(|until| self.cuts.clock().rfc3339(until)) else { return };
        if learnt.of_windows {
            tracing::warn!(
                stream,
                "the spool is new, and the cloud has windows of the stream up to {until}: their ticks are not sent again"
            );
        } else {
            tracing::warn!(
                stream,
                "the spool is new, and the cloud has windows of the stream: it goes on after {until}"
            );
        }
    }

    /// Asks for the windows of each stream once, and replaces the ticks that the spool counts as sent: those of the cloud's
    /// windows and of the messages in the spool are. Returns false, and changes nothing, if the cloud does not answer, or lacks
    /// windows that it gave receipts for; the next start asks again.
    ///
    /// # Errors
    /// [`SpoolError`] if the spool cannot be written.
    pub fn relearn(&self, spool: &Spool, streams: &[String]) -> Result<bool, SpoolError> {
        let mut all = Vec::with_capacity(streams.len());
        for stream in streams {
            match self.learn(stream, &mut Learning::default()) {
                Ok(learnt) => match self.fits(spool, stream, learnt)? {
                    Some(learnt) => all.push((stream, learnt)),
                    None => return Ok(false),
                },
                Err(why) => {
                    let reason = why.reason();
                    tracing::warn!(stream, reason, "the cloud does not say which ticks of the stream it has");
                    return Ok(false);
                }
            }
        }
        for (stream, learnt) in all {
            if learnt.of_windows {
                spool.learn(stream, learnt, self.cuts)?;
            } else {
                spool.resume(stream, learnt.next, None)?;
            }
        }
        spool.begin()?;
        Ok(true)
    }

    /// Compares an answer with the spool's own numbers. Returns `None`, and says so, if the cloud has fewer windows than it
    /// gave receipts for; without a number that no window of this device has.
    fn fits(&self, spool: &Spool, stream: &str, learnt: Learnt) -> Result<Option<Learnt>, SpoolError> {
        let confirmed = spool.last_confirmed(stream, learnt.sent.before.filter(|_| learnt.of_windows))?;
        if let Some(confirmed) = confirmed.filter(|confirmed| learnt.next <= *confirmed) {
            tracing::warn!(
                stream,
                next = learnt.next,
                confirmed,
                "the cloud lacks windows that it gave receipts for: it was restored from a backup, or hides them; the device goes by its own record"
            );
            return Ok(None);
        }
        let next = believed(stream, &learnt, spool.next_sequence(stream)?);
        Ok(Some(Learnt { next, ..learnt }))
    }

    /// Asks once for the position of a stream.
    ///
    /// # Errors
    /// [`NoPosition`] if the cloud does not tell it, or tells one that this device has not signed.
    pub fn ask(&self, stream: &str) -> Result<Standing, NoPosition> {
        match self.cloud.position(&self.question(stream)?, &PositionQuery::default()) {
            Lookup::Known(position) => self.check(stream, &position),
            Lookup::Unknown => {
                tracing::warn!(
                    stream,
                    "this version of the cloud does not know positions: sequence numbers begin at 0"
                );
                Ok(Standing::default())
            }
            Lookup::Later(later) => Err(later.into()),
        }
    }

    /// Returns the frame of a signed question about a stream.
    fn question(&self, stream: &str) -> Result<Vec<u8>, NoPosition> {
        let sign = |message: &[u8]| self.identity.sign(message);
        let question =
            PositionRequest::sign(self.device, stream, now(), sign).and_then(|asked| asked.write());
        question.map_err(|error| NoPosition::Later(error.to_string()))
    }

    /// Checks an answer. Believes the device's own signatures, and the owner's about windows that were deleted.
    fn check(&self, stream: &str, position: &Position) -> Result<Standing, NoPosition> {
        let Position { signed_header, latest_header, .. } = position;
        let deletion = self.deletion(stream, position)?;
        let forgotten = deletion.map(|deletion| deletion.until);
        let [next, ordered_next] =
            deletion.map_or([0; 2], |Deletion { next, signed_next, .. }| [next, signed_next]);
        let Some(frame) = signed_header else {
            return Ok(Standing { next, signed_next: ordered_next, until: forgotten, forgotten });
        };
        let header = self.own_header(stream, frame)?;
        let end = |header: &SignedHeader| {
            let window = WindowDescription::parse(&header.header().layout).ok();
            window.and_then(|window| self.cuts.end_of(stream, &window))
        };
        // The last window may be one of late readings.
        let latest = latest_header.as_ref().map(|frame| self.own_header(stream, frame)).transpose()?;
        let until = end(&header).max(latest.as_ref().and_then(end));
        let header = header.header();
        // Deleted windows may have had larger numbers.
        let signed_next = header.sequence.saturating_add(1).max(ordered_next);
        Ok(Standing {
            next: signed_next.max(next),
            signed_next,
            until: until.map(|until| until.max(forgotten.unwrap_or(until))),
            forgotten,
        })
    }

    /// Reads a header that this device has signed for a stream.
    fn own_header(&self, stream: &str, frame: &str) -> Result<SignedHeader, NoPosition> {
        let frame = hex::decode(frame).map_err(|_| not_ours("it is not hexadecimal"))?;
        let signed =
            SignedHeader::read(&frame, LARGEST_ENVELOPE).map_err(|error| not_ours(&error.to_string()))?;
        self.check_own(stream, &signed)?;
        Ok(signed)
    }

    /// Refuses a header that this device has not signed for a stream.
    fn check_own(&self, stream: &str, signed: &SignedHeader) -> Result<(), NoPosition> {
        signed
            .verify(&self.identity.verifying_key())
            .map_err(|_| not_ours("the signature of a window is another device's"))?;
        let header = signed.header();
        if header.device != self.device || header.stream != stream {
            return Err(not_ours("it is about another stream"));
        }
        Ok(())
    }
}

/// Returns the next number that a spool with windows of its own follows: one behind a window with the device's signature.
/// Says so if the cloud names a larger one.
fn believed(stream: &str, learnt: &Learnt, own: u64) -> u64 {
    let Learnt { next, signed_next, .. } = *learnt;
    if next > signed_next.max(own) {
        tracing::warn!(
            stream,
            next,
            signed_next,
            "the cloud names a number that no window of this device has: it is not followed"
        );
    }
    signed_next
}

impl From<Later> for NoPosition {
    fn from(later: Later) -> Self {
        if later.unregistered { Self::Unregistered(later.reason) } else { Self::Later(later.reason) }
    }
}

fn not_ours(reason: &str) -> NoPosition {
    NoPosition::NotOurs(format!("the cloud's answer is not this device's: {reason}"))
}

/// Returns the largest number believed without the device's signature: the first number of a count that begins
/// tomorrow.
fn largest_unsigned() -> u64 {
    (now().unsigned_abs() / 1000 + 86_400).saturating_mul(EPOCH)
}

#[cfg(test)]
mod tests;
