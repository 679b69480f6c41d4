//! The authority that signs the cloud's certificate.

use std::path::Path;

use sotto_http::{LARGEST_AUTHORITY, Trust};

use super::settings::CloudSettings;
use crate::error::OwnerError;
use crate::files::read_text;

/// Returns the PEM text of the authority that the settings name; None if they name none.
pub(crate) fn authority(folder: &Path, cloud: &CloudSettings) -> Result<Option<Vec<u8>>, OwnerError> {
    let Some(name) = &cloud.ca else { return Ok(None) };
    let path = folder.join(name);
    let pem = read_text(&path, LARGEST_AUTHORITY as u64)?.into_bytes();
    // Checked here, so that no bundle contains an invalid authority.
    pinned(&path, &pem)?;
    Ok(Some(pem))
}

/// Returns the authorities that may sign the cloud's certificate.
pub(super) fn trust(folder: &Path, cloud: &CloudSettings) -> Result<Trust, OwnerError> {
    match (authority(folder, cloud)?, &cloud.ca) {
        (Some(pem), Some(name)) => pinned(&folder.join(name), &pem),
        _ => Ok(Trust::default()),
    }
}

fn pinned(path: &Path, pem: &[u8]) -> Result<Trust, OwnerError> {
    Trust::pinned(pem)
        .map_err(|error| OwnerError::Damaged { path: path.to_owned(), reason: error.to_string() })
}
