//! The facts of a window that everybody can read who has its message, in words.

use sotto_pack::{Clock, Presence, WindowDescription};
use sotto_wire::{MaskName, SignedHeader, StreamHeader};

use crate::amount::Every;
use crate::runs::runs;

/// Maximum stretches of ticks, or numbers of windows, that are told one by one.
const MOST_TOLD: usize = 20;

/// The readable facts of a window.
pub(super) struct Facts<'f> {
    pub(super) device: &'f str,
    pub(super) stream: &'f str,
    pub(super) number: u64,
    pub(super) header: Option<&'f StreamHeader>,
    pub(super) mask: Option<MaskName>,
    pub(super) description: Option<&'f WindowDescription>,
}

impl Facts<'_> {
    /// Returns the facts as names and values. `signed` is the header that the device signed, if it was fetched.
    pub(super) fn in_words(&self, clock: &Clock, signed: Option<&SignedHeader>) -> Vec<(String, String)> {
        let mut facts = Told(Vec::new());
        facts.add("device", self.device);
        facts.add("stream", self.stream);
        facts.add("number", self.number.to_string());
        if let Some(header) = self.header {
            let channels = header.layout().channels().iter().map(|channel| {
                let unit = if channel.unit.is_empty() { String::new() } else { format!(" {}", channel.unit) };
                format!("{}, {} to {}{unit}", channel.name, channel.minimum, channel.maximum)
            });
            facts.add("channels", channels.collect::<Vec<_>>().join("; "));
            facts.add("key", format!("its name is {}; the key itself is not here", header.key()));
        }
        if let Some(MaskName { salt, sequence }) = self.mask {
            facts.add("pad", format!("number {sequence} under salt {}", hex::encode(salt)));
        }
        if let Some(description) = self.description {
            described(&mut facts, description, clock);
        }
        if let Some(signed) = signed {
            signature(&mut facts, signed);
        }
        facts.0
    }
}

struct Told(Vec<(String, String)>);

impl Told {
    fn add(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.push((name.into(), value.into()));
    }
}

fn described(facts: &mut Told, description: &WindowDescription, clock: &Clock) {
    let ticks = description.ticks();
    facts.add("begins", clock.rfc3339(description.start));
    facts.add("ticks", format!("{ticks}, one every {}", Every { period: description.period }));
    for (column, channel) in (0_u16..).zip(description.layout.channels()) {
        let name = &channel.name;
        let present = description.present.get(usize::from(column)).copied().unwrap_or_default();
        let there = match description.presence(column) {
            Some(presence) if present < ticks && present > 0 => {
                format!("{present} of {ticks}, at ticks {}", at(&presence))
            }
            _ => format!("{present} of {ticks}"),
        };
        facts.add(format!("readings of {name}"), there);
        if let Some(left_out) = description.left_out.get(usize::from(column)).filter(|all| !all.is_empty()) {
            let counts = left_out.iter().map(|(reason, count)| format!("{count} {}", reason.words()));
            facts.add(format!("left out of {name}"), counts.collect::<Vec<_>>().join(", "));
        }
    }
    if let Some(replaces) = &description.replaces {
        facts.add("replaces", format!("windows {}", told(replaces.windows.iter().copied())));
    }
    if description.provisional {
        facts.add("open", "a piece of a window that was still open");
    }
    if description.generated {
        facts.add("made up", "by a generator in place of a sensor");
    }
}

fn signature(facts: &mut Told, signed: &SignedHeader) {
    if let Some(receipt) = signed.taken_receipt() {
        let sotto_wire::TakenReceipt { sequence, position } = receipt;
        facts.add(
            "after the receipt",
            format!("of window {sequence}, at position {position} of the stream's log"),
        );
    }
    if let Some((index, of)) = signed.place() {
        facts.add("group", format!("window {} of {of} under one signature", u16::from(index) + 1));
    }
    // The signature ends the bytes of a window of version 2.
    if signed.stream().is_some()
        && let Some(bytes) = signed.write_bare().last_chunk::<64>()
    {
        facts.add("signature", hex::encode(bytes));
    }
}

fn at(presence: &Presence) -> String {
    told(presence.iter().map(u64::from))
}

/// Returns ascending numbers in words: `0-3, 7`.
fn told(numbers: impl IntoIterator<Item = u64>) -> String {
    let all = runs(numbers);
    let words = all.iter().take(MOST_TOLD).map(|(first, count)| match count {
        1 => first.to_string(),
        count => format!("{first}-{}", first + u64::from(*count) - 1),
    });
    let words = words.collect::<Vec<_>>().join(", ");
    if all.len() > MOST_TOLD { format!("{words} and more") } else { words }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_as_stretches() {
        assert_eq!(told([0, 1, 2, 3, 7]), "0-3, 7");
        assert_eq!(told([]), "");
        let many = told((0..100).map(|number| 2 * number));
        assert!(many.starts_with("0, 2, 4, ") && many.ends_with("38 and more"), "{many}");
    }
}
