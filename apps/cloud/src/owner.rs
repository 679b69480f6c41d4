//! The owner's token.

use std::path::Path;

use anyhow::{Context as _, ensure};
use subtle::ConstantTimeEq as _;

/// The owner's token, of which only the digest is kept.
pub(crate) struct OwnerToken {
    digest: blake3::Hash,
}

impl OwnerToken {
    pub(crate) fn read(file: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read the owner's token from {}", file.display()))?;
        let token = text.trim();
        ensure!(
            (16..=256).contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_graphic()),
            "{} does not hold a token: 16 to 256 visible ASCII characters on one line",
            file.display()
        );
        Ok(Self { digest: blake3::hash(token.as_bytes()) })
    }

    /// Whether this is the value of an `Authorization` header that carries the token. Digests are compared, in constant
    /// time, so neither the token's characters nor its length show in the time that it takes.
    pub(crate) fn admits(&self, authorization: &[u8]) -> bool {
        let Some((scheme, token)) = authorization.split_at_checked(7) else { return false };
        let digest = blake3::hash(token);
        scheme.eq_ignore_ascii_case(b"bearer ") && bool::from(digest.as_bytes().ct_eq(self.digest.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_is_admitted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        std::fs::write(&file, "0123456789abcdef\n").unwrap();
        let owner = OwnerToken::read(&file).unwrap();
        assert!(owner.admits(b"Bearer 0123456789abcdef"));
        assert!(owner.admits(b"bearer 0123456789abcdef"));
        for wrong in
            ["", "Bearer ", "Bearer 0123456789abcde", "Bearer 0123456789abcdeF", "Basic  0123456789abcdef"]
        {
            assert!(!owner.admits(wrong.as_bytes()), "{wrong}");
        }
        std::fs::write(&file, "short").unwrap();
        assert!(OwnerToken::read(&file).is_err());
    }
}
