//! The device of the example firmware (`crates/device/firmware`): its secret is no secret.

use sotto_compact::{MaskKey, Profile, mask_key};
use sotto_keys::{DeviceSecret, SecretKey, secret_bits};
use sotto_rlwe::{Bfv, ChainRequest, Params, SchemeId};

/// The device.
pub fn device() -> DeviceSecret {
    DeviceSecret::from_bytes(&[0x51; 32])
}

/// Sixteen readings of 12 bits, sums of 2,048 windows, 36 bits a place.
///
/// # Panics
/// If the chain cannot be made, which it can.
pub fn profile() -> Profile {
    let request = ChainRequest::one_prime(SchemeId::Bfv, 4096, (1 << 24) + 43, 40);
    let params = request.build().and_then(Params::<Bfv>::new).expect("a chain of one prime");
    Profile::new(&params, 16, 36).expect("a form")
}

/// The secret as the device carries it.
///
/// # Panics
/// If the degree is no ring's, which it is.
pub fn secret_bits_of_device() -> Vec<u8> {
    secret_bits(&device(), profile().params().spec()).expect("a ring").to_vec()
}

/// The stream's mask key.
pub fn masks() -> MaskKey {
    let key = SecretKey::<Bfv>::derive(&device(), profile().params());
    mask_key(key.id(), "readings")
}

/// What the firmware's sensor reads.
pub fn reading(sequence: u64, place: usize) -> i64 {
    ((sequence * 97 + place as u64 * 251) % 4096) as i64
}
