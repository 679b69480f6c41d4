//! A plant under a passphrase: each way to give it, the commands that need none, and the files that stay in the clear.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use crate::plant::{ASK, Plant, is_whole};
use crate::session;

/// A plant under a passphrase, with a device that has sent two days of readings.
fn sealed() -> Plant {
    let plant = Plant::new();
    plant.given(&["passphrase", "set"]).unwrap();
    plant
}

#[test]
fn what_needs_no_secret_asks_for_no_passphrase() {
    let plant = sealed();
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
    ] {
        plant.alone(command).unwrap_or_else(|error| panic!("{command:?}: {error}"));
    }
    // Orders are signed. Also one about a device that is no longer declared.
    let before = |day| ["forget", "--device", "boiler", "--before", day, "--yes"];
    for order in [&before("2024-01-02")[..], &["device", "remove", "boiler"], &before("2024-01-03")] {
        let refused = plant.alone(order).unwrap_err();
        assert!(refused.contains("under a passphrase"), "{order:?}: {refused}");
        plant.given(order).unwrap_or_else(|error| panic!("{order:?}: {error}"));
    }
    plant.alone(&["status"]).unwrap();
    let refused = sealed().alone(&ASK).unwrap_err();
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
    let plant = sealed();
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
            std::thread::sleep(Duration::from_millis(2500));
            assert!(plant.alone(&ASK).is_err(), "the time is over");
        }
        // A kernel, or a container, without keyrings.
        Err(error) => assert!(error.contains("keyring"), "{error}"),
    }
    plant.write_passphrase("passphrase", "battery staple");
    let refused = plant.given(&ASK).unwrap_err();
    assert!(refused.contains("does not open"), "{refused}");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let refused = plant.given(&ASK).unwrap_err();
    assert!(refused.contains("chmod 600"), "{refused}");
}

#[test]
fn new_secrets_are_sealed_at_once_and_a_cloud_still_starts() {
    let plant = sealed();
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
    let plant = sealed();
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
    let plant = sealed();
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

#[test]
fn a_secret_opens_under_its_own_name_only() {
    let plant = sealed();
    plant.given(&["device", "add", "cellar", "--channels", "heat"]).unwrap();
    let secrets = plant.folder().join("plant/secrets");
    let exchange = || {
        fs::rename(secrets.join("boiler.key"), secrets.join("aside")).unwrap();
        fs::rename(secrets.join("cellar.key"), secrets.join("boiler.key")).unwrap();
        fs::rename(secrets.join("aside"), secrets.join("cellar.key")).unwrap();
    };
    exchange();
    let refused = plant.given(&["device", "renew", "boiler"]).unwrap_err();
    assert!(refused.contains("boiler.key") && refused.contains("under this name"), "{refused}");
    assert!(plant.given(&ASK).is_err());
    let shown = session::output(plant.folder(), &["check", "--passphrase-file", "passphrase"]).1;
    assert!(shown.contains("boiler.key") && shown.contains("cellar.key"), "{shown}");
    exchange();
    assert!(is_whole(&plant.given(&ASK).unwrap()));
    assert!(plant.given(&["check"]).is_ok());
}

#[test]
fn a_forgotten_passphrase_leaves_the_bundles() {
    let plant = sealed();
    plant.write_passphrase("passphrase", "another one");
    let refused = plant.given(&ASK).unwrap_err();
    assert!(refused.contains("does not open") && refused.contains("plant-key"), "{refused}");
    for name in ["plant-key", "boiler.key", "boiler.signing", "owner-signing-key"] {
        fs::remove_file(plant.folder().join("plant/secrets").join(name)).unwrap();
    }
    assert!(plant.alone(&["cloud", "secrets"]).unwrap().contains("owner-signing-key"));
    plant.alone(&["device", "adopt", "boiler.bundle"]).unwrap();
    assert!(is_whole(&plant.alone(&ASK).unwrap()));
}

#[test]
fn without_the_plants_key_nothing_changes() {
    let plant = sealed();
    plant.given(&["backup", "--to", "plant.backup"]).unwrap();
    fs::remove_file(plant.folder().join("plant/secrets/plant-key")).unwrap();
    let refused = plant.given(&ASK).unwrap_err();
    assert!(refused.contains("secrets/plant-key is missing: nothing was changed"), "{refused}");
    let added = plant.given(&["device", "add", "cellar", "--channels", "heat"]).unwrap_err();
    assert!(added.contains("secrets/plant-key is missing"), "{added}");
    let (code, shown) = session::output(plant.folder(), &["check"]);
    assert!(code == 8 && shown.contains("sotto restore FILE"), "{shown}");
    plant.given(&["restore", "plant.backup"]).unwrap();
    assert!(is_whole(&plant.given(&ASK).unwrap()));
}

#[test]
fn killed_at_any_time_all_secrets_open_and_the_command_finishes() {
    let plant = Plant::new();
    // Many secrets, so that a kill finds some sealed and others not.
    let old = plant.folder().join("plant/secrets/old");
    fs::create_dir(&old).unwrap();
    fs::set_permissions(&old, fs::Permissions::from_mode(0o700)).unwrap();
    for number in 0..60 {
        let file = old.join(format!("boiler.key.{}", 1_790_000_000_000_u64 + number));
        fs::write(&file, plant.secret("boiler.key")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    }
    let (mut waited, mut kills) = (Duration::from_millis(4), 0);
    while !plant.killed(&["passphrase", "set"], waited) {
        kills += 1;
        assert!(is_whole(&plant.given(&ASK).unwrap()), "after {waited:?}");
        waited += waited / 6 + Duration::from_millis(2);
    }
    assert!(kills > 2 && plant.is_sealed("boiler.key"));
    let strays = fs::read_dir(&old).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
    assert!(strays.into_iter().all(|bytes| bytes[10] == 3), "no secret is left in the clear");
    assert!(plant.alone(&["check"]).is_ok());
    assert!(is_whole(&plant.given(&ASK).unwrap()));
}

#[test]
fn check_tells_of_an_interrupted_command() {
    let plant = sealed();
    // As a kill before the last step leaves it.
    let list = plant.folder().join("plant/secrets/in-the-clear");
    fs::write(&list, "").unwrap();
    fs::set_permissions(&list, fs::Permissions::from_mode(0o600)).unwrap();
    let (code, shown) = session::output(plant.folder(), &["check"]);
    assert!(code == 3 && shown.contains("the passphrase was being set or removed"), "{shown}");
    plant.given(&["passphrase", "set"]).unwrap();
    assert!(plant.alone(&["check"]).is_ok() && !list.exists());
    assert!(is_whole(&plant.given(&ASK).unwrap()));
}
