//! The device: the steps from a reading to a message in the spool.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use sotto_keys::SigningIdentity;
use sotto_pack::WindowDescription;
use sotto_wire::{Envelope, EnvelopeHeader};

use crate::arguments::RunArguments;
use crate::clear_log::ClearLog;
use crate::collect::{Collected, Collector, End};
use crate::journal::{Journal, Times, WhatWasRead};
use crate::send::Sender;
use crate::spool::Spool;
use crate::stop::Stop;
use crate::streams::Stream;
use crate::upload::Cloud;
use crate::{files, source, streams};

/// A device that reads, packs, encrypts, signs and spools. Streams take turns: window k is of stream k mod streams.
pub struct Device {
    name: String,
    identity: SigningIdentity,
    streams: Vec<Stream>,
    collector: Collector,
    spool: Arc<Spool>,
    journal: Journal,
    read: WhatWasRead,
    clear_log: Option<ClearLog>,
    arguments: RunArguments,
    stop: Stop,
    /// Windows taken so far.
    taken: usize,
}

/// A packed window, and the position of its stream.
pub struct Filled {
    stream: usize,
    collected: Collected,
}

/// The frame of a window's ciphertext, and what travels beside it.
pub struct EncryptedWindow {
    stream: usize,
    frame: Vec<u8>,
    description: WindowDescription,
    started_at: i64,
    ended_at: i64,
    times: Times,
}

/// A signed envelope.
pub struct Message {
    stream: usize,
    sequence: u64,
    readings: u64,
    bytes: Vec<u8>,
    times: Times,
}

impl Device {
    /// Opens everything that a run needs: what can be refused is refused before anything is read.
    ///
    /// # Errors
    /// What is wrong with which argument or file.
    pub fn open(arguments: RunArguments, stop: &Stop) -> Result<Self> {
        let profile = files::profile(&arguments.profile)?;
        let identity = files::signing_identity(&arguments.signing_key)?;
        let key = files::device_key(&arguments)?;
        let spool = Arc::new(Spool::open(&arguments.spool, &profile.device, arguments.spool_limit)?);
        let opened = source::open(&arguments.source, profile.period_ms, stop)?;
        let channels = opened.source.channels().to_vec();
        let streams = streams::open(&profile, &channels, &key)?;
        let clear_log = arguments.clear_log.as_deref().map(|path| ClearLog::new(path, &channels));
        let collector = Collector::new(opened.source, profile.period_ms, stop.clone(), clear_log.is_some());
        let read = WhatWasRead {
            source: opened.name,
            fallback_reason: opened.fallback_reason,
            started_at: source::now(),
            channels,
            left: collector.left(),
        };
        let (name, journal, stop) = (profile.device, Journal::default(), stop.clone());
        Ok(Self {
            name,
            identity,
            streams,
            collector,
            spool,
            journal,
            read,
            clear_log,
            arguments,
            stop,
            taken: 0,
        })
    }

    /// Begins to send what is in the spool, beside everything else.
    #[must_use]
    pub fn start_sending(&self, cloud: Cloud) -> Sender {
        Sender::start(Arc::clone(&self.spool), cloud, self.journal.clone(), self.stop.clone())
    }

    /// Reads and packs the next window. `None` when there are no more: with `--once` after one window a stream, otherwise
    /// at the end of the source or after a stop.
    ///
    /// # Errors
    /// The source or the spool cannot be used.
    pub fn read_and_pack(&mut self) -> Result<Option<Filled>> {
        if self.arguments.once && self.taken == self.streams.len() {
            return Ok(None);
        }
        let stream = self.taken % self.streams.len();
        let Stream { name, layout, .. } = &self.streams[stream];
        if !self.spool.wait_for_room(self.streams[stream].message_bytes(), &self.stop)? {
            return Ok(None);
        }
        let Some(mut collected) = self.collector.window(layout)? else { return Ok(None) };
        if let Some(log) = &mut self.clear_log {
            log.add(name, std::mem::take(&mut collected.clear));
        }
        self.taken += 1;
        Ok(Some(Filled { stream, collected }))
    }

    /// Encodes and encrypts it.
    ///
    /// # Errors
    /// The slots cannot be encrypted.
    pub fn encrypt(&self, filled: Filled) -> Result<EncryptedWindow> {
        let Filled { stream, collected: Collected { packed, started_at, ended_at, pack_time, .. } } = filled;
        let description = WindowDescription::from(&packed);
        let encrypted = self.streams[stream].encryptor.encrypt(packed.slots)?;
        let times = Times {
            pack: pack_time,
            encode: encrypted.encode,
            encrypt: encrypted.encrypt,
            spool: Duration::ZERO,
        };
        Ok(EncryptedWindow { stream, frame: encrypted.frame, description, started_at, ended_at, times })
    }

    /// Gives it a sequence number, and signs it.
    ///
    /// # Errors
    /// The sequence number cannot be written down.
    pub fn sign(&self, window: EncryptedWindow) -> Result<Message> {
        let begin = Instant::now();
        let EncryptedWindow { stream, frame, description, started_at, ended_at, mut times } = window;
        let Stream { name, encryptor, .. } = &self.streams[stream];
        let (readings, sequence) = (description.readings(), self.spool.take_sequence(name)?);
        let header = EnvelopeHeader {
            device: self.name.clone(),
            stream: name.clone(),
            sequence,
            parameters: encryptor.parameters(),
            key: encryptor.key(),
            started_at,
            ended_at,
            readings: u32::try_from(readings).context("a window has less than 2^32 readings")?,
            layout: description.to_json()?,
        };
        let bytes = Envelope::sign(header, frame, |message| self.identity.sign(message))?.write()?;
        times.spool = begin.elapsed();
        Ok(Message { stream, sequence, readings, bytes, times })
    }

    /// Puts it in the spool. From here on it is the sender's.
    ///
    /// # Errors
    /// The spool cannot be written to.
    pub fn spool(&self, message: Message) -> Result<()> {
        let begin = Instant::now();
        let Message { stream, sequence, readings, bytes, mut times } = message;
        let name = &self.streams[stream].name;
        self.journal.window(name, sequence, readings, bytes.len() as u64);
        self.spool.put(name, sequence, &bytes)?;
        times.spool += begin.elapsed();
        self.journal.times(&times);
        tracing::info!(stream = name, sequence, bytes = bytes.len(), "spooled");
        Ok(())
    }

    /// Waits until the spool is empty, or after a stop only for an upload under way. Then writes what was asked for.
    ///
    /// # Errors
    /// With `--once` or at the end of a source: something was refused, waits still, or could not be read.
    pub fn finish(mut self, sender: Sender) -> Result<()> {
        self.spool.close();
        let sent = sender.finish();
        let waiting = self.spool.waiting();
        self.read.left = self.collector.left();
        if let Some(path) = &self.arguments.report {
            let report = self.journal.report(self.read.clone(), waiting);
            report.write(path).with_context(|| format!("{} cannot be written", path.display()))?;
        }
        if let Some(log) = &self.clear_log {
            log.write().context("the clear log cannot be written")?;
        }
        sent?;
        self.judge(waiting)
    }

    /// A run that was to end by itself is judged by what it was to do; one that was to go on until it is stopped is not.
    fn judge(&self, waiting: usize) -> Result<()> {
        let (once, end) = (self.arguments.once, self.collector.end());
        if !once && end != Some(End::Source) {
            return Ok(());
        }
        let refused = self.journal.refusals();
        if refused > 0 {
            let folder = self.arguments.spool.join(crate::spool::REFUSED);
            bail!("the cloud refused {refused} messages: they are in {} with the reasons", folder.display());
        }
        if let Some(stream) = self.streams.get(self.taken).filter(|_| once) {
            let because = if end == Some(End::Source) { "the source ended" } else { "it was stopped" };
            bail!("{because} before stream {} had a reading: read more, or ask for fewer ticks", stream.name);
        }
        if waiting > 0 {
            bail!("{waiting} messages are still in the spool: the next run sends them");
        }
        Ok(())
    }
}
