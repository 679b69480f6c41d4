//! Sums of a thousand windows of several starts, with gaps and weights: added by the cloud, opened by the owner.

use std::sync::Arc;

use sotto_evaluate::{TaggedSum, TaggedSumming};
use sotto_pack::{Channel, Digit, Period, Placed, Presence, Quantity, SumsPart, WindowDescription};
use sotto_rlwe::KeyId;
use sotto_sums::{Encryptor, OpenError, Opening, StartKeys, StreamKeys, TagKey};
use sotto_wire::{Envelope, MaskName, StreamHeader, SumsAnswer, SumsStream};

const SECRET: [u8; 32] = [1; 32];
const TICKS: u32 = 5;
const EDGES: [i64; 2] = [-20, 30];

/// A generator of small numbers (splitmix64).
pub(crate) struct Draws(pub(crate) u64);

impl Draws {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }
}

pub(crate) fn stream(device: &str, width: u8) -> SumsStream {
    let channel = |name: &str, top: f64| Channel {
        name: name.into(),
        unit: String::new(),
        minimum: -top / 2.0,
        maximum: top / 2.0,
        resolution: Some(0.5),
        ..Channel::default()
    };
    let placed = |quantity, width| Placed { quantity, digit: Digit::Whole, width };
    SumsStream {
        device: device.into(),
        stream: "tank".into(),
        period: Period::of_seconds(1, 50).unwrap(),
        ticks: TICKS,
        channels: vec![channel("level", 2047.0), channel("flow", 50.0)],
        rounded: false,
        parts: vec![
            SumsPart {
                quantities: vec![placed(Quantity::Reading(0), width), placed(Quantity::Reading(1), 20)],
                reasons: 0,
            },
            SumsPart {
                quantities: vec![
                    placed(Quantity::Bins { column: 1, edges: EDGES.to_vec() }, 16),
                    placed(Quantity::Square(0), 40),
                ],
                reasons: 0,
            },
        ],
    }
}

pub(crate) fn header(device: &str, width: u8) -> Arc<StreamHeader> {
    let key = |id: &[u8; 32]| KeyId(StreamKeys::derive(&SECRET, id).id());
    Arc::new(StreamHeader::of_sums(stream(device, width), key).unwrap())
}

/// A window, and the values of its parts; 0 where a place is absent.
pub(crate) struct Sent {
    pub(crate) window: Envelope,
    pub(crate) values: [Vec<i64>; 2],
}

pub(crate) fn send(header: &Arc<StreamHeader>, sequence: u64, pad: MaskName, draws: &mut Draws) -> Sent {
    let ticks = 1 + draws.below(TICKS.into()) as u32;
    let presence = [(); 2].map(|()| {
        let mut presence = Presence::default();
        (0..ticks).filter(|_| draws.below(5) > 0).for_each(|tick| presence.insert(tick));
        presence
    });
    let description = WindowDescription {
        present: presence.iter().map(Presence::count).collect(),
        presence: presence.to_vec(),
        ..WindowDescription::whole(header.layout(), sequence as i64, header.period(), ticks)
    };
    let sent_ticks = description.sent_ticks();
    let readings: Vec<[i64; 2]> =
        (0..ticks).map(|_| [draws.below(4095) as i64 - 2047, draws.below(101) as i64 - 50]).collect();
    let has = |column: usize, tick: u32| presence[column].contains(tick);
    let mut first = Vec::new();
    let mut bins = [0; 3];
    (0..ticks).filter(|tick| has(1, *tick)).for_each(|tick| {
        bins[EDGES.partition_point(|edge| *edge <= readings[tick as usize][1])] += 1;
    });
    let mut second: Vec<Option<i64>> =
        bins.iter().map(|bin| (presence[1].count() > 0).then_some(*bin)).collect();
    for tick in 0..sent_ticks {
        let [level, flow] = readings[tick as usize];
        first.push(has(0, tick).then_some(level));
        first.push(has(1, tick).then_some(flow));
        second.push(has(0, tick).then_some(level * level));
    }
    let mut encryptor = Encryptor::new(&SECRET, header.stream_id().unwrap(), &pad.salt, 0);
    let (mut pads, mut parts) = (encryptor.window(pad.sequence).unwrap(), Vec::new());
    let values = [first, second];
    for (part, values) in values.iter().enumerate() {
        let form = header.sums_form(part).unwrap();
        let mut body = vec![0; form.body_bytes(sent_ticks)];
        let counts = header.parts()[part].counts(&description);
        let values = values.iter().copied();
        let tag = pads.encrypt(&form, sent_ticks, part as u32, values, counts, &mut body).unwrap();
        parts.extend(body);
        parts.extend(tag.to_bytes());
    }
    let window = Envelope::sign_sums(header, sequence, pad, description, &parts, |_| [0; 64]).unwrap();
    Sent { window, values: values.map(|part| part.into_iter().map(Option::unwrap_or_default).collect()) }
}

fn described(sent: &Sent) -> WindowDescription {
    sent.window.signed_header().description().unwrap()
}

/// The windows of five starts in no order, each pad number once, and weights.
fn thousand(header: &Arc<StreamHeader>) -> (Vec<Sent>, Vec<i64>) {
    let mut draws = Draws(40);
    let sent = (0..1000_u64).map(|at| {
        let pad = MaskName { salt: [draws.below(5) as u8; 12], sequence: (at * 387) % 1000 };
        send(header, 1000 + at, pad, &mut draws)
    });
    let sent: Vec<Sent> = sent.collect();
    let weights = (0..1000).map(|_| draws.below(7) as i64 - 3).collect();
    (sent, weights)
}

/// The windows of a sum, and the opening of each of its parts.
type Asked<'h> = ((u32, u32), Vec<(u8, Opening<'h>)>);

/// The owner: opens the sums of an answer, each of a list of windows with weights.
struct Owner<'h> {
    header: &'h StreamHeader,
    names: Vec<MaskName>,
    sums: Vec<Asked<'h>>,
    keys: Vec<TagKey>,
}

impl<'h> Owner<'h> {
    fn new(header: &'h StreamHeader, sent: &[Sent], wanted: &[TaggedSum<'_>]) -> Self {
        let opening = |sum: &TaggedSum<'_>, part: u8| {
            let mut opening = Opening::new(&header.sums_form(part.into()).unwrap(), part.into());
            let (first, count) = (sum.windows.0 as usize, sum.windows.1 as usize);
            for (at, sent) in sent[first..first + count].iter().enumerate() {
                let (description, mask) = (described(sent), sent.window.mask().unwrap());
                let present = header.parts()[usize::from(part)].present(&description);
                let start = StartKeys::derive(&SECRET, header.stream_id().unwrap(), &mask.salt);
                let (weight, ticks) =
                    (sum.weights.map_or(1, |weights| weights[at]), description.sent_ticks());
                opening.add(&start, mask.sequence, ticks, weight, |place| present[place]);
            }
            (part, opening)
        };
        let keys = StreamKeys::derive(&SECRET, header.stream_id().unwrap());
        Self {
            header,
            names: sent.iter().map(|sent| sent.window.mask().unwrap()).collect(),
            sums: wanted
                .iter()
                .map(|sum| (sum.windows, sum.parts.iter().map(|part| opening(sum, *part)).collect()))
                .collect(),
            keys: (0..2)
                .map(|part| TagKey::new(&keys, &header.sums_form(part).unwrap(), part as u32))
                .collect(),
        }
    }

    /// Returns the values by sum and part. None if the answer names other windows or parts than the request, or is refused.
    fn open(&self, frame: &[u8]) -> Option<Vec<Vec<Vec<i64>>>> {
        let answer = SumsAnswer::read(frame, self.header, 1 << 20, self.names.len() as u32).ok()?;
        if !answer.names.iter().eq(self.names.iter().copied()) || answer.sums.len() != self.sums.len() {
            return None;
        }
        let sums = answer.sums.iter().zip(&self.sums);
        sums.map(|(sum, (windows, openings))| {
            if sum.windows != *windows || sum.parts().len() != openings.len() {
                return None;
            }
            let part = |(part, opening): &(u8, Opening<'_>)| {
                let opened = opening.open(&self.keys[usize::from(*part)], sum.part(*part)?);
                assert_ne!(opened, Err(OpenError::Weights));
                opened.ok()
            };
            openings.iter().map(part).collect()
        })
        .collect()
    }
}

/// The sum in the clear.
fn expected(sent: &[Sent], sum: &TaggedSum<'_>, part: u8) -> Vec<i64> {
    let (first, count) = (sum.windows.0 as usize, sum.windows.1 as usize);
    let mut total = Vec::new();
    for (at, sent) in sent[first..first + count].iter().enumerate() {
        let (values, weight) =
            (&sent.values[usize::from(part)], sum.weights.map_or(1, |weights| weights[at]));
        total.resize(total.len().max(values.len()), 0);
        total.iter_mut().zip(values).for_each(|(total, value)| *total += weight * value);
    }
    total
}

#[test]
fn a_thousand_windows_are_added_and_opened() {
    let header = header("cellar", 24);
    let (sent, weights) = thousand(&header);
    let wanted = [
        TaggedSum { windows: (0, 1000), parts: &[0, 1], weights: Some(&weights) },
        TaggedSum { windows: (250, 500), parts: &[1], weights: None },
        TaggedSum { windows: (999, 1), parts: &[0], weights: Some(&[-4]) },
    ];
    let mut summing = TaggedSumming::new(&header, 1000, wanted.to_vec()).unwrap();
    for (at, sent) in sent.iter().enumerate() {
        if at % 2 == 0 {
            summing.add(&sent.window).unwrap();
        } else {
            summing.add_frame(&sent.window.write_kept()).unwrap();
        }
    }
    let frame = summing.frame().unwrap();
    let owner = Owner::new(&header, &sent, &wanted);
    let opened = owner.open(&frame).unwrap();
    for (sum, opened) in wanted.iter().zip(&opened) {
        for (part, opened) in sum.parts.iter().zip(opened) {
            assert_eq!(*opened, expected(&sent, sum, *part), "{sum:?}");
        }
    }
    // Counts: Σ of the weights, and of those of windows with a reading of each column at the first tick.
    let answer = SumsAnswer::read(&frame, &header, 1 << 20, 1000).unwrap();
    let counts = answer.sums[0].part(0).unwrap().counts();
    let with = |column: u16| {
        let windows = sent.iter().map(described).zip(&weights);
        let with = windows.filter(|(window, _)| window.presence(column).is_some_and(|all| all.contains(0)));
        with.map(|(_, weight)| weight).sum::<i64>()
    };
    assert_eq!(counts[..3], [weights.iter().sum::<i64>(), with(0), with(1)]);

    // Each bit of the answer, under a digest that fits.
    for bit in 8 * 16..8 * (frame.len() - 32) {
        let mut forged = frame.clone();
        forged[bit / 8] ^= 1 << (bit % 8);
        let end = forged.len() - 32;
        let digest = blake3::hash(&forged[..end]);
        forged[end..].copy_from_slice(digest.as_bytes());
        assert!(owner.open(&forged).is_none(), "bit {bit} of {}", 8 * frame.len());
    }
}
