//! Windows of many devices open together as each opens alone.

use proptest::collection::vec;
use proptest::prelude::*;
use sotto_sums::{
    Answer, DeviceWindow, Encryptor, FleetOpening, FleetSum, Form, OpenError, Opening, PRIME, Part, Place,
    StartKeys, StreamKeys, TagKey,
};

use crate::windows::{Shape, form, places, shape};

/// A device and its window, as the owner asks for it and the cloud answers.
#[derive(Clone, Debug)]
struct Device {
    secret: [u8; 32],
    stream: [u8; 32],
    salt: [u8; 12],
    number: u64,
    /// The ticks that the owner asks for, and those of the answer.
    ticks: u32,
    sent: u32,
    present: Vec<bool>,
    counts: Vec<u16>,
    bytes: Vec<u8>,
}

/// The cloud's or the device's faults.
#[derive(Clone, Debug)]
enum Fault {
    None,
    Tag(u64),
    Body(prop::sample::Index, u8),
    Count(prop::sample::Index),
    LessCounts,
    MoreCounts,
    Ticks,
    Number,
    Secret,
    Stream,
    Salt,
    Present(prop::sample::Index),
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        10 => Just(Fault::None),
        1 => (1..PRIME).prop_map(Fault::Tag),
        1 => (any::<prop::sample::Index>(), 0..8_u8).prop_map(|(at, bit)| Fault::Body(at, bit)),
        1 => any::<prop::sample::Index>().prop_map(Fault::Count),
        1 => Just(Fault::LessCounts),
        1 => Just(Fault::MoreCounts),
        1 => Just(Fault::Ticks),
        1 => Just(Fault::Number),
        1 => Just(Fault::Secret),
        1 => Just(Fault::Stream),
        1 => Just(Fault::Salt),
        1 => any::<prop::sample::Index>().prop_map(Fault::Present),
    ]
}

/// Ticks, draws for values, their presence, counts, and a fault.
type Draw = (u32, Vec<(u64, bool)>, Vec<u16>, Fault);

fn draws() -> impl Strategy<Value = Vec<Draw>> {
    let values = vec((any::<u64>(), prop::bool::weighted(0.8)), 18);
    let counts = vec(prop_oneof![4 => Just(1), 1 => Just(0), 1 => Just(u16::MAX), 2 => any::<u16>()], 12);
    vec((0_u32..=5, values, counts, fault()), 0..40)
}

fn device(shape: &Shape, part: u32, at: usize, (ticks, values, counts, fault): &Draw) -> Device {
    let form = form(shape);
    let values = places(&form, shape, *ticks).into_iter().zip(values).map(|(place, (draw, present))| {
        let span = (place.most() - place.least()) as u64 + 1;
        present.then_some(place.least() + (draw % span) as i64)
    });
    let values: Vec<Option<i64>> = values.collect();
    let mut device = Device {
        secret: [at as u8; 32],
        stream: [at as u8 ^ 0x55; 32],
        salt: [at as u8 + 1; 12],
        number: (at as u64) << 60 | at as u64,
        ticks: *ticks,
        sent: *ticks,
        present: values.iter().map(Option::is_some).collect(),
        counts: counts[..form.counts(*ticks)].to_vec(),
        bytes: vec![0; form.body_bytes(*ticks)],
    };
    let mut encryptor = Encryptor::new(&device.secret, &device.stream, &device.salt, device.number);
    let mut window = encryptor.window(device.number).unwrap();
    let counts = device.counts.iter().copied();
    let tag = window.encrypt(&form, *ticks, part, values.iter().copied(), counts, &mut device.bytes);
    device.bytes.extend(tag.unwrap().to_bytes());
    device.forge(&form, fault);
    device
}

impl Device {
    fn forge(&mut self, form: &Form<'_>, fault: &Fault) {
        let body = form.body_bytes(self.ticks);
        match fault {
            Fault::None => {}
            Fault::Tag(by) => {
                let tag = u64::from_le_bytes(*self.bytes.last_chunk().unwrap());
                self.bytes[body..].copy_from_slice(&((tag + by) % PRIME).to_le_bytes());
            }
            // Another window of the body's length, if the padding stays zero.
            Fault::Body(at, bit) if body > 0 => {
                let at = at.index(body);
                self.bytes[at] ^= 1 << bit;
                if Part::read(form, self.sent, &self.bytes).is_err() {
                    self.bytes[at] ^= 1 << bit;
                }
            }
            Fault::Body(..) => {}
            Fault::Count(at) => {
                let at = at.index(self.counts.len());
                self.counts[at] = self.counts[at].wrapping_add(1);
            }
            Fault::LessCounts => drop(self.counts.pop()),
            Fault::MoreCounts => self.counts.push(0),
            Fault::Ticks => self.ticks += 1,
            Fault::Number => self.number ^= 1 << 40,
            Fault::Secret => self.secret[31] ^= 1,
            Fault::Stream => self.stream[31] ^= 1,
            Fault::Salt => self.salt[11] ^= 1,
            Fault::Present(at) if !self.present.is_empty() => {
                let at = at.index(self.present.len());
                self.present[at] = !self.present[at];
            }
            Fault::Present(_) => {}
        }
    }

    fn part<'a>(&'a self, form: &Form<'a>) -> Part<'a> {
        Part::read(form, self.sent, &self.bytes).unwrap()
    }

    fn is_present(&self, place: usize) -> bool {
        self.present.get(place).is_none_or(|present| *present)
    }

    fn asked<'a>(&'a self, form: &Form<'a>) -> DeviceWindow<'a, impl Fn(usize) -> bool + Clone> {
        DeviceWindow {
            secret: &self.secret,
            stream: &self.stream,
            salt: &self.salt,
            number: self.number,
            ticks: self.ticks,
            present: |place| self.is_present(place),
            part: self.part(form),
            counts: &self.counts,
        }
    }

    /// Opens the window by itself.
    fn alone(&self, form: &Form<'_>, part: u32) -> Result<Vec<i64>, OpenError> {
        let mut opening = Opening::new(form, part);
        let start = StartKeys::derive(&self.secret, &self.stream, &self.salt);
        opening.add(&start, self.number, self.ticks, 1, |place| self.is_present(place));
        let key = TagKey::new(&StreamKeys::derive(&self.secret, &self.stream), form, part);
        opening.open(&key, &Answer::from((&self.part(form), &self.counts[..])))
    }
}

/// The sums of devices that are opened one by one.
fn summed(form: &Form<'_>, part: u32, devices: &[Device]) -> FleetSum {
    let mut sum = FleetSum::default();
    for (at, device) in devices.iter().enumerate() {
        let Ok(values) = device.alone(form, part) else {
            sum.refused.push(at);
            continue;
        };
        sum.opened += 1;
        sum.values.resize(sum.values.len().max(values.len()), 0);
        sum.counts.resize(sum.counts.len().max(device.counts.len()), 0);
        sum.values.iter_mut().zip(values).for_each(|(sum, value)| *sum += i128::from(value));
        sum.counts.iter_mut().zip(&device.counts).for_each(|(sum, count)| *sum += u64::from(*count));
    }
    sum
}

proptest! {
    #[test]
    fn many_devices_are_opened_like_each(shape in shape(), part: u32, draws in draws()) {
        let form = form(&shape);
        let devices: Vec<Device> =
            draws.iter().enumerate().map(|(at, draw)| device(&shape, part, at, draw)).collect();
        let mut fleet = FleetOpening::new(&form, part);
        let mut opened = Vec::new();
        fleet.open(devices.iter().map(|device| device.asked(&form)), |at, values| {
            assert_eq!(at, opened.len(), "in order");
            opened.push(values.map(<[i64]>::to_vec));
        });
        let alone: Vec<_> = devices.iter().map(|device| device.alone(&form, part)).collect();
        prop_assert_eq!(&opened, &alone);
        for ((draw, opened), device) in draws.iter().zip(&opened).zip(&devices) {
            if matches!(draw.3, Fault::None) {
                prop_assert!(opened.is_ok(), "{device:?}");
            }
            if matches!(draw.3, Fault::Tag(_) | Fault::Count(_) | Fault::Secret | Fault::Stream | Fault::Number | Fault::Salt) {
                prop_assert_eq!(opened, &Err(OpenError::Refused));
            }
        }
        // Again with the same buffers, and summed.
        let sum = fleet.sum(devices.iter().map(|device| device.asked(&form)));
        prop_assert_eq!(&sum, &summed(&form, part, &devices));
        // All devices under another part.
        let sum = FleetOpening::new(&form, part ^ 1).sum(devices.iter().map(|device| device.asked(&form)));
        prop_assert_eq!(sum, summed(&form, part ^ 1, &devices));
    }
}

/// Values at the ends of the widest places, for a whole group: sums of eight stay exact.
#[test]
fn the_largest_values_add_up() {
    for (least, most) in [(0, (1 << 60) - 1), (-(1 << 60) + 1, 0), (-(1 << 59), (1 << 59) - 1)] {
        let columns = [Place::new(60, least, most).unwrap()];
        let form = Form::new(&[], &columns, 1, 0, 70).unwrap();
        for value in [least, most] {
            let mut devices = Vec::new();
            for at in 0..17_u8 {
                let mut bytes = vec![0; form.body_bytes(70)];
                let mut encryptor = Encryptor::new(&[at; 32], &[2; 32], &[3; 12], 0);
                let mut window = encryptor.window(0).unwrap();
                let tag = window.encrypt(&form, 70, 0, [Some(value); 70], [1], &mut bytes).unwrap();
                bytes.extend(tag.to_bytes());
                let (present, counts) = (vec![true; 70], vec![1]);
                devices.push(Device {
                    secret: [at; 32],
                    stream: [2; 32],
                    salt: [3; 12],
                    number: 0,
                    ticks: 70,
                    sent: 70,
                    present,
                    counts,
                    bytes,
                });
            }
            let sum = FleetOpening::new(&form, 0).sum(devices.iter().map(|device| device.asked(&form)));
            assert_eq!(sum.values, vec![17 * i128::from(value); 70]);
            assert_eq!((sum.counts, sum.opened, sum.refused), (vec![17], 17, vec![]));
        }
    }
}

#[test]
fn other_forms_are_refused() {
    let (columns, wider) = ([Place::new(12, 0, 15).unwrap()], [Place::new(12, 0, 16).unwrap()]);
    let form = Form::new(&[], &columns, 1, 0, 4).unwrap();
    let other = Form::new(&[], &wider, 1, 0, 4).unwrap();
    let right = {
        let mut bytes = vec![0; form.body_bytes(4)];
        let mut encryptor = Encryptor::new(&[1; 32], &[2; 32], &[3; 12], 0);
        let tag = encryptor.window(0).unwrap().encrypt(&form, 4, 0, [Some(3); 4], [1], &mut bytes).unwrap();
        bytes.extend(tag.to_bytes());
        bytes
    };
    let window = |form| DeviceWindow {
        secret: &[1; 32],
        stream: &[2; 32],
        salt: &[3; 12],
        number: 0,
        ticks: 4,
        present: |_| true,
        part: Part::read(form, 4, &right).unwrap(),
        counts: &[1],
    };
    let sum = FleetOpening::new(&form, 0).sum([window(&form), window(&other), window(&form)]);
    assert_eq!((sum.opened, sum.refused, sum.values), (2, vec![1], vec![6; 4]));
    assert_eq!(FleetOpening::new(&form, 0).sum([window(&form)].into_iter().take(0)), FleetSum::default());
}
