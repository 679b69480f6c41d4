//! Backups in an object store, and the moments of them.

use std::fs;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use sotto_cloud::Place;
use sotto_cloud::backups::{self, At, Days};

use super::{all, bucket, own, send, site, wait_until_away};
use crate::segments::Model;
use crate::streams::site::start;

fn now() -> At {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    // A moment is never the next one's.
    std::thread::sleep(std::time::Duration::from_millis(2));
    At(since.as_millis() as i64)
}

#[test]
fn a_store_is_brought_back_to_a_moment() {
    for change in all() {
        let (mut site, mut model) = (site(change), Model::default());
        let folder = site.world.folder().join("backup");
        let own = own(site.world.folder());
        let place: Place = match (bucket(), site.world.config().objects) {
            (Some(bucket), Some(objects)) if objects.to_string().contains("://") => {
                format!("{bucket}/backup-{own}").parse().unwrap()
            }
            _ => (&folder).into(),
        };
        let mut moments = Vec::new();
        for turn in 0..10 {
            send(&mut site, &mut model, turn * 10..turn * 10 + 10);
            if turn % 3 == 0 {
                // Some of its segments are in the object store alone.
                wait_until_away(&site.world.data());
                backups::backup(&site.world.config(), &place, Days::default()).unwrap();
                moments.push((now(), (turn + 1) * 10));
            }
        }
        site.world.stop();
        for (at, windows) in moments.iter().rev().chain(&moments) {
            backups::restore(&site.world.config(), &place, Some(*at)).unwrap();
            site.world.resume();
            let mut then = Model {
                log: model.log[..*windows as usize].to_vec(),
                windows: model.windows.range(..*windows).map(|(number, of)| (*number, of.clone())).collect(),
                ..Model::default()
            };
            then.check(&site);
            then.check_messages(&site);
            site.world.stop();
        }
        let before = backups::restore(&site.world.config(), &place, Some(At(1_000_000))).unwrap_err();
        assert!(format!("{before:#}").contains("nothing of that time: the first one is of 20"), "{before:#}");
        backups::list(&place, true).unwrap();
    }
}

#[test]
fn old_moments_go_with_the_files_that_no_other_has() {
    let (mut site, mut model) = (site(super::in_folder), Model::default());
    let backup = site.world.folder().join("backup");
    let names = |folder: &str| -> Vec<PathBuf> {
        fs::read_dir(backup.join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    // Segments that are merged later are in the first moments alone.
    for turn in 0..9 {
        send(&mut site, &mut model, turn * 10..turn * 10 + 10);
        backups::backup(&site.world.config(), &backup, Days::default()).unwrap();
    }
    let (segments, catalogues) = (names("segments").len(), names("catalogues").len());
    assert!(segments > 7 && catalogues == 18, "{segments} segments, {catalogues} in catalogues/");
    fs::write(backup.join("segments/notes"), "of somebody else").unwrap();
    now();
    backups::backup(&site.world.config(), &backup, Days(0)).unwrap();
    assert_eq!(names("catalogues").len(), 2);
    assert!(names("segments").len() < segments && backup.join("segments/notes").exists());
    site.world.stop();
    backups::restore(&site.world.config(), &backup, None).unwrap();
    site.world.resume();
    model.check(&site);
    model.check_messages(&site);
    // The restored store is of before its own backup: the next one notes the place.
    backups::backup(&site.world.config(), &backup, Days::default()).unwrap();
    let forgotten = site.world.forget("kitchen", None, start(5)).expect(200);
    assert_eq!(forgotten["backups"], serde_json::json!([backup]));
}

#[test]
fn a_file_that_a_restore_brought_back_stays_for_its_moment() {
    let (mut site, mut model) = (site(super::in_folder), Model::default());
    let backup = site.world.folder().join("backup");
    for turn in 0..7 {
        send(&mut site, &mut model, turn * 10..turn * 10 + 10);
    }
    backups::backup(&site.world.config(), &backup, Days::default()).unwrap();
    // As if it had been made long ago.
    for file in fs::read_dir(backup.join("catalogues")).unwrap().map(|entry| entry.unwrap().path()) {
        let end = file.extension().unwrap().display().to_string();
        fs::rename(&file, backup.join(format!("catalogues/2020-01-01T00-00-00.000Z.{end}"))).unwrap();
    }
    // Its segments are merged, come back, and are merged again.
    let mut then = Model { log: model.log.clone(), windows: model.windows.clone(), ..Model::default() };
    send(&mut site, &mut model, 70..80);
    backups::backup(&site.world.config(), &backup, Days(20_000)).unwrap();
    site.world.stop();
    backups::restore(&site.world.config(), &backup, Some(At(1_600_000_000_000))).unwrap();
    site.world.resume();
    backups::backup(&site.world.config(), &backup, Days(20_000)).unwrap();
    let at = now();
    site.sent.retain(|number, _| *number < 70);
    send(&mut site, &mut then, 70..80);
    backups::backup(&site.world.config(), &backup, Days::default()).unwrap();
    assert!(!backup.join("catalogues/2020-01-01T00-00-00.000Z.sqlite").exists());
    site.world.stop();
    backups::restore(&site.world.config(), &backup, Some(at)).unwrap();
    site.world.resume();
    then.log.truncate(70);
    then.windows.retain(|number, _| *number < 70);
    then.check(&site);
    then.check_messages(&site);
}

#[test]
fn a_damaged_backup_is_refused_and_an_interrupted_restore_goes_on() {
    let (mut site, mut model) = (site(super::in_folder), Model::default());
    let backup = site.world.folder().join("backup");
    for turn in 0..3 {
        send(&mut site, &mut model, turn * 10..turn * 10 + 10);
    }
    backups::backup(&site.world.config(), &backup, Days::default()).unwrap();
    site.world.stop();
    let file = fs::read_dir(backup.join("segments")).unwrap().next().unwrap().unwrap().path();
    let right = fs::read(&file).unwrap();
    let mut wrong = right.clone();
    wrong[100] ^= 1;
    fs::write(&file, wrong).unwrap();
    let refused = backups::restore(&site.world.config(), &backup, None).unwrap_err();
    assert!(format!("{refused:#}").contains("other bytes than those that were written"), "{refused:#}");
    // Nothing was changed.
    site.world.resume();
    model.check(&site);
    site.world.stop();
    fs::write(&file, right).unwrap();
    fs::remove_dir_all(site.world.data().join("segments")).unwrap();
    backups::restore(&site.world.config(), &backup, None).unwrap();
    assert!(!site.world.data().join("restoring").exists());
    site.world.resume();
    model.check(&site);
    model.check_messages(&site);
}
