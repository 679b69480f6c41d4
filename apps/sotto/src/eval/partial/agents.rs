//! The re-encryption agent (recryptor) of an emulated expression: in this process with new keys, or a service at an
//! address.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use sotto_decrypt::partial::paillier::Decryptor;
use sotto_decrypt::partial::recryptor::LocalRecryptor;
use sotto_emulate::{PublicKeys, Recrypt};
use sotto_http::{LARGEST_AUTHORITY, Trust};
use sotto_keys::partial::{elgamal, paillier};
use sotto_keys::{DeviceSecret, KeyFile};
use sotto_partial::elgamal::{Group, GroupName, PublicKey as ElGamalKey};
use sotto_partial::paillier::PublicKey as PaillierKey;
use sotto_recryptor_client::{Address, RemoteRecryptor};
use sotto_ring::secure_rng;
use zeroize::Zeroizing;

use super::super::RecryptorArguments;

/// A re-encryption agent, its public keys, and the decryptor of the answer.
pub(super) struct Parties {
    pub(super) agent: Box<dyn Recrypt>,
    pub(super) public: PublicKeys,
    pub(super) decryptor: Decryptor,
}

impl Parties {
    /// Makes a re-encryption agent in this process, with new keys.
    pub(super) fn here(bits: u32, group: Option<GroupName>) -> anyhow::Result<Self> {
        let mut rng = secure_rng()?;
        let secret = paillier::SecretKey::generate(bits, paillier::Masking::HalfLength, &mut rng)?;
        let multiplicative = match group {
            Some(name) => Some(elgamal::SecretKey::generate(&Arc::new(Group::new(name)?), &mut rng)),
            None => None,
        };
        let agent = LocalRecryptor::new(&secret, multiplicative)?;
        let public =
            PublicKeys { paillier: agent.paillier_key().clone(), elgamal: agent.elgamal_key().cloned() };
        Ok(Self { agent: Box::new(agent), public, decryptor: Decryptor::new(&secret)? })
    }

    /// Connects to the recryptor at an address, whose keys must be those of the owner's device.
    pub(super) fn far_away(
        url: &str,
        arguments: &RecryptorArguments,
        converts: bool,
    ) -> anyhow::Result<Self> {
        let (Some(token), Some(owner)) = (&arguments.recryptor_token, &arguments.owner_key) else {
            bail!("--recryptor needs --recryptor-token FILE and --owner-key FILE");
        };
        let token = read_token(token).with_context(|| format!("cannot read {}", token.display()))?;
        let passphrase = crate::keys::passphrase(false)?;
        let device = DeviceSecret::from_bytes(&*KeyFile::Device.read(owner, Some(passphrase.as_str()))?);
        // The recryptor's message selects key lengths and the group; the keys themselves are derived from the device
        // secret.
        let address = if arguments.allow_plain_http {
            Address::with_plain_http(url)?
        } else {
            Address::new(url).context("--recryptor (and --allow-plain-http if the network is yours)")?
        };
        let address = match &arguments.recryptor_ca {
            Some(file) => address.trusting(read_authority(file)?),
            None => address,
        };
        let says = RemoteRecryptor::connect(&address, token.trim())?;
        let its_elgamal = says.elgamal_key().filter(|_| converts);
        ensure!(
            its_elgamal.is_some() || !converts,
            "this recryptor has no ElGamal key: use --scheme paillier-blinded"
        );
        let (secret, public) = owners_keys(&device, says.paillier_key(), its_elgamal)
            .with_context(|| format!("the owner's file is {}", owner.display()))?;
        let recryptor = RemoteRecryptor::new(
            &address,
            token.trim(),
            Arc::clone(&public.paillier),
            public.elgamal.clone(),
        )?;
        Ok(Self { agent: Box::new(recryptor), public, decryptor: Decryptor::new(&secret)? })
    }

    /// Returns the bits of ElGamal's prime.
    pub(super) fn group_bits(&self) -> Option<u32> {
        self.public.elgamal.as_ref().map(|key| key.group().name().bits())
    }
}

/// Derives the device's own keys, of the lengths that the recryptor states; refuses if the identifiers differ. An
/// identifier does not cover the base of Paillier's masks: a recryptor that chose this base could read everything
/// encrypted under it, so the derived keys are used.
fn owners_keys(
    device: &DeviceSecret,
    said: &PaillierKey,
    said_elgamal: Option<&Arc<ElGamalKey>>,
) -> anyhow::Result<(paillier::SecretKey, PublicKeys)> {
    let secret = paillier::SecretKey::derive(device, said.bits(), paillier::Masking::HalfLength)?;
    let elgamal =
        said_elgamal.map(|key| Arc::new(elgamal::SecretKey::derive(device, key.group()).public_key()));
    let public = PublicKeys { paillier: Arc::new(secret.public_key()?), elgamal };
    ensure!(
        public.paillier.id() == said.id()
            && public.elgamal.as_ref().map(|key| key.id()) == said_elgamal.map(|key| key.id()),
        "the recryptor's keys are not those of the device"
    );
    Ok((secret, public))
}

fn read_authority(file: &Path) -> anyhow::Result<Trust> {
    let mut pem = Vec::new();
    let opened = File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    opened.take(LARGEST_AUTHORITY as u64 + 1).read_to_end(&mut pem)?;
    Trust::pinned(&pem).with_context(|| format!("--recryptor-ca {}", file.display()))
}

/// Bytes of the longest token file that services accept.
const LONGEST_TOKEN: usize = 1024;

/// Reads into a buffer of full capacity: a string that grows leaves copies in memory.
fn read_token(file: &Path) -> std::io::Result<Zeroizing<String>> {
    let mut token = Zeroizing::new(String::with_capacity(LONGEST_TOKEN));
    File::open(file)?.take(LONGEST_TOKEN as u64).read_to_string(&mut token)?;
    Ok(token)
}

#[cfg(test)]
mod tests {
    use sotto_partial::number::from_words;
    use sotto_partial::paillier::Randomness;

    use super::*;

    #[test]
    fn masks_are_the_owners_whatever_the_other_end_says() {
        let device = DeviceSecret::from_bytes(&[5; 32]);
        let masking = paillier::Masking::HalfLength;
        let own = paillier::SecretKey::derive(&device, 2048, masking).unwrap().public_key().unwrap();
        let group = Arc::new(Group::new(GroupName::Ffdhe2048).unwrap());
        let elgamal_of = |device| Arc::new(elgamal::SecretKey::derive(device, &group).public_key());
        let elgamal = elgamal_of(&device);
        // The same n, hence the same identifier, but with an h that the recryptor has chosen.
        let h = from_words(&[2]);
        let said = PaillierKey::new(own.modulus(), Randomness::HalfLength { h }).unwrap();
        assert_eq!(said.id(), own.id());
        let (_, public) = owners_keys(&device, &said, Some(&elgamal)).unwrap();
        assert!(public.paillier.randomness() == own.randomness());
        assert_eq!(public.elgamal.map(|key| key.id()), Some(elgamal.id()));
        // Keys of another device, for either scheme.
        let other = DeviceSecret::from_bytes(&[6; 32]);
        let refused = owners_keys(&device, &own, Some(&elgamal_of(&other))).err().unwrap();
        assert!(refused.to_string().contains("are not those of the device"));
        assert!(owners_keys(&other, &own, None).is_err());
        assert!(owners_keys(&device, &own, None).is_ok_and(|(_, public)| public.elgamal.is_none()));
    }
}
