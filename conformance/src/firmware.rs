//! A device of compact windows. Its secret is public: use it for tests only.

use std::sync::Arc;

use sotto_compact::{MaskKey, Profile, mask_key};
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_pack::{Channel, Places};
use sotto_rlwe::{Bfv, ChainRequest, Params, SchemeId};
use sotto_wire::{StreamHeader, StreamParts, WindowValues};

/// The secret of the firmware's example.
pub fn device() -> DeviceSecret {
    DeviceSecret::from_bytes(&[0x51; 32])
}

/// Returns its form: sixteen readings of 12 bits, sums of 2,048 windows, 36 bits a place.
///
/// # Panics
/// If the chain cannot be made; it always can.
pub fn profile() -> Profile {
    let request = ChainRequest::one_prime(SchemeId::Bfv, 4096, (1 << 24) + 43, 40);
    let params = request.build().and_then(Params::<Bfv>::new).expect("a chain of one prime");
    Profile::new(&params, 16, 36).expect("a form")
}

/// The key that signs the device's windows.
pub const SIGNING_KEY: [u8; 32] = [0x52; 32];

/// The stream of the device's windows.
///
/// # Panics
/// If there is no stream of this form; there always is.
pub fn stream() -> Arc<StreamHeader> {
    let (params, form) = (profile().params().clone(), *profile().form());
    let channel = Channel {
        name: "level".into(),
        unit: String::new(),
        minimum: 0.0,
        maximum: 4095.0,
        resolution: Some(1.0),
    };
    let parts = StreamParts {
        device: "board".into(),
        stream: "readings".into(),
        parameters: params.id(),
        key: device().key_id(&params.id()),
        period: 60_000,
        ticks: form.places() as u32,
        channels: vec![channel],
        values: WindowValues::Places(Places { width: form.width(), ..Places::default() }),
        fleet: None,
    };
    Arc::new(StreamHeader::new(parts).expect("a stream"))
}

/// Returns the stream's mask key.
pub fn masks() -> MaskKey {
    let key = SecretKey::<Bfv>::derive(&device(), profile().params());
    mask_key(key.id(), "readings")
}

/// Returns the readings of the firmware's sensor.
pub fn reading(sequence: u64, place: usize) -> i64 {
    ((sequence * 97 + place as u64 * 251) % 4096) as i64
}
