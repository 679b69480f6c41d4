//! Files of the plant's folder that are damaged or left over: each is put out of the way, so that a copy can take its place.

use std::fs;
use std::path::{Path, PathBuf};

use sotto_cloud_client::Cloud;
use sotto_keys::KeyFile;

use super::fault::{Fault, shown};
use crate::declared::Plant;
use crate::error::OwnerError;
use crate::files::{LARGEST_FILE, left_over, read_json};
use crate::secrets::{KEY, TOKEN};

/// Returns the faults of damaged secrets, of the note of the last backup, of the authority's certificate, and of files left
/// over.
pub(super) fn faults(plant: &Plant) -> Result<Vec<Fault>, OwnerError> {
    let mut faults = Vec::new();
    let mut fault = |path: &Path, what: &str, cure: String| {
        faults.push(Fault { file: shown(plant, path), what: what.to_owned(), cure, lost: false });
    };
    let away = |path: &Path| format!("mv {0} {0}.damaged", path.display());
    for path in files(&plant.path("secrets")) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_key = name == KEY || [".key", ".signing"].iter().any(|ending| name.ends_with(ending));
        let is_short = fs::metadata(&path).is_ok_and(|metadata| metadata.len() <= LARGEST_FILE);
        if is_key && is_short && fs::read(&path).is_ok_and(|bytes| KeyFile::protected(&bytes).is_none()) {
            fault(&path, "is damaged: it is no key file", away(&path));
        }
    }
    // The address was checked with the settings.
    let is_token = |token: &str| Cloud::with_plain_http(&plant.settings().cloud.url, token).is_ok();
    if plant.token().is_ok_and(|token| !is_token(&token)) {
        let path = plant.secret_path(TOKEN);
        fault(&path, "is damaged: a token has 16 to 256 visible ASCII characters", away(&path));
    }
    let note = plant.path("backup.json");
    if note.exists() && read_json::<serde_json::Value>(&note).is_err() {
        fault(&note, "is damaged: it says when the last backup was made", away(&note));
    }
    if let Some(authority) =
        plant.settings().cloud.ca.as_ref().map(|file| plant.path(file)).filter(|ca| !ca.exists())
    {
        fault(&authority, "is missing: the authority's certificate", "sotto tls init".to_owned());
    }
    for folder in folders(plant) {
        for path in left_over(&folder) {
            fault(&path, "was left by a command that was interrupted", format!("rm {}", path.display()));
        }
    }
    Ok(faults)
}

/// Returns the files directly in a folder; none if it cannot be read.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort_unstable();
    files
}

/// Returns the folders in which commands replace files.
fn folders(plant: &Plant) -> Vec<PathBuf> {
    let names =
        ["", "secrets", "devices", "enrolments", "answers", "logs", "alarms", "alarms/state", "alarms/mutes"];
    let mut folders: Vec<PathBuf> = names.iter().map(|name| plant.path(name)).collect();
    let logs = fs::read_dir(plant.path("logs")).into_iter().flatten().flatten().map(|entry| entry.path());
    folders.extend(logs.filter(|path| path.is_dir()));
    folders
}
