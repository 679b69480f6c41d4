//! Backups that refuse to forget, to replace another one, or to follow a link.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

use serde_json::json;

use super::{contents, json};
use crate::plant::{ASK, Plant, is_whole};
use crate::session;

impl Plant {
    /// Runs `sotto` with the passphrase in a file. Returns exit code and output.
    fn ended(&self, arguments: &[&str]) -> (i32, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sotto"));
        command.args(arguments).args(["--passphrase-file", "passphrase"]).current_dir(self.folder());
        let done = command.env_remove("SOTTO_PLANT").output().unwrap();
        let said = [done.stdout, done.stderr].concat();
        (done.status.code().unwrap(), String::from_utf8(said).unwrap())
    }

    /// Makes a second plant beside the first.
    fn barn(&self) {
        self.alone(&["init", "away/barn", "--time-zone", "UTC"]).unwrap();
    }
}

const BACKUP: [&str; 3] = ["backup", "--to", "plant.backup"];

#[test]
fn files_that_the_folder_lost_stay_in_the_backup_and_are_told() {
    for sealed in [false, true] {
        let plant = Plant::new();
        if sealed {
            plant.given(&["passphrase", "set"]).unwrap();
        }
        plant.backup();
        let before = contents(&plant.root());
        let lost = ["devices/boiler.json", "secrets/boiler.key", "secrets/boiler.signing"];
        lost.iter().for_each(|name| plant.lose(name));
        let made = plant.backup();
        assert_eq!(made["kept"], json!(lost), "{made}");
        let said = plant.given(&BACKUP).unwrap();
        assert!(said.contains("secrets/boiler.key, which the folder has lost"), "{said}");
        let cure = said.lines().find_map(|line| line.trim().strip_prefix("sotto restore ")).unwrap();
        // A whole one copies them.
        let whole = json(&plant.given(&[&BACKUP[..], &["--whole", "--json"]].concat()).unwrap());
        assert!(whole["backup"]["kept"] == json!(lost) && whole["backup"]["is_whole"] == true, "{whole}");
        plant.given(&["restore", cure]).unwrap();
        assert_eq!(contents(&plant.root()), before);
        assert_eq!(plant.backup()["kept"], json!([]));
        assert!(is_whole(&plant.given(&ASK).unwrap()));
    }
}

#[test]
fn a_lost_secret_follows_the_passphrase() {
    let plant = Plant::new();
    plant.given(&["passphrase", "set"]).unwrap();
    plant.backup();
    plant.lose("secrets/boiler.key");
    plant.given(&["passphrase", "remove"]).unwrap();
    plant.given(&["passphrase", "set"]).unwrap();
    // Sealed under the earlier key, which is put aside and not lost.
    let made = plant.backup();
    assert!(made["is_whole"] == true && made["kept"] == json!(["secrets/boiler.key"]), "{made}");
    plant.restored(&[]);
    assert!(plant.is_sealed("boiler.key"));
    assert!(is_whole(&plant.given(&ASK).unwrap()));
}

#[test]
fn a_secret_that_was_destroyed_by_name_stays_away() {
    let plant = Plant::new();
    plant.backup();
    plant.given(&["device", "remove", "boiler", "--destroy-secret", "--yes"]).unwrap();
    let made = plant.backup();
    assert_eq!(made["kept"], json!([]), "{made}");
    plant.restored(&["--to", "other/again"]);
    assert!(!plant.folder().join("other/again/secrets/boiler.key").exists());
    assert!(!plant.folder().join("other/again/devices/boiler.json").exists());
}

#[test]
fn the_backup_of_another_plant_is_refused() {
    let plant = Plant::new();
    plant.backup();
    plant.barn();
    let file = plant.folder().join("plant.backup");
    let of_plant = fs::read(&file).unwrap();
    let refused = |expected: &str| {
        for options in [&[][..], &["--whole"]] {
            let (code, said) = plant.ended(&[&BACKUP[..], &["--plant", "away/barn"], options].concat());
            assert!(code == 3 && said.contains(expected) && said.contains("plant.backup"), "{code}: {said}");
            assert_eq!(fs::read(&file).unwrap(), of_plant);
        }
    };
    // Without a backup of its own, with one, and under a passphrase.
    refused("another plant");
    plant.given(&["backup", "--to", "barn.backup", "--plant", "away/barn"]).unwrap();
    refused("another plant");
    let (code, said) = plant.ended(&["restore", "plant.backup", "--to", "away/barn"]);
    assert!(code == 3 && said.contains("another plant"), "{said}");
    assert!(!plant.folder().join("away/barn/devices/boiler.json").exists());
    plant.given(&["passphrase", "set", "--plant", "away/barn"]).unwrap();
    refused("another plant");
    fs::remove_file(plant.folder().join("away/barn/backup.json")).unwrap();
    refused("another plant");
    plant.write_passphrase("passphrase", "battery staple");
    let (code, said) = plant.ended(&[&BACKUP[..], &["--whole"]].concat());
    assert!(code == 3 && said.contains("does not open"), "{said}");
    assert_eq!(fs::read(&file).unwrap(), of_plant);
    plant.write_passphrase("passphrase", "correct horse");
    // A folder without its note, and a restored one, are of the same plant.
    plant.lose("backup.json");
    assert!(plant.backup()["is_whole"] == false);
    plant.restored(&["--to", "other/again"]);
    plant.given(&[&BACKUP[..], &["--plant", "other/again"]].concat()).unwrap();
}

#[test]
fn links_beside_a_backup_lead_nowhere() {
    let plant = Plant::new();
    let secret = plant.secret("boiler.key");
    for name in ["plant.backup.partial", "plant.backup.lock"] {
        let link = plant.folder().join(name);
        // The lock of the round before.
        let _ = fs::remove_file(&link);
        symlink("plant/secrets/boiler.key", &link).unwrap();
        for _ in 0..2 {
            let _ = plant.given(&[&BACKUP[..], &["--whole"]].concat());
            assert!(plant.secret("boiler.key") == secret, "{name}");
        }
        fs::remove_file(&link).unwrap();
    }
    plant.backup();
    let modes = fs::read_dir(plant.folder()).unwrap().map(|entry| entry.unwrap());
    let of_backup = modes.filter(|entry| entry.file_name().to_str().unwrap().starts_with("plant.backup"));
    for entry in of_backup {
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{entry:?}");
    }
}

#[test]
fn links_to_secrets_and_records_are_refused_and_shown() {
    for name in ["secrets/boiler.key", "devices/boiler.json"] {
        let plant = Plant::new();
        let (path, outside) = (plant.root().join(name), plant.folder().join("elsewhere"));
        fs::rename(&path, &outside).unwrap();
        symlink(&outside, &path).unwrap();
        let bytes = fs::read(&outside).unwrap();
        let refused = plant.given(&BACKUP).unwrap_err();
        assert!(refused.contains("is a link") && refused.contains(name), "{refused}");
        if name.starts_with("secrets") {
            let refused = plant.given(&["passphrase", "set"]).unwrap_err();
            assert!(refused.contains("is a link") && refused.contains(name), "{refused}");
            assert!(!plant.root().join("secrets/plant-key").exists());
        }
        assert!(path.is_symlink() && fs::read(&outside).unwrap() == bytes);
        let (code, shown) = session::output(plant.folder(), &["check", "--json"]);
        assert_eq!(code, 3, "{shown}");
        let fault = &json(&shown)["faults"][0];
        assert!(fault["file"] == name && fault["what"].as_str().unwrap().contains("is a link"), "{shown}");
        let cure = fault["cure"].as_str().unwrap();
        let done = Command::new("sh").args(["-c", cure]).current_dir(plant.folder()).status().unwrap();
        assert!(done.success() && !path.is_symlink() && fs::read(&path).unwrap() == bytes);
        plant.alone(&["check"]).unwrap();
        plant.backup();
    }
}

#[test]
fn counts_of_results_come_back_as_they_were() {
    let plant = Plant::new();
    let budget = plant.root().join("secrets/flooding/boiler-4096");
    fs::create_dir_all(budget.parent().unwrap()).unwrap();
    fs::write(&budget, "a count").unwrap();
    fs::set_permissions(&budget, fs::Permissions::from_mode(0o600)).unwrap();
    plant.backup();
    plant.given(&["passphrase", "set"]).unwrap();
    plant.lose("secrets/flooding");
    plant.restored(&[]);
    assert_eq!(fs::read(&budget).unwrap(), b"a count");
}

#[test]
fn a_damaged_middle_is_no_torn_end() {
    let plant = Plant::new();
    let mut ends = vec![plant.backup()["bytes"].as_u64().unwrap()];
    for name in ["weekly", "monthly"] {
        plant.given(&["question", "add", name, "sum(heat) by week"]).unwrap();
        ends.push(plant.backup()["bytes"].as_u64().unwrap());
    }
    let file = plant.folder().join("plant.backup");
    let whole = fs::read(&file).unwrap();
    let zeroed = |from: u64| {
        let mut bytes = whole.clone();
        let from = usize::try_from(from).unwrap();
        bytes[from..from + 111].fill(0);
        fs::write(&file, &bytes).unwrap();
        bytes
    };
    let damaged = zeroed(ends[0]);
    let refused = plant.given(&BACKUP).unwrap_err();
    assert!(refused.contains("damaged in segment 1") && refused.contains("--whole"), "{refused}");
    assert_eq!(fs::read(&file).unwrap(), damaged);
    assert!(plant.restored(&["--to", "other/first"])["is_cut"] == true);
    // No segment is whole.
    let head = whole.windows(8).position(|window| window == b"segment1").unwrap();
    let damaged = zeroed(head as u64);
    let (code, said) = plant.ended(&["restore", "plant.backup", "--to", "other/none"]);
    assert!(code == 3 && said.contains("damaged in segment 0"), "{said}");
    assert!(!plant.folder().join("other/none").exists());
    assert!(plant.given(&BACKUP).is_err());
    assert_eq!(fs::read(&file).unwrap(), damaged);
    // A whole new one leaves the damaged one there.
    let made = json(&plant.given(&[&BACKUP[..], &["--whole", "--json"]].concat()).unwrap());
    assert_eq!(fs::read(made["backup"]["damaged"].as_str().unwrap()).unwrap(), damaged);
    plant.restored(&["--to", "other/again"]);
    assert_eq!(contents(&plant.folder().join("other/again")), contents(&plant.root()));
}
