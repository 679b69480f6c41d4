//! The authority of a plant's workers: members with a certificate of it send plans, and answer them.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};

use super::identity::{AUTHORITY, CERTIFICATE, KEY, NAME};

/// The file of the authority's own key.
const AUTHORITY_KEY: &str = "authority.key";
/// Validity in years.
const YEARS: i32 = 10;
/// Days of a year of the Gregorian calendar, in seconds.
const YEAR_SECONDS: u64 = 31_556_952;

fn params(name: &str) -> CertificateParams {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let year = 1970 + (now / YEAR_SECONDS) as i32;
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    (params.not_before, params.not_after) =
        (date_time_ymd(year - 1, 1, 1), date_time_ymd(year + YEARS, 1, 1));
    params
}

/// Returns the certificate of an authority before it is signed: the same whenever a member is added.
fn of_authority() -> CertificateParams {
    let mut authority = params("sotto lake authority");
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    authority
}

/// Makes an authority in a new folder, or takes the one that is there, and makes beside it a folder for each member with all that
/// it needs: copy that one to its machine, and nothing else.
///
/// # Errors
/// The folder is no authority's, has a member of this name, or cannot be written.
pub fn make_authority(folder: &Path, members: &[String]) -> anyhow::Result<()> {
    let wrong = |name: &&String| {
        name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    if let Some(name) = members.iter().find(wrong) {
        anyhow::bail!("a member's name has letters, digits and hyphens, not `{name}`");
    }
    if let Some(name) = members.iter().find(|name| folder.join(name).exists()) {
        anyhow::bail!(
            "{} has a member `{name}`: choose another name, or make a new authority to shut an old member out",
            folder.display()
        );
    }
    let (certificate, key) = if folder.exists() { read(folder)? } else { begin(folder)? };
    let issuer = Issuer::new(of_authority(), key);
    for member in members {
        let own = folder.join(member);
        fs::create_dir(&own)?;
        let key = KeyPair::generate()?;
        let mut params = params(member);
        // One name for all: membership counts, not the host.
        params.subject_alt_names = CertificateParams::new(vec![NAME.to_owned()])?.subject_alt_names;
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let signed = params.signed_by(&key, &issuer)?;
        private(&own.join(KEY), &key.serialize_pem())?;
        fs::write(own.join(CERTIFICATE), signed.pem())?;
        fs::write(own.join(AUTHORITY), &certificate)?;
    }
    Ok(())
}

/// Makes an authority; returns its certificate and its key.
fn begin(folder: &Path) -> anyhow::Result<(String, KeyPair)> {
    fs::create_dir(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let key = KeyPair::generate()?;
    let certificate = of_authority().self_signed(&key)?.pem();
    private(&folder.join(AUTHORITY_KEY), &key.serialize_pem())?;
    fs::write(folder.join(AUTHORITY), &certificate)?;
    Ok((certificate, key))
}

/// Reads the certificate and the key of an authority.
fn read(folder: &Path) -> anyhow::Result<(String, KeyPair)> {
    let read = |name: &str| {
        let file = folder.join(name);
        fs::read_to_string(&file).with_context(|| {
            format!("cannot read {}: name the folder of an authority, or a new one", file.display())
        })
    };
    Ok((read(AUTHORITY)?, KeyPair::from_pem(&read(AUTHORITY_KEY)?)?))
}

/// Writes a new file that only its owner may read.
fn private(file: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(text.as_bytes())
}
