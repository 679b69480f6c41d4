//! A lying cloud and an owner who verifies: real processes, and between them a proxy that has the cloud's signing key.
//!
//! `cargo ci trust` runs it; without the programs' folder in `SOTTO_PROGRAMS` it is skipped.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

mod liar;
mod lies;
mod world;

use std::path::Path;

use lies::{Case, Found};
use serde_json::Value;
use world::{CURVE, DAILY, World};

#[test]
fn every_lie_is_found_and_named() {
    let Some(programs) = world::programs() else {
        eprintln!("skipped: SOTTO_PROGRAMS names no folder of programs; `cargo ci trust` sets it");
        return;
    };
    let world = World::new(&programs);
    honest(&world);
    let (mut rows, mut faults) = (Vec::new(), Vec::new());
    let (last, first): (Vec<Case>, Vec<Case>) =
        lies::all(&world).into_iter().partition(|case| case.name == "replayed answer");
    for (number, case) in first.into_iter().chain(last).enumerate() {
        let (name, found, says) = (case.name, case.found, case.says);
        match tried(&world, case, number) {
            Ok(message) => rows.push(format!("{name:<40} {found:?}: {message}")),
            Err(message) => faults.push(format!("{name} ({found:?}, {says:?}): {message}")),
        }
    }
    for row in &rows {
        println!("{row}");
    }
    assert!(faults.is_empty(), "not found:\n{}", faults.join("\n"));
    println!("{} lies, each found and named", rows.len());
    receipts(&world);
}

/// Without a lie every answer holds; prints the times of a job and of its verification.
fn honest(world: &World) {
    let url = liar::start(&world.url, &world.signing_key, Box::new(|truth, request| truth.tell(&request)));
    for (seen, question) in [(true, DAILY), (false, CURVE)] {
        let plant = world.owner("honest", seen, &url);
        let asked = world.sotto(&plant, &["ask", question]);
        assert_eq!(asked.code, 0, "{}", asked.text);
        let verified = world.sotto(&plant, &["verify", "--json"]);
        assert_eq!(verified.code, 0, "{}", verified.text);
        let document: Value = serde_json::from_str(&verified.text).unwrap();
        let answer = &document["answers"][0];
        assert_eq!(document["holds"], true, "{document}");
        println!(
            "{question}: the cloud's work {} µs, repeated in {} µs; verified in {:.3} s, {} bytes fetched",
            answer["cloud_us"],
            answer["repeat_us"],
            answer["seconds"].as_f64().unwrap(),
            answer["bytes"]
        );
        saved(world, &plant);
    }
}

/// Somebody without plant, cloud and secrets verifies the evidence that the owner saved, and detects a message that was
/// changed afterwards.
fn saved(world: &World, plant: &Path) {
    let done = world.sotto(plant, &["verify", "--save", "evidence"]);
    assert_eq!(done.code, 0, "{}", done.text);
    let (elsewhere, folder) = (tempfile::tempdir().unwrap(), plant.join("evidence"));
    let verify = || world.sotto(elsewhere.path(), &["verify", "--from", folder.to_str().unwrap()]);
    assert_eq!(verify().code, 0, "{}", verify().text);
    // Sums are checked by their tags when they are opened: nothing of them is saved.
    let Some(message) = std::fs::read_dir(folder.join("messages")).unwrap().next() else { return };
    let message = message.unwrap().path();
    let bytes = std::fs::read(&message).unwrap();
    // Changes a byte in the body, before the signature and the frame's digest.
    let changed = liar::edited(bytes, |bytes| {
        let at = bytes.len() - 70;
        bytes[at] ^= 1;
    });
    std::fs::write(&message, changed).unwrap();
    let done = verify();
    assert!(done.code == 7 && done.text.contains("changed window"), "{}", done.text);
}

/// A device deletes its messages only for receipts of the pinned key.
fn receipts(world: &World) {
    let lie: liar::Lie = Box::new(|truth, request| {
        let mut reply = truth.tell(&request);
        if request.is("POST", "/v1/envelopes") {
            let mut document = reply.json();
            let mut receipts: Vec<&mut Value> = match &mut document {
                Value::Array(all) => all.iter_mut().collect(),
                one => vec![one],
            };
            receipts.iter_mut().for_each(|receipt| receipt["position"] = 9_999.into());
            reply.body = document.to_string().into_bytes();
        }
        reply
    });
    let (said, waits) = world.send_to(&liar::start(&world.url, &world.signing_key, lie));
    assert!(said.contains("not signed with the key of the cloud"), "{said}");
    assert!(waits, "the message has left the spool: {said}");
    println!("a receipt whose signature does not hold: the device keeps its message");
}

/// Returns the words that named the lie, or the output of the commands if none did.
fn tried(world: &World, case: Case, number: usize) -> Result<String, String> {
    let replayed = case.name == "replayed answer";
    let url = liar::start(&world.url, &world.signing_key, case.lie);
    let plant = world.owner(&format!("owner-{number}"), case.seen, &url);
    for question in case.before {
        let asked = world.sotto(&plant, &["ask", question]);
        assert_eq!(asked.code, 0, "{}: {}", case.name, asked.text);
    }
    if replayed {
        world.send_more();
    }
    let asked = world.sotto(&plant, &["ask", case.question]);
    let named =
        |text: &str| text.lines().find(|line| line.contains(case.says)).map(|line| line.trim().to_owned());
    let line = match case.found {
        Found::Ask => named(&asked.text).filter(|_| asked.code == 7),
        Found::Remark => named(&asked.text).filter(|_| asked.code == 0),
        Found::Verify if asked.code == 0 => {
            let verified = world.sotto(&plant, &["verify"]);
            match named(&verified.text).filter(|_| verified.code == 7) {
                None => return Err(format!("verify ended with {}: {}", verified.code, verified.text)),
                line => line,
            }
        }
        Found::Verify => None,
    };
    line.ok_or_else(|| format!("ask ended with {}: {}", asked.code, asked.text))
}
