//! A cloud that is killed while windows come in, are sealed and merged: windows that it confirmed are there, once, at their
//! places.
//!
//! 8 kills, or as many as `SOTTO_KILLS` says.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sotto_cloud::config::{Config, Settings};
use sotto_cloud::inspect;
use sotto_keys::SigningIdentity;
use sotto_wire::{Envelope, MaskName, SignedHeader, WindowGroup};

use crate::process::{address, run};
use crate::streams::site::{SECRET, TICKS, header, key_of, readings, window};
use crate::world::{log_page, send, try_send};

/// Windows of a group, which is sent whole.
const GROUPED: u64 = 64;

/// Returns the group that begins with a number.
fn group(identity: &SigningIdentity, first: u64) -> WindowGroup {
    let header = header("kitchen", "load", &SECRET);
    let windows: Vec<Envelope> = (first..first + GROUPED)
        .map(|number| {
            let name = MaskName { salt: [9; 12], sequence: number };
            window(identity, &header, number, name, &readings(number, TICKS))
        })
        .collect();
    WindowGroup::sign(windows, |message| identity.sign(message)).unwrap()
}

#[test]
fn what_was_confirmed_is_there_after_a_kill() {
    let kills = std::env::var("SOTTO_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(8);
    let folder = tempfile::tempdir().unwrap();
    let identity = SigningIdentity::from_bytes(&[6; 32]);
    let stream = header("kitchen", "load", &SECRET);
    // Positions of windows with a receipt, and the leaves that the log had.
    let (mut confirmed, mut leaves) = (BTreeMap::<u64, u64>::new(), BTreeMap::<u64, String>::new());
    let next = AtomicU64::new(0);
    let bearer = ("authorization", "Bearer 0123456789abcdef0123");
    for kill in 0..=kills {
        let _ = std::fs::remove_file(folder.path().join("address"));
        let mut command = run(folder.path());
        // Segments leave the disk once the object store has them.
        command.arg("--objects").arg(folder.path().join("objects")).args(["--objects-cache", "0"]);
        let mut child = command.stderr(std::process::Stdio::null()).spawn().unwrap();
        let url = format!("http://{}", address(folder.path()));
        if kill == 0 {
            let registration = serde_json::json!({
                "verifying_key": hex::encode(identity.verifying_key()),
                "keys": [key_of(&stream)],
                "streams": [hex::encode(stream.write())],
            });
            let device = format!("{url}/v1/devices/kitchen");
            let new = ("if-none-match", "*");
            send("PUT", &device, &[bearer, new], registration.to_string().as_bytes()).expect(200);
        }
        // Everything that was confirmed has its place, and its leaf.
        let mut from = 0;
        loop {
            let page = format!("{url}/v1/log?device=kitchen&stream=load&from={from}&limit=1000");
            let page = log_page(&send("GET", &page, &[bearer], &[]));
            let windows = page["windows"].as_array().unwrap();
            for (at, entry) in (from..).zip(windows) {
                let number = entry["sequence"].as_u64().unwrap();
                assert_eq!(number, at, "windows are stored in the order in which they came");
                let leaf = entry["leaf"].as_str().unwrap().to_owned();
                assert_eq!(leaves.entry(number).or_insert_with(|| leaf.clone()), &leaf);
                let frame = hex::decode(entry["signed"].as_str().unwrap()).unwrap();
                SignedHeader::read(&frame, 1 << 20).unwrap().verify(&identity.verifying_key()).unwrap();
            }
            if windows.is_empty() {
                break;
            }
            from += windows.len() as u64;
        }
        assert!(confirmed.iter().all(|(number, position)| number == position && *position < from));
        assert_eq!(from % GROUPED, 0, "a group is stored whole");
        assert!(from <= next.load(Ordering::Relaxed) + GROUPED);
        if kill == kills {
            child.kill().unwrap();
            child.wait().unwrap();
            break;
        }
        // The device sends its last group again if it has no receipt.
        let begin = confirmed.len() as u64;
        let sent = std::thread::scope(|scope| {
            let sender = scope.spawn(|| {
                let mut receipts = Vec::new();
                for first in (begin..).step_by(GROUPED as usize) {
                    next.store(first, Ordering::Relaxed);
                    let group = group(&identity, first);
                    let key = group.upload_key();
                    let headers = [("idempotency-key", key.as_str())];
                    let url = format!("{url}/v1/envelopes");
                    let Some(answer) = try_send("POST", &url, &headers, &group.write()) else { break };
                    assert!(answer.status == 200 || answer.status == 201, "{answer}");
                    let all = answer.json();
                    receipts.extend(
                        all.as_array()
                            .unwrap()
                            .iter()
                            .zip(first..)
                            .map(|(receipt, number)| (number, receipt["position"].as_u64().unwrap())),
                    );
                }
                receipts
            });
            // Long enough for some windows to be sealed, at another moment each time.
            std::thread::sleep(Duration::from_millis(60 + (kill * 7919) % 700));
            child.kill().unwrap();
            child.wait().unwrap();
            sender.join().unwrap()
        });
        confirmed.extend(sent);
    }
    assert!(confirmed.len() as u64 > GROUPED);
    let settings = Settings {
        data: Some(folder.path().join("data")),
        owner_token_file: Some(folder.path().join("token")),
        objects: Some((&folder.path().join("objects")).into()),
        ..Settings::default()
    };
    inspect::check(&Config::new(settings).unwrap(), false, true).unwrap();
}
