//! `sotto keys`: the owner's one secret for each device.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Subcommand;
use sotto_keys::partial::RecryptorSecret;
use sotto_keys::partial::paillier::Masking;
use sotto_keys::{DeviceSecret, KeyFile, Protection};
use sotto_partial::elgamal::GroupName;
use sotto_ring::secure_rng;
use zeroize::Zeroizing;

use crate::output::say;
use crate::run::Run;

/// Environment variable with the passphrase, for scripts.
const PASSPHRASE: &str = "SOTTO_PASSPHRASE";

/// Arguments of `sotto keys`.
#[derive(clap::Args, Debug)]
pub(crate) struct Keys {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Make the secret of a new device: one file for the owner, under a passphrase.
    New {
        /// The file to write, mode 0600; an existing file is never overwritten.
        file: PathBuf,
    },
    /// Write the device's own copy, mode 0600 and without a passphrase, so that the device starts unattended. A reader
    /// of this file can read all data of the device; a device with public keys only avoids this.
    Device {
        /// The owner's file.
        file: PathBuf,
        /// The device's file to write.
        device: PathBuf,
    },
    /// Write the recryptor's keys, mode 0600 and without a passphrase: Paillier and ElGamal keys derived from the
    /// device's secret, which cannot be computed from them. A reader of this file can read everything that the device
    /// encrypts in these two schemes.
    Recryptor {
        /// The owner's file.
        file: PathBuf,
        /// The recryptor's file to write.
        recryptor: PathBuf,
        /// Bits of Paillier's n: 2048 (112 bits of security), 3072 or 4096.
        #[arg(long, default_value_t = 3072)]
        bits: u32,
        /// ElGamal's group, for conversions. Without it the recryptor only multiplies, which is enough for blinded
        /// products.
        #[arg(long)]
        group: Option<Group>,
    },
}

/// Groups of RFC 7919.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Group {
    /// 2,048 bits: 112 bits of security.
    Ffdhe2048,
    /// 3,072 bits: 128 bits of security.
    Ffdhe3072,
}

impl Run for Keys {
    fn run(self) -> anyhow::Result<ExitCode> {
        match &self.command {
            Command::New { file } => {
                let passphrase = passphrase(true)?;
                let mut rng = secure_rng()?;
                let secret = DeviceSecret::generate(&mut rng);
                let protection = Protection::Passphrase(&passphrase);
                KeyFile::Device.write(file, secret.expose_secret_bytes(), &protection, &mut rng)?;
                say(format!(
                    "{}: a new device secret, under your passphrase. Nobody can recover it: keep a copy.",
                    file.display()
                ));
            }
            Command::Device { file, device } => {
                write_device_file(file, device, &passphrase(false)?)?;
                say(format!("{}: give it to the device and to nobody else.", device.display()));
            }
            Command::Recryptor { file, recryptor, bits, group } => {
                let group = group.map(|group| match group {
                    Group::Ffdhe2048 => GroupName::Ffdhe2048,
                    Group::Ffdhe3072 => GroupName::Ffdhe3072,
                });
                write_recryptor_file(file, recryptor, *bits, group, &passphrase(false)?)?;
                say(format!("{}: give it to the recryptor and to nobody else.", recryptor.display()));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn write_recryptor_file(
    file: &Path,
    recryptor: &Path,
    bits: u32,
    group: Option<GroupName>,
    passphrase: &str,
) -> anyhow::Result<()> {
    let device = DeviceSecret::from_bytes(&*KeyFile::Device.read(file, Some(passphrase))?);
    let secret = RecryptorSecret::derive(&device, bits, Masking::HalfLength, group)?;
    Ok(secret.write(recryptor, &Protection::FileMode, &mut secure_rng()?)?)
}

fn write_device_file(file: &Path, device: &Path, passphrase: &str) -> anyhow::Result<()> {
    let secret = KeyFile::Device.read(file, Some(passphrase))?;
    Ok(KeyFile::Device.write(device, &secret, &Protection::FileMode, &mut secure_rng()?)?)
}

pub(crate) fn passphrase(is_new: bool) -> anyhow::Result<Zeroizing<String>> {
    if let Ok(passphrase) = std::env::var(PASSPHRASE) {
        return checked(Zeroizing::new(passphrase));
    }
    let ask = |prompt: &str| {
        let hint = format!("no terminal to ask for the passphrase: set {PASSPHRASE}");
        rpassword::prompt_password(prompt).map(Zeroizing::new).context(hint)
    };
    let passphrase = checked(ask("Passphrase: ")?)?;
    if is_new {
        anyhow::ensure!(*ask("Once more: ")? == *passphrase, "the two passphrases differ");
    }
    Ok(passphrase)
}

fn checked(passphrase: Zeroizing<String>) -> anyhow::Result<Zeroizing<String>> {
    anyhow::ensure!(passphrase.chars().count() >= 8, "a passphrase has at least 8 characters");
    Ok(passphrase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_file_holds_the_owners_secret() {
        let folder = tempfile::tempdir().expect("a folder");
        let (owner, device) = (folder.path().join("owner.key"), folder.path().join("device.key"));
        let mut rng = secure_rng().expect("randomness");
        KeyFile::Device
            .write(&owner, &[5; 32], &Protection::Passphrase("long enough"), &mut rng)
            .expect("written");
        write_device_file(&owner, &device, "long enough").expect("written");
        assert_eq!(*KeyFile::Device.read(&device, None).expect("read"), [5; 32]);
        assert!(write_device_file(&owner, &folder.path().join("other"), "another one").is_err());
    }
    #[test]
    fn a_recryptors_file_holds_the_keys_of_the_lane_and_no_device() {
        let folder = tempfile::tempdir().expect("a folder");
        let (owner, agent) = (folder.path().join("owner.key"), folder.path().join("recryptor.key"));
        let mut rng = secure_rng().expect("randomness");
        let protection = Protection::Passphrase("long enough");
        KeyFile::Device.write(&owner, &[5; 32], &protection, &mut rng).expect("written");
        let group = Some(GroupName::Ffdhe2048);
        write_recryptor_file(&owner, &agent, 2048, group, "long enough").expect("written");
        let read = RecryptorSecret::read(&agent, None).expect("read");
        let device = DeviceSecret::from_bytes(&[5; 32]);
        let expected = RecryptorSecret::derive(&device, 2048, Masking::HalfLength, group).expect("keys");
        assert_eq!(read.paillier.modulus(), expected.paillier.modulus());
        assert_eq!(read.elgamal.map(|key| key.id()), expected.elgamal.map(|key| key.id()));
        assert!(KeyFile::Device.read(&agent, None).is_err());
        assert!(write_recryptor_file(&owner, &agent, 2048, group, "long enough").is_err(), "overwrites");
        assert!(write_recryptor_file(&owner, &folder.path().join("b"), 1024, None, "long enough").is_err());
    }
}
