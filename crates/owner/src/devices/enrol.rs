//! Enrolment of devices: their secrets, streams and bundles.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use sotto_keys::{DeviceBundle, DeviceKeys, DeviceSecret, KeyFile, Protection, SigningIdentity};
use sotto_pack::{DeviceProfile, MOST_CLOUD_KEYS, Period, StreamProfile};
use sotto_ring::{SecretRng, secure_rng};

use super::numbers::Number;
use super::records::{BundleRecord, DeviceRecord, spec_of};
use super::register::Enrolment;
use super::writer::Writer;
use super::{records, register, secrets, streams, verifying, writer};
use crate::declared;
use crate::declared::Plant;
use crate::error::OwnerError;
use crate::public_keys::public_keys;
use crate::streams::Chosen;

/// The result of an enrolment.
///
/// Example: [`Enrolment`](crate::Enrolment)
#[derive(Debug)]
pub struct Enrolled {
    /// The file of the bundle.
    pub bundle: PathBuf,
    /// The streams with their parameters.
    pub streams: Vec<Chosen>,
    /// The reason why the cloud has not registered the bundle yet; None if it has.
    pub not_registered: Option<OwnerError>,
}

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

/// Checks that a device can be enrolled and its bundle written, before anything is declared or made.
pub(crate) fn can_enrol(plant: &Plant, name: &str, bundle: &Path) -> Result<(), OwnerError> {
    let [record, secrets @ ..] = secrets::device_files(plant, name);
    if record.exists() {
        return Err(OwnerError::Exists { path: record });
    }
    if let Some(path) = secrets.into_iter().find(|path| path.exists()) {
        return Err(OwnerError::HeldSecret { device: name.to_owned(), path });
    }
    if bundle.exists() { Err(OwnerError::BundleExists { path: bundle.to_owned() }) } else { Ok(()) }
}

/// Enrols a device declared in `sotto.toml`: generates its secret and signing key, and writes its bundle, the one
/// file that it needs. A failed enrolment leaves neither.
pub(crate) fn enrol(plant: &Plant, name: &str, bundle: &Path) -> Result<Enrolled, OwnerError> {
    can_enrol(plant, name, bundle)?;
    let streams = streams_of(plant, name)?;
    let mut rng = secure_rng().map_err(|_| OwnerError::Randomness)?;
    let (secret, identity) = (DeviceSecret::generate(&mut rng), SigningIdentity::generate(&mut rng));
    let mut made = Unfinished::default();
    let [_, key, signing] = secrets::device_files(plant, name);
    // Each write fails if the file exists.
    plant.secrets().write(KeyFile::Device, &key, secret.expose_secret_bytes())?;
    made.files.push(key);
    plant.secrets().write(KeyFile::Signing, &signing, identity.expose_secret_bytes())?;
    made.files.push(signing);
    let record = DeviceRecord {
        version: 1,
        device: plant.wire_device(name).to_owned(),
        verifying_key: hex::encode(identity.verifying_key()),
        bundles: Vec::new(),
        removed: None,
        generation: 0,
        unregistered: false,
        came_back: false,
    };
    let secrets = Secrets { encryption: secret, signing: identity, are_new: true };
    let enrolled = make_bundle(plant, &record, secrets, streams, bundle, &mut rng)?;
    made.files.clear();
    Ok(enrolled)
}

/// Puts the secrets of a device without a record aside: into `secrets/old`, with the time in their names. Returns their
/// new paths.
pub(crate) fn put_secrets_aside(plant: &Plant, name: &str) -> Result<Vec<PathBuf>, OwnerError> {
    let [_, secrets @ ..] = secrets::device_files(plant, name);
    secrets.into_iter().filter(|path| path.exists()).map(|path| plant.secrets().put_aside(&path)).collect()
}

/// Returns the streams of a new bundle for an enrolled device, for the questions declared now. Nothing is made.
pub(crate) fn renewable(plant: &Plant, name: &str, bundle: &Path) -> Result<Vec<Chosen>, OwnerError> {
    Ok(checked(plant, name, bundle)?.1)
}

/// Finds the record of an enrolled device, and chooses the streams of its next bundle.
fn checked(plant: &Plant, name: &str, bundle: &Path) -> Result<(DeviceRecord, Vec<Chosen>), OwnerError> {
    let not_enrolled = || OwnerError::NotDeclared { kind: "enrolled device", name: name.to_owned() };
    let record = records::record(plant, name)?.ok_or_else(not_enrolled)?;
    let streams = streams_of(plant, name)?;
    if bundle.exists() {
        return Err(OwnerError::BundleExists { path: bundle.to_owned() });
    }
    Ok((record, streams))
}

/// Makes a new bundle for an enrolled device, for the questions declared now.
pub(crate) fn renew(plant: &Plant, name: &str, bundle: &Path) -> Result<Enrolled, OwnerError> {
    let (record, streams) = checked(plant, name, bundle)?;
    let mut rng = secure_rng().map_err(|_| OwnerError::Randomness)?;
    let secrets = Secrets {
        encryption: secrets::secret(plant, name)?,
        signing: secrets::identity(plant, name)?,
        are_new: false,
    };
    make_bundle(plant, &record, secrets, streams, bundle, &mut rng)
}

fn streams_of(plant: &Plant, name: &str) -> Result<Vec<Chosen>, OwnerError> {
    let device = plant.settings().devices.get(name);
    let device = device.ok_or_else(|| OwnerError::NotDeclared { kind: "device", name: name.to_owned() })?;
    streams::streams_for(plant, name, device)
}

/// The secrets of a device.
struct Secrets {
    /// The secret from which its encryption keys are derived.
    encryption: DeviceSecret,
    /// The key with which it signs.
    signing: SigningIdentity,
    /// True if no bundle was made with them.
    are_new: bool,
}

/// A record with a new bundle, and the registration that names it.
struct Prepared {
    record: DeviceRecord,
    streams: Vec<StreamProfile>,
    enrolment: Enrolment,
}

/// Adds a bundle with this number to a record.
fn prepare(
    plant: &Plant,
    mut record: DeviceRecord,
    secret: &DeviceSecret,
    streams: &[Chosen],
    number: &Number,
    rng: &mut impl SecretRng,
) -> Result<Prepared, OwnerError> {
    let profile = |chosen: &Chosen| chosen.profile(number.stream(&chosen.stream.name()));
    let mut profiles: Vec<StreamProfile> = streams.iter().map(profile).collect();
    for channel in profiles.iter_mut().flat_map(|profile| &mut profile.channels) {
        channel.name = plant.settings().wire_channel(&channel.name).to_owned();
    }
    // A device that is declared again is not removed any more.
    record.removed = None;
    record
        .bundles
        .push(BundleRecord { made_at: Timestamp::now().as_millisecond(), streams: profiles.clone() });
    let enrolment = register::enrolment(&record, secret, rng)?;
    Ok(Prepared { record, streams: profiles, enrolment })
}

/// Registers a bundle before anybody has it. Returns the generation, or the reason why the cloud cannot be asked; None if
/// it has another registration than `expected`.
fn register_first(
    plant: &Plant,
    prepared: &Prepared,
    expected: bool,
) -> Result<Option<Result<u64, OwnerError>>, OwnerError> {
    let Prepared { record, enrolment, .. } = prepared;
    let put = plant.cloud().and_then(|cloud| {
        let writer = Writer::of(plant, &cloud, record);
        if expected { writer.put_expected(enrolment) } else { writer.put(enrolment).map(Some) }
    });
    match put {
        Ok(generation) => Ok(generation.map(Ok)),
        Err(OwnerError::OtherCopy { device, write, unregistered }) => {
            // The bundle that is not made does not count.
            let unregistered = unregistered.map(|number| number - 1);
            Err(OwnerError::OtherCopy { device, write, unregistered })
        }
        Err(error @ OwnerError::OtherDevice { .. }) => Err(error),
        Err(error) => Ok(Some(Err(error))),
    }
}

fn make_bundle(
    plant: &Plant,
    record: &DeviceRecord,
    secrets: Secrets,
    streams: Vec<Chosen>,
    path: &Path,
    rng: &mut impl SecretRng,
) -> Result<Enrolled, OwnerError> {
    let Secrets { encryption: secret, signing: identity, are_new } = secrets;
    verifying::keep_verifying_key(plant, record)?;
    let number = Number::next(plant, record);
    let mut prepared = prepare(plant, record.clone(), &secret, &streams, &number, rng)?;
    // A record that came back may lack bundles, and without its record a registration hides those that it knows.
    let may_repeat = !are_new && (record.came_back || prepared.enrolment.record.is_none());
    let first = if may_repeat { None } else { register_first(plant, &prepared, !are_new)? };
    let registered = match first {
        Some(registered) if registered.is_ok() || are_new => registered,
        away => {
            // Another copy of the folder may give the number too.
            prepared = prepare(plant, record.clone(), &secret, &streams, &number.tagged()?, rng)?;
            match away {
                Some(away) => away,
                None => register_first(plant, &prepared, false)?.unwrap_or(Ok(record.generation)),
            }
        }
    };
    let generation = registered.as_ref().map_or(record.generation, |generation| *generation);
    prepared.record.generation = generation;
    prepared.enrolment.generation = generation;
    prepared.record.unregistered = registered.is_err();
    let written =
        write_bundle(plant, &prepared, Secrets { encryption: secret, signing: identity, are_new }, path, rng);
    if let Err(error) = written {
        // The cloud knows a bundle that nobody has: a new device is revoked, which frees its name.
        match (&registered, are_new) {
            (Ok(_), true) => drop(writer::revoke_new(plant, &prepared.record)),
            (Ok(_), false) => {
                drop(register::replace(plant, record, &prepared.record, &prepared.enrolment));
            }
            (Err(_), _) => {}
        }
        return Err(error);
    }
    // Written last, when everything that the record refers to exists.
    if let Err(error) = register::replace(plant, record, &prepared.record, &prepared.enrolment) {
        let _ = std::fs::remove_file(path);
        return Err(error);
    }
    Ok(Enrolled { bundle: path.to_owned(), streams, not_registered: registered.err() })
}

fn write_bundle(
    plant: &Plant,
    prepared: &Prepared,
    secrets: Secrets,
    path: &Path,
    rng: &mut impl SecretRng,
) -> Result<(), OwnerError> {
    let Secrets { encryption: secret, signing: identity, .. } = secrets;
    let Prepared { record, streams: profiles, enrolment } = prepared;
    let public = profiles.iter().any(|stream| stream.public);
    let profile = DeviceProfile {
        device: record.device.clone(),
        period_ms: profiles
            .iter()
            .filter_map(|stream| stream.period_ms)
            .min()
            .unwrap_or(Period::from_milliseconds(1)),
        zone: Some(plant.settings().time_zone.clone()),
        cloud_keys: declared::cloud_keys(plant)?.shown().into_iter().take(MOST_CLOUD_KEYS).collect(),
        owner_key: Some(hex::encode(plant.secrets().owner_key()?)),
        streams: profiles.clone(),
        derived: plant.settings().derived_in(profiles),
        record: enrolment.record.clone(),
    };
    let json = profile
        .to_json()
        .map_err(|error| OwnerError::Damaged { path: path.to_owned(), reason: error.to_string() })?;
    let specs = profiles.iter().filter_map(|stream| spec_of(stream).transpose());
    let specs = specs.collect::<Result<Vec<_>, _>>()?;
    let public = public.then(|| public_keys(&secret, specs.iter(), rng)).transpose()?;
    let cloud = plant.settings().cloud.url.clone();
    let bundle = DeviceBundle {
        keys: public.map_or(DeviceKeys::Secret(secret), DeviceKeys::Public),
        identity,
        cloud,
        authority: declared::authority(plant.folder(), &plant.settings().cloud)?,
        profile: json,
    };
    Ok(bundle.write(path, &Protection::FileMode, rng)?)
}
