//! Devices: a secret that exists is never replaced.

use std::collections::BTreeMap;
use std::fs;

use sotto_owner::edit::{add_channel, add_device};
use sotto_owner::settings::ChannelSettings;
use sotto_owner::{NewPlant, OwnerError, Plant};

fn with_boiler(folder: &tempfile::TempDir) -> Plant {
    let here = NewPlant { cloud: None, listen: "127.0.0.1:7410".parse().unwrap(), time_zone: None };
    let mut plant = Plant::init(&folder.path().join("plant"), &here).unwrap();
    let (range, every) = ("-20..120".parse().unwrap(), "1h".parse().unwrap());
    let temperature = ChannelSettings::new("°C", range, 0.1, every);
    plant.edit(|settings| add_channel(settings, "temperature", &temperature)).unwrap();
    plant.edit(|settings| add_device(settings, "boiler", &["temperature".into()])).unwrap();
    plant
}

fn secrets(plant: &Plant) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(plant.folder().join("secrets")).unwrap().map(Result::unwrap);
    entries.map(|e| (e.file_name().into_string().unwrap(), fs::read(e.path()).unwrap())).collect()
}

#[test]
fn an_enrolment_does_not_replace_a_secret() {
    let folder = tempfile::tempdir().unwrap();
    let plant = with_boiler(&folder);
    plant.enrol("boiler", &folder.path().join("boiler.bundle")).unwrap();
    let before = secrets(&plant);
    // As in a folder restored without `devices`.
    fs::remove_file(plant.folder().join("devices/boiler.json")).unwrap();
    for gone in ["", "boiler.key", "boiler.signing"] {
        if !gone.is_empty() {
            fs::remove_file(plant.folder().join("secrets").join(gone)).unwrap();
        }
        let held = secrets(&plant);
        let again = folder.path().join("again.bundle");
        let refused = plant.enrol("boiler", &again).unwrap_err();
        assert!(matches!(&refused, OwnerError::HeldSecret { device, .. } if device == "boiler"), "{refused}");
        assert_eq!(secrets(&plant), held);
        assert!(!again.exists());
        if !gone.is_empty() {
            fs::write(plant.folder().join("secrets").join(gone), &before[gone]).unwrap();
        }
    }
}

#[test]
fn a_failed_enrolment_leaves_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let plant = with_boiler(&folder);
    let before = secrets(&plant);
    let nowhere = folder.path().join("no-such-folder/boiler.bundle");
    assert!(plant.enrol("boiler", &nowhere).is_err());
    assert_eq!(secrets(&plant), before);
    plant.enrol("boiler", &folder.path().join("boiler.bundle")).unwrap();
}
