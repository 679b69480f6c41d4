//! Files of the plant's folder that are damaged or left over: each is put out of the way, so that a copy can take its place.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sotto_cloud_client::Cloud;
use sotto_keys::KeyFile;

use super::fault::{Fault, shown};
use crate::declared::Plant;
use crate::error::OwnerError;
use crate::files::{LARGEST_FILE, read_json};
use crate::secrets::{KEY, TOKEN};

/// Age after which a file of a command that runs is left over from one that was interrupted.
const LEFT_OVER: Duration = Duration::from_secs(600);

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
    for folder in ["", "secrets", "devices", "enrolments"] {
        for path in files(&plant.path(folder)).into_iter().filter(|path| is_left_over(path)) {
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

fn is_left_over(path: &Path) -> bool {
    let is_partial =
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.ends_with(".partial"));
    let written = fs::metadata(path).and_then(|metadata| metadata.modified());
    is_partial && written.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > LEFT_OVER))
}
