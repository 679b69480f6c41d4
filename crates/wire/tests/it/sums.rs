//! Streams of sums: headers, windows and answers as bytes.

mod answers;
mod groups;
mod headers;
mod sizes;
mod windows;

use std::sync::Arc;

use sotto_keys::SigningIdentity;
use sotto_pack::{LeftOut, Presence, Reason};
use sotto_rlwe::KeyId;
use sotto_sums::{Encryptor, StreamKeys};
use sotto_wire::{
    Digit, PadName, Placed, Quantity, SumsColumn, SumsHead, SumsHeader, SumsPart, SumsStream, SumsWindow,
    TickPeriod,
};

/// A change, and words of the refusal that it must lead to.
pub(crate) type Refused<T> = (&'static str, Box<dyn Fn(&mut T)>);

pub(crate) const SECRET: [u8; 32] = [1; 32];

pub(crate) fn identity() -> SigningIdentity {
    SigningIdentity::from_bytes(&[7; 32])
}

fn column(name: &str, least: i64, most: i64) -> SumsColumn {
    SumsColumn { name: name.into(), unit: "cm".into(), origin: -2.5, step: 0.1, least, most }
}

fn placed(quantity: Quantity, digit: Digit, width: u8) -> Placed {
    Placed { quantity, digit, width }
}

/// Two columns, every quantity, places of one and two words, a quantity in two places.
pub(crate) fn stream() -> SumsStream {
    let whole = |quantity, width| placed(quantity, Digit::Whole, width);
    SumsStream {
        device: "cellar".into(),
        stream: "tank".into(),
        period: TickPeriod::new(1, 44_100).unwrap(),
        ticks: 6,
        columns: vec![column("level", 0, 4095), column("flow", -(1 << 33), 1 << 33)],
        parts: vec![
            SumsPart {
                quantities: vec![whole(Quantity::Reading(0), 23), whole(Quantity::Reading(1), 45)],
                reasons: 11,
            },
            SumsPart {
                quantities: vec![
                    whole(Quantity::Bins { column: 0, edges: vec![-5, 100, 4000] }, 12),
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

pub(crate) fn header_of(stream: SumsStream) -> Arc<SumsHeader> {
    Arc::new(SumsHeader::new(stream, |id| KeyId(StreamKeys::derive(&SECRET, id).id())).unwrap())
}

pub(crate) fn header() -> Arc<SumsHeader> {
    header_of(stream())
}

/// The values of a part of a window whose reading in a column at a tick is given; None where absent.
fn values(
    header: &SumsHeader,
    head: &SumsHead,
    part: usize,
    reading: &dyn Fn(u16, u32) -> i64,
) -> Vec<Option<i64>> {
    let has = |column: u16, tick| head.presence[usize::from(column)].contains(tick);
    let all = |column: u16| {
        (0..head.ticks).filter(move |tick| has(column, *tick)).map(move |tick| reading(column, tick))
    };
    let (mut once, mut ticks) = (Vec::new(), Vec::new());
    let quantities = &header.stream().parts[part].quantities;
    for Placed { quantity, .. } in quantities {
        match quantity {
            Quantity::Least(column) => once.push(all(*column).min()),
            Quantity::Largest(column) => once.push(all(*column).max()),
            Quantity::Bins { column, edges } => {
                for bin in 0..=edges.len() {
                    let inside = |q: &i64| edges.partition_point(|edge| edge <= q) == bin;
                    once.push((all(*column).count() > 0).then(|| all(*column).filter(inside).count() as i64));
                }
            }
            _ => {}
        }
    }
    for tick in 0..head.sent_ticks() {
        for Placed { quantity, digit, .. } in quantities.iter().filter(|placed| !placed.quantity.is_once()) {
            let (x, y) = quantity.columns();
            let there = has(x, tick) && has(y, tick);
            let (a, b) = (i128::from(reading(x, tick)), i128::from(reading(y, tick)));
            let value = if matches!(quantity, Quantity::Reading(_)) { a } else { a * b };
            ticks.push(there.then(|| digit.of(value) as i64));
        }
    }
    once.extend(ticks);
    once
}

/// Encrypts and signs a window.
pub(crate) fn window(
    header: &Arc<SumsHeader>,
    head: SumsHead,
    reading: &dyn Fn(u16, u32) -> i64,
) -> SumsWindow {
    let mut encryptor = Encryptor::new(&SECRET, header.stream_id(), &head.pad.salt, 0);
    let mut pads = encryptor.window(head.pad.number).unwrap();
    let mut parts = Vec::new();
    for part in 0..header.stream().parts.len() {
        let form = header.form(part).unwrap();
        let mut body = vec![0; form.body_bytes(head.sent_ticks())];
        let values = values(header, &head, part, reading);
        let present: Vec<bool> = values.iter().map(Option::is_some).collect();
        assert_eq!(head.present(header, part).unwrap(), present);
        let counts = head.counts(header, part).unwrap();
        let tag = pads.encrypt(&form, head.sent_ticks(), part as u32, values, counts, &mut body).unwrap();
        parts.extend(body);
        parts.extend(tag.to_bytes());
    }
    SumsWindow::sign(header, head, parts, |message| identity().sign(message)).unwrap()
}

pub(crate) fn pad(number: u64) -> PadName {
    PadName { salt: [3; 12], number }
}

/// A window with gaps, readings left out, and a lower pad number.
pub(crate) fn gappy() -> SumsHead {
    let (mut level, mut left_out) = (Presence::default(), LeftOut::default());
    [0, 2, 3].iter().for_each(|tick| level.insert(*tick));
    left_out.add(Reason::Empty, 1);
    left_out.add(Reason::Future, 65_535);
    SumsHead {
        presence: vec![level, Presence::first(2)],
        left_out: vec![LeftOut::default(), left_out],
        generated: true,
        ..SumsHead::whole(&header(), 300, pad(297), -5, 6)
    }
}

pub(crate) fn reading(column: u16, tick: u32) -> i64 {
    if column == 0 { 1000 + 7 * i64::from(tick) } else { -(1 << 33) + i64::from(tick) }
}
