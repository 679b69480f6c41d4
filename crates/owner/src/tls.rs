//! The certificate of the plant's cloud, and the private authority that signs it.

use std::net::IpAddr;
use std::path::PathBuf;

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _, Zoned};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose, date_time_ymd,
};
use serde::{Deserialize, Serialize};
use sotto_http::is_host;
use sotto_keys::KeyFile;
use toml_edit::{DocumentMut, Item, Table, value};
use zeroize::Zeroizing;

use crate::declared::{CLOUD, Plant, settings};
use crate::error::OwnerError;
use crate::files::{make_folder, pretty, read_json, read_text, write_private, write_whole};

/// Validity of the authority in days. A new authority requires new bundles for all devices.
pub const AUTHORITY_DAYS: i64 = 3650;

/// Validity of a certificate of the cloud in days.
pub const SERVER_DAYS: i64 = 397;

/// Number of days before its end from which `sotto status` asks for a new certificate.
pub const WARNING_DAYS: i64 = 30;

/// Both are valid from a day before they are made, because devices' clocks may be slow.
const BACKDATED_DAYS: i64 = 1;

/// Largest number of hosts in a certificate.
const MOST_HOSTS: usize = 64;

const AUTHORITY: &str = "ca.pem";

/// In the folder of secrets. No device's secret has such a name.
const AUTHORITY_KEY: &str = "authority-key";

/// The name in older plants, which is also that of the secret of a device `ca`.
const EARLIER_AUTHORITY_KEY: &str = "ca.key";

const FOLDER: &str = "tls";

const CERTIFICATE: &str = "tls/server.pem";

const KEY: &str = "tls/server.key";

const RECORD: &str = "tls/server.json";

/// The public data of the cloud's certificate, stored in `tls/server.json`.
///
/// Example: [`TlsFiles`]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CloudCertificate {
    /// DNS names and IP addresses for which it is valid.
    pub hosts: Vec<String>,
    /// The day on which it ends, at midnight UTC, e.g. `2027-12-25`.
    pub valid_until: String,
}

/// The files that were written.
///
/// ```
/// use sotto_owner::{CloudCertificate, TlsFiles};
/// # let folder = tempfile::tempdir()?;
/// # let here = sotto_owner::NewPlant { cloud: None, listen: "127.0.0.1:7410".parse()?, time_zone: None };
/// # let mut plant = sotto_owner::Plant::init(&folder.path().join("dairy"), &here)?;
///
/// let files: TlsFiles = plant.make_tls(&["cloud.dairy.example".into()])?;
/// assert!(files.certificate.exists() && files.key.exists());
/// let certificate: CloudCertificate = plant.cloud_certificate()?.ok_or("no certificate")?;
/// assert_eq!(certificate, files.of_cloud);
/// assert!(certificate.hosts.contains(&"cloud.dairy.example".into()));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The authority's certificate, public.
    pub authority: PathBuf,
    /// The cloud's certificate.
    pub certificate: PathBuf,
    /// The certificate's private key.
    pub key: PathBuf,
    /// The certificate's data.
    pub of_cloud: CloudCertificate,
    /// True if the configuration of a cloud on this machine names certificate and key.
    pub is_local: bool,
}

/// Returns true if the day is near or past, or cannot be read; then a new record is needed.
fn ends_soon(until: &str, today: jiff::civil::Date) -> bool {
    let last = today.checked_add(WARNING_DAYS.days());
    until.parse().map_or(true, |until: jiff::civil::Date| last.is_ok_and(|last| until <= last))
}

/// Returns the parameters of an authority that may sign only certificates of servers, and no other authority. Hosts are
/// not constrained, so a cloud may move to another host without new bundles.
fn authority_params(key: &KeyPair, today: &Zoned) -> Result<CertificateParams, OwnerError> {
    let mut params = CertificateParams::default();
    // Derived from the key, so that a renewal names the same issuer.
    let end = key.public_key_raw().last_chunk::<4>().copied().unwrap_or_default();
    params.distinguished_name = named(&format!("sotto authority {}", hex::encode(end)));
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    set_validity(&mut params, today, AUTHORITY_DAYS)?;
    Ok(params)
}

fn named(name: &str) -> DistinguishedName {
    let mut full = DistinguishedName::new();
    full.push(DnType::CommonName, name);
    full
}

fn set_validity(
    params: &mut CertificateParams,
    today: &Zoned,
    days: i64,
) -> Result<jiff::civil::Date, OwnerError> {
    let day = |offset: i64| {
        let wrong = |_| OwnerError::Certificate(rcgen::Error::Time);
        today.date().checked_add(offset.days()).map_err(wrong)
    };
    let at =
        |date: jiff::civil::Date| date_time_ymd(date.year().into(), date.month() as u8, date.day() as u8);
    let (from, until) = (day(-BACKDATED_DAYS)?, day(days)?);
    (params.not_before, params.not_after) = (at(from), at(until));
    Ok(until)
}

/// Returns the host of an address; for a loopback host also its other names.
fn cloud_host(url: &str) -> Vec<String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    let is_loopback =
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    let others: &[&str] = if is_loopback { &["localhost", "127.0.0.1", "::1"] } else { &[] };
    [host].iter().chain(others).map(|host| (*host).to_owned()).collect()
}

/// Returns the hosts without repetition, in order.
fn hosts_of(given: impl Iterator<Item = String>) -> Result<Vec<String>, OwnerError> {
    let mut hosts = Vec::new();
    for host in given {
        if !is_host(&host) || hosts.len() == MOST_HOSTS {
            return Err(OwnerError::Host(host));
        }
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    Ok(hosts)
}

/// Makes an authority, and a certificate for the cloud's host in `sotto.toml` and for `hosts`.
pub(crate) fn make_tls(plant: &mut Plant, hosts: &[String]) -> Result<TlsFiles, OwnerError> {
    let authority = plant.path(AUTHORITY);
    if authority.exists() {
        return Err(OwnerError::Exists { path: authority });
    }
    let hosts = hosts_of(cloud_host(&plant.settings().cloud.url).into_iter().chain(hosts.iter().cloned()))?;
    let today = Timestamp::now().to_zoned(TimeZone::UTC);
    // A key without a certificate may remain from an earlier attempt.
    let key = match authority_key(plant)? {
        Some(key) => key,
        None => {
            let key = KeyPair::generate()?;
            let pem = Zeroizing::new(key.serialize_pem());
            plant.secrets().write(KeyFile::Document, &plant.secret_path(AUTHORITY_KEY), pem.as_bytes())?;
            key
        }
    };
    let certificate = authority_params(&key, &today)?.self_signed(&key)?;
    let of_cloud = issue(plant, key, hosts, &today)?;
    write_whole(&authority, certificate.pem().as_bytes())?;
    let is_local = name_in_cloud_settings(plant)?;
    plant.edit(|document| {
        let cloud = &mut document["cloud"];
        cloud["ca"] = value(AUTHORITY);
        if let Some(rest) = cloud["url"].as_str().and_then(|url| url.strip_prefix("http://")) {
            let url = format!("https://{rest}");
            cloud["url"] = value(url);
        }
        Ok(())
    })?;
    Ok(tls_files(plant, of_cloud, is_local))
}

/// Puts the authority's key and certificate aside, and makes others.
pub(crate) fn replace_tls(plant: &mut Plant, hosts: &[String]) -> Result<TlsFiles, OwnerError> {
    // A device's secret may have the earlier name.
    let is_earlier = !plant.secret_path(AUTHORITY_KEY).exists() && authority_key(plant)?.is_some();
    let key = if is_earlier { EARLIER_AUTHORITY_KEY } else { AUTHORITY_KEY };
    for path in [plant.secret_path(key), plant.path(AUTHORITY)] {
        if path.exists() {
            plant.secrets().put_aside(&path)?;
        }
    }
    make_tls(plant, hosts)
}

/// Returns the authority's key; None if there is none.
fn authority_key(plant: &Plant) -> Result<Option<KeyPair>, OwnerError> {
    let [path, earlier] = [AUTHORITY_KEY, EARLIER_AUTHORITY_KEY].map(|name| plant.secret_path(name));
    if path.exists() {
        let pem = plant.secrets().read(KeyFile::Document, &path)?;
        return Ok(Some(key_pair(&pem).ok_or(OwnerError::NoAuthority { path })?));
    }
    // It may be a device's secret, which is no text.
    if !earlier.exists() {
        return Ok(None);
    }
    match plant.secrets().read(KeyFile::Document, &earlier) {
        Ok(pem) => Ok(key_pair(&pem)),
        Err(OwnerError::Key(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn key_pair(pem: &[u8]) -> Option<KeyPair> {
    std::str::from_utf8(pem).ok().and_then(|pem| KeyPair::from_pem(pem).ok())
}

/// Makes a new key and certificate of the cloud under the existing authority, for the same hosts and for `hosts`.
/// Bundles and configurations stay unchanged.
pub(crate) fn renew_tls(plant: &Plant, hosts: &[String]) -> Result<TlsFiles, OwnerError> {
    let key = if plant.path(AUTHORITY).exists() { authority_key(plant)? } else { None };
    let key = key.ok_or_else(|| OwnerError::NoAuthority { path: plant.secret_path(AUTHORITY_KEY) })?;
    let before: CloudCertificate = read_json(&plant.path(RECORD))?;
    let hosts = hosts_of(before.hosts.into_iter().chain(hosts.iter().cloned()))?;
    let of_cloud = issue(plant, key, hosts, &Timestamp::now().to_zoned(TimeZone::UTC))?;
    Ok(tls_files(plant, of_cloud, plant.path(CLOUD).exists()))
}

/// Returns the latest certificate of the cloud made here; None before [`Plant::make_tls`].
pub(crate) fn cloud_certificate(plant: &Plant) -> Result<Option<CloudCertificate>, OwnerError> {
    let path = plant.path(RECORD);
    if path.exists() { read_json(&path).map(Some) } else { Ok(None) }
}

/// Returns the day on which the cloud's certificate ends, if it is past or within [`WARNING_DAYS`].
pub(crate) fn certificate_ends_soon(plant: &Plant) -> Result<Option<String>, OwnerError> {
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let until = cloud_certificate(plant)?.map(|certificate| certificate.valid_until);
    Ok(until.filter(|until| ends_soon(until, today)))
}

fn issue(
    plant: &Plant,
    authority: KeyPair,
    hosts: Vec<String>,
    today: &Zoned,
) -> Result<CloudCertificate, OwnerError> {
    let issuer = Issuer::new(authority_params(&authority, today)?, authority);
    let key = KeyPair::generate()?;
    let mut params = CertificateParams::new(hosts.clone())?;
    params.distinguished_name = named("sotto cloud");
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    let valid_until = set_validity(&mut params, today, SERVER_DAYS)?;
    let certificate = params.signed_by(&key, &issuer)?;
    make_folder(&plant.path(FOLDER), true)?;
    // A cloud that reads between the two writes finds that they do not match, and reads again.
    write_private(&plant.path(KEY), Zeroizing::new(key.serialize_pem()).as_bytes())?;
    write_whole(&plant.path(CERTIFICATE), certificate.pem().as_bytes())?;
    let of_cloud = CloudCertificate { hosts, valid_until: valid_until.to_string() };
    write_whole(&plant.path(RECORD), &pretty(&of_cloud)?)?;
    Ok(of_cloud)
}

/// Names certificate and key in `cloud.toml`. Returns false if there is no such file.
fn name_in_cloud_settings(plant: &Plant) -> Result<bool, OwnerError> {
    let path = plant.path(CLOUD);
    if !path.exists() {
        return Ok(false);
    }
    let _lock = plant.lock_folder()?;
    let text = read_text(&path, settings::LARGEST)?;
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        OwnerError::Damaged { path: path.clone(), reason: error.to_string() }
    })?;
    let mut table = Table::new();
    table.insert("certificate", value(CERTIFICATE));
    table.insert("key", value(KEY));
    document.insert("tls", Item::Table(table));
    write_whole(&path, document.to_string().as_bytes())?;
    Ok(true)
}

fn tls_files(plant: &Plant, of_cloud: CloudCertificate, is_local: bool) -> TlsFiles {
    let [authority, certificate, key] = [AUTHORITY, CERTIFICATE, KEY].map(|name| plant.path(name));
    TlsFiles { authority, certificate, key, of_cloud, is_local }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::declared::NewPlant;

    fn plant(folder: &Path, cloud: Option<&str>) -> Plant {
        let listen = "127.0.0.1:7410".parse().expect("an address");
        Plant::init(folder, &NewPlant { cloud: cloud.map(Into::into), listen, time_zone: None })
            .expect("made")
    }

    #[test]
    fn a_certificate_is_for_the_hosts_of_the_cloud() {
        let hosts = |url: &str| cloud_host(url);
        assert_eq!(hosts("https://farm.example:7410/sotto"), ["farm.example"]);
        assert_eq!(hosts("https://[2001:db8::1]:7410"), ["2001:db8::1"]);
        assert_eq!(hosts("http://127.0.0.1:7410"), ["127.0.0.1", "localhost", "127.0.0.1", "::1"]);
        let given = |names: &[&str]| hosts_of(names.iter().map(|name| (*name).to_owned()));
        assert_eq!(given(&["a.org", "10.0.0.1", "a.org"]).expect("hosts"), ["a.org", "10.0.0.1"]);
        for wrong in ["", "a.org:7410", "https://a.org", "two words", "[::1]", "*.org "] {
            assert!(matches!(given(&[wrong]), Err(OwnerError::Host(_))), "{wrong}");
        }
    }

    #[test]
    fn configurations_name_what_was_made() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut local = plant(&folder.path().join("local"), None);
        assert!(matches!(local.renew_tls(&[]), Err(OwnerError::NoAuthority { .. })));
        let made = local.make_tls(&["farm.local".into()]).expect("made");
        assert!(made.is_local);
        assert_eq!(made.of_cloud.hosts, ["127.0.0.1", "localhost", "::1", "farm.local"]);
        let cloud = &local.settings().cloud;
        assert_eq!((cloud.url.as_str(), cloud.ca.as_deref()), ("https://127.0.0.1:7410", Some("ca.pem")));
        let text = std::fs::read_to_string(local.path(CLOUD)).expect("text");
        assert!(text.contains("[tls]") && text.contains("# The cloud of this plant"), "{text}");
        assert!(matches!(local.make_tls(&[]), Err(OwnerError::Exists { .. })));
        local.cloud().expect("a client");

        let mut far = plant(&folder.path().join("far"), Some("https://farm.example:7410"));
        let made = far.make_tls(&[]).expect("made");
        assert!(!made.is_local);
        assert_eq!(far.settings().cloud.url, "https://farm.example:7410");
        assert!(far.make_tls(&["no host".into()]).is_err());
    }

    #[test]
    fn a_renewal_keeps_the_authority_and_the_hosts() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut plant = plant(&folder.path().join("plant"), None);
        let made = plant.make_tls(&["a.org".into()]).expect("made");
        let read = |path: &Path| std::fs::read_to_string(path).expect("text");
        let (authority, certificate, key) = (read(&made.authority), read(&made.certificate), read(&made.key));
        let again = plant.renew_tls(&["b.org".into()]).expect("renewed");
        assert_eq!(read(&again.authority), authority);
        assert_ne!(read(&again.certificate), certificate);
        assert_ne!(read(&again.key), key);
        assert_eq!(again.of_cloud.hosts[3..], ["a.org", "b.org"]);
        assert_eq!(plant.cloud_certificate().expect("read"), Some(again.of_cloud));
    }

    #[test]
    fn a_certificate_that_ends_soon_is_told() {
        let today = jiff::civil::date(2027, 11, 30);
        for (until, soon) in
            [("2027-12-30", true), ("2027-12-31", false), ("2026-01-01", true), ("never", true)]
        {
            assert_eq!(ends_soon(until, today), soon, "{until}");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let mut plant = plant(&folder.path().join("plant"), None);
        assert_eq!(plant.certificate_ends_soon().expect("none"), None);
        plant.make_tls(&[]).expect("made");
        assert_eq!(plant.certificate_ends_soon().expect("read"), None);
    }

    #[cfg(unix)]
    #[test]
    fn others_cannot_read_the_keys() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let mut plant = plant(&folder.path().join("plant"), None);
        let made = plant.make_tls(&[]).expect("made");
        let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!([mode(&made.key), mode(&plant.secret_path(AUTHORITY_KEY))], [0o600; 2]);
        assert_eq!(mode(&plant.path(FOLDER)), 0o700);
    }

    #[test]
    fn a_file_that_is_no_authority_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut plant = plant(&folder.path().join("plant"), None);
        plant.make_tls(&[]).expect("made");
        std::fs::write(plant.path(AUTHORITY), "no PEM").expect("written");
        let error = plant.cloud().err().expect("refused").to_string();
        assert!(error.contains("ca.pem") && error.contains("PEM"), "{error}");
    }
}
