//! Windows that a device has signed, and whose own tags do not fit: its fault, not the cloud's.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use sotto_keys::DeviceBundle;
use sotto_wire::{Envelope, LARGEST_ENVELOPE, MaskName, StreamHeader};

use crate::liar::{self, Request, Truth};
use crate::world::{DAILY, TOTAL, World};
use crate::{device, honest_rows, values_of};

/// Returns the newest window of the stream of sums, as the device signed it.
fn newest(truth: &Truth, headers: &[(String, String)], log: &Value) -> Envelope {
    let id = log["windows"].as_array().unwrap().last().unwrap()["id"].as_str().unwrap();
    let path = format!("/v1/envelopes/{id}/envelope");
    let request = Request { method: "GET".to_owned(), path, headers: headers.to_vec(), body: Vec::new() };
    Envelope::read_kept(&truth.tell(&request).body, LARGEST_ENVELOPE).unwrap()
}

/// Signs a window like another one with the device's own key: of the days after it, and with another tag.
fn signed(like: &Envelope, bundle: &DeviceBundle, later: u64) -> Envelope {
    let stream: &Arc<StreamHeader> = like.signed_header().stream().unwrap();
    let mask = like.mask().unwrap();
    let mut window = like.signed_header().description().unwrap();
    window.start += i64::try_from(later * 24).unwrap() * 3_600_000;
    let mut parts = Vec::new();
    for part in 0..stream.parts().len() {
        let part = like.part(part).unwrap();
        parts.extend_from_slice(part.body());
        let mut tag = part.tag().to_bytes();
        tag[0] ^= 1;
        parts.extend_from_slice(&tag);
    }
    let name = MaskName { sequence: mask.sequence + later, ..mask };
    let sequence = like.header().sequence + later;
    Envelope::sign_sums(stream, sequence, name, window, &parts, |message| bundle.identity.sign(message))
        .unwrap()
}

/// Uploads two such windows, and asks: the answer is that of the other windows, and names the two.
pub(crate) fn tried(world: &World) {
    let honest = honest_rows(world, DAILY);
    let bundle = world.bundle();
    let bundle = DeviceBundle::parse(&std::fs::read(&bundle).unwrap(), Path::new(&bundle), None).unwrap();
    let uploaded = std::sync::atomic::AtomicBool::new(false);
    let lie: liar::Lie = Box::new(move |truth, request| {
        let reply = truth.tell(&request);
        let is_log = request.is("GET", "/v1/log") && request.path.contains("stream=exact");
        if !is_log || uploaded.swap(true, std::sync::atomic::Ordering::Relaxed) {
            return reply;
        }
        let newest = newest(truth, &request.headers, &liar::page(&reply.body));
        for later in [5, 6] {
            let window = signed(&newest, &bundle, later);
            device::send(truth, &window);
        }
        truth.tell(&request)
    });
    let plant = world.owner("faults", false, &liar::start(&world.url, &world.signing_key, lie));
    for question in [DAILY, TOTAL] {
        let asked = world.sotto(&plant, &["ask", question, "--json"]);
        assert_eq!(asked.code, 0, "{}", asked.text);
        let document: Value = serde_json::from_str(&asked.text).unwrap();
        assert_eq!(document["faulty"]["meter"], 2, "{document}");
        let note = "2 windows of meter were left out: the device has signed them with tags that do not fit";
        assert!(asked.text.contains(note) && asked.text.contains(" of exact-1h, window "), "{}", asked.text);
        if question == DAILY {
            let rows = values_of(&document);
            for (key, value) in &honest {
                assert_eq!(rows.get(key).copied().unwrap_or_default(), *value, "{key:?}");
            }
            assert!(
                rows.iter().all(|(key, value)| honest.contains_key(key) || value.0.is_none()),
                "{rows:?}"
            );
        }
    }
    println!("two windows with wrong tags, signed by their device: left out, counted and named");
}

/// Orders the cloud to add the windows up: those two stay as they are, so that the sums open, and the answer is the same.
pub(crate) fn retained(world: &World) {
    let url = liar::start(&world.url, &world.signing_key, Box::new(|truth, request| truth.tell(&request)));
    let plant = world.owner("retained", false, &url);
    let ask = || {
        let asked = world.sotto(&plant, &["ask", TOTAL, "--json", "--no-cache"]);
        assert_eq!(asked.code, 0, "{}", asked.text);
        let document: Value = serde_json::from_str(&asked.text).unwrap();
        (values_of(&document), document["faulty"]["meter"].as_u64(), document["windows"].as_u64())
    };
    let before = ask();
    assert_eq!(before.1, Some(2));
    let order = ["retain", "level", "1d", "--roll-up", "year:forever", "--yes", "--json"];
    let done = world.sotto(&plant, &order);
    assert_eq!(done.code, 0, "{}", done.text);
    let document: Value = serde_json::from_str(&done.text).unwrap();
    let streams = document["streams"].as_array().unwrap();
    let sum = |field: &str| streams.iter().map(|of| of[field].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum("faulty"), 2, "{document}");
    assert!(sum("windows") > 2, "{document}");
    assert_eq!(ask(), before);
    println!("{} windows became {} sums, without the two whose tags do not fit", sum("windows"), sum("sums"));
}
