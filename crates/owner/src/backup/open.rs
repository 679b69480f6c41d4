//! A backup that is read.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use sotto_keys::PlantKey;

use super::contents::{Entry, List, read_contents};
use super::error::BackupError;
use super::head::Heads;
use super::stream::{Keys, Opener};
use crate::error::{OwnerError, io};

/// A backup whose heads are read.
pub(super) struct Backup {
    path: PathBuf,
    file: File,
    pub(super) heads: Heads,
}

impl Backup {
    /// Opens a backup and reads its heads, without a passphrase.
    pub(super) fn open(path: &Path) -> Result<Self, OwnerError> {
        Self::of(path, File::open(path).map_err(io(path))?)
    }

    /// Reads the heads of an open file.
    pub(super) fn of(path: &Path, mut file: File) -> Result<Self, OwnerError> {
        let length = file.metadata().map_err(io(path))?.len();
        let heads = Heads::read(&mut file, length).map_err(io(path))?;
        let heads = heads.ok_or_else(|| BackupError::NoBackup { path: path.to_owned() })?;
        Ok(Self { path: path.to_owned(), file, heads })
    }

    pub(super) fn keys(&self, key: &PlantKey) -> Keys {
        Keys::new(key, &self.heads.head.plant, &self.heads.head.salt)
    }

    pub(super) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Returns the number of the last segment; None if there is none.
    pub(super) fn last(&self) -> Option<u32> {
        self.heads.last().map(|segment| segment.number)
    }

    /// Reads a segment: gives each file with its path and its bytes to `file`. Returns the segment's list.
    pub(super) fn read(
        &mut self,
        keys: &Keys,
        number: u32,
        file: impl FnMut(&str, &mut dyn Read) -> io::Result<()>,
    ) -> Result<List, OwnerError> {
        let failed = |path: &Path, reason: &str| BackupError::Damaged {
            path: path.to_owned(),
            segment: number,
            reason: reason.to_owned(),
        };
        let segment = usize::try_from(number).ok().and_then(|at| self.heads.segments.get(at)).copied();
        let (head, first) =
            segment.ok_or_else(|| failed(&self.path, "it is missing, or its head cannot be read"))?;
        self.file.seek(SeekFrom::Start(first)).map_err(io(&self.path))?;
        let associated = head.associated(&self.heads.list_before(number));
        let from = BufReader::with_capacity(1 << 17, &self.file);
        let mut opener = Opener::new(from, head.bytes, keys, &head.nonce, associated);
        let list = read_contents(&mut opener, file).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
                failed(&self.path, &error.to_string()).into()
            }
            _ => io(&self.path)(error),
        })?;
        let parsed = List::parse(&list).filter(|_| keys.digest(&list) == head.list);
        Ok(parsed.ok_or_else(|| failed(&self.path, "its list of files is damaged"))?)
    }

    /// Returns the list of the last segment.
    pub(super) fn list(&mut self, keys: &Keys) -> Result<List, OwnerError> {
        // Without one the first is damaged: a backup gets its name with a whole segment in it.
        self.read(keys, self.last().unwrap_or(0), |_, _| Ok(()))
    }

    /// Gives the present contents of each wanted file to `file`, segment by segment. Fails if one of them is missing, or its
    /// contents are not those of the list.
    pub(super) fn files(
        &mut self,
        keys: &Keys,
        wanted: &BTreeMap<&str, &Entry>,
        mut file: impl FnMut(&Entry, &mut dyn Read) -> io::Result<()>,
    ) -> Result<(), OwnerError> {
        let mut segments: Vec<u32> = wanted.values().map(|entry| entry.segment).collect();
        segments.sort_unstable();
        segments.dedup();
        for number in segments {
            let mut found = 0;
            self.read(keys, number, |path, from| {
                let Some(entry) = wanted.get(path).filter(|entry| entry.segment == number) else {
                    return Ok(());
                };
                found += 1;
                let mut hashed = Hashed { from, hasher: blake3::Hasher::new() };
                file(entry, &mut hashed)?;
                io::copy(&mut hashed, &mut io::sink())?;
                if hashed.hasher.finalize().to_hex().as_str() != entry.digest {
                    let reason = format!("{path} is not the file of the list");
                    return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
                }
                Ok(())
            })?;
            if found != wanted.values().filter(|entry| entry.segment == number).count() {
                let reason = "files of the list are missing".to_owned();
                return Err(BackupError::Damaged { path: self.path.clone(), segment: number, reason }.into());
            }
        }
        Ok(())
    }
}

struct Hashed<'f> {
    from: &'f mut dyn Read,
    hasher: blake3::Hasher,
}

impl Read for Hashed<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(out)?;
        self.hasher.update(&out[..read]);
        Ok(read)
    }
}

/// Reads a whole backup under a plant's key, for the fuzz targets. Returns the number of files in its last list.
///
/// # Errors
/// [`OwnerError`] if it is no backup, or damaged.
#[doc(hidden)]
pub fn walked_backup(path: &Path, key: &PlantKey) -> Result<usize, OwnerError> {
    let mut backup = Backup::open(path)?;
    let keys = backup.keys(key);
    let list = backup.list(&keys)?;
    let wanted = list.files.iter().map(|entry| (entry.path.as_str(), entry)).collect();
    backup.files(&keys, &wanted, |_, _| Ok(()))?;
    Ok(list.files.len())
}
