//! The recryptor's settings, and the configuration that results.

use std::path::PathBuf;

/// The default configuration file, with every key.
pub const DEFAULT_FILE: &str = include_str!("../default.toml");

sotto_service::settings! {
    prefix "SOTTO_RECRYPTOR_", port 7420, connections 256, in_clear "callers' tokens", paths as_given;
    files {
        /// Folder of the ledger; made if it does not exist
        data: PathBuf, "DIR", required("no folder for the ledger is named: --data DIR");
        /// Key file of the re-encryption agent (`sotto keys recryptor`); its passphrase, if any, is read from
        /// SOTTO_PASSPHRASE
        key_file: PathBuf, "FILE", required("no key file is named: --key-file FILE");
        /// File with the callers and their quotas: one `[[caller]]` each, with name, token_file and numbers_a_day
        callers_file: PathBuf, "FILE", required("no callers are named: --callers-file FILE");
    }
    sizes {
        /// Maximum bytes of a batch
        largest_batch: u64, "BYTES", default(1048576, 16 << 20);
        /// Memory for batches, counted in batches of the largest size
        batches_at_once: usize, "COUNT", default(32, 4096);
    }
    work {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn required() -> Settings {
        let file = |name: &str| Some(name.into());
        Settings { data: file("d"), key_file: file("k"), callers_file: file("c"), ..Settings::default() }
    }

    #[test]
    fn the_default_file_says_what_the_defaults_are() {
        let file = Settings::parse(DEFAULT_FILE).unwrap();
        assert_eq!(Config::new(file.or(required())).unwrap(), Config::new(required()).unwrap());
        assert!(Settings::parse("listem = 1").is_err());
    }

    #[test]
    fn what_cannot_be_used_is_refused() {
        let refused = |settings: Settings, reason: &str| {
            let error = Config::new(settings).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        };
        refused(Settings { data: None, ..required() }, "--data");
        refused(Settings { key_file: None, ..required() }, "--key-file");
        refused(Settings { callers_file: None, ..required() }, "--callers-file");
        refused(Settings { largest_batch: Some(0), ..required() }, "largest_batch");
        let outside = Settings { listen: Some(([0, 0, 0, 0], 80).into()), ..required() };
        refused(outside.clone(), "TLS");
        assert!(Config::new(Settings { allow_plain_http: Some(true), ..outside }).is_ok());
    }
}
