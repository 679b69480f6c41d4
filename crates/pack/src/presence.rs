//! Presence: the ticks of a channel that have a reading.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// The set of ticks with a reading. Written as hexadecimal digits without trailing zeros; the highest bit of
/// the first digit is the first tick.
///
/// ```
/// use sotto_pack::{NotAPresence, Presence};
///
/// let mut readings = Presence::first(3);
/// readings.insert(5); // ticks 3 and 4 are missing
/// assert_eq!((readings.count(), readings.end()), (4, 6));
/// assert!(!readings.contains(4));
/// assert_eq!(String::from(readings), "e4");
/// assert_eq!(Presence::try_from("E4".to_owned()), Err(NotAPresence));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Presence(Vec<u8>);

/// The text is not the hexadecimal form of a presence.
///
/// Example: [`Presence`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a presence is written in lower-case hexadecimal digits and does not end in 0")]
pub struct NotAPresence;

impl Presence {
    /// Returns the set of the first `count` ticks.
    #[must_use]
    pub fn first(count: u32) -> Self {
        let (whole, rest) = (count as usize / 4, count % 4);
        let mut digits = Vec::with_capacity(whole + 1);
        digits.resize(whole, 0xf);
        if rest > 0 {
            digits.push(0xf & !(0xf >> rest));
        }
        Self(digits)
    }

    /// Adds a tick.
    pub fn insert(&mut self, tick: u32) {
        let digit = tick as usize / 4;
        if self.0.len() <= digit {
            self.0.resize(digit + 1, 0);
        }
        self.0[digit] |= 8 >> (tick % 4);
    }

    /// Takes a tick out.
    pub fn remove(&mut self, tick: u32) {
        if let Some(digit) = self.0.get_mut(tick as usize / 4) {
            *digit &= !(8 >> (tick % 4));
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    /// Returns true if the tick has a reading.
    #[must_use]
    pub fn contains(&self, tick: u32) -> bool {
        self.0.get(tick as usize / 4).is_some_and(|digit| digit & (8 >> (tick % 4)) != 0)
    }

    /// Returns the number of ticks with a reading.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.0.iter().map(|digit| digit.count_ones()).sum()
    }

    /// Returns the tick after the last one with a reading, 0 if there is none.
    #[must_use]
    pub fn end(&self) -> u32 {
        self.0.last().map_or(0, |digit| 4 * self.0.len() as u32 - digit.trailing_zeros())
    }

    /// Returns the ticks with a reading, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.end()).filter(|tick| self.contains(*tick))
    }

    /// Returns the ticks in both sets.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let mut both: Vec<u8> = self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect();
        while both.last() == Some(&0) {
            both.pop();
        }
        Self(both)
    }
}

impl From<Presence> for String {
    fn from(presence: Presence) -> Self {
        presence.0.iter().filter_map(|digit| char::from_digit((*digit).into(), 16)).collect()
    }
}

impl TryFrom<String> for Presence {
    type Error = NotAPresence;

    fn try_from(text: String) -> Result<Self, NotAPresence> {
        let digit = |c: char| c.to_digit(16).filter(|_| !c.is_ascii_uppercase()).map(|digit| digit as u8);
        let digits: Option<Vec<u8>> = text.chars().map(digit).collect();
        digits.filter(|digits| digits.last() != Some(&0)).map(Self).ok_or(NotAPresence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_come_back_from_their_digits() {
        let mut presence = Presence::default();
        for tick in [0, 3, 4, 13] {
            presence.insert(tick);
        }
        assert_eq!(String::from(presence.clone()), "9804");
        assert_eq!(Presence::try_from("9804".to_owned()), Ok(presence.clone()));
        assert_eq!(presence.iter().collect::<Vec<_>>(), [0, 3, 4, 13]);
        assert_eq!((presence.count(), presence.end()), (4, 14));
        for count in 0..14 {
            assert!(Presence::first(count).iter().eq(0..count));
        }
        assert_eq!(
            ["", "8", "c", "e", "f", "f8"],
            [0, 1, 2, 3, 4, 5].map(|n| String::from(Presence::first(n)))
        );
        assert_eq!(presence.and(&Presence::first(4)).iter().collect::<Vec<_>>(), [0, 3]);
        assert_eq!(Presence::default().end(), 0);
        for wrong in ["0", "A", "90", "x", "9 "] {
            assert_eq!(Presence::try_from(wrong.to_owned()), Err(NotAPresence), "{wrong}");
        }
    }
}
