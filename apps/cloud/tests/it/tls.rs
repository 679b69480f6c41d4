//! TLS: certificates of a private authority, and the errors that clients see.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use sotto_cloud::config::{Settings, TlsSettings};
use sotto_cloud::server::Server;
use sotto_cloud_client::{Cloud, CloudError};
use sotto_http::Trust;
use sotto_service::token::write_private;

use crate::world::{TOKEN, World, send};

/// A certificate authority like that of `sotto tls init`.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

/// Names of a certificate, and the years of the beginning and the end of its validity.
type Claims = (&'static [&'static str], i32, i32);
const GOOD: Claims = (&["127.0.0.1", "localhost"], 2020, 2100);

impl Authority {
    fn new(name: &str) -> Self {
        let (key, mut params) = (KeyPair::generate().unwrap(), CertificateParams::default());
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        let pem = params.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    /// Returns a certificate and its key in PEM.
    fn certificate(&self, (names, from, until): Claims) -> [String; 2] {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let (key, mut params) = (KeyPair::generate().unwrap(), CertificateParams::new(names).unwrap());
        (params.not_before, params.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(until, 1, 1));
        [params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem()]
    }

    fn trust(&self) -> Trust {
        Trust::pinned(self.pem.as_bytes()).unwrap()
    }
}

fn first() -> &'static Authority {
    static FIRST: OnceLock<Authority> = OnceLock::new();
    FIRST.get_or_init(|| Authority::new("first"))
}

/// Replaces the certificate and the key of a cloud.
fn write(folder: &Path, [certificate, key]: &[String; 2]) {
    let _ = fs::remove_file(folder.join("server.key"));
    write_private(&folder.join("server.key"), key).unwrap();
    fs::write(folder.join("server.pem"), certificate).unwrap();
}

fn with(settings: Settings, claims: Claims) -> Settings {
    let folder = settings.data.as_ref().unwrap().parent().unwrap().to_owned();
    if !folder.join("server.pem").exists() {
        write(&folder, &first().certificate(claims));
    }
    let tls =
        TlsSettings { certificate: Some(folder.join("server.pem")), key: Some(folder.join("server.key")) };
    Settings { tls, ..settings }
}

fn world() -> World {
    World::start_with(|settings| with(settings, GOOD))
}

/// Requests the cloud's limits over TLS.
fn ask(world: &World, trust: &Trust) -> Result<u64, CloudError> {
    let url = format!("https://{}", world.address());
    Ok(Cloud::trusting(&url, TOKEN, trust).unwrap().limits()?.largest_upload)
}

/// Returns the reason why a client is refused.
fn refused(world: &World, trust: &Trust) -> String {
    match ask(world, trust) {
        Err(CloudError::Tls(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_client_that_knows_the_authority_is_served() {
    let world = world();
    assert_eq!(ask(&world, &first().trust()), Ok(crate::world::LARGEST_UPLOAD));
    // Several authorities in one file: each is accepted.
    let both = format!("{}{}", Authority::new("other").pem, first().pem);
    assert!(ask(&world, &Trust::pinned(both.as_bytes()).unwrap()).is_ok());
}

#[test]
fn a_client_that_knows_another_authority_sends_nothing() {
    let world = world();
    let other = refused(&world, &Authority::new("other").trust());
    assert!(other.contains("not signed by the authority") && other.contains("`[cloud] ca`"), "{other}");
    let namesake = refused(&world, &Authority::new("first").trust());
    assert!(namesake.contains("not signed by the authority"), "{namesake}");
    let without = refused(&world, &Trust::default());
    assert!(without.contains("`sotto tls init`") && without.contains("--ca FILE"), "{without}");
}

#[test]
fn certificates_that_have_expired_or_are_for_others_name_the_cure() {
    let expired = World::start_with(|settings| with(settings, (&["127.0.0.1"], 2020, 2021)));
    let expired = refused(&expired, &first().trust());
    assert!(expired.contains("days ago") && expired.contains("`sotto tls renew`"), "{expired}");
    let early = World::start_with(|settings| with(settings, (&["127.0.0.1"], 2090, 2100)));
    let early = refused(&early, &first().trust());
    assert!(early.contains("clock"), "{early}");
    let elsewhere = World::start_with(|settings| with(settings, (&["farm.example"], 2020, 2100)));
    let elsewhere = refused(&elsewhere, &first().trust());
    assert!(elsewhere.contains("farm.example") && elsewhere.contains("--host 127.0.0.1"), "{elsewhere}");
}

#[test]
fn each_side_is_told_that_the_other_speaks_tls_or_does_not() {
    let world = world();
    let body = vec![0; 300_000];
    for body in [&b""[..], &body] {
        let told = send("POST", &world.url("/v1/envelopes"), &[("idempotency-key", "k")], body);
        told.refused(400, "tls-required");
        assert!(told.json()["detail"].as_str().unwrap().contains("https://"), "{told}");
    }
    let plain = World::start();
    let told = refused(&plain, &first().trust());
    assert!(told.contains("does not answer in TLS") && told.contains("http://"), "{told}");
}

#[test]
fn a_new_certificate_is_served_and_a_broken_one_is_not() {
    let world = world();
    assert!(ask(&world, &first().trust()).is_ok());
    let second = Authority::new("second");
    let [certificate, key] = second.certificate(GOOD);
    let old_key = fs::read_to_string(world.folder().join("server.key")).unwrap();
    // A certificate with another key, and a file that is not PEM.
    for broken in [[certificate.clone(), old_key], ["no PEM".into(), key.clone()]] {
        write(world.folder(), &broken);
        std::thread::sleep(Duration::from_millis(1100));
        for _ in 0..2 {
            assert!(ask(&world, &first().trust()).is_ok());
        }
    }
    write(world.folder(), &[certificate, key]);
    let start = Instant::now();
    while let Err(error) = ask(&world, &second.trust()) {
        assert!(start.elapsed() < Duration::from_secs(30), "{error}");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(ask(&world, &first().trust()).is_err());
}

#[test]
fn a_handshake_that_does_not_come_is_cut_off() {
    let world = World::start_with(|settings| with(Settings { header_seconds: Some(1), ..settings }, GOOD));
    for begin in [&b""[..], &[0x16, 3, 1, 2, 0, 1]] {
        let mut silent = TcpStream::connect(world.address()).unwrap();
        silent.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        silent.write_all(begin).unwrap();
        // Others are served meanwhile.
        assert!(ask(&world, &first().trust()).is_ok());
        let mut answer = Vec::new();
        let ended = silent.read_to_end(&mut answer);
        assert!(
            ended.is_ok() || ended.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionReset)
        );
        assert!(answer.is_empty());
    }
}

#[test]
fn files_that_do_not_do_are_refused_at_the_start() {
    let world = world();
    let config = |change: &dyn Fn(&mut sotto_service::tls::Files)| {
        let mut config = world.config();
        config.data = world.folder().join("other");
        change(config.listening.tls.as_mut().unwrap());
        config
    };
    let refused = |change: &dyn Fn(&mut sotto_service::tls::Files), says: &str| {
        let opened = tokio::runtime::Runtime::new().unwrap().block_on(Server::open(&config(change)));
        let error = format!("{:#}", opened.err().unwrap());
        assert!(error.contains(says), "{error}");
        assert!(!error.contains("PRIVATE"), "{error}");
    };
    let path = |name: &str| world.folder().join(name);
    let [_, key] = Authority::new("other").certificate(GOOD);
    write_private(&path("other.key"), &key).unwrap();
    write_private(&path("empty.pem"), "").unwrap();
    refused(&|files| files.certificate = path("none.pem"), "none.pem");
    refused(&|files| files.certificate = path("empty.pem"), "BEGIN CERTIFICATE");
    refused(&|files| files.key = path("empty.pem"), "cannot read a private key");
    refused(&|files| files.key = path("other.key"), "cannot be used together");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(path("other.key"), fs::Permissions::from_mode(0o640)).unwrap();
        refused(&|files| files.key = path("other.key"), "chmod 600");
    }
}
