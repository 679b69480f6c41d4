//! Compact ciphertexts, sums of them, and windows of version 2 of the envelope, from the device of the example
//! firmware, at real parameters.

use std::sync::Arc;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_compact::Sum;
use sotto_keys::CompactEncryptor;
use sotto_pack::{Channel, LeftOut, Places, Presence, Reason, WindowDescription};
use sotto_rlwe::{Bfv, Bgv, Ckks, Kept, Plaintext};
use sotto_wire::{
    CompactCiphertext, CompactForm, CompactSum, CompactSums, Envelope, EnvelopeHeader, MaskName, SlotsWindow,
    StreamHeader, StreamParts, WindowGroup, WindowValues, mask_seed,
};

use super::{Golden, device, insecure_n16, secret};
use crate::{Testable, firmware};

/// The windows of the sums: salts of two starts of the device.
pub const WINDOWS: [MaskName; 3] = [
    MaskName { salt: [1; 12], sequence: 0 },
    MaskName { salt: [1; 12], sequence: 1 },
    MaskName { salt: [2; 12], sequence: 2 },
];
/// The places of the second sum.
pub const PLACES: core::ops::Range<u16> = 4..8;
/// Weights of the second sum: one for each of its places, for each window.
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

/// The stream of the windows of version 2.
pub fn stream_header() -> Arc<StreamHeader> {
    let CompactForm { parameters, key, places, width } = compact_form();
    let channel = Channel {
        name: "level".into(),
        unit: "°C".into(),
        minimum: 0.0,
        maximum: 409.5,
        resolution: Some(0.1),
    };
    let parts = StreamParts {
        device: device::envelope_header().device,
        stream: "readings".into(),
        parameters,
        key,
        period: 60_000,
        ticks: places.into(),
        channels: vec![channel],
        values: WindowValues::Places(Places { width: width.into(), ..Places::default() }),
        fleet: None,
    };
    Arc::new(StreamHeader::new(parts).expect("a stream"))
}

/// The description of `window.bin`: one reading is missing, and the mask's number is lower than the window's.
pub fn window() -> (u64, WindowDescription) {
    let (stream, mut presence, mut left_out) = (stream_header(), Presence::default(), LeftOut::default());
    (0..16).filter(|tick| *tick != 5).for_each(|tick| presence.insert(tick));
    left_out.add(Reason::Empty, 1);
    let description = WindowDescription {
        layout: stream.layout().clone(),
        present: vec![15],
        start: 1_795_000_000_000,
        period: stream.period(),
        length: 16,
        presence: vec![presence],
        left_out: vec![left_out],
        generated: false,
    };
    (300, description)
}

/// Numbers of the windows of `window-group.bin`: the first is that of [`window`], the last has the salt of another
/// start.
pub const GROUPED: [u64; 3] = [300, 301, 305];

/// Descriptions of the grouped windows: nothing is missing after the first one, and a day passes before the last.
pub fn grouped() -> [WindowDescription; 3] {
    let (_, first) = window();
    let whole = |minutes: i64| WindowDescription {
        present: vec![16],
        start: first.start + 60_000 * minutes,
        presence: Vec::new(),
        left_out: Vec::new(),
        ..first.clone()
    };
    [first.clone(), whole(16), whole(16 + 1440)]
}

fn group(ciphertexts: &[CompactCiphertext; 3], sign: impl Fn(&[u8]) -> [u8; 64]) -> WindowGroup {
    let windows =
        GROUPED.into_iter().zip(grouped()).zip(ciphertexts).map(|((sequence, description), body)| {
            let body = body.write().expect("a frame");
            Envelope::sign_window(&stream_header(), sequence, description, &body, &sign).expect("a window")
        });
    WindowGroup::sign(windows.collect(), sign).expect("a group")
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

/// The values of the compact ciphertexts of slots, which repeat.
pub const COMPACT_SLOTS: [i64; 4] = [3, -1, 4, -2];

/// Compact ciphertexts of slots, whole and folded, from generators of their own, which keeps the other files unchanged.
fn slots<S: Testable>() -> [Golden; 2] {
    let params = insecure_n16::<S>();
    let (values, level) = (COMPACT_SLOTS.map(S::small), params.top_level());
    let golden = |name, seed, plaintext: Plaintext<S>, kept| {
        let seeded =
            secret(&params).encrypt(&plaintext, &mut ChaCha20Rng::from_seed([seed; 32])).expect("encrypts");
        let bytes = sotto_wire::write_compact(&seeded.compact(kept).expect("places"));
        Golden { name: format!("{}-{name}.bin", S::ID.name()), bytes }
    };
    let whole = params.encode_repeated(&values, level).expect("encodes").declare_magnitude(4.0);
    let folded = params.encode_folded(&values, 4.0, level).expect("encodes");
    [
        golden("compact-slots", 24, whole, Kept::Whole(2 * values.len())),
        golden("folded-slots", 25, folded, Kept::Folded(values.len())),
    ]
}

/// The values of the window of slots.
pub const SLOTS_WINDOW: [f64; 4] = [0.75, -0.25, 1.0, -1.0];
const SLOTS_MASK: MaskName = MaskName { salt: [3; 12], sequence: 7 };

/// The stream of the window of slots.
pub fn slots_header() -> Arc<StreamHeader> {
    let params = insecure_n16::<Ckks>();
    let channel = |name: &str| Channel { name: name.into(), maximum: 10.0, ..Channel::default() };
    let parts = StreamParts {
        device: device::envelope_header().device,
        stream: "reals".into(),
        parameters: params.id(),
        key: secret(&params).id(),
        period: 60_000,
        ticks: 2,
        channels: vec![channel("level"), channel("flow")],
        values: WindowValues::Slots(SLOTS_WINDOW.len() as u32),
        fleet: None,
    };
    Arc::new(StreamHeader::new(parts).expect("a stream"))
}

/// A window of slots, as a frame and as a message of version 2.
fn slots_window() -> (SlotsWindow, Envelope) {
    let (params, stream) = (insecure_n16::<Ckks>(), slots_header());
    let plaintext = params.encode_folded(&SLOTS_WINDOW, 1.0, params.top_level()).expect("encodes");
    let seed = mask_seed(stream.key(), stream.stream(), &SLOTS_MASK);
    let mut rng = ChaCha20Rng::from_seed([26; 32]);
    let seeded = secret(&params).encrypt_under(&plaintext, seed, &mut rng).expect("encrypts");
    let compact = seeded.compact(Kept::Folded(SLOTS_WINDOW.len())).expect("places");
    let window = SlotsWindow::of(&compact, SLOTS_MASK);
    let description = WindowDescription {
        layout: stream.layout().clone(),
        present: vec![2, 2],
        start: 1_795_000_000_000,
        period: stream.period(),
        length: 2,
        presence: Vec::new(),
        left_out: Vec::new(),
        generated: false,
    };
    let identity = sotto_keys::SigningIdentity::from_bytes(&device::SIGNING_KEY);
    let envelope =
        Envelope::sign_window(&stream, SLOTS_MASK.sequence, description, &window.write(), |message| {
            identity.sign(message)
        });
    (window, envelope.expect("a window"))
}

pub(super) fn objects(all: &mut Vec<Golden>) {
    all.extend([slots::<Bfv>(), slots::<Bgv>(), slots::<Ckks>()].into_iter().flatten());
    // A generator of its own keeps the other files unchanged.
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
    let (sequence, description) = window();
    let sign = |message: &[u8]| identity.sign(message);
    let window = Envelope::sign_window(&stream_header(), sequence, description, &body, sign);
    let window = window.expect("a window");
    let (slots, slots_envelope) = slots_window();
    let mut add = |name: &str, bytes: Vec<u8>| all.push(Golden { name: name.into(), bytes });
    add("slots-window-ciphertext.bin", slots.write());
    add("slots-stream-header.bin", slots_header().write());
    add("slots-window.bin", slots_envelope.write());
    add("slots-window-kept.bin", slots_envelope.write_kept());
    add("compact-ciphertext.bin", body);
    add("compact-sums.bin", sums.write().expect("a frame"));
    add("stream-header.bin", stream_header().write());
    add("window.bin", window.write());
    add("window-kept.bin", window.write_kept());
    add("signed-window.bin", window.signed_header().write());
    let group = group(&ciphertexts, sign);
    add("window-group.bin", group.write());
    let member = &group.windows()[1];
    add("group-member.bin", member.write());
    add("signed-member.bin", member.signed_header().write());
    add("compact-envelope.bin", envelope.expect("an envelope").write());
}
