//! Files that a backup has and the folder has lost: secrets and records of devices stay in the backup.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

use sotto_keys::PlantKey;
use zeroize::Zeroizing;

use super::contents::{Entry, List};
use super::error::BackupError;
use super::fate::{LARGEST_DECIDING, decides};
use super::open::Backup;
use super::stream::Keys;
use crate::declared::Plant;
use crate::error::OwnerError;
use crate::secrets::CLEAR;

/// A file that the folder has lost, with its contents.
pub(super) type Brought = (Entry, Zeroizing<Vec<u8>>);

/// Returns the entries of `before` that the folder has lost: neither in `files`, nor put aside, nor destroyed by name since.
pub(super) fn lost<'l>(
    before: &'l List,
    files: &[Entry],
    destroyed: &BTreeMap<String, i64>,
) -> Vec<&'l Entry> {
    let has =
        |files: &[Entry], path: &str| files.binary_search_by(|entry| entry.path.as_str().cmp(path)).is_ok();
    let put_aside: BTreeSet<String> = files
        .iter()
        .filter(|entry| !has(&before.files, &entry.path))
        .filter_map(|entry| entry.path.strip_prefix("secrets/old/")?.rsplit_once('.'))
        .map(|(name, _)| format!("secrets/{name}"))
        .collect();
    let is_destroyed =
        |entry: &Entry| destroyed.get(&entry.path).is_some_and(|destroyed| entry.modified <= *destroyed);
    let is_passing = |path: &str| path.strip_prefix("secrets/") == Some(CLEAR);
    let of_secrets = before.files.iter().filter(|entry| decides(&entry.path) && !is_passing(&entry.path));
    of_secrets
        .filter(|entry| !has(files, &entry.path) && !put_aside.contains(&entry.path) && !is_destroyed(entry))
        .collect()
}

/// Reads lost files in a backup, protected as the plant protects its secrets. Those of a damaged segment are left out, and
/// the second value is true then.
pub(super) fn brought(
    plant: &Plant,
    backup: &mut Backup,
    key: &PlantKey,
    keys: &Keys,
    lost: &[&Entry],
) -> Result<(Vec<Brought>, bool), OwnerError> {
    let mut of_segments: BTreeMap<u32, BTreeMap<&str, &Entry>> = BTreeMap::new();
    for entry in lost {
        of_segments.entry(entry.segment).or_default().insert(&entry.path, entry);
    }
    let (mut all, mut is_damaged) = (Vec::new(), false);
    for wanted in of_segments.values() {
        let mut found: Vec<Brought> = Vec::new();
        let read = backup.files(keys, wanted, |entry, from| {
            let mut bytes = Zeroizing::new(Vec::new());
            from.take(LARGEST_DECIDING).read_to_end(&mut bytes)?;
            found.push((entry.clone(), bytes));
            Ok(())
        });
        match read {
            Ok(()) => all.extend(found),
            Err(OwnerError::Backup(BackupError::Damaged { .. })) => is_damaged = true,
            Err(error) => return Err(error),
        }
    }
    for (entry, bytes) in &mut all {
        if entry.path.starts_with("secrets/") {
            *bytes = plant.secrets().protected_here(&plant.path(&entry.path), bytes, key)?;
        }
        entry.bytes = bytes.len() as u64;
        entry.digest = blake3::hash(bytes).to_hex().to_string();
    }
    Ok((all, is_damaged))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(paths: &[&str]) -> Vec<Entry> {
        let entry = |path: &&str| Entry {
            path: (*path).to_owned(),
            mode: 0o600,
            modified: 5,
            bytes: 1,
            digest: String::new(),
            segment: 0,
        };
        paths.iter().map(entry).collect()
    }

    fn lost_of(before: &[&str], files: &[&str], destroyed: &[(&str, i64)]) -> Vec<String> {
        let list = List { version: 1, folders: Vec::new(), files: entries(before) };
        let destroyed = destroyed.iter().map(|(path, at)| ((*path).to_owned(), *at)).collect();
        lost(&list, &entries(files), &destroyed).into_iter().map(|entry| entry.path.clone()).collect()
    }

    #[test]
    fn only_secrets_and_records_that_nothing_removed_are_lost() {
        let all = ["answers/1.json", "devices/a.json", "secrets/a.key", "secrets/in-the-clear", "sotto.toml"];
        assert_eq!(lost_of(&all, &[], &[]), ["devices/a.json", "secrets/a.key"]);
        assert_eq!(lost_of(&all, &["secrets/a.key"], &[]), ["devices/a.json"]);
        // Destroyed, and made again later.
        assert_eq!(lost_of(&all, &[], &[("secrets/a.key", 5)]), ["devices/a.json"]);
        assert_eq!(lost_of(&all, &[], &[("secrets/a.key", 4)]), ["devices/a.json", "secrets/a.key"]);
        // Put aside; an earlier file of that name was put aside, and the present one is lost.
        let aside = "secrets/old/a.key.17";
        assert_eq!(lost_of(&all, &["devices/a.json", aside], &[]), [""; 0]);
        assert_eq!(lost_of(&["secrets/a.key", aside], &[aside], &[]), ["secrets/a.key"]);
    }
}
