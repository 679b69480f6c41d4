//! Uploads whose admission is withdrawn.

use sotto_api::Condition;
use sotto_keys::{DeviceSecret, SecretKey, SigningIdentity};
use sotto_rlwe::{Bfv, ChainRequest, KeyId, ParameterId, Params, Scheme, SchemeId};
use sotto_wire::{AnyCiphertext, EnvelopeHeader};

use std::sync::Arc;

use super::super::{EarlierUpload, New, NewDevice, Opening, Source};
use super::*;

#[test]
fn what_is_withdrawn_while_an_upload_is_checked_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), Opening::Serve).unwrap();
    let chain = ChainRequest::one_prime(SchemeId::Bfv, 1024, 257, 26).build().unwrap();
    let params = Params::<Bfv>::new(chain).unwrap();
    let secret = SecretKey::derive(&DeviceSecret::from_bytes(&[1; 32]), &params);
    let (parameters, key) = (params.id(), secret.id());
    let [identity, other] = [3, 4].map(|byte| SigningIdentity::from_bytes(&[byte; 32]));
    let header = EnvelopeHeader {
        device: "kitchen".into(),
        stream: "load".into(),
        sequence: 0,
        parameters,
        key,
        started_at: 0,
        ended_at: 0,
        readings: 1,
        layout: vec![],
    };
    let plain = Bfv::encode_scalar(&params, 7, params.top_level()).unwrap();
    let mut rng = sotto_ring::secure_rng().unwrap();
    let body = AnyCiphertext::Seeded(secret.encrypt(&plain, &mut rng).unwrap()).write();
    let envelope = Envelope::sign(header, body, |message| identity.sign(message)).unwrap();
    let (idempotency_key, bytes, digest) = ("k".to_owned(), b"envelope".to_vec(), [5; 32]);
    let uploads = Arc::new(vec![Upload { envelope, idempotency_key, bytes, digest, receipt_digest: digest }]);
    let files = || std::fs::read_dir(folder.path().join("envelopes")).unwrap().count();
    let register = |identity: &SigningIdentity, keys: &[(ParameterId, KeyId)]| {
        let verifying_key = &identity.verifying_key();
        let is_there = store.device("kitchen").unwrap().is_some();
        let condition = if is_there { Condition::Existing } else { Condition::New };
        let device = NewDevice {
            name: "kitchen",
            verifying_key,
            keys,
            streams: &[],
            record: None,
            source: Source::Request { condition, from: "127.0.0.1" },
        };
        store.register_device(&device).unwrap();
    };
    let keep = || {
        let key = identity.verifying_key();
        let uploads = Arc::clone(&uploads);
        store.keep_envelopes(New { uploads, new: vec![0], verifying_key: key, checked_at: 0 }).unwrap()
    };
    let refused = || matches!(keep(), Err((0, EarlierUpload::NoLongerAccepted))) && files() == 0;

    store.keep_parameters(parameters, SchemeId::Bfv, &[]).unwrap();
    assert!(refused(), "the device is not known");
    register(&identity, &[]);
    assert!(refused(), "the key is not registered");
    register(&other, &[(parameters, key)]);
    assert!(refused(), "the signature is another device's");
    register(&identity, &[(parameters, key)]);
    assert!(
        store.revoke_device("kitchen", Condition::Existing, "::1").is_ok() && refused(),
        "the device is revoked"
    );
    register(&identity, &[(parameters, key)]);
    assert!(matches!(keep().as_deref(), Ok([EarlierUpload::New(_)])) && files() == 1);
    assert!(matches!(keep().as_deref(), Ok([EarlierUpload::Duplicate(_)])) && files() == 1);
}
