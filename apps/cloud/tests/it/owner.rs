//! Requests reserved for the owner, and refusals of the owner's requests.

use serde_json::json;
use sotto_rlwe::{Bfv, DefaultChain, ParameterSpec, Params, SchemeId};

use crate::device::Device;
use crate::store::contents;
use crate::world::{TOKEN, World, bfv, send};

#[test]
fn nothing_of_the_owners_without_the_token() {
    let (world, _, mut device) = World::with_device();
    let id = world.keep(&device.envelope(0, &[1]));
    let before = contents(&world.data());
    let routes = [
        ("PUT", "/v1/parameters".to_owned()),
        ("PUT", "/v1/devices/attic".to_owned()),
        ("DELETE", "/v1/devices/kitchen".to_owned()),
        ("PUT", "/v1/keys".to_owned()),
        ("GET", "/v1/devices".to_owned()),
        ("GET", format!("/v1/keys/{id}/{id}")),
        ("DELETE", format!("/v1/keys/{id}/{id}/transfers/{id}")),
        ("PUT", "/v1/plans".to_owned()),
        ("POST", "/v1/jobs".to_owned()),
        ("GET", format!("/v1/jobs/{id}")),
        ("GET", format!("/v1/jobs/{id}/outputs/0")),
        ("GET", "/v1/limits".to_owned()),
        ("GET", "/v1/envelopes".to_owned()),
        ("GET", format!("/v1/envelopes/{id}")),
        ("GET", format!("/v1/envelopes/{id}/body")),
    ];
    let almost = format!("Bearer {TOKEN}x");
    let basic = format!("Basic {TOKEN}");
    for (method, path) in routes {
        let url = world.url(&path);
        send(method, &url, &[], &[0; 5000]).refused(401, "unauthorised");
        for wrong in [almost.as_str(), basic.as_str(), TOKEN, "Bearer ", ""] {
            send(method, &url, &[("authorization", wrong)], &[]).refused(401, "unauthorised");
        }
    }
    assert_eq!(contents(&world.data()), before);
}

#[test]
fn parameters_must_reach_their_security() {
    let world = World::start();
    let params = bfv();
    let answer = world.put_parameters(&params);
    assert_eq!(answer, json!({ "parameter_id": params.id().to_string(), "scheme": "bfv" }));
    assert_eq!(world.put_parameters(&params), answer);
    let before = contents(&world.data());
    let put =
        |spec: &ParameterSpec| world.owner("PUT", "/v1/parameters", &sotto_wire::write_parameters(spec));

    let mut insecure = DefaultChain::spec(SchemeId::Bfv, 8192, 65_537).unwrap();
    insecure.degree = 4096;
    put(&insecure).refused(422, "parameters-refused");
    put(&ParameterSpec { degree: 64, ..insecure.clone() }).refused(422, "parameters-refused");
    put(&ParameterSpec { degree: 4095, ..insecure.clone() }).refused(422, "parameters-refused");
    put(&ParameterSpec { data: vec![15], special: vec![], ..insecure }).refused(422, "parameters-refused");
    world.owner("PUT", "/v1/parameters", &[0; 5000]).refused(413, "too-large");
    world.owner("PUT", "/v1/parameters", b"{}").refused(400, "truncated");
    assert_eq!(contents(&world.data()), before);
}

#[test]
fn devices_are_registered_whole_or_not_at_all() {
    let (world, params, mut device) = World::with_device();
    let before = contents(&world.data());
    let put = |name: &str, body: &str| world.owner("PUT", &format!("/v1/devices/{name}"), body.as_bytes());
    let registration = device.registration().to_string();
    put("attic", "{").refused(400, "invalid-json");
    put("attic", r#"{"verifying_key":"00"}"#).refused(400, "invalid-json");
    put("attic", r#"{"verifying_key":"00","keys":[]}"#).refused(422, "invalid-value");
    put("att%20ic", &registration).refused(422, "invalid-name");
    put(&"a".repeat(65), &registration).refused(422, "invalid-name");
    put("attic", &registration.to_uppercase()).refused(400, "invalid-json");
    let unknown = Params::<Bfv>::default_chain(4096, 65_537).unwrap();
    let other = Device::new("attic", &unknown, 3);
    put("attic", &other.registration().to_string()).refused(422, "unknown-parameters");
    world.owner("DELETE", "/v1/devices/attic", &[]).refused(404, "unknown-device");
    assert_eq!(contents(&world.data()), before);

    // After a new registration, only the last one counts.
    let mut replaced = Device::new("kitchen", &params, 4);
    world.register(&replaced);
    let body = device.envelope(0, &[1]);
    world.upload("k", &body).refused(403, "not-admitted");
    world.keep(&replaced.envelope(0, &[1]));
}

#[test]
fn keys_are_read_fully_before_they_are_kept() {
    let (world, params, mut device) = World::with_device();
    let before = contents(&world.data());
    let frame = sotto_wire::write_evaluation_keys(&device.evaluation_keys(true, &[1]));
    let put = |frame: &[u8]| world.owner("PUT", "/v1/keys", frame);
    put(&frame[..frame.len() - 1]).refused(400, "truncated");
    let mut flipped = frame.clone();
    flipped[5000] ^= 1;
    put(&flipped).refused(400, "digest-mismatch");
    let unknown = Params::<Bfv>::default_chain(4096, 65_537).unwrap();
    let other = sotto_wire::write_evaluation_keys(&Device::new("x", &unknown, 3).evaluation_keys(true, &[]));
    put(&other).refused(422, "unknown-parameters");
    let steps: Vec<i32> = (1..=65).collect();
    let many = sotto_wire::write_evaluation_keys(&device.evaluation_keys(false, &steps));
    assert!(matches!(put(&many).status, 413 | 422));
    assert_eq!(contents(&world.data()), before);

    let answer = put(&frame).expect(200);
    let expected = json!({
        "parameter_id": params.id().to_string(),
        "key_id": device.secret.id().to_string(),
        "relinearisation": true,
        "galois": 1,
        "transfers": [],
    });
    assert_eq!(answer, expected);
    let once = contents(&world.data());
    put(&sotto_wire::write_evaluation_keys(&device.evaluation_keys(true, &[]))).expect(200);
    let replaced = contents(&world.data());
    assert_eq!(replaced.rows, once.rows);
    assert_eq!(replaced.files.len(), once.files.len());
    assert_ne!(replaced.files, once.files);
}

#[test]
fn every_answer_that_is_an_error_is_a_problem_document() {
    let world = World::start();
    world.owner("GET", "/v1/nothing", &[]).refused(404, "no-such-resource");
    world.owner("DELETE", "/v1/plans", &[]).refused(405, "method-not-allowed");
    world.owner("POST", "/healthz", &[]).refused(405, "method-not-allowed");
    world.owner("GET", "/v1/envelopes?limit=many", &[]).refused(400, "bad-request");
    world.owner("GET", "/v1/envelopes?colour=red", &[]).refused(400, "bad-request");
    world.owner("GET", "/v1/envelopes/%FF", &[]).refused(400, "bad-request");
    world.owner("GET", "/v1/envelopes/..%2Flock", &[]).refused(404, "unknown-envelope");
    world.owner("GET", "/v1/jobs/00", &[]).refused(404, "unknown-job");
    assert_eq!(send("GET", &world.url("/healthz"), &[], &[]).expect(200), json!({ "status": "alive" }));
    assert_eq!(send("GET", &world.url("/readyz"), &[], &[]).expect(200)["status"], "ready");
}
