//! Segments in an object store, and backups in it: a folder, and a bucket if `SOTTO_BUCKET` names one (`cargo ci objects` starts
//! a server). Nothing is lost or doubled whatever the object store does, and the rest goes on.

mod backups;
mod faults;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use sotto_cloud::backups::Days;
use sotto_cloud::config::Settings;
use sotto_cloud::server::Server;
use sotto_cloud::{Place, inspect, maintain};
use sotto_wire::Envelope;

use crate::segments::{Model, segments};
use crate::streams::site::{Site, start};
use crate::windows::with_enrolments;
use crate::world::World;

/// Returns the name in the bucket of a test that has this folder.
pub(crate) fn own(folder: &Path) -> String {
    folder.file_name().unwrap().to_string_lossy().trim_start_matches('.').to_owned()
}

fn folder_of(settings: &Settings) -> &Path {
    settings.data.as_ref().and_then(|data| data.parent()).unwrap()
}

fn in_folder(settings: Settings) -> Settings {
    let folder = folder_of(&settings).join("objects");
    with_enrolments(Settings { objects: Some((&folder).into()), objects_cache: Some(0), ..settings })
}

fn in_bucket(settings: Settings) -> Settings {
    let place: Place = format!("{}/{}", bucket().unwrap(), own(folder_of(&settings))).parse().unwrap();
    with_enrolments(Settings { objects: Some(place), objects_cache: Some(0), ..settings })
}

/// Returns the address of the bucket, if there is one.
pub(crate) fn bucket() -> Option<String> {
    std::env::var("SOTTO_BUCKET").ok()
}

/// Asks the server of the bucket for a fault.
pub(crate) fn fault(name: Option<&str>) {
    let server = std::env::var("AWS_ENDPOINT_URL").unwrap();
    ureq::post(format!("{server}/-/fault")).send(serde_json::json!(name).to_string()).unwrap();
}

/// Returns the settings of every object store that there is.
fn all() -> Vec<fn(Settings) -> Settings> {
    let mut all: Vec<fn(Settings) -> Settings> = vec![in_folder];
    match bucket() {
        Some(_) => all.push(in_bucket),
        None => eprintln!("skipped for a bucket: SOTTO_BUCKET names none; `cargo ci objects` does"),
    }
    all
}

/// Waits until no segment is left in the folder.
pub(crate) fn wait_until_away(data: &Path) {
    let begin = Instant::now();
    while !segments(data).is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(60), "segments stay on the disk");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Sends windows, and seals them: some alone, some in a group.
fn send(site: &mut Site, model: &mut Model, numbers: std::ops::Range<u64>) {
    let windows: Vec<Envelope> = numbers.map(|number| site.window(number)).collect();
    let (alone, group) = windows.split_at(2);
    for window in alone {
        model.stored(std::slice::from_ref(window), &site.upload(window).expect(201));
    }
    model.stored(group, &site.upload_group(group).expect(201));
    site.world.stop();
    site.world.resume();
}

fn site(change: fn(Settings) -> Settings) -> Site {
    let site = Site::in_world(World::start_with(change));
    site.enrol();
    site
}

#[test]
fn windows_are_served_from_the_object_store() {
    for change in all() {
        let (mut site, mut model) = (site(change), Model::default());
        let data = site.world.data();
        for turn in 0..12 {
            send(&mut site, &mut model, turn * 10..turn * 10 + 10);
            if turn % 4 == 3 {
                wait_until_away(&data);
                model.check(&site);
            }
        }
        site.world.stop();
        site.world.resume();
        wait_until_away(&data);
        model.check_messages(&site);
        // A deletion writes segments anew that were away.
        site.world.stop();
        site.world.resume();
        wait_until_away(&data);
        site.world.forget("kitchen", None, start(35)).expect(200);
        model.deleted.extend(0..35);
        model.check(&site);
        site.world.stop();
        inspect::check(&site.world.config(), true, true).unwrap();
        inspect::store(&site.world.config(), true).unwrap();
        // The disk is lost. Every window was in a segment.
        site.world.resume();
        wait_until_away(&data);
        site.world.stop();
        fs::remove_dir_all(&data).unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let refused = runtime.block_on(Server::open(&site.world.config())).err().unwrap();
        assert!(format!("{refused:#}").contains("sotto-cloud rebuild"), "{refused:#}");
        maintain::rebuild(&site.world.config()).unwrap();
        inspect::check(&site.world.config(), true, true).unwrap();
        site.world.resume();
        let mut rebuilt =
            Model { log: model.log.clone(), windows: model.windows.clone(), deleted: model.deleted.clone() };
        rebuilt.check(&site);
        rebuilt.check_messages(&site);
    }
}

#[test]
fn a_repair_leaves_segments_in_the_object_store() {
    let (mut site, mut model) = (site(in_folder), Model::default());
    let (data, objects) = (site.world.data(), site.world.folder().join("objects/segments"));
    for turn in 0..3 {
        send(&mut site, &mut model, turn * 10..turn * 10 + 10);
    }
    let backup = site.world.folder().join("backup");
    sotto_cloud::backups::backup(&site.world.config(), &backup, Days::default()).unwrap();
    wait_until_away(&data);
    site.world.stop();
    let config = site.world.config();
    inspect::repair(&config, None::<Place>).unwrap();
    assert!(segments(&data).is_empty(), "all are right where they are");
    // While the object store is away, nothing is given up as lost.
    let away = site.world.folder().join("unmounted");
    fs::rename(&objects, &away).unwrap();
    let refused = inspect::repair(&config, None::<Place>).unwrap_err();
    assert!(format!("{refused:#}").contains("is its disk mounted"), "{refused:#}");
    fs::rename(&away, &objects).unwrap();
    // One copy is damaged: its file comes from the backup, and stays until the object store has it again.
    let damaged = fs::read_dir(&objects).unwrap().next().unwrap().unwrap().path();
    let whole = fs::read(&damaged).unwrap();
    let mut bytes = whole.clone();
    bytes[200] ^= 1;
    fs::write(&damaged, bytes).unwrap();
    inspect::repair(&config, Some(&backup)).unwrap();
    assert_eq!(segments(&data).len(), 1);
    site.world.resume();
    wait_until_away(&data);
    assert_eq!(fs::read(&damaged).unwrap(), whole);
    model.check(&site);
    model.check_messages(&site);
}
