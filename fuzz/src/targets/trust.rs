//! The cloud's signed statements and logs, as the owner reads and keeps them.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use sotto_conformance::golden;
use sotto_keys::{DeviceSecret, SigningIdentity};
use sotto_owner::Evidence;
use sotto_wire::{Frontier, LARGEST_ENVELOPE, LogItem, LogPage, SignedHeader, StreamHead, Transcript};

use super::{Inputs, Target, as_frame, once};

#[rustfmt::skip]
pub(super) const TARGETS: &[Target] = &[
    Target { name: "stream-head", run: stream_head, inputs: Inputs::Kept(|| vec![golden::read("stream-head.bin")]), memory: |bytes| 4 * bytes.len() + (16 << 10) },
    Target { name: "transcript", run: transcript, inputs: Inputs::Kept(|| ["transcript-job.bin"].map(golden::read).to_vec()), memory: |bytes| 8 * bytes.len() + (16 << 10) },
    Target { name: "signed-header", run: signed_header, inputs: Inputs::Kept(|| SIGNED.map(golden::read).to_vec()), memory: |bytes| 64 * bytes.len() + (256 << 10) },
    Target { name: "kept-log", run: kept_log, inputs: Inputs::Kept(|| [mirrored(), vec![records(&SIGNED), records(&[])]].concat()), memory: |bytes| 64 * bytes.len() + (256 << 10) },
    Target { name: "log-page", run: log_page, inputs: Inputs::Kept(|| vec![golden::read("log-page.bin")]), memory: |bytes| 64 * bytes.len() + (256 << 10) },
    Target { name: "sealed-record", run: sealed_record, inputs: Inputs::Kept(records_of_devices), memory: |bytes| 64 * bytes.len() + (64 << 20) },
    Target { name: "evidence", run: evidence, inputs: Inputs::Kept(evidences), memory: |bytes| 128 * bytes.len() + (64 << 10) },
];

const SIGNED: [&str; 3] = ["signed-header.bin", "slots-window-signed.bin", "slots-member-signed.bin"];

/// Reads a head, which must be written again byte for byte; only the golden one has a valid signature.
fn stream_head(bytes: &[u8]) -> bool {
    let golden = once!(StreamHead, golden::stream_head());
    as_frame(bytes, |bytes| {
        let Ok(head) = StreamHead::read(bytes) else { return false };
        assert!(head.write().is_ok_and(|written| written == bytes), "rewriting changes bytes");
        assert!(head.cloud != golden.cloud || head.verify().is_err() || head == *golden, "a forgery");
        true
    })
}

/// Reads a transcript, under the same conditions as a head.
fn transcript(bytes: &[u8]) -> bool {
    let golden = once!(
        Transcript,
        Transcript::sign(golden::transcript_parts(), golden::cloud_signs).expect("a transcript")
    );
    as_frame(bytes, |bytes| {
        let Ok(read) = Transcript::read(bytes) else { return false };
        assert!(read.write().is_ok_and(|written| written == bytes), "rewriting changes bytes");
        let honest = read == *golden;
        assert!(read.parts().cloud != golden::cloud_key() || read.verify().is_err() || honest, "a forgery");
        true
    })
}

/// Reads a signed header, which must have one written form, and hence one leaf.
fn signed_header(bytes: &[u8]) -> bool {
    let key = once!([u8; 32], SigningIdentity::from_bytes(&golden::SIGNING_KEY).verifying_key());
    let golden = once!([Vec<u8>; 3], SIGNED.map(golden::read));
    as_frame(bytes, |bytes| {
        let Ok(signed) = SignedHeader::read(bytes, LARGEST_ENVELOPE) else { return false };
        assert!(signed.write() == bytes, "rewriting changes bytes");
        let _ = signed.leaf();
        let _ = signed.is_unsigned();
        assert!(signed.verify(key).is_err() || golden.iter().any(|golden| golden == bytes), "a forgery");
        true
    })
}

/// Returns records of version 1 of these headers, and of a deleted window.
fn records(names: &[&str]) -> Vec<u8> {
    let record = |number: u64, id: [u8; 16], signed: &[u8]| {
        let mut leaf = blake3::Hasher::new();
        let leaf = leaf.update(&[0]).update(signed).finalize();
        let length = (16 + 8 + 8 + 32 + signed.len()) as u32;
        let numbers =
            [length.to_le_bytes().as_slice(), &id, &270_u64.to_le_bytes(), &number.to_le_bytes()].concat();
        [&numbers, leaf.as_bytes().as_slice(), signed].concat()
    };
    let mut all: Vec<u8> = names.iter().flat_map(|name| record(7, [9; 16], &golden::read(name))).collect();
    all.extend(record(8, [0; 16], &[]));
    all
}

/// Returns the records that the owner keeps of a page of a log.
fn mirrored() -> Vec<Vec<u8>> {
    sotto_owner::mirrored_log(&golden::read("log-page.bin")).into_iter().collect()
}

/// Reads a kept log, of this version or version 1. Once written it must be written again unchanged.
fn kept_log(bytes: &[u8]) -> bool {
    let Some(written) = sotto_owner::rewritten_log(bytes) else { return false };
    assert!(
        sotto_owner::rewritten_log(&written).is_some_and(|again| again == written),
        "rewriting changes bytes"
    );
    true
}

/// The name of the device whose records are read.
const DEVICE: &str = "boiler";

/// Returns documents of records, and one that is compressed.
fn records_of_devices() -> Vec<Vec<u8>> {
    let stream = r#"{"stream":"exact-1h","parameters":"00ff","encoding":"real","ticks":24,"channels":[]}"#;
    let record = |bundles: &str| {
        let key = "01".repeat(32);
        format!(
            r#"{{"record":{{"version":1,"device":"{DEVICE}","verifying_key":"{key}","bundles":[{bundles}]}},"settings":{{"channels":["heat"]}}}}"#
        )
        .into_bytes()
    };
    let bundle = format!(r#"{{"made_at":1795000000000,"streams":[{stream}]}}"#);
    vec![record(""), record(r#"{"made_at":1,"streams":[]}"#), record(&bundle), compressed(&record(""))]
}

fn compressed(document: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(document).and_then(|()| encoder.finish()).expect("memory")
}

/// Reads a device's record as it came from the cloud or a bundle: unchanged, as the sealed bytes, and as the document.
fn sealed_record(bytes: &[u8]) -> bool {
    let secret = DeviceSecret::from_bytes(&[1; 32]);
    let mut rng = sotto_ring::secure_rng().expect("randomness");
    let raw = sotto_owner::opened_record(&secret, DEVICE, bytes);
    assert!(raw.is_none(), "a forgery");
    let mut accepted = false;
    for sealed in [bytes, &compressed(bytes)].map(|bytes| secret.seal(DEVICE, bytes, &mut rng)) {
        let Some(document) = sotto_owner::opened_record(&secret, DEVICE, &sealed) else { continue };
        accepted = true;
        assert!(sotto_owner::opened_record(&secret, "cellar", &sealed).is_none(), "another device's record");
        // A record that was read is read again from its own copy; long ones have none.
        if let Some(again) = sotto_owner::sealed_record(&secret, &document, &mut rng) {
            let again = sotto_owner::opened_record(&secret, DEVICE, &again).expect("its own copy opens");
            assert!(is_same_record(&again, &document), "a copy has another record");
        }
    }
    accepted
}

/// Compares the device, its key and the times of its bundles. The last bit of other numbers may differ.
fn is_same_record(one: &[u8], other: &[u8]) -> bool {
    let read = |document: &[u8]| {
        let document: serde_json::Value = serde_json::from_slice(document).expect("JSON");
        let record = document["record"].clone();
        let made_at = |bundle: &serde_json::Value| bundle["made_at"].clone();
        let bundles: Vec<_> = record["bundles"].as_array().expect("bundles").iter().map(made_at).collect();
        (record["device"].clone(), record["verifying_key"].clone(), bundles)
    };
    read(one) == read(other)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads a page of a log with all its parts, as the owner does.
fn log_page(bytes: &[u8]) -> bool {
    let key = once!([u8; 32], SigningIdentity::from_bytes(&golden::SIGNING_KEY).verifying_key());
    let golden = once!(LogPage, golden::log_page());
    as_frame(bytes, |bytes| {
        let Ok(page) = LogPage::read(bytes) else { return false };
        assert!(page.write() == bytes, "rewriting changes bytes");
        let head = StreamHead::read(&page.head);
        let _ = head.is_ok_and(|head| head.verify().is_ok());
        let leaves: Vec<_> = page.items.iter().flat_map(LogItem::leaves).collect();
        assert_eq!(Frontier::of(leaves.iter().copied()).size(), page.windows() as u64);
        if let Ok(entries) = page.entries() {
            assert!(entries.iter().map(|entry| entry.leaf).eq(leaves.iter().copied()));
            assert!(
                entries.iter().flat_map(|entry| &entry.signed).all(|signed| leaves.contains(&signed.leaf()))
            );
        }
        for item in page.items.iter().filter(|item| !item.logged().is_empty() && item.verify(key).is_ok()) {
            assert!(golden.items.iter().any(|golden| golden.leaves() == item.leaves()), "a forgery");
        }
        true
    })
}

fn evidences() -> Vec<Vec<u8>> {
    let (transcript, plan) = (golden::read("transcript-job.bin"), golden::read("plan.bin"));
    let name = "0a".repeat(16);
    let work = format!(
        r#"{{"transcript":"{}","inputs":["{name}","{name}"],"evaluate_us":3}}"#,
        hexadecimal(&transcript)
    );
    let plans = format!(r#"{{"{}":"{}"}}"#, "0b".repeat(32), hexadecimal(&plan));
    vec![format!(r#"{{"work":[{work}],"plans":{plans}}}"#).into_bytes()]
}

fn evidence(bytes: &[u8]) -> bool {
    let Ok(evidence) = serde_json::from_slice::<Evidence>(bytes) else { return false };
    let again = serde_json::to_vec(&evidence).expect("JSON");
    assert_eq!(serde_json::from_slice::<Evidence>(&again).ok(), Some(evidence));
    true
}
