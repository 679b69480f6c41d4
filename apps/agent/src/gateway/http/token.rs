//! The token that senders show.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;

use super::secret;

/// Bytes of a token, at least and at most.
const SHORTEST: usize = 16;
const LONGEST: usize = 1024;

/// The digest of a token: comparing digests takes the same time for every wrong token.
pub(super) struct Token(blake3::Hash);

impl Token {
    /// Reads a token from a file that only its owner may read.
    ///
    /// # Errors
    /// The file cannot be read, or its token is too short.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let cannot = || format!("no token can be read from {}", path.display());
        let bytes = secret::read(path, LONGEST).with_context(cannot)?;
        let token = bytes.trim_ascii();
        let path = path.display();
        ensure!(
            token.len() >= SHORTEST,
            "{path}: a token has {SHORTEST} characters at least: openssl rand -hex 32 > {path}"
        );
        Ok(Self(blake3::hash(token)))
    }

    /// Returns true if a request shows the token: in the header, as `Token`, `Bearer` or the password of `Basic`, or as the
    /// password of the query.
    pub(super) fn is_shown(&self, headers: &HeaderMap, password: Option<&str>) -> bool {
        let is_it = |token: &[u8]| blake3::hash(token) == self.0;
        let header = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let Some((scheme, rest)) = header.and_then(|header| header.split_once(' ')) else {
            return password.is_some_and(|password| is_it(password.as_bytes()));
        };
        let rest = rest.trim();
        match scheme.to_ascii_lowercase().as_str() {
            "token" | "bearer" => {
                // Version 1 may write the user before it.
                is_it(rest.as_bytes())
                    || rest.split_once(':').is_some_and(|(_, token)| is_it(token.as_bytes()))
            }
            "basic" => STANDARD.decode(rest).is_ok_and(|pair| {
                let colon = pair.iter().position(|byte| *byte == b':');
                colon.is_some_and(|colon| is_it(&pair[colon + 1..]))
            }),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "0123456789abcdef";

    fn shows(header: Option<&str>, password: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        header.map(|header| headers.insert(AUTHORIZATION, header.parse().unwrap()));
        Token(blake3::hash(SECRET.as_bytes())).is_shown(&headers, password)
    }

    #[test]
    fn a_token_is_shown_in_the_ways_of_influxdbs_clients() {
        let basic = |pair: &str| format!("Basic {}", STANDARD.encode(pair));
        for header in [
            format!("Token {SECRET}"),
            format!("token u:{SECRET}"),
            format!("Bearer {SECRET}"),
            basic(&format!("u:{SECRET}")),
        ] {
            assert!(shows(Some(&header), None), "{header}");
        }
        assert!(shows(None, Some(SECRET)));
        for header in ["Token wrong", "Token", "", "Basic !", &basic(SECRET), &format!("Digest {SECRET}")] {
            assert!(!shows(Some(header), Some("wrong")), "{header}");
        }
        assert!(!shows(None, None) && !shows(None, Some("")));
    }

    #[test]
    fn a_short_token_and_one_that_others_can_read_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let read = |token: &str, mode: u32| {
            std::fs::write(&path, token).unwrap();
            #[cfg(unix)]
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
            Token::read(&path).map(|_| ()).map_err(|error| format!("{error:#}"))
        };
        assert_eq!(read(&format!("{SECRET}\n"), 0o600), Ok(()));
        assert!(read("short", 0o600).unwrap_err().contains("16 characters"));
        assert!(read(SECRET, 0o644).unwrap_err().contains("chmod 600"));
        assert!(read(&"x".repeat(2000), 0o600).unwrap_err().contains("1024"));
    }
}
