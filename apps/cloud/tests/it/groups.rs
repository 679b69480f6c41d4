//! Groups: several windows of a stream under one signature, in one request.

use std::fs;

use serde_json::Value;
use sotto_cloud::backups::{self, Days};
use sotto_cloud::config::Settings;
use sotto_cloud::maintain;
use sotto_cloud_client::EnvelopeQuery;
use sotto_pack::WindowDescription;
use sotto_wire::{Envelope, PositionRequest, SignedHeader, WindowGroup};

use crate::store::{contents, open};
use crate::windows::{HOUR, Site, TICKS, remove_database, with_enrolments};
use crate::world::{Answer, World, send};

impl Site {
    /// Returns windows whose readings all equal the window's number.
    fn windows(&mut self, numbers: impl IntoIterator<Item = u64>) -> Vec<Envelope> {
        let window = |number: u64| {
            let bytes = self.window(number, &[number as i64; 5]);
            Envelope::read_window(&bytes, &self.header).unwrap()
        };
        numbers.into_iter().map(window).collect()
    }

    fn group(&self, windows: &[Envelope]) -> WindowGroup {
        WindowGroup::sign(windows.to_vec(), |message| self.device.identity.sign(message)).unwrap()
    }

    fn send(&self, windows: &[Envelope]) -> Answer {
        let group = self.group(windows);
        self.world.upload_as(&group.upload_key(), &group.write())
    }

    /// Returns the ids in a group's receipts, and true for duplicates. Checks that the digests are those of the
    /// windows.
    fn receipts(&self, windows: &[Envelope], status: u16) -> Vec<(String, bool)> {
        let receipts = self.send(windows).expect(status);
        let receipts = receipts.as_array().unwrap();
        assert_eq!(receipts.len(), windows.len());
        let receipt = |(receipt, window): (&Value, &Envelope)| {
            let digest = hex::encode(window.window_digest().unwrap());
            assert_eq!(receipt["digest"], digest);
            (receipt["id"].as_str().unwrap().to_owned(), receipt["duplicate"] == true)
        };
        receipts.iter().zip(windows).map(receipt).collect()
    }

    fn stored(&self) -> (i64, usize) {
        contents(&self.world.data()).envelopes()
    }

    /// Checks that a group is refused with the number of the refused window, and that nothing is stored.
    fn refuses(&self, windows: &[Envelope], status: u16, reason: &str, number: Option<u64>) {
        let before = contents(&self.world.data());
        let answer = self.send(windows);
        answer.refused(status, reason);
        if let Some(number) = number {
            let detail = answer.json()["detail"].as_str().unwrap().to_owned();
            assert!(detail.contains(&format!("number {number} of load: ")), "{detail}");
        }
        let after = contents(&self.world.data());
        assert_eq!((after.envelopes(), after.files), (before.envelopes(), before.files), "{reason}");
    }
}

fn ids(receipts: &[(String, bool)]) -> Vec<&str> {
    receipts.iter().map(|(id, _)| id.as_str()).collect()
}

#[test]
fn every_window_of_a_group_is_stored_with_the_proof_of_its_signature() {
    let mut site = Site::registered();
    let windows = site.windows(3..10);
    let group = site.group(&windows);
    let receipts = site.receipts(&windows, 201);
    assert!(receipts.iter().all(|(_, duplicate)| !duplicate));
    assert_eq!(site.stored(), (7, 7));
    for ((id, _), member) in receipts.iter().zip(group.windows()) {
        let bytes = fs::read(site.world.data().join("envelopes").join(id)).unwrap();
        let read = Envelope::read_window(&bytes, &site.header).unwrap();
        assert_eq!(&read, member);
        read.verify(&site.device.identity.verifying_key()).unwrap();
    }
    for _ in 0..2 {
        let query = EnvelopeQuery::of_device("kitchen").stream("load");
        let listed: Vec<_> = site.world.client().envelopes(&query).collect::<Result<_, _>>().unwrap();
        assert_eq!(listed.iter().map(|listed| listed.id.as_str()).collect::<Vec<_>>(), ids(&receipts));
        for (at, envelope) in (3..).zip(&listed) {
            let description = WindowDescription::parse(envelope.layout.text().as_bytes()).unwrap();
            assert_eq!((description, envelope.sequence), (site.description(at), at));
            let expected = (HOUR * at as i64, HOUR * at as i64 + i64::from(TICKS) * 60_000 - 1);
            assert_eq!((envelope.started_at, envelope.ended_at), expected);
        }
        assert_eq!(site.sum(&ids(&receipts)), [42; 5]);
        let body = site.world.owner("GET", &format!("/v1/envelopes/{}/body", receipts[2].0), &[]);
        assert_eq!(body.bytes, *windows[2].body().frame());
        site.world.stop();
        site.world.resume();
    }

    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let asked =
        PositionRequest::sign("kitchen", "load", now as i64, |message| site.device.identity.sign(message));
    let answer = send("POST", &site.world.url("/v1/position"), &[], &asked.unwrap().write().unwrap());
    let answer = answer.expect(200);
    assert_eq!(answer["next"], 10);
    let signed =
        SignedHeader::read(&hex::decode(answer["signed_header"].as_str().unwrap()).unwrap(), 1 << 20);
    let signed = signed.unwrap();
    signed.verify(&site.device.identity.verifying_key()).unwrap();
    assert_eq!(signed.header().sequence, 9);
}

#[test]
fn a_window_is_known_alone_and_in_any_group() {
    let mut site = Site::registered();
    let windows = site.windows(0..8);
    let alone = site.keep(2, &windows[2].write());
    let first = site.receipts(&windows[..5], 201);
    assert_eq!(
        first.iter().map(|(_, duplicate)| *duplicate).collect::<Vec<_>>(),
        [false, false, true, false, false]
    );
    assert_eq!(first[2].0, alone, "it was there, alone");
    // Sent again, as after a lost answer.
    let again = site.receipts(&windows[..5], 200);
    assert_eq!((ids(&again), again.iter().all(|(_, duplicate)| *duplicate)), (ids(&first), true));
    // In another group, with some new windows.
    let other = site.receipts(&windows[1..7], 201);
    assert_eq!(ids(&other)[..4], ids(&first)[1..]);
    assert_eq!(ids(&site.receipts(&windows[2..4], 200)), ids(&first)[2..4]);
    // Alone, and as a member: the receipt names the digest of the uploaded bytes.
    for (at, known) in (0..).zip(ids(&first)) {
        let member = site.group(&windows[..5]).windows()[at as usize].clone();
        for bytes in [windows[at as usize].write(), member.write()] {
            let receipt = site.upload(at, &bytes).expect(200);
            assert_eq!((receipt["id"].as_str(), &receipt["duplicate"]), (Some(known), &true.into()));
            assert_eq!(receipt["digest"], blake3::hash(&bytes).to_hex().as_str());
        }
    }
    assert_eq!(site.stored(), (7, 7));
    // A member that is uploaded alone is stored as uploaded.
    let member = site.group(&windows[6..]).windows()[1].write();
    let id = site.keep(7, &member);
    assert_eq!(fs::read(site.world.data().join("envelopes").join(id)).unwrap(), member);
    assert_eq!(site.receipts(&windows[6..], 200)[0].0, other[5].0);
}

#[test]
fn of_a_group_all_windows_are_stored_or_none() {
    let mut site = Site::registered();
    let mut windows = site.windows(0..6);
    let kept = site.window_under([9; 12], 3, 3, &[1; 5]);
    site.keep(3, &kept);
    site.refuses(&windows, 409, "sequence-taken", Some(3));

    // Under the mask of a stored window, and of one in the group itself.
    let told = |site: &Site| site.world.ask("/v1/devices")[0]["repeated_masks"].as_u64();
    windows.remove(3);
    site.keep(0, &windows[0].write());
    let again = |site: &Site, window: &Envelope, number: u64| {
        window.clone().renumbered(number, |message| site.device.identity.sign(message)).unwrap()
    };
    let repeated = again(&site, &windows[0], 7);
    site.refuses(&[windows[4].clone(), repeated], 409, "mask-repeated", Some(7));
    let repeated = again(&site, &windows[3], 8);
    site.refuses(&[windows[3].clone(), windows[4].clone(), repeated], 409, "mask-repeated", Some(8));
    assert_eq!(told(&site), Some(2));

    // Another body with a stored window's mask and number.
    let other = Envelope::read_window(&site.window(0, &[9; 5]), &site.header).unwrap();
    site.refuses(&[other, windows[4].clone()], 409, "mask-repeated", Some(0));

    site.world.forget("kitchen", None, 5 * HOUR).expect(200);
    assert_eq!(site.stored(), (0, 0));
    site.refuses(&windows[2..], 410, "forgotten", Some(2));
    // Without that window the others are accepted.
    let more = site.windows(20..22);
    assert_eq!(site.receipts(&[&windows[4..], &more[..]].concat(), 201).len(), 3);
}

#[test]
fn a_group_is_the_devices_and_its_own() {
    let mut site = Site::new();
    let windows = site.windows(0..4);
    site.refuses(&windows, 403, "unknown-stream", None);
    // The enrolment may have been written just now.
    site.enrol();
    let group = site.group(&windows);
    let bytes = group.write();
    for wrong in ["kitchen.load.0", "kitchen.load.0-2", "kitchen.load.1-3", "attic.load.0-3"] {
        site.world.upload_as(wrong, &bytes).refused(422, "idempotency-key-mismatch");
    }
    let spliced = |other: &WindowGroup| {
        let other = other.write();
        [&bytes[..bytes.len() - 64], &other[other.len() - 64..]].concat()
    };
    let key = group.upload_key();
    let signature = spliced(&site.group(&windows[..3]));
    site.world.upload_as(&key, &signature).refused(403, "not-admitted");
    let upload = |bytes: &[u8]| site.world.upload_as(&key, bytes);
    upload(&bytes[..bytes.len() - 1]).refused(400, "truncated");
    upload(&[&bytes[..], &[0]].concat()).refused(400, "trailing-bytes");
    for count in [0, 1, 65] {
        let mut changed = bytes.clone();
        changed[1] = count;
        upload(&changed).refused(422, "invalid-value");
    }
    upload(&bytes[..1]).refused(400, "truncated");
    assert_eq!(site.stored(), (0, 0));
    site.receipts(&windows, 201);
    site.world.owner("DELETE", "/v1/devices/kitchen", &[]);
    let more = site.windows(4..6);
    site.refuses(&more, 403, "device-revoked", None);
}

#[test]
fn quotas_count_the_windows_of_a_group() {
    let change = |settings| Settings { device_rate: Some(5), ..with_enrolments(settings) };
    let mut site = Site::registered_in(World::start_with(change));
    let windows = site.windows(0..20);
    site.receipts(&windows[..3], 201);
    site.refuses(&windows[3..6], 429, "device-rate", None);
    // Windows that are already stored do not count.
    site.receipts(&windows[..3], 200);
    site.receipts(&windows[2..5], 201);
    site.refuses(&windows[4..6], 429, "device-rate", None);

    // A group larger than the rate is accepted if none came before; then nothing for a while.
    let mut site = Site::registered_in(World::start_with(change));
    let windows = site.windows(0..20);
    site.receipts(&windows[..12], 201);
    site.upload(12, &windows[12].write()).refused(429, "device-rate");

    let change = |settings| Settings { device_bytes: Some(400), ..with_enrolments(settings) };
    let mut site = Site::registered_in(World::start_with(change));
    let windows = site.windows(0..8);
    site.refuses(&windows, 507, "device-quota", None);
    // Head and body of each, and its share of the signature; stored proofs are not counted.
    let counted = |window: &Envelope| window.write().len() - 64 + 64usize.div_ceil(3);
    let counted: usize = windows[..3].iter().map(counted).sum();
    site.receipts(&windows[..3], 201);
    let listed = site.world.ask("/v1/devices")[0]["bytes"].as_u64();
    assert_eq!(listed, Some(counted as u64));
}

#[test]
fn members_outlast_a_lost_database_a_cut_off_start_and_a_backup() {
    let mut site = Site::new();
    site.enrol();
    let windows = site.windows(0..4);
    let receipts = site.receipts(&windows, 201);
    // As if the process had ended after writing the files and before committing the rows.
    site.world.stop();
    let database = open(&site.world.data());
    for table in ["log", "envelopes"] {
        database.execute(&format!("DELETE FROM {table} WHERE sequence > 1"), []).unwrap();
    }
    drop(database);
    site.world.resume();
    assert_eq!(site.sum(&ids(&receipts)), [6; 5]);
    assert_eq!(ids(&site.receipts(&windows, 200)), ids(&receipts));

    let backup = site.world.folder().join("backup");
    backups::backup(&site.world.config(), &backup, Days::default()).unwrap();
    site.world.stop();
    remove_database(&site.world);
    maintain::rebuild(&site.world.config()).unwrap();
    site.world.resume();
    assert_eq!(site.sum(&ids(&receipts)), [6; 5]);
    site.world.stop();
    backups::restore(&site.world.config(), &backup, None).unwrap();
    site.world.resume();
    assert_eq!(site.sum(&ids(&receipts)), [6; 5]);
    assert_eq!(ids(&site.receipts(&windows, 200)), ids(&receipts));
}

#[test]
fn a_damaged_member_is_an_error_and_not_another_window() {
    let mut site = Site::registered();
    let windows = site.windows(0..3);
    let receipts = site.receipts(&windows, 201);
    let file = site.world.data().join("envelopes").join(&receipts[1].0);
    let good = fs::read(&file).unwrap();
    for at in 0..good.len() {
        let mut damaged = good.clone();
        damaged[at] ^= 0x10;
        fs::write(&file, damaged).unwrap();
        let answer = site.world.owner("GET", &format!("/v1/envelopes/{}/body", receipts[1].0), &[]);
        answer.refused(500, "stored-bytes-damaged");
        if at % 16 == 0 {
            site.upload(1, &windows[1].write()).refused(500, "stored-bytes-damaged");
        }
    }
    fs::write(&file, &good).unwrap();
    site.upload(1, &windows[1].write()).expect(200);
    let masks = site.world.ask("/v1/devices")[0]["repeated_masks"].as_u64();
    assert_eq!(masks, Some(0), "no mask served twice");
}
