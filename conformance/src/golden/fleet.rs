//! Windows of a fleet and sums of them: two devices of the example firmware's form under one mask.

use std::sync::Arc;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_compact::{Sum, fleet_mask_key};
use sotto_keys::{CompactEncryptor, DeviceSecret, SigningIdentity};
use sotto_pack::{FleetId, Places, WindowDescription};
use sotto_wire::{
    CompactCiphertext, Envelope, FleetForm, FleetSum, FleetSums, MaskName, StreamHeader, StreamParts,
    WindowValues,
};

use super::compact::{compact_form, stream_header, window};
use super::{Golden, device};
use crate::firmware;

/// The fleet of the files.
pub const FLEET: FleetId = FleetId([0xf1; 16]);

/// The devices of the fleet: the firmware's, and another one.
pub fn fleet_devices() -> [DeviceSecret; 2] {
    [firmware::device(), DeviceSecret::from_bytes(&[0x53; 32])]
}

/// The stream of the first device.
pub fn fleet_stream() -> Arc<StreamHeader> {
    let header = stream_header();
    let parts = StreamParts {
        device: header.device().to_owned(),
        stream: header.stream().to_owned(),
        parameters: header.parameters(),
        key: header.key(),
        period: header.period(),
        ticks: header.layout().ticks(),
        channels: header.layout().channels().to_vec(),
        values: WindowValues::Places(Places { width: compact_form().width.into(), ..Places::default() }),
        fleet: Some(FLEET),
    };
    Arc::new(StreamHeader::new(parts).expect("a stream"))
}

/// The number and the description of the first device's window.
pub fn fleet_window() -> (u64, WindowDescription) {
    let (sequence, description) = window();
    (sequence + 1, description)
}

/// The readings of the device with this number.
pub fn fleet_readings(device: usize) -> Vec<i64> {
    (0..16).map(|place| firmware::reading(device as u64, place)).collect()
}

pub(super) fn objects(all: &mut Vec<Golden>) {
    // A generator of its own keeps the other files unchanged.
    let mut rng = ChaCha20Rng::from_seed([26; 32]);
    let profile = firmware::profile();
    let (parameters, (sequence, description)) = (profile.params().id(), fleet_window());
    let name = MaskName::shared(description.start).expect("a time after 1970");
    let mask = fleet_mask_key(parameters, &FLEET.0).mask(&name.salt, name.sequence);
    let (mut sum, mut upper) = (Sum::new(profile.form()), Sum::at(profile.form(), 8..16));
    let mut bodies = Vec::new();
    for (at, secret) in fleet_devices().iter().enumerate() {
        let encryptor = CompactEncryptor::derive(secret, profile.params());
        let body = encryptor.encrypt(&profile, &fleet_readings(at), &mask, &mut rng).expect("values");
        sum.add(&body, 1).expect("a body");
        if at == 1 {
            upper.add(&body, 1).expect("a body");
        }
        bodies.push(body);
    }
    let keys = fleet_devices().map(|secret| secret.key_id(&parameters)).to_vec();
    let of = |windows, first, places, sum: &Sum| FleetSum { windows, first, places, body: sum.to_bytes() };
    let sums = FleetSums {
        form: FleetForm::from(compact_form()),
        fleet: FLEET,
        start: description.start,
        keys,
        sums: vec![of((0, 2), 0, 16, &sum), of((1, 1), 8, 8, &upper)],
    };
    let body = CompactCiphertext { form: compact_form(), mask: name, body: bodies.swap_remove(0) };
    let identity = SigningIdentity::from_bytes(&device::SIGNING_KEY);
    let sign = |message: &[u8]| identity.sign(message);
    let frame = body.write().expect("a frame");
    let window = Envelope::sign_window(&fleet_stream(), sequence, description, &frame, sign);
    let mut add = |name: &str, bytes: Vec<u8>| all.push(Golden { name: name.into(), bytes });
    add("fleet-stream-header.bin", fleet_stream().write());
    add("fleet-window.bin", window.expect("a window").write());
    add("fleet-sums.bin", sums.write().expect("a frame"));
}
