//! Compact ciphertexts of slots, and windows of slots: version 2 of the envelope.

use std::sync::Arc;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_keys::SigningIdentity;
use sotto_pack::{Channel, LeftOut, Presence, Reason, WindowDescription};
use sotto_rlwe::{Bfv, Bgv, Ckks, Kept, Plaintext};
use sotto_wire::{
    Envelope, MaskName, SlotsWindow, StreamHeader, StreamParts, WindowGroup, WindowValues, mask_seed,
};

use super::{Golden, device, insecure_n16, secret};
use crate::Testable;

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
    };
    Arc::new(StreamHeader::new(parts).expect("a stream"))
}

/// Numbers of the windows of `slots-group.bin`: the first is renumbered, the last has the salt of another start.
pub const GROUPED: [u64; 3] = [300, 301, 305];

/// The mask of the window of this index: that of [`SLOTS_WINDOW`], then those of the grouped ones.
#[must_use]
pub fn slots_mask(window: usize) -> MaskName {
    let numbered = |salt: u8, sequence| MaskName { salt: [salt; 12], sequence };
    [numbered(3, 7), numbered(3, 298), numbered(3, 301), numbered(4, 305)][window]
}

/// Descriptions of the grouped windows: one reading is missing in the first, nothing after it; a day passes before the
/// last.
#[must_use]
pub fn grouped() -> [WindowDescription; 3] {
    let (mut presence, mut left_out) = (Presence::default(), LeftOut::default());
    presence.insert(1);
    left_out.add(Reason::Empty, 1);
    let whole = |minutes: i64| WindowDescription { start: START + 60_000 * minutes, ..described(vec![2, 2]) };
    let first = WindowDescription {
        presence: vec![presence, Presence::first(2)],
        left_out: vec![left_out, LeftOut::default()],
        ..described(vec![1, 2])
    };
    [first, whole(2), whole(4 + 1440)]
}

/// The time of the window of slots, and of the first grouped one.
const START: i64 = 1_795_000_000_000;

fn described(present: Vec<u32>) -> WindowDescription {
    let stream = slots_header();
    WindowDescription {
        layout: stream.layout().clone(),
        present,
        start: START,
        period: stream.period(),
        length: 2,
        presence: Vec::new(),
        left_out: Vec::new(),
        rounded: None,
        generated: false,
        replaces: None,
        provisional: false,
    }
}

/// The ciphertext of a window, from a generator of its own.
fn slots_window(window: usize) -> SlotsWindow {
    let (params, stream, mask) = (insecure_n16::<Ckks>(), slots_header(), slots_mask(window));
    let plaintext = params.encode_folded(&SLOTS_WINDOW, 1.0, params.top_level()).expect("encodes");
    let seed = mask_seed(stream.key(), stream.stream(), &mask);
    let mut rng = ChaCha20Rng::from_seed([26 + window as u8; 32]);
    let seeded = secret(&params).encrypt_under(&plaintext, seed, &mut rng).expect("encrypts");
    SlotsWindow::of(&seeded.compact(Kept::Folded(SLOTS_WINDOW.len())).expect("places"), mask)
}

pub(super) fn objects(all: &mut Vec<Golden>) {
    all.extend([slots::<Bfv>(), slots::<Bgv>(), slots::<Ckks>()].into_iter().flatten());
    let (identity, stream) = (SigningIdentity::from_bytes(&device::SIGNING_KEY), slots_header());
    let sign = |message: &[u8]| identity.sign(message);
    let signed = |sequence: u64, description: WindowDescription, window: &SlotsWindow| {
        Envelope::sign_window(&stream, sequence, description, &window.write(), sign).expect("a window")
    };
    let window = slots_window(0);
    let envelope = signed(window.mask.sequence, described(vec![2, 2]), &window);
    let members = GROUPED.into_iter().zip(grouped()).zip(1..);
    let members =
        members.map(|((sequence, description), at)| signed(sequence, description, &slots_window(at)));
    let group = WindowGroup::sign(members.collect(), sign).expect("a group");
    let member = &group.windows()[1];
    let mut add = |name: &str, bytes: Vec<u8>| all.push(Golden { name: name.into(), bytes });
    add("slots-window-ciphertext.bin", window.write());
    add("slots-stream-header.bin", stream.write());
    add("slots-window.bin", envelope.write());
    add("slots-window-kept.bin", envelope.write_kept());
    add("slots-window-signed.bin", envelope.signed_header().write());
    add("slots-group.bin", group.write());
    add("slots-member.bin", member.write());
    add("slots-member-signed.bin", member.signed_header().write());
}
