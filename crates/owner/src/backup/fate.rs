//! The fate of each file of a backup in a folder that may have files already: no secret is overwritten, and no newer record.

use std::collections::BTreeMap;
use std::path::Path;

use sotto_keys::PlantKey;
use zeroize::Zeroizing;

use super::contents::{Entry, List};
use super::folder::digest;
use crate::devices::DeviceRecord;
use crate::error::OwnerError;
use crate::files::read_json;
use crate::secrets::{CLEAR, KEY, Secrets};

/// Contents of files that the decision needs.
pub(super) type Contents = BTreeMap<String, Zeroizing<Vec<u8>>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// The folder has the same.
    Same,
    /// The folder lacks it.
    Put,
    /// The folder has another, which is moved aside.
    Take,
    /// The folder has another, which stays.
    Keep,
    /// The folder has a newer one, which stays.
    Newer,
    /// The folder has another secret, which stays.
    Refuse,
}

/// Largest file whose contents decide about its fate, in bytes: 16 MiB.
pub(super) const LARGEST_DECIDING: u64 = 16 << 20;

/// Returns true for files whose contents decide: secrets, and records of devices.
pub(super) fn decides(path: &str) -> bool {
    path.starts_with("secrets/") || path.starts_with("devices/")
}

/// A folder that a backup is restored into.
pub(super) struct Target<'a> {
    pub(super) folder: &'a Path,
    pub(super) secrets: &'a Secrets,
    /// The key in the backup's head.
    pub(super) key: &'a PlantKey,
    pub(super) contents: &'a Contents,
    pub(super) replace: bool,
}

impl Target<'_> {
    /// Returns the fate of each file of the list, in its order.
    pub(super) fn fates(&self, list: &List) -> Result<Vec<Fate>, OwnerError> {
        let mut fates = Vec::with_capacity(list.files.len());
        let mut by_path: BTreeMap<&str, Fate> = BTreeMap::new();
        for entry in &list.files {
            let fate = self.fate(entry, &by_path)?;
            by_path.insert(&entry.path, fate);
            fates.push(fate);
        }
        // A log and its head belong together.
        let lacks = |path: &str| by_path.get(path) == Some(&Fate::Put);
        for (entry, fate) in list.files.iter().zip(&mut fates) {
            let other = match entry.path.rsplit_once('.') {
                Some((stem, "log")) => format!("{stem}.head"),
                Some((stem, "head")) => format!("{stem}.log"),
                _ => continue,
            };
            if *fate == Fate::Keep && lacks(&other) {
                *fate = Fate::Take;
            }
        }
        Ok(fates)
    }

    fn fate(&self, entry: &Entry, before: &BTreeMap<&str, Fate>) -> Result<Fate, OwnerError> {
        let path = self.folder.join(&entry.path);
        let here = digest(&path)?;
        if let Some(name) = entry.path.strip_prefix("secrets/") {
            return self.of_secret(name, &path, here.as_deref(), entry);
        }
        let Some(here) = here else { return Ok(Fate::Put) };
        if here == entry.digest {
            return Ok(Fate::Same);
        }
        if entry.path.starts_with("devices/") {
            return Ok(self.of_record(&path, entry));
        }
        if let Some(name) = entry.path.strip_prefix("enrolments/") {
            // It follows the record that it was made of.
            let record = before.get(format!("devices/{name}").as_str());
            return Ok(match record {
                Some(Fate::Take | Fate::Put) => Fate::Take,
                _ => Fate::Same,
            });
        }
        Ok(if self.replace { Fate::Take } else { Fate::Keep })
    }

    fn of_secret(
        &self,
        name: &str,
        path: &Path,
        here: Option<&str>,
        entry: &Entry,
    ) -> Result<Fate, OwnerError> {
        let Some(here) = here else {
            // A plant without a passphrase keeps none; secrets of the backup are written as it protects its own.
            let stays_clear = [KEY, CLEAR].contains(&name)
                && self.secrets.has_clear_ones()?
                && self.secrets.are_none_sealed().is_ok();
            return Ok(if stays_clear { Fate::Same } else { Fate::Put });
        };
        let bytes = self.contents.get(&entry.path);
        if here == entry.digest || name == CLEAR {
            return Ok(Fate::Same);
        }
        if name == KEY {
            let names = [
                self.secrets.key_file()?.and_then(|file| PlantKey::name_of(&file)),
                bytes.and_then(|file| PlantKey::name_of(file)),
            ];
            return Ok(if names[0] == names[1] { Fate::Same } else { Fate::Keep });
        }
        // Counts of results that were given away: those of the folder are later.
        if name.starts_with("flooding/") {
            return Ok(Fate::Newer);
        }
        let is_same = match bytes {
            Some(bytes) => self.secrets.is_same(path, bytes, self.key)?,
            None => false,
        };
        Ok(if is_same { Fate::Same } else { Fate::Refuse })
    }

    /// Compares the records of a device: the one with more bundles, or a later removal, is newer.
    fn of_record(&self, path: &Path, entry: &Entry) -> Fate {
        let age = |record: &DeviceRecord| {
            let last = record.bundles.last().map_or(i64::MIN, |bundle| bundle.made_at);
            (record.bundles.len(), last, record.removed.as_ref().map(|removal| removal.at))
        };
        let bytes = self.contents.get(&entry.path);
        let kept: Option<DeviceRecord> = bytes.and_then(|bytes| serde_json::from_slice(bytes).ok());
        match (read_json::<DeviceRecord>(path).ok(), kept) {
            (None, Some(_)) => Fate::Take,
            // A bundle that only the folder knows must stay known.
            (Some(here), Some(kept)) if age(&here) < age(&kept) && kept.includes(&here) => Fate::Take,
            (Some(here), Some(kept)) if here == kept => Fate::Same,
            _ => Fate::Newer,
        }
    }
}
