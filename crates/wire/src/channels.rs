//! The channels of a stream's header.
//!
//! A list is its length in two bytes, below 16,384, then the channels: `name ‖ unit ‖ minimum 8 ‖ maximum 8 ‖ resolution 8`. If a channel
//! has a kind, the length's highest bit is set, and each channel goes on: `kind 1`, and for all but 0 `several 1`, then for a
//! gauge or a state the milliseconds that a reading holds (0: none, or until the next one), for a counter the largest
//! increase of a tick in 8 bytes (0: none), for a state the number of states in two bytes and each as a text. The length's
//! second highest bit is set if windows count the readings that were rounded.

use alloc::vec::Vec;

use sotto_pack::{Amount, Angle, Channel, ChannelKind, Counter, Gauge, MOST_STATES, Several, State};

use crate::error::WireError;
use crate::reader::{Reader, write_varint};

/// Set in the length of a list of channels with kinds.
const KINDS: u16 = 1 << 15;
/// Set in the length of a list of channels whose rounded readings are counted.
const ROUNDED: u16 = 1 << 14;

/// A list of channels.
pub(crate) struct ChannelList {
    pub(crate) channels: Vec<Channel>,
    /// True if windows count the readings of each that were rounded.
    pub(crate) rounded: bool,
}

/// A channel takes at least 26 bytes: two texts of one byte or more, and three numbers.
const LEAST_BYTES: usize = 26;

pub(crate) fn write_channels(
    out: &mut Vec<u8>,
    channels: &[Channel],
    rounded: bool,
) -> Result<(), WireError> {
    let count = u16::try_from(channels.len()).ok().filter(|count| count & (KINDS | ROUNDED) == 0);
    let count = count.ok_or(WireError::Value("a list has at most 16383 channels"))?;
    let kinds = channels.iter().any(|channel| !channel.kind.is_interval());
    let flag = |set: bool, flag: u16| if set { flag } else { 0 };
    out.extend_from_slice(&(count | flag(kinds, KINDS) | flag(rounded, ROUNDED)).to_le_bytes());
    for channel in channels {
        write_channel(out, channel)?;
        if kinds {
            write_kind(out, &channel.kind)?;
        }
    }
    Ok(())
}

pub(crate) fn read_channels(reader: &mut Reader<'_>) -> Result<ChannelList, WireError> {
    let count = reader.u16()?;
    let (kinds, rounded) = (count & KINDS != 0, count & ROUNDED != 0);
    let count = count & !(KINDS | ROUNDED);
    let expected = usize::from(count) * LEAST_BYTES;
    if reader.left() < expected {
        return Err(WireError::Truncated { expected: expected as u64, found: reader.left() as u64 });
    }
    let channels: Vec<Channel> = (0..count)
        .map(|_| {
            let channel = read_channel(reader)?;
            Ok(Channel { kind: if kinds { read_kind(reader)? } else { ChannelKind::default() }, ..channel })
        })
        .collect::<Result<_, WireError>>()?;
    if kinds && channels.iter().all(|channel| channel.kind.is_interval()) {
        return Err(WireError::Value("a list of channels without kinds is not in its canonical form"));
    }
    Ok(ChannelList { channels, rounded })
}

fn write_channel(out: &mut Vec<u8>, channel: &Channel) -> Result<(), WireError> {
    let Channel { name, unit, minimum, maximum, resolution, kind: _ } = channel;
    write_text(out, name)?;
    write_text(out, unit)?;
    for number in [*minimum, *maximum, resolution.unwrap_or_default()] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    Ok(())
}

fn read_channel(reader: &mut Reader<'_>) -> Result<Channel, WireError> {
    let (name, unit) = (reader.text()?, reader.text()?);
    let (minimum, maximum, resolution) = (reader.f64()?, reader.f64()?, reader.f64()?);
    // 0 stands for a channel without a resolution.
    let resolution = (resolution != 0.0).then_some(resolution);
    Ok(Channel { name, unit, minimum, maximum, resolution, kind: ChannelKind::default() })
}

fn write_kind(out: &mut Vec<u8>, kind: &ChannelKind) -> Result<(), WireError> {
    let code = match kind {
        ChannelKind::Interval => {
            out.push(0);
            return Ok(());
        }
        ChannelKind::Gauge(_) => 1,
        ChannelKind::Counter(_) => 2,
        ChannelKind::State(_) => 3,
        ChannelKind::Amount(_) => 4,
        ChannelKind::Angle(_) => 5,
    };
    let several = kind.rules().several();
    let place = Several::ALL.iter().position(|rule| *rule == several).unwrap_or_default();
    out.extend_from_slice(&[code, place as u8]);
    match kind {
        ChannelKind::Gauge(Gauge { hold, .. }) => write_varint(out, hold.unwrap_or_default()),
        ChannelKind::Counter(Counter { at_most, .. }) => {
            out.extend_from_slice(&at_most.unwrap_or_default().to_le_bytes());
        }
        ChannelKind::State(State { states, hold, .. }) => {
            write_varint(out, hold.unwrap_or_default());
            out.extend_from_slice(&(states.len() as u16).to_le_bytes());
            states.iter().try_for_each(|state| write_text(out, state))?;
        }
        ChannelKind::Interval | ChannelKind::Amount(_) | ChannelKind::Angle(_) => {}
    }
    Ok(())
}

fn read_kind(reader: &mut Reader<'_>) -> Result<ChannelKind, WireError> {
    let code = reader.u8()?;
    if code == 0 {
        return Ok(ChannelKind::Interval);
    }
    let several = Several::ALL.get(usize::from(reader.u8()?)).copied();
    let several = several.ok_or(WireError::Value("what several readings of a tick are is not known here"))?;
    let hold = |reader: &mut Reader<'_>| reader.varint().map(|hold| (hold > 0).then_some(hold));
    Ok(match code {
        1 => ChannelKind::Gauge(Gauge { several, hold: hold(reader)? }),
        2 => {
            let at_most = reader.f64()?;
            ChannelKind::Counter(Counter { several, at_most: (at_most != 0.0).then_some(at_most) })
        }
        3 => {
            let hold = hold(reader)?;
            let states = reader.counted(1)?;
            if usize::from(states.end) > MOST_STATES {
                return Err(WireError::Value("a channel has at most 256 states"));
            }
            ChannelKind::State(State {
                states: states.map(|_| reader.text()).collect::<Result<_, _>>()?,
                several,
                hold,
            })
        }
        4 => ChannelKind::Amount(Amount { several }),
        5 => ChannelKind::Angle(Angle { several }),
        _ => return Err(WireError::Value("this kind of channel is not known here")),
    })
}

fn write_text(out: &mut Vec<u8>, text: &str) -> Result<(), WireError> {
    let length = u8::try_from(text.len()).map_err(|_| WireError::Value("a text has at most 255 bytes"))?;
    out.push(length);
    out.extend_from_slice(text.as_bytes());
    Ok(())
}
