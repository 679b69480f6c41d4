//! A plant that lost files: what the screen advises brings every reading back, and no secret changes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::session::{self, Cloud, HOURS, ask, send, sotto};

const TOTAL: &str = "sum(heat)";

/// A plant with a device that has sent two days of readings, and a cloud that serves.
pub(crate) struct Plant {
    outside: tempfile::TempDir,
    cloud: Cloud,
}

impl Plant {
    pub(crate) fn new() -> Self {
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path();
        let run = |arguments: &[&str]| sotto(folder, arguments).unwrap();
        session::init(folder, "sum(heat), mean(flow) by day");
        let cloud = Cloud::start(folder);
        run(&["device", "add", "boiler", "--channels", "heat,flow"]);
        send(folder, "boiler.bundle");
        let plant = Self { outside, cloud };
        plant.is_whole("before");
        plant
    }

    pub(crate) fn folder(&self) -> &Path {
        self.outside.path()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Result<String, String> {
        sotto(self.folder(), arguments)
    }

    /// Deletes files and folders of the plant.
    pub(crate) fn lose(&self, names: &[&str]) {
        for name in names {
            let path = self.folder().join("plant").join(name);
            if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
        }
    }

    pub(crate) fn secrets(&self) -> BTreeMap<String, Vec<u8>> {
        let entries = fs::read_dir(self.folder().join("plant/secrets")).unwrap().map(Result::unwrap);
        let files = entries.filter(|entry| entry.path().is_file());
        files.map(|e| (e.file_name().into_string().unwrap(), fs::read(e.path()).unwrap())).collect()
    }

    /// Returns the files of the folder but the cloud's, by their names.
    pub(crate) fn kept(&self) -> BTreeMap<String, Vec<u8>> {
        let root = self.folder().join("plant");
        let mut kept = BTreeMap::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                match path.is_dir() {
                    true if name == "cloud" => {}
                    true => folders.push(path),
                    false => drop(kept.insert(name, fs::read(&path).unwrap())),
                }
            }
        }
        kept
    }

    /// Writes these files, with modes as the programs make them, and deletes all others.
    fn restore(&self, kept: &BTreeMap<String, Vec<u8>>) {
        for name in self.kept().keys().filter(|name| !kept.contains_key(*name)) {
            self.lose(&[name]);
        }
        for (name, bytes) in kept {
            let path = self.folder().join("plant").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let _ = fs::remove_file(&path);
            fs::write(&path, bytes).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        }
    }

    /// Checks that every reading is in the answer.
    pub(crate) fn is_whole(&self, when: &str) {
        let expected: f64 = (0..HOURS).map(|hour| f64::from(hour) / 10.0).sum();
        let found = ask(self.folder(), TOTAL);
        assert!(found.len() == 1 && (found[0] - expected).abs() < 1e-9, "{when}: {found:?}");
    }
}

#[test]
fn records_that_are_lost_come_back_with_the_same_secret() {
    for lost in [
        &["devices"][..],
        &["devices/boiler.json"],
        // Then only the cloud has a copy.
        &["devices", "enrolments"],
        &["devices", "logs"],
    ] {
        let plant = Plant::new();
        let before = plant.secrets();
        plant.lose(lost);
        let again = ["device", "add", "boiler", "--channels", "heat,flow", "--bundle", "again.bundle"];
        plant.run(&again).unwrap_or_else(|error| panic!("{lost:?}: {error}"));
        assert_eq!(plant.secrets(), before, "{lost:?}");
        plant.is_whole(&format!("{lost:?}"));
        // The new bundle's streams are not those of the first.
        let record = fs::read_to_string(plant.folder().join("plant/devices/boiler.json")).unwrap();
        assert!(record.contains("\"exact-1h\"") && record.contains("\"exact-1h.2"), "{lost:?}: {record}");
    }
}

#[test]
fn what_can_be_made_again_is() {
    for lost in [&["enrolments"][..], &["logs"], &["enrolments", "logs", "evaluation-keys", "answers"]] {
        let plant = Plant::new();
        plant.run(&["ask", TOTAL, "--since", "2024-01-01", "--until", "2024-01-03"]).unwrap();
        let there: Vec<&str> =
            lost.iter().copied().filter(|name| plant.folder().join("plant").join(name).exists()).collect();
        plant.lose(&there);
        let status = plant.run(&["status"]).unwrap_or_else(|error| panic!("{lost:?}: {error}"));
        assert!(status.contains("48 readings"), "{lost:?}: {status}");
        plant.is_whole(&format!("{lost:?}"));
    }
}

/// Follows what `sotto check` shows until it shows nothing. Returns what it showed.
fn mended(plant: &Plant) -> Vec<String> {
    let mut shown = Vec::new();
    for _ in 0..6 {
        let (code, found) = session::output(plant.folder(), &["check", "--json"]);
        let found: Value = serde_json::from_str(&found).unwrap();
        let faults = found["faults"].as_array().unwrap();
        assert_eq!(code == 0, faults.is_empty());
        let Some(fault) = faults.first() else { return shown };
        let cure = fault["cure"].as_str().unwrap().to_owned();
        let words: Vec<&str> = cure.split(' ').collect();
        match words[..] {
            ["sotto", ref rest @ ..] => {
                plant.run(rest).unwrap_or_else(|error| panic!("{cure}: {error}"));
            }
            [program @ ("chmod" | "mv"), one, other] => {
                let mut command = Command::new(program);
                assert!(command.args([one, other]).current_dir(plant.folder()).status().unwrap().success());
            }
            _ => panic!("{fault}"),
        }
        shown.push(cure);
    }
    panic!("not mended by {shown:?}");
}

#[test]
fn what_check_shows_mends_every_loss_of_two_files() {
    const FILES: [&str; 8] = [
        "devices",
        "devices/boiler.json",
        "enrolments",
        "enrolments/boiler.json",
        "secrets/boiler.key",
        "secrets/boiler.signing",
        "logs",
        "answers",
    ];
    let plant = Plant::new();
    assert_eq!(mended(&plant), [""; 0]);
    let before = plant.secrets();
    let kept = plant.kept();
    for (first, one) in FILES.iter().enumerate() {
        for other in &FILES[first..] {
            // The folder is then older than the cloud, which knows the bundles of earlier cases.
            plant.restore(&kept);
            for name in [one, other] {
                if plant.folder().join("plant").join(name).exists() {
                    plant.lose(&[name]);
                }
            }
            let shown = mended(&plant);
            assert_eq!(plant.secrets(), before, "{one}, {other}: {shown:?}");
            plant.is_whole(&format!("{one}, {other}: {shown:?}"));
        }
    }
}

#[test]
fn damaged_files_are_put_away_and_come_back() {
    let plant = Plant::new();
    let before = plant.secrets();
    for (file, bytes) in [
        ("secrets/boiler.key", &b""[..]),
        ("secrets/boiler.signing", b"no key"),
        ("devices/boiler.json", b"{"),
        ("enrolments/boiler.json", b""),
        ("backup.json", b"?"),
    ] {
        let path = plant.folder().join("plant").join(file);
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let shown = mended(&plant);
        let after = plant.secrets();
        assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)), "{file}: {shown:?}");
        plant.run(&["status"]).unwrap();
        plant.is_whole(file);
    }
}

#[test]
fn files_that_others_can_read_are_shown() {
    let plant = Plant::new();
    for (file, mode) in [("secrets/boiler.key", 0o644), ("secrets/owner-token", 0o640), ("secrets", 0o755)] {
        let path = plant.folder().join("plant").join(file);
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let error = plant.run(&["status"]).unwrap_err();
    assert!(error.contains("owner-token") && error.contains("chmod 600"), "{error}");
    let shown = session::output(plant.folder(), &["check"]).1;
    assert!(["boiler.key", "owner-token", "chmod 700"].iter().all(|text| shown.contains(text)), "{shown}");
    let token = plant.folder().join("plant/secrets/owner-token");
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
    mended(&plant);
    plant.is_whole("modes");
}

#[test]
fn secrets_shared_with_the_cloud_are_made_anew() {
    let mut plant = Plant::new();
    plant.lose(&["secrets/owner-token", "secrets/cloud-signing-key"]);
    let (code, shown) = session::output(plant.folder(), &["check"]);
    assert!(code == 3 && shown.matches("sotto cloud secrets").count() == 2, "{shown}");
    let made = plant.run(&["cloud", "secrets"]).unwrap();
    assert!(made.contains("owner-token") && made.contains("Start the cloud again"), "{made}");
    let secrets = plant.secrets();
    plant.run(&["cloud", "secrets"]).unwrap();
    assert_eq!(plant.secrets(), secrets, "none is replaced");
    let outside = plant.outside;
    plant.cloud.stop();
    plant = Plant { cloud: Cloud::start(outside.path()), outside };
    plant.is_whole("with a new token and key");
}

#[test]
fn a_secret_without_a_copy_is_told_as_lost() {
    let plant = Plant::new();
    plant.lose(&["secrets/boiler.key"]);
    let (code, shown) = session::output(plant.folder(), &["check"]);
    assert_eq!(code, 8, "{shown}");
    assert!(shown.contains("lost, unless a copy of it exists elsewhere"), "{shown}");
}

#[test]
fn a_bundle_brings_back_secrets_record_and_settings() {
    for lost in [
        &["secrets/boiler.key", "secrets/boiler.signing"][..],
        &["secrets/boiler.key", "devices", "enrolments"],
        &["secrets/boiler.signing", "devices"],
    ] {
        let plant = Plant::new();
        let before = plant.secrets();
        plant.lose(lost);
        let adopted = plant.run(&["device", "adopt", "boiler.bundle", "--json"]).unwrap();
        assert!(adopted.contains("\"device\": \"boiler\""), "{adopted}");
        // The same bytes, whatever was lost.
        assert_eq!(plant.secrets(), before, "{lost:?}");
        plant.is_whole(&format!("{lost:?}"));
    }
    // Settings without the device and its channels, as from an older copy.
    let plant = Plant::new();
    let file = plant.folder().join("plant/sotto.toml");
    let text = fs::read_to_string(&file).unwrap();
    let end = text.find("[channels.heat]").unwrap();
    fs::write(&file, &text[..end]).unwrap();
    let adopted = plant.run(&["device", "adopt", "boiler.bundle"]).unwrap();
    assert!(adopted.contains("channel heat: put back"), "{adopted}");
    plant.is_whole("settings");
}

#[test]
fn without_any_copy_nothing_is_replaced_unless_asked_for() {
    let plant = Plant::new();
    let before = plant.secrets();
    plant.lose(&["devices", "enrolments"]);
    let Plant { outside, cloud } = plant;
    cloud.stop();
    let run = |arguments: &[&str]| sotto(outside.path(), arguments);
    let secrets = || fs::read(outside.path().join("plant/secrets/boiler.key")).unwrap();
    let again = ["device", "add", "boiler", "--channels", "heat,flow", "--bundle", "again.bundle"];
    let error = run(&again).unwrap_err();
    assert!(error.contains("sotto device adopt boiler.bundle") && error.contains("--replace"), "{error}");
    assert_eq!(secrets(), before["boiler.key"]);
    run(&["device", "adopt", "boiler.bundle"]).unwrap();
    assert_eq!(secrets(), before["boiler.key"]);
}

#[test]
fn replacing_puts_the_old_secret_aside() {
    let plant = Plant::new();
    let before = plant.secrets();
    plant.lose(&["devices"]);
    let again =
        ["device", "add", "boiler", "--channels", "heat,flow", "--bundle", "again.bundle", "--replace"];
    plant.run(&again).unwrap();
    let after = plant.secrets();
    assert_ne!(after["boiler.key"], before["boiler.key"]);
    let old = fs::read_dir(plant.folder().join("plant/secrets/old")).unwrap();
    let old: Vec<Vec<u8>> = old.map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect();
    assert!(old.contains(&before["boiler.key"]) && old.contains(&before["boiler.signing"]));
}

#[test]
fn an_old_bundle_of_a_device_that_was_begun_anew_is_refused() {
    let plant = Plant::new();
    plant.lose(&["devices", "enrolments"]);
    let Plant { outside, cloud } = plant;
    cloud.stop();
    let run = |arguments: &[&str]| sotto(outside.path(), arguments);
    run(&["device", "add", "boiler", "--channels", "heat,flow", "--bundle", "new.bundle", "--replace"])
        .unwrap();
    let secret = outside.path().join("plant/secrets/boiler.key");
    let new = fs::read(&secret).unwrap();
    fs::remove_file(&secret).unwrap();
    let refused = run(&["device", "adopt", "boiler.bundle"]).unwrap_err();
    assert!(refused.contains("another boiler") && !secret.exists(), "{refused}");
    run(&["device", "adopt", "new.bundle"]).unwrap();
    assert_eq!(fs::read(&secret).unwrap(), new);
}

#[test]
fn bundles_of_two_records_are_kept_together() {
    let Plant { outside, cloud } = Plant::new();
    cloud.stop();
    let run = |arguments: &[&str]| sotto(outside.path(), arguments).unwrap();
    assert!(
        Command::new("cp")
            .args(["-a", "plant", "copy"])
            .current_dir(outside.path())
            .status()
            .unwrap()
            .success()
    );
    run(&["device", "renew", "boiler", "--bundle", "a.bundle", "--plant", "plant"]);
    run(&["device", "renew", "boiler", "--bundle", "b.bundle", "--plant", "copy"]);
    run(&["device", "adopt", "b.bundle", "--plant", "plant"]);
    let record: Value =
        serde_json::from_slice(&fs::read(outside.path().join("plant/devices/boiler.json")).unwrap()).unwrap();
    let bundles = record["bundles"].as_array().unwrap();
    let names: Vec<&str> =
        bundles.iter().map(|bundle| bundle["streams"][0]["stream"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    // Each has a name that no other has.
    assert!(names[0] == "exact-1h" && names[1] != names[2], "{names:?}");
    let cloud = Cloud::start(outside.path());
    run(&["status", "--plant", "plant"]);
    send(outside.path(), "a.bundle");
    send(outside.path(), "b.bundle");
    let total = ask(&outside.path().join("plant"), TOTAL)[0];
    assert!((total - (0..HOURS).map(|hour| f64::from(hour) / 10.0).sum::<f64>()).abs() < 1e-9, "{total}");
    drop(cloud);
}

#[test]
fn a_registration_of_an_older_record_is_made_again() {
    let Plant { outside, cloud } = Plant::new();
    let run = |arguments: &[&str]| sotto(outside.path(), arguments).unwrap();
    let registration = outside.path().join("plant/enrolments/boiler.json");
    let older = fs::read(&registration).unwrap();
    cloud.stop();
    run(&["device", "renew", "boiler"]);
    fs::write(&registration, older).unwrap();
    let _cloud = Cloud::start(outside.path());
    run(&["status"]);
    send(outside.path(), "boiler-2.bundle");
    assert!(run(&["status"]).contains("heat: 48 readings"), "{}", run(&["status"]));
}

#[test]
fn a_bundle_after_a_record_came_back_repeats_no_stream() {
    let plant = Plant::new();
    plant.run(&["device", "renew", "boiler"]).unwrap();
    // As in a new plant with an empty cloud, which know only the first bundle.
    let Plant { outside, cloud } = plant;
    cloud.stop();
    for name in ["devices", "enrolments", "logs", "cloud"] {
        fs::remove_dir_all(outside.path().join("plant").join(name)).unwrap();
    }
    let _cloud = Cloud::start(outside.path());
    let run = |arguments: &[&str]| sotto(outside.path(), arguments).unwrap();
    run(&["device", "adopt", "boiler.bundle"]);
    run(&["status"]);
    run(&["device", "renew", "boiler", "--bundle", "again.bundle"]);
    let record = fs::read_to_string(outside.path().join("plant/devices/boiler.json")).unwrap();
    assert!(record.contains("exact-1h.2-") && !record.contains("\"exact-1h.2\""), "{record}");
}

#[test]
fn a_bundle_of_another_device_changes_nothing() {
    let (plant, other) = (Plant::new(), Plant::new());
    let before = plant.secrets();
    let foreign = other.folder().join("boiler.bundle");
    let error = plant.run(&["device", "adopt", foreign.to_str().unwrap()]).unwrap_err();
    assert!(error.contains("another boiler") && error.contains("nothing was changed"), "{error}");
    assert_eq!(plant.secrets(), before);
    plant.is_whole("after");
}

#[test]
fn a_folder_with_secrets_and_without_settings_is_no_new_plant() {
    let plant = Plant::new();
    let before = plant.secrets();
    plant.lose(&["sotto.toml"]);
    let error = plant.run(&["init", "plant"]).unwrap_err();
    assert!(error.contains("sotto.toml is missing") && error.contains("nothing was changed"), "{error}");
    assert_eq!(plant.secrets(), before);
}

#[test]
fn the_authoritys_key_is_not_the_secret_of_a_device() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path();
    let run = |arguments: &[&str]| sotto(folder, arguments).unwrap();
    run(&["init", "plant", "--time-zone", "UTC"]);
    run(&[
        "channel",
        "add",
        "heat",
        "--unit",
        "kW",
        "--range",
        "0..10",
        "--resolution",
        "0.1",
        "--every",
        "1h",
    ]);
    run(&["device", "add", "ca", "--channels", "heat"]);
    let secret = || fs::read(folder.join("plant/secrets/ca.key")).unwrap();
    let before = secret();
    run(&["tls", "init"]);
    assert_eq!(secret(), before);
    let key = || fs::read(folder.join("plant/secrets/authority-key")).unwrap();
    let (authority, first) = (fs::read(folder.join("plant/ca.pem")).unwrap(), key());
    // Without its certificate the same key makes another one.
    fs::remove_file(folder.join("plant/ca.pem")).unwrap();
    run(&["tls", "init"]);
    assert_eq!(key(), first);
    assert!(sotto(folder, &["tls", "init"]).is_err());
    let again = fs::read(folder.join("plant/ca.pem")).unwrap();
    run(&["tls", "init", "--replace"]);
    assert!(key() != first && authority != again && secret() == before);
    let old = fs::read_dir(folder.join("plant/secrets/old")).unwrap();
    let old: Vec<Vec<u8>> = old.map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect();
    assert!(old.contains(&first) && old.contains(&again));
}
