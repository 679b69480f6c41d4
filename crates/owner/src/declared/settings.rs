//! `sotto.toml`: channels, questions and devices of a plant. People write it by hand or with commands, which only edit
//! it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sotto_pack::{Channel, Clock, Period};

use super::address::names_password;
use super::alarm::AlarmSettings;
pub use super::channel_settings::{ChannelSettings, KindName};
pub use super::dashboards::{ConsoleSettings, DashboardSettings};
use super::flooding::FloodingSettings;
use super::mail::MailSettings;
pub use super::question_settings::{Compare, QuestionSettings};
use super::tags;
use crate::amount::{Every, Range};
use crate::functions::Call;
use crate::gathered::Channels;
use crate::question::{QuestionError, STAR, Template};

/// The longest wait for a job, unless `sotto.toml` says otherwise.
const JOB_LIMIT: Duration = Duration::from_secs(900);

/// The version of the file's format.
pub const VERSION: u32 = 1;

/// Largest size of the file: 1 MiB, in bytes.
pub const LARGEST: u64 = 1 << 20;

/// The whole file.
///
/// ```
/// use sotto_owner::settings::{ChannelSettings, CloudSettings, DeviceSettings, QuestionSettings, Settings};
///
/// let settings = Settings::parse(r#"
///     version = 1
///     cloud = { url = "http://127.0.0.1:7410" }
///     channels.temperature = { unit = "°C", range = "-20..120", resolution = 0.1, every = "5m" }
///     questions.daily = "mean(temperature) over 7d by day"
///     devices.boiler = { channels = ["temperature"] }
/// "#)?;
/// let cloud: &CloudSettings = &settings.cloud;
/// assert!(cloud.keys.is_empty());
/// let temperature: &ChannelSettings = &settings.channels["temperature"];
/// assert_eq!(temperature.every.milliseconds(), 300_000);
/// let daily: &QuestionSettings = &settings.questions["daily"];
/// assert_eq!(daily.precision, None);
/// let boiler: &DeviceSettings = &settings.devices["boiler"];
/// assert_eq!(boiler.channels, ["temperature"]);
/// # Ok::<(), sotto_owner::settings::SettingsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The version of the format: [`VERSION`].
    pub version: u32,
    /// The plant's time zone, an IANA name. Hours and days begin by its clock.
    #[serde(default = "utc")]
    pub time_zone: String,
    /// Number of days that answers are stored. None: forever.
    #[serde(default)]
    pub keep_answers: Option<u32>,
    /// Terms of flooding for answers to `shared` questions: see docs/concepts/publishing.md.
    #[serde(default, skip_serializing_if = "is_default")]
    pub flooding: FloodingSettings,
    /// Where the cloud is, and how it is trusted.
    pub cloud: CloudSettings,
    /// Channels by name.
    #[serde(default)]
    pub channels: BTreeMap<String, ChannelSettings>,
    /// Questions by name.
    #[serde(default)]
    pub questions: BTreeMap<String, QuestionSettings>,
    /// Dashboards by name: lists of questions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dashboards: BTreeMap<String, DashboardSettings>,
    /// Settings of `sotto console`.
    #[serde(default, skip_serializing_if = "ConsoleSettings::is_default")]
    pub console: ConsoleSettings,
    /// The server that takes messages of alarms. None: alarms send none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mail: Option<MailSettings>,
    /// Standing alarms by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub alarms: BTreeMap<String, AlarmSettings>,
    /// Devices by name.
    #[serde(default)]
    pub devices: BTreeMap<String, DeviceSettings>,
}

fn is_default(flooding: &FloodingSettings) -> bool {
    *flooding == FloodingSettings::default()
}

fn utc() -> String {
    "UTC".to_owned()
}

/// The address and keys of the cloud.
///
/// Example: [`Settings`]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CloudSettings {
    /// The address.
    pub url: String,
    /// The Ed25519 keys with which it signs, in hexadecimal: the present one first, then earlier ones. Empty: no key is
    /// pinned yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
    /// A PEM file with the certificate of the authority that signs the cloud's certificate, relative to the plant's
    /// folder. None: an authority on Mozilla's list, or no TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
    /// The longest wait for a job. None: 15 minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_limit: Option<Every>,
}

impl CloudSettings {
    /// Returns the longest wait for a job.
    #[must_use]
    pub fn job_limit(&self) -> Duration {
        self.job_limit.map_or(JOB_LIMIT, |limit| Duration::from_millis(limit.milliseconds().into()))
    }
}

/// A device.
///
/// Example: [`Settings`]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceSettings {
    /// The channels that it measures, by name.
    pub channels: Vec<String>,
    /// True if its bundles hold public keys in place of its secret: it sends whole ciphertexts, and cannot read them.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub public: bool,
    /// Words by which questions choose the device and group it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The name in bundles, in the cloud and in the folder's files, if the device was renamed since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<String>,
}

/// The reason why `sotto.toml` is refused.
///
/// ```
/// use sotto_owner::settings::{Settings, SettingsError};
///
/// let later = "version = 7\ncloud = { url = \"http://127.0.0.1:7410\" }";
/// assert_eq!(Settings::parse(later), Err(SettingsError::Version(7)));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SettingsError {
    /// The file is not TOML of this format. The text contains the line with a mark.
    #[error("sotto.toml cannot be read:\n{0}")]
    Toml(String),
    /// The file has a version that this program does not know.
    #[error("sotto.toml has version {0}; this program knows version {VERSION}: use a newer sotto")]
    Version(u32),
    /// A part of the file is invalid.
    #[error("sotto.toml: {place}: {reason}")]
    Part {
        /// The table or key.
        place: String,
        /// The reason and a remedy.
        reason: String,
    },
}

fn part(place: impl Into<String>, reason: impl Into<String>) -> SettingsError {
    SettingsError::Part { place: place.into(), reason: reason.into() }
}

impl Settings {
    /// Returns true if the file holds a password: then nobody else may read it.
    pub(crate) fn names_password(&self) -> bool {
        let sinks = |alarm: &AlarmSettings| [alarm.webhook.clone(), alarm.mqtt.clone()];
        let mail = self.mail.iter().map(|mail| mail.server.clone());
        self.alarms.values().flat_map(sinks).flatten().chain(mail).any(|address| names_password(&address))
    }

    /// Reads the file's text and checks every part of it.
    ///
    /// # Errors
    /// [`SettingsError`] names the first fault.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let settings: Self = toml::from_str(text).map_err(|error| SettingsError::Toml(error.to_string()))?;
        settings.check()?;
        Ok(settings)
    }

    /// Returns the plant's clock.
    ///
    /// # Errors
    /// [`SettingsError::Part`] if the time zone is not known.
    pub fn clock(&self) -> Result<Clock, SettingsError> {
        Clock::new(&self.time_zone).map_err(|error| part("time_zone", error.to_string()))
    }

    /// Returns a channel in the form that devices and layouts use; None if it is not declared.
    #[must_use]
    pub fn channel(&self, name: &str) -> Option<Channel> {
        self.channels.get(name).map(|settings| settings.described(name))
    }

    /// Returns the name of a channel in streams and bundles.
    #[must_use]
    pub fn wire_channel<'n>(&'n self, name: &'n str) -> &'n str {
        self.channels.get(name).and_then(|channel| channel.wire.as_deref()).unwrap_or(name)
    }

    /// Returns the name of a channel of a stream or bundle in `sotto.toml`.
    #[must_use]
    pub fn shown_channel<'n>(&'n self, wire: &'n str) -> &'n str {
        let renamed = self.channels.iter().find(|(_, channel)| channel.wire.as_deref() == Some(wire));
        renamed.map_or(wire, |(name, _)| name)
    }

    /// Returns the name of a device in bundles, in the cloud and in the folder's files.
    #[must_use]
    pub fn wire_device<'n>(&'n self, name: &'n str) -> &'n str {
        self.devices.get(name).and_then(|device| device.wire.as_deref()).unwrap_or(name)
    }

    /// Returns the name in `sotto.toml` of a device of the cloud.
    #[must_use]
    pub fn shown_device<'n>(&'n self, wire: &'n str) -> &'n str {
        let renamed = self.devices.iter().find(|(_, device)| device.wire.as_deref() == Some(wire));
        renamed.map_or(wire, |(name, _)| name)
    }

    fn check(&self) -> Result<(), SettingsError> {
        if self.version != VERSION {
            return Err(SettingsError::Version(self.version));
        }
        self.clock()?;
        self.flooding.check().map_err(|reason| part("flooding", reason))?;
        if let Err(error) = sotto_cloud_client::Cloud::with_plain_http(&self.cloud.url, &"0".repeat(64)) {
            return Err(part("cloud.url", error.to_string()));
        }
        if self.cloud.ca.is_some() && !self.cloud.url.to_ascii_lowercase().starts_with("https://") {
            return Err(part("cloud.ca", "an authority is for TLS: write https:// in cloud.url"));
        }
        let channels = self.channels.iter().map(|(name, channel)| (name.as_str(), channel.wire.as_deref()));
        check_wires("channel", &channels.collect())?;
        let devices = self.devices.iter().map(|(name, device)| (name.as_str(), device.wire.as_deref()));
        check_wires("device", &devices.collect())?;
        for (name, channel) in &self.channels {
            let place = || format!("channels.{name}");
            check_name(name, &place())?;
            let described = self.channel(name).unwrap_or_default();
            let quantiser = sotto_pack::Quantiser::with_resolution(
                described.minimum,
                described.maximum,
                channel.resolution,
            );
            quantiser.map_err(|error| part(place(), error.to_string()))?;
            if channel.unit.len() > sotto_pack::UNIT_BYTES || channel.unit.chars().any(char::is_control) {
                return Err(part(place(), "a unit has at most 32 bytes and no control characters"));
            }
            channel.check(&described).map_err(|reason| part(place(), reason))?;
            self.check_derived(channel).map_err(|reason| part(place(), reason))?;
            if channel.every.period.milliseconds().is_none() && channel.kind().rules().is_joined() {
                return Err(part(
                    place(),
                    format!(
                        "it is read every {}, and a reading of a counter, a state or a channel with `hold` is kept between ticks: declare \
                         whole milliseconds",
                        channel.every
                    ),
                ));
            }
            tags::check(&channel.tags).map_err(|reason| part(place(), reason))?;
        }
        for (name, device) in &self.devices {
            let place = || format!("devices.{name}");
            check_name(name, &place())?;
            if device.channels.is_empty() {
                return Err(part(place(), "name at least one channel"));
            }
            if let Some(unknown) =
                device.channels.iter().find(|channel| !self.channels.contains_key(*channel))
            {
                return Err(part(place(), self.no_channel(unknown)));
            }
            if let Some(reason) = self.lacks_parts(&device.channels) {
                return Err(part(place(), reason));
            }
            let mut names = device.channels.clone();
            names.sort_unstable();
            names.dedup();
            if names.len() != device.channels.len() {
                return Err(part(place(), "a channel stands twice in the list"));
            }
            tags::check(&device.tags).map_err(|reason| part(place(), reason))?;
        }
        for (name, QuestionSettings { text, precision, compare, scheme }) in &self.questions {
            let place = format!("questions.{name}");
            check_name(name, &place)?;
            if precision.is_some_and(|precision| !(precision.is_finite() && precision > 0.0)) {
                return Err(part(place, "a precision is a number above 0"));
            }
            let refused = |error: QuestionError| part(&place, error.to_string());
            let (mut question, _) = Template::read(text).and_then(|text| text.general()).map_err(refused)?;
            question.scheme = *scheme;
            question.check().map_err(refused)?;
            if *compare == Compare::Cloud && !question.calls().any(Call::can_compare_in_cloud) {
                let reason = "compare = \"cloud\" is for conditions on polynomials and models, as in count(linear(model.json) > 80), and \
                              the question has none: leave it out. A channel is compared in the cloud if it is comparable";
                return Err(part(place, reason));
            }
            let known = |channel: &String| channel == STAR || self.channels.contains_key(channel);
            if let Some(unknown) = question.channels().iter().find(|channel| !known(channel)) {
                return Err(part(place, self.no_channel(unknown)));
            }
        }
        for (name, dashboard) in &self.dashboards {
            let place = format!("dashboards.{name}");
            check_name(name, &place)?;
            let is_declared = |question: &str| self.questions.contains_key(question);
            dashboard.check(is_declared).map_err(|reason| part(place, reason))?;
        }
        self.console.check().map_err(|reason| part("console", reason))?;
        self.check_alarms()
    }

    fn check_alarms(&self) -> Result<(), SettingsError> {
        if let Some(mail) = &self.mail {
            mail.check().map_err(|reason| part("mail", reason))?;
        }
        for (name, alarm) in &self.alarms {
            let place = format!("alarms.{name}");
            check_name(name, &place)?;
            let read = alarm.check().map_err(|reason| part(&place, reason))?;
            if let Some(unknown) =
                read.channels().iter().find(|channel| !self.channels.contains_key(*channel))
            {
                return Err(part(place, self.no_channel(unknown)));
            }
            if alarm.mail.is_some() && self.mail.is_none() {
                let way_out = "it sends messages, and no server takes them: name one with `sotto alarm mail --server \
                               smtps://user@host --from ADDRESS`";
                return Err(part(place, way_out));
            }
        }
        Ok(())
    }

    /// Returns the error message for a channel that is not declared.
    #[must_use]
    pub fn no_channel(&self, name: &str) -> String {
        if self.shown_channel(name) != name {
            return format!("channel {name} is called {} now: write that", self.shown_channel(name));
        }
        let known: Vec<&str> = self.channels.keys().map(String::as_str).take(20).collect();
        let known = if known.is_empty() {
            "no channel is declared yet".to_owned()
        } else {
            format!("declared are {}", known.join(", "))
        };
        format!("there is no channel {name}; {known}. Declare it with `sotto channel add {name}`")
    }
}

impl Channels for Settings {
    fn unit(&self, channel: &str) -> String {
        self.channels.get(channel).map(|settings| settings.unit.clone()).unwrap_or_default()
    }

    fn range(&self, channel: &str) -> Option<(f64, f64)> {
        let Range { minimum, maximum } = self.channels.get(channel)?.range;
        Some((minimum, maximum))
    }

    fn resolution(&self, channel: &str) -> Option<f64> {
        self.channels.get(channel).map(|settings| settings.resolution)
    }

    fn period(&self, channel: &str) -> Option<Period> {
        self.channels.get(channel).map(|settings| settings.every.period)
    }
}

/// Checks that no name is the one under which the readings of another are stored.
fn check_wires(kind: &str, names: &BTreeMap<&str, Option<&str>>) -> Result<(), SettingsError> {
    let mut owners: BTreeMap<&str, &str> = BTreeMap::new();
    for (name, wire) in names.iter().filter_map(|(name, wire)| Some((*name, (*wire)?))) {
        check_name(wire, &format!("{kind}s.{name}.wire"))?;
        let namesake = names.keys().find(|other| **other == wire && **other != name).copied();
        if let Some(other) = owners.insert(wire, name).or(namesake) {
            let reason = format!(
                "the readings of {kind} {name} are stored as {wire}, which cannot be the name of another {kind}: choose \
                 another name, or forget these readings and remove {name} first"
            );
            return Err(part(format!("{kind}s.{other}"), reason));
        }
    }
    Ok(())
}

fn check_name(name: &str, place: &str) -> Result<(), SettingsError> {
    if sotto_program::is_name(name) {
        return Ok(());
    }
    Err(part(place, "a name has 1 to 64 of A-Z a-z 0-9 _ . -"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"
version = 1
time_zone = "Europe/Vienna"
[cloud]
url = "http://127.0.0.1:7410"
[channels.temperature]
unit = "°C"
range = [-20, 120]
resolution = 0.1
every = "5m"
[questions]
daily = "mean(temperature) by day"
[devices.boiler]
channels = ["temperature"]
"#;

    #[test]
    fn every_part_is_read_and_checked() {
        let settings = Settings::parse(WHOLE).expect("a file");
        let channel = settings.channel("temperature").expect("a channel");
        assert_eq!((channel.minimum, channel.resolution), (-20.0, Some(0.1)));
        assert_eq!(settings.clock().expect("a zone").name(), "Europe/Vienna");
        for (old, new, says) in [
            ("version = 1", "version = 2", "newer"),
            ("http://127.0.0.1:7410", "127.0.0.1:7410", "cloud.url"),
            ("url = \"http", "ca = \"ca.pem\"\nurl = \"http", "https://"),
            ("Europe/Vienna", "Europe/Nowhere", "time zone"),
            ("[-20, 120]", "[120, -20]", "range"),
            ("[-20, 120]", "\"-20..120\"", ""),
            ("resolution = 0.1", "resolution = -0.1", "resolution"),
            ("\"5m\"", "\"5 minutes\"", "period"),
            ("mean(temperature)", "mean(humidity)", "no channel humidity"),
            ("mean(temperature)", "mean(temperature", "questions.daily"),
            ("\"mean(temperature) by day\"", "{ text = \"mean(temperature)\", precision = 0.5 }", ""),
            ("\"mean(temperature) by day\"", "{ text = \"mean(temperature)\", precision = 0 }", "precision"),
            ("\"mean(temperature) by day\"", "{ text = \"mean(temperature)\", scheme = \"bfv\" }", ""),
            (
                "\"mean(temperature) by day\"",
                "{ text = \"mean(temperature)\", scheme = \"ckks\" }",
                "write bfv or bgv, or leave scheme out",
            ),
            (
                "\"mean(temperature) by day\"",
                "{ text = \"mean(temperature)\", scheme = \"tfhe\" }",
                "\"tfhe\"",
            ),
            (
                "\"mean(temperature) by day\"",
                "{ text = \"mean(polynomial(temperature, [0, 1]))\", scheme = \"bfv\" }",
                "questions.daily: column 1: scheme = \"bfv\" is for exact results",
            ),
            ("\"mean(temperature) by day\"", "{ text = \"mean(temperature)\", sceme = \"bfv\" }", "sceme"),
            ("\"mean(temperature) by day\"", "{ scheme = \"bfv\" }", "text"),
            ("\"mean(temperature) by day\"", "7", "a table with text, precision, compare and scheme"),
            ("channels = [\"temperature\"]", "channels = [\"x\"]", "no channel x"),
            ("channels = [\"temperature\"]", "channels = []", "at least one"),
            ("[channels", "[flooding]\nresults = 100\n[channels", ""),
            ("[channels", "[flooding]\nresults = 0\n[channels", "flooding"),
            ("[channels", "[flooding]\nstatistical_bits = 29\n[channels", "30 to 64 statistical bits"),
            ("resolution", "resolutoin", "resolutoin"),
            (
                "[questions]",
                "[alarms.hot]\nwhen = \"temperature > 80 for 3 windows\"\nclear = 75\n[questions]",
                "",
            ),
            (
                "[questions]",
                "[alarms.hot]\nwhen = \"temperature > 80\"\nclear = 81\n[questions]",
                "at most 80",
            ),
            ("[questions]", "[alarms.hot]\nwhen = \"temperature < 3\"\nclear = 2\n[questions]", "at least 3"),
            ("[questions]", "[alarms.hot]\nwhen = \"temperature\"\n[questions]", "alarms.hot"),
            ("[questions]", "[alarms.hot]\nwhen = \"rain > 1\"\n[questions]", "no channel rain"),
            (
                "[questions]",
                "[alarms.hot]\nwhen = \"temperature > 1\"\nclear_after = 0\n[questions]",
                "clear_after",
            ),
            (
                "[questions]",
                "[alarms.hot]\nwhen = \"temperature > 1\"\nmqtt = \"broker\"\n[questions]",
                "mqtt://",
            ),
            (
                "[questions]",
                "[alarms.hot]\nwhen = \"temperature > 1\"\nwebhook = \"x\"\n[questions]",
                "https://",
            ),
            (
                "[questions]",
                "[alarms.hot]\nwhen = \"temperature > 1\"\nwehbook = \"x\"\n[questions]",
                "wehbook",
            ),
        ] {
            assert!(WHOLE.contains(old), "{old}");
            match Settings::parse(&WHOLE.replacen(old, new, 1)) {
                Ok(_) => assert!(says.is_empty(), "{new} is accepted"),
                Err(error) => {
                    let text = error.to_string();
                    assert!(!says.is_empty() && text.contains(says), "{new}: {text}");
                }
            }
        }
    }
}
