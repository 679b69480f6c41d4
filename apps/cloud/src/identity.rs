//! The cloud's signing key, for receipts, heads of logs and transcripts.

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use ed25519_dalek::{Signer as _, SigningKey};
use sotto_service::private;
use zeroize::Zeroizing;

use crate::config::Config;

/// The file in the store's folder, if the configuration names none.
const FILE: &str = "signing.key";
/// Maximum bytes of the file: 64 hexadecimal digits and blanks.
const LONGEST: usize = 256;

/// An Ed25519 key. Wiped when dropped.
pub(crate) struct Identity(SigningKey);

impl Identity {
    /// Reads the key. If the configuration names no file, the key is made at the first start.
    ///
    /// # Errors
    /// The named file does not exist, others can read it, or it holds no key.
    pub(crate) fn open(config: &Config) -> anyhow::Result<Self> {
        match &config.signing_key_file {
            Some(file) => Self::read(file).with_context(|| format!("no signing key in {}", file.display())),
            None => {
                let file = path(&config.data);
                if !file.exists() {
                    write(&file).with_context(|| format!("cannot make {}", file.display()))?;
                    tracing::info!("made a signing key: its owner pins it with `sotto cloud pin`");
                }
                Self::read(&file).with_context(|| format!("no signing key in {}", file.display()))
            }
        }
    }

    /// Checks the key as [`Identity::open`] does, and makes none.
    pub(crate) fn check(config: &Config) -> anyhow::Result<()> {
        let made_at_start = path(&config.data);
        match &config.signing_key_file {
            None if !made_at_start.exists() => Ok(()),
            named => {
                let file = named.as_ref().unwrap_or(&made_at_start);
                Self::read(file).with_context(|| format!("no signing key in {}", file.display())).map(drop)
            }
        }
    }

    fn read(file: &Path) -> anyhow::Result<Self> {
        let text = private::read(file, LONGEST)?;
        let mut bytes = Zeroizing::new([0; 32]);
        hex::decode_to_slice(text.trim_ascii(), bytes.as_mut_slice())
            .ok()
            .context("a signing key is 64 hexadecimal digits")?;
        Ok(Self(SigningKey::from_bytes(&bytes)))
    }

    /// Returns the public key.
    pub(crate) fn verifying_key(&self) -> [u8; 32] {
        self.0.verifying_key().to_bytes()
    }

    pub(crate) fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }
}

fn path(data: &Path) -> PathBuf {
    data.join(FILE)
}

/// Writes a new key with mode 0600. Keeps an existing file.
fn write(file: &Path) -> anyhow::Result<()> {
    let mut bytes = Zeroizing::new([0; 32]);
    getrandom::fill(bytes.as_mut_slice()).ok().context("the operating system gives no randomness")?;
    let text = Zeroizing::new(format!("{}\n", hex::encode(bytes.as_slice())));
    match private::write(file, text.as_bytes()) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        written => Ok(written?),
    }
}

/// Prints the verifying key, which the owner pins.
///
/// # Errors
/// There is no key yet, or it cannot be read.
pub fn show(config: &Config) -> anyhow::Result<()> {
    let file = config.signing_key_file.clone().unwrap_or_else(|| path(&config.data));
    ensure!(file.exists(), "{} does not exist: the cloud makes it at its first start", file.display());
    let identity = Identity::read(&file).with_context(|| format!("no signing key in {}", file.display()))?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", hex::encode(identity.verifying_key())).context("cannot write to standard output")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_key_stays_and_others_cannot_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = path(folder.path());
        write(&file).unwrap();
        let first = Identity::read(&file).unwrap().verifying_key();
        write(&file).unwrap();
        assert_eq!(Identity::read(&file).unwrap().verifying_key(), first, "never replaced");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
            fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
            let refused = Identity::read(&file).err().unwrap().to_string();
            assert!(refused.contains("chmod 600"), "{refused}");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        }
        for wrong in ["", "00", &"g".repeat(64), &"0".repeat(66)] {
            fs::write(&file, wrong).unwrap();
            assert!(Identity::read(&file).is_err(), "{wrong}");
        }
    }
}
