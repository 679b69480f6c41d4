//! Compact ciphertexts, and sums of them: of the example firmware's device, at full size.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_compact::Sum;
use sotto_keys::CompactEncryptor;
use sotto_wire::{
    CompactCiphertext, CompactForm, CompactSum, CompactSums, Envelope, EnvelopeHeader, MaskName,
};

use super::{Golden, device};
use crate::firmware;

/// The windows that are added: salts of two starts.
pub const WINDOWS: [MaskName; 3] = [
    MaskName { salt: [1; 12], sequence: 0 },
    MaskName { salt: [1; 12], sequence: 1 },
    MaskName { salt: [2; 12], sequence: 2 },
];
/// The places of the second sum.
pub const PLACES: core::ops::Range<u16> = 4..8;
/// Its weights: one for each of its places, for each window.
pub const WEIGHTS: [[i64; 4]; 3] = [[1, -2, 3, 0], [0, 1, 0, 1], [5, 0, -1, 2]];

/// The form of the files.
pub fn compact_form() -> CompactForm {
    let profile = firmware::profile();
    let (params, form) = (profile.params(), profile.form());
    CompactForm {
        parameters: params.id(),
        key: firmware::device().key_id(&params.id()),
        places: form.places() as u16,
        width: form.width() as u8,
    }
}

/// The header of `compact-envelope.bin`.
pub fn compact_header() -> EnvelopeHeader {
    let CompactForm { parameters, key, .. } = compact_form();
    let sequence = WINDOWS[0].sequence;
    EnvelopeHeader { stream: "readings".into(), sequence, parameters, key, ..device::envelope_header() }
}

fn ciphertext(mask: MaskName, rng: &mut ChaCha20Rng) -> CompactCiphertext {
    let profile = firmware::profile();
    let encryptor = CompactEncryptor::derive(&firmware::device(), profile.params());
    let values: Vec<i64> =
        (0..profile.form().places()).map(|place| firmware::reading(mask.sequence, place)).collect();
    let drawn = firmware::masks().mask(&mask.salt, mask.sequence);
    let body = encryptor.encrypt(&profile, &values, &drawn, rng).expect("values for all places");
    CompactCiphertext { form: compact_form(), mask, body }
}

pub(super) fn objects(all: &mut Vec<Golden>) {
    // A generator of its own: the other files stay as they are.
    let mut rng = ChaCha20Rng::from_seed([19; 32]);
    let ciphertexts = WINDOWS.map(|mask| ciphertext(mask, &mut rng));
    let form = *firmware::profile().form();
    let places = usize::from(PLACES.start)..usize::from(PLACES.end);
    let (mut whole, mut weighted) = (Sum::new(&form), Sum::at(&form, places));
    for (CompactCiphertext { body, .. }, weights) in ciphertexts.iter().zip(&WEIGHTS) {
        whole.add(body, 1).expect("a body");
        weighted.add_each(body, weights).expect("a body");
    }
    let sum = |first, places, sum: &Sum| CompactSum { first, places, body: sum.to_bytes() };
    let sums = CompactSums {
        form: compact_form(),
        masks: WINDOWS.to_vec(),
        sums: vec![sum(0, 16, &whole), sum(PLACES.start, 4, &weighted)],
    };
    let body = ciphertexts[0].write().expect("a frame");
    let identity = sotto_keys::SigningIdentity::from_bytes(&device::SIGNING_KEY);
    let envelope = Envelope::sign(compact_header(), body.clone(), |message| identity.sign(message));
    let mut add = |name: &str, bytes: Vec<u8>| all.push(Golden { name: name.into(), bytes });
    add("compact-ciphertext.bin", body);
    add("compact-sums.bin", sums.write().expect("a frame"));
    add("compact-envelope.bin", envelope.and_then(|envelope| envelope.write()).expect("an envelope"));
}
