//! A cloud in this process, devices whose windows it stores, and their owner.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use serde_json::json;
use sotto_cloud::config::{Config, Settings};
use sotto_cloud::server::Server;
use sotto_cloud_client::{Cloud, PartsOf, WindowsOf};
use sotto_keys::SigningIdentity;
use sotto_pack::{Channel, Digit, Period, Placed, Presence, Quantity, SumsPart, WindowDescription};
use sotto_rlwe::KeyId;
use sotto_sums::{Encryptor, Opening, StartKeys, StreamKeys, TagKey};
use sotto_wire::{
    Envelope, Forget, MaskName, Order, OrderParts, Ordered, PartSum, StreamHeader, SumsAnswer, SumsStream,
    WindowGroup,
};
use tempfile::TempDir;
use tokio::sync::oneshot;

pub(crate) use super::query::{Lake, program};

pub(crate) const TICKS: u32 = 4;
pub(crate) const MINUTE: i64 = 60_000;
const TOKEN: &str = "the-owner-of-this-test";

/// The readings of a window, by channel and tick: None where one is missing.
pub(crate) type Readings = Vec<Vec<Option<i64>>>;

pub(crate) struct Device {
    pub(crate) name: &'static str,
    secret: [u8; 32],
    identity: SigningIdentity,
    pub(crate) header: Arc<StreamHeader>,
    /// The windows made, by number.
    pub(crate) sent: BTreeMap<u64, (Envelope, Readings)>,
}

pub(crate) struct Site {
    folder: TempDir,
    running: Option<(SocketAddr, oneshot::Sender<()>, JoinHandle<anyhow::Result<()>>)>,
    pub(crate) devices: Vec<Device>,
    change: Box<dyn Fn(Settings) -> Settings>,
}

/// Returns the start of a window of the usual length.
pub(crate) fn start(number: u64) -> i64 {
    MINUTE * i64::from(TICKS) * number as i64
}

/// Returns readings that depend on device and number. Every seventh window has gaps, every tenth one is short.
pub(crate) fn readings(device: usize, number: u64, channels: usize) -> Readings {
    let ticks = if number.is_multiple_of(10) { TICKS - 1 } else { TICKS };
    let reading =
        |channel: u64, tick: u64| (number * 37 + tick * 101 + channel * 11 + device as u64) as i64 % 1001;
    let at = |channel: usize| {
        let missing = |tick: u64| number.is_multiple_of(7) && tick == 1;
        (0..u64::from(ticks))
            .map(|tick| (!missing(tick)).then(|| reading(channel as u64, tick) - 500))
            .collect()
    };
    (0..channels).map(at).collect()
}

impl Device {
    fn new(name: &'static str, number: u8, channels: &[&str], widths: (u8, u8)) -> Self {
        let secret = [number + 1; 32];
        let channel = |name: &&str| Channel {
            name: (*name).into(),
            maximum: 1000.0,
            resolution: Some(1.0),
            ..Channel::default()
        };
        let part = |quantity, width| SumsPart {
            quantities: vec![Placed { quantity, digit: Digit::Whole, width }],
            reasons: 0,
        };
        let of = |column: u16| {
            [part(Quantity::Reading(column), widths.0), part(Quantity::Square(column), widths.1)]
        };
        let stream = SumsStream {
            device: name.into(),
            stream: "load".into(),
            period: Period::of_seconds(60, 1).unwrap(),
            ticks: TICKS,
            channels: channels.iter().map(channel).collect(),
            rounded: false,
            parts: (0..channels.len() as u16).flat_map(of).collect(),
        };
        let header = StreamHeader::of_sums(stream, |id| KeyId(StreamKeys::derive(&secret, id).id())).unwrap();
        let identity = SigningIdentity::from_bytes(&[number + 100; 32]);
        Self { name, secret, identity, header: Arc::new(header), sent: BTreeMap::new() }
    }

    fn values(part: usize, readings: &Readings) -> Vec<Option<i64>> {
        let power = 1 + part as u32 % 2;
        readings[part / 2].iter().map(|reading| reading.map(|reading| reading.pow(power))).collect()
    }

    pub(crate) fn window(
        &mut self,
        (number, at): (u64, i64),
        readings: Readings,
        change: impl FnOnce(&mut WindowDescription),
    ) -> Envelope {
        let header = &self.header;
        let name = MaskName { salt: [(number / 40) as u8 + 1; 12], sequence: number };
        let ticks = readings[0].len() as u32;
        let whole = WindowDescription::whole(header.layout(), at, Period::from_milliseconds(60_000), ticks);
        let mut description = if readings.iter().flatten().all(Option::is_some) {
            whole
        } else {
            let presence: Vec<Presence> = readings
                .iter()
                .map(|of| {
                    let mut presence = Presence::default();
                    (0..).zip(of).filter(|(_, one)| one.is_some()).for_each(|(at, _)| presence.insert(at));
                    presence
                })
                .collect();
            WindowDescription { present: presence.iter().map(Presence::count).collect(), presence, ..whole }
        };
        change(&mut description);
        let mut encryptor = Encryptor::new(&self.secret, header.stream_id().unwrap(), &name.salt, 0);
        let (mut pads, mut parts) = (encryptor.window(name.sequence).unwrap(), Vec::new());
        for (at, part) in header.parts().iter().enumerate() {
            let (form, ticks) = (header.sums_form(at).unwrap(), description.sent_ticks());
            let mut body = vec![0; form.body_bytes(ticks)];
            let values: Vec<_> = Self::values(at, &readings).into_iter().take(ticks as usize).collect();
            let counts = part.counts(&description);
            let tag = pads.encrypt(&form, ticks, at as u32, values, counts, &mut body).unwrap();
            parts.extend(body);
            parts.extend(tag.to_bytes());
        }
        let sign = |message: &[u8]| self.identity.sign(message);
        let envelope = Envelope::sign_sums(header, number, name, description, &parts, sign).unwrap();
        self.sent.insert(number, (envelope.clone(), readings));
        envelope
    }

    /// Opens a frame as the owner does: the numbers of its windows, and the sums of these parts. None if a tag refuses it.
    pub(crate) fn open(
        &self,
        frame: &[u8],
        numbers: &[u64],
        weights: Option<&[i64]>,
    ) -> Option<Vec<Vec<i64>>> {
        let answer = SumsAnswer::read(frame, &self.header, 1 << 24, numbers.len() as u32).ok()?;
        let signed = |number: &u64| self.sent[number].0.signed_header();
        if !answer.names.iter().eq(numbers.iter().map(|number| signed(number).mask().unwrap())) {
            return None;
        }
        let keys = StreamKeys::derive(&self.secret, self.header.stream_id().unwrap());
        let mut total: Vec<Vec<i64>> = Vec::new();
        for sum in &answer.sums {
            let (first, count) = (sum.windows.0 as usize, sum.windows.1 as usize);
            let weights = weights.map(|weights| &weights[first..first + count]);
            let opened = self.open_sum(&keys, sum, &numbers[first..first + count], weights)?;
            total.resize(opened.len(), Vec::new());
            for (total, opened) in total.iter_mut().zip(opened) {
                total.resize(total.len().max(opened.len()), 0);
                total.iter_mut().zip(opened).for_each(|(total, value)| *total += value);
            }
        }
        let all: usize = answer.sums.iter().map(|sum| sum.windows.1 as usize).sum();
        (all == numbers.len()).then_some(total)
    }

    fn open_sum(
        &self,
        keys: &StreamKeys,
        sum: &PartSum<'_>,
        numbers: &[u64],
        weights: Option<&[i64]>,
    ) -> Option<Vec<Vec<i64>>> {
        let signed = |number: &u64| self.sent[number].0.signed_header();
        let opened = sum.parts().map(|(part, answer)| {
            let form = self.header.sums_form(part.into()).unwrap();
            let mut opening = Opening::new(&form, part.into());
            for (index, number) in numbers.iter().enumerate() {
                let (name, window) = (signed(number).mask()?, signed(number).description()?);
                let start = StartKeys::derive(&self.secret, self.header.stream_id()?, &name.salt);
                let present = self.header.parts()[usize::from(part)].present(&window);
                let weight = weights.map_or(1, |weights| weights[index]);
                opening.add(&start, name.sequence, window.sent_ticks(), weight, |place| present[place]);
            }
            opening.open(&TagKey::new(keys, &form, part.into()), answer).ok()
        });
        opened.collect()
    }

    /// Returns the sums of readings in the clear, of these parts.
    pub(crate) fn expected(
        &self,
        numbers: &[u64],
        parts: &[usize],
        weights: Option<&[i64]>,
    ) -> Vec<Vec<i64>> {
        let of = |part: &usize| {
            let mut sums = Vec::new();
            for (index, number) in numbers.iter().enumerate() {
                let (envelope, readings) = &self.sent[number];
                let sent = envelope.signed_header().description().unwrap().sent_ticks() as usize;
                let values = Self::values(*part, readings);
                sums.resize(sums.len().max(sent), 0);
                let weight = weights.map_or(1, |weights| weights[index]);
                sums.iter_mut()
                    .zip(&values[..sent])
                    .for_each(|(sum, value)| *sum += weight * value.unwrap_or(0));
            }
            sums
        };
        parts.iter().map(of).collect()
    }
}

impl Site {
    /// Starts a cloud with devices of these channels.
    pub(crate) fn new(devices: &[(&'static str, &[&str])]) -> Self {
        Self::with_widths(devices, (23, 34))
    }

    /// Starts a cloud with a device whose places hold few windows.
    pub(crate) fn narrow(device: &'static str) -> Self {
        Self::with_widths(&[(device, &["load"])], (14, 24))
    }

    fn with_widths(devices: &[(&'static str, &[&str])], widths: (u8, u8)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        sotto_service::token::write_private(&folder.path().join("token"), &format!("{TOKEN}\n")).unwrap();
        let devices =
            (0..).zip(devices).map(|(number, (name, channels))| Device::new(name, number, channels, widths));
        let mut site =
            Self { folder, running: None, devices: devices.collect(), change: Box::new(|settings| settings) };
        site.resume();
        for device in &site.devices {
            let key = json!({
                "parameter_id": hex::encode(device.header.stream_id().unwrap()),
                "key_id": device.header.key().to_string(),
            });
            let registration = json!({
                "verifying_key": hex::encode(device.identity.verifying_key()),
                "keys": [key],
                "streams": [hex::encode(device.header.write())],
            });
            let path = format!("/v1/devices/{}", device.name);
            let headers = [("if-none-match", "*")];
            site.send("PUT", &path, &headers, registration.to_string().as_bytes());
        }
        site
    }

    /// Starts a cloud with two devices, each with the windows of some numbers, of which the last ones are in no segment.
    pub(crate) fn with_windows(windows: u64) -> Self {
        let mut site = Self::new(&[("kitchen", &["load"]), ("cellar", &["load"])]);
        let sealed = windows - windows / 5;
        site.upload(0..sealed);
        site.seal();
        site.upload(sealed..windows);
        site
    }

    pub(crate) fn upload(&mut self, numbers: std::ops::Range<u64>) {
        for device in 0..self.devices.len() {
            let channels = self.devices[device].header.layout().channels().len();
            let mut group = Vec::new();
            for number in numbers.clone() {
                let readings = readings(device, number, channels);
                group.push(self.devices[device].window((number, start(number)), readings, |_| {}));
                if group.len() == 20 || number + 1 == numbers.end {
                    self.send_group(device, &std::mem::take(&mut group));
                }
            }
        }
    }

    pub(crate) fn send_group(&self, device: usize, windows: &[Envelope]) {
        if let [window] = windows {
            let headers = [("idempotency-key", window.header().upload_key())];
            let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
            self.send("POST", "/v1/envelopes", &headers, &window.write());
            return;
        }
        let identity = &self.devices[device].identity;
        let group = WindowGroup::sign(windows.to_vec(), |message| identity.sign(message)).unwrap();
        let key = group.upload_key();
        self.send("POST", "/v1/envelopes", &[("idempotency-key", key.as_str())], &group.write());
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) {
        let url = format!("http://{}{path}", self.address());
        let mut request = ureq::http::Request::builder().method(method).uri(url);
        if !headers.iter().any(|(name, _)| *name == "idempotency-key") {
            request = request.header("authorization", format!("Bearer {TOKEN}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let mut answer = agent.run(request.body(body).unwrap()).unwrap();
        let text = answer.body_mut().read_to_string().unwrap();
        assert!(answer.status().is_success(), "{method} {path}: {} {text}", answer.status());
    }

    fn address(&self) -> SocketAddr {
        self.running.as_ref().unwrap().0
    }

    pub(crate) fn client(&self) -> Cloud {
        Cloud::new(&format!("http://{}", self.address()), TOKEN).unwrap()
    }

    pub(crate) fn order(&self, device: &str, what: Ordered) {
        let owner = SigningIdentity::from_bytes(&[77; 32]);
        let (given_at, device) = (1_700_000_000_000, device.to_owned());
        let parts = OrderParts { given_at, owner: owner.verifying_key(), device, what };
        let order = Order::sign(parts, |message| owner.sign(message)).unwrap();
        self.send("POST", "/v1/orders", &[], &order.write().unwrap());
    }

    pub(crate) fn forget(&self, device: &str, until: i64) {
        self.order(device, Ordered::Forget(Forget { stream: None, until, next: 0, from_log: None }));
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn config(&self) -> Config {
        let settings = Settings {
            listen: Some("127.0.0.1:0".parse().unwrap()),
            data: Some(self.data()),
            owner_token_file: Some(self.folder.path().join("token")),
            ..Settings::default()
        };
        Config::new((self.change)(settings)).unwrap()
    }

    /// Starts the cloud. A program that another test starts may hold the store's lock for a moment.
    pub(crate) fn resume(&mut self) {
        for _ in 0..50 {
            if self.started() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        panic!("the cloud does not start");
    }

    fn started(&mut self) -> bool {
        let config = self.config();
        let (stop, stopped) = oneshot::channel::<()>();
        let (tell, address) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new()?;
            runtime.block_on(async {
                let server = Server::open(&config).await?;
                tell.send(server.address())?;
                server.serve(async { drop(stopped.await) }).await
            })
        });
        let Ok(address) = address.recv() else { return false };
        self.running = Some((address, stop, thread));
        true
    }

    /// Starts the cloud again with changed settings.
    pub(crate) fn restart_with(&mut self, change: impl Fn(Settings) -> Settings + 'static) {
        self.stop();
        self.change = Box::new(change);
        self.resume();
    }

    pub(crate) fn stop(&mut self) {
        if let Some((_, stop, thread)) = self.running.take() {
            let _ = stop.send(());
            thread.join().unwrap().unwrap();
        }
    }

    /// Moves all windows to segments: a stop does.
    pub(crate) fn seal(&mut self) {
        self.stop();
        self.resume();
    }

    /// Asks the cloud for a sum over windows with these numbers, of these parts.
    pub(crate) fn cloud_sum(
        &self,
        device: usize,
        numbers: &[u64],
        parts: &[u8],
        weights: Option<&[i64]>,
    ) -> Vec<u8> {
        self.cloud_sums(device, numbers, &[(0, numbers.len() as u32)], parts, weights)
    }

    /// Asks the cloud for sums over ranges of windows with these numbers.
    pub(crate) fn cloud_sums(
        &self,
        device: usize,
        numbers: &[u64],
        ranges: &[(u32, u32)],
        parts: &[u8],
        weights: Option<&[i64]>,
    ) -> Vec<u8> {
        let weights = weights.map(<[_]>::to_vec);
        let sum = |windows: &(u32, u32)| PartsOf {
            windows: *windows,
            parts: parts.to_vec(),
            weights: weights.clone(),
        };
        let sums = ranges.iter().map(sum).collect();
        let request = WindowsOf { windows: numbers.iter().map(|number| (*number, 1)).collect(), sums };
        let tag = self.devices[device].header.id().tag().to_string();
        self.client().stream_sums(&tag, &request).unwrap().frame
    }

    /// Returns the lake over the store of this site.
    pub(crate) fn lake(&self, threads: usize) -> Lake {
        self.lake_with(&["--threads", &threads.to_string()])
    }

    pub(crate) fn lake_with(&self, arguments: &[&str]) -> Lake {
        Lake::over(&self.data(), arguments)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.stop();
    }
}
