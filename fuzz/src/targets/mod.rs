//! The list of targets. A decoder that is new gets a function in one of the files beside this one and a line in its list.
//!
//! What is not here: the owner's command line reads the cloud's answers with derived readers of a few plain fields, inside a
//! program without a library; its ciphertexts are read by [`frames`].

mod cloud;
mod cloud_site;
mod connection;
mod device;
mod documents;
mod frames;
mod frames_n4096;
mod partial;
mod partial_frames;
mod plans;
mod recryptor;
mod seal;
mod seal_files;
mod secrets;
mod text;
mod trust;

use std::io::Write as _;
use std::path::Path;

use tempfile::TempDir;

/// A decoder.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, and that of its folder in `fuzz/corpus`.
    pub name: &'static str,
    /// Hands it bytes; gives whether it accepts them.
    pub run: fn(&[u8]) -> bool,
    /// What it is tried on first.
    pub inputs: Inputs,
    /// The most bytes that it may hold in memory while it reads these.
    pub memory: fn(&[u8]) -> usize,
}

/// Where the first inputs of a target come from.
#[derive(Clone, Copy)]
pub enum Inputs {
    /// Made once by the program `corpus`, and kept.
    Kept(fn() -> Vec<Vec<u8>>),
    /// Too large to keep: made for each run.
    MadeAnew(fn() -> Vec<Vec<u8>>),
}

/// Every target.
pub fn targets() -> Vec<Target> {
    [
        frames::TARGETS,
        frames_n4096::TARGETS,
        seal::TARGETS,
        partial::TARGETS,
        partial_frames::TARGETS,
        plans::TARGETS,
        text::TARGETS,
        documents::TARGETS,
        secrets::TARGETS,
        device::TARGETS,
        cloud::TARGETS,
        recryptor::TARGETS,
        trust::TARGETS,
    ]
    .concat()
}

/// The target of a name.
pub fn target(name: &str) -> Option<Target> {
    targets().into_iter().find(|target| target.name == name)
}

/// Reads bytes as they are, then as a frame with a right length and digest; gives whether either is accepted.
fn as_frame(bytes: &[u8], read: impl Fn(&[u8]) -> bool) -> bool {
    let as_they_are = read(bytes);
    as_they_are | crate::resealed(bytes).is_some_and(|sealed| read(&sealed))
}

/// The same for key files, which have the digest alone.
fn as_key_file(bytes: &[u8], read: impl Fn(&[u8]) -> bool) -> bool {
    let as_they_are = read(bytes);
    let Some(end) = bytes.len().checked_sub(32) else { return as_they_are };
    let mut sealed = bytes.to_vec();
    let digest = blake3::hash(&sealed[..end]);
    sealed[end..].copy_from_slice(digest.as_bytes());
    as_they_are | read(&sealed)
}

/// A folder in memory, where there is such a file system: nothing waits for a disk there.
fn quick_folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder")
}

/// Bytes in a file of this thread that nobody else may read, for decoders that read nothing else.
fn in_file<T>(bytes: &[u8], read: impl FnOnce(&Path) -> T) -> T {
    thread_local! {
        static FOLDER: TempDir = quick_folder();
    }
    FOLDER.with(|folder| {
        let path = folder.path().join("input");
        // A new file: some file systems wait for the disk when one is overwritten.
        let _ = std::fs::remove_file(&path);
        write_private(&path, bytes);
        read(&path)
    })
}

/// A file that only its owner may read.
fn write_private(path: &Path, bytes: &[u8]) {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).and_then(|mut file| file.write_all(bytes)).expect("a file");
}

/// What tests of one decoder need besides: a thing that is made once.
macro_rules! once {
    ($type:ty, $make:expr) => {{
        static MADE: std::sync::LazyLock<$type> = std::sync::LazyLock::new(|| $make);
        &*MADE
    }};
}
use once;
