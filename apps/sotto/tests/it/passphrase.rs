//! A plant under a passphrase: each way to give it, the commands that need none, and the files that stay in the clear.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use tokio::runtime::Runtime;

use crate::session::{self, HOURS, send};

const PASSPHRASE: &str = "correct horse";

/// A plant under a passphrase, with a device that has sent two days of readings.
struct Plant {
    outside: tempfile::TempDir,
    _cloud: Runtime,
}

impl Plant {
    fn new() -> Self {
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path();
        let run = |arguments: &[&str]| session::sotto(folder, arguments).unwrap();
        run(&["init", "plant", "--time-zone", "UTC"]);
        for name in ["heat", "flow"] {
            let channel = ["channel", "add", name, "--unit", "kW", "--range", "0..10", "--resolution", "0.1"];
            run(&[&channel[..], &["--every", "1h"]].concat());
        }
        run(&["question", "add", "daily", "sum(heat), mean(flow) by day"]);
        let cloud = session::serve(folder);
        run(&["device", "add", "boiler", "--channels", "heat,flow"]);
        send(folder, "boiler.bundle");
        let plant = Self { outside, _cloud: cloud };
        plant.write_passphrase("passphrase", PASSPHRASE);
        plant.given(&["passphrase", "set"]).unwrap();
        plant
    }

    fn folder(&self) -> &Path {
        self.outside.path()
    }

    fn write_passphrase(&self, file: &str, passphrase: &str) {
        let path = self.folder().join(file);
        fs::write(&path, format!("{passphrase}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }

    /// Runs `sotto` without a terminal, and with an environment.
    fn with(&self, variables: &[(&str, &Path)], arguments: &[&str]) -> Result<String, String> {
        let mut command = Command::new("setsid");
        command.arg("-w").arg(env!("CARGO_BIN_EXE_sotto")).args(arguments).current_dir(self.folder());
        for name in ["SOTTO_PLANT", "SOTTO_PASSPHRASE_FILE", "CREDENTIALS_DIRECTORY"] {
            command.env_remove(name);
        }
        let done = command.envs(variables.iter().copied()).output().unwrap();
        let [said, error] = [done.stdout, done.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        if done.status.success() { Ok(said) } else { Err(error) }
    }

    fn alone(&self, arguments: &[&str]) -> Result<String, String> {
        self.with(&[], arguments)
    }

    /// Runs `sotto` with the passphrase in a file.
    fn given(&self, arguments: &[&str]) -> Result<String, String> {
        self.alone(&[arguments, &["--passphrase-file", "passphrase"]].concat())
    }

    fn secret(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder().join("plant/secrets").join(name)).unwrap()
    }

    /// True if a key file is sealed under the plant's key.
    fn is_sealed(&self, name: &str) -> bool {
        self.secret(name)[10] == 3
    }
}

const ASK: [&str; 6] = ["ask", "sum(heat)", "--since", "2024-01-01", "--until", "2024-01-03"];

fn is_whole(answer: &str) -> bool {
    let sum: f64 = (0..HOURS).map(|hour| f64::from(hour) / 10.0).sum();
    answer.contains(&format!("{sum:.1}"))
}

#[test]
fn what_needs_no_secret_asks_for_no_passphrase() {
    let plant = Plant::new();
    assert!(plant.is_sealed("boiler.key") && plant.is_sealed("boiler.signing"));
    let status = plant.alone(&["status"]).unwrap();
    assert!(status.contains("48 readings") && !status.contains("cannot be used"), "{status}");
    for command in [
        &["question", "add", "weekly", "sum(heat) by week"][..],
        &["question", "list"],
        &["channel", "list"],
        &["alarm", "list"],
        &["device", "list"],
        &["answers"],
        &["check"],
        &["forget", "--device", "boiler", "--before", "2024-01-02", "--yes"],
    ] {
        plant.alone(command).unwrap_or_else(|error| panic!("{command:?}: {error}"));
    }
    let refused = plant.alone(&ASK).unwrap_err();
    for way in
        ["--passphrase-file", "SOTTO_PASSPHRASE_FILE", "LoadCredential=sotto:FILE", "sotto unlock --for 8h"]
    {
        assert!(refused.contains(way), "{way}: {refused}");
    }
    let added = plant.alone(&["device", "add", "cellar", "--channels", "heat"]).unwrap_err();
    assert!(added.contains("under a passphrase"), "{added}");
    assert!(!plant.folder().join("plant/secrets/cellar.key").exists());
}

#[test]
fn each_way_gives_the_passphrase() {
    let plant = Plant::new();
    assert!(is_whole(&plant.given(&ASK).unwrap()));
    let file = plant.folder().join("passphrase");
    assert!(is_whole(&plant.with(&[("SOTTO_PASSPHRASE_FILE", &file)], &ASK).unwrap()));
    let credentials = plant.folder().join("credentials");
    fs::create_dir(&credentials).unwrap();
    fs::rename(&file, credentials.join("sotto")).unwrap();
    assert!(is_whole(&plant.with(&[("CREDENTIALS_DIRECTORY", &credentials)], &ASK).unwrap()));
    fs::rename(credentials.join("sotto"), &file).unwrap();
    match plant.given(&["unlock", "--for", "8h"]) {
        Ok(said) => {
            assert!(said.contains("for 8h"), "{said}");
            assert!(is_whole(&plant.alone(&ASK).unwrap()));
            assert!(plant.alone(&["lock"]).unwrap().contains("has forgotten"));
            assert!(plant.alone(&ASK).is_err());
            plant.given(&["unlock", "--for", "1s"]).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(2500));
            assert!(plant.alone(&ASK).is_err(), "the time is over");
        }
        // A kernel, or a container, without keyrings.
        Err(error) => assert!(error.contains("keyring"), "{error}"),
    }
    plant.write_passphrase("passphrase", "battery staple");
    let refused = plant.given(&ASK).unwrap_err();
    assert!(refused.contains("does not open secrets/plant-key"), "{refused}");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let refused = plant.given(&ASK).unwrap_err();
    assert!(refused.contains("chmod 600"), "{refused}");
}

#[test]
fn new_secrets_are_sealed_at_once_and_a_cloud_still_starts() {
    let plant = Plant::new();
    plant.given(&["device", "add", "cellar", "--channels", "heat"]).unwrap();
    assert!(plant.is_sealed("cellar.key") && plant.is_sealed("cellar.signing"));
    plant.given(&["tls", "init"]).unwrap();
    assert!(plant.is_sealed("authority-key"));
    plant.given(&["tls", "renew"]).unwrap();
    // A cloud reads the token and its signing key by itself.
    assert_eq!(plant.secret("owner-token").len(), 64);
    let bundle = fs::read(plant.folder().join("cellar.bundle")).unwrap();
    assert_eq!(bundle[10], 0, "a device starts without a passphrase");
}

#[test]
fn a_passphrase_changes_and_goes() {
    let plant = Plant::new();
    let sealed = plant.secret("boiler.key");
    plant.write_passphrase("new", "battery staple");
    plant.given(&["passphrase", "change", "--new-passphrase-file", "new"]).unwrap();
    assert_eq!(plant.secret("boiler.key"), sealed);
    assert!(plant.given(&ASK).is_err());
    fs::rename(plant.folder().join("new"), plant.folder().join("passphrase")).unwrap();
    assert!(is_whole(&plant.given(&ASK).unwrap()));
    assert!(plant.given(&["passphrase", "set"]).unwrap_err().contains("passphrase change"));
    plant.given(&["passphrase", "remove"]).unwrap();
    assert!(!plant.is_sealed("boiler.key"));
    assert!(is_whole(&plant.alone(&ASK).unwrap()));
    assert!(plant.alone(&["check"]).is_ok());
}

#[test]
fn a_secret_in_the_clear_is_shown_and_sealed_by_name() {
    let plant = Plant::new();
    let path = plant.folder().join("plant/secrets/boiler.key");
    plant.given(&["passphrase", "remove"]).unwrap();
    let clear = plant.secret("boiler.key");
    plant.given(&["passphrase", "set"]).unwrap();
    fs::write(&path, &clear).unwrap();
    let refused = plant.given(&ASK).unwrap_err();
    assert!(refused.contains("sotto passphrase seal boiler.key"), "{refused}");
    let (code, shown) = session::output(plant.folder(), &["check"]);
    assert!(code == 3 && shown.contains("sotto passphrase seal boiler.key"), "{shown}");
    plant.given(&["passphrase", "seal", "boiler.key"]).unwrap();
    assert!(is_whole(&plant.given(&ASK).unwrap()));
}
