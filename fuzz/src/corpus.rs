//! The kept inputs: `fuzz/corpus/TARGET/`.

use std::path::{Path, PathBuf};

use crate::targets::{Inputs, Target};

/// Returns the folder of a target's kept inputs.
pub fn corpus_folder(target: &Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name)
}

/// Returns the inputs of a target: the kept ones in order of their names, or new ones if they are too large to keep.
///
/// # Errors
/// The I/O error if the folder or a file cannot be read.
pub fn corpus(target: &Target) -> std::io::Result<Vec<Vec<u8>>> {
    let mut paths: Vec<PathBuf> = match std::fs::read_dir(corpus_folder(target)) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    paths.sort();
    let mut inputs: Vec<Vec<u8>> = paths.iter().map(std::fs::read).collect::<std::io::Result<_>>()?;
    if let Inputs::MadeAnew(make) = target.inputs {
        inputs.extend(make());
    }
    Ok(inputs)
}
