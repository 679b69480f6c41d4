//! Devices: enrolled by their owner, each with a secret of its own.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sotto_api::devices::{ListedKey, RegisteredKey};
use sotto_compact::fleet_id;
use sotto_keys::{
    DeviceBundle, DeviceKeys, DeviceSecret, KeyFile, KeyFileError, Protection, SigningIdentity,
};
use sotto_pack::{DeviceProfile, FleetId, MOST_CLOUD_KEYS, StreamProfile};
use sotto_ring::{SecretRng, secure_rng};
use sotto_rlwe::ParameterSpec;
use sotto_wire::StreamHeader;

use crate::choose::{self, Chosen};
use crate::error::{OwnerError, io};
use crate::files::{pretty, random, read_json, write_private, write_whole};
use crate::needs;
use crate::plant::Plant;
use crate::public_keys::public_keys;
use crate::settings::DeviceSettings;

/// The public part of a device, stored in `devices/NAME.json`.
///
/// Example: [`Enrolment`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceRecord {
    /// The version of this format: 1.
    pub version: u32,
    /// The device's name.
    pub device: String,
    /// The Ed25519 key that verifies its messages, in hexadecimal.
    pub verifying_key: String,
    /// The streams of every bundle made for it, the latest last.
    pub bundles: Vec<BundleRecord>,
}

impl DeviceRecord {
    /// Returns the names of the streams of all bundles, without repetition.
    pub(crate) fn streams(&self) -> std::collections::BTreeSet<&str> {
        self.bundles.iter().flat_map(|bundle| &bundle.streams).map(|stream| stream.stream.as_str()).collect()
    }
}

/// The record of a bundle.
///
/// Example: [`Enrolment`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundleRecord {
    /// Time of its making, in milliseconds since 1970.
    pub made_at: i64,
    /// The streams that the device sends.
    pub streams: Vec<StreamProfile>,
}

/// A device's registration, stored in `enrolments/NAME.json`. A cloud on this machine reads it there.
///
/// ```
/// use sotto_owner::{BundleRecord, DeviceRecord, Enrolled, EnrolledKey, Enrolment};
/// # let folder = tempfile::tempdir()?;
/// # let here = sotto_owner::NewPlant { cloud: None, listen: "127.0.0.1:7410".parse()?, time_zone: None };
/// # let mut plant = sotto_owner::Plant::init(&folder.path().join("dairy"), &here)?;
/// # plant.edit(|settings| {
/// #     let (range, every) = ("-20..120".parse().expect("a range"), "5m".parse().expect("a duration"));
/// #     let temperature = sotto_owner::edit::NewChannel { unit: "°C".into(), range, resolution: 0.1, every, comparable: false };
/// #     sotto_owner::edit::add_channel(settings, "temperature", &temperature)?;
/// #     sotto_owner::edit::add_question(settings, "daily", &"mean(temperature) over 7d by day".into())?;
/// #     sotto_owner::edit::add_device(settings, "boiler", &["temperature".into()])
/// # })?;
///
/// // `plant` declares the device `boiler`.
/// let enrolled: Enrolled = plant.enrol("boiler", &folder.path().join("boiler.bundle"))?;
/// let record: DeviceRecord = plant.device("boiler")?.ok_or("not enrolled")?;
/// let bundles: &[BundleRecord] = &record.bundles;
/// assert_eq!(bundles[0].streams.len(), enrolled.streams.len());
///
/// let file = std::fs::read(plant.folder().join("enrolments/boiler.json"))?; // goes to the cloud
/// let enrolment: Enrolment = serde_json::from_slice(&file)?;
/// assert_eq!(enrolment.verifying_key, record.verifying_key);
/// let keys: &[EnrolledKey] = &enrolment.keys;
/// assert_eq!(keys.len(), 1);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Enrolment {
    /// The device's name.
    pub device: String,
    /// The verifying key, in hexadecimal.
    pub verifying_key: String,
    /// Frames of the parameters, in hexadecimal.
    pub parameters: Vec<String>,
    /// Keys that the device may encrypt under.
    pub keys: Vec<EnrolledKey>,
    /// Headers of its streams of compact windows: frames in hexadecimal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<String>,
}

/// A key of a device, by its public id.
///
/// Example: [`Enrolment`]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnrolledKey {
    /// The id of the parameters, in hexadecimal.
    pub parameter_id: String,
    /// The id of the key, in hexadecimal.
    pub key_id: String,
}

/// The result of an enrolment.
///
/// Example: [`Enrolment`]
#[derive(Debug)]
pub struct Enrolled {
    /// The file of the bundle.
    pub bundle: PathBuf,
    /// The streams with their parameters.
    pub streams: Vec<Chosen>,
}

/// The file with the tag of the plant's fleets.
const FLEET_TAG: &str = "fleets";

/// The secrets of an enrolment without a bundle, which are deleted when it fails.
#[derive(Default)]
struct Unfinished {
    files: Vec<PathBuf>,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        for file in &self.files {
            // The error that is under way tells more than one of this removal.
            let _ = std::fs::remove_file(file);
        }
    }
}

fn signing_file(device: &str) -> String {
    format!("{device}.signing")
}

fn secret_file(device: &str) -> String {
    format!("{device}.key")
}

impl Plant {
    /// Returns the public part of a device; None if it is not enrolled.
    ///
    /// # Errors
    /// [`OwnerError`] if the record is damaged.
    pub fn device(&self, name: &str) -> Result<Option<DeviceRecord>, OwnerError> {
        let path = self.record_path(name);
        if path.exists() { read_json(&path).map(Some) } else { Ok(None) }
    }

    /// Returns all enrolled devices, by name.
    ///
    /// # Errors
    /// [`OwnerError`] if a record is damaged.
    pub fn devices(&self) -> Result<BTreeMap<String, DeviceRecord>, OwnerError> {
        let named = |name: &String| Ok(self.device(name)?.map(|record| (name.clone(), record)));
        self.settings().devices.keys().filter_map(|name| named(name).transpose()).collect()
    }

    /// Returns the streams that a device with these settings would send for the declared questions.
    ///
    /// # Errors
    /// [`OwnerError`] if a question cannot be read, or no parameters are suitable.
    pub fn streams_for(&self, device: &str, settings: &DeviceSettings) -> Result<Vec<Chosen>, OwnerError> {
        let questions = self.declared()?;
        let streams = needs::of_device(self.settings(), &questions, device, settings);
        self.chosen(&streams)
    }

    /// Returns the streams that a device with these settings would send for one question.
    ///
    /// # Errors
    /// [`OwnerError::NoParameters`] if no parameters are suitable.
    pub fn streams_for_question(
        &self,
        device: &str,
        settings: &DeviceSettings,
        question: &crate::question::Question,
    ) -> Result<Vec<Chosen>, OwnerError> {
        let questions = BTreeMap::from([(question.to_string(), question.clone())]);
        let mut streams = needs::of_device(self.settings(), &questions, device, settings);
        streams.retain(|stream| !stream.questions.is_empty());
        self.chosen(&streams)
    }

    /// Returns the streams of each declared device for one question (None: for all declared ones). If no device is
    /// declared, those of a device with all channels.
    ///
    /// # Errors
    /// [`OwnerError::Unanswerable`] if no channel is declared; another [`OwnerError`] if a question cannot be read, or
    /// no parameters are suitable.
    pub fn planned_streams(
        &self,
        question: Option<&str>,
    ) -> Result<BTreeMap<String, Vec<Chosen>>, OwnerError> {
        let question = question.map(|text| self.question(text)).transpose()?;
        let declared = self.settings().devices.iter();
        let mut devices: Vec<(String, DeviceSettings)> =
            declared.map(|(name, device)| (name.clone(), device.clone())).collect();
        if devices.is_empty() {
            let channels: Vec<String> = self.settings().channels.keys().cloned().collect();
            if channels.is_empty() {
                let none = "no channel is declared yet: sotto channel add NAME …".to_owned();
                return Err(OwnerError::Unanswerable(none));
            }
            let settings = DeviceSettings { channels, public: false };
            devices.push(("a device with all channels".to_owned(), settings));
        }
        let streams = |(name, settings): (String, DeviceSettings)| {
            let streams = match &question {
                Some(question) => self.streams_for_question(&name, &settings, question)?,
                None => self.streams_for(&name, &settings)?,
            };
            Ok((name, streams))
        };
        devices.into_iter().map(streams).collect()
    }

    fn chosen(&self, streams: &[needs::StreamNeeds]) -> Result<Vec<Chosen>, OwnerError> {
        let choose = |stream: &needs::StreamNeeds| {
            let channels: Vec<_> =
                stream.channels.iter().filter_map(|name| self.settings().channel(name)).collect();
            choose::choose(stream, &channels)
        };
        streams.iter().map(choose).collect()
    }

    /// Checks that a device can be enrolled and its bundle written, before anything is declared or made.
    ///
    /// # Errors
    /// [`OwnerError::Exists`] if the bundle or the record exists, [`OwnerError::HeldSecret`] if a secret does.
    pub fn can_enrol(&self, name: &str, bundle: &Path) -> Result<(), OwnerError> {
        let [record, secrets @ ..] = self.device_files(name);
        for path in [bundle.to_owned(), record] {
            if path.exists() {
                return Err(OwnerError::Exists { path });
            }
        }
        match secrets.into_iter().find(|path| path.exists()) {
            Some(path) => Err(OwnerError::HeldSecret { device: name.to_owned(), path }),
            None => Ok(()),
        }
    }

    /// Enrols a device declared in `sotto.toml`: generates its secret and signing key, and writes its bundle, the one
    /// file that it needs. A failed enrolment leaves neither.
    ///
    /// # Errors
    /// As [`Self::can_enrol`]; another [`OwnerError`] if no parameters are suitable, or a file cannot be written.
    pub fn enrol(&self, name: &str, bundle: &Path) -> Result<Enrolled, OwnerError> {
        self.can_enrol(name, bundle)?;
        let streams = self.streams_of(name)?;
        let mut rng = secure_rng().map_err(|_| OwnerError::Randomness)?;
        let (secret, identity) = (DeviceSecret::generate(&mut rng), SigningIdentity::generate(&mut rng));
        let mut made = Unfinished::default();
        let [_, key, signing] = self.device_files(name);
        // Each write fails if the file exists.
        let mode = Protection::FileMode;
        KeyFile::Device.write(&key, secret.expose_secret_bytes(), &mode, &mut rng)?;
        made.files.push(key);
        KeyFile::Signing.write(&signing, identity.expose_secret_bytes(), &mode, &mut rng)?;
        made.files.push(signing);
        let record = DeviceRecord {
            version: 1,
            device: name.to_owned(),
            verifying_key: hex::encode(identity.verifying_key()),
            bundles: Vec::new(),
        };
        let enrolled = self.bundle(record, (secret, identity), streams, bundle, &mut rng)?;
        made.files.clear();
        Ok(enrolled)
    }

    /// Makes a new bundle for an enrolled device, for the questions declared now.
    ///
    /// # Errors
    /// [`OwnerError`] if it is not enrolled, no parameters are suitable, or the file exists.
    pub fn renew(&self, name: &str, bundle: &Path) -> Result<Enrolled, OwnerError> {
        let not_enrolled = || OwnerError::NotDeclared { kind: "enrolled device", name: name.to_owned() };
        let record = self.device(name)?.ok_or_else(not_enrolled)?;
        let streams = self.streams_of(name)?;
        if bundle.exists() {
            return Err(OwnerError::Exists { path: bundle.to_owned() });
        }
        let mut rng = secure_rng().map_err(|_| OwnerError::Randomness)?;
        let identity = KeyFile::Signing.read(&self.secret_path(&signing_file(name)), None)?;
        let secrets = (self.secret(name)?, SigningIdentity::from_bytes(&identity));
        self.bundle(record, secrets, streams, bundle, &mut rng)
    }

    /// Returns a device's secret, from which its keys are derived.
    pub(crate) fn secret(&self, name: &str) -> Result<DeviceSecret, OwnerError> {
        let bytes = KeyFile::Device.read(&self.secret_path(&secret_file(name)), None)?;
        Ok(DeviceSecret::from_bytes(&bytes))
    }

    /// Returns a device's secret; None if its file is gone, as `sotto device remove --destroy-secret` leaves it.
    pub(crate) fn held_secret(&self, name: &str) -> Result<Option<DeviceSecret>, OwnerError> {
        match self.secret(name) {
            Err(OwnerError::Key(KeyFileError::Io { error, .. })) if error.kind() == ErrorKind::NotFound => {
                Ok(None)
            }
            read => read.map(Some),
        }
    }

    fn streams_of(&self, name: &str) -> Result<Vec<Chosen>, OwnerError> {
        let device = self.settings().devices.get(name);
        let device =
            device.ok_or_else(|| OwnerError::NotDeclared { kind: "device", name: name.to_owned() })?;
        self.streams_for(name, device)
    }

    fn bundle(
        &self,
        mut record: DeviceRecord,
        (secret, identity): (DeviceSecret, SigningIdentity),
        streams: Vec<Chosen>,
        path: &Path,
        rng: &mut impl SecretRng,
    ) -> Result<Enrolled, OwnerError> {
        self.keep_verifying_key(&record)?;
        let mut profiles: Vec<StreamProfile> =
            streams.iter().map(|stream| stream.profile(record.bundles.len())).collect();
        if self.settings().share_masks {
            let plant = self.fleet_tag()?;
            for profile in &mut profiles {
                let header = stream_header(&record.device, &secret, profile)?;
                let id = header.map(|header| fleet_id(&plant, &profile.stream, &header.common()));
                profile.fleet = id.map(FleetId);
            }
        }
        let profile = DeviceProfile {
            device: record.device.clone(),
            period_ms: profiles.iter().filter_map(|stream| stream.period_ms).min().unwrap_or(1),
            zone: Some(self.settings().time_zone.clone()),
            cloud_keys: self.cloud_keys()?.shown().into_iter().take(MOST_CLOUD_KEYS).collect(),
            streams: profiles.clone(),
        };
        let json = profile
            .to_json()
            .map_err(|error| OwnerError::Damaged { path: path.to_owned(), reason: error.to_string() })?;
        let public = profiles.iter().any(|stream| stream.public);
        let specs = streams.iter().map(|stream| &stream.spec);
        let public = public.then(|| public_keys(&secret, specs, rng)).transpose()?;
        record.bundles.push(BundleRecord { made_at: Timestamp::now().as_millisecond(), streams: profiles });
        let enrolment = enrolment(&record, &secret)?;
        let cloud = self.settings().cloud.url.clone();
        let keys = public.map_or(DeviceKeys::Secret(secret), DeviceKeys::Public);
        let bundle = DeviceBundle { keys, identity, cloud, authority: self.authority()?, profile: json };
        bundle.write(path, &Protection::FileMode, rng)?;
        // Written last, when everything that the record refers to exists.
        let recorded = write_private(&self.enrolment_path(&record.device), &pretty(&enrolment)?)
            .and_then(|()| write_whole(&self.record_path(&record.device), &pretty(&record)?));
        if let Err(error) = recorded {
            let _ = std::fs::remove_file(path);
            return Err(error);
        }
        Ok(Enrolled { bundle: path.to_owned(), streams })
    }

    /// Returns the public random tag that distinguishes this plant's fleets from others'. A plant that loses it makes
    /// new fleets.
    fn fleet_tag(&self) -> Result<[u8; 16], OwnerError> {
        let path = self.path(FLEET_TAG);
        if path.exists() {
            let damaged = || OwnerError::Damaged {
                path: path.clone(),
                reason: "it is no 32 hexadecimal digits: delete it, then renew the bundles of all devices"
                    .to_owned(),
            };
            let text = std::fs::read_to_string(&path).map_err(io(&path))?;
            let bytes = hex::decode(text.trim()).map_err(|_| damaged())?;
            return bytes.try_into().map_err(|_| damaged());
        }
        let tag = random::<16>()?;
        write_whole(&path, format!("{}\n", hex::encode(tag)).as_bytes())?;
        Ok(tag)
    }

    /// Returns the paths of a device's record and secrets.
    pub(crate) fn device_files(&self, name: &str) -> [PathBuf; 3] {
        let [key, signing] = [secret_file(name), signing_file(name)].map(|file| self.secret_path(&file));
        [self.record_path(name), key, signing]
    }

    /// Returns all stored records, including those of devices that are no longer in `sotto.toml`.
    ///
    /// # Errors
    /// [`OwnerError`] if a record is damaged.
    pub(crate) fn all_records(&self) -> Result<BTreeMap<String, DeviceRecord>, OwnerError> {
        let folder = self.path("devices");
        let mut records = BTreeMap::new();
        for entry in std::fs::read_dir(&folder).map_err(io(&folder))? {
            let name = entry.map_err(io(&folder))?.file_name();
            let Some(name) = name.to_str().and_then(|name| name.strip_suffix(".json")) else { continue };
            if let Some(record) = self.device(name)? {
                records.insert(name.to_owned(), record);
            }
        }
        Ok(records)
    }

    fn record_path(&self, name: &str) -> PathBuf {
        self.path("devices").join(format!("{name}.json"))
    }

    pub(crate) fn enrolment_path(&self, name: &str) -> PathBuf {
        self.path("enrolments").join(format!("{name}.json"))
    }

    /// Returns true if `keys` includes every key that the device may encrypt under.
    pub(crate) fn is_registered(&self, name: &str, keys: &[ListedKey]) -> Result<bool, OwnerError> {
        let enrolment: Enrolment = read_json(&self.enrolment_path(name))?;
        let there = |key: &EnrolledKey| {
            keys.iter().any(|known| known.parameter_id == key.parameter_id && known.key_id == key.key_id)
        };
        Ok(enrolment.keys.iter().all(there))
    }

    /// Registers a device with the cloud: its parameters, its verifying key, the ids of its keys, its streams.
    ///
    /// # Errors
    /// [`OwnerError::Cloud`] if the cloud is unreachable or refuses; another [`OwnerError`] if the enrolment cannot be
    /// read.
    pub fn register(&self, cloud: &sotto_cloud_client::Cloud, name: &str) -> Result<(), OwnerError> {
        let enrolment: Enrolment = read_json(&self.enrolment_path(name))?;
        for parameters in &enrolment.parameters {
            cloud.put_parameters(&hex::decode(parameters).unwrap_or_default())?;
        }
        let key = |key: &EnrolledKey| RegisteredKey {
            parameter_id: key.parameter_id.clone(),
            key_id: key.key_id.clone(),
        };
        let keys: Vec<RegisteredKey> = enrolment.keys.iter().map(key).collect();
        Ok(cloud.put_device(name, &enrolment.verifying_key, &keys, &enrolment.streams)?)
    }
}

/// Collects the parameters, keys and streams of all bundles, because the cloud accepts windows of older bundles too.
fn enrolment(record: &DeviceRecord, secret: &DeviceSecret) -> Result<Enrolment, OwnerError> {
    let mut parameters: Vec<String> =
        record.bundles.iter().flat_map(|bundle| &bundle.streams).map(|s| s.parameters.clone()).collect();
    parameters.sort_unstable();
    parameters.dedup();
    let key = |frame: &String| {
        let id = parameter_spec(frame)?.id();
        Ok(EnrolledKey { parameter_id: id.to_string(), key_id: secret.key_id(&id).to_string() })
    };
    let keys = parameters.iter().map(key).collect::<Result<_, OwnerError>>()?;
    let (device, verifying_key) = (record.device.clone(), record.verifying_key.clone());
    let streams = record
        .bundles
        .iter()
        .flat_map(|bundle| &bundle.streams)
        .filter_map(|profile| stream_header(&device, secret, profile).transpose())
        .map(|header| Ok(hex::encode(header?.write())))
        .collect::<Result<_, OwnerError>>()?;
    Ok(Enrolment { device, verifying_key, parameters, keys, streams })
}

/// Returns the header of a stream; None if its envelopes are of version 1.
fn stream_header(
    device: &str,
    secret: &DeviceSecret,
    profile: &StreamProfile,
) -> Result<Option<StreamHeader>, OwnerError> {
    let id = parameter_spec(&profile.parameters)?.id();
    StreamHeader::of_profile(device, 1, profile, (id, secret.key_id(&id)))
        .map_err(|error| OwnerError::NoParameters(format!("stream {}: {error}", profile.stream)))
}

/// Reads the parameters from a frame in hexadecimal.
pub(crate) fn parameter_spec(frame: &str) -> Result<ParameterSpec, OwnerError> {
    let wrong =
        |reason: String| OwnerError::NoParameters(format!("stored parameters cannot be read: {reason}"));
    let frame = hex::decode(frame).map_err(|error| wrong(error.to_string()))?;
    sotto_wire::read_parameters(&frame).map_err(|error| wrong(error.to_string()))
}
