//! Sends confirmed messages again that a cloud lacks since it was restored from an older backup.
//!
//! Only after the owner's order to accept the cloud's log: until then the cloud's log is not the one that the device has
//! receipts for, and the owner decides if that is right. The same bytes are sent; the cloud stores a window once.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use sotto_wire::Envelope;

use super::Sending;
use super::group::Message;
use crate::position::Ordered;
use crate::source::now;
use crate::spool::{Archive, ArchivedFile, ArchivedMessage, Entry};
use crate::stop::Stop;
use crate::upload::{Delivery, GroupAnswer, Receipt};

/// Shortest time between two questions for orders. A device asks at its start, and then only after it has sent a message.
const EVERY: Duration = Duration::from_secs(3600);

/// Shortest time between two attempts if the first one failed.
const AFTER_FAILURE: Duration = Duration::from_secs(60);

/// The time of the next question for the owner's orders.
pub(super) struct Again(Instant);

/// Outcome of an attempt to send a message again.
enum Sent {
    /// The cloud has it: this many windows that it lacked.
    Stored(u64),
    /// The cloud does not take it: the others may be taken.
    Refused(String),
    /// The cloud takes nothing now, for this reason.
    Later(String),
}

impl Again {
    pub(super) fn new() -> Self {
        Self(Instant::now())
    }

    /// Asks for the owner's orders about the streams of kept messages and follows them, if it is time. What the cloud does not
    /// take now is sent after a later message, or by the next run. No failure ends the sending of messages that wait.
    pub(super) fn send(&mut self, sending: &Sending, stop: &Stop) {
        let now = Instant::now();
        let Some(archive) = sending.spool.archive().filter(|_| sending.owner.is_some() && now >= self.0)
        else {
            return;
        };
        self.0 = now + EVERY;
        for stream in archive.streams() {
            if let Err(reason) = sending.follow(archive, &stream, stop) {
                tracing::info!(
                    stream,
                    reason,
                    "confirmed messages are not compared with the cloud's log now"
                );
                self.0 = now + AFTER_FAILURE;
                break;
            }
        }
    }
}

impl Sending {
    /// Follows the owner's orders about a stream. The error is the reason to try again later.
    fn follow(&self, archive: &Archive, stream: &str, stop: &Stop) -> Result<(), String> {
        let positions = self.positions();
        let Ordered { until, accepted } = positions.ordered(stream).map_err(|later| later.reason)?;
        if let Some(until) = until {
            archive.forget(stream, until).map_err(|error| error.to_string())?;
        }
        let Some(order) = accepted.filter(|order| !archive.has_followed(stream, order)) else {
            return Ok(());
        };
        let files = archive.files_of(stream);
        let Some(first) = files.iter().map(|file| file.first).min() else { return Ok(()) };
        let there = positions.numbers(stream, first).map_err(|why| why.reason().to_owned())?;
        let Some(there) = there else { return Ok(()) };
        let (mut again, mut refused) = (0, 0);
        for file in
            files.iter().filter(|file| !(file.first..=file.last).all(|number| there.contains(&number)))
        {
            if stop.is_asked() {
                return Err("stopped".to_owned());
            }
            match self.send_file_again(archive, file, &there) {
                Sent::Stored(windows) => {
                    again += windows;
                    if windows > 0 {
                        archive.renew(file, now());
                    }
                }
                Sent::Refused(reason) => {
                    refused += 1;
                    // Debug format escapes control characters in the cloud's text.
                    tracing::warn!(
                        stream,
                        first = file.first,
                        last = file.last,
                        ?reason,
                        "the cloud does not take a message again"
                    );
                }
                Sent::Later(reason) => return Err(reason),
            }
        }
        if again > 0 || refused > 0 {
            tracing::warn!(
                stream,
                windows = again,
                refused,
                "the owner has accepted another log of the cloud: windows that it lacked were sent again"
            );
        }
        archive.follow(stream, &order);
        Ok(())
    }

    /// Sends the message of a file again, if the cloud lacks one of its windows.
    fn send_file_again(&self, archive: &Archive, file: &ArchivedFile, there: &BTreeSet<u64>) -> Sent {
        let message = match archive.read(file) {
            Ok(message) => message,
            // Damaged, or deleted meanwhile for newer ones.
            Err(error) => return Sent::Refused(error.to_string()),
        };
        let is_lacking = |window: &&Envelope| !there.contains(&window.header().sequence);
        let lacking: Vec<&Envelope> = message.windows().iter().filter(is_lacking).collect();
        let Some(first) = lacking.first() else { return Sent::Stored(0) };
        // Damaged, or of a key that the device had before, which the cloud takes no more.
        if let Err(other) = first.verify(&self.identity.verifying_key()) {
            return Sent::Refused(other.to_string());
        }
        if let ArchivedMessage::Group(group) = &message {
            let Message { key, bytes, digests } = Message::of(group);
            match self.cloud.upload_group(&key, &bytes, &digests) {
                GroupAnswer::Stored(receipts) => {
                    return self.has_again(group.windows(), &receipts, lacking.len() as u64);
                }
                GroupAnswer::Later(later) => return Sent::Later(later.reason),
                // Members have the group's signature, also alone.
                GroupAnswer::Unknown | GroupAnswer::TooLarge | GroupAnswer::Refused(_) => {}
            }
        }
        let (mut again, mut refused) = (0, None);
        for window in lacking {
            match self.send_window_again(archive, file, window) {
                Sent::Stored(windows) => again += windows,
                Sent::Refused(reason) => refused = Some(reason),
                later @ Sent::Later(_) => return later,
            }
        }
        refused.filter(|_| again == 0).map_or(Sent::Stored(again), Sent::Refused)
    }

    /// Sends one window again, under the signature that it had.
    fn send_window_again(&self, archive: &Archive, file: &ArchivedFile, window: &Envelope) -> Sent {
        let header = window.header();
        match self.cloud.upload(&header.upload_key(), &window.write()) {
            Delivery::Stored(receipt) => self.has_again(std::slice::from_ref(window), &[receipt], 1),
            Delivery::Forgotten => match self.is_forgotten(&entry(window), window) {
                Ok(true) => match archive.forget_in(file, header.ended_at.saturating_add(1)) {
                    Ok(()) => Sent::Stored(0),
                    Err(error) => Sent::Refused(error.to_string()),
                },
                Ok(false) => Sent::Refused("deleted, without an order of the owner".to_owned()),
                Err(later) => Sent::Later(later.reason),
            },
            Delivery::Refused(refusal) => Sent::Refused(refusal.problem.to_string()),
            Delivery::Later(later) => Sent::Later(later.reason),
        }
    }

    /// Notes that the cloud has windows again.
    fn has_again(&self, windows: &[Envelope], receipts: &[Receipt], lacking: u64) -> Sent {
        for (window, receipt) in windows.iter().zip(receipts) {
            match self.check(&entry(window), receipt) {
                Ok(signer) => self.took(&entry(window), receipt, signer),
                Err(later) => return Sent::Later(later.reason),
            }
        }
        self.journal.sent_again(lacking);
        Sent::Stored(lacking)
    }
}

/// Returns the name of a window.
fn entry(window: &Envelope) -> Entry {
    let header = window.header();
    Entry { order: 0, stream: header.stream.clone(), sequence: header.sequence, bytes: 0 }
}
