//! Callers: each has a name, a token and a quota.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use serde::Deserialize;
use sotto_service::token::Token;

/// A caller, known by its token.
pub struct Caller {
    /// The name in the ledger.
    pub(crate) name: String,
    /// Quota: numbers decrypted for this caller from midnight to midnight UTC.
    pub(crate) numbers_a_day: u64,
    token: Token,
}

/// All callers.
pub struct Callers(Vec<Arc<Caller>>);

/// The content of `callers.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallersFile {
    #[serde(default)]
    caller: Vec<CallerEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallerEntry {
    name: String,
    token_file: std::path::PathBuf,
    numbers_a_day: u64,
}

impl Callers {
    /// Reads a file. Relative paths of token files are relative to its folder.
    pub(crate) fn read(file: &Path) -> anyhow::Result<Self> {
        let text = sotto_service::config::text(file)?;
        let folder = file.parent().unwrap_or(Path::new(""));
        Self::parse(&text, folder).with_context(|| format!("{} does not name callers", file.display()))
    }

    /// Parses the text of the file; relative paths of token files are relative to `folder`.
    ///
    /// # Errors
    /// The text is not a list of 1 to 64 callers with distinct names and tokens, or a token file cannot be read.
    pub fn parse(text: &str, folder: &Path) -> anyhow::Result<Self> {
        let entries = toml::from_str::<CallersFile>(text)?.caller;
        ensure!(
            (1..=64).contains(&entries.len()),
            "there are {} callers: 1 to 64 are allowed",
            entries.len()
        );
        let mut callers: Vec<Arc<Caller>> = Vec::with_capacity(entries.len());
        for CallerEntry { name, token_file, numbers_a_day } in entries {
            let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
            ensure!(
                (1..=64).contains(&name.len()) && name.bytes().all(is_name),
                "{name:?} is no caller's name: it has 1 to 64 of A-Z a-z 0-9 . _ -"
            );
            ensure!(callers.iter().all(|other| other.name != name), "there are two callers {name}");
            ensure!(i64::try_from(numbers_a_day).is_ok(), "numbers_a_day of {name} must be below 2^63");
            let token = Token::read(&folder.join(token_file))?;
            ensure!(
                callers.iter().all(|other| other.token != token),
                "{name} has the token of another caller: quotas are by token"
            );
            callers.push(Arc::new(Caller { name, numbers_a_day, token }));
        }
        Ok(Self(callers))
    }

    /// Returns the caller whose token an `Authorization` header carries. Compares with every token, so that the time
    /// does not depend on the caller.
    pub(crate) fn find(&self, authorization: &[u8]) -> Option<Arc<Caller>> {
        let mut found = None;
        for caller in &self.0 {
            if caller.token.admits(authorization) {
                found = Some(Arc::clone(caller));
            }
        }
        found
    }

    /// Returns the number of callers.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use sotto_service::token::write_private;

    use super::*;

    #[test]
    fn a_caller_is_known_by_its_token() {
        let folder = tempfile::tempdir().unwrap();
        write_private(&folder.path().join("a"), "0123456789abcdef\n").unwrap();
        write_private(&folder.path().join("b"), "fedcba9876543210\n").unwrap();
        let entry = |name: &str, file: &str| {
            format!("[[caller]]\nname = \"{name}\"\ntoken_file = \"{file}\"\nnumbers_a_day = 5\n")
        };
        let parse = |text: &str| Callers::parse(text, folder.path());
        let callers = parse(&(entry("one", "a") + &entry("two", "b"))).unwrap();
        let name = |header: &str| callers.find(header.as_bytes()).map(|caller| caller.name.clone());
        assert_eq!(name("Bearer 0123456789abcdef"), Some("one".into()));
        assert_eq!(name("bearer fedcba9876543210"), Some("two".into()));
        assert_eq!((name("Bearer 0123456789abcdeF"), name(""), callers.len()), (None, None, 2));
        for wrong in [
            String::new(),
            entry("a b", "a"),
            entry("", "a"),
            entry("one", "nothing"),
            entry("one", "a") + &entry("one", "b"),
            entry("one", "a") + &entry("two", "a"),
            entry("one", "a") + "numbers = 1",
            entry("one", "a").replace('5', "9223372036854775808"),
        ] {
            assert!(parse(&wrong).is_err(), "{wrong}");
        }
    }
}
