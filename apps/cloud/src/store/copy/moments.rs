//! The moments of a backup.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::super::error::{StoreError, failed_to};
use super::{CATALOGUES, Folder};
use crate::objects::Objects;

/// How a moment is written in names: no colons, which some file systems refuse.
const FORM: &str = "%Y-%m-%dT%H-%M-%S.%3fZ";
const DATABASE: &str = ".sqlite";
const FILES: &str = ".files";

/// When the database of a backup was copied, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(pub(crate) i64);

impl Moment {
    fn name(self) -> Result<String, StoreError> {
        let at = Timestamp::from_millisecond(self.0);
        let at = at.map_err(|error| StoreError::Damaged(format!("a time: {error}")))?;
        Ok(at.strftime(FORM).to_string())
    }

    fn read(name: &str) -> Option<Self> {
        let at = DateTime::strptime(FORM, name).ok()?;
        Some(Self(at.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond()))
    }

    pub(super) fn database(self) -> Result<String, StoreError> {
        Ok(format!("{CATALOGUES}/{}{DATABASE}", self.name()?))
    }

    /// The list of the files that belong to it.
    pub(super) fn files(self) -> Result<String, StoreError> {
        Ok(format!("{CATALOGUES}/{}{FILES}", self.name()?))
    }

    /// Returns it as people write it.
    pub(crate) fn shown(self) -> String {
        Timestamp::from_millisecond(self.0).map_or_else(|_| self.0.to_string(), |at| at.to_string())
    }
}

/// Returns the moments to which a backup can be restored, the oldest first, with the bytes of their databases.
pub(crate) fn moments(of: &Objects) -> Result<Vec<(Moment, u64)>, StoreError> {
    let listed = of.list(CATALOGUES)?;
    let moment = |(name, bytes): (&String, &u64)| Some((Moment::read(name.strip_suffix(DATABASE)?)?, *bytes));
    Ok(listed.iter().filter_map(moment).collect())
}

/// Removes moments before a time, but not the newest, with the files that no later moment has. `scratch` is a file that may be
/// written. Returns the number of files that were removed.
pub(super) fn expire(of: &Objects, before: Moment, scratch: &Path) -> Result<usize, StoreError> {
    let listed = of.list(CATALOGUES)?;
    let all: BTreeSet<Moment> =
        listed.keys().filter_map(|name| Moment::read(name.strip_suffix(FILES)?)).collect();
    let whole: BTreeSet<Moment> = moments(of)?.into_iter().map(|(moment, _)| moment).collect();
    let Some(newest) = whole.last().copied() else { return Ok(0) };
    let is_old = |moment: &Moment| *moment < before && *moment < newest;
    let (expired, stay): (Vec<Moment>, Vec<Moment>) = all.into_iter().partition(is_old);
    if expired.is_empty() {
        return Ok(0);
    }
    let mut unnamed = BTreeSet::new();
    for moment in &expired {
        unnamed.extend(read_names(of, *moment, scratch)?);
    }
    for moment in stay {
        for name in read_names(of, moment, scratch)? {
            unnamed.remove(&name);
        }
    }
    // Databases go first, so that no moment names files that are gone, and lists last: an attempt that ends early is repeated.
    for moment in &expired {
        of.remove(&moment.database()?)?;
    }
    for name in &unnamed {
        of.remove(name)?;
    }
    for moment in &expired {
        of.remove(&moment.files()?)?;
    }
    Ok(unnamed.len() + 2 * expired.len())
}

/// Returns the files of a moment, with their folders.
fn read_names(of: &Objects, moment: Moment, scratch: &Path) -> Result<BTreeSet<String>, StoreError> {
    let _ = fs::remove_file(scratch);
    of.fetch(&moment.files()?, scratch)?;
    let text = fs::read_to_string(scratch).map_err(failed_to("read the list of a backup's files"))?;
    let _ = fs::remove_file(scratch);
    Ok(text.lines().filter(|name| is_ours(name)).map(str::to_owned).collect())
}

/// Returns true for the name of a file of a store: nothing else is ever removed.
fn is_ours(name: &str) -> bool {
    let is_folder = |folder: &str| Folder::ALL.iter().any(|known| known.name() == folder);
    let is_file = |file: &str| !file.is_empty() && file.bytes().all(|byte| byte.is_ascii_hexdigit());
    name.split_once('/').is_some_and(|(folder, file)| is_folder(folder) && is_file(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_moments_are_in_their_order() {
        let moments = [0, 1, 999, 1000, 1_764_430_200_123, 1_764_430_200_124].map(Moment);
        let names: Vec<String> = moments.iter().map(|moment| moment.name().unwrap()).collect();
        assert!(names.is_sorted(), "{names:?}");
        for (moment, name) in moments.iter().zip(&names) {
            assert_eq!(Moment::read(name), Some(*moment), "{name}");
        }
        assert_eq!(Moment(1_764_430_200_123).name().unwrap(), "2025-11-29T15-30-00.123Z");
        assert_eq!(Moment::read("2025-11-29T15-30-00.123"), None);
    }

    #[test]
    fn nothing_but_files_of_a_store_is_removed() {
        for (name, is) in [
            ("segments/00ff", true),
            ("segments/", false),
            ("segments/../lock", false),
            ("catalogues/00", false),
            ("00", false),
        ] {
            assert_eq!(is_ours(name), is, "{name}");
        }
    }
}
