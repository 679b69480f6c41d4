//! A cloud that is killed while windows come in, are sealed, merged, sent to an object store and added up by the owner's order, and
//! while an earlier store is brought over: windows that it confirmed are there, once, at their places, and sums stay as they were.
//!
//! 8 kills, or as many as `SOTTO_KILLS` says.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sotto_cloud::config::{Config, Settings};
use sotto_cloud::{inspect, maintain};
use sotto_cloud_client::{PartsOf, WindowsOf};
use sotto_keys::SigningIdentity;
use sotto_wire::{Envelope, LogPage, MaskName, Ordered, RollUp, SignedHeader, StreamHead, WindowGroup};

use crate::process::{address, program, run};
use crate::segments::Model;
use crate::store::to_version_15;
use crate::streams::site::{SECRET, Site, TICKS, header, key_of, readings, window};
use crate::world::{Answer, log_page, order as order_of, send, try_send};

const BEARER: (&str, &str) = ("authorization", "Bearer 0123456789abcdef0123");
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

fn kills() -> u64 {
    std::env::var("SOTTO_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(8)
}

/// Asks for the sum of the group of windows that begins with a number.
fn sum(url: &str, first: u64) -> Option<Answer> {
    let sums = vec![PartsOf { windows: (0, GROUPED as u32), parts: vec![0, 1], weights: None }];
    let request = WindowsOf { windows: vec![(first, GROUPED as u32)], sums };
    let tag = header("kitchen", "load", &SECRET).id().tag();
    let body = serde_json::to_vec(&request).unwrap();
    try_send("POST", &format!("{url}/v1/streams/{tag}/sums"), &[BEARER], &body)
}

/// Orders sums in place of the bodies of groups, until the cloud is gone; `frames` has the answers of before. `size` is that of the
/// log, whose positions equal the numbers.
fn retain(url: &str, size: u64, frames: &mut BTreeMap<u64, Vec<u8>>) -> Option<()> {
    let head = try_send("GET", &format!("{url}/v1/log?device=kitchen&stream=load"), &[BEARER], &[])?;
    let head = StreamHead::read(&LogPage::read(&head.bytes).unwrap().head).unwrap();
    let next = frames.keys().next_back().map_or(0, |last| last + GROUPED);
    for first in (next..size).step_by(GROUPED as usize).take(3) {
        let answer = sum(url, first)?;
        assert_eq!(answer.status, 200, "{answer}");
        frames.insert(first, answer.bytes);
        let groups = vec![vec![(first, first + GROUPED)]];
        let order = RollUp { stream: "load".to_owned(), size: head.size, root: head.root, groups };
        let order = order_of("kitchen", Ordered::RollUp(order)).write().unwrap();
        let answer = try_send("POST", &format!("{url}/v1/orders"), &[BEARER], &order)?;
        assert_eq!(answer.status, 200, "{answer}");
    }
    Some(())
}

#[test]
fn what_was_confirmed_is_there_after_a_kill() {
    let kills = kills();
    let folder = tempfile::tempdir().unwrap();
    let identity = SigningIdentity::from_bytes(&[6; 32]);
    let stream = header("kitchen", "load", &SECRET);
    // Positions of windows with a receipt, and the leaves that the log had.
    let (mut confirmed, mut leaves) = (BTreeMap::<u64, u64>::new(), BTreeMap::<u64, String>::new());
    let next = AtomicU64::new(0);
    let (bearer, mut frames) = (BEARER, BTreeMap::new());
    let mut registration = serde_json::json!({
        "verifying_key": hex::encode(identity.verifying_key()),
        "keys": [key_of(&stream)],
        "streams": [hex::encode(stream.write())],
    });
    for kill in 0..=kills {
        let _ = std::fs::remove_file(folder.path().join("address"));
        let mut command = run(folder.path());
        // Segments leave the disk once the object store has them.
        command.arg("--objects").arg(folder.path().join("objects")).args(["--objects-cache", "0"]);
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let url = format!("http://{}", address(folder.path()));
        if kill == 0 {
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
        for (first, frame) in &frames {
            let answer = sum(&url, *first).unwrap();
            assert!(
                answer.status == 200 && answer.bytes == *frame,
                "the sum from window {first} on: {answer}"
            );
        }
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
            let retainer = scope.spawn(|| retain(&url, from, &mut frames));
            // Long enough for some windows to be sealed, at another moment each time.
            std::thread::sleep(Duration::from_millis(60 + (kill * 7919) % 700));
            child.kill().unwrap();
            child.wait().unwrap();
            retainer.join().unwrap();
            sender.join().unwrap()
        });
        confirmed.extend(sent);
    }
    assert!(confirmed.len() as u64 > GROUPED);
    let settings = Settings {
        data: Some(folder.path().join("data")),
        owner_token_file: Some(folder.path().join("token")),
        objects: Some((&folder.path().join("objects")).into()),
        enrolments: Some(folder.path().join("enrolments")),
        ..Settings::default()
    };
    let config = Config::new(settings).unwrap();
    inspect::check(&config, false, true).unwrap();

    // Without the database, every window of a segment is there, and so are the sums of those without bodies.
    registration["device"] = "kitchen".into();
    registration["parameters"] = serde_json::json!([]);
    std::fs::create_dir_all(folder.path().join("enrolments")).unwrap();
    std::fs::write(folder.path().join("enrolments/kitchen.json"), registration.to_string()).unwrap();
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(folder.path().join(format!("data/cloud.sqlite{end}")));
    }
    maintain::rebuild(&config).unwrap();
    inspect::check(&config, true, true).unwrap();
    let _ = std::fs::remove_file(folder.path().join("address"));
    let mut child = run(folder.path())
        .arg("--objects")
        .arg(folder.path().join("objects"))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let url = format!("http://{}", address(folder.path()));
    let mut there = BTreeSet::new();
    for from in (0..confirmed.len() as u64).step_by(1000) {
        let page = format!("{url}/v1/log?device=kitchen&stream=load&from={from}&limit=1000");
        let page = log_page(&send("GET", &page, &[bearer], &[]));
        let signed = page["windows"].as_array().unwrap().iter().filter(|window| !window["signed"].is_null());
        there.extend(signed.map(|window| window["sequence"].as_u64().unwrap()));
    }
    let mut sums = 0;
    for (first, frame) in &frames {
        if (*first..first + GROUPED).all(|number| there.contains(&number)) {
            let answer = sum(&url, *first).unwrap();
            assert!(answer.status == 200 && answer.bytes == *frame, "from window {first} on: {answer}");
            sums += 1;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(sums + 3 >= frames.len(), "{sums} of {} sums", frames.len());
}

#[test]
fn an_earlier_store_is_brought_over_whole() {
    let mut site = Site::new();
    site.enrol();
    let mut model = Model::default();
    let windows: Vec<Envelope> = (0..320).map(|number| site.window(number)).collect();
    for group in windows.chunks(32) {
        model.stored(group, &site.upload_group(group).expect(201));
    }
    site.world.kill();
    let data = site.world.data();
    to_version_15(&data);
    for kill in 0..kills() {
        let mut migrate = program();
        migrate.arg("migrate").arg("--data").arg(&data);
        migrate.arg("--owner-token-file").arg(site.world.folder().join("token"));
        migrate.arg("--enrolments").arg(site.world.folder().join("enrolments"));
        let mut child = migrate.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Later and later, until it is done.
        std::thread::sleep(Duration::from_millis(1 + kill * 5 % 200));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    inspect::migrate(&site.world.config(), false).unwrap();
    inspect::check(&site.world.config(), true, true).unwrap();
    site.world.resume();
    model.check(&site);
    model.check_messages(&site);
}
