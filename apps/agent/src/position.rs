//! Asks the cloud where the streams of a device stand, after the device has lost its spool.

use std::time::{Duration, Instant};

use sotto_keys::SigningIdentity;
use sotto_pack::WindowDescription;
use sotto_wire::{LARGEST_ENVELOPE, PositionRequest, SignedHeader};

use crate::backoff::Backoff;
use crate::source::now;
use crate::spool::{Cuts, Spool, SpoolError};
use crate::stop::Stop;
use crate::upload::{Cloud, Lookup, Position};

/// Longest wait for an unreachable cloud before sensors are read: later readings would be lost.
const PATIENCE: Duration = Duration::from_secs(10);
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

/// Asks the cloud for the positions of a device's streams.
pub struct Positions<'p> {
    /// The device's name.
    pub device: &'p str,
    /// The device's key: it signs the questions, and has signed the windows.
    pub identity: &'p SigningIdentity,
    /// The cloud that is asked.
    pub cloud: &'p Cloud,
    /// Where the windows of each stream end.
    pub cuts: &'p Cuts,
}

/// A stream's position, as proved by the device's own signature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The sequence number of the next window.
    pub next: u64,
    /// The end of the last window in milliseconds since 1970. `None` before the first window.
    pub until: Option<i64>,
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
    /// Sets a new spool to the positions that its streams have in the cloud.
    ///
    /// Waits for an unreachable cloud: for files without limit, for sensors 10 s. After that, sequence numbers begin at
    /// the present time, above every number used before.
    ///
    /// # Errors
    /// [`SpoolError`] if the spool cannot be written.
    pub fn resume(
        &self,
        spool: &Spool,
        streams: &[String],
        paced: bool,
        stop: &Stop,
    ) -> Result<Resumed, SpoolError> {
        for stream in streams {
            let (begin, mut backoff, mut unregistered) = (Instant::now(), Backoff::new(), 0);
            let standing = loop {
                match self.ask(stream) {
                    Ok(standing) => break standing,
                    Err(why) => {
                        let reason = why.reason();
                        // Another device of the same name signed the windows: waiting does not help.
                        let never = matches!(why, NoPosition::NotOurs(_));
                        if never || (paced && begin.elapsed() > PATIENCE) {
                            tracing::warn!(
                                stream,
                                reason,
                                "the spool is new and the stream's position is unknown: its sequence numbers begin at the present time"
                            );
                            break Standing { next: now().unsigned_abs() / 1000 * EPOCH, until: None };
                        }
                        unregistered += u32::from(matches!(why, NoPosition::Unregistered(_)));
                        if unregistered == ATTEMPTS && !paced {
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
            if standing.next > 0
                && let Some(until) = standing.until
            {
                let until = self.cuts.clock().rfc3339(until);
                tracing::warn!(
                    stream,
                    "the spool is new, and the cloud has windows of the stream: it goes on after {until}"
                );
            }
            spool.resume(stream, standing.next, standing.until)?;
        }
        spool.begin()?;
        Ok(Resumed::Done)
    }

    /// Asks once for the position of a stream.
    ///
    /// # Errors
    /// [`NoPosition`] if the cloud does not tell it, or tells one that this device has not signed.
    pub fn ask(&self, stream: &str) -> Result<Standing, NoPosition> {
        match self.cloud.position(&self.question(stream)?) {
            Lookup::Known(position) => self.check(stream, &position),
            Lookup::Unknown => {
                tracing::warn!(
                    stream,
                    "this version of the cloud does not know positions: sequence numbers begin at 0"
                );
                Ok(Standing::default())
            }
            Lookup::Later(later) if later.unregistered => Err(NoPosition::Unregistered(later.reason)),
            Lookup::Later(later) => Err(NoPosition::Later(later.reason)),
        }
    }

    /// Returns the frame of a signed question about a stream.
    fn question(&self, stream: &str) -> Result<Vec<u8>, NoPosition> {
        let sign = |message: &[u8]| self.identity.sign(message);
        let question =
            PositionRequest::sign(self.device, stream, now(), sign).and_then(|asked| asked.write());
        question.map_err(|error| NoPosition::Later(error.to_string()))
    }

    /// Checks an answer. Believes the cloud without the device's signature only about windows that the owner has
    /// deleted, and only within limits.
    fn check(&self, stream: &str, position: &Position) -> Result<Standing, NoPosition> {
        let Position { next, signed_header, latest_header, forgotten_until } = position;
        // An unsigned number beyond the limit is refused: it could use up the device's numbers.
        if forgotten_until.is_some() && *next > largest_unsigned() {
            return Err(not_ours("its sequence number is too large"));
        }
        // At most the present: otherwise the cloud could declare all future readings deleted.
        let forgotten = forgotten_until.map(|until| until.min(now()));
        let Some(frame) = signed_header else {
            return Ok(if forgotten.is_some() {
                Standing { next: *next, until: forgotten }
            } else {
                Standing::default()
            });
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
        let next = header.sequence.saturating_add(1);
        // Deleted windows may have had larger numbers.
        let next = if forgotten.is_some() { next.max(position.next) } else { next };
        Ok(Standing { next, until: until.map(|until| until.max(forgotten.unwrap_or(until))) })
    }

    /// Reads a header that this device has signed for a stream.
    fn own_header(&self, stream: &str, frame: &str) -> Result<SignedHeader, NoPosition> {
        let frame = hex::decode(frame).map_err(|_| not_ours("it is not hexadecimal"))?;
        let signed =
            SignedHeader::read(&frame, LARGEST_ENVELOPE).map_err(|error| not_ours(&error.to_string()))?;
        signed
            .verify(&self.identity.verifying_key())
            .map_err(|_| not_ours("the signature of the last window is another device's"))?;
        let header = signed.header();
        if header.device != self.device || header.stream != stream {
            return Err(not_ours("it is about another stream"));
        }
        Ok(signed)
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
mod tests {
    use super::*;
    use sotto_keys::{DeviceSecret, SecretKey};
    use sotto_rlwe::{Bfv, ChainRequest, Params, Scheme, SchemeId};
    use sotto_wire::{AnyCiphertext, Envelope, EnvelopeHeader};

    fn identity(byte: u8) -> SigningIdentity {
        SigningIdentity::from_bytes(&[byte; 32])
    }

    fn header(stream: &str, sequence: u64) -> EnvelopeHeader {
        EnvelopeHeader {
            device: "boiler".into(),
            stream: stream.into(),
            sequence,
            parameters: sotto_rlwe::ParameterId([0; 32]),
            key: sotto_rlwe::KeyId([0; 16]),
            started_at: 0,
            ended_at: 0,
            readings: 0,
            layout: vec![],
        }
    }

    fn signed(stream: &str, sequence: u64, by: u8) -> Option<String> {
        let header = header(stream, sequence);
        let chain = ChainRequest::one_prime(SchemeId::Bfv, 1024, 257, 26).build().unwrap();
        let params = Params::<Bfv>::new(chain).unwrap();
        let key = SecretKey::derive(&DeviceSecret::from_bytes(&[1; 32]), &params);
        let plain = Bfv::encode_scalar(&params, 7, params.top_level()).unwrap();
        let mut rng = sotto_ring::secure_rng().unwrap();
        let body = AnyCiphertext::Seeded(key.encrypt(&plain, &mut rng).unwrap()).write();
        let envelope = Envelope::sign(header, body, |message| identity(by).sign(message));
        let header = SignedHeader::of(&envelope.unwrap());
        Some(hex::encode(header.write()))
    }

    #[test]
    fn only_what_the_device_has_signed_is_believed() {
        let (identity, cuts) =
            (identity(1), Cuts::new(sotto_pack::Clock::utc(), std::collections::BTreeMap::new()));
        let cloud = Cloud::new("http://127.0.0.1:9", sotto_http::Trust::default()).unwrap();
        let positions = Positions { device: "boiler", identity: &identity, cloud: &cloud, cuts: &cuts };
        let check = |signed_header, next, forgotten_until| {
            positions.check("load", &Position { next, signed_header, latest_header: None, forgotten_until })
        };
        assert_eq!(check(None, 0, None), Ok(Standing::default()));
        assert_eq!(
            check(None, 1 << 60, None),
            Ok(Standing::default()),
            "an unsigned number counts for nothing"
        );
        assert_eq!(check(signed("load", 6, 1), 1 << 60, None), Ok(Standing { next: 7, until: None }));
        assert_eq!(check(signed("load", 6, 1), 9, Some(5)).map(|standing| standing.next), Ok(9));
        assert_eq!(check(None, 9, Some(5)), Ok(Standing { next: 9, until: Some(5) }));
        for header in [None, signed("load", 6, 1)] {
            assert!(
                matches!(check(header, 1 << 60, Some(5)), Err(NoPosition::NotOurs(_))),
                "beyond any number"
            );
        }
        let future = check(None, 9, Some(i64::MAX)).unwrap().until.unwrap();
        assert!(future <= now());
        for wrong in [signed("load", 6, 2), signed("other", 6, 1), Some("zz".into()), Some("00".into())] {
            assert!(matches!(check(wrong, 7, None), Err(NoPosition::NotOurs(_))));
        }
    }
}
