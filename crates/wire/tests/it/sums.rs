//! Streams of sums: headers, windows and answers as bytes.

mod answers;
mod groups;
mod headers;
mod heads;
mod logged;
mod rounded;
mod sizes;
mod windows;

use std::sync::Arc;

use sotto_keys::SigningIdentity;
use sotto_pack::{
    Channel, Digit, LeftOut, Period, Placed, Presence, Quantity, Reason, SumsPart, WindowDescription,
};
use sotto_rlwe::KeyId;
use sotto_sums::{Encryptor, StreamKeys};
use sotto_wire::{Envelope, MaskName, StreamHeader, SumsStream};

/// A change, and words of the refusal that it must lead to.
pub(crate) type Refused<T> = (&'static str, Box<dyn Fn(&mut T)>);

pub(crate) const SECRET: [u8; 32] = [1; 32];

pub(crate) fn identity() -> SigningIdentity {
    SigningIdentity::from_bytes(&[7; 32])
}

fn channel(name: &str, minimum: f64, maximum: f64, resolution: f64) -> Channel {
    Channel {
        name: name.into(),
        unit: "cm".into(),
        minimum,
        maximum,
        resolution: Some(resolution),
        ..Channel::default()
    }
}

fn placed(quantity: Quantity, digit: Digit, width: u8) -> Placed {
    Placed { quantity, digit, width }
}

/// Two channels, of ±2,048 and ±2^30 steps, every quantity, places of one and two words, a quantity in two places.
pub(crate) fn stream() -> SumsStream {
    let whole = |quantity, width| placed(quantity, Digit::Whole, width);
    let half = f64::from(1 << 28);
    SumsStream {
        device: "cellar".into(),
        stream: "tank".into(),
        period: Period::of_seconds(1, 50).unwrap(),
        ticks: 6,
        channels: vec![channel("level", -2.5, 407.0, 0.1), channel("flow", -half, half, 0.25)],
        rounded: false,
        parts: vec![
            SumsPart {
                quantities: vec![whole(Quantity::Reading(0), 23), whole(Quantity::Reading(1), 45)],
                reasons: 11,
            },
            SumsPart {
                quantities: vec![
                    whole(Quantity::Bins { column: 0, edges: vec![-5, 100, 2000] }, 12),
                    whole(Quantity::Square(0), 36),
                    placed(Quantity::Square(1), Digit::Low, 41),
                    placed(Quantity::Square(1), Digit::High, 50),
                    whole(Quantity::Product(0, 1), 58),
                ],
                reasons: 2,
            },
            SumsPart {
                quantities: vec![whole(Quantity::Least(0), 13), whole(Quantity::Largest(1), 35)],
                reasons: 0,
            },
        ],
    }
}

pub(crate) fn header_of(stream: SumsStream) -> Arc<StreamHeader> {
    Arc::new(StreamHeader::of_sums(stream, |id| KeyId(StreamKeys::derive(&SECRET, id).id())).unwrap())
}

pub(crate) fn header() -> Arc<StreamHeader> {
    header_of(stream())
}

/// The public facts of a window.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) sequence: u64,
    pub(crate) mask: MaskName,
    pub(crate) description: WindowDescription,
}

impl Head {
    /// A window of `ticks` ticks without gaps.
    pub(crate) fn whole(
        header: &StreamHeader,
        sequence: u64,
        mask: MaskName,
        start: i64,
        ticks: u32,
    ) -> Self {
        let description = WindowDescription::whole(header.layout(), start, header.period(), ticks);
        Self { sequence, mask, description }
    }

    /// Sets the ticks with a reading, as a description states them.
    pub(crate) fn with_presence(mut self, presence: Vec<Presence>) -> Self {
        self.description.present = presence.iter().map(Presence::count).collect();
        let first = presence.iter().all(|presence| presence.end() == presence.count());
        self.description.presence = if first { Vec::new() } else { presence };
        self
    }

    pub(crate) fn sign(
        self,
        header: &Arc<StreamHeader>,
        parts: &[u8],
    ) -> Result<Envelope, sotto_wire::WireError> {
        let Self { sequence, mask, description } = self;
        Envelope::sign_sums(header, sequence, mask, description, parts, |message| identity().sign(message))
    }
}

/// Encrypts and signs a window whose reading in a column at a tick is given.
pub(crate) fn window(header: &Arc<StreamHeader>, head: Head, reading: &dyn Fn(u16, u32) -> i64) -> Envelope {
    let (layout, description) = (header.layout(), &head.description);
    let mut slots = vec![0; layout.slots()];
    for column in 0..layout.channels().len() as u16 {
        (0..layout.ticks())
            .for_each(|tick| slots[layout.slot(column, tick).unwrap()] = reading(column, tick));
    }
    let presence: Vec<Presence> =
        (0..layout.channels().len() as u16).map(|column| description.presence(column).unwrap()).collect();
    let mut encryptor = Encryptor::new(&SECRET, header.stream_id().unwrap(), &head.mask.salt, 0);
    let mut pads = encryptor.window(head.mask.sequence).unwrap();
    let (ticks, mut parts) = (description.sent_ticks(), Vec::new());
    for (at, part) in header.parts().iter().enumerate() {
        let form = header.sums_form(at).unwrap();
        let mut body = vec![0; form.body_bytes(ticks)];
        let values = part.values(layout, ticks, &slots, &presence);
        let present: Vec<bool> = values.iter().map(Option::is_some).collect();
        assert_eq!(part.present(description), present);
        let tag = pads.encrypt(&form, ticks, at as u32, values, part.counts(description), &mut body).unwrap();
        parts.extend(body);
        parts.extend(tag.to_bytes());
    }
    head.sign(header, &parts).unwrap()
}

pub(crate) fn pad(sequence: u64) -> MaskName {
    MaskName { salt: [3; 12], sequence }
}

/// A window with gaps, readings left out, and a lower pad number.
pub(crate) fn gappy() -> Head {
    let (mut level, mut left_out) = (Presence::default(), LeftOut::default());
    [0, 2, 3].iter().for_each(|tick| level.insert(*tick));
    left_out.add(Reason::Empty, 1);
    left_out.add(Reason::Future, 65_535);
    let mut head =
        Head::whole(&header(), 300, pad(297), -5, 6).with_presence(vec![level, Presence::first(2)]);
    head.description.left_out = vec![LeftOut::default(), left_out];
    head.description.generated = true;
    head
}

pub(crate) fn reading(column: u16, tick: u32) -> i64 {
    if column == 0 { 1000 + 7 * i64::from(tick) } else { -(1 << 30) + i64::from(tick) }
}
