//! The work on bytes that uploads cost.

use std::sync::Arc;

use sotto_keys::SigningIdentity;
use sotto_pack::{Channel, WindowDescription};
use sotto_rlwe::{Bfv, ChainRequest, Kept, KeyId, ParameterSpec, Params, SchemeId};
use sotto_wire::{
    Counts, Envelope, MaskName, SlotsWindow, StreamHeader, StreamParts, WindowGroup, WindowValues, counts,
    mask_seed,
};
use tempfile::TempDir;

use super::{Receipts, ingest};
use crate::cloud::Cloud;
use crate::config::{Config, Settings};
use crate::register;
use crate::startup;
use crate::store::Source;
use sotto_api::Condition;
use sotto_api::devices::{RegisteredKey, Registration};

const KEY: KeyId = KeyId([2; 16]);
const TICKS: u32 = 4;
const SLOTS: u32 = 8;

fn spec() -> ParameterSpec {
    ChainRequest::one_prime(SchemeId::Bfv, 2048, 12_289, 40).build().unwrap()
}

fn identity() -> SigningIdentity {
    SigningIdentity::from_bytes(&[3; 32])
}

/// A cloud with one device and one stream of windows of slots.
fn cloud() -> (TempDir, Cloud, Arc<StreamHeader>) {
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    sotto_service::token::write_private(&token, "the-owner-of-this-test\n").unwrap();
    let data = Some(folder.path().join("data"));
    let settings = Settings { data, owner_token_file: Some(token), ..Settings::default() };
    let cloud = startup::open(&Config::new(settings).unwrap()).unwrap();

    let (parameters, _) = register::parameters(&cloud, &sotto_wire::write_parameters(&spec())).unwrap();
    let channel = Channel { name: "load".into(), maximum: 63.0, resolution: Some(1.0), ..Channel::default() };
    let stream = StreamHeader::new(StreamParts {
        device: "kitchen".into(),
        stream: "load".into(),
        parameters,
        key: KEY,
        period: 60_000,
        ticks: TICKS,
        channels: vec![channel],
        values: WindowValues::Steps(SLOTS),
    })
    .unwrap();
    let registration = Registration {
        verifying_key: hex::encode(identity().verifying_key()),
        keys: vec![RegisteredKey { parameter_id: parameters.to_string(), key_id: KEY.to_string() }],
        streams: vec![hex::encode(stream.write())],
        record: None,
    };
    let source = Source::Request { condition: Condition::New, from: "::1" };
    register::device(&cloud, "kitchen", &registration, source).unwrap();
    (folder, cloud, Arc::new(stream))
}

fn window(stream: &Arc<StreamHeader>, sequence: u64) -> Envelope {
    let description = WindowDescription {
        layout: stream.layout().clone(),
        present: vec![TICKS],
        start: 300_000 * sequence as i64,
        period: stream.period(),
        length: TICKS,
        presence: Vec::new(),
        left_out: Vec::new(),
        rounded: None,
        generated: false,
        replaces: None,
        provisional: false,
    };
    let (mask, kept) = (MaskName { salt: [4; 12], sequence }, Kept::Folded(SLOTS as usize));
    let (parameters, key, seed) = (stream.parameters(), KEY, mask_seed(KEY, "load", &mask));
    // Any residues are a ciphertext's.
    let body = vec![0; SlotsWindow::body_bytes(&Params::<Bfv>::new(spec()).unwrap(), kept)];
    let body = SlotsWindow { parameters, key, kept, mask, seed, body }.write();
    Envelope::sign_window(stream, sequence, description, &body, |message| identity().sign(message)).unwrap()
}

/// Returns the work on bytes of a closure.
fn spent<T>(work: impl FnOnce() -> T) -> (T, Counts) {
    let before = counts();
    let done = work();
    let after = counts();
    let (parses, digests) = (after.parses - before.parses, after.digests - before.digests);
    (done, Counts { parses, digests, signatures: after.signatures - before.signatures })
}

/// Uploads a window and returns its id.
fn keep(cloud: &Cloud, stream: &Arc<StreamHeader>, sequence: u64) -> (String, Counts) {
    let (key, bytes) = (format!("kitchen.load.{sequence}"), window(stream, sequence).write());
    let (receipts, counts) = spent(|| ingest(cloud, &key, &bytes).unwrap());
    assert!(!receipts.duplicate());
    let Receipts::Window(receipt) = receipts else { panic!("one window has one receipt") };
    (receipt.id, counts)
}

/// Its digests: of the body, of the name of its mask, of the whole message, of its signed header as a frame, and of its leaf
/// in the log.
#[test]
fn a_window_is_parsed_once_and_its_signature_checked_once() {
    let (_folder, cloud, stream) = cloud();
    // The header of the stream is read with its first window.
    keep(&cloud, &stream, 0);
    let (_, spent) = keep(&cloud, &stream, 1);
    println!("a window: {spent:?}");
    assert_eq!(spent, Counts { parses: 1, digests: 5, signatures: 1 });
}

#[test]
fn each_window_of_a_group_is_parsed_once() {
    let (_folder, cloud, stream) = cloud();
    keep(&cloud, &stream, 0);
    let windows = (1..9).map(|sequence| window(&stream, sequence)).collect();
    let group = WindowGroup::sign(windows, |message| identity().sign(message)).unwrap();
    let (key, bytes) = (group.upload_key(), group.write());
    let (_, spent) = spent(|| ingest(&cloud, &key, &bytes).unwrap());
    println!("a group of eight: {spent:?}");
    assert_eq!((spent.parses, spent.signatures), (8, 1));
}
