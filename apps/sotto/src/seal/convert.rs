//! `sotto seal convert`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use sotto_seal::{Compression, Writing};

use super::files;
use super::from_seal::{self, from_seal};
use super::parameters::{self, for_scheme};
use super::to_seal::{self, to_seal};
use crate::output::say;

/// Arguments of `sotto seal convert`.
#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// The file: one of SEAL's, a frame of ours, or a key file of ours.
    pub(super) file: PathBuf,
    /// The file to write; an existing one is never overwritten.
    pub(super) output: PathBuf,
    /// The parameters, SEAL's or a frame of ours. Not needed for parameters themselves.
    #[arg(long)]
    pub(super) parameters: Option<PathBuf>,
    /// CKKS: log2 of the scale that values were encoded with; SEAL's parameters do not hold it.
    #[arg(long)]
    pub(super) scale_bits: Option<u32>,
    /// From SEAL: the secret key's name here, as converting the secret key prints it.
    #[arg(long)]
    pub(super) key_id: Option<String>,
    /// A ciphertext from SEAL that was not computed on: the key that it was encrypted with. Nothing checks it, and a wrong
    /// answer makes our noise bounds wrong.
    #[arg(long, value_enum)]
    pub(super) fresh: Option<Fresh>,
    /// CKKS ciphertext from SEAL: the largest |value| in it.
    #[arg(long)]
    pub(super) magnitude: Option<f64>,
    /// CKKS ciphertext from SEAL that was computed on: the largest error of a slot.
    #[arg(long, conflicts_with = "fresh")]
    pub(super) error: Option<f64>,
    /// To SEAL: the compression.
    #[arg(long, value_enum, default_value = "none")]
    compress: Compress,
    /// To SEAL, BGV after a product or a lower level: the minor version of the SEAL 4 that will read it.
    #[arg(long)]
    seal_minor: Option<u8>,
    /// Convert a secret key. SEAL's file of it is not protected: whoever has it can read everything encrypted under the key.
    #[arg(long)]
    pub(super) unprotected_secret_key: bool,
}

/// What a ciphertext was encrypted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Fresh {
    /// The secret key.
    SecretKey,
    /// The public key.
    PublicKey,
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

impl Arguments {
    pub(super) fn writing(&self) -> Writing {
        let compression = match self.compress {
            Compress::None => Compression::None,
            Compress::Zlib => Compression::Zlib,
            Compress::Zstandard => Compression::Zstandard,
        };
        Writing { compression, seal_4_minor: self.seal_minor }
    }

    /// A secret key is converted only when that was asked for.
    pub(super) fn require_secret_key_asked(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.unprotected_secret_key,
            "this is a secret key, which SEAL's files do not protect: say --unprotected-secret-key if that is what you want"
        );
        Ok(())
    }
}

/// What a file is turned into.
pub(super) struct Converted {
    /// Empty where it has been written already.
    pub(super) files: Vec<(PathBuf, zeroize::Zeroizing<Vec<u8>>)>,
    pub(super) private: bool,
    /// A line for the user.
    pub(super) said: String,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let bytes = files::read(&arguments.file)?;
    let ours = bytes.starts_with(b"sott");
    let converted = match &arguments.parameters {
        Some(path) => {
            let spec = parameters::read(path, arguments.scale_bits)?;
            let scheme = spec.scheme;
            if ours {
                for_scheme!(scheme, to_seal(spec, &bytes, arguments))?
            } else {
                for_scheme!(scheme, from_seal(spec, &bytes, arguments))?
            }
        }
        None if ours => to_seal::parameters(&bytes, arguments)?,
        None => from_seal::parameters(&bytes, arguments)?,
    };
    for (path, bytes) in &converted.files {
        files::write(path, bytes, converted.private)?;
    }
    say(converted.said);
    Ok(ExitCode::SUCCESS)
}
