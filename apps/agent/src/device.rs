//! The device: every step from a reading to a message in the spool.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use sotto_keys::SigningIdentity;
use sotto_pack::{DescriptionError, WindowDescription};
use sotto_wire::{Envelope, EnvelopeHeader};

use crate::arguments::RunArguments;
use crate::bundle::{self, Bundle};
use crate::clear_log::ClearLog;
use crate::encrypt::{Mask, SentTicks, Unencrypted};
use crate::feed::{self, Feed};
use crate::fruitless::fruitless;
use crate::journal::{Journal, Times, WhatWasRead};
use crate::pinned::Pinned;
use crate::position::{Positions, Resumed};
use crate::send::{Sender, Sending};
use crate::shared::SharedMasks;
use crate::spool::{Cuts, Spool, Totals};
use crate::stop::Stop;
use crate::streams::Stream;
use crate::summary::{Summary, counted};
use crate::upload::Cloud;
use crate::windows::{Closed, ClosedWindow, End, Options, Windows};
use crate::{source, streams};

/// A device that reads, packs, encrypts, signs and spools.
pub struct Device {
    name: String,
    identity: Arc<SigningIdentity>,
    streams: Vec<Stream>,
    cuts: Cuts,
    windows: Windows,
    spool: Arc<Spool>,
    shared: Arc<SharedMasks>,
    folder: PathBuf,
    cloud: Cloud,
    pinned: Pinned,
    journal: Journal,
    /// The kind of source: see [`Summary::source`].
    source: &'static str,
    /// When reading began: milliseconds since 1970.
    started_at: i64,
    /// True if the readings are synthetic: no sensor measured them.
    generated: bool,
    clear_log: Option<ClearLog>,
    arguments: RunArguments,
    stop: Stop,
}

/// The frame of a window's ciphertext, and the description that travels beside it.
pub struct EncryptedWindow {
    stream: usize,
    sequence: u64,
    frame: Vec<u8>,
    description: WindowDescription,
    started_at: i64,
    ended_at: i64,
    until: i64,
    times: Times,
}

/// A signed envelope.
pub struct Message {
    stream: usize,
    sequence: u64,
    readings: u64,
    /// The envelope in the spool's format.
    bytes: Vec<u8>,
    /// Bytes of the upload.
    upload_bytes: u64,
    until: i64,
    totals: Totals,
    times: Times,
}

impl Device {
    /// Reads every file and argument of a run and opens spool and source. Refuses wrong ones before it reads any row.
    ///
    /// # Errors
    /// Names the argument or file that cannot be used, and the reason.
    pub fn open(arguments: RunArguments, stop: &Stop) -> Result<Self> {
        let RunArguments { device: of_device, .. } = &arguments;
        let bundle = Bundle::read(&of_device.bundle)?;
        let trust = bundle.trust(of_device.ca.as_deref())?;
        let Bundle { profile, identity, keys, cloud, .. } = bundle;
        let cloud = Cloud::new(of_device.cloud.as_ref().unwrap_or(&cloud), trust)?;
        let folder = of_device.spool.clone().unwrap_or_else(|| bundle::spool_of(&of_device.bundle));
        let (cuts, streams) = (streams::cuts(&profile)?, streams::open(&profile, &keys)?);
        let spool = Arc::new(Spool::open(&folder, &profile.device, of_device.spool_limit, &cuts)?);
        let Feed { source, name: source_name, generated, own_period } =
            feed::open(&arguments.read, &profile, stop)?;
        let source = match arguments.ticks {
            Some(rows) => source::first(source, rows),
            None => source,
        };
        let paced = source.paced();
        let identity = Arc::new(identity);
        if spool.is_new() {
            let positions =
                Positions { device: &profile.device, identity: &identity, cloud: &cloud, cuts: &cuts };
            let names: Vec<String> = streams.iter().map(|stream| stream.name.clone()).collect();
            match positions.resume(&spool, &names, paced, stop)? {
                Resumed::Done => {}
                Resumed::Stopped => {
                    bail!("stopped before the cloud told the device's position: nothing was read")
                }
                Resumed::Unregistered(reason) => bail!("{reason}; nothing was read"),
            }
        }
        let of_fleets = streams.iter().filter(|stream| stream.is_of_fleet()).map(|s| s.name.as_str());
        let shared = Arc::new(SharedMasks::new(of_fleets));
        // Ask now for files, which can wait for the answer; for sensors the sender thread asks later.
        if !paced {
            shared.ask(&Positions {
                device: &profile.device,
                identity: &identity,
                cloud: &cloud,
                cuts: &cuts,
            });
        }
        let clear_log = arguments.clear_log.as_deref().map(ClearLog::new);
        let future = arguments.read.allow_future;
        let options = Options { once: arguments.once, keep_clear: clear_log.is_some(), own_period, future };
        let sent_until = |stream: &str| spool.sent_until(stream);
        let windows = Windows::new(source, &streams, &cuts, sent_until, stop.clone(), &options);
        let pinned = Pinned::new(&of_device.cloud_key, &profile);
        let (name, journal, stop) = (profile.device, Journal::default(), stop.clone());
        Ok(Self {
            name,
            identity,
            streams,
            cuts,
            windows,
            spool,
            shared,
            folder,
            cloud,
            pinned,
            journal,
            source: source_name,
            started_at: source::now(),
            generated,
            clear_log,
            arguments,
            stop,
        })
    }

    /// Starts the thread that sends the messages in the spool.
    #[must_use]
    pub fn start_sending(&self) -> Sender {
        let sending = Sending {
            spool: Arc::clone(&self.spool),
            cloud: self.cloud.clone(),
            pinned: self.pinned.clone(),
            journal: self.journal.clone(),
            device: self.name.clone(),
            identity: Arc::clone(&self.identity),
            cuts: self.cuts.clone(),
            shared: Arc::clone(&self.shared),
        };
        Sender::start(sending, self.stop.clone())
    }

    /// Reads and packs the next window. Returns `None` if there are no more: with `--once` after one window per stream,
    /// otherwise at the end of the source or after a stop.
    ///
    /// # Errors
    /// The source or the spool cannot be used.
    pub fn read_and_pack(&mut self) -> Result<Option<Closed>> {
        let largest = self.streams.iter().map(Stream::message_bytes).max().unwrap_or_default();
        if !self.spool.wait_for_room(largest, &self.stop)? {
            tracing::warn!("the spool is full: readings of windows that were open are not sent");
            return Ok(None);
        }
        let Some(mut closed) = self.windows.next_closed()? else { return Ok(None) };
        if let Some(log) = &mut self.clear_log {
            let rows = std::mem::take(&mut closed.window.clear);
            let packed = &closed.window.packed;
            let name = &self.streams[closed.stream].name;
            log.add(name, packed.layout.channels(), rows, packed.start, packed.period);
        }
        Ok(Some(closed))
    }

    /// Encodes and encrypts a window under the next sequence number of its stream.
    ///
    /// # Errors
    /// The stream has no sequence number left, or the slots cannot be encrypted.
    pub fn encrypt(&self, closed: Closed) -> Result<EncryptedWindow> {
        let Closed { stream, window } = closed;
        let ClosedWindow { packed, started_at, ended_at, until, pack_time, .. } = window;
        let generated = self.generated;
        let description = WindowDescription { generated, ..WindowDescription::from(&packed) };
        let Stream { name, encryptor, .. } = &self.streams[stream];
        let sequence = self.spool.next_sequence(name)?;
        let mask = match self.shared_start(&self.streams[stream], description.start)? {
            Some(start) => Mask::OfFleet { start },
            None => Mask::Own { sequence },
        };
        let sent = SentTicks::of(&description);
        let encrypted = encryptor.encrypt(Unencrypted { slots: packed.slots, mask, sent })?;
        let times = Times {
            pack: pack_time,
            encode: encrypted.encode,
            encrypt: encrypted.encrypt,
            spool: Duration::ZERO,
        };
        let frame = encrypted.frame;
        Ok(EncryptedWindow { stream, sequence, frame, description, started_at, ended_at, until, times })
    }

    /// Returns the window's start if it is to be encrypted under the mask of its stream's fleet, after the spool has
    /// recorded that.
    ///
    /// Returns `None` if the window takes a mask of its own: its start is not on the clock's grid, or the shared mask
    /// of this start may already have been used.
    fn shared_start(&self, stream: &Stream, start: i64) -> Result<Option<i64>> {
        let Some(cut) = self.cuts.of(&stream.name).filter(|_| stream.is_of_fleet()) else {
            return Ok(None);
        };
        let (begin, _) = cut.window(self.cuts.clock(), start);
        if begin != start || start < 0 || !self.shared.allows(&stream.name, start) {
            return Ok(None);
        }
        Ok(self.spool.share(&stream.name, start)?.then_some(start))
    }

    /// Signs a window into an envelope.
    ///
    /// # Errors
    /// The window's description is too long.
    pub fn sign(&self, window: EncryptedWindow) -> Result<Message> {
        let begin = Instant::now();
        let EncryptedWindow { stream, sequence, frame, description, started_at, ended_at, until, mut times } =
            window;
        let Stream { name, encryptor, header, .. } = &self.streams[stream];
        let readings = description.readings();
        let totals = Totals::of(&description);
        let (description, layout) = fitting(description, name, sequence)?;
        let sign = |message: &[u8]| self.identity.sign(message);
        let envelope = if let Some(header) = header {
            Envelope::sign_window(header, sequence, description, &frame, sign)?
        } else {
            let header = EnvelopeHeader {
                device: self.name.clone(),
                stream: name.clone(),
                sequence,
                parameters: encryptor.parameters(),
                key: encryptor.key(),
                started_at,
                ended_at,
                readings: u32::try_from(readings).context("a window has less than 2^32 readings")?,
                layout,
            };
            Envelope::sign(header, frame, sign)?
        };
        let (bytes, upload_bytes) = (envelope.write_kept(), envelope.message_bytes() as u64);
        times.spool = begin.elapsed();
        Ok(Message { stream, sequence, readings, bytes, upload_bytes, until, totals, times })
    }

    /// Puts a message into the spool; from then on the sender owns it. Waits while the disk is full; after a stop it
    /// returns without the message.
    ///
    /// # Errors
    /// The spool cannot be written.
    pub fn spool(&self, message: Message) -> Result<()> {
        let begin = Instant::now();
        let Message { stream, sequence, readings, bytes, upload_bytes, until, totals, mut times } = message;
        let name = &self.streams[stream].name;
        let put =
            self.spool.put_when_there_is_space(name, sequence, &bytes, Some(until), &totals, &self.stop)?;
        if put.is_none() {
            return Ok(());
        }
        self.journal.window(name, sequence, readings, upload_bytes);
        times.spool += begin.elapsed();
        self.journal.times(&times);
        tracing::info!(stream = name, sequence, bytes = upload_bytes, "spooled");
        Ok(())
    }

    /// Waits until the spool is empty, after a stop for at most 3 s; then writes the report, the clear log and the
    /// summary.
    ///
    /// # Errors
    /// With `--once` or at the end of a source: a message was refused or still waits, or a file could not be read.
    pub fn finish(self, sender: Sender) -> Result<()> {
        self.spool.close();
        let sent = sender.finish();
        let waiting = self.spool.waiting();
        let summary = self.summary(waiting);
        if let Some(path) = &self.arguments.report {
            let channels = self.windows.channels().to_vec();
            let read = WhatWasRead { started_at: self.started_at, channels, summary: summary.clone() };
            let report = self.journal.report(read, waiting);
            report.write(path).with_context(|| format!("{} cannot be written", path.display()))?;
        }
        if let Some(log) = &self.clear_log {
            log.write().context("the clear log cannot be written")?;
        }
        eprintln!("{}", summary.line());
        if self.arguments.json {
            println!("{}", serde_json::to_string(&summary)?);
        }
        sent?;
        self.judge(waiting)
    }

    /// Returns the counts of this run.
    fn summary(&self, waiting: usize) -> Summary {
        let (taken, source) = (self.windows.taken(), self.source);
        let until = |stream: &str| self.spool.sent_until(stream);
        let summary = Summary::new(&self.name, source, taken, &self.streams, self.cuts.clock(), until);
        Summary { waiting, refused: self.journal.refusals(), ..summary }
    }

    /// Returns an error if a run that ends by itself left work undone. A stopped run may leave messages in the spool.
    fn judge(&self, waiting: usize) -> Result<()> {
        let (end, without_window) = (self.windows.end(), self.windows.without_window());
        let once = self.arguments.once;
        if !once && end != Some(End::Source) {
            return Ok(());
        }
        let (refused, earlier) = match self.journal.refusals() {
            0 => (self.spool.refused()? as u64, " of earlier runs"),
            refused => (refused, ""),
        };
        if refused > 0 {
            let folder = self.folder.join(crate::spool::REFUSED);
            bail!(
                "the cloud refused {}{earlier}: see {} for the reasons; `sotto-agent requeue` sends what is there again",
                counted(refused, "message"),
                folder.display()
            );
        }
        if let Some(stream) = without_window.and_then(|stream| self.streams.get(stream)).filter(|_| once) {
            let because = if end == Some(End::Source) { "the source ended" } else { "it was stopped" };
            bail!("{because} before stream {} had a reading: read more, or ask for fewer ticks", stream.name);
        }
        if let Some(reason) = self.journal.why_unregistered() {
            bail!(
                "{reason}; {} in the spool: the next run sends what is there",
                counted(waiting as u64, "message")
            );
        }
        if self.arguments.read.reads_files()?
            && let Some(why) = fruitless(&self.windows, &self.arguments.read.conditions)
        {
            bail!("{why}");
        }
        if waiting > 0 {
            bail!(
                "{} still in the spool: the next run sends what is there",
                counted(waiting as u64, "message")
            );
        }
        Ok(())
    }
}

/// Returns a window's description and its JSON. If the JSON is too long, drops the counts of readings left out, with a
/// warning.
/// The ticks that have a reading are never dropped: `streams::open` refuses a stream whose description could be too
/// long without counts.
fn fitting(
    mut description: WindowDescription,
    stream: &str,
    sequence: u64,
) -> Result<(WindowDescription, Vec<u8>), DescriptionError> {
    let json = match description.to_json() {
        Err(DescriptionError::TooLong { .. }) if !description.left_out.is_empty() => {
            tracing::warn!(
                stream,
                sequence,
                "the description is too long: it does not count the readings left out"
            );
            description.left_out.clear();
            description.to_json()
        }
        json => json,
    };
    Ok((description, json?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sotto_pack::{Channel, Encoding, LARGEST_DESCRIPTION, Layout, Reading, Reason, Window};

    #[test]
    fn counts_are_dropped_where_a_description_is_too_long_and_ticks_are_not() {
        let channel = |number: u16| Channel {
            name: format!("channel-{number:03}"),
            maximum: 1.0,
            ..Channel::default()
        };
        let channels: Vec<Channel> = (0..128).map(channel).collect();
        let layout = Layout::smallest(channels, 16, 2048, 2, Encoding::Integer { bits: 8 }).unwrap();
        let mut window = Window::new(layout, 0, 1000).unwrap();
        for channel in 0..128 {
            window.push(&Reading { at: 3000, channel, value: 0.5 }).unwrap();
            window.leave_out(channel, Reason::Empty, 1);
        }
        let description = WindowDescription::from(&window.close());
        let (_, short) = fitting(description.clone(), "s", 0).unwrap();
        assert_eq!(WindowDescription::parse(&short).unwrap(), description);

        let mut long = description;
        let all = |left_out: &mut sotto_pack::LeftOut| {
            Reason::ALL.iter().for_each(|reason| left_out.add(*reason, 1 << 40));
        };
        long.left_out.iter_mut().for_each(all);
        assert!(long.to_json().is_err());
        let (_, json) = fitting(long.clone(), "s", 0).unwrap();
        assert!(json.len() <= LARGEST_DESCRIPTION);
        let read = WindowDescription::parse(&json).unwrap();
        assert_eq!((read.presence, read.left_out), (long.presence, Vec::new()));
    }
}
