//! The device: every step from a reading to a message in the spool.

mod description;
mod finish;
mod open;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use sotto_pack::{Slots, WindowDescription};
use sotto_wire::{Envelope, EnvelopeHeader, MaskName};

use crate::arguments::RunArguments;
use crate::clear_log::ClearLog;
use crate::encrypt::{Encrypted, EncryptedSums, Encryption, Unencrypted};
use crate::journal::Times;
use crate::send::{Sender, Sending};
use crate::source::now;
use crate::spool::kept::KeptWindow;
use crate::spool::{ChannelTotals, Contents, Totals};
use crate::stop::Stop;
use crate::streams::Stream;
#[cfg(feature = "gateway")]
use crate::windows::Polled;
use crate::windows::{Closed, ClosedWindow, JoinedFacts, Windows, in_the_place_of};
use description::{countable, fitting};

/// A device that reads, packs, encrypts, signs and spools.
pub struct Device {
    streams: Vec<Stream>,
    windows: Windows,
    source: SourceFacts,
    clear_log: Option<ClearLog>,
    /// The spool and the way to the cloud, which the sender thread shares.
    sending: Sending,
    arguments: RunArguments,
    stop: Stop,
    /// For each stream, the numbers of the pieces whose window is open.
    pieces: BTreeMap<usize, Vec<u64>>,
}

/// Facts about the source.
struct SourceFacts {
    /// The kind of source: see [`Summary::source`](crate::summary::Summary::source).
    name: &'static str,
    /// True if the readings are synthetic: no sensor measured them.
    generated: bool,
    /// When reading began: milliseconds since 1970.
    started_at: i64,
}

/// An encrypted window, and the description that travels beside it.
pub struct EncryptedWindow {
    stream: usize,
    sequence: u64,
    body: EncryptedBody,
    description: WindowDescription,
    /// The description as JSON.
    layout: Vec<u8>,
    readings: u64,
    contents: Contents,
    keeps: Keeps,
    started_at: i64,
    ended_at: i64,
    times: Times,
}

/// The readings to keep of a window, before its message, and the kept windows in whose place it comes.
#[derive(Default)]
struct Keeps {
    kept: Option<KeptWindow>,
    obsolete: Vec<i64>,
    piece: OfPiece,
}

/// What a window is to the pieces of its stream.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum OfPiece {
    #[default]
    No,
    Piece,
    /// It comes in their place.
    Whole,
}

/// The encrypted readings of a window.
enum EncryptedBody {
    /// The frame of a ciphertext.
    Ciphertext(Vec<u8>),
    /// The parts of a window of sums, and the name of their pads.
    Sums { pads: MaskName, parts: Vec<u8> },
}

/// The outcome of a step of a device whose source does not block.
#[cfg(feature = "gateway")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A window is in the spool.
    Spooled,
    /// No row waits. Something may be due without one at this time, in milliseconds since 1970.
    Waiting(i64),
    /// The spool is full.
    NoRoom,
    /// There are no more windows, after a stop.
    Ended,
}

/// A signed envelope.
pub struct Message {
    stream: usize,
    sequence: u64,
    readings: u64,
    /// The envelope in the spool's format.
    bytes: Vec<u8>,
    upload_bytes: u64,
    contents: Contents,
    keeps: Keeps,
    times: Times,
}

impl Device {
    /// Starts the thread that sends the messages in the spool.
    #[must_use]
    pub fn start_sending(&self) -> Sender {
        Sender::start(self.sending.clone(), self.stop.clone())
    }

    /// Reads and packs the next window. Returns `None` if there are no more: with `--once` after one window per stream,
    /// otherwise at the end of the source or after a stop.
    ///
    /// # Errors
    /// The source or the spool cannot be used.
    pub fn read_and_pack(&mut self) -> Result<Option<Closed>> {
        if !self.sending.spool.wait_for_room(self.largest_message(), &self.stop)? {
            tracing::warn!("the spool is full: readings of windows that were open are not sent");
            return Ok(None);
        }
        let Some(mut closed) = self.windows.next_closed()? else { return Ok(None) };
        let is_piece = closed.window.joined.as_ref().is_some_and(|facts| facts.provisional);
        if let Some(log) = self.clear_log.as_mut().filter(|_| !is_piece) {
            let rows = std::mem::take(&mut closed.window.clear);
            log.add(&self.streams[closed.stream].name, &closed.window.packed, rows);
        }
        Ok(Some(closed))
    }

    /// Returns the bytes of the largest message of a stream.
    fn largest_message(&self) -> u64 {
        self.streams.iter().map(|stream| stream.message_bytes).max().unwrap_or_default()
    }

    /// Takes at most `rows` rows of a source that does not block, up to the next window, and puts that into the spool.
    ///
    /// # Errors
    /// The spool cannot be written, or a window cannot be encrypted.
    #[cfg(feature = "gateway")]
    pub(crate) fn step(&mut self, rows: u64) -> Result<Step> {
        if !self.has_room()? {
            return Ok(Step::NoRoom);
        }
        let closed = match self.windows.poll_rows(rows)? {
            Polled::Closed(closed) => *closed,
            Polled::Waiting(until) => return Ok(Step::Waiting(until)),
            Polled::Ended => return Ok(Step::Ended),
        };
        let encrypted = self.encrypt(closed)?;
        let message = self.sign(encrypted)?;
        if self.spool(message)? { Ok(Step::Spooled) } else { bail!("the disk is full") }
    }

    /// Returns true if the spool has room for the largest message.
    ///
    /// # Errors
    /// The spool's limit is smaller than that.
    #[cfg(feature = "gateway")]
    pub(crate) fn has_room(&self) -> Result<bool> {
        Ok(self.sending.spool.has_room(self.largest_message())?)
    }

    /// Returns the number of the batch before which all readings are in messages, while no row waits.
    #[cfg(feature = "gateway")]
    pub(crate) fn settled_before(&self) -> u64 {
        // Marks are counted from 1.
        self.windows.oldest_mark().map_or_else(|| self.windows.last_mark(), |mark| mark.saturating_sub(1))
    }

    /// Encodes and encrypts a window under the next sequence number of its stream.
    ///
    /// # Errors
    /// The stream has no sequence number left, the slots cannot be encrypted, or the window's description is too long.
    pub fn encrypt(&self, closed: Closed) -> Result<EncryptedWindow> {
        let Closed { stream, window } = closed;
        let ClosedWindow { packed, started_at, ended_at, until, pack_time, joined, .. } = window;
        let generated = self.source.generated;
        let rounded = self.streams[stream].counts_rounded().then(|| packed.rounded.clone());
        let description = WindowDescription { generated, rounded, ..WindowDescription::from(&packed) };
        let (readings, contents) = (description.readings(), Contents::of(&description, until));
        let (description, contents, keeps) = match joined {
            Some(facts) => {
                let pieces = self.pieces.get(&stream).map(Vec::as_slice).unwrap_or_default();
                joined_with(*facts, pieces, description, contents)
            }
            None => (description, contents, Keeps::default()),
        };
        let name = &self.streams[stream].name;
        let sequence = self.sending.spool.next_sequence(name)?;
        // Before encryption: tags of sums cover the counts that are sent.
        let (description, layout) = fitting(self.sent(stream, description), name, sequence)?;
        let (body, encode, encrypt) = self.body(stream, sequence, packed.slots, &description)?;
        let times = Times { pack: pack_time, encode, encrypt, spool: Duration::ZERO };
        Ok(EncryptedWindow {
            stream,
            sequence,
            body,
            description,
            layout,
            readings,
            contents,
            keeps,
            started_at,
            ended_at,
            times,
        })
    }

    /// Returns the description to send.
    fn sent(&self, stream: usize, description: WindowDescription) -> WindowDescription {
        match self.streams[stream].encryption {
            Encryption::Ciphertexts { .. } => description,
            Encryption::Sums(_) => countable(description),
        }
    }

    /// Encrypts slots; also returns the times to encode and to encrypt.
    fn body(
        &self,
        stream: usize,
        sequence: u64,
        slots: Slots,
        description: &WindowDescription,
    ) -> Result<(EncryptedBody, Duration, Duration)> {
        let stream = &self.streams[stream];
        match &stream.encryption {
            Encryption::Ciphertexts { encryptor, .. } => {
                let encrypted = encryptor.encrypt(Unencrypted { slots, sequence })?;
                let Encrypted { frame, encode, encrypt } = encrypted;
                Ok((EncryptedBody::Ciphertext(frame), encode, encrypt))
            }
            Encryption::Sums(sums) => {
                let encrypted = sums.encrypt(sequence, slots, description)?;
                let EncryptedSums { pads, parts, encode, encrypt } = encrypted;
                Ok((EncryptedBody::Sums { pads, parts }, encode, encrypt))
            }
        }
    }

    /// Signs a window into an envelope.
    ///
    /// # Errors
    /// The window does not fit an envelope of its stream.
    pub fn sign(&self, window: EncryptedWindow) -> Result<Message> {
        let begin = Instant::now();
        let EncryptedWindow {
            stream, sequence, body, description, layout, readings, contents, keeps, ..
        } = window;
        let mut times = window.times;
        let Stream { name, encryption, .. } = &self.streams[stream];
        let sign = |message: &[u8]| self.sending.identity.sign(message);
        let envelope = match (encryption, body) {
            (Encryption::Sums(sums), EncryptedBody::Sums { pads, parts }) => {
                Envelope::sign_sums(sums.header(), sequence, pads, description, &parts, sign)?
            }
            (Encryption::Ciphertexts { header: Some(header), .. }, EncryptedBody::Ciphertext(frame)) => {
                Envelope::sign_window(header, sequence, description, &frame, sign)?
            }
            (Encryption::Ciphertexts { encryptor, header: None }, EncryptedBody::Ciphertext(frame)) => {
                let header = EnvelopeHeader {
                    device: self.sending.device.clone(),
                    stream: name.clone(),
                    sequence,
                    parameters: encryptor.parameters(),
                    key: encryptor.key(),
                    started_at: window.started_at,
                    ended_at: window.ended_at,
                    readings: u32::try_from(readings).context("a window has less than 2^32 readings")?,
                    layout,
                };
                Envelope::sign(header, frame, sign)?
            }
            _ => bail!("a window of {name} is not of its stream's kind"),
        };
        // Of windows that wait, the first alone names a receipt: those behind it can follow it in a group.
        let envelope = match self.sending.last_receipt(name).filter(|_| self.sending.spool.waiting() == 0) {
            Some(receipt) => envelope.after_receipt(receipt, sign)?,
            None => envelope,
        };
        let (bytes, upload_bytes) = (envelope.write_kept(), envelope.message_bytes() as u64);
        times.spool = begin.elapsed();
        Ok(Message { stream, sequence, readings, bytes, upload_bytes, contents, keeps, times })
    }

    /// Puts a message into the spool; from then on the sender owns it. Waits while the disk is full; returns false if a
    /// stop ended that wait. Then no further window can be encrypted: its number would be that of the lost one.
    ///
    /// # Errors
    /// The spool cannot be written.
    pub fn spool(&mut self, message: Message) -> Result<bool> {
        let begin = Instant::now();
        let Message { stream, sequence, readings, bytes, upload_bytes, contents, keeps, mut times } = message;
        let name = &self.streams[stream].name;
        let Sending { spool, kept, journal, .. } = &self.sending;
        if let Some(mut window) = keeps.kept {
            window.head.numbers.push(sequence);
            window.head.sent_at = now();
            if spool.when_there_is_space(&self.stop, || kept.put(name, &window))?.is_none() {
                return Ok(false);
            }
        }
        let put = spool.put_when_there_is_space(name, sequence, &bytes, &contents, &self.stop)?;
        if put.is_none() {
            return Ok(false);
        }
        keeps.obsolete.iter().try_for_each(|start| kept.remove(name, *start))?;
        match keeps.piece {
            OfPiece::No => {}
            OfPiece::Piece => self.pieces.entry(stream).or_default().push(sequence),
            OfPiece::Whole => drop(self.pieces.remove(&stream)),
        }
        journal.window(name, sequence, readings, upload_bytes);
        times.spool += begin.elapsed();
        journal.times(&times);
        tracing::info!(stream = name, sequence, bytes = upload_bytes, "spooled");
        Ok(true)
    }
}

/// Adds the facts about a window that comes in the place of others, or is kept: its description names them, and its counts
/// are those of readings, not of filled ticks.
fn joined_with(
    facts: JoinedFacts,
    pieces: &[u64],
    description: WindowDescription,
    contents: Contents,
) -> (WindowDescription, Contents, Keeps) {
    let JoinedFacts { kept, obsolete, replaces, cleared, readings, provisional, ends_pieces } = facts;
    let replaces = match ends_pieces {
        true => in_the_place_of(pieces, description.layout.channels().len()),
        false => replaces,
    };
    let piece = match (&kept, provisional, ends_pieces) {
        (None, true, _) => OfPiece::Piece,
        (_, _, true) => OfPiece::Whole,
        _ => OfPiece::No,
    };
    let mut channels = contents.totals.channels;
    for (channel, count) in description.layout.channels().iter().zip(&readings) {
        let totals: &mut ChannelTotals = channels.entry(channel.name.clone()).or_default();
        totals.readings = *count;
    }
    let totals = Totals { channels, windows: if provisional { 0 } else { contents.totals.windows } };
    let contents = Contents { totals, cleared, ..contents };
    (WindowDescription { replaces, provisional, ..description }, contents, Keeps { kept, obsolete, piece })
}
