//! Records that come back: from the registration, the cloud, or a bundle.

use std::path::Path;

use serde::Serialize;
use sotto_keys::{DeviceBundle, DeviceKeys, DeviceSecret, KeyFile, SigningIdentity};
use sotto_pack::{Channel, DeviceProfile, Encoding, StreamProfile};
use sotto_ring::secure_rng;

use super::records::{BundleRecord, DeviceRecord};
use super::register::declared_for;
use super::sealed::Copy;
use super::secrets::{device_files, held_secret};
use super::{key_names, records, register, verifying};
use crate::declared::settings::ChannelSettings;
use crate::declared::{Plant, edit};
use crate::error::OwnerError;

/// Where a record came from.
///
/// Example: [`Restored`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Found {
    /// The record was in its place, and none is newer.
    Here,
    /// The device's registration in the folder.
    Registration,
    /// The cloud.
    Cloud,
    /// The bundle.
    Bundle,
}

/// A device whose record is in its place again.
///
/// ```no_run
/// use sotto_owner::{Found, Plant, Restored};
///
/// let mut plant = Plant::open("dairy".as_ref())?;
/// let boiler: Restored = plant.adopt("boiler.bundle".as_ref())?;
/// assert!(boiler.bundles >= 1 && boiler.from != Found::Here);
/// # Ok::<(), sotto_owner::OwnerError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Restored {
    /// The device's name.
    pub device: String,
    /// Where its record came from.
    pub from: Found,
    /// Number of bundles that the record knows.
    pub bundles: usize,
    /// The reason why the cloud was not asked. A newer bundle may then be missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cloud_is_away: Option<String>,
    /// Channels that were put back into `sotto.toml`.
    pub channels: Vec<String>,
}

/// Brings back the record of a device whose secret is in the folder, from its registration or the cloud, whichever is
/// newer.
pub(crate) fn restore(plant: &Plant, name: &str) -> Result<Restored, OwnerError> {
    let not_enrolled = || OwnerError::NotDeclared { kind: "enrolled device", name: name.to_owned() };
    let secret = held_secret(plant, name)?.ok_or_else(not_enrolled)?;
    let (copies, away) = copies(plant, &secret, name);
    let restored = keep_newest(plant, &secret, name, None, copies, away)?;
    let [_, key, _] = device_files(plant, name);
    restored.ok_or(OwnerError::HeldSecret { device: name.to_owned(), path: key })
}

/// Takes a device from its bundle: writes the secrets that are missing here, and the newest of the records that bundle,
/// folder and cloud have. Puts the device back into `sotto.toml`, with channels that are not declared.
pub(crate) fn adopt(plant: &mut Plant, path: &Path) -> Result<Restored, OwnerError> {
    let bundle = DeviceBundle::read(path, None)?;
    let damaged = |reason: String| OwnerError::Damaged { path: path.to_owned(), reason };
    let profile = DeviceProfile::parse(&bundle.profile).map_err(|error| damaged(error.to_string()))?;
    let name = profile.device.clone();
    let held = held_secret(plant, &name)?;
    let secret = match (bundle.keys, held) {
        (DeviceKeys::Secret(secret), held) => {
            let is_other = held.is_some_and(|held| !is_same(&held, &secret));
            if is_other {
                return Err(OwnerError::OtherSecret { device: name, path: path.to_owned() });
            }
            secret
        }
        (DeviceKeys::Public(_), Some(held)) => held,
        (DeviceKeys::Public(_), None) => {
            let reason = format!(
                "it holds public keys in place of the secret of {name}, which is not in the folder of secrets either: what the device sent can no longer be decrypted"
            );
            return Err(damaged(reason));
        }
    };
    let own = hex::encode(bundle.identity.verifying_key());
    let is_others = |record: DeviceRecord| record.verifying_key != own;
    let here = records::record(plant, &name).ok().flatten();
    let is_held = device_files(plant, &name)[1].exists();
    // Without the secret, record and registration tell whose bundle it is.
    if !is_held && (here.is_some_and(is_others) || !key_names::are_of(plant, &name, &secret)) {
        return Err(OwnerError::OtherSecret { device: name, path: path.to_owned() });
    }
    let (mut copies, away) = copies(plant, &secret, &name);
    let sealed = profile.record.as_deref().and_then(|sealed| Copy::open_text(&secret, &name, sealed));
    let of_bundle = sealed.unwrap_or_else(|| of_profile(&profile, &bundle.identity, made_at(path)));
    copies.push((Found::Bundle, of_bundle));
    let restored = keep_newest(plant, &secret, &name, Some(&own), copies, away)?;
    // Only now: the bundle is whole, and of this device.
    keep_secrets(plant, &name, &secret, &bundle.identity)?;
    let mut restored = restored.ok_or_else(|| damaged("it has no streams".to_owned()))?;
    restored.channels = declare(plant, &profile)?;
    Ok(restored)
}

/// Returns the copies in the folder and in the cloud, and the reason if the cloud cannot be asked.
fn copies(plant: &Plant, secret: &DeviceSecret, name: &str) -> (Vec<(Found, Copy)>, Option<String>) {
    let here = register::registered_copy(plant, secret, name).map(|copy| (Found::Registration, copy));
    let mut copies: Vec<(Found, Copy)> = here.into_iter().collect();
    let name = plant.wire_device(name);
    let asked = plant.cloud().and_then(|cloud| Ok(cloud.sealed_record(name)?));
    let away = match asked {
        Ok(sealed) => {
            let opened = sealed.and_then(|stored| {
                let mut copy = Copy::open(secret, name, &stored.sealed)?;
                copy.record.generation = stored.generation;
                Some(copy)
            });
            copies.extend(opened.map(|copy| (Found::Cloud, copy)));
            None
        }
        Err(error) => Some(error.to_string()),
    };
    (copies, away)
}

/// Writes the newest of the copies with the bundles of all others, unless the record in its place has them. Returns None if
/// there is no copy. A record in its place with another verifying key than `own` is no copy.
fn keep_newest(
    plant: &Plant,
    secret: &DeviceSecret,
    name: &str,
    own: Option<&str>,
    copies: Vec<(Found, Copy)>,
    cloud_is_away: Option<String>,
) -> Result<Option<Restored>, OwnerError> {
    let lock = plant.lock_folder()?;
    // A damaged record is as good as none.
    let here = records::record(plant, name).ok().flatten();
    let here = here.filter(|record| own.is_none_or(|own| record.verifying_key == own));
    let here = here.map(|record| (Found::Here, Copy { record }));
    // Of equal ones the first, so that the record in its place stays.
    let all: Vec<(Found, Copy)> = here.into_iter().chain(copies).collect();
    let newest = all.iter().reduce(|best, next| if next.1.age() > best.1.age() { next } else { best });
    let Some((mut from, Copy { record })) = newest.cloned() else { return Ok(None) };
    let mut record = DeviceRecord { removed: None, ..record };
    for (found, Copy { record: other }) in &all {
        let is_of_same_key = other.verifying_key == record.verifying_key;
        if is_of_same_key && !record.merge(&other.bundles).added.is_empty() && from == Found::Here {
            from = *found;
        }
    }
    if from != Found::Here {
        let in_cloud = all.iter().find(|(found, _)| *found == Found::Cloud);
        record.unregistered |= !in_cloud.is_some_and(|(_, copy)| copy.record.includes(&record));
        record.came_back |= from != Found::Cloud;
    }
    let enrolment = {
        let mut rng = secure_rng().map_err(|_| OwnerError::Randomness)?;
        register::enrolment(&record, secret, &mut rng)?
    };
    if from != Found::Here {
        records::put_aside(plant, name)?;
    }
    register::write(plant, &record, &enrolment)?;
    drop(lock);
    verifying::keep_verifying_key(plant, &record)?;
    let (device, bundles) = (plant.shown_device(name).to_owned(), record.bundles.len());
    Ok(Some(Restored { device, from, bundles, cloud_is_away, channels: Vec::new() }))
}

fn is_same(one: &DeviceSecret, other: &DeviceSecret) -> bool {
    let name = sotto_rlwe::ParameterId([0; 32]);
    // By the public names of keys that derive from them.
    one.key_id(&name) == other.key_id(&name)
}

/// Writes the secrets of a device that are not in the folder.
fn keep_secrets(
    plant: &Plant,
    name: &str,
    secret: &DeviceSecret,
    identity: &SigningIdentity,
) -> Result<(), OwnerError> {
    let [_, key, signing] = device_files(plant, name);
    if !key.exists() {
        plant.secrets().write(KeyFile::Device, &key, secret.expose_secret_bytes())?;
    }
    if !signing.exists() {
        plant.secrets().write(KeyFile::Signing, &signing, identity.expose_secret_bytes())?;
    }
    Ok(())
}

/// Returns what a bundle without a record tells: its own streams.
fn of_profile(profile: &DeviceProfile, identity: &SigningIdentity, made_at: i64) -> Copy {
    let record = DeviceRecord {
        version: 1,
        device: profile.device.clone(),
        verifying_key: hex::encode(identity.verifying_key()),
        bundles: vec![BundleRecord { made_at, streams: profile.streams.clone() }],
        removed: None,
        generation: 0,
        unregistered: false,
        came_back: false,
    };
    Copy { record }
}

/// Returns the time at which a file was written, in milliseconds since 1970; 0 if the system does not tell.
fn made_at(path: &Path) -> i64 {
    let modified = std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let since = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    since.and_then(|since| i64::try_from(since.as_millis()).ok()).unwrap_or(0)
}

/// Puts a device and its channels back into `sotto.toml`, as far as they are not there. Returns these channels.
fn declare(plant: &mut Plant, profile: &DeviceProfile) -> Result<Vec<String>, OwnerError> {
    // In the order of the streams.
    let mut missing: Vec<(&str, ChannelSettings)> = Vec::new();
    for stream in &profile.streams {
        for channel in &stream.channels {
            let name = channel.name.as_str();
            let is_there = plant.settings().channels.contains_key(plant.settings().shown_channel(name));
            if !is_there && missing.iter().all(|(other, _)| *other != name) {
                let every = stream.period_ms.unwrap_or(profile.period_ms);
                missing.push((
                    name,
                    ChannelSettings::of_channel(channel, every, is_comparable(profile, channel)),
                ));
            }
        }
    }
    for derived in &profile.derived {
        let every = profile.period_of(&derived.channel);
        for part in &derived.of {
            let name = part.name.as_str();
            let is_there = plant.settings().channels.contains_key(plant.settings().shown_channel(name));
            if !is_there && missing.iter().all(|(other, _)| *other != name) {
                missing.push((name, ChannelSettings::of_channel(part, every, false)));
            }
        }
        if let Some((_, channel)) = missing.iter_mut().find(|(name, _)| *name == derived.channel) {
            let shown = |wire: &str| plant.settings().shown_channel(wire).to_owned();
            channel.derived = Some(derived.formula.clone().renamed(shown));
        }
    }
    let device = &profile.device;
    let is_declared = plant.settings().devices.contains_key(plant.settings().shown_device(device));
    if !missing.is_empty() || !is_declared {
        let settings = declared_for(&profile.streams);
        let parts = profile.derived.iter().flat_map(|derived| &derived.of).map(|part| &part.name);
        let mut channels: Vec<String> = Vec::new();
        for name in settings.channels.iter().chain(parts) {
            let shown = plant.settings().shown_channel(name);
            if !channels.iter().any(|own| own == shown) {
                channels.push(shown.to_owned());
            }
        }
        plant.edit(|document| {
            missing.iter().try_for_each(|(name, channel)| edit::add_channel(document, name, channel))?;
            let add = if settings.public { edit::add_public_device } else { edit::add_device };
            if is_declared { Ok(()) } else { add(document, device, &channels) }
        })?;
    }
    Ok(missing.into_iter().map(|(name, _)| name.to_owned()).collect())
}

/// Returns true if the device sends a channel as whole steps, which the cloud compares.
fn is_comparable(profile: &DeviceProfile, channel: &Channel) -> bool {
    let of_steps =
        |stream: &&StreamProfile| stream.encoding == Encoding::Resolution && stream.slots.is_some();
    let mut streams = profile.streams.iter().filter(of_steps);
    streams.any(|stream| stream.channels.iter().any(|other| other.name == channel.name))
}
