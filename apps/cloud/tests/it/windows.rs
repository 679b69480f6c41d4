//! Envelopes of version 2: windows of slots of streams whose headers the owner registered.

use std::fs;
use std::sync::Arc;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};
use sotto_cloud::config::Settings;
use sotto_cloud::maintain;
use sotto_cloud_client::EnvelopeQuery;
use sotto_decrypt::Decryptor;
use sotto_pack::{Channel, Period, Presence, WindowDescription};
use sotto_ring::Scratch;
use sotto_rlwe::{Bfv, EvaluationKeys, Evaluator, Kept};
use sotto_wire::{
    Envelope, MaskName, PositionRequest, SignedHeader, SlotsWindow, StreamHeader, StreamParts, WindowValues,
    mask_seed,
};

use crate::device::Device;
use crate::world::{Answer, World, bfv, send};

pub(crate) const TICKS: u32 = 5;
pub(crate) const HOUR: i64 = 3_600_000;
const SALT: [u8; 12] = [3; 12];
/// Values of a window, which repeat over the slots.
const SLOTS: usize = 8;

pub(crate) struct Site {
    pub(crate) world: World,
    pub(crate) device: Device<Bfv>,
    pub(crate) header: Arc<StreamHeader>,
    /// The keys that expand windows.
    keys: EvaluationKeys<Bfv>,
    rng: ChaCha20Rng,
}

pub(crate) fn with_enrolments(settings: Settings) -> Settings {
    let enrolments = settings.data.as_ref().map(|data| data.with_file_name("enrolments"));
    Settings { enrolments, ..settings }
}

impl Site {
    /// Starts a cloud that does not know the device yet.
    pub(crate) fn new() -> Self {
        Self::in_world(World::start_with(with_enrolments))
    }

    pub(crate) fn in_world(world: World) -> Self {
        let params = bfv();
        let mut device = Device::new("kitchen", &params, 1);
        let keys = device.evaluation_keys(false, &params.expansion_steps(Kept::Folded(SLOTS)).unwrap());
        let channel =
            Channel { name: "load".into(), maximum: 63.0, resolution: Some(1.0), ..Channel::default() };
        let header = StreamHeader::new(StreamParts {
            device: "kitchen".into(),
            stream: "load".into(),
            parameters: params.id(),
            key: device.secret.id(),
            period: 60_000,
            ticks: TICKS,
            channels: vec![channel],
            values: WindowValues::Steps(SLOTS as u32),
        });
        let rng = ChaCha20Rng::from_seed([4; 32]);
        Self { world, device, header: Arc::new(header.unwrap()), keys, rng }
    }

    pub(crate) fn registered() -> Self {
        Self::registered_in(World::start_with(with_enrolments))
    }

    pub(crate) fn registered_in(world: World) -> Self {
        let site = Self::in_world(world);
        site.world.put_parameters(site.device.secret.params());
        site.register(&site.registration()).expect(200);
        site
    }

    pub(crate) fn registration(&self) -> Value {
        let mut registration = self.device.registration();
        registration["streams"] = json!([hex::encode(self.header.write())]);
        registration
    }

    pub(crate) fn register(&self, registration: &Value) -> Answer {
        self.world.owner("PUT", "/v1/devices/kitchen", registration.to_string().as_bytes())
    }

    pub(crate) fn enrol(&self) {
        let mut document = self.registration();
        document["device"] = "kitchen".into();
        let parameters = sotto_wire::write_parameters(self.device.secret.params().spec());
        document["parameters"] = json!([hex::encode(parameters)]);
        let folder = self.world.folder().join("enrolments");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("kitchen.json"), document.to_string()).unwrap();
    }

    pub(crate) fn description(&self, sequence: u64) -> WindowDescription {
        let mut presence = Presence::first(2);
        presence.insert(4);
        WindowDescription {
            layout: self.header.layout().clone(),
            present: vec![3],
            start: HOUR * sequence as i64,
            period: Period::from_milliseconds(60_000),
            length: TICKS,
            presence: vec![presence],
            left_out: Vec::new(),
            rounded: None,
            generated: false,
            replaces: None,
            provisional: false,
        }
    }

    pub(crate) fn window(&mut self, sequence: u64, values: &[i64]) -> Vec<u8> {
        self.window_under(SALT, sequence, sequence, values)
    }

    /// Returns a window under the mask with this salt and number.
    pub(crate) fn window_under(
        &mut self,
        salt: [u8; 12],
        number: u64,
        sequence: u64,
        values: &[i64],
    ) -> Vec<u8> {
        let (secret, mask) = (&self.device.secret, MaskName { salt, sequence: number });
        let mut slots = values.to_vec();
        slots.resize(SLOTS, 0);
        let plain = secret.params().encode_folded(&slots, 1.0, secret.params().top_level()).unwrap();
        let seed = mask_seed(secret.id(), "load", &mask);
        let encrypted = secret.encrypt_under(&plain, seed, &mut self.rng).unwrap();
        let frame = SlotsWindow::of(&encrypted.compact(Kept::Folded(SLOTS)).unwrap(), mask).write();
        let sign = |message: &[u8]| self.device.identity.sign(message);
        let envelope =
            Envelope::sign_window(&self.header, sequence, self.description(sequence), &frame, sign);
        envelope.unwrap().write()
    }

    pub(crate) fn upload(&self, sequence: u64, window: &[u8]) -> Answer {
        self.world.upload_as(&format!("kitchen.load.{sequence}"), window)
    }

    pub(crate) fn keep(&self, sequence: u64, window: &[u8]) -> String {
        self.upload(sequence, window).expect(201)["id"].as_str().unwrap().to_owned()
    }

    /// Fetches these windows, decrypts them and adds their values.
    pub(crate) fn sum(&self, names: &[&str]) -> Vec<i64> {
        let (params, evaluator) = (self.device.secret.params(), Evaluator::new(self.device.secret.params()));
        let mut sum = vec![0; TICKS as usize];
        for name in names {
            let body = self.world.owner("GET", &format!("/v1/envelopes/{name}/body"), &[]);
            let compact = SlotsWindow::read(&body.bytes).unwrap().compact(params).unwrap();
            let expanded = evaluator.expand(&compact, &self.keys, &mut Scratch::new()).unwrap();
            let decrypted = Decryptor::new(&self.device.secret).decrypt(&expanded).unwrap();
            let values = params.decode_repeated(&decrypted, SLOTS).unwrap();
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
        sum
    }
}

pub(crate) fn remove_database(world: &World) {
    for file in ["cloud.sqlite", "cloud.sqlite-wal", "cloud.sqlite-shm"] {
        let _ = fs::remove_file(world.data().join(file));
    }
}

#[test]
fn windows_are_stored_as_they_came_and_added() {
    let mut site = Site::registered();
    let windows: Vec<Vec<u8>> = (0..4).map(|at| site.window(at, &[at as i64, -3, 0, 7, 400])).collect();
    let names: Vec<String> = (0..).zip(&windows).map(|(at, window)| site.keep(at, window)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(site.upload(2, &windows[2]).expect(200)["duplicate"], true);
    let other = site.window_under([9; 12], 2, 2, &[1, 1, 1, 1, 1]);
    site.upload(2, &other).refused(409, "sequence-taken");
    site.upload(3, &windows[2]).refused(422, "idempotency-key-mismatch");
    for (name, window) in names.iter().zip(&windows) {
        assert_eq!(&fs::read(site.world.data().join("envelopes").join(name)).unwrap(), window);
    }

    for _ in 0..2 {
        let query = EnvelopeQuery::of_device("kitchen").stream("load");
        let listed: Vec<_> = site.world.client().envelopes(&query).collect::<Result<_, _>>().unwrap();
        assert_eq!(listed.len(), 4);
        for (at, envelope) in (0..).zip(&listed) {
            let description = WindowDescription::parse(envelope.layout.text().as_bytes()).unwrap();
            assert_eq!(description, site.description(at));
            assert_eq!((envelope.sequence, envelope.readings), (at, 3));
            assert_eq!(envelope.bytes, windows[at as usize].len() as u64);
            // From the first tick to the last millisecond of the last tick.
            assert_eq!(
                (envelope.started_at, envelope.ended_at),
                (HOUR * at as i64, HOUR * at as i64 + 5 * 60_000 - 1)
            );
        }
        assert_eq!(site.sum(&names), [6, -12, 0, 28, 1600]);
        // Also after a restart.
        site.world.stop();
        site.world.resume();
    }

    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let asked =
        PositionRequest::sign("kitchen", "load", now as i64, |message| site.device.identity.sign(message));
    let answer = send("POST", &site.world.url("/v1/position"), &[], &asked.unwrap().write().unwrap());
    let answer = answer.expect(200);
    assert_eq!(answer["next"], 4);
    let frame = hex::decode(answer["signed_header"].as_str().unwrap()).unwrap();
    let signed = SignedHeader::read(&frame, 1 << 20).unwrap();
    signed.verify(&site.device.identity.verifying_key()).unwrap();
    assert_eq!((signed.header().sequence, signed.header().stream.as_str()), (3, "load"));
}

#[test]
fn a_mask_that_serves_twice_is_refused_and_told() {
    let mut site = Site::registered();
    let first = site.window(4, &[1, 2, 3, 4, 5]);
    site.keep(4, &first);
    let told = |site: &Site| site.world.ask("/v1/devices")[0]["repeated_masks"].as_u64();
    assert_eq!(told(&site), Some(0));
    // Another body under the mask, with the same number and with a later one; the same body again with a later one.
    let (same, later) = (site.window(4, &[9; 5]), site.window_under(SALT, 4, 6, &[9; 5]));
    site.upload(4, &same).refused(409, "mask-repeated");
    site.upload(6, &later).refused(409, "mask-repeated");
    let again = Envelope::read_window(&first, &site.header).unwrap();
    let again = again.renumbered(7, |message| site.device.identity.sign(message)).unwrap();
    site.upload(7, &again.write()).refused(409, "mask-repeated");
    assert_eq!(told(&site), Some(3));
    // The window itself, and a window under another start's salt.
    site.upload(4, &first).expect(200);
    let next = site.window_under([8; 12], 4, 5, &[1; 5]);
    site.keep(5, &next);
    assert_eq!(told(&site), Some(3));
}

#[test]
fn windows_of_a_stream_that_is_not_known_wait_for_its_registration() {
    let mut site = Site::new();
    let window = site.window(0, &[1, 2, 3, 4, 5]);
    site.upload(0, &window).refused(403, "unknown-stream");
    // Registered without its streams, as by an older owner's program.
    site.world.put_parameters(site.device.secret.params());
    site.register(&site.device.registration()).expect(200);
    site.upload(0, &window).refused(403, "unknown-stream");
    site.enrol();
    site.keep(0, &window);
    let mut changed = site.window(1, &[1, 2, 3, 4, 5]);
    let last = changed.len() - 1;
    changed[last] ^= 1;
    site.upload(1, &changed).refused(403, "not-admitted");
    site.world.owner("DELETE", "/v1/devices/kitchen", &[]);
    let next = site.window(1, &[0; 5]);
    site.upload(1, &next).refused(403, "device-revoked");
}

#[test]
fn headers_of_streams_are_those_of_the_device() {
    let site = Site::registered();
    let refused = |parts: &dyn Fn(&mut StreamParts), status: u16, reason: &str| {
        let mut changed = StreamParts {
            device: "kitchen".into(),
            stream: "load".into(),
            parameters: site.header.parameters(),
            key: site.header.key(),
            period: 1,
            ticks: TICKS,
            channels: site.header.layout().channels().to_vec(),
            values: WindowValues::Steps(SLOTS as u32),
        };
        parts(&mut changed);
        let mut registration = site.device.registration();
        registration["streams"] = json!([hex::encode(StreamHeader::new(changed).unwrap().write())]);
        site.register(&registration).refused(status, reason);
    };
    refused(&|parts| parts.device = "attic".into(), 422, "wrong-stream");
    refused(&|parts| parts.key.0[0] ^= 1, 422, "wrong-stream");
    refused(&|parts| parts.parameters.0[0] ^= 1, 422, "wrong-stream");
    for (frame, status, reason) in [("zz", 422, "invalid-value"), ("00", 400, "not-a-frame")] {
        let mut registration = site.device.registration();
        registration["streams"] = json!([frame]);
        site.register(&registration).refused(status, reason);
    }
}

#[test]
fn a_lost_database_is_made_again_from_windows_and_enrolments() {
    let mut site = Site::new();
    site.enrol();
    let names: Vec<String> = (0..3)
        .map(|at| {
            let window = site.window(at, &[at as i64; 5]);
            site.keep(at, &window)
        })
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    site.world.stop();
    remove_database(&site.world);
    maintain::rebuild(&site.world.config()).unwrap();
    site.world.resume();
    assert_eq!(site.sum(&names), [3; 5]);
}

#[test]
fn a_damaged_window_is_an_error() {
    let mut site = Site::registered();
    let window = site.window(0, &[1, 2, 3, 4, 5]);
    let name = site.keep(0, &window);
    let file = site.world.data().join("envelopes").join(&name);
    for at in 0..window.len() {
        let mut damaged = window.clone();
        damaged[at] ^= 0x10;
        fs::write(&file, damaged).unwrap();
        let answer = site.world.owner("GET", &format!("/v1/envelopes/{name}/body"), &[]);
        answer.refused(500, "stored-bytes-damaged");
    }
    fs::write(&file, &window).unwrap();
    let answer = site.world.owner("GET", &format!("/v1/envelopes/{name}/body"), &[]);
    assert_eq!(answer.status, 200);
    assert_eq!(SlotsWindow::read(&answer.bytes).unwrap().mask.sequence, 0);
}
