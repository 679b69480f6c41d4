//! A folder of bundles, a gateway as a process, and the readings that are in its spools.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use sotto_evaluate::{TaggedSum, TaggedSumming};
use sotto_keys::{DeviceBundle, DeviceKeys, DeviceSecret, Protection, SigningIdentity};
use sotto_pack::{
    Channel, ChannelKind, DeviceProfile, Digit, Gauge, Period, Placed, Quantity, Reason, StreamProfile,
    SumsPart,
};
use sotto_ring::secure_rng;
use sotto_sums::{Opening, StartKeys, StreamKeys, TagKey};
use sotto_wire::{Envelope, SumsAnswer};
use tempfile::TempDir;

use crate::site::{Act, Cloud, agent, files};
use crate::sums;

/// Milliseconds between ticks: as many fit an hour as rows of a test.
pub(super) const PERIOD: i64 = 1000;
/// The beginning of an hour in 2024: milliseconds since 1970.
pub(super) const HOUR: i64 = 1_704_067_200_000;
/// Longest wait for a process.
const PATIENCE: Duration = Duration::from_secs(60);

/// Readings by device, channel and time in milliseconds since 1970.
pub(super) type Readings = BTreeMap<(String, String, i64), f64>;

pub(super) struct Farm {
    folder: TempDir,
    secrets: BTreeMap<String, [u8; 32]>,
    cloud: Cloud,
}

impl Farm {
    /// Creates devices with these channels, whose cloud answers and takes no message.
    pub(super) fn new(devices: &[(&str, &[&str])]) -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let cloud = Cloud::start(&[Act::Status(503)]);
        let mut farm = Self { folder, secrets: BTreeMap::new(), cloud };
        devices.iter().for_each(|(name, channels)| farm.add(name, channels));
        farm
    }

    /// Adds a device, or gives it another bundle.
    pub(super) fn add(&mut self, name: &str, channels: &[&str]) {
        self.add_with(name, &profile(name, channels));
    }

    /// Adds a device with gauges whose ticks are the means of minutes.
    pub(super) fn add_of_minutes(&mut self, name: &str, channels: &[&str]) {
        let mut profile = profile(name, channels);
        let minute = Period::from_milliseconds(60_000);
        let stream = &mut profile.streams[0];
        (stream.ticks, stream.period_ms) = (60, Some(minute));
        stream.channels.iter_mut().for_each(|channel| channel.kind = ChannelKind::Gauge(Gauge::default()));
        self.add_with(name, &profile);
    }

    fn add_with(&mut self, name: &str, profile: &DeviceProfile) {
        let mut rng = secure_rng().unwrap();
        let secret = match self.secrets.get(name) {
            Some(secret) => DeviceSecret::from_bytes(secret),
            None => DeviceSecret::generate(&mut rng),
        };
        self.secrets.insert(name.to_owned(), *secret.expose_secret_bytes());
        let identity = SigningIdentity::from_bytes(secret.expose_secret_bytes());
        let bundle = DeviceBundle {
            keys: DeviceKeys::Secret(secret),
            identity,
            cloud: self.cloud.url(),
            authority: None,
            profile: profile.to_json().unwrap(),
        };
        let (path, beside) = (self.bundle(name), self.path("made"));
        let _ = std::fs::remove_file(&beside);
        bundle.write(&beside, &Protection::FileMode, &mut rng).unwrap();
        std::fs::rename(beside, path).unwrap();
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn bundle(&self, name: &str) -> PathBuf {
        self.path(&format!("{name}.bundle"))
    }

    pub(super) fn spool(&self, name: &str) -> PathBuf {
        self.path(&format!("{name}.spool"))
    }

    /// Returns the agent with a subcommand, the folder, and further words.
    pub(super) fn agent(&self, command: &str, words: &[&str]) -> Command {
        let mut agent = agent();
        agent.arg(command).arg("--devices").arg(self.folder.path()).args(words);
        agent
    }

    /// Starts a gateway on a free port.
    pub(super) fn start(&self, words: &[&str]) -> Gateway {
        Gateway::of(self.agent("run", &[&["--listen", "127.0.0.1:0"], words].concat()))
    }

    /// Returns the readings in the messages of all spools, and fails if one is there twice.
    pub(super) fn readings(&self) -> Readings {
        let mut readings = Readings::new();
        for (device, secret) in &self.secrets {
            let spool = self.spool(device);
            for file in files(&spool, ".envelope") {
                let envelope =
                    Envelope::read_kept(&std::fs::read(spool.join(file)).unwrap(), 1 << 30).unwrap();
                for ((channel, at), value) in opened(&envelope, secret) {
                    let before = readings.insert((device.clone(), channel.clone(), at), value);
                    assert_eq!(before, None, "{device} {channel} {at} is there twice");
                }
            }
        }
        readings
    }
}

fn profile(name: &str, channels: &[&str]) -> DeviceProfile {
    let channel = |name: &&str| Channel {
        name: (*name).to_owned(),
        unit: "°C".into(),
        minimum: -1000.0,
        maximum: 1000.0,
        resolution: Some(0.01),
        ..Channel::default()
    };
    let whole =
        |column: usize| Placed { quantity: Quantity::Reading(column as u16), digit: Digit::Whole, width: 40 };
    let parts =
        SumsPart { quantities: (0..channels.len()).map(whole).collect(), reasons: Reason::ALL.len() as u8 };
    let period = Period::from_milliseconds(PERIOD as u32);
    let stream = StreamProfile {
        ticks: (3_600_000 / PERIOD) as u32,
        period_ms: Some(period),
        channels: channels.iter().map(channel).collect(),
        sums: vec![parts],
        ..sums::stream()
    };
    DeviceProfile { device: name.into(), period_ms: period, ..sums::profile(stream) }
}

/// Opens a window as its owner does: the readings by channel and time.
fn opened(envelope: &Envelope, secret: &[u8; 32]) -> BTreeMap<(String, i64), f64> {
    let (header, _) = envelope.window().unwrap();
    let of_one = TaggedSum { windows: (0, 1), parts: &[0], weights: None };
    let mut summing = TaggedSumming::new(header, 1, vec![of_one]).unwrap();
    summing.add(envelope).unwrap();
    let frame = summing.frame().unwrap();
    let answer = SumsAnswer::read(&frame, header, 1 << 20, 1).unwrap();
    let (stream, form) = (header.stream_id().unwrap(), header.sums_form(0).unwrap());
    let key = TagKey::new(&StreamKeys::derive(secret, stream), &form, 0);
    let (name, described) = (envelope.mask().unwrap(), envelope.signed_header().description().unwrap());
    let start = StartKeys::derive(secret, stream, &name.salt);
    let there = header.parts()[0].present(&described);
    let mut opening = Opening::new(&form, 0);
    opening.add(&start, name.sequence, described.sent_ticks(), 1, |place| there[place]);
    let steps = opening.open(&key, answer.sums[0].part(0).unwrap()).unwrap();
    let channels = header.layout().channels();
    let mut readings = BTreeMap::new();
    for (place, step) in steps.iter().enumerate().filter(|(place, _)| there[*place]) {
        let (tick, channel) = (place / channels.len(), &channels[place % channels.len()]);
        let middle = (channel.minimum + channel.maximum) / 2.0;
        let value = middle + *step as f64 * channel.resolution.unwrap();
        let value = (value * 100.0).round() / 100.0;
        readings.insert((channel.name.clone(), described.start + tick as i64 * PERIOD), value);
    }
    readings
}

/// A gateway that runs.
pub(super) struct Gateway {
    pub(super) child: Child,
    stderr: Option<std::thread::JoinHandle<String>>,
    /// Where it listens.
    pub(super) address: String,
}

impl Gateway {
    pub(super) fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (address, rest) = place(child.stderr.take().unwrap());
        Self { child, stderr: Some(rest), address }
    }

    /// Sends a request and returns the status and the body of its answer.
    pub(super) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> (u16, String) {
        self.try_request(method, path, headers, body).expect("an answer")
    }

    /// Likewise; `None` if the gateway is gone.
    pub(super) fn try_request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Option<(u16, String)> {
        request(&self.address, method, path, headers, body)
    }

    /// Writes lines with times in milliseconds, and returns the status.
    pub(super) fn write(&self, lines: &str) -> u16 {
        self.request("POST", "/write?db=x&precision=ms", &[], lines.as_bytes()).0
    }

    pub(super) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Stops it; returns its exit status and its standard error.
    pub(super) fn stop(mut self) -> (ExitStatus, String) {
        assert!(
            Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap().success()
        );
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(begin.elapsed() < PATIENCE, "it does not stop");
            std::thread::sleep(Duration::from_millis(10));
        };
        (status, self.stderr.take().unwrap().join().unwrap())
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads the place at which a gateway listens from its words, and goes on to read them.
fn place(mut stderr: ChildStderr) -> (String, std::thread::JoinHandle<String>) {
    let (mut said, mut byte) = (Vec::new(), [0]);
    loop {
        assert_eq!(stderr.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&said));
        said.push(byte[0]);
        let text = String::from_utf8_lossy(&said).into_owned();
        let places = ["http://", "https://", "unix:"].iter().find_map(|scheme| text.split_once(scheme));
        if let Some(address) = places.and_then(|(_, rest)| rest.split_once([' ', ','])) {
            let address = address.0.trim_end_matches(':').to_owned();
            let rest = std::thread::spawn(move || {
                let _ = stderr.read_to_end(&mut said);
                String::from_utf8_lossy(&said).into_owned()
            });
            return (address, rest);
        }
    }
}

pub(super) fn request(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n",
        body.len()
    );
    headers.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
    stream.write_all(&[head.as_bytes(), b"\r\n", body].concat()).ok()?;
    answer(stream)
}

/// Reads an answer to its end.
pub(super) fn answer(mut stream: impl Read) -> Option<(u16, String)> {
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer);
    let status = text.split(' ').nth(1)?.parse().ok()?;
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    Some((status, body.to_owned()))
}

/// Waits until something is so.
pub(super) fn wait_until(thing: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < PATIENCE, "waited too long for {thing}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the text of a recorded request.
pub(super) fn recorded(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/gateway");
    std::fs::read(folder.join(name)).unwrap()
}
