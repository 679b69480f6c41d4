//! The cloud's keys that the owner pinned. A message leaves the spool only with a receipt signed by one of them.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use sotto_pack::DeviceProfile;

use crate::upload::{Later, Receipt};

/// An Ed25519 key of the cloud.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloudKey([u8; 32]);

/// The text is not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key of the cloud is 64 hexadecimal digits; `sotto-cloud key` prints it")]
pub struct NotAKey;

impl FromStr for CloudKey {
    type Err = NotAKey;

    fn from_str(text: &str) -> Result<Self, NotAKey> {
        let mut key = [0; 32];
        hex::decode_to_slice(text, &mut key).map_err(|_| NotAKey)?;
        Ok(Self(key))
    }
}

impl Display for CloudKey {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(&hex::encode(self.0))
    }
}

/// The name of a window: a receipt is for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowName<'w> {
    /// The device's name.
    pub device: &'w str,
    /// The stream's name.
    pub stream: &'w str,
    /// The sequence number.
    pub sequence: u64,
}

/// The pinned keys. If there are none, receipts are accepted without a signature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pinned(Vec<CloudKey>);

impl Pinned {
    /// Takes the keys of the arguments if there are any, else those of the profile.
    #[must_use]
    pub fn new(given: &[CloudKey], profile: &DeviceProfile) -> Self {
        if !given.is_empty() {
            return Self(given.to_vec());
        }
        // Keys were validated when the profile was read.
        Self(profile.cloud_keys.iter().filter_map(|text| text.parse().ok()).collect())
    }

    /// Returns true if receipts are accepted without a signature.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the present key: the first one. None if none is pinned.
    #[must_use]
    pub fn present(&self) -> Option<CloudKey> {
        self.0.first().copied()
    }

    /// Refuses a receipt unless a pinned key signed it for this window of this device. Returns that key; None if none is
    /// pinned.
    ///
    /// # Errors
    /// [`Later`]: keep the message in the spool.
    pub fn check(&self, window: WindowName<'_>, receipt: &Receipt) -> Result<Option<CloudKey>, Later> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let (mut digest, mut signature) = ([0; 32], [0; 64]);
        let read = hex::decode_to_slice(&receipt.digest, &mut digest)
            .and_then(|()| hex::decode_to_slice(&receipt.signature, &mut signature));
        let Receipt { position, stored_at, .. } = *receipt;
        let WindowName { device, stream, sequence } = window;
        let statement = sotto_wire::Receipt { device, stream, sequence, digest, position, stored_at };
        let signer = self.0.iter().find(|CloudKey(key)| statement.verify(&signature, key).is_ok());
        if let Some(key) = signer.filter(|_| read.is_ok()) {
            return Ok(Some(*key));
        }
        let reason = "the receipt is not signed with the key of the cloud that the owner pinned: the message stays in the spool. Another server \
                      answers at the cloud's address, or the cloud has a new key: its owner pins it (`sotto cloud pin`) and makes a new \
                      bundle, or give it here with --cloud-key";
        Err(Later { reason: reason.to_owned(), wait: None, unregistered: false })
    }
}

#[cfg(test)]
mod tests {
    use sotto_keys::SigningIdentity;

    use super::*;

    #[test]
    fn only_a_receipt_for_this_window_by_a_pinned_key_is_one() {
        let [cloud, other] = [1, 2].map(|byte| SigningIdentity::from_bytes(&[byte; 32]));
        let (device, stream, sequence, digest) = ("boiler", "exact-1h", 7, [3; 32]);
        let statement = sotto_wire::Receipt {
            device,
            stream,
            sequence,
            digest,
            position: 9,
            stored_at: 1_700_000_000_000,
        };
        let receipt = |by: &SigningIdentity| Receipt {
            id: "x".into(),
            digest: hex::encode(digest),
            stored_at: statement.stored_at,
            duplicate: false,
            position: statement.position,
            signature: hex::encode(statement.sign(|message| by.sign(message)).unwrap()),
        };
        let key = |of: &SigningIdentity| CloudKey(of.verifying_key());
        let pinned = Pinned(vec![key(&other), key(&cloud)]);
        let window = WindowName { device, stream, sequence };
        let check = |receipt: &Receipt| pinned.check(window, receipt).is_ok();
        let good = receipt(&cloud);
        for signer in [&cloud, &other] {
            assert_eq!(pinned.check(window, &receipt(signer)), Ok(Some(key(signer))), "either key");
        }
        assert!(Pinned(vec![key(&other)]).check(window, &good).is_err());
        assert!(
            pinned.check(WindowName { sequence: sequence + 1, ..window }, &good).is_err(),
            "of another window"
        );
        assert!(pinned.check(WindowName { device: "kettle", ..window }, &good).is_err(), "of another device");
        assert!(!check(&Receipt { position: 8, ..good.clone() }));
        assert!(!check(&Receipt { stored_at: 0, ..good.clone() }));
        assert!(!check(&Receipt { signature: String::new(), ..good.clone() }));
        let unsigned = Receipt { signature: String::new(), ..good };
        assert!(Pinned::default().check(window, &unsigned).is_ok(), "nothing is pinned");
        assert!("00".parse::<CloudKey>().is_err() && "0".repeat(64).parse::<CloudKey>().is_ok());
    }
}
