//! Frames at toy parameters. Accepted frames are written again byte for byte, computed on, and decrypted.

use std::sync::Arc;

use sotto_conformance::{Testable, golden};
use sotto_decrypt::Decryptor;
use sotto_keys::{SecretKey, SigningIdentity};
use sotto_ring::Scratch;
use sotto_rlwe::{Bfv, Bgv, Ciphertext, Ckks, DefaultChain, EvaluationKeys, Evaluator, Params, SchemeId};
use sotto_wire::{
    AnyCiphertext, CiphertextHeader, Envelope, EnvelopeHeader, Heads, HeadsRequest, LARGEST_ENVELOPE, Order,
    PositionRequest, SeededPreamble, SignedHeader, SlotsWindow, StreamHeader, WindowGroup,
    evaluation_keys_header, frame_digest, frame_kind, read_compact, read_evaluation_keys, read_parameters,
    read_public_key, read_reduced, write_compact, write_evaluation_keys, write_parameters, write_public_key,
    write_reduced,
};

use super::{Inputs, Target, as_frame, once};

/// Memory: three times the bytes (the copy with a correct digest, and residues of 40 bits in 64), and the computation
/// at n = 16.
fn ciphertexts(bytes: &[u8]) -> usize {
    3 * bytes.len() + (64 << 10)
}

/// Memory: residues of 40 bits in 64, the expanded masks likewise, and the copies of a frame that is written again.
fn keys(bytes: &[u8]) -> usize {
    8 * bytes.len() + (64 << 10)
}

#[rustfmt::skip]
pub(super) const TARGETS: &[Target] = &[
    Target { name: "parameters", run: parameters, inputs: Inputs::Kept(parameter_frames), memory: |bytes| 16 * bytes.len() + (512 << 20) },
    Target { name: "ciphertext-bfv", run: |bytes| ciphertext(toy_bfv(), bytes), inputs: Inputs::Kept(|| files_of("bfv", &CIPHERTEXTS)), memory: ciphertexts },
    Target { name: "ciphertext-bgv", run: |bytes| ciphertext(toy_bgv(), bytes), inputs: Inputs::Kept(|| files_of("bgv", &CIPHERTEXTS)), memory: ciphertexts },
    Target { name: "ciphertext-ckks", run: |bytes| ciphertext(toy_ckks(), bytes), inputs: Inputs::Kept(|| files_of("ckks", &CIPHERTEXTS)), memory: ciphertexts },
    Target { name: "public-key", run: |bytes| public_key(&toy_bgv().params, bytes), inputs: Inputs::Kept(|| files_of("bgv", &["public-key", "public-key-written-out"])), memory: keys },
    Target { name: "evaluation-keys", run: |bytes| evaluation_keys(&toy_bfv().params, bytes), inputs: Inputs::Kept(|| files_of("bfv", &["evaluation-keys", "evaluation-keys-written-out"])), memory: keys },
    Target { name: "seeded-preamble", run: seeded_preamble, inputs: Inputs::MadeAnew(|| vec![preamble().bytes().to_vec()]), memory: |_| 1024 },
    Target { name: "envelope", run: envelope, inputs: Inputs::Kept(|| vec![golden::read("envelope.bin")]), memory: ciphertexts },
    Target { name: "position", run: position, inputs: Inputs::MadeAnew(positions), memory: ciphertexts },
    Target { name: "heads", run: heads, inputs: Inputs::Kept(|| ["heads-request.bin", "heads.bin"].map(golden::read).to_vec()), memory: |bytes| 256 * bytes.len() + (256 << 10) },
    Target { name: "order", run: order, inputs: Inputs::Kept(|| vec![golden::read("order.bin"), golden::roll_up().write().expect("an order")]), memory: |bytes| 16 * bytes.len() + (64 << 10) },
    Target { name: "compact-slots", run: |bytes| compact_slots(toy_bfv(), bytes) | compact_slots(toy_bgv(), bytes) | compact_slots(toy_ckks(), bytes), inputs: Inputs::Kept(|| files("compact-slots")), memory: ciphertexts },
    Target { name: "slots-window", run: slots_window, inputs: Inputs::Kept(|| ["slots-window-ciphertext.bin", "slots-window.bin", "slots-window-kept.bin", "slots-stream-header.bin", "slots-window-signed.bin"].map(golden::read).to_vec()), memory: |bytes| 64 * bytes.len() + (256 << 10) },
    Target { name: "slots-group", run: window_group, inputs: Inputs::Kept(|| ["slots-group.bin", "slots-member.bin", "slots-member-signed.bin"].map(golden::read).to_vec()), memory: |bytes| 64 * bytes.len() + (2 << 20) },
    Target { name: "reduced", run: |bytes| reduced(toy_bfv(), bytes) | reduced(toy_bgv(), bytes) | reduced(toy_ckks(), bytes), inputs: Inputs::Kept(|| [files("reduced"), files("reduced-selected")].concat()), memory: ciphertexts },
    Target { name: "frame", run: frame, inputs: Inputs::Kept(|| files("parameters")), memory: |_| 1024 },
];

const CIPHERTEXTS: [&str; 4] = ["seeded", "expanded", "tensor", "lower"];

fn files(what: &str) -> Vec<Vec<u8>> {
    ["bfv", "bgv", "ckks"].iter().flat_map(|scheme| files_of(scheme, &[what])).collect()
}

/// Returns toy parameters, which are refused after reading, and valid ones.
fn parameter_frames() -> Vec<Vec<u8>> {
    let secure = DefaultChain::spec(SchemeId::Bfv, 1024, 17).expect("a chain");
    [files("parameters"), vec![write_parameters(&secure)]].concat()
}

fn files_of(scheme: &str, what: &[&str]) -> Vec<Vec<u8>> {
    what.iter().map(|what| golden::read(&format!("{scheme}-{what}.bin"))).collect()
}

/// Parameters, and the keys to use ciphertexts of them.
pub(super) struct Reader<S: Testable> {
    pub(super) params: Params<S>,
    pub(super) secret: SecretKey<S>,
    pub(super) evaluator: Evaluator<S>,
    pub(super) keys: EvaluationKeys<S>,
}

impl<S: Testable> Reader<S> {
    pub(super) fn new(params: Params<S>, keys: EvaluationKeys<S>) -> Self {
        let (secret, evaluator) = (golden::secret(&params), Evaluator::new(&params));
        Self { params, secret, evaluator, keys }
    }

    fn toy() -> Self {
        let params = golden::insecure_n16::<S>();
        let frame = golden::read(&format!("{}-evaluation-keys.bin", S::ID.name()));
        let keys = read_evaluation_keys(&frame, &params, golden::MOST_KEYS).expect("golden keys");
        Self::new(params, keys)
    }
}

pub(super) fn toy_bfv() -> &'static Reader<Bfv> {
    once!(Reader<Bfv>, Reader::toy())
}

fn preamble() -> SeededPreamble {
    let reader = toy_bfv();
    SeededPreamble::new(&reader.params, reader.secret.id(), 1.0).expect("a preamble")
}

/// Reads a seeded preamble, which a device keeps in place of its parameters.
fn seeded_preamble(bytes: &[u8]) -> bool {
    let reader = toy_bfv();
    let Some(bytes) = bytes.first_chunk() else { return false };
    let read = SeededPreamble::from_bytes(bytes, reader.params.spec(), reader.secret.id());
    let Ok(read) = read else { return false };
    assert!(read.bytes() == bytes, "kept otherwise");
    assert!(read.frame_bytes() == preamble().frame_bytes(), "another length");
    true
}

fn toy_bgv() -> &'static Reader<Bgv> {
    once!(Reader<Bgv>, Reader::toy())
}

fn toy_ckks() -> &'static Reader<Ckks> {
    once!(Reader<Ckks>, Reader::toy())
}

pub(super) fn ciphertext<S: Testable>(reader: &Reader<S>, bytes: &[u8]) -> bool {
    as_frame(bytes, |bytes| {
        // The header must agree with the whole frame.
        let header = CiphertextHeader::read(bytes, LARGEST_ENVELOPE);
        let Ok(read) = AnyCiphertext::read(bytes, &reader.params) else { return false };
        let read = read.with_claimed_shape();
        assert!(header.is_ok_and(|header| header.seeded == matches!(read, AnyCiphertext::Seeded(_))));
        assert!(read.write() == bytes, "rewriting changes bytes");
        use_it(reader, &read.expand());
        true
    })
}

/// Reads a compact ciphertext of slots: its header must agree with the frame, and unsuitable keys must be refused
/// before any computation.
fn compact_slots<S: Testable>(reader: &Reader<S>, bytes: &[u8]) -> bool {
    as_frame(bytes, |bytes| {
        let header = CiphertextHeader::read(bytes, LARGEST_ENVELOPE);
        let Ok(read) = read_compact(bytes, &reader.params) else { return false };
        let read = read.with_claimed_shape();
        assert!(header.is_ok_and(|header| header.compact && header.seeded));
        assert!(write_compact(&read) == bytes, "rewriting changes bytes");
        let expanded = reader.evaluator.expand(&read, &reader.keys, &mut Scratch::new());
        assert!(expanded.is_ok() == read.expandable(&reader.keys).is_ok());
        true
    })
}

/// Reads a reduced answer as its owner does: lifts and decrypts it, or refuses its noise or its key.
fn reduced<S: Testable>(reader: &Reader<S>, bytes: &[u8]) -> bool {
    as_frame(bytes, |bytes| {
        let Ok(read) = read_reduced(bytes, &reader.params) else { return false };
        let read = read.with_claimed_shape();
        assert!(write_reduced(&read) == bytes, "rewriting changes bytes");
        let lifted = read.lift().expect("its shape was checked");
        let _ = Decryptor::new(&reader.secret).decrypt_selected(&lifted, read.reduction().selection);
        true
    })
}

/// Reads a window of slots in any of its forms: with or without its stream's header, its ciphertext, or the header
/// alone.
fn slots_window(bytes: &[u8]) -> bool {
    let stream = once!(Arc<StreamHeader>, golden::slots_header());
    let params = &toy_ckks().params;
    if let Ok(envelope) = Envelope::read_window(bytes, stream) {
        assert!(envelope.write() == bytes, "rewriting changes bytes");
        return SlotsWindow::read(&envelope.body().frame())
            .is_ok_and(|window| window.compact(params).is_ok());
    }
    as_frame(bytes, |bytes| {
        if let Ok(read) = SlotsWindow::read(bytes) {
            assert!(read.write() == bytes, "rewriting changes bytes");
            let compact = read.compact(params);
            let again = compact.as_ref().map(|compact| SlotsWindow::of(compact, read.mask));
            assert!(again.is_err() || again == Ok(read));
            return compact.is_ok();
        }
        window(bytes)
    })
}

/// Uses an accepted ciphertext as cloud and owner do; its noise or its key may be refused.
fn use_it<S: Testable>(reader: &Reader<S>, ciphertext: &Ciphertext<S>) {
    let (evaluator, scratch) = (&reader.evaluator, &mut Scratch::new());
    let _ = evaluator.negate(ciphertext);
    if let Ok(sum) = evaluator.add(ciphertext, ciphertext) {
        let _ = evaluator.drop_modulus(&sum);
    }
    if let Ok(product) = evaluator.multiply_with(ciphertext, ciphertext, scratch) {
        let _ = evaluator.relinearise(&product, &reader.keys);
    }
    let _ = evaluator.rotate(ciphertext, 1, &reader.keys);
    let _ = Decryptor::new(&reader.secret).slots(ciphertext);
}

pub(super) fn public_key<S: Testable>(params: &Params<S>, bytes: &[u8]) -> bool {
    as_frame(bytes, |bytes| {
        let Ok(key) = read_public_key(bytes, params) else { return false };
        assert!(write_public_key(&key) == bytes, "rewriting changes bytes");
        true
    })
}

pub(super) fn evaluation_keys<S: Testable>(params: &Params<S>, bytes: &[u8]) -> bool {
    as_frame(bytes, |bytes| {
        let header = evaluation_keys_header(bytes, LARGEST_ENVELOPE);
        let Ok(keys) = read_evaluation_keys(bytes, params, golden::MOST_KEYS) else { return false };
        assert_eq!(header, Ok((params.id(), keys.key)));
        assert!(write_evaluation_keys(&keys) == bytes, "rewriting changes bytes");
        true
    })
}

/// Reads parameters as the cloud does: accepted ones are checked against the security table and made.
fn parameters(bytes: &[u8]) -> bool {
    as_frame(bytes, |bytes| {
        let Ok(spec) = read_parameters(bytes) else { return false };
        assert!(write_parameters(&spec) == bytes, "rewriting changes bytes");
        let (bgv, ckks) = (spec.clone(), spec.clone());
        drop((Params::<Bfv>::new(spec), Params::<Bgv>::new(bgv), Params::<Ckks>::new(ckks)));
        true
    })
}

/// Reads a device's question for its position, or the signed header that answers it.
fn position(bytes: &[u8]) -> bool {
    as_frame(bytes, |bytes| {
        let key = &SigningIdentity::from_bytes(&[7; 32]).verifying_key();
        if let Ok(asked) = PositionRequest::read(bytes) {
            assert!(asked.write().is_ok_and(|written| written == bytes), "rewriting changes bytes");
            return asked.verify(key).is_ok();
        }
        let Ok(header) = SignedHeader::read(bytes, LARGEST_ENVELOPE) else { return false };
        assert!(header.write() == bytes, "rewriting changes bytes");
        // The golden envelope is signed by another device.
        header.verify(key).is_err()
    })
}

/// Reads an order as devices and the owner's other computers do.
fn order(bytes: &[u8]) -> bool {
    let key = once!([u8; 32], SigningIdentity::from_bytes(&golden::SIGNING_KEY).verifying_key());
    as_frame(bytes, |bytes| {
        let Ok(order) = Order::read(bytes) else { return false };
        assert!(order.write().is_ok_and(|written| written == bytes), "rewriting changes bytes");
        order.verify(key).is_ok()
    })
}

/// Reads heads of windows as a device does that has lost its spool, or its request for them.
fn heads(bytes: &[u8]) -> bool {
    let key = once!([u8; 32], SigningIdentity::from_bytes(&golden::SIGNING_KEY).verifying_key());
    as_frame(bytes, |bytes| {
        if let Ok(asked) = HeadsRequest::read(bytes) {
            assert!(asked.write().is_ok_and(|written| written == bytes), "rewriting changes bytes");
            return asked.verify(key).is_ok();
        }
        let Ok(read) = Heads::read(bytes) else { return false };
        assert!(read.write() == bytes, "rewriting changes bytes");
        for head in read.heads.iter().filter(|head| head.verify(key).is_ok()) {
            let again = SignedHeader::read(&head.write(), LARGEST_ENVELOPE);
            assert!(again.as_ref() == Ok(head), "a head read alone is another one");
        }
        true
    })
}

/// Reads a group of windows of the golden stream; each is written, read and verified on its own, as the cloud keeps it.
fn window_group(bytes: &[u8]) -> bool {
    let stream = once!(Arc<StreamHeader>, golden::slots_header());
    let key = once!([u8; 32], SigningIdentity::from_bytes(&golden::SIGNING_KEY).verifying_key());
    let Ok(group) = WindowGroup::read(bytes, stream) else { return window(bytes) };
    assert!(group.write() == bytes, "rewriting changes bytes");
    let signed = group.verify(key).is_ok();
    assert!(!signed || group.windows().iter().map(|w| w.header().sequence).eq(golden::GROUPED));
    for member in group.windows() {
        let written = member.write();
        assert!(Envelope::read_window(&written, stream).as_ref() == Ok(member), "rereading changes it");
        assert!(member.verify(key).is_ok() == signed);
    }
    true
}

/// Reads a window of version 2 of the golden stream, one with its stream's header, one without its body, or a header.
fn window(bytes: &[u8]) -> bool {
    let stream = once!(Arc<StreamHeader>, golden::slots_header());
    let key = once!([u8; 32], SigningIdentity::from_bytes(&golden::SIGNING_KEY).verifying_key());
    let same = |written: Vec<u8>, bytes: &[u8]| {
        assert!(written == bytes, "rewriting changes bytes");
    };
    let golden_header = |header: &EnvelopeHeader| {
        golden::GROUPED.contains(&header.sequence) || header.sequence == golden::slots_mask(0).sequence
    };
    if let Ok(envelope) = Envelope::read_window(bytes, stream) {
        same(envelope.write(), bytes);
        assert!(envelope.verify(key).is_err() || golden_header(envelope.header()));
        return true;
    }
    as_frame(bytes, |bytes| {
        if let Ok(envelope) = Envelope::read_kept(bytes, LARGEST_ENVELOPE) {
            same(envelope.write_kept(), bytes);
            return true;
        }
        if let Ok(signed) = SignedHeader::read(bytes, LARGEST_ENVELOPE) {
            same(signed.write(), bytes);
            assert!(signed.verify(key).is_err() || golden_header(signed.header()));
            return true;
        }
        let Ok(read) = StreamHeader::read(bytes) else { return false };
        same(read.write(), bytes);
        true
    })
}

fn positions() -> Vec<Vec<u8>> {
    let identity = SigningIdentity::from_bytes(&[7; 32]);
    let asked = PositionRequest::sign("boiler", "temperature", 5, |message| identity.sign(message));
    let envelope = Envelope::read(&golden::read("envelope.bin"), LARGEST_ENVELOPE);
    let header = envelope.map(|envelope| envelope.signed_header().write());
    [asked.and_then(|asked| asked.write()), header].into_iter().flatten().collect()
}

pub(super) fn envelope(bytes: &[u8]) -> bool {
    let key = once!([u8; 32], SigningIdentity::from_bytes(&golden::SIGNING_KEY).verifying_key());
    let golden = once!(EnvelopeHeader, golden::envelope_header());
    as_frame(bytes, |bytes| {
        let Ok(envelope) = Envelope::read(bytes, LARGEST_ENVELOPE) else { return false };
        assert!(envelope.write() == bytes, "rewriting changes bytes");
        // Only the device can sign its headers.
        let signed = envelope.verify(key).is_ok();
        assert!(!signed || envelope.header() == golden);
        true
    })
}

fn frame(bytes: &[u8]) -> bool {
    frame_kind(bytes).is_ok() & frame_digest(bytes).is_ok()
}
