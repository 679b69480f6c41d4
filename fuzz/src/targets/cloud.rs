//! The cloud's interface: requests as bytes on a connection; bodies behind a valid head; frames also with a correct
//! digest and, if a device signs them, with its signature.

use std::path::PathBuf;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng as _;
use sotto_cloud::config::{Config, Settings};
use sotto_conformance::golden;
use sotto_program::Plan;
use sotto_rlwe::{Bgv, Ckks, Params};
use sotto_wire::{
    Envelope, LARGEST_ENVELOPE, WindowGroup, write_evaluation_keys, write_parameters, write_plan,
};

use super::cloud_site::{
    self, DEVICE, envelope, group, grouped, other_secret, params, plan, registration, request, secret,
    signed, stream, submission,
};
use super::connection::{held, is_accepted, status};
use super::{Inputs, Target, as_frame};

#[rustfmt::skip]
pub(super) const TARGETS: &[Target] = &[
    Target { name: "cloud-http", run: |bytes| is_accepted(&cloud_site::exchange("http", bytes)), inputs: Inputs::Kept(requests), memory: held },
    Target { name: "cloud-registration", run: |bytes| taken("PUT /v1/devices/kitchen", bytes), inputs: Inputs::Kept(registrations), memory: held },
    Target { name: "cloud-submission", run: |bytes| taken("POST /v1/jobs", bytes), inputs: Inputs::Kept(|| vec![submission()]), memory: held },
    Target { name: "cloud-query", run: |bytes| query("envelopes", bytes), inputs: Inputs::Kept(queries), memory: held },
    Target { name: "cloud-log", run: |bytes| query("log", bytes), inputs: Inputs::Kept(log_queries), memory: held },
    Target { name: "cloud-upload", run: |bytes| uploads(bytes).contains(&CREATED), inputs: Inputs::Kept(|| vec![golden::read("envelope.bin"), envelope(7)]), memory: held },
    Target { name: "cloud-group", run: |bytes| groups(bytes).iter().any(|status| [200, CREATED].contains(status)), inputs: Inputs::Kept(|| vec![group()]), memory: held },
    Target { name: "cloud-parameters", run: |bytes| as_frame(bytes, |bytes| taken("PUT /v1/parameters", bytes)), inputs: Inputs::Kept(parameter_frames), memory: held },
    Target { name: "cloud-keys", run: |bytes| as_frame(bytes, |bytes| taken("PUT /v1/keys", bytes)), inputs: Inputs::MadeAnew(key_frames), memory: held },
    Target { name: "cloud-plans", run: |bytes| as_frame(bytes, |bytes| taken("PUT /v1/plans", bytes)), inputs: Inputs::Kept(plans), memory: held },
    Target { name: "cloud-configuration", run: configuration, inputs: Inputs::Kept(configurations), memory: |bytes| 512 * bytes.len() + (256 << 10) },
];

const CREATED: u16 = 201;

/// Sends a body behind a valid head and returns the answer.
fn owner(line: &'static str, body: &[u8]) -> Vec<u8> {
    let answer = cloud_site::exchange(line, &request(line, body));
    assert!(answer.starts_with(b"HTTP/1.1 "), "a request is answered");
    answer
}

fn taken(line: &'static str, body: &[u8]) -> bool {
    is_accepted(&owner(line, body))
}

/// Returns the statuses of an envelope's answers: unchanged, with correct digests, signed by the device, and signed
/// with a new sequence number.
fn uploads(bytes: &[u8]) -> Vec<u16> {
    let upload = |bytes: &[u8]| status(&owner("POST /v1/envelopes", bytes)).unwrap_or_default();
    let mut answers = vec![upload(bytes)];
    let Some(sealed) = crate::resealed(bytes) else { return answers };
    answers.push(upload(&sealed));
    let Ok(envelope) = Envelope::read(&sealed, LARGEST_ENVELOPE) else { return answers };
    let (mut header, body) = (envelope.header().clone(), envelope.into_body().into_frame());
    answers.extend(signed(header.clone(), body.clone()).map(|bytes| upload(&bytes)));
    // A new number for each body: otherwise the cloud would refuse all but the first before it reads their ciphertexts.
    let digest = blake3::hash(&sealed);
    header.sequence = digest.as_bytes()[..7].iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    answers.extend(signed(header, body).map(|bytes| upload(&bytes)));
    answers
}

/// Returns the statuses of a group's answers: unchanged, and signed by the device.
fn groups(bytes: &[u8]) -> Vec<u16> {
    let upload = |bytes: &[u8]| status(&owner("POST /v1/envelopes", bytes)).unwrap_or_default();
    let mut answers = vec![upload(bytes)];
    if let Ok(group) = WindowGroup::read(bytes, stream()) {
        answers.extend(grouped(group.windows().to_vec()).map(|bytes| upload(&bytes)));
    }
    answers
}

fn requests() -> Vec<Vec<u8>> {
    let [first, _, job] = cloud_site::placeholders();
    let (parameters, key) = (params().id(), secret().id());
    let get = |path: &str| request(&format!("GET /v1/{path}"), b"");
    vec![
        get(&format!("envelopes?device={DEVICE}&limit=3")),
        get(&format!("envelopes/{first}")),
        get(&format!("envelopes/{first}/body")),
        get(&format!("jobs/{job}")),
        get(&format!("jobs/{job}/outputs/0")),
        request(&format!("DELETE /v1/keys/{parameters}/{key}/transfers/{key}"), b""),
        request("PUT /v1/devices/kitchen", &registration()),
        b"POST /v1/envelopes HTTP/1.1\r\nhost: x\r\nidempotency-key: k\r\ntransfer-encoding: chunked\r\n\r\n4\r\nsott\r\n0\r\n\r\n"
            .to_vec(),
        b"GET /healthz HTTP/1.0\r\n\r\nGET /readyz HTTP/1.1\r\nhost: x\r\n\r\n".to_vec(),
    ]
}

fn registrations() -> Vec<Vec<u8>> {
    let id = "0b".repeat(32);
    vec![registration(), format!(r#"{{"verifying_key":"{id}","keys":[]}}"#).into_bytes()]
}

/// Returns secure parameters of each scheme, and insecure ones.
fn parameter_frames() -> Vec<Vec<u8>> {
    let bfv = write_parameters(params().spec());
    let bgv = Params::<Bgv>::default_chain(4096, 40_961).map(|params| write_parameters(params.spec()));
    let ckks = Params::<Ckks>::default_chain(4096, 0).map(|params| write_parameters(params.spec()));
    vec![bfv, bgv.expect("parameters"), ckks.expect("parameters"), golden::read("bfv-parameters.bin")]
}

/// Returns a relinearisation key, alone and together with a Galois key and a transfer key.
fn key_frames() -> Vec<Vec<u8>> {
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let mut keys = |steps: &[i32]| secret().evaluation_keys(true, steps, &mut rng).expect("keys");
    let (few, mut more) = (keys(&[]), keys(&[1]));
    let other = other_secret();
    let transfer = secret().transfer_key(&other, &mut rng).expect("a key");
    more.transfers.insert(other.id(), transfer);
    vec![write_evaluation_keys(&few), write_evaluation_keys(&more)]
}

/// Returns a plan that runs, and one with a step of every kind.
fn plans() -> Vec<Vec<u8>> {
    let every = Plan { parameter_id: params().id().0, ..golden::plan() };
    [plan(), every].iter().map(|plan| write_plan(plan).expect("a frame")).collect()
}

fn queries() -> Vec<Vec<u8>> {
    ["device=device-1&stream=load&after_sequence=6&limit=5", "limit=4294967295&stream=%C3%A9", ""]
        .map(|text| text.as_bytes().to_vec())
        .to_vec()
}

/// Queries of a log with two windows, of an empty one, and of an invalid name.
fn log_queries() -> Vec<Vec<u8>> {
    [
        "device=device-1&stream=bfv.load_1&from=1&limit=5",
        "limit=4294967295&from=18446744073709551615&stream=a&device=b",
        "device=%C3%A9&stream=x",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

/// Sends the visible characters as a query, after the question mark of a request's line.
fn query(what: &'static str, bytes: &[u8]) -> bool {
    let visible: String =
        bytes.iter().filter(|byte| byte.is_ascii_graphic()).map(|byte| char::from(*byte)).collect();
    is_accepted(&cloud_site::exchange(what, &request(&format!("GET /v1/{what}?{visible}"), b"")))
}

fn configurations() -> Vec<Vec<u8>> {
    let all = include_str!("../../../apps/cloud/default.toml");
    vec![all.as_bytes().to_vec(), all.replace("#: ", "").into_bytes()]
}

fn configuration(bytes: &[u8]) -> bool {
    let Ok(settings) = Settings::parse(&String::from_utf8_lossy(bytes)) else { return false };
    let required = Settings {
        data: Some(PathBuf::from("data")),
        owner_token_file: Some(PathBuf::from("token")),
        ..Settings::default()
    };
    Config::new(settings.or(required)).is_ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Mutator;

    #[test]
    fn uploads_come_as_far_as_the_store() {
        let fresh = envelope(11);
        assert_eq!(uploads(&fresh)[..3], [201, 200, 200], "stored, and there already twice");
        let mut mutator = Mutator::new(5);
        let answers = (0..300).flat_map(|_| uploads(&mutator.any(std::slice::from_ref(&fresh))));
        let answers: BTreeSet<u16> = answers.collect();
        // Stored; no frame; an unknown device or a wrong signature; a used number; a wrong key or ciphertext.
        for status in [201, 400, 403, 409, 422] {
            assert!(answers.contains(&status), "{status} is not in {answers:?}");
        }
    }
}
