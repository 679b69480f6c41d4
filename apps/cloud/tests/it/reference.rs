//! The reference of the interface, compared with the running cloud.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use sotto_keys::SigningIdentity;
use sotto_wire::{Forget, HeadsRequest, MaskName, Ordered, PositionRequest};

use crate::conforms::{document, operations};
use crate::device::Device;
use crate::jobs::{ADD, plan};
use crate::position::now;
use crate::streams::site::{header, key_of, window};
use crate::world::{Answer, TOKEN, World, bfv, send};

/// Sends requests, and notes which operations have answered with success. `send` compares every answer with the document.
struct Caller<'w> {
    world: &'w World,
    succeeded: BTreeSet<String>,
}

impl Caller<'_> {
    /// Sends a request with the owner's token if the operation takes one. `names` stand in the path in this order.
    fn send(&mut self, operation: &str, names: &[&str], query: &str, body: &[u8]) -> Answer {
        let (method, template) = operation.split_once(' ').unwrap();
        let path = filled(template, names) + query;
        let is_owners = document()["paths"][template][method.to_lowercase()]["security"].is_array();
        let answer = if is_owners {
            self.world.owner(method, &path, body)
        } else if operation == "POST /v1/envelopes" {
            self.world.upload("", body)
        } else {
            send(method, &self.world.url(&path), &[], body)
        };
        assert!((200..300).contains(&answer.status), "{operation}: {answer}");
        self.succeeded.insert(operation.to_owned());
        answer
    }

    fn json(&mut self, operation: &str, names: &[&str], query: &str, body: &[u8]) -> Value {
        self.send(operation, names, query, body).json()
    }
}

fn filled(template: &str, names: &[&str]) -> String {
    let mut names = names.iter();
    let parts =
        template.split('/').map(|part| if part.starts_with('{') { names.next().unwrap() } else { part });
    parts.collect::<Vec<_>>().join("/")
}

#[test]
fn every_operation_answers_as_documented() {
    let world = &World::start();
    let params = bfv();
    let (mut kitchen, attic) = (Device::new("kitchen", &params, 1), Device::new("attic", &params, 2));
    let mut caller = Caller { world, succeeded: BTreeSet::new() };
    for open in ["GET /healthz", "GET /readyz", "GET /v1/openapi.json", "GET /v1/limits", "GET /v1/identity"]
    {
        caller.send(open, &[], "", &[]);
    }
    caller.send("PUT /v1/parameters", &[], "", &sotto_wire::write_parameters(params.spec()));
    for device in [&kitchen, &attic] {
        let mut registration = device.registration();
        registration["record"] = json!("00ff");
        caller.send("PUT /v1/devices/{name}", &[&device.name], "", registration.to_string().as_bytes());
    }
    caller.send("GET /v1/devices/{name}/record", &["kitchen"], "", &[]);
    let mut ids = Vec::new();
    for sequence in 0..2 {
        let receipt = caller.json("POST /v1/envelopes", &[], "", &kitchen.envelope(sequence, &[1, 2]));
        ids.push(receipt["id"].as_str().unwrap().to_owned());
    }
    caller.send("GET /v1/devices", &[], "?limit=1", &[]);
    caller.send("GET /v1/envelopes", &[], "?device=kitchen&limit=1", &[]);
    caller.send("GET /v1/envelopes/{id}", &[&ids[0]], "", &[]);
    caller.send("GET /v1/envelopes/{id}/body", &[&ids[0]], "", &[]);
    caller.send("GET /v1/envelopes/{id}/envelope", &[&ids[0]], "", &[]);
    caller.send("GET /v1/log", &[], "?device=kitchen&stream=load", &[]);

    let keys = sotto_wire::write_evaluation_keys(&kitchen.transfer_keys(&[&attic]));
    caller.send("PUT /v1/keys", &[], "", &keys);
    let (parameters, key) = (params.id().to_string(), kitchen.secret.id().to_string());
    caller.send("GET /v1/keys/{parameter_id}/{key_id}", &[&parameters, &key], "", &[]);
    let from = attic.secret.id().to_string();
    let transfer = "DELETE /v1/keys/{parameter_id}/{key_id}/transfers/{from}";
    caller.send(transfer, &[&parameters, &key, &from], "", &[]);

    let frame = sotto_wire::write_plan(&plan(&params, 2, &ADD)).unwrap();
    let kept = caller.json("PUT /v1/plans", &[], "", &frame);
    let submission = json!({ "plan": kept["plan_id"], "inputs": ids }).to_string();
    let job = caller.json("POST /v1/jobs", &[], "", submission.as_bytes());
    let job = job["job"].as_str().unwrap();
    assert_eq!(world.ended(job)["state"], "done");
    caller.send("GET /v1/jobs/{id}", &[job], "", &[]);
    caller.send("GET /v1/jobs/{id}/outputs/{index}", &[job, "0"], "", &[]);
    caller.send("GET /v1/jobs", &[], "", &[]);
    caller.send("DELETE /v1/jobs/{id}", &[job], "", &[]);

    let shed = header("shed", "load", &[5; 32]);
    let (identity, name) = (SigningIdentity::from_bytes(&[6; 32]), MaskName { salt: [7; 12], sequence: 0 });
    let registration = json!({
        "verifying_key": hex::encode(identity.verifying_key()),
        "keys": [key_of(&shed)],
        "streams": [hex::encode(shed.write())],
    });
    caller.send("PUT /v1/devices/{name}", &["shed"], "", registration.to_string().as_bytes());
    let window = window(&identity, &shed, 0, name, &[Some(1)]);
    world.upload_as("shed.load.0", &window.write()).expect(201);
    let sums = json!({ "windows": [[0, 1]], "sums": [{ "windows": [0, 1], "parts": [0] }] }).to_string();
    let tag = shed.id().tag().to_string();
    caller.send("POST /v1/streams/{stream}/sums", &[&tag], "", sums.as_bytes());

    let asked = PositionRequest::sign("kitchen", "load", now(), |message| kitchen.identity.sign(message));
    caller.send("POST /v1/position", &[], "", &asked.unwrap().write().unwrap());
    let asked = HeadsRequest::sign("kitchen", "load", 0, now(), |message| kitchen.identity.sign(message));
    caller.send("POST /v1/heads", &[], "", &asked.unwrap().write().unwrap());
    let forget = Forget { stream: Some("load".to_owned()), until: 9000, next: 2, from_log: None };
    let order = crate::world::order("kitchen", Ordered::Forget(forget)).write().unwrap();
    caller.send("POST /v1/orders", &[], "", &order);
    caller.send("GET /v1/orders", &[], "?from=0", &[]);
    caller.send("DELETE /v1/devices/{name}", &["kitchen"], "", &[]);

    let all = operations().into_iter().map(|one| format!("{} {}", one.method.to_uppercase(), one.path));
    assert_eq!(caller.succeeded, all.collect::<BTreeSet<_>>(), "an operation lacks its request above");
}

#[test]
fn without_a_token_every_operation_answers_as_documented() {
    let world = World::start();
    for operation in operations() {
        let method = operation.method.to_uppercase();
        let url = world.url(&filled(operation.path, &["x", "x", "x"]));
        let answer = send(&method, &url, &[], b"nothing");
        let tag = operation.value["tags"][0].as_str().unwrap();
        match tag {
            "Owner" => {
                answer.refused(401, "unauthorised");
                let almost = format!("Bearer {TOKEN}x");
                send(&method, &url, &[("authorization", &almost)], b"nothing").refused(401, "unauthorised");
            }
            "Devices" => assert!((400..500).contains(&answer.status), "{answer}"),
            _ => assert_eq!(answer.status, 200, "{answer}"),
        }
        assert_eq!(operation.value["security"].is_array(), tag == "Owner", "{}", operation.path);
    }
}

#[test]
fn nothing_undocumented_answers() {
    let world = World::start();
    for path in ["/", "/v1", "/v1/", "/v1/secrets", "/v1/jobs/", "/v1/openapi", "/v2/devices", "/healthz/"] {
        for method in ["GET", "POST"] {
            send(method, &world.url(path), &[], &[]).refused(404, "no-such-resource");
        }
    }
    for operation in operations() {
        let url = world.url(&filled(operation.path, &["x", "x", "x"]));
        for method in ["GET", "PUT", "POST", "DELETE", "PATCH"] {
            let documented = document()["paths"][operation.path][method.to_lowercase()].is_object();
            if !documented {
                send(method, &url, &[], &[]).refused(405, "method-not-allowed");
            }
        }
    }
}

#[test]
fn the_document_that_is_served_is_the_one_that_is_printed() {
    let world = World::start();
    assert_eq!(&send("GET", &world.url("/v1/openapi.json"), &[], &[]).expect(200), document());
    let text = document().to_string();
    assert!(!text.contains(env!("CARGO_PKG_VERSION")), "the program's version is for the owner");
}

#[test]
fn the_committed_reference_is_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    let made = [
        ("openapi.json", sotto_cloud::reference::openapi().unwrap(), ""),
        ("http.md", sotto_cloud::reference::page().unwrap(), " --markdown"),
    ];
    for (file, expected, flag) in made {
        let found = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
        let command =
            format!("cargo run --release --bin sotto-cloud -- openapi{flag} > docs/reference/{file}");
        assert!(
            found == expected,
            "docs/reference/{file} differs from the code: make it again with\n{command}"
        );
    }
}

#[test]
fn the_reasons_of_the_reference_are_declared() {
    let mut found = BTreeSet::new();
    for operation in operations() {
        for (status, response) in operation.value["responses"].as_object().unwrap() {
            let description = response["description"].as_str().unwrap();
            // Settings and fields, which stand in backticks as well, have underscores.
            let named = description.split('`').skip(1).step_by(2).filter(|name| !name.contains('_'));
            found.extend(named.filter(|name| status.as_str() >= "400" && *name != "most"));
        }
    }
    let declared: BTreeSet<&str> = sotto_api::reason::ALL.iter().copied().collect();
    assert!(found.len() > 50 && found.is_subset(&declared), "{:?}", found.difference(&declared));
}
