//! A device that signs the windows that a test gives it: pieces of open windows, windows in the place of others.

use std::path::Path;
use std::sync::Arc;

use sotto_keys::{DeviceBundle, DeviceKeys};
use sotto_pack::{DeviceProfile, Period, Presence, Reading, Replaces, Slots, Window, WindowDescription};
use sotto_rlwe::KeyId;
use sotto_sums::{Encryptor, StreamKeys};
use sotto_wire::{Envelope, MaskName, StreamHeader};

use crate::liar::{Request, Truth};

pub(crate) const HOUR: i64 = 3_600_000;

/// A device with one stream of sums and one channel, whose ticks are hours.
pub(crate) struct Device {
    bundle: DeviceBundle,
    header: Arc<StreamHeader>,
}

/// The facts of a window beside its readings.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facts<'f> {
    pub(crate) provisional: bool,
    /// The numbers of the windows in whose place it comes.
    pub(crate) replaces: &'f [u64],
}

impl Device {
    pub(crate) fn read(bundle: &Path) -> Self {
        let bundle = DeviceBundle::parse(&std::fs::read(bundle).unwrap(), bundle, None).unwrap();
        let profile = DeviceProfile::parse(&bundle.profile).unwrap();
        let stream = profile.streams.iter().find(|stream| !stream.sums.is_empty()).unwrap();
        let key = |id: &[u8; 32]| KeyId(StreamKeys::derive(secret(&bundle), id).id());
        let header = StreamHeader::of_sums_profile(&profile.device, profile.period_ms, stream, key);
        let header = Arc::new(header.unwrap().unwrap());
        Self { bundle, header }
    }

    /// Returns a signed window of `length` hours from `start` on, in milliseconds since 1970, with these readings at hours
    /// since its start.
    pub(crate) fn window(
        &self,
        number: u64,
        (start, length): (i64, u32),
        readings: &[(i64, f64)],
        facts: Facts<'_>,
    ) -> Envelope {
        let layout = self.header.layout().clone();
        let mut window =
            Window::spanning(layout.clone(), start, Period::from_milliseconds(HOUR as u32), length).unwrap();
        for (hour, value) in readings {
            window.push(&Reading { at: start + hour * HOUR, channel: 0, value: *value }).unwrap();
        }
        let packed = window.close();
        let replaces = Replaces { windows: facts.replaces.to_vec(), channels: vec![0] };
        let description = WindowDescription {
            replaces: Some(replaces).filter(|replaces| !replaces.windows.is_empty()),
            provisional: facts.provisional,
            rounded: self.header.counts_rounded().then(|| packed.rounded.clone()),
            ..WindowDescription::from(&packed)
        };
        let Slots::Integers(slots) = &packed.slots else { panic!("whole numbers") };
        let (salt, ticks) = ([7; 12], description.sent_ticks());
        let id = self.header.stream_id().unwrap();
        let mut encryptor = Encryptor::new(secret(&self.bundle), id, &salt, number);
        let mut pads = encryptor.window(number).unwrap();
        let presence: Vec<Presence> = vec![description.presence(0).unwrap_or_default()];
        let mut parts = Vec::new();
        for (at, part) in (0..).zip(self.header.parts()) {
            let form = self.header.sums_form(at).unwrap();
            let values = part.values(&layout, ticks, slots, &presence);
            let mut body = vec![0; form.body_bytes(ticks)];
            let counts = part.counts(&description);
            let tag = pads.encrypt(&form, ticks, at as u32, values.iter().copied(), counts, &mut body);
            parts.extend_from_slice(&body);
            parts.extend(tag.unwrap().to_bytes());
        }
        let name = MaskName { salt, sequence: number };
        let sign = |message: &[u8]| self.bundle.identity.sign(message);
        Envelope::sign_sums(&self.header, number, name, description, &parts, sign).unwrap()
    }
}

fn secret(bundle: &DeviceBundle) -> &[u8; 32] {
    let DeviceKeys::Secret(secret) = &bundle.keys else { panic!("the device has a secret") };
    secret.expose_secret_bytes()
}

/// Returns the request that sends a window to a cloud.
pub(crate) fn upload(window: &Envelope) -> Request {
    let header = window.header();
    let key = format!("{}.{}.{}", header.device, header.stream, header.sequence);
    let headers = vec![
        ("content-type".to_owned(), "application/octet-stream".to_owned()),
        ("idempotency-key".to_owned(), key),
    ];
    Request { method: "POST".to_owned(), path: "/v1/envelopes".to_owned(), headers, body: window.write() }
}

/// Sends a window, which the cloud takes.
pub(crate) fn send(truth: &Truth, window: &Envelope) {
    let stored = truth.tell(&upload(window));
    assert_eq!(stored.status, 201, "{}", String::from_utf8_lossy(&stored.body));
}
