//! Backups: the plant's folder in one encrypted file, which grows by what changed, and the way back.
//!
//! ```text
//! file     = head, segments
//! head     = "sottobak" ‖ version u8 ‖ length u16 ‖ key file of the kind `Plant`, under a passphrase ‖ id of the plant 16 ‖ salt 32 ‖
//!            BLAKE3 32
//! segment  = "segment1" ‖ number u32 ‖ time i64 (ms since 1970) ‖ bytes u64 ‖ keyed digest of its list 32 ‖ nonce 19 ‖ BLAKE3 32 ‖
//!            chunks of 64 KiB under STREAM (XChaCha20-Poly1305), with number, time and the digest of the list before as associated data
//! contents = records of files (1 ‖ length u16 ‖ path ‖ length u64 ‖ bytes), then the list of all files (2 ‖ length u32 ‖ JSON)
//! ```
//!
//! Numbers are little-endian. A segment's head is written last, once its chunks are on the disk: zeros in its place tell of a
//! segment that was not finished.

mod beside;
mod contents;
mod earlier;
mod error;
mod fate;
mod folder;
mod head;
mod kept;
mod note;
mod open;
mod owned;
mod paths;
mod restore;
mod segment;
mod stream;
mod write;

pub use contents::walked_contents;
pub use error::BackupError;
pub use note::BackupNote;
pub(crate) use note::{check, note, note_destroyed};
pub use open::walked_backup;
pub use restore::{RestoreOptions, RestoredFolder, restore_backup};
pub use write::{BackedUp, BackupOptions};
pub(crate) use write::{back_up, needs_passphrase};
