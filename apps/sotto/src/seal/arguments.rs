//! Arguments and results of `sotto seal convert`.

use std::path::PathBuf;

use anyhow::Context;
use clap::ValueEnum;
use sotto_seal::{Compression, Kind, Writing};

/// Arguments of `sotto seal convert`.
#[derive(clap::Args, Debug)]
pub(crate) struct Convert {
    /// The file: a SEAL file, a frame of ours, or a key file of ours.
    pub(super) file: PathBuf,
    /// The file to write; an existing file is never overwritten.
    pub(super) output: PathBuf,
    /// The file with the parameters, SEAL's or a frame of ours. Not needed to convert parameters.
    #[arg(long)]
    pub(super) parameters: Option<PathBuf>,
    /// CKKS: log2 of the scale that values were encoded with; SEAL's parameters do not contain it.
    #[arg(long)]
    pub(super) scale_bits: Option<u32>,
    /// From SEAL: the id of the secret key, as printed when the secret key was converted.
    #[arg(long)]
    pub(super) key_id: Option<String>,
    /// A ciphertext from SEAL that was not computed on: the kind of key that encrypted it. Nothing checks this, and a
    /// wrong answer makes our noise bounds wrong.
    #[arg(long, value_enum)]
    pub(super) fresh: Option<Fresh>,
    /// CKKS ciphertext from SEAL: the largest |value| in it.
    #[arg(long)]
    pub(super) magnitude: Option<f64>,
    /// CKKS ciphertext from SEAL that was computed on: the largest error of a slot.
    #[arg(long, conflicts_with = "fresh")]
    pub(super) error: Option<f64>,
    /// From SEAL, BGV parameters of one prime: the kind of the file, which its bytes do not show.
    #[arg(long, value_enum)]
    pub(super) kind: Option<SaidKind>,
    /// From SEAL: the most Galois keys that a file may hold [default: those that SEAL makes unless told which, and five
    /// more]. A small file can inflate to that many keys.
    #[arg(long)]
    pub(super) most_galois_keys: Option<usize>,
    /// To SEAL: the compression. Secret keys are not compressed.
    #[arg(long, value_enum, default_value = "none")]
    compress: Compress,
    /// To SEAL, BGV ciphertexts: the minor version of the SEAL 4 that will read the file, 1 or more.
    #[arg(long)]
    seal_minor: Option<u8>,
    /// Convert a secret key. SEAL's file of it is not protected: a reader of the file can read everything encrypted
    /// under the key.
    #[arg(long)]
    pub(super) unprotected_secret_key: bool,
}

/// The kind of key that encrypted a ciphertext.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Fresh {
    /// The secret key.
    SecretKey,
    /// The public key.
    PublicKey,
}

/// The kinds that BGV files over a single prime cannot tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum SaidKind {
    /// A ciphertext.
    Ciphertext,
    /// A public key.
    PublicKey,
}

impl SaidKind {
    fn kind(self) -> Kind {
        match self {
            Self::Ciphertext => Kind::Ciphertext,
            Self::PublicKey => Kind::PublicKey,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Compress {
    /// No compression.
    None,
    /// As a zlib stream.
    Zlib,
    /// As a Zstandard frame.
    Zstandard,
}

impl Convert {
    pub(super) fn writing(&self) -> Writing {
        let compression = match self.compress {
            Compress::None => Compression::None,
            Compress::Zlib => Compression::Zlib,
            Compress::Zstandard => Compression::Zstandard,
        };
        Writing { compression, seal_4_minor: self.seal_minor }
    }

    /// Returns the file's kind, from its bytes, or from `--kind` if the bytes are ambiguous.
    pub(super) fn decide(&self, found: Kind) -> anyhow::Result<Kind> {
        let said = self.kind.map(SaidKind::kind);
        if found == Kind::CiphertextOrPublicKey {
            return said.context(
                "with one prime, a BGV ciphertext looks like a public key: pass --kind ciphertext or --kind public-key",
            );
        }
        if let Some(said) = said.filter(|said| *said != found) {
            anyhow::bail!("the file is of kind {}, and --kind says {}", found.name(), said.name());
        }
        Ok(found)
    }

    /// Refuses to convert a secret key without `--unprotected-secret-key`.
    pub(super) fn require_secret_key_asked(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.unprotected_secret_key,
            "this is a secret key, which SEAL's files do not protect: pass --unprotected-secret-key to convert it nevertheless"
        );
        Ok(())
    }
}

/// The result of a conversion.
pub(super) struct Converted {
    /// Empty if the files were written already.
    pub(super) files: Vec<(PathBuf, zeroize::Zeroizing<Vec<u8>>)>,
    pub(super) private: bool,
    /// A line for the user.
    pub(super) said: String,
}
