//! The owner's signed orders: to delete windows, to add them up, to take a log that was set back, to revoke a device.
//!
//! An order is `given at i64 ‖ owner's key 32 ‖ device ‖ kind 1 ‖ … ‖ signature 64`; docs/concepts/wire.md has the layout. An
//! order stands: a copy that comes later orders nothing new.

use alloc::string::String;
use alloc::vec::Vec;

use crate::error::WireError;
use crate::frame;
use crate::hash::{Digest, digest};
use crate::kind::Kind;
use crate::position_runs::{MOST_RUNS, TOO_MANY_RUNS, parse_runs, write_runs};
use crate::reader::{Reader, write_name};
use crate::roll_up::RollUp;
use crate::signature::{self, SIGNATURE_BYTES};

const SIGNATURE_CONTEXT: &[u8] = b"sotto order v1";
/// Length in bytes of the longest frame of an [`Order`].
pub const LARGEST_ORDER: u64 = 64 << 10;

const FORGET: u8 = 1;
const ACCEPT: u8 = 2;
const REVOKE: u8 = 3;
const ROLL_UP: u8 = 4;
/// Bits of the byte after a deletion's kind.
const ONE_STREAM: u8 = 1;
const FROM_LOG: u8 = 2;

/// An order of the owner, signed with the owner's key.
///
/// ```
/// use sotto_keys::SigningIdentity;
/// use sotto_wire::{Forget, Order, OrderParts, Ordered};
/// # let owner = SigningIdentity::generate(&mut sotto_ring::secure_rng()?);
///
/// let (stream, until) = (Some("boiler".into()), 1_795_000_000_000);
/// let what = Ordered::Forget(Forget { stream, until, next: 18, from_log: None });
/// let (device, owner_key) = ("cellar".into(), owner.verifying_key());
/// let parts = OrderParts { given_at: until + 60_000, owner: owner_key, device, what };
/// let order = Order::sign(parts, |message| owner.sign(message))?;
/// let received = Order::read(&order.write()?)?;
/// received.verify(&owner.verifying_key())?;
/// assert!(received.parts().is_about("cellar", "boiler"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    parts: OrderParts,
    signature: [u8; SIGNATURE_BYTES],
}

/// The contents of an order.
///
/// Example: [`Order`]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderParts {
    /// The time of the order by the owner's clock, in milliseconds since 1970.
    pub given_at: i64,
    /// The owner's Ed25519 verifying key.
    pub owner: [u8; 32],
    /// The device's name.
    pub device: String,
    /// The deletion, acceptance or revocation.
    pub what: Ordered,
}

/// The kinds of orders about a device.
///
/// Example: [`Order`]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ordered {
    /// Windows are deleted, and not taken again.
    Forget(Forget),
    /// The sums of groups of windows stay, and their bodies are deleted.
    RollUp(RollUp),
    /// The log of a stream is taken as the cloud has it, although it does not continue the one before.
    Accept {
        /// The stream's name.
        stream: String,
        /// Number of windows in the log that is taken.
        size: u64,
        /// The root of that log's Merkle tree.
        root: Digest,
    },
    /// The device's windows are not taken any more.
    Revoke {
        /// The device's Ed25519 verifying key.
        key: [u8; 32],
    },
}

/// A deletion: windows that ended before a time.
///
/// Example: [`Order`]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forget {
    /// The stream; None for all streams of the device.
    pub stream: Option<String>,
    /// Windows that ended before this time are not taken again: milliseconds since 1970.
    pub until: i64,
    /// The number behind the largest of a deleted window of the stream, by this order or an earlier one; 0 if none is known.
    pub next: u64,
    /// The windows that are deleted; None for all that ended before `until`.
    pub from_log: Option<FromLog>,
}

/// Windows of a log, by their positions.
///
/// ```
/// use sotto_wire::FromLog;
///
/// let windows = FromLog::of(9, [7; 32], [0, 1, 2, 5, 6]);
/// assert_eq!(windows.runs, [(0, 3), (5, 7)]);
/// assert_eq!(windows.positions().collect::<Vec<_>>(), [0, 1, 2, 5, 6]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FromLog {
    /// Number of windows that the log had.
    pub size: u64,
    /// The root of its Merkle tree.
    pub root: Digest,
    /// Runs of positions, each from the first one to the one behind the last: ascending and apart from each other, at most
    /// [`MOST_RUNS`].
    pub runs: Vec<(u64, u64)>,
}

impl FromLog {
    /// Makes runs of ascending positions in a log of this size and root.
    #[must_use]
    pub fn of(size: u64, root: Digest, positions: impl IntoIterator<Item = u64>) -> Self {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for position in positions {
            match runs.last_mut() {
                Some((_, end)) if *end == position => *end += 1,
                _ => runs.push((position, position.saturating_add(1))),
            }
        }
        Self { size, root, runs }
    }

    /// Iterates over the positions.
    pub fn positions(&self) -> impl Iterator<Item = u64> {
        self.runs.iter().flat_map(|(from, to)| *from..*to)
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        out.extend_from_slice(&self.size.to_le_bytes());
        out.extend_from_slice(&self.root);
        if self.runs.len() > MOST_RUNS {
            return Err(TOO_MANY_RUNS);
        }
        out.extend_from_slice(&(self.runs.len() as u16).to_le_bytes());
        write_runs(out, &self.runs, self.size)
    }

    fn parse(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let (size, root, count) = (reader.u64()?, reader.array()?, usize::from(reader.u16()?));
        Ok(Self { size, root, runs: parse_runs(reader, count, size)? })
    }
}

impl OrderParts {
    /// Returns true if the order is about this stream of this device.
    #[must_use]
    pub fn is_about(&self, device: &str, stream: &str) -> bool {
        let of_stream = match &self.what {
            Ordered::Forget(forget) => forget.stream.as_deref().is_none_or(|name| name == stream),
            Ordered::Accept { stream: name, .. } | Ordered::RollUp(RollUp { stream: name, .. }) => {
                name == stream
            }
            Ordered::Revoke { .. } => true,
        };
        of_stream && self.device == device
    }

    /// Returns the deletion; None for another order.
    #[must_use]
    pub fn forget(&self) -> Option<&Forget> {
        if let Ordered::Forget(forget) = &self.what { Some(forget) } else { None }
    }

    /// Returns the order to add windows up; None for another order.
    #[must_use]
    pub fn roll_up(&self) -> Option<&RollUp> {
        if let Ordered::RollUp(roll_up) = &self.what { Some(roll_up) } else { None }
    }

    fn fields(&self) -> Result<Vec<u8>, WireError> {
        let mut out = Vec::with_capacity(256);
        out.extend_from_slice(&self.given_at.to_le_bytes());
        out.extend_from_slice(&self.owner);
        write_name(&mut out, &self.device)?;
        match &self.what {
            Ordered::Forget(Forget { stream, until, next, from_log }) => {
                let one = if stream.is_some() { ONE_STREAM } else { 0 };
                out.extend_from_slice(&[FORGET, one | if from_log.is_some() { FROM_LOG } else { 0 }]);
                out.extend_from_slice(&until.to_le_bytes());
                out.extend_from_slice(&next.to_le_bytes());
                if let Some(stream) = stream {
                    write_name(&mut out, stream)?;
                }
                if let Some(windows) = from_log {
                    if stream.is_none() {
                        return Err(NO_STREAM);
                    }
                    windows.write(&mut out)?;
                }
            }
            Ordered::RollUp(roll_up) => {
                out.push(ROLL_UP);
                roll_up.write(&mut out)?;
            }
            Ordered::Accept { stream, size, root } => {
                out.push(ACCEPT);
                write_name(&mut out, stream)?;
                out.extend_from_slice(&size.to_le_bytes());
                out.extend_from_slice(root);
            }
            Ordered::Revoke { key } => {
                out.push(REVOKE);
                out.extend_from_slice(key);
            }
        }
        Ok(out)
    }

    fn parse(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let (given_at, owner, device) = (reader.i64()?, reader.array()?, reader.name()?);
        let what = match reader.u8()? {
            FORGET => {
                let flags = reader.u8()?;
                if flags & !(ONE_STREAM | FROM_LOG) != 0 {
                    return Err(WireError::Value("an order has a flag that is not known"));
                }
                let (until, next) = (reader.i64()?, reader.u64()?);
                let stream = if flags & ONE_STREAM == 0 { None } else { Some(reader.name()?) };
                if flags == FROM_LOG {
                    return Err(NO_STREAM);
                }
                let from_log = if flags & FROM_LOG == 0 { None } else { Some(FromLog::parse(reader)?) };
                Ordered::Forget(Forget { stream, until, next, from_log })
            }
            ACCEPT => Ordered::Accept { stream: reader.name()?, size: reader.u64()?, root: reader.array()? },
            REVOKE => Ordered::Revoke { key: reader.array()? },
            ROLL_UP => Ordered::RollUp(RollUp::parse(reader)?),
            _ => return Err(WireError::Value("an order's kind is not known")),
        };
        Ok(Self { given_at, owner, device, what })
    }
}

const NO_STREAM: WireError = WireError::Value("an order that names windows of a log names its stream");

impl Order {
    /// Signs an order.
    ///
    /// # Errors
    /// [`WireError::Value`] if a name is invalid, or the runs are too many, overlap or pass the log's end.
    pub fn sign(
        parts: OrderParts,
        sign: impl FnOnce(&[u8]) -> [u8; SIGNATURE_BYTES],
    ) -> Result<Self, WireError> {
        let signature = sign(&[SIGNATURE_CONTEXT, &parts.fields()?].concat());
        Ok(Self { parts, signature })
    }

    /// Returns the contents. They are the owner's only if [`Order::verify`] succeeds with a key that is the owner's.
    #[must_use]
    pub fn parts(&self) -> &OrderParts {
        &self.parts
    }

    /// Returns the frame.
    ///
    /// # Errors
    /// Those of [`Order::sign`].
    pub fn write(&self) -> Result<Vec<u8>, WireError> {
        let fields = self.parts.fields()?;
        Ok(frame::write(Kind::Order, fields.len() + SIGNATURE_BYTES, |out| {
            out.extend_from_slice(&fields);
            out.extend_from_slice(&self.signature);
        }))
    }

    /// Reads a frame of at most [`LARGEST_ORDER`] bytes. Does not check the signature: see [`Order::verify`].
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a frame of an order.
    pub fn read(bytes: &[u8]) -> Result<Self, WireError> {
        let mut reader = frame::open(bytes, Kind::Order, LARGEST_ORDER)?;
        let parts = OrderParts::parse(&mut reader)?;
        let signature = reader.array()?;
        reader.finish()?;
        Ok(Self { parts, signature })
    }

    /// Checks the signature against an owner's Ed25519 verifying key, which the order has to name.
    ///
    /// # Errors
    /// [`WireError::Signature`] if it is not valid under the key.
    pub fn verify(&self, owner: &[u8; 32]) -> Result<(), WireError> {
        if self.parts.owner != *owner {
            return Err(WireError::Signature);
        }
        let message = [SIGNATURE_CONTEXT, &self.parts.fields()?].concat();
        signature::verify(&message, &self.signature, owner)
    }

    /// Returns the digest of the order and its signature, by which it is known.
    ///
    /// # Errors
    /// Those of [`Order::sign`].
    pub fn digest(&self) -> Result<Digest, WireError> {
        Ok(digest(&[&self.parts.fields()?[..], &self.signature].concat()))
    }
}
