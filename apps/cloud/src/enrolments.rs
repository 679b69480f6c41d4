//! Enrolments: a folder with one registration file per device, left by the owner. They are applied like the owner's
//! requests.

mod state;

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::sync::TryLockError;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, bail, ensure};
use serde::Deserialize;
use sotto_api::devices::{RegisteredKey, Registration};
use sotto_api::reason;

pub(crate) use state::Enrolments;

use crate::cloud::Cloud;
use crate::register::{self, LARGEST_PARAMETERS, MOST_KEYS};
use crate::store::{Registering, Source, milliseconds};
use state::{Listing, Seen, Stamp};

/// Maximum bytes of a file.
const LARGEST_FILE: u64 = 1 << 20;
/// Maximum number of entries of the folder that are listed.
const MOST_FILES: usize = 10_000;
/// Minimum time between two listings of the folder.
const INTERVAL: Duration = Duration::from_secs(1);

/// A file of the folder.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Enrolment {
    device: String,
    verifying_key: String,
    /// Parameter sets: frames in hexadecimal.
    parameters: Vec<String>,
    keys: Vec<RegisteredKey>,
    /// Headers of the device's compact streams: frames in hexadecimal.
    #[serde(default)]
    streams: Vec<String>,
    /// The owner's sealed record of the device, in hexadecimal.
    #[serde(default)]
    record: Option<String>,
    /// The generation of the registration that the file replaces; 0 if the owner knew none.
    #[serde(default)]
    generation: Option<u64>,
}

/// Looks for the enrolment of a device that was refused: its own file immediately, the folder at most once a second.
///
/// Anybody can trigger this; the cost is one file look-up per request and one listing per second.
pub(crate) fn look_again(cloud: &Cloud, device: &str) {
    let Some(folder) = &cloud.config.enrolments else { return };
    if sotto_program::is_name(device) {
        read_file(cloud, folder, device, false);
    }
    read_folder(cloud);
}

/// Reads new and changed files, unless the folder is being listed or was listed within the last second.
pub(crate) fn read_folder(cloud: &Cloud) {
    let Some(folder) = &cloud.config.enrolments else { return };
    let mut listing = match cloud.enrolments.listing.try_lock() {
        Ok(listing) => listing,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return,
    };
    if listing.last.is_some_and(|last| last.elapsed() < INTERVAL) {
        return;
    }
    let complaint = list(cloud, folder).err().map(|error| format!("{error:#}"));
    if let Some(complaint) = complaint.as_ref().filter(|text| listing.complaint.as_ref() != Some(text)) {
        tracing::warn!(folder = %folder.display(), "enrolments: {complaint}");
    }
    *listing = Listing { last: Some(Instant::now()), complaint };
}

fn list(cloud: &Cloud, folder: &Path) -> anyhow::Result<()> {
    let mut there: HashSet<String> = HashSet::new();
    let mut more = None;
    for (index, entry) in fs::read_dir(folder).context("the folder cannot be read")?.enumerate() {
        let name = entry.context("the folder cannot be read")?.file_name();
        if index == MOST_FILES {
            more = Some(name);
            break;
        }
        // Ignore other files: an enrolment that is being written is renamed to its final name when complete.
        let Some(device) = name.to_str().and_then(|name| name.strip_suffix(".json")) else { continue };
        there.insert(device.to_owned());
    }
    // Forget deleted files, to make room for others.
    cloud.enrolments.files().retain(|device, _| there.contains(device));
    for device in &there {
        read_file(cloud, folder, device, true);
    }
    match more {
        // The first skipped name depends on the folder's order, so the error does not contain it.
        Some(name) => {
            tracing::debug!(file = %name.display(), "enrolments: skipped this file and those after it");
            bail!("the folder has more than {MOST_FILES} files: the others are skipped")
        }
        None => Ok(()),
    }
}

/// Applies a file if it has changed since it was last read, or, for `listed` ones, if it is to be tried again.
fn read_file(cloud: &Cloud, folder: &Path, device: &str, listed: bool) {
    let file = file_name(device);
    let path = folder.join(&file);
    let Some(stamp) = fs::symlink_metadata(&path).ok().and_then(|metadata| stamp(&metadata).ok()) else {
        return;
    };
    let seen = {
        let files = cloud.enrolments.files();
        let seen = files.get(device).copied();
        if seen.is_none() && files.len() >= MOST_FILES {
            return;
        }
        seen
    };
    let unchanged = seen.is_some_and(|seen| seen.stamp == stamp);
    if unchanged && !(listed && seen.is_some_and(|seen| seen.again)) {
        return;
    }
    let (applied, again) = apply(cloud, &path, device);
    // Count unchanged files too: another thread may have just applied this one without having counted it yet.
    if matches!(applied, Ok(Registering::Done(_) | Registering::Unchanged)) {
        cloud.enrolments.count_applied();
    }
    match applied {
        Ok(Registering::Done(_)) => {
            tracing::info!(device, file, "registered from its enrolment");
        }
        Ok(Registering::Unchanged) => {}
        _ if unchanged => {}
        Ok(Registering::Revoked) => tracing::warn!(
            device,
            file,
            "enrolment skipped: the device was revoked after the file was written; register it with a request, or \
             write the file anew"
        ),
        Ok(Registering::Superseded | Registering::Refused(_)) => {
            tracing::warn!(
                device,
                file,
                "enrolment skipped: the device was registered anew since; its owner: run `sotto status`"
            );
        }
        Err(error) => tracing::warn!(file, "enrolment skipped: {error:#}"),
    }
    cloud.enrolments.files().insert(device.to_owned(), Seen { stamp, again });
}

/// Applies a file. Returns true beside the outcome if the same file may succeed later.
fn apply(cloud: &Cloud, path: &Path, device: &str) -> (anyhow::Result<Registering>, bool) {
    let mut again = false;
    let applied = read(path, device).and_then(|(enrolment, written_at)| {
        if written_at > milliseconds(SystemTime::now()) {
            again = true;
            bail!("its modification time is in the future: it could undo a later revocation; touch it");
        }
        register(cloud, enrolment, written_at, &mut again)
    });
    (applied, again)
}

fn register(
    cloud: &Cloud,
    enrolment: Enrolment,
    written_at: i64,
    again: &mut bool,
) -> anyhow::Result<Registering> {
    let Enrolment { device, verifying_key, parameters, keys, streams, record, generation } = enrolment;
    let count = parameters.len();
    ensure!(count <= MOST_KEYS, "it has {count} sets of parameters, and may have {MOST_KEYS}");
    let frames: Vec<Vec<u8>> =
        parameters.iter().map(hex::decode).collect::<Result<_, _>>().context("parameters")?;
    let registration = Registration { verifying_key, keys, streams, record };
    let done =
        frames.iter().try_for_each(|frame| register::parameters(cloud, frame).map(drop)).and_then(|()| {
            register::device(cloud, &device, &registration, Source::File { written_at, generation })
        });
    done.map_err(|problem| {
        // A fault of the store, or unknown parameters: a later upload may provide them.
        *again = problem.status.is_server_error() || problem.reason == reason::UNKNOWN_PARAMETERS;
        anyhow::anyhow!("{}: {}", problem.reason, problem.detail)
    })
}

/// Returns the document in a file, and the time when it was written (ms since 1970).
fn read(path: &Path, device: &str) -> anyhow::Result<(Enrolment, i64)> {
    ensure!(sotto_program::is_name(device), "its name is not DEVICE.json: 1 to 64 of A-Z a-z 0-9 _ . -");
    // Check before opening: opening a pipe would block.
    let regular = fs::symlink_metadata(path).context("it cannot be read")?.is_file();
    ensure!(regular, "it is not a regular file");
    let file = File::open(path).context("it cannot be read")?;
    let stamp = stamp(&file.metadata().context("it cannot be read")?)?;
    ensure!(stamp.bytes <= LARGEST_FILE, "it has {} bytes, and may have {LARGEST_FILE}", stamp.bytes);
    let mut bytes = Vec::with_capacity(stamp.bytes as usize);
    // The file may have grown since.
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).context("it cannot be read")?;
    ensure!(bytes.len() as u64 <= LARGEST_FILE, "it has more than {LARGEST_FILE} bytes");
    let enrolment: Enrolment = serde_json::from_slice(&bytes).context("it is not an enrolment")?;
    ensure!(enrolment.device == device, "it is for another device than its name says");
    let longest = 2 * LARGEST_PARAMETERS as usize;
    let short = enrolment.parameters.iter().all(|frame| frame.len() <= longest);
    ensure!(short, "a set of parameters has more than {LARGEST_PARAMETERS} bytes");
    Ok((enrolment, milliseconds(stamp.modified)))
}

fn stamp(metadata: &fs::Metadata) -> anyhow::Result<Stamp> {
    Ok(Stamp { modified: metadata.modified()?, bytes: metadata.len() })
}

fn file_name(device: &str) -> String {
    format!("{device}.json")
}
