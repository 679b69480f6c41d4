//! The list of targets. A new decoder gets a function in one of the files here and a line in its list.
//!
//! Not covered: the owner's command line, which reads the cloud's answers into a few plain fields with derived readers,
//! in a program without a library; [`frames`] covers its ciphertexts.

mod backup;
mod cloud;
mod cloud_site;
mod connection;
mod device;
mod documents;
mod facade;
mod frames;
mod frames_n4096;
mod partial;
mod partial_frames;
mod places;
mod plans;
mod presets;
mod recryptor;
mod seal;
mod seal_files;
mod secrets;
mod sums;
mod text;
mod trust;

use std::io::Write as _;
use std::path::Path;

use tempfile::TempDir;

/// A fuzz target: a decoder with its first inputs and its memory limit.
#[derive(Clone, Copy)]
pub struct Target {
    /// The target's name, and that of its folder in `fuzz/corpus`.
    pub name: &'static str,
    /// Decodes the bytes; returns true if they are accepted.
    pub run: fn(&[u8]) -> bool,
    /// The first inputs.
    pub inputs: Inputs,
    /// Returns the most bytes of memory that decoding this input may hold.
    pub memory: fn(&[u8]) -> usize,
}

/// The origin of a target's first inputs.
#[derive(Clone, Copy)]
pub enum Inputs {
    /// Made once by the program `corpus`, and kept in the repository.
    Kept(fn() -> Vec<Vec<u8>>),
    /// Too large to keep: made in each run.
    MadeAnew(fn() -> Vec<Vec<u8>>),
}

/// Returns every target.
pub fn targets() -> Vec<Target> {
    [
        frames::TARGETS,
        frames_n4096::TARGETS,
        seal::TARGETS,
        partial::TARGETS,
        partial_frames::TARGETS,
        places::TARGETS,
        plans::TARGETS,
        presets::TARGETS,
        text::TARGETS,
        documents::TARGETS,
        facade::TARGETS,
        secrets::TARGETS,
        backup::TARGETS,
        device::TARGETS,
        cloud::TARGETS,
        recryptor::TARGETS,
        sums::TARGETS,
        trust::TARGETS,
    ]
    .concat()
}

/// Returns the target of a name. None if there is none.
pub fn target(name: &str) -> Option<Target> {
    targets().into_iter().find(|target| target.name == name)
}

/// Reads bytes unchanged, then as a frame with correct length and digest; returns true if either is accepted.
fn as_frame(bytes: &[u8], read: impl Fn(&[u8]) -> bool) -> bool {
    let as_they_are = read(bytes);
    as_they_are | crate::resealed(bytes).is_some_and(|sealed| read(&sealed))
}

/// Reads bytes unchanged, then as a key file with a correct digest; returns true if either is accepted.
fn as_key_file(bytes: &[u8], read: impl Fn(&[u8]) -> bool) -> bool {
    let as_they_are = read(bytes);
    let Some(end) = bytes.len().checked_sub(32) else { return as_they_are };
    let mut sealed = bytes.to_vec();
    let digest = blake3::hash(&sealed[..end]);
    sealed[end..].copy_from_slice(digest.as_bytes());
    as_they_are | read(&sealed)
}

/// Returns a folder in memory, if there is such a file system, so that nothing waits for a disk.
fn quick_folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder")
}

/// Writes bytes to a private file of this thread, for decoders that read only files.
fn in_file<T>(bytes: &[u8], read: impl FnOnce(&Path) -> T) -> T {
    thread_local! {
        static FOLDER: TempDir = quick_folder();
    }
    FOLDER.with(|folder| {
        let path = folder.path().join("input");
        // A new file each time: some file systems wait for the disk when a file is overwritten.
        let _ = std::fs::remove_file(&path);
        write_private(&path, bytes);
        read(&path)
    })
}

/// Writes a file that only its owner may read.
fn write_private(path: &Path, bytes: &[u8]) {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).and_then(|mut file| file.write_all(bytes)).expect("a file");
}

/// Makes a value once and keeps it for all later runs.
macro_rules! once {
    ($type:ty, $make:expr) => {{
        static MADE: std::sync::LazyLock<$type> = std::sync::LazyLock::new(|| $make);
        &*MADE
    }};
}
use once;
