//! A cloud, a device with a stream of sums, and its owner.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use serde_json::{Value, json};
use sotto_cloud_client::WindowsOf;
use sotto_keys::SigningIdentity;
use sotto_pack::{Channel, Digit, Period, Placed, Presence, Quantity, SumsPart, WindowDescription};
use sotto_rlwe::KeyId;
use sotto_sums::{Encryptor, Opening, StartKeys, StreamKeys, TagKey};
use sotto_wire::{Envelope, MaskName, StreamHeader, SumsAnswer, SumsStream, WindowGroup};

use crate::windows::with_enrolments;
use crate::world::{Answer, World};

pub(crate) const TICKS: u32 = 4;
const MINUTE: i64 = 60_000;
pub(crate) const SECRET: [u8; 32] = [5; 32];

/// The readings of a window: None where one is missing.
pub(crate) type Readings = Vec<Option<i64>>;

pub(crate) struct Site {
    pub(crate) world: World,
    pub(crate) identity: SigningIdentity,
    pub(crate) header: Arc<StreamHeader>,
    /// The windows made, by number.
    pub(crate) sent: BTreeMap<u64, (Envelope, Readings)>,
}

/// Returns the header of a stream whose readings are -500 to 500, with squares in a part of their own.
pub(crate) fn header(device: &str, stream: &str, secret: &[u8; 32]) -> Arc<StreamHeader> {
    header_with(device, stream, secret, &[])
}

/// Returns that header with more parts.
fn header_with(device: &str, stream: &str, secret: &[u8; 32], more: &[(Quantity, u8)]) -> Arc<StreamHeader> {
    let load = Channel { name: "load".into(), maximum: 1000.0, resolution: Some(1.0), ..Channel::default() };
    let part = |quantity, width| SumsPart {
        quantities: vec![Placed { quantity, digit: Digit::Whole, width }],
        reasons: 0,
    };
    let stream = SumsStream {
        device: device.into(),
        stream: stream.into(),
        period: Period::of_seconds(60, 1).unwrap(),
        ticks: TICKS,
        channels: vec![load],
        rounded: false,
        parts: [(Quantity::Reading(0), 23), (Quantity::Square(0), 34)]
            .iter()
            .chain(more)
            .map(|(quantity, width)| part(quantity.clone(), *width))
            .collect(),
    };
    Arc::new(StreamHeader::of_sums(stream, |id| KeyId(StreamKeys::derive(secret, id).id())).unwrap())
}

/// Returns readings that depend on the window's number. Every seventh window has gaps, every tenth one is short.
pub(crate) fn readings(number: u64, ticks: u32) -> Readings {
    let reading = |tick: u64| (number * 37 + tick * 101) as i64 % 1001 - 500;
    let ticks = if number.is_multiple_of(10) { ticks - 1 } else { ticks };
    (0..u64::from(ticks))
        .map(|tick| (!number.is_multiple_of(7) || tick != 1).then(|| reading(tick)))
        .collect()
}

impl Site {
    /// Starts a cloud that does not know the device yet.
    pub(crate) fn new() -> Self {
        Self::in_world(World::start_with(with_enrolments))
    }

    pub(crate) fn in_world(world: World) -> Self {
        let (identity, header) = (SigningIdentity::from_bytes(&[6; 32]), header("kitchen", "load", &SECRET));
        Self { world, identity, header, sent: BTreeMap::new() }
    }

    /// Returns a site whose windows have their largest reading, too.
    pub(crate) fn with_largest() -> Self {
        let header = header_with("kitchen", "load", &SECRET, &[(Quantity::Largest(0), 11)]);
        let site = Self { header, ..Self::new() };
        site.enrol();
        site
    }

    pub(crate) fn registered() -> Self {
        let site = Self::new();
        site.register(&site.registration()).expect(200);
        site
    }

    pub(crate) fn registration(&self) -> Value {
        json!({
            "verifying_key": hex::encode(self.identity.verifying_key()),
            "keys": [key_of(&self.header)],
            "streams": [hex::encode(self.header.write())],
        })
    }

    pub(crate) fn register(&self, registration: &Value) -> Answer {
        self.world.owner("PUT", "/v1/devices/kitchen", registration.to_string().as_bytes())
    }

    pub(crate) fn enrol(&self) {
        let mut document = self.registration();
        document["device"] = "kitchen".into();
        document["parameters"] = json!([]);
        let folder = self.world.folder().join("enrolments");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("kitchen.json"), document.to_string()).unwrap();
    }

    /// Returns a window under pads of its own number. The salt changes every 40 numbers.
    pub(crate) fn window(&mut self, number: u64) -> Envelope {
        let name = MaskName { salt: [(number / 40) as u8 + 1; 12], sequence: number };
        self.window_under(number, name, readings(number, TICKS))
    }

    pub(crate) fn window_under(&mut self, number: u64, name: MaskName, readings: Readings) -> Envelope {
        let window = window(&self.identity, &self.header, number, name, &readings);
        self.sent.insert(number, (window.clone(), readings));
        window
    }

    pub(crate) fn upload(&self, window: &Envelope) -> Answer {
        self.world.upload_as(&window.header().upload_key(), &window.write())
    }

    pub(crate) fn upload_group(&self, windows: &[Envelope]) -> Answer {
        let group = WindowGroup::sign(windows.to_vec(), |message| self.identity.sign(message)).unwrap();
        self.world.upload_as(&group.upload_key(), &group.write())
    }

    pub(crate) fn path(&self) -> String {
        format!("/v1/streams/{}/sums", self.header.id().tag())
    }

    pub(crate) fn ask(&self, request: &WindowsOf) -> Answer {
        self.world.owner("POST", &self.path(), &serde_json::to_vec(request).unwrap())
    }

    /// Asks for sums, opens them as their owner does, and compares them with those of the readings.
    pub(crate) fn check(&self, request: &WindowsOf) {
        let tag = self.header.id().tag().to_string();
        let frame = self.world.client().stream_sums(&tag, request).unwrap().frame;
        let numbers: Vec<u64> = request
            .windows
            .iter()
            .flat_map(|(first, count)| (0..u64::from(*count)).map(move |at| first + at))
            .collect();
        let answer = SumsAnswer::read(&frame, &self.header, 1 << 20, numbers.len() as u32).unwrap();
        let signed = |number: &u64| self.sent[number].0.signed_header();
        assert!(answer.names.iter().eq(numbers.iter().map(|number| signed(number).mask().unwrap())));
        assert_eq!(answer.sums.len(), request.sums.len());
        let keys = StreamKeys::derive(&SECRET, self.header.stream_id().unwrap());
        for (asked, sum) in request.sums.iter().zip(&answer.sums) {
            assert_eq!(sum.windows, asked.windows);
            let (first, count) = (asked.windows.0 as usize, asked.windows.1 as usize);
            for part in &asked.parts {
                let at = usize::from(*part);
                let form = self.header.sums_form(at).unwrap();
                let mut opening = Opening::new(&form, (*part).into());
                let mut expected = Vec::new();
                for (index, number) in numbers[first..first + count].iter().enumerate() {
                    let (signed, weight) =
                        (signed(number), asked.weights.as_ref().map_or(1, |all| all[index]));
                    let (name, window) = (signed.mask().unwrap(), signed.description().unwrap());
                    let start = StartKeys::derive(&SECRET, self.header.stream_id().unwrap(), &name.salt);
                    let present = self.header.parts()[at].present(&window);
                    opening.add(&start, name.sequence, window.sent_ticks(), weight, |place| present[place]);
                    let values = values(&self.header, at, &self.sent[number].1);
                    expected.resize(expected.len().max(present.len()), 0);
                    expected.iter_mut().zip(values).for_each(|(sum, value)| {
                        *sum += weight * value.unwrap_or(0);
                    });
                }
                let key = TagKey::new(&keys, &form, (*part).into());
                assert_eq!(opening.open(&key, sum.part(*part).unwrap()).unwrap(), expected, "{asked:?}");
            }
        }
    }
}

/// Returns the start of a window, in milliseconds since 1970. It ends before the next one starts.
pub(crate) fn start(number: u64) -> i64 {
    MINUTE * i64::from(TICKS) * number as i64
}

pub(crate) fn window(
    identity: &SigningIdentity,
    header: &Arc<StreamHeader>,
    number: u64,
    name: MaskName,
    readings: &[Option<i64>],
) -> Envelope {
    window_at(start(number), identity, header, number, name, readings)
}

/// Returns a window that starts at `at`, in milliseconds since 1970.
pub(crate) fn window_at(
    at: i64,
    identity: &SigningIdentity,
    header: &Arc<StreamHeader>,
    number: u64,
    name: MaskName,
    readings: &[Option<i64>],
) -> Envelope {
    window_with(at, identity, header, number, name, readings, |_| {})
}

/// Returns a window that starts at `at`, with a changed description.
pub(crate) fn window_with(
    at: i64,
    identity: &SigningIdentity,
    header: &Arc<StreamHeader>,
    number: u64,
    name: MaskName,
    readings: &[Option<i64>],
    change: impl FnOnce(&mut WindowDescription),
) -> Envelope {
    let mut presence = Presence::default();
    (0..).zip(readings).filter(|(_, reading)| reading.is_some()).for_each(|(at, _)| presence.insert(at));
    let ticks = readings.len() as u32;
    let whole = WindowDescription::whole(header.layout(), at, Period::from_milliseconds(60_000), ticks);
    let mut description = if readings.iter().all(Option::is_some) {
        whole
    } else {
        WindowDescription { present: vec![presence.count()], presence: vec![presence], ..whole }
    };
    change(&mut description);
    let mut encryptor = Encryptor::new(&SECRET, header.stream_id().unwrap(), &name.salt, 0);
    let (mut pads, mut parts) = (encryptor.window(name.sequence).unwrap(), Vec::new());
    for (at, part) in header.parts().iter().enumerate() {
        let form = header.sums_form(at).unwrap();
        let ticks = description.sent_ticks();
        let mut body = vec![0; form.body_bytes(ticks)];
        let sent = &readings[..readings.len().min(ticks as usize)];
        let values = values(header, at, sent).into_iter();
        let counts = part.counts(&description);
        let tag = pads.encrypt(&form, ticks, at as u32, values, counts, &mut body).unwrap();
        parts.extend(body);
        parts.extend(tag.to_bytes());
    }
    let sign = |message: &[u8]| identity.sign(message);
    Envelope::sign_sums(header, number, name, description, &parts, sign).unwrap()
}

/// Returns the pair with which the key of a stream is registered.
pub(crate) fn key_of(header: &StreamHeader) -> Value {
    json!({ "parameter_id": hex::encode(header.stream_id().unwrap()), "key_id": header.key().to_string() })
}

/// Returns the values of a part: the readings, their squares, or the largest.
fn values(header: &StreamHeader, part: usize, readings: &[Option<i64>]) -> Vec<Option<i64>> {
    if !header.parts()[part].adds() {
        return vec![readings.iter().flatten().copied().max()];
    }
    let power = if part == 0 { 1 } else { 2 };
    readings.iter().map(|reading| reading.map(|reading| reading.pow(power))).collect()
}
