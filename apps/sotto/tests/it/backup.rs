//! Backups of a plant: made, torn, restored whole and in part.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::Value;

use crate::plant::{ASK, Plant, is_whole};

mod guards;

/// Returns the files of a folder but those that no backup holds: contents, mode and time.
fn files(root: &Path) -> BTreeMap<String, (Vec<u8>, u32, i128)> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            let is_left_out = ["cache", "cloud", "evaluation-keys", "backup.json"].contains(&name.as_str())
                || name.ends_with("lock")
                || name.starts_with("before-restore-");
            if is_left_out {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let metadata = fs::metadata(&path).unwrap();
            let modified = metadata.modified().unwrap().duration_since(UNIX_EPOCH).unwrap().as_millis();
            let mode = metadata.permissions().mode() & 0o777;
            found.insert(name, (fs::read(&path).unwrap(), mode, i128::try_from(modified).unwrap()));
        }
    }
    found
}

fn contents(root: &Path) -> BTreeMap<String, Vec<u8>> {
    files(root).into_iter().map(|(name, (bytes, ..))| (name, bytes)).collect()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

impl Plant {
    fn root(&self) -> std::path::PathBuf {
        self.folder().join("plant")
    }

    fn backup(&self) -> Value {
        json(&self.given(&["backup", "--to", "plant.backup", "--json"]).unwrap())["backup"].clone()
    }

    fn restored(&self, options: &[&str]) -> Value {
        let command = [&["restore", "plant.backup", "--json"][..], options].concat();
        json(&self.given(&command).unwrap())["restore"].clone()
    }

    fn lose(&self, name: &str) {
        let path = self.root().join(name);
        if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
    }
}

#[test]
fn a_whole_plant_comes_back_from_its_backup_alone() {
    for sealed in [false, true] {
        let plant = Plant::new();
        if sealed {
            plant.given(&["passphrase", "set"]).unwrap();
        }
        plant.given(&ASK).unwrap();
        let old = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let enrolment =
            fs::File::options().write(true).open(plant.root().join("enrolments/boiler.json")).unwrap();
        enrolment.set_modified(old).unwrap();
        let refused = plant.alone(&["backup", "--to", "plant.backup"]).unwrap_err();
        assert!(refused.contains("passphrase"), "{refused}");
        let made = plant.backup();
        assert!(made["is_whole"] == true && made["files"] == made["written"], "{made}");
        let file = plant.folder().join("plant.backup");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let dry = plant.given(&["restore", "plant.backup", "--to", "other/again", "--dry-run"]).unwrap();
        assert!(dry.contains("secrets/boiler.key") && dry.contains("would be restored"), "{dry}");
        assert!(!plant.folder().join("other/again").exists());
        plant.restored(&["--to", "other/again"]);
        let again = plant.folder().join("other/again");
        assert_eq!(files(&again), files(&plant.root()));
        for folder in ["secrets", "answers", "enrolments"] {
            assert_eq!(
                fs::metadata(again.join(folder)).unwrap().permissions().mode() & 0o777,
                0o700,
                "{folder}"
            );
        }
        assert!(is_whole(&plant.given(&[&ASK[..], &["--plant", "other/again"]].concat()).unwrap()));
        assert!(plant.given(&["check", "--plant", "other/again"]).is_ok());
        let bytes = fs::read(&file).unwrap();
        for (name, secret) in contents(&plant.root()).iter().filter(|(name, _)| name.starts_with("secrets/"))
        {
            let needle = &secret[secret.len() - 32..];
            assert!(
                name.ends_with("plant-key") || !bytes.windows(32).any(|window| window == needle),
                "{name}"
            );
        }
        plant.write_passphrase("passphrase", "battery staple");
        let refused = plant.given(&["restore", "plant.backup", "--to", "other/third"]).unwrap_err();
        assert!(refused.contains("does not open") && refused.contains("plant.backup"), "{refused}");
    }
}

#[test]
fn a_backup_grows_by_what_changed_and_a_torn_end_is_cut() {
    let plant = Plant::new();
    let first = plant.backup();
    let nothing = plant.backup();
    assert!(nothing["written"] == 0 && nothing["bytes"] == first["bytes"], "{nothing}");
    plant.given(&["question", "add", "weekly", "sum(heat) by week"]).unwrap();
    let second = plant.backup();
    assert!(second["written"] == 1 && second["is_whole"] == false, "{second}");
    let file = plant.folder().join("plant.backup");
    let whole = fs::read(&file).unwrap();
    let [first, second] =
        [&first, &second].map(|made| usize::try_from(made["bytes"].as_u64().unwrap()).unwrap());
    assert_eq!(whole.len(), second);
    for length in [first + 1, first + 111, (first + second) / 2, second - 1] {
        fs::write(&file, &whole[..length]).unwrap();
        // The first segment is restored, and says so.
        let folder = format!("other/torn-{length}");
        let torn = plant.restored(&["--to", &folder]);
        assert!(torn["is_cut"] == true, "{torn}");
        let settings = fs::read_to_string(plant.folder().join(folder).join("sotto.toml")).unwrap();
        assert!(!settings.contains("weekly"), "{length}");
        let again = plant.backup();
        assert!(again["was_torn"] == true && again["written"] == 1, "{length}: {again}");
    }
    // Interrupted before the segment's head.
    let mut zeros = whole.clone();
    zeros[first..first + 111].fill(0);
    fs::write(&file, &zeros).unwrap();
    assert!(plant.backup()["was_torn"] == true);
    // Damage is no torn end.
    let mut damaged = whole;
    damaged[first + 20] ^= 1;
    fs::write(&file, &damaged).unwrap();
    let refused = plant.given(&["backup", "--to", "plant.backup"]).unwrap_err();
    assert!(refused.contains("damaged") && refused.contains("--whole"), "{refused}");
    assert_eq!(fs::read(&file).unwrap(), damaged);
    plant.given(&["backup", "--to", "plant.backup", "--whole"]).unwrap();
    plant.restored(&["--to", "other/again"]);
    assert_eq!(contents(&plant.folder().join("other/again")), contents(&plant.root()));
}

#[test]
fn a_plant_gets_what_it_lacks_and_keeps_what_it_has() {
    let plant = Plant::new();
    plant.given(&ASK).unwrap();
    plant.backup();
    for lost in [
        &["devices"][..],
        &["secrets/boiler.key", "secrets/boiler.signing"],
        &["sotto.toml"],
        &["logs", "enrolments"],
    ] {
        let before = contents(&plant.root());
        lost.iter().for_each(|name| plant.lose(name));
        plant.restored(&["--to", "plant"]);
        assert_eq!(contents(&plant.root()), before, "{lost:?}");
    }
    plant.given(&["question", "add", "weekly", "sum(heat) by week"]).unwrap();
    let settings = fs::read(plant.root().join("sotto.toml")).unwrap();
    let kept = plant.restored(&[]);
    assert_eq!(kept["kept"], serde_json::json!(["sotto.toml"]));
    assert_eq!(fs::read(plant.root().join("sotto.toml")).unwrap(), settings);
    let taken = plant.restored(&["--replace"]);
    let aside = taken["moved_to"].as_str().unwrap();
    assert_eq!(fs::read(plant.folder().join(aside).join("sotto.toml")).unwrap(), settings);
    assert!(!fs::read_to_string(plant.root().join("sotto.toml")).unwrap().contains("weekly"));
    // Another secret of that name is never overwritten.
    let secret = plant.root().join("secrets/boiler.key");
    let (own, other) =
        (fs::read(&secret).unwrap(), fs::read(plant.root().join("secrets/boiler.signing")).unwrap());
    fs::write(&secret, &other).unwrap();
    let refused = plant.given(&["restore", "plant.backup", "--replace"]);
    assert!(refused.is_err() && fs::read(&secret).unwrap() == other);
    fs::write(&secret, &own).unwrap();
    assert!(is_whole(&plant.given(&ASK).unwrap()));
}

#[test]
fn the_newer_record_of_a_device_stays_or_comes() {
    let plant = Plant::new();
    plant.backup();
    let older = plant.folder().join("other/older");
    copy(&plant.root(), &older);
    plant.given(&["device", "renew", "boiler"]).unwrap();
    let newer = fs::read(plant.root().join("devices/boiler.json")).unwrap();
    // The folder is newer than the backup.
    let done = plant.restored(&["--replace"]);
    assert_eq!(done["newer"], serde_json::json!(["devices/boiler.json"]));
    assert_eq!(fs::read(plant.root().join("devices/boiler.json")).unwrap(), newer);
    plant.backup();
    // The folder is an older copy: the check says so, and its advice mends it.
    for name in contents(&plant.root()).keys() {
        plant.lose(name);
    }
    plant.lose("backup.json");
    copy(&older, &plant.root());
    let shown = json(&plant.alone(&["check", "--json"]).unwrap_or_else(|_| checked(&plant)));
    let fault = &shown["faults"][0];
    assert!(fault["what"].as_str().unwrap().contains("is older than the backup of"), "{shown}");
    let cure: Vec<&str> = fault["cure"].as_str().unwrap().split(' ').collect();
    assert_eq!(cure[..2], ["sotto", "restore"]);
    plant.given(&cure[1..]).unwrap();
    assert_eq!(fs::read(plant.root().join("devices/boiler.json")).unwrap(), newer);
    assert!(plant.alone(&["check"]).is_ok());
    assert!(is_whole(&plant.given(&ASK).unwrap()));
}

/// Returns the output of `sotto check --json`, which ends with another code than 0.
fn checked(plant: &Plant) -> String {
    crate::session::output(plant.folder(), &["check", "--json"]).1
}

/// Copies a plant's folder, but for the cloud's.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for path in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        let target = to.join(path.file_name().unwrap());
        if path.file_name().is_some_and(|name| name == "cloud") {
            continue;
        }
        if path.is_dir() { copy(&path, &target) } else { fs::copy(&path, &target).map(drop).unwrap() }
    }
}

#[test]
fn secrets_come_back_as_the_plant_protects_them() {
    let plant = Plant::new();
    plant.backup();
    plant.given(&["passphrase", "set"]).unwrap();
    // The backup has it in the clear.
    plant.lose("secrets/boiler.key");
    let done = plant.restored(&[]);
    assert_eq!(done["refused"], serde_json::json!([]), "the others are the same secrets, sealed");
    assert!(plant.is_sealed("boiler.key"));
    assert!(is_whole(&plant.given(&ASK).unwrap()));
    // A backup under the plant's key, which the next one is as a whole.
    let made = plant.backup();
    assert!(made["is_whole"] == true, "{made}");
    plant.lose("secrets/boiler.key");
    plant.lose("secrets/plant-key");
    plant.restored(&[]);
    assert!(is_whole(&plant.given(&ASK).unwrap()));
    plant.given(&["passphrase", "remove"]).unwrap();
    plant.lose("secrets/boiler.key");
    plant.restored(&[]);
    assert!(!plant.is_sealed("boiler.key") && !plant.root().join("secrets/plant-key").exists());
    assert!(is_whole(&plant.alone(&ASK).unwrap()));
}

#[test]
fn a_backup_follows_the_passphrase() {
    let plant = Plant::new();
    plant.given(&["passphrase", "set"]).unwrap();
    plant.backup();
    plant.write_passphrase("new", "battery staple");
    plant.given(&["passphrase", "change", "--new-passphrase-file", "new"]).unwrap();
    fs::rename(plant.folder().join("new"), plant.folder().join("passphrase")).unwrap();
    assert!(plant.backup()["is_whole"] == true);
    plant.restored(&["--to", "other/again"]);
    if plant.given(&["unlock", "--for", "1m"]).is_ok() {
        // Neither needs the passphrase while the kernel keeps the plant's key.
        plant.alone(&["backup", "--to", "plant.backup"]).unwrap();
        plant.alone(&["restore", "plant.backup", "--to", "other/third"]).unwrap();
        plant.alone(&["lock"]).unwrap();
    }
}

#[test]
fn the_status_tells_the_age_of_the_last_backup() {
    let plant = Plant::new();
    assert!(plant.alone(&["status"]).unwrap().contains("no backup yet: sotto backup --to FILE"));
    assert_eq!(json(&plant.alone(&["status", "--json"]).unwrap())["backup"], Value::Null);
    plant.backup();
    let file = plant.folder().join("plant.backup").canonicalize().unwrap();
    let status = plant.alone(&["status"]).unwrap();
    assert!(status.contains("last backup less than a minute ago: "), "{status}");
    let status = json(&plant.alone(&["status", "--json"]).unwrap());
    assert_eq!(Path::new(status["backup"]["path"].as_str().unwrap()).canonicalize().unwrap(), file);
    let text = plant.folder().join("notes.txt");
    fs::write(&text, "no backup").unwrap();
    let refused = plant.given(&["backup", "--to", "notes.txt"]).unwrap_err();
    assert!(refused.contains("is no backup of a plant"), "{refused}");
    assert!(plant.given(&["backup", "--to", "notes.txt", "--whole"]).is_err());
    assert_eq!(fs::read(&text).unwrap(), b"no backup");
}

#[test]
fn killed_at_any_time_the_backup_restores_and_the_next_one_finishes() {
    let plant = Plant::new();
    plant.backup();
    let answers = plant.root().join("answers");
    fs::create_dir_all(&answers).unwrap();
    let (mut waited, mut kills) = (Duration::from_millis(4), 0);
    loop {
        // 8 MiB that no earlier backup has.
        for number in 0..8_u8 {
            let text = vec![number ^ kills; 1 << 20];
            fs::write(answers.join(format!("{kills}-{number}.json")), text).unwrap();
        }
        let is_done = plant.killed(&["backup", "--to", "plant.backup"], waited);
        let folder = format!("other/{kills}");
        plant.restored(&["--to", &folder]);
        let restored = contents(&plant.folder().join(&folder));
        assert!(
            contents(&plant.root())
                .iter()
                .all(|(name, bytes)| { name.starts_with("answers/") || restored.get(name) == Some(bytes) })
        );
        fs::remove_dir_all(plant.folder().join(&folder)).unwrap();
        if is_done {
            break;
        }
        kills += 1;
        waited += waited / 2 + Duration::from_millis(20);
    }
    plant.backup();
    plant.restored(&["--to", "other/last"]);
    assert_eq!(contents(&plant.folder().join("other/last")), contents(&plant.root()));
    assert!(kills > 2);
}
