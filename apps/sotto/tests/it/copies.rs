//! Two copies of a plant's folder, both in use.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::recovery::Plant;
use crate::session::{output, send_with, sotto};

/// An address at which nobody listens.
const NOWHERE: &str = "http://127.0.0.1:9";

/// A copy of the plant's folder.
struct Copy {
    folder: PathBuf,
    url: String,
}

impl Copy {
    /// The folder of the plant itself.
    fn first(plant: &Plant) -> Self {
        let folder = plant.folder().to_owned();
        let settings = fs::read_to_string(folder.join("plant/sotto.toml")).unwrap();
        let url = settings.lines().find_map(|line| line.strip_prefix("url = ")).unwrap();
        Self { url: url.trim_matches('"').to_owned(), folder }
    }

    fn of(plant: &Plant) -> Self {
        let folder = plant.folder().join("second computer");
        fs::create_dir(&folder).unwrap();
        let mut copy = Command::new("cp");
        assert!(copy.arg("-a").arg(plant.folder().join("plant")).arg(&folder).status().unwrap().success());
        fs::remove_dir_all(folder.join("plant/cloud")).unwrap();
        Self { folder, ..Self::first(plant) }
    }

    fn run(&self, arguments: &[&str]) -> Result<String, String> {
        sotto(&self.folder, arguments)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join("plant").join(name)
    }

    /// Runs `work` with the cloud out of reach.
    fn away<T>(&self, work: impl FnOnce() -> T) -> T {
        let file = self.file("sotto.toml");
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace(&self.url, NOWHERE)).unwrap();
        let done = work();
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace(NOWHERE, &self.url)).unwrap();
        done
    }

    /// Renews the device's bundle; returns its file.
    fn renew(&self, bundle: &str) -> Result<PathBuf, String> {
        self.run(&["device", "renew", "boiler", "--bundle", bundle]).map(|_| self.folder.join(bundle))
    }

    fn record(&self) -> Value {
        serde_json::from_slice(&fs::read(self.file("devices/boiler.json")).unwrap()).unwrap()
    }

    /// Returns the names of the streams of each bundle that the record knows.
    fn streams(&self) -> Vec<BTreeSet<String>> {
        let record = self.record();
        let names = |bundle: &Value| {
            let streams = bundle["streams"].as_array().unwrap();
            streams.iter().map(|stream| stream["stream"].as_str().unwrap().to_owned()).collect()
        };
        record["bundles"].as_array().unwrap().iter().map(names).collect()
    }
}

#[test]
fn a_write_of_another_copy_is_told_and_taken_over() {
    let plant = Plant::new();
    let (one, two) = (Copy::first(&plant), Copy::of(&plant));
    assert_eq!(one.record()["generation"], 1);
    one.renew("one.bundle").unwrap();
    assert_eq!(one.record()["generation"], 2);
    // The second copy knows the first generation.
    let before = two.record();
    let error = two.renew("two.bundle").unwrap_err();
    for told in [
        "device boiler was written by another copy of this folder",
        "written at 20",
        "from 127.0.0.1",
        "nothing was changed",
        "`sotto device take boiler`",
    ] {
        assert!(error.contains(told), "{told}: {error}");
    }
    assert!(!two.folder.join("two.bundle").exists());
    assert_eq!(two.record(), before);
    assert_eq!(output(&two.folder, &["device", "renew", "boiler", "--bundle", "two.bundle"]).0, 6);
    let (code, status) = output(&two.folder, &["status"]);
    assert!(code == 6 && status.contains("`sotto device take boiler`"), "{code}: {status}");
    assert!(status.contains("heat: 48 readings"), "{status}");
    // The way out.
    two.run(&["device", "take", "boiler"]).unwrap();
    assert_eq!(two.record(), one.record());
    assert_eq!(output(&two.folder, &["status"]).0, 0);
    two.renew("two.bundle").unwrap();
    // Now the first copy is behind.
    assert!(one.renew("more.bundle").unwrap_err().contains("`sotto device take boiler`"));
    one.run(&["device", "take", "boiler", "--json"]).unwrap();
    assert_eq!(one.streams(), two.streams());
    one.renew("more.bundle").unwrap();
    assert_eq!(one.streams().len(), 4);
    plant.is_whole("after");
}

#[test]
fn streams_of_two_copies_have_names_of_their_own() {
    let plant = Plant::new();
    let (one, two) = (Copy::first(&plant), Copy::of(&plant));
    // With the cloud away, and in turn.
    one.away(|| one.renew("one-2.bundle")).unwrap();
    two.away(|| two.renew("two-2.bundle")).unwrap();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for streams in one.streams().iter().chain(&two.streams()[1..]) {
        streams.iter().for_each(|name| *known.entry(name.clone()).or_default() += 1);
    }
    assert!(known.values().all(|times| *times == 1), "{known:?}");
    // The first to meet the cloud is registered; the other one is told.
    assert_eq!(output(&one.folder, &["status"]).0, 0);
    let (code, status) = output(&two.folder, &["status"]);
    assert_eq!(code, 6, "{status}");
    assert!(status.contains("Bundle 2, which only this folder knows, is not registered"), "{status}");
    assert!(status.contains("or by a command of this one that was interrupted"), "{status}");
    let taken = two.run(&["device", "take", "boiler"]).unwrap();
    assert!(taken.contains("bundle 2 of this folder was not registered, and is now"), "{taken}");
    assert_eq!(output(&two.folder, &["status"]).0, 0);
    // In turn, each takes over before it writes.
    for round in 0..3 {
        for (at, copy) in [(0, &one), (1, &two)] {
            let bundle = format!("round-{round}-{at}.bundle");
            if copy.renew(&bundle).is_err() {
                copy.run(&["device", "take", "boiler"]).unwrap();
                copy.renew(&bundle).unwrap();
            }
        }
    }
    one.run(&["device", "take", "boiler"]).unwrap();
    let all = one.streams();
    let distinct: BTreeSet<&String> = all.iter().flatten().collect();
    assert_eq!((all.len(), distinct.len()), (9, all.iter().map(BTreeSet::len).sum()), "{all:?}");
    // Every bundle sends, and all readings are answered.
    send_with(&one.folder, "one-2.bundle", &["--cloud", &one.url]);
    send_with(&two.folder, "two-2.bundle", &["--cloud", &two.url]);
    plant.is_whole("after both");
}

#[test]
fn names_that_two_copies_gave_before_are_left_out() {
    let plant = Plant::new();
    let (one, two) = (Copy::first(&plant), Copy::of(&plant));
    one.renew("one.bundle").unwrap();
    // As an earlier version made them: without tags.
    two.away(|| two.renew("two.bundle")).unwrap();
    let file = two.file("devices/boiler.json");
    let text = fs::read_to_string(&file).unwrap();
    let tagged: BTreeSet<String> = two.streams()[1].clone();
    // `exact-1h.2-TAG` to `exact-1h.2`.
    let untagged = |name: &String| name.rsplit_once('-').unwrap().0.to_owned();
    let plain = tagged.iter().fold(text, |text, name| text.replace(name, &untagged(name)));
    fs::write(&file, plain).unwrap();
    fs::remove_file(two.file("enrolments/boiler.json")).unwrap();
    let taken = two.run(&["device", "take", "boiler"]).unwrap();
    assert!(taken.contains("bundle 2 of this folder has the streams of another one"), "{taken}");
    assert!(taken.contains("`sotto device renew boiler`"), "{taken}");
    assert_eq!(two.streams(), one.streams());
    two.renew("new.bundle").unwrap();
}

#[test]
fn a_new_device_does_not_take_the_name_of_another_copys() {
    let plant = Plant::new();
    let (one, two) = (Copy::first(&plant), Copy::of(&plant));
    let add = ["device", "add", "desk", "--channels", "heat"];
    one.run(&add).unwrap();
    let settings = fs::read(two.file("sotto.toml")).unwrap();
    let error = two.run(&add).unwrap_err();
    assert!(error.contains("`sotto device adopt desk.bundle`") && error.contains("another name"), "{error}");
    assert!(!two.file("secrets/desk.key").exists() && !two.folder.join("desk.bundle").exists());
    assert_eq!(fs::read(two.file("sotto.toml")).unwrap(), settings);
    // The way out.
    let bundle = one.folder.join("desk.bundle");
    two.run(&["device", "adopt", bundle.to_str().unwrap()]).unwrap();
    assert_eq!(output(&two.folder, &["status"]).0, 0);
    // A removed device's name is free.
    let remove = ["device", "remove", "desk", "--destroy-secret", "--yes"];
    one.run(&remove).unwrap();
    fs::remove_file(one.folder.join("desk.bundle")).unwrap();
    one.run(&add).unwrap();
}

#[test]
fn a_revocation_of_another_copy_is_not_undone_unasked() {
    let plant = Plant::new();
    let (one, two) = (Copy::first(&plant), Copy::of(&plant));
    two.run(&["device", "remove", "boiler"]).unwrap();
    let error = one.renew("again.bundle").unwrap_err();
    assert!(error.contains("`sotto device take boiler`"), "{error}");
    let status = one.run(&["status"]).unwrap();
    assert!(status.contains("revoked"), "{status}");
    let taken = one.run(&["device", "take", "boiler"]).unwrap();
    assert!(taken.contains("revoked") && taken.contains("sotto device renew boiler"), "{taken}");
    one.renew("again.bundle").unwrap();
    // The copy that removed it knows that generation no more.
    let error =
        two.run(&["device", "add", "boiler", "--channels", "heat,flow", "--bundle", "b"]).unwrap_err();
    assert!(error.contains("`sotto device take boiler`"), "{error}");
    plant.is_whole("after");
}

#[test]
fn a_cloud_that_was_set_back_is_written_again() {
    let plant = Plant::new();
    let one = Copy::first(&plant);
    let generation = |path: &Path, generation: u64| {
        let mut record: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        record["generation"] = generation.into();
        fs::write(path, record.to_string()).unwrap();
    };
    // As a record of an earlier version, and as one that is ahead of the cloud.
    for known in [0, 70] {
        generation(&one.file("devices/boiler.json"), known);
        assert_eq!(output(&one.folder, &["status"]).0, 0);
        assert_ne!(one.record()["generation"], known);
        generation(&one.file("devices/boiler.json"), known);
        one.renew(&format!("{known}.bundle")).unwrap();
        // Other copies may know more than a cloud that was set back.
        let streams = one.streams().pop().unwrap();
        let tagged = streams.iter().all(|name| name.rsplit('-').next().unwrap().len() == 24);
        assert_eq!(tagged, known != 0, "{streams:?}");
    }
    plant.is_whole("after");
}

#[test]
fn a_record_that_came_back_with_the_cloud_away_repeats_no_number() {
    // Copies of a record that do not know the newest bundle: in `enrolments`, and in the first bundle.
    for with_registration in [true, false] {
        let plant = Plant::new();
        let one = Copy::first(&plant);
        let older = fs::read(one.file("enrolments/boiler.json")).unwrap();
        one.renew("in-the-field.bundle").unwrap();
        let in_the_field = one.streams().pop().unwrap();
        fs::remove_file(one.file("devices/boiler.json")).unwrap();
        fs::remove_file(one.file("enrolments/boiler.json")).unwrap();
        one.away(|| {
            let add = ["device", "add", "boiler", "--channels", "heat,flow", "--bundle", "new.bundle"];
            if with_registration {
                fs::write(one.file("enrolments/boiler.json"), &older).unwrap();
                one.run(&add).unwrap();
            } else {
                assert!(one.run(&add).unwrap_err().contains("`sotto device adopt boiler.bundle`"));
                one.run(&["device", "adopt", "boiler.bundle"]).unwrap();
                one.renew("new.bundle").unwrap();
            }
        });
        assert_eq!(one.streams().len(), 2);
        assert!(one.streams()[1].is_disjoint(&in_the_field), "{:?}", one.streams());
        // The cloud knows the newer one, and the way out keeps both.
        let (code, status) = output(&one.folder, &["status"]);
        assert!(code == 6 && status.contains("`sotto device take boiler`"), "{code}: {status}");
        one.run(&["device", "take", "boiler"]).unwrap();
        assert_eq!(one.streams().len(), 3);
        assert_eq!(output(&one.folder, &["status"]).0, 0);
        for bundle in ["in-the-field.bundle", "new.bundle"] {
            send_with(&one.folder, bundle, &["--cloud", &one.url]);
        }
        plant.is_whole("after both");
    }
}

#[test]
fn a_bundle_that_is_used_twice_is_told_with_both_causes() {
    let plant = Plant::new();
    // Other readings under the numbers of the first device, from a second one whose spool is new.
    let second = plant.folder().join("second device");
    fs::create_dir(&second).unwrap();
    fs::copy(plant.folder().join("boiler.bundle"), second.join("boiler.bundle")).unwrap();
    copy_spool(&plant.folder().join("boiler.spool"), &second.join("boiler.spool"));
    // Both go on from the same spool.
    crate::session::send_days(plant.folder(), "boiler.bundle", 3..5, 0);
    crate::session::send_days(&second, "boiler.bundle", 3..5, 1);
    let status = plant.run(&["status"]).unwrap();
    for told in [
        "other windows have their numbers or their ticks",
        "old copy",
        "`sotto-agent requeue`",
        "two devices run with one bundle",
    ] {
        assert!(status.contains(told), "{told}: {status}");
    }
    let devices: Value = serde_json::from_str(&plant.run(&["status", "--json"]).unwrap()).unwrap();
    assert!(devices["devices"][0]["taken_numbers"].as_u64().unwrap() > 0, "{devices}");
}

fn copy_spool(from: &Path, to: &Path) {
    let mut copy = Command::new("cp");
    assert!(copy.arg("-a").arg(from).arg(to).status().unwrap().success());
}

#[test]
fn an_answer_tells_a_device_whose_record_is_lost() {
    let plant = Plant::new();
    plant.run(&["device", "add", "desk", "--channels", "heat"]).unwrap();
    crate::session::send(plant.folder(), "desk.bundle");
    plant.lose(&["devices/boiler.json"]);
    let span = ["--since", "2024-01-01", "--until", "2024-01-03"];
    let ask = || plant.run(&[&["ask", "sum(heat) per device"], &span[..]].concat()).unwrap();
    let answer = ask();
    assert!(
        answer.contains("2 windows of boiler") && answer.contains("`sotto device take boiler`"),
        "{answer}"
    );
    plant.run(&["device", "take", "boiler"]).unwrap();
    assert!(ask().matches("48").count() >= 2 && !ask().contains("missing here"), "{}", ask());
}
