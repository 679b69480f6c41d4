//! The cloud's settings, and the configuration that results.

use std::path::PathBuf;

use crate::objects::{Objects, Place};
use crate::store::Tier;

/// The default configuration file, with every key.
pub const DEFAULT_FILE: &str = include_str!("../default.toml");

sotto_service::settings! {
    prefix "SOTTO_CLOUD_", port 7410, connections 4096, in_clear "the owner's token", paths relative;
    files {
        /// Folder of the store; made if it does not exist
        data: PathBuf, "DIR", required("no folder for the store is named: --data DIR");
        /// File with the owner's token: 16 to 256 visible characters
        owner_token_file: PathBuf, "FILE", required("no owner's token is named: --owner-token-file FILE");
        /// File with the Ed25519 key that signs receipts and transcripts: 64 hexadecimal digits, mode 0600 [default:
        /// signing.key in the store's folder, made at the first start]
        signing_key_file: PathBuf, "FILE", optional();
        /// Folder, or s3://BUCKET/PREFIX, that sealed segments go to, too
        objects: Place, "PLACE", optional();
        /// The program `sotto-lake`, which adds large requests up; without it, and where it fails, the cloud does
        lake: PathBuf, "FILE", optional();
    }
    sizes {
        /// Folder of enrolments, one DEVICE.json each: these devices are registered without a request
        enrolments: PathBuf, "DIR", optional();
        /// Bytes of segments that stay on the disk, if they go to an object store
        objects_cache: u64, "BYTES", default(10737418240);
        /// Windows of a request from which on the lake adds it up
        lake_from: u64, "COUNT", default(262144);
        /// Maximum bytes of an upload
        largest_upload: u64, "BYTES", default(8388608, sotto_wire::LARGEST_ENVELOPE);
        /// Maximum bytes of evaluation keys
        largest_keys: u64, "BYTES", default(268435456, 4 << 30);
        /// Memory for uploads, counted in uploads of the largest size
        uploads_at_once: usize, "COUNT", default(32, 4096);
    }
    work {
        /// Maximum number of jobs evaluated at the same time; 0: one per core
        workers: usize, "COUNT", cores(0, 1024);
        /// Threads, shared by all jobs, that run independent parts of a job in parallel; 1: each job runs on its worker
        /// only; 0: one per core
        threads: usize, "COUNT", cores(1, 1024);
        /// Maximum bytes of ciphertexts that a job holds at any time; larger jobs are refused
        largest_job: u64, "BYTES", default(2147483648, 1 << 40);
        /// Maximum number of waiting jobs
        queue: usize, "COUNT", default(64, 65_536);
        /// Sets of evaluation keys held in memory
        keys_in_memory: usize, "COUNT", default(8, 65_536);
        /// Days for which an ended job and its outputs are kept; 0: for ever
        keep_jobs: u64, "DAYS", default(30);
        /// Maximum bytes stored for one device; 0: no limit
        device_bytes: u64, "BYTES", default(4294967296);
        /// Maximum number of envelopes accepted from one device in a minute; 0: no limit
        device_rate: u64, "COUNT", default(0);
    }
}

impl Config {
    /// Opens the object store, if one is named.
    pub(crate) fn tier(&self) -> anyhow::Result<Option<Tier>> {
        let objects = self.objects.as_ref().map(Objects::open).transpose()?;
        Ok(objects.map(|objects| Tier::new(objects, self.objects_cache)))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn required() -> Settings {
        Settings {
            data: Some("d".into()),
            owner_token_file: Some("t".into()),
            workers: Some(1),
            ..Settings::default()
        }
    }

    #[test]
    fn the_default_file_says_what_the_defaults_are() {
        let file: Settings = toml::from_str(DEFAULT_FILE).unwrap();
        assert_eq!(
            Config::new(required().or(file)).unwrap(),
            Config { workers: 1, ..Config::new(required()).unwrap() }
        );
        let uncommented = DEFAULT_FILE.replace("#: ", "");
        let all: Settings = toml::from_str(&uncommented).unwrap();
        assert!(all.data.is_some() && all.owner_token_file.is_some() && all.address_file.is_some());
        assert_eq!(all.enrolments, Some("enrolments".into()));
        assert!(all.tls.certificate.is_some() && all.tls.key.is_some());
    }

    #[test]
    fn other_machines_are_not_listened_to_without_being_asked() {
        let open = |allow| {
            let listen = Some("0.0.0.0:80".parse().unwrap());
            Config::new(Settings { listen, allow_plain_http: allow, ..required() })
        };
        assert!(open(None).unwrap_err().to_string().contains("TLS"));
        assert!(open(Some(false)).is_err());
        assert!(open(Some(true)).is_ok());
    }

    #[test]
    fn unknown_keys_and_impossible_values_are_refused() {
        assert!(toml::from_str::<Settings>("larges_upload = 3").is_err());
        assert!(Config::new(Settings { largest_upload: Some(0), ..required() }).is_err());
        assert!(Config::new(Settings::default()).is_err());
    }

    #[test]
    fn paths_in_a_file_are_relative_to_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cloud.toml");
        let text = "data = \"store\"\nowner_token_file = \"../token\"\naddress_file = \"/run/address\"\nenrolments = \"in\"";
        std::fs::write(&file, text).unwrap();
        let read = Settings::read(&file).unwrap();
        assert_eq!(read.data, Some(folder.path().join("store")));
        assert_eq!(read.enrolments, Some(folder.path().join("in")));
        assert_eq!(read.owner_token_file, Some(folder.path().join("../token")));
        assert_eq!(read.address_file, Some("/run/address".into()), "absolute paths stay");
        let flags = Settings { data: Some("here".into()), ..Settings::default() };
        assert_eq!(flags.or(read).data, Some("here".into()), "flags are relative to the working directory");
        assert_eq!(Settings::default().in_folder(Path::new("a")), Settings::default());
    }

    #[test]
    fn what_is_named_first_wins() {
        let flags = Settings { queue: Some(3), ..Settings::default() };
        let file = Settings { queue: Some(4), workers: Some(5), ..Settings::default() };
        let both = flags.or(file);
        assert_eq!((both.queue, both.workers), (Some(3), Some(5)));
    }
}
