//! Several writers of one plant's folder, each with the plant as it opened it.

use std::fs;
use std::path::Path;

use sotto_owner::{NewPlant, Plant, edit, settings::ChannelSettings};

fn plant(folder: &Path) -> Plant {
    let listen = "127.0.0.1:7410".parse().unwrap();
    let mut plant =
        Plant::init(&folder.join("plant"), &NewPlant { cloud: None, listen, time_zone: None }).unwrap();
    let channel = ChannelSettings::new("kW", "0..10".parse().unwrap(), 0.1, "1h".parse().unwrap());
    plant.edit(|document| edit::add_channel(document, "heat", &channel)).unwrap();
    plant
}

#[test]
fn no_edit_of_many_writers_is_lost() {
    const WRITERS: usize = 8;
    const EACH: usize = 5;
    let folder = tempfile::tempdir().unwrap();
    let first = plant(folder.path());
    // Opened before any of them writes.
    let plants: Vec<Plant> = (0..WRITERS).map(|_| Plant::open(first.folder()).unwrap()).collect();
    std::thread::scope(|scope| {
        for (writer, mut plant) in plants.into_iter().enumerate() {
            scope.spawn(move || {
                for question in 0..EACH {
                    let name = format!("q{writer}-{question}");
                    plant.edit(|document| edit::add_question(document, &name, &"mean(heat)".into())).unwrap();
                    assert!(plant.settings().questions.contains_key(&name));
                }
            });
        }
    });
    assert_eq!(first.reopened().unwrap().settings().questions.len(), WRITERS * EACH);
    let names = fs::read_dir(first.folder()).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = names.filter(|name| name.to_string_lossy().ends_with(".partial")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[cfg(unix)]
#[test]
fn the_lock_is_the_owners_alone_and_free_after_an_edit_that_fails() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let mut plant = plant(folder.path());
    let refused = plant.edit(|document| edit::remove_question(document, "none"));
    assert!(refused.is_err());
    let lock = plant.folder().join(".lock");
    assert_eq!(fs::metadata(&lock).unwrap().permissions().mode() & 0o777, 0o600);
    fs::File::open(&lock).unwrap().try_lock().unwrap();
    assert!(plant.check().unwrap().is_empty(), "the lock is no fault");
}
