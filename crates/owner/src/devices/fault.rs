//! A fault of the plant's folder, with its cure.

use std::path::Path;

use serde::Serialize;

use crate::declared::Plant;

/// A fault of the plant's folder.
///
/// ```no_run
/// use sotto_owner::{Fault, Plant};
///
/// let faults: Vec<Fault> = Plant::open("dairy".as_ref())?.check()?;
/// for Fault { file, what, cure, .. } in &faults {
///     println!("{file}: {what}: {cure}");
/// }
/// # Ok::<(), sotto_owner::OwnerError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The file, from the plant's folder.
    pub file: String,
    /// The fault, as the end of a sentence about the file.
    pub what: String,
    /// The way out.
    pub cure: String,
    /// True if readings can no longer be decrypted unless a copy is found outside of the folder.
    pub lost: bool,
}

/// Returns a path from the plant's folder.
pub(super) fn shown(plant: &Plant, path: &Path) -> String {
    path.strip_prefix(plant.folder()).unwrap_or(path).display().to_string()
}
