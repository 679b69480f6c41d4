//! Tokens that authenticate requests.

use std::path::Path;

use anyhow::{Context as _, ensure};
use subtle::ConstantTimeEq as _;

use crate::private;

/// Maximum bytes of a token's file: the longest token, the line end, and some blanks.
const LONGEST_FILE: usize = 1024;

/// A token, stored only as its digest.
#[derive(PartialEq, Eq)]
pub struct Token {
    digest: blake3::Hash,
}

impl Token {
    /// Reads a token from a file that only its owner can read: 16 to 256 visible ASCII characters on one line.
    ///
    /// # Errors
    /// The file cannot be read, others can read it, or it holds no token.
    pub fn read(file: &Path) -> anyhow::Result<Self> {
        let cannot = || format!("cannot read a token from {}", file.display());
        let bytes = private::read(file, LONGEST_FILE).with_context(cannot)?;
        let token = str::from_utf8(&bytes).with_context(cannot)?.trim();
        ensure!(
            (16..=256).contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_graphic()),
            "{} does not hold a token: 16 to 256 visible ASCII characters on one line",
            file.display()
        );
        Ok(Self { digest: blake3::hash(token.as_bytes()) })
    }

    /// Returns true if the value of an `Authorization` header carries the token. Compares digests in constant time, so
    /// the time reveals neither the token's characters nor its length.
    pub fn admits(&self, authorization: &[u8]) -> bool {
        let Some((scheme, token)) = authorization.split_at_checked(7) else { return false };
        let digest = blake3::hash(token);
        scheme.eq_ignore_ascii_case(b"bearer ") && bool::from(digest.as_bytes().ct_eq(self.digest.as_bytes()))
    }
}

/// Writes a token to a new file that only its owner can read.
///
/// # Errors
/// The file cannot be written, or exists.
pub fn write_private(file: &Path, token: &str) -> std::io::Result<()> {
    private::write(file, token.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_is_admitted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        write_private(&file, "0123456789abcdef\n").unwrap();
        let token = Token::read(&file).unwrap();
        assert!(token.admits(b"Bearer 0123456789abcdef"));
        assert!(token.admits(b"bearer 0123456789abcdef"));
        for wrong in
            ["", "Bearer ", "Bearer 0123456789abcde", "Bearer 0123456789abcdeF", "Basic  0123456789abcdef"]
        {
            assert!(!token.admits(wrong.as_bytes()), "{wrong}");
        }
        std::fs::write(&file, "short").unwrap();
        assert!(Token::read(&file).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_holds_no_token() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        write_private(&file, "0123456789abcdef\n").unwrap();
        assert!(write_private(&file, "fedcba9876543210").is_err(), "overwrites");
        for (mode, accepted) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false)] {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            let read = Token::read(&file).err().map(|error| format!("{error:#}"));
            assert_eq!(read.is_none(), accepted, "{mode:o}: {read:?}");
            assert!(read.is_none_or(|text| text.contains("chmod 600") && !text.contains("0123")));
        }
    }
}
