//! Two channels, each of one device: `correlation(temp of boiler, temp of roof)`.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::arguments::{About, Arguments};
use crate::gathered::moments::Pair;
use crate::gathered::{Counted, Gathered, Need, joined};
use crate::language::{Measurand, OfDevice, Parsed, Parser};
use crate::value::{Value, ValueError};

/// Two channels of devices, with a comma between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TwoOfDevices {
    pub(super) x: OfDevice,
    pub(super) y: OfDevice,
}

/// A channel of a device that another one explains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExplainedOfDevices {
    pub(super) y: OfDevice,
    pub(super) x: OfDevice,
}

/// Two channels, each perhaps with its device.
pub(super) enum Two {
    Channels([String; 2]),
    OfDevices([OfDevice; 2]),
}

/// Reads two channels, the sign between them and the closing parenthesis. Channels of one device are those of a call that names
/// it.
pub(super) fn two(parser: &mut Parser<'_>, between: char, expected: &'static str) -> Parsed<Two> {
    let begin = parser.operands();
    let first = parser.channel()?;
    parser.expect(between, expected)?;
    let second = parser.channel()?;
    parser.close_after_name()?;
    Ok(match parser.take_two_devices(begin) {
        Some([one, other]) => Two::OfDevices([OfDevice::new(first, one), OfDevice::new(second, other)]),
        None => Two::Channels([first, second]),
    })
}

impl Display for TwoOfDevices {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}, {}", self.x, self.y)
    }
}

impl Display for ExplainedOfDevices {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{} ~ {}", self.y, self.x)
    }
}

impl Arguments for TwoOfDevices {
    fn about(&self) -> About<'_> {
        About::OfDevices([&self.x, &self.y])
    }

    fn reading_mut(&mut self) -> Option<&mut Measurand> {
        None
    }
}

impl Arguments for ExplainedOfDevices {
    fn about(&self) -> About<'_> {
        About::OfDevices([&self.y, &self.x])
    }

    fn reading_mut(&mut self) -> Option<&mut Measurand> {
        None
    }
}

/// Returns why two channels of devices have no common statistic; None if they have.
pub(super) fn same([x, y]: [&OfDevice; 2]) -> Option<String> {
    (x.device == y.device).then(|| format!("{} and {} are of one device: name two", x.channel, y.channel))
}

/// Returns the needs of two channels, in this order.
pub(super) fn needs(x: &OfDevice, y: &OfDevice) -> Vec<Need> {
    vec![Need::readings_of(x), Need::readings_of(y)]
}

/// Returns the moments of the call's two channels over their common times.
pub(super) fn pair(from: &Gathered<'_>) -> Pair {
    joined(&from.readings_at(0), &from.readings_at(1))
}

/// Returns a value that follows from the moments of the call's two channels.
pub(super) fn of_pair(
    from: &Gathered<'_>,
    value: impl FnOnce(&Pair) -> Result<Value, ValueError>,
) -> Counted {
    let pair = pair(from);
    // A reading without a partner is none of the value's.
    Counted { value: value(&pair), count: pair.x.count, missing: 0 }
}
