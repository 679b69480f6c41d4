//! A segment that is written at the end of a backup.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::contents::{Entry, List, write_file_head, write_list};
use super::error::BackupError;
use super::folder::{digest, listed};
use super::head::{PLANT, SEGMENT_HEAD, SegmentHead};
use super::kept::{Brought, lost};
use super::open::Backup;
use super::stream::{Keys, Sealer};
use crate::declared::Plant;
use crate::error::{OwnerError, io};
use crate::files::random;
use crate::work::OnProgress;

/// A backup that is being made.
pub(super) struct Work<'a> {
    pub(super) plant: &'a Plant,
    pub(super) to: &'a Path,
    pub(super) id: [u8; PLANT],
    /// Files that were destroyed by name, with the times.
    pub(super) destroyed: &'a BTreeMap<String, i64>,
}

/// A backup that was made.
pub(super) struct Done {
    pub(super) keys: Keys,
    pub(super) at: i64,
    pub(super) list: [u8; 32],
    pub(super) files: usize,
    pub(super) written: usize,
    pub(super) is_whole: bool,
    pub(super) was_torn: bool,
    pub(super) changed: Vec<String>,
    pub(super) kept: Vec<String>,
    pub(super) damaged: Option<PathBuf>,
}

impl Work<'_> {
    /// Writes the files that are not in `before`, and those that were brought from an earlier backup, at the end of a backup,
    /// then the new list. Files of `before` that the folder has lost stay in the list.
    pub(super) fn segment(
        &self,
        backup: &mut Backup,
        keys: Keys,
        path: &Path,
        before: &List,
        brought: Vec<Brought>,
        progress: OnProgress<'_>,
    ) -> Result<Done, OwnerError> {
        let plant = self.plant;
        let number = backup.last().map_or(0, |last| last + 1);
        let at = Timestamp::now().as_millisecond();
        let (folders, mut files) = listed(plant.folder())?;
        let known: BTreeMap<&str, &Entry> =
            before.files.iter().map(|entry| (entry.path.as_str(), entry)).collect();
        let mut changed = Vec::new();
        for (place, entry) in files.iter_mut().enumerate() {
            let Some(digest) = digest(&plant.path(&entry.path))? else { continue };
            entry.digest = digest;
            match known.get(entry.path.as_str()) {
                Some(same) if same.digest == entry.digest => entry.segment = same.segment,
                _ => changed.push(place),
            }
        }
        files_there(&mut files, &mut changed);
        let mut kept: Vec<Entry> = lost(before, &files, self.destroyed).into_iter().cloned().collect();
        let is_same = before.folders == folders
            && before.files.len() == files.len() + kept.len()
            && files.iter().all(|entry| known.get(entry.path.as_str()) == Some(&entry));
        let mut done = Done {
            keys,
            at,
            list: [0; 32],
            files: before.files.len(),
            written: 0,
            is_whole: false,
            was_torn: false,
            changed: vec![],
            kept: kept.iter().map(|entry| entry.path.clone()).collect(),
            damaged: None,
        };
        if let Some(last) =
            backup.heads.last().filter(|_| is_same && changed.is_empty() && brought.is_empty())
        {
            done.list = last.list;
            return Ok(done);
        }
        let head = SegmentHead { number, at, bytes: 0, list: [0; 32], nonce: random()? };
        let start = backup.heads.end;
        let associated = head.associated(&backup.heads.list_before(number));
        let file = backup.file();
        file.seek(SeekFrom::Start(start)).map_err(io(path))?;
        file.write_all(&[0; SEGMENT_HEAD]).map_err(io(path))?;
        let mut sealer =
            Sealer::new(BufWriter::with_capacity(1 << 17, &*file), &done.keys, &head.nonce, associated);
        let all: u64 = changed.iter().map(|place| files[*place].bytes).sum();
        let mut copied = 0;
        for place in &changed {
            let entry = &mut files[*place];
            copy(plant, entry, &mut sealer, path)?;
            entry.segment = number;
            copied += entry.bytes;
            // The comparison afterwards is the other half of the work.
            progress(copied, 2 * all.max(1));
        }
        done.written = changed.len() + brought.len();
        for (entry, bytes) in brought {
            write_file_head(&mut sealer, &entry.path, entry.bytes).map_err(io(path))?;
            sealer.write_all(&bytes).map_err(io(path))?;
            done.kept.push(entry.path.clone());
            kept.push(Entry { segment: number, ..entry });
        }
        files.extend(kept);
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let list = List { version: 1, folders, files };
        let text = serde_json::to_vec(&list).map_err(|error| OwnerError::WrongAnswer(error.to_string()))?;
        write_list(&mut sealer, &text).map_err(io(path))?;
        let (out, bytes) = sealer.finish().map_err(io(path))?;
        drop(out);
        file.sync_all().map_err(io(path))?;
        let head = SegmentHead { bytes, list: done.keys.digest(&text), ..head };
        file.seek(SeekFrom::Start(start)).map_err(io(path))?;
        file.write_all(&head.bytes()).map_err(io(path))?;
        file.sync_all().map_err(io(path))?;
        (done.list, done.files) = (head.list, list.files.len());
        Ok(done)
    }
}

/// Drops files that were gone when they were read.
fn files_there(files: &mut Vec<Entry>, changed: &mut Vec<usize>) {
    let paths: Vec<String> = changed.iter().map(|place| files[*place].path.clone()).collect();
    files.retain(|entry| !entry.digest.is_empty());
    *changed = (0..files.len()).filter(|place| paths.binary_search(&files[*place].path).is_ok()).collect();
}

/// Copies one file as long as it is now, and notes length and digest of the copied bytes.
fn copy(plant: &Plant, entry: &mut Entry, out: &mut impl Write, backup: &Path) -> Result<(), OwnerError> {
    let path = plant.path(&entry.path);
    let changed = || BackupError::Changed { path: path.clone() };
    let file = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(changed().into()),
        file => file.map_err(io(&path))?,
    };
    entry.bytes = file.metadata().map_err(io(&path))?.len();
    write_file_head(out, &entry.path, entry.bytes).map_err(io(backup))?;
    let (mut from, mut left, mut hasher) = (file, entry.bytes, blake3::Hasher::new());
    let mut buffer = zeroize::Zeroizing::new(vec![0; 64 << 10]);
    while left > 0 {
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let read = from.read(&mut buffer[..most]).map_err(io(&path))?;
        if read == 0 {
            return Err(changed().into());
        }
        hasher.update(&buffer[..read]);
        out.write_all(&buffer[..read]).map_err(io(backup))?;
        left -= read as u64;
    }
    entry.digest = hasher.finalize().to_hex().to_string();
    Ok(())
}
