//! One window, twice: the message that the cloud has, and the readings that its owner opens.

use serde::Serialize;
use sotto_cloud_client::CloudError;
use sotto_pack::{Clock, Quantiser};
use sotto_wire::{Envelope, LARGEST_ENVELOPE};

use super::head::Facts;
use super::list::{no_window, numbered};
use super::opened::opened;
use crate::declared::Plant;
use crate::devices;
use crate::error::OwnerError;
use crate::lie::Lie;
use crate::orders::Orders;
use crate::windows::{self, ByNumber, RollUps};

/// Maximum bytes of the encrypted part that are shown.
const MOST_BYTES: usize = 4096;

/// Maximum ticks of a channel that are shown.
const MOST_TICKS: usize = 4096;

/// Bytes of a message beside the largest envelope.
const OVERHEAD: u64 = 4096;

/// A window as the cloud sees it, and as its owner does.
///
/// Example: [`Plant::window_seen`]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WindowSeen {
    /// The message.
    pub cloud: CloudSees,
    /// The readings.
    pub owner: OwnerSees,
}

/// The part of a window that the cloud can read, and the bytes that it cannot.
///
/// Example: [`Plant::window_seen`]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CloudSees {
    /// The facts that are not encrypted: names and values, in words.
    pub head: Vec<(String, String)>,
    /// Bytes that the message took on its way.
    pub bytes: u64,
    /// The encrypted part in hexadecimal: at most its first 4,096 bytes.
    pub body: String,
    /// Bytes of the encrypted part.
    pub body_bytes: u64,
    /// The tag of each part of a window of sums, in hexadecimal.
    pub tags: Vec<String>,
}

/// The readings of a window.
///
/// Example: [`Plant::window_seen`]
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OwnerSees {
    /// The channels of its stream, by their names in `sotto.toml`.
    pub channels: Vec<SeenChannel>,
    /// The reason why there are no readings to show. None if there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The readings of one channel of a window.
///
/// Example: [`Plant::window_seen`]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeenChannel {
    /// The channel's name.
    pub channel: String,
    /// The unit of its readings.
    pub unit: String,
    /// A value for each tick, at most the first 4,096.
    pub values: Vec<SeenReading>,
}

/// The reading of a tick.
///
/// Example: [`Plant::window_seen`]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeenReading {
    /// The tick's instant, as RFC 3339.
    pub at: String,
    /// The reading, in the channel's unit. None: the tick has none.
    pub value: Option<f64>,
}

/// Fetches a window's message, and opens its readings.
pub(crate) fn seen(plant: &Plant, device: &str, stream: &str, number: u64) -> Result<WindowSeen, OwnerError> {
    let not_enrolled = || OwnerError::NotDeclared { kind: "enrolled device", name: device.to_owned() };
    let record = devices::record(plant, device)?.ok_or_else(not_enrolled)?;
    let missing = || no_window(device, stream, number);
    // A name that is none of the device's streams would be a path in the folder.
    let stream = *record.streams().get(stream).ok_or_else(missing)?;
    let (cloud, clock) = (plant.cloud()?, plant.settings().clock()?);
    let orders = Orders::new(plant, &cloud);
    let log = windows::sync_log(&orders, &record, stream)?;
    let entry = numbered(&log, number).ok_or_else(missing)?;
    let (description, header, bytes) = (entry.description(), entry.stream().cloned(), entry.bytes());
    let facts = Facts {
        device: &record.device,
        stream,
        number,
        header: header.as_deref(),
        mask: entry.mask(),
        description: description.as_ref(),
    };
    let alone = |why: String| WindowSeen {
        cloud: CloudSees { head: facts.in_words(&clock, None), bytes, ..CloudSees::default() },
        owner: OwnerSees { why: Some(why), ..OwnerSees::default() },
    };
    if entry.is_deleted_here() {
        return Ok(alone("you deleted it: `sotto forget`".to_owned()));
    }
    if entry.is_taken() {
        return Ok(alone("it was deleted, as the cloud says: `sotto status` tells more".to_owned()));
    }
    if entry.is_lost() {
        return Ok(alone("the cloud cannot read it any more: `sotto verify` tells more".to_owned()));
    }
    if let Some(rolled) = RollUps::of(&orders.roll_ups(&record.device, stream)?).at(entry.position) {
        return Ok(alone(format!(
            "the cloud keeps one sum in place of it and {} more windows, by your order (`sotto retain`): only questions about all of \
             them have an answer",
            rolled.windows.saturating_sub(1)
        )));
    }
    let logged = ByNumber::new(log, &cloud, (&record.device, stream), [number]);
    let (leaf, id) = logged.named(number)?;
    let message = match cloud.message(&id) {
        Err(CloudError::Refused { status: 410, .. }) => {
            let why = "it was a piece of a window that was still open; the whole window has its readings";
            return Ok(alone(why.to_owned()));
        }
        message => message?,
    };
    let window = match Envelope::read_kept(&message, LARGEST_ENVELOPE + OVERHEAD) {
        Ok(window) if window.signed_header().leaf() == leaf => window,
        _ => {
            let (device, stream) = (device.to_owned(), stream.to_owned());
            return Err(Lie::ExchangedWindow { device, stream, sequence: number }.into());
        }
    };
    let mut of_cloud = encrypted(&window)?;
    of_cloud.head = facts.in_words(&clock, Some(window.signed_header()));
    of_cloud.bytes = bytes;
    Ok(WindowSeen { cloud: of_cloud, owner: of_owner(plant, device, &window, &clock)? })
}

/// Returns the bytes of a window that only its owner can read.
fn encrypted(window: &Envelope) -> Result<CloudSees, OwnerError> {
    let stream = window.signed_header().stream().filter(|stream| stream.is_of_sums());
    let Some(stream) = stream else {
        let body = window.body().coefficients().map_or_else(|| window.body().frame(), Into::into);
        let shown = hex::encode(&body[..body.len().min(MOST_BYTES)]);
        return Ok(CloudSees { body: shown, body_bytes: body.len() as u64, ..CloudSees::default() });
    };
    let (mut shown, mut tags, mut bytes) = (Vec::new(), Vec::new(), 0);
    for number in 0..stream.parts().len() {
        let part = window.part(number).map_err(|error| OwnerError::wrong(&error.to_string()))?;
        let left = MOST_BYTES - shown.len();
        shown.extend_from_slice(&part.body()[..part.body().len().min(left)]);
        bytes += part.body().len() as u64;
        tags.push(hex::encode(part.tag().to_bytes()));
    }
    Ok(CloudSees { body: hex::encode(shown), body_bytes: bytes, tags, ..CloudSees::default() })
}

/// Returns the readings of a window, or the reason why there are none to show.
fn of_owner(plant: &Plant, device: &str, window: &Envelope, clock: &Clock) -> Result<OwnerSees, OwnerError> {
    let why = |why: &str| OwnerSees { why: Some(why.to_owned()), ..OwnerSees::default() };
    let signed = window.signed_header();
    let described = signed.stream().filter(|stream| stream.is_of_sums()).and(signed.description());
    let Some(described) = described else {
        return Ok(why(
            "its readings are whole ciphertexts, of which only results are decrypted: ask a question about this time",
        ));
    };
    let Some(secret) = devices::held_secret(plant, device)? else {
        return Ok(why("the secret of its device is gone, and with it every reading"));
    };
    let readings = opened(&secret, window)?;
    let mut channels = Vec::new();
    for ((column, channel), ticks) in (0_u16..).zip(described.layout.channels()).zip(readings) {
        let (Some(ticks), Some(quantiser)) = (ticks, described.layout.quantiser(column)) else { continue };
        let values = ticks.iter().take(MOST_TICKS).zip(0_u32..).map(|(q, tick)| {
            let at = clock.rfc3339(described.period.at(described.start, tick));
            Ok(SeenReading { at, value: q.map(|q| value(quantiser, q)).transpose()? })
        });
        channels.push(SeenChannel {
            channel: plant.settings().shown_channel(&channel.name).to_owned(),
            unit: channel.unit.clone(),
            values: values.collect::<Result<_, OwnerError>>()?,
        });
    }
    if channels.is_empty() {
        return Ok(why("its device sends no single readings in this stream, but counts or extremes alone"));
    }
    Ok(OwnerSees { channels, why: None })
}

fn value(quantiser: &Quantiser, q: i64) -> Result<f64, OwnerError> {
    if q.unsigned_abs() > quantiser.top().unsigned_abs() {
        return Err(OwnerError::wrong("a reading is outside of its declared range"));
    }
    // As in sums: without a loss for decimal steps.
    Ok(quantiser.sum(1, q.into()))
}
