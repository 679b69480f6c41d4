//! The verbs of a plant about its cloud: keys, logs, orders, verification, certificates.

use std::path::Path;

use crate::answers;
use crate::declared::{self, CloudKeys, Plant};
use crate::error::OwnerError;
use crate::orders::{self, GivenOrder, UnknownOrders};
use crate::tls::{self, CloudCertificate, TlsFiles};
use crate::trust::{OnVerified, Verification};
use crate::windows::{self, Accepted, GivenUp};
use crate::work::Evidence;

impl Plant {
    /// Returns the keys of the cloud that are pinned in `sotto.toml`.
    ///
    /// # Errors
    /// [`OwnerError::Settings`] if one of them is not a key.
    pub fn cloud_keys(&self) -> Result<CloudKeys, OwnerError> {
        declared::cloud_keys(self)
    }

    /// Pins a key of the cloud, 64 hexadecimal digits, as the present one. Earlier keys stay pinned.
    ///
    /// # Errors
    /// [`OwnerError`] if it is not a key, or `sotto.toml` cannot be written.
    pub fn pin_cloud(&mut self, text: &str) -> Result<(), OwnerError> {
        declared::pin_cloud(self, text)
    }

    /// Returns a note, with the way out, if no key of the cloud is pinned.
    #[must_use]
    pub fn not_pinned(&self) -> Option<String> {
        declared::not_pinned(self)
    }

    /// Returns the key that the cloud claims to sign with, in hexadecimal. The claim proves nothing.
    ///
    /// # Errors
    /// [`OwnerError::Cloud`] if the cloud is unreachable or refuses; another [`OwnerError`] if the token cannot be
    /// read.
    pub fn claimed_cloud_key(&self) -> Result<String, OwnerError> {
        declared::claimed_cloud_key(self)
    }

    /// Repeats the work behind a stored answer: all of it, or a random sample that the cloud cannot foresee. With
    /// `save`, everything needed to verify the same work is written to a new folder, for [`verify_folder`](crate::verify_folder).
    ///
    /// # Errors
    /// [`OwnerError`] if there is no evidence, the sample is not above 0 and at most 1, the cloud is unreachable, or a
    /// log is false. False statements about the work are findings, not errors.
    pub fn verify(
        &self,
        answer: &str,
        sample: f64,
        save: Option<&Path>,
        progress: OnVerified<'_>,
    ) -> Result<Verification, OwnerError> {
        answers::verify(self, answer, sample, save, progress)
    }

    /// Accepts the logs of a device as the cloud has them now, whatever stood in the stored ones, which are moved to `logs/old`
    /// as evidence. Signs an order about each.
    ///
    /// # Errors
    /// [`OwnerError`] if the cloud is away, its logs are false in themselves, or the owner's key cannot be used: nothing is
    /// changed then.
    pub fn accept_logs(&self, device: &str) -> Result<Accepted, OwnerError> {
        windows::accept_logs(self, self.wire_device(device))
    }

    /// Returns the streams whose logs the cloud does not continue, as after a backup was put back, each with the windows
    /// that the cloud no longer has.
    ///
    /// # Errors
    /// [`OwnerError::Lie`] if the cloud's present logs are false in themselves; another [`OwnerError`] if the cloud is
    /// unreachable, or a record or log is damaged.
    pub fn set_back(&self) -> Result<Vec<GivenUp>, OwnerError> {
        windows::set_back(self)
    }

    /// Accepts the cloud's logs of these streams, and gives up the windows that it no longer has. Signs an order about each, and
    /// moves the stored logs to `logs/old`, as evidence.
    ///
    /// # Errors
    /// [`OwnerError::ChangedLog`] if the cloud's logs do not continue those that [`Plant::set_back`] has shown; another
    /// [`OwnerError`] if the cloud is away, or the owner's key cannot be used. Nothing is changed then.
    pub fn accept(&self, streams: &[GivenUp]) -> Result<(), OwnerError> {
        windows::accept(self, streams)
    }

    /// Returns the owner's verifying key, in hexadecimal: this copy of the plant signs its orders with it. None for a plant of
    /// an earlier version that has given no order yet.
    ///
    /// # Errors
    /// [`OwnerError`] if the file of keys is damaged.
    pub fn owner_key(&self) -> Result<Option<String>, OwnerError> {
        Ok(self.secrets().owner_keys()?.first().map(hex::encode))
    }

    /// Returns the orders that the cloud shows under keys which are not this plant's.
    ///
    /// # Errors
    /// [`OwnerError`] if the cloud is away, or the file of orders is damaged.
    pub fn unknown_orders(&self) -> Result<Vec<UnknownOrders>, OwnerError> {
        orders::unknown(self)
    }

    /// Believes the orders of another copy of this plant, whose owner's key this is, in hexadecimal.
    ///
    /// # Errors
    /// [`OwnerError::Unanswerable`] if it is no key.
    pub fn believe_owner_key(&self, key: &str) -> Result<(), OwnerError> {
        self.secrets().believe_owner_key(key)
    }

    /// Returns the orders that the owner gave, the latest last, from all computers of the owner.
    ///
    /// # Errors
    /// [`OwnerError`] if the cloud is away, or the file of orders is damaged.
    pub fn orders(&self) -> Result<Vec<GivenOrder>, OwnerError> {
        orders::given(self)
    }

    /// Returns the evidence of a stored answer.
    ///
    /// # Errors
    /// [`OwnerError`] if there is none, or it is damaged.
    pub fn evidence(&self, answer: &str) -> Result<Evidence, OwnerError> {
        answers::evidence(self, answer)
    }

    /// Makes an authority, and a certificate for the cloud's host in `sotto.toml` and for `hosts`.
    ///
    /// Names both in the configurations: `[cloud] ca` and an `https` address in `sotto.toml`, and `[tls]` in
    /// `cloud.toml` if the cloud is on this machine.
    ///
    /// # Errors
    /// [`OwnerError::Exists`] if there is already an authority; [`OwnerError::Host`] if a host is invalid; another
    /// [`OwnerError`] if a file cannot be written.
    pub fn make_tls(&mut self, hosts: &[String]) -> Result<TlsFiles, OwnerError> {
        tls::make_tls(self, hosts)
    }

    /// Makes a new authority in place of one whose key was stolen, as [`Plant::make_tls`] does. The old key and
    /// certificate go to `secrets/old`. All devices need new bundles.
    ///
    /// # Errors
    /// Those of [`Plant::make_tls`], but for [`OwnerError::Exists`].
    pub fn replace_tls(&mut self, hosts: &[String]) -> Result<TlsFiles, OwnerError> {
        tls::replace_tls(self, hosts)
    }

    /// Makes a new key and certificate of the cloud under the existing authority, for the same hosts and for `hosts`.
    /// Bundles and configurations stay unchanged.
    ///
    /// # Errors
    /// [`OwnerError::NoAuthority`] before [`Plant::make_tls`]; [`OwnerError::Host`] if a host is invalid; another
    /// [`OwnerError`] if a file cannot be written.
    pub fn renew_tls(&self, hosts: &[String]) -> Result<TlsFiles, OwnerError> {
        tls::renew_tls(self, hosts)
    }

    /// Returns the latest certificate of the cloud made here; None before [`Plant::make_tls`].
    ///
    /// # Errors
    /// [`OwnerError`] if the record cannot be read.
    pub fn cloud_certificate(&self) -> Result<Option<CloudCertificate>, OwnerError> {
        tls::cloud_certificate(self)
    }

    /// Returns the day on which the cloud's certificate ends, if it is past or within [`WARNING_DAYS`](crate::WARNING_DAYS).
    ///
    /// # Errors
    /// [`OwnerError`] if the record cannot be read.
    pub fn certificate_ends_soon(&self) -> Result<Option<String>, OwnerError> {
        tls::certificate_ends_soon(self)
    }
}
