//! The list of targets. A decoder that is new gets a function in one of the files beside this one and a line in its list.
//!
//! What is not here: the owner's command line reads the cloud's answers with derived readers of a few plain fields, inside a
//! program without a library; its ciphertexts are read by [`frames`].

mod cloud;
mod device;
mod documents;
mod frames;
mod frames_n4096;
mod partial;
mod partial_frames;
mod plans;
mod recryptor;
mod seal;
mod secrets;
mod text;

use std::path::Path;

use tempfile::TempDir;

/// A decoder.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, and that of its folder in `fuzz/corpus`.
    pub name: &'static str,
    /// Hands it bytes.
    pub run: fn(&[u8]),
    /// What it is tried on first.
    pub inputs: Inputs,
    /// The most bytes that it may hold in memory while it reads so many bytes.
    pub memory: fn(usize) -> usize,
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
    ]
    .concat()
}

/// The target of a name.
pub fn target(name: &str) -> Option<Target> {
    targets().into_iter().find(|target| target.name == name)
}

/// Reads bytes as they are, then as a frame with a right length and digest.
fn as_frame(bytes: &[u8], read: impl Fn(&[u8])) {
    read(bytes);
    if let Some(sealed) = crate::resealed(bytes) {
        read(&sealed);
    }
}

/// Bytes in a file of this thread, for decoders that read nothing else.
fn in_file(bytes: &[u8], read: impl FnOnce(&Path)) {
    thread_local! {
        static FOLDER: TempDir = tempfile::tempdir().expect("a folder");
    }
    FOLDER.with(|folder| {
        let path = folder.path().join("input");
        // A new file: some file systems wait for the disk when one is overwritten.
        let _ = std::fs::remove_file(&path);
        std::fs::write(&path, bytes).expect("a file");
        read(&path);
    });
}

/// What tests of one decoder need besides: a thing that is made once.
macro_rules! once {
    ($type:ty, $make:expr) => {{
        static MADE: std::sync::LazyLock<$type> = std::sync::LazyLock::new(|| $make);
        &*MADE
    }};
}
use once;
