//! The name of a fleet: streams of several devices whose windows share masks.

use alloc::string::String;
use alloc::string::ToString;
use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};

/// Length of a fleet's id.
pub const FLEET_ID_BYTES: usize = 16;

/// The public name of a fleet: streams of several devices with one form, whose windows of one clock time
/// share a mask. Two streams of one device never have the same fleet. Written as 32 lower-case hexadecimal
/// digits in JSON and in addresses.
///
/// ```
/// use sotto_pack::{FleetId, NotAFleetId};
///
/// let boilers: FleetId = "000102030405060708090a0b0c0d0e0f".parse()?;
/// assert_eq!(boilers.0[15], 15);
/// assert_eq!("boilers".parse::<FleetId>(), Err(NotAFleetId));
/// # Ok::<(), NotAFleetId>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct FleetId(pub [u8; FLEET_ID_BYTES]);

/// The text is not a [`FleetId`].
///
/// Example: [`FleetId`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the id of a fleet has 32 lower-case hexadecimal digits")]
pub struct NotAFleetId;

impl fmt::Display for FleetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for FleetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FleetId({self})")
    }
}

impl FromStr for FleetId {
    type Err = NotAFleetId;

    fn from_str(text: &str) -> Result<Self, NotAFleetId> {
        let digit = |digit: u8| match digit {
            b'0'..=b'9' => Ok(digit - b'0'),
            b'a'..=b'f' => Ok(digit - b'a' + 10),
            _ => Err(NotAFleetId),
        };
        let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return Err(NotAFleetId) };
        let mut id = [0; FLEET_ID_BYTES];
        if pairs.len() != id.len() {
            return Err(NotAFleetId);
        }
        for (byte, [high, low]) in id.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Ok(Self(id))
    }
}

impl TryFrom<String> for FleetId {
    type Error = NotAFleetId;

    fn try_from(text: String) -> Result<Self, NotAFleetId> {
        text.parse()
    }
}

impl From<FleetId> for String {
    fn from(id: FleetId) -> Self {
        id.to_string()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn an_id_has_one_text() {
        let id = FleetId(core::array::from_fn(|at| 17 * at as u8));
        assert_eq!(id.to_string(), "00112233445566778899aabbccddeeff");
        assert_eq!(id.to_string().parse(), Ok(id));
        let json = serde_json::to_string(&id).unwrap();
        assert_eq!(serde_json::from_str::<FleetId>(&json).unwrap(), id);
        for wrong in [
            "",
            "00112233445566778899aabbccddeef",
            "00112233445566778899AABBCCDDEEFF",
            "00112233445566778899aabbccddeeff00",
            "00112233445566778899aabbccddeeg0",
            "é0112233445566778899aabbccddeeff",
        ] {
            assert_eq!(wrong.parse::<FleetId>(), Err(NotAFleetId), "{wrong}");
        }
    }
}
