//! Windows of several devices under one mask.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::json;
use sotto_cloud::maintain;
use sotto_cloud_client::{EnvelopeQuery, FleetSumsOf, SumOf};
use sotto_compact::{Profile, StreamMasks, Sum, Weights};
use sotto_decrypt::{MaskProduct, open_compact_places, open_fleet};
use sotto_keys::{CompactEncryptor, DeviceSecret, SecretKey, SecretSum, SigningIdentity};
use sotto_pack::{Channel, Places, WindowDescription};
use sotto_rlwe::{Bfv, ChainRequest, KeyId, Params, SchemeId};
use sotto_wire::{
    CompactCiphertext, CompactForm, CompactSums, Envelope, FleetId, FleetSums, MaskName, PositionRequest,
    StreamHeader, StreamParts, WindowValues,
};

use crate::device::Device;
use crate::world::{Answer, World, send};

pub(crate) const TICKS: u32 = 5;
pub(crate) const HOUR: i64 = 3_600_000;
pub(crate) const FLEET: FleetId = FleetId([6; 16]);

struct Member {
    device: Device<Bfv>,
    secret: DeviceSecret,
    header: Arc<StreamHeader>,
}

pub(crate) struct Site {
    pub(crate) world: World,
    profile: Profile,
    members: Vec<Member>,
    rng: ChaCha20Rng,
}

fn parts(device: &Device<Bfv>, stream: &str) -> StreamParts {
    let channel =
        Channel { name: "load".into(), maximum: 1000.0, resolution: Some(1.0), ..Channel::default() };
    StreamParts {
        device: device.name.clone(),
        stream: stream.into(),
        parameters: device.secret.params().id(),
        key: device.secret.id(),
        period: 60_000,
        ticks: TICKS,
        channels: vec![channel],
        values: WindowValues::Places(Places { width: 30, ..Places::default() }),
        fleet: Some(FLEET),
    }
}

impl Site {
    pub(crate) fn new(devices: usize) -> Self {
        let request = ChainRequest::one_prime(SchemeId::Bfv, 2048, 1_000_001, 40);
        let params = Params::<Bfv>::new(request.build().unwrap()).unwrap();
        let (world, mut rng) = (World::start(), ChaCha20Rng::from_seed([4; 32]));
        world.put_parameters(&params);
        let member = |at: usize| {
            let secret = DeviceSecret::generate(&mut rng);
            let mut device = Device::new(&format!("meter-{at}"), &params, at as u8);
            device.secret = SecretKey::derive(&secret, &params);
            let header = Arc::new(StreamHeader::new(parts(&device, "load")).unwrap());
            Member { device, secret, header }
        };
        let members = (0..devices).map(member).collect();
        let profile = Profile::new(&params, TICKS as usize, 30).unwrap();
        let site = Self { world, profile, members, rng };
        site.members.iter().for_each(|member| drop(site.register(member, &[&member.header]).expect(200)));
        site
    }

    fn register(&self, member: &Member, streams: &[&StreamHeader]) -> Answer {
        let mut registration = member.device.registration();
        registration["streams"] = streams.iter().map(|header| hex::encode(header.write())).collect();
        let path = format!("/v1/devices/{}", member.device.name);
        self.world.owner("PUT", &path, registration.to_string().as_bytes())
    }

    fn masks(&self, key: KeyId, stream: &str) -> StreamMasks {
        StreamMasks::new(key, stream, self.profile.params().id(), Some(&FLEET.0))
    }

    /// Returns a window of a member's stream that starts at an hour, under the mask with this name.
    fn window(
        &mut self,
        at: usize,
        header: &Arc<StreamHeader>,
        hour: i64,
        name: MaskName,
        load: i64,
    ) -> Vec<u8> {
        let masks = self.masks(header.key(), header.stream());
        let encryptor = CompactEncryptor::derive(&self.members[at].secret, self.profile.params());
        let mask = masks.mask(&name.salt, name.sequence);
        let body = encryptor.encrypt(&self.profile, &[load; 5], &mask, &mut self.rng).unwrap();
        let form = CompactForm {
            parameters: header.parameters(),
            key: header.key(),
            places: TICKS as u16,
            width: 30,
        };
        let frame = CompactCiphertext { form, mask: name, body }.write().unwrap();
        let description = WindowDescription {
            layout: header.layout().clone(),
            present: vec![TICKS],
            start: HOUR * hour,
            period: 60_000,
            length: TICKS,
            presence: Vec::new(),
            left_out: Vec::new(),
            generated: false,
        };
        let identity = &self.members[at].device.identity;
        let sign = |message: &[u8]| identity.sign(message);
        Envelope::sign_window(header, hour as u64, description, &frame, sign).unwrap().write()
    }

    pub(crate) fn shared(&mut self, at: usize, hour: i64, load: i64) -> Vec<u8> {
        let (header, name) = (Arc::clone(&self.members[at].header), MaskName::shared(HOUR * hour).unwrap());
        self.window(at, &header, hour, name, load)
    }

    fn own(&mut self, at: usize, hour: i64, load: i64) -> Vec<u8> {
        let header = Arc::clone(&self.members[at].header);
        self.window(at, &header, hour, MaskName { salt: [9; 12], sequence: hour as u64 }, load)
    }

    fn upload(&self, at: usize, hour: i64, window: &[u8]) -> Answer {
        self.world.upload_as(&format!("meter-{at}.load.{hour}"), window)
    }

    pub(crate) fn keep(&self, at: usize, hour: i64, window: &[u8]) -> String {
        self.upload(at, hour, window).expect(201)["id"].as_str().unwrap().to_owned()
    }

    fn keep_shared(&mut self, at: usize, hour: i64, load: i64) -> String {
        let window = self.shared(at, hour, load);
        self.keep(at, hour, &window)
    }

    fn refused(&self, names: &[&str]) {
        let sum = SumOf { envelopes: (0, names.len() as u32), places: (0, 5), weights: None };
        let body = json!({ "envelopes": names, "sums": [sum] }).to_string();
        self.world.owner("POST", "/v1/sums", body.as_bytes()).refused(422, "wrong-sum");
    }

    /// Decrypts the sums in a frame as the owner does.
    fn open(&self, frame: &[u8]) -> Vec<Vec<i64>> {
        let sums = FleetSums::read(frame, 1 << 20).unwrap();
        assert_eq!(sums.fleet, FLEET);
        let name = MaskName::shared(sums.start).unwrap();
        let keys: BTreeMap<[u8; 16], &SecretKey<Bfv>> =
            self.members.iter().map(|m| (m.device.secret.id().0, &m.device.secret)).collect();
        let opened = sums.sums.iter().map(|sum| {
            let (first, count) = (sum.windows.0 as usize, sum.windows.1 as usize);
            let mut secrets = SecretSum::new(self.profile.params());
            for key in &sums.keys[first..first + count] {
                assert!(secrets.add(keys[&key.0]));
            }
            let places = usize::from(sum.first)..usize::from(sum.first + sum.places);
            let weights = Weights::of_ones(secrets.keys());
            let sum = Sum::from_bytes(self.profile.form(), places, &sum.body, weights).unwrap();
            let mask = self.masks(sums.keys[0], "load").mask(&name.salt, name.sequence);
            open_fleet(&secrets, &self.profile, &sum, &mask).unwrap().into_residues()
        });
        opened.collect()
    }

    /// Returns all sums of a fleet at an hour, from all pages.
    fn pages(&self, hour: i64, most: u32) -> Vec<(usize, i64)> {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let of = FleetSumsOf { start: HOUR * hour, ticks: TICKS, most, after };
            let frame = self.world.client().fleet_sums(&FLEET.to_string(), &of).unwrap().frame;
            let read = FleetSums::read(&frame, 1 << 20).unwrap();
            let Some(last) = read.keys.last() else { return found };
            assert!(read.keys.windows(2).all(|pair| pair[0].0 < pair[1].0));
            for (sum, values) in read.sums.iter().zip(self.open(&frame)) {
                assert!(values.iter().all(|value| *value == values[0]));
                found.push((sum.windows.1 as usize, values[0]));
            }
            after = Some(last.to_string());
        }
    }
}

#[test]
fn windows_of_several_devices_under_one_mask_are_added() {
    let mut site = Site::new(3);
    let names: Vec<String> = (0..3).map(|at| site.keep_shared(at, 2, 10 + at as i64)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let sum = |envelopes, places, weights| SumOf { envelopes, places, weights };
    let client = site.world.client();
    let wanted = [sum((0, 3), (0, 5), None), sum((1, 2), (2, 2), None)];
    let frame = client.sums(&names, &wanted).unwrap().frame;
    assert_eq!(site.open(&frame), [vec![33; 5], vec![23; 2]]);
    let read = FleetSums::read(&frame, 1 << 20).unwrap();
    let keys: Vec<KeyId> = site.members.iter().map(|member| member.device.secret.id()).collect();
    assert_eq!((read.keys, read.start), (keys, 2 * HOUR));

    // A weight for each place: every product of mask and secret has its own.
    let weights = vec![1, -2, 3, 0, 1, 4];
    let frame = client.sums(&names, &[sum((0, 3), (3, 2), Some(weights.clone()))]).unwrap().frame;
    let read = FleetSums::read(&frame, 1 << 20).unwrap();
    let name = MaskName::shared(read.start).unwrap();
    let mask = site.masks(read.keys[0], "load").mask(&name.salt, name.sequence);
    let product = |m: &Member| MaskProduct::new(&m.device.secret, &site.profile, &mask).unwrap();
    let products: Vec<MaskProduct> = site.members.iter().map(product).collect();
    let weights: Vec<Vec<i64>> =
        weights.chunks(2).map(|pair| pair.iter().map(|weight| i64::from(*weight)).collect()).collect();
    let windows: Vec<(&MaskProduct, &[i64])> =
        products.iter().zip(&weights).map(|(product, weights)| (product, &weights[..])).collect();
    let total = weights.iter().fold(Weights::default(), |all, w| all.and(sotto_compact::largest(w)));
    let summed = Sum::from_bytes(site.profile.form(), 3..5, &read.sums[0].body, total).unwrap();
    let first = &site.members[0].device.secret;
    let opened = open_compact_places(first, &site.profile, &summed, &windows).unwrap().into_residues();
    assert_eq!(opened, [10 + 3 * 11 + 12, -2 * 10 + 4 * 12]);

    // Under one key the answer names the masks.
    let next = site.keep_shared(0, 3, 5);
    let frame = client.sums(&[names[0], &next], &[sum((0, 2), (0, 5), None)]).unwrap().frame;
    let read = CompactSums::read(&frame, 1 << 20).unwrap();
    assert_eq!(read.masks, [2, 3].map(|hour| MaskName::shared(HOUR * hour).unwrap()));

    // Refused: several keys with several masks, windows under masks of their own, and a window twice.
    let own: Vec<Vec<u8>> = (0..2).map(|at| site.own(at, 4, 1)).collect();
    let own: Vec<String> = (0..2).map(|at| site.keep(at, 4, &own[at])).collect();
    site.refused(&[names[0], &next, names[1]]);
    site.refused(&[names[0], names[1], &next]);
    site.refused(&[&own[0], &own[1]]);
    site.refused(&[names[0], &own[1]]);
    let twice = json!({ "envelopes": [names[0], names[1], names[0]], "sums": [] }).to_string();
    assert!((400..500).contains(&site.world.owner("POST", "/v1/sums", twice.as_bytes()).status));
}

#[test]
fn all_windows_of_a_fleet_are_added_from_their_columns() {
    let mut site = Site::new(5);
    for at in 0..5 {
        site.keep_shared(at, 2, 1 << at);
    }
    site.keep_shared(0, 3, 100);
    let own = site.own(1, 3, 1);
    site.keep(1, 3, &own);
    let all = |site: &Site, hour, most| {
        let pages = site.pages(hour, most);
        (
            pages.iter().map(|(windows, _)| *windows).collect::<Vec<_>>(),
            pages.iter().map(|(_, sum)| sum).sum::<i64>(),
        )
    };
    assert_eq!(all(&site, 2, 5), (vec![5], 31));
    assert_eq!(all(&site, 2, 2), (vec![2, 2, 1], 31));
    assert_eq!(all(&site, 2, u32::MAX), (vec![5], 31));
    assert_eq!(all(&site, 3, 5), (vec![1], 100), "a window under its own mask is not among them");
    assert_eq!(all(&site, 4, 5), (vec![], 0));
    // After a restart, and with a database rebuilt from the envelopes.
    site.world.stop();
    for file in ["cloud.sqlite", "cloud.sqlite-wal", "cloud.sqlite-shm"] {
        fs::remove_file(site.world.data().join(file)).ok();
    }
    let rebuilt = maintain::rebuild(&site.world.config());
    drop(rebuilt);
    site.world.resume();
    site.world.put_parameters(site.profile.params());
    site.members.iter().for_each(|member| drop(site.register(member, &[&member.header]).expect(200)));
    site.world.stop();
    maintain::rebuild(&site.world.config()).unwrap();
    site.world.resume();
    assert_eq!(all(&site, 2, 3), (vec![3, 2], 31));
    // Deleted windows are no longer added.
    let path = format!("/v1/envelopes?device=meter-3&before={}", 3 * HOUR);
    site.world.owner("DELETE", &path, &[]).expect(200);
    assert_eq!(all(&site, 2, 3), (vec![3, 1], 31 - 8));

    let refused = |fleet: &str, body: serde_json::Value, status, reason| {
        let path = format!("/v1/fleets/{fleet}/sums");
        site.world.owner("POST", &path, body.to_string().as_bytes()).refused(status, reason);
    };
    let body = |start: i64, ticks: u32, most: u32| json!({ "start": start, "ticks": ticks, "most": most });
    refused(&"0".repeat(32), body(0, 5, 1), 404, "unknown-fleet");
    refused("0", body(0, 5, 1), 404, "unknown-fleet");
    let fleet = FLEET.to_string();
    for (start, ticks, most) in [(-1, 5, 1), (0, 0, 1), (0, 6, 1), (0, 5, 0)] {
        refused(&fleet, body(start, ticks, most), 422, "wrong-sum");
    }
    let mut after = body(0, 5, 1);
    after["after"] = "zz".into();
    refused(&fleet, after, 422, "wrong-sum");
    let path = site.world.url(&format!("/v1/fleets/{fleet}/sums"));
    assert_eq!(send("POST", &path, &[], body(0, 5, 1).to_string().as_bytes()).status, 401);
}

#[test]
fn a_fleets_mask_serves_once_under_a_key() {
    let mut site = Site::new(2);
    let first = site.shared(0, 2, 1);
    let other = site.shared(0, 2, 2);
    site.keep(0, 2, &first);
    site.upload(0, 2, &first).expect(200);
    site.upload(0, 2, &other).refused(409, "mask-repeated");
    site.keep_shared(1, 2, 7);
    // Two streams of one key in one fleet are refused. If they were registered one after the other, the second window
    // is refused.
    let second = Arc::new(StreamHeader::new(parts(&site.members[0].device, "load.2")).unwrap());
    let both = [&*site.members[0].header, &*second];
    site.register(&site.members[0], &both).refused(422, "wrong-fleet");
    site.register(&site.members[0], &[&second]).expect(200);
    let again = site.window(0, &second, 2, MaskName::shared(2 * HOUR).unwrap(), 3);
    site.world.upload_as("meter-0.load.2.2", &again).refused(409, "mask-repeated");
    let told = site.world.ask("/v1/devices");
    assert_eq!(told[0]["repeated_masks"], 2);
    assert_eq!(told[1]["repeated_masks"], 0);
    assert_eq!(site.pages(2, 9), [(2, 8)]);

    let other_form = StreamParts { ticks: 6, ..parts(&site.members[1].device, "load.3") };
    let other_form = StreamHeader::new(other_form).unwrap();
    site.register(&site.members[1], &[&other_form]).refused(422, "wrong-fleet");
}

fn ask_newest(site: &Site, at: usize, identity: &SigningIdentity) -> Answer {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let name = format!("meter-{at}");
    let asked = PositionRequest::sign(&name, "load", now as i64, |message| identity.sign(message));
    send("POST", &site.world.url("/v1/newest"), &[], &asked.unwrap().write().unwrap())
}

/// Returns the end of the newest window as told to the device.
fn newest(site: &Site, at: usize) -> Option<i64> {
    ask_newest(site, at, &site.members[at].device.identity).expect(200)["newest_end"].as_i64()
}

/// A window that was refused for another reason, or deleted, has shown its ciphertext to the cloud: its mask counts as
/// used.
#[test]
fn masks_of_refused_and_deleted_windows_have_served() {
    let mut site = Site::new(1);
    let repeated = |site: &Site| site.world.ask("/v1/devices")[0]["repeated_masks"].as_u64();
    site.keep_shared(0, 3, 1);
    // A restored spool counts from an old number: hour 8 under the number of hour 3.
    let (header, name) = (Arc::clone(&site.members[0].header), MaskName::shared(8 * HOUR).unwrap());
    let numbered = |site: &mut Site, load| {
        let window = site.window(0, &header, 8, name, load);
        let window = Envelope::read_window(&window, &header).unwrap();
        let identity = &site.members[0].device.identity;
        window.renumbered(3, |message| identity.sign(message)).unwrap().write()
    };
    let first = numbered(&mut site, 1);
    site.upload(0, 3, &first).refused(409, "sequence-taken");
    site.upload(0, 3, &first).refused(409, "sequence-taken");
    assert_eq!(newest(&site, 0), Some(8 * HOUR), "only later starts may share");
    let before = repeated(&site);
    let second = numbered(&mut site, 2);
    site.upload(0, 3, &second).refused(409, "mask-repeated");
    assert_ne!(repeated(&site), before, "the owner sees it");
    // The first ciphertext under a free number is the same window under its own mask.
    let again = Envelope::read_window(&first, &header).unwrap();
    let identity = &site.members[0].device.identity;
    let again = again.renumbered(8, |message| identity.sign(message)).unwrap().write();
    site.keep(0, 8, &again);

    let path = format!("/v1/envelopes?device=meter-0&before={}", 9 * HOUR);
    site.world.owner("DELETE", &path, &[]).expect(200);
    let after = numbered(&mut site, 3);
    site.upload(0, 3, &after).refused(409, "mask-repeated");
}

#[test]
fn a_device_is_told_where_its_newest_window_ends() {
    let mut site = Site::new(2);
    assert_eq!(newest(&site, 0), None);
    site.keep_shared(0, 7, 1);
    assert_eq!(newest(&site, 0), Some(7 * HOUR + 5 * 60_000 - 1));
    // The order is by time: a renumbered window may be older.
    let older = site.own(0, 3, 1);
    let older = Envelope::read_window(&older, &site.members[0].header).unwrap();
    let older = older.renumbered(9, |message| site.members[0].device.identity.sign(message)).unwrap();
    site.keep(0, 9, &older.write());
    assert_eq!(newest(&site, 0), Some(7 * HOUR + 5 * 60_000 - 1));
    assert_eq!(newest(&site, 1), None);
    // No recovery is recorded: the device has lost nothing.
    assert_eq!(site.world.ask("/v1/devices")[0]["recoveries"], 0);
    site.world
        .owner("DELETE", &format!("/v1/envelopes?device=meter-0&before={}", 20 * HOUR), &[])
        .expect(200);
    assert_eq!(newest(&site, 0), Some(20 * HOUR - 1), "deleted windows had masks too");
    ask_newest(&site, 0, &SigningIdentity::from_bytes(&[9; 32])).refused(403, "not-admitted");
}

#[test]
fn lists_say_which_windows_are_under_the_mask_of_their_fleet() {
    let mut site = Site::new(1);
    site.keep_shared(0, 2, 1);
    let own = site.own(0, 3, 1);
    site.keep(0, 3, &own);
    let client = site.world.client();
    let listed: Vec<bool> = client
        .envelopes(&EnvelopeQuery::of_device("meter-0"))
        .map(|envelope| envelope.unwrap().shared_mask)
        .collect();
    assert_eq!(listed, [true, false]);
}
