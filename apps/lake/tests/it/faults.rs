//! Whatever fails: the right answer, or a clear refusal.

use std::fs;
use std::path::PathBuf;

use crate::site::{Site, frames, rows};
use crate::workers::{coordinator, worker};

const BY_DEVICE: &str = "select device, sotto_sum(body, tag) from windows group by device";

fn segments(site: &Site) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(site.data().join("segments")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[tokio::test]
async fn a_missing_and_a_damaged_segment_are_named() {
    let mut site = Site::with_windows(60);
    site.seal();
    site.stop();
    let file = segments(&site).remove(0);
    let name = file.file_name().unwrap().to_str().unwrap().to_owned();
    let bytes = fs::read(&file).unwrap();
    let (lake, _) = site.lake(2).await;
    let expected = frames(&lake, BY_DEVICE).await.unwrap();
    // One bit of each place in turn: never an answer of other bits.
    for at in (0..bytes.len()).step_by(bytes.len() / 97) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        fs::write(&file, &damaged).unwrap();
        let (lake, _) = site.lake(2).await;
        match frames(&lake, BY_DEVICE).await {
            Ok(found) => assert_eq!(found, expected, "byte {at}"),
            Err(error) => assert!(error.contains(&name) || error.contains("segment"), "byte {at}: {error}"),
        }
    }
    for length in [0, 4, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&file, &bytes[..length]).unwrap();
        let (lake, _) = site.lake(2).await;
        let error = frames(&lake, BY_DEVICE).await.unwrap_err();
        assert!(error.contains(&name) && error.contains("sotto-cloud check"), "{error}");
    }
    fs::remove_file(&file).unwrap();
    let (lake, _) = site.lake(2).await;
    let error = frames(&lake, BY_DEVICE).await.unwrap_err();
    assert!(error.contains(&format!("segment {name} is missing")), "{error}");
}

#[tokio::test]
async fn places_without_a_store_and_stores_of_another_version_are_refused() {
    use sotto_lake::store::{Catalogue, Files, Place};
    let folder = tempfile::tempdir().unwrap();
    let place = Place::Folder(folder.path().to_owned());
    let files = Files::open(&place, None, folder.path()).unwrap();
    let error = Catalogue::open(&place, &files).await.err().unwrap();
    assert!(error.to_string().contains("has no cloud.sqlite"), "{error}");
    let mut site = Site::with_windows(20);
    site.stop();
    let database = rusqlite::Connection::open(site.data().join("cloud.sqlite")).unwrap();
    database.pragma_update(None, "user_version", 99).unwrap();
    drop(database);
    let error = Catalogue::open(&site.place(), &site.files()).await.err().unwrap();
    assert!(error.to_string().contains("version 99"), "{error}");
}

#[tokio::test]
async fn a_lie_is_found_by_the_tag() {
    let site = Site::with_windows(60);
    let all: Vec<u64> = (0..60).collect();
    let (lake, _) = site.lake(2).await;
    let device = &site.devices[0];
    let frame = frames(&lake, BY_DEVICE).await.unwrap()["kitchen"].clone();
    assert!(device.open(&frame, &all, None).is_some());
    // A worker that changes a bit anywhere, or leaves a window out and says it did not.
    for at in 0..frame.len() {
        let mut lie = frame.clone();
        lie[at] ^= 1;
        let opened = device.open(&lie, &all, None);
        assert!(opened.is_none(), "byte {at}");
    }
    let less = site.cloud_sum(0, &all[1..], &[0, 1], None);
    assert!(device.open(&less, &all, None).is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_dies_ends_the_query_and_another_one_answers() {
    let site = Site::with_windows(60);
    let (one, two) = (worker(&site, None).await, worker(&site, None).await);
    let urls: Vec<url::Url> =
        [&one, &two].map(|worker| format!("http://{}", worker.address).parse().unwrap()).into();
    let lake = coordinator(&site, urls.clone(), None).await;
    let expected = frames(&lake, BY_DEVICE).await.unwrap();
    one.stop.send(()).unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    let lake = coordinator(&site, urls.clone(), None).await;
    let error = rows(&lake, BY_DEVICE).await.unwrap_err();
    assert!(error.contains("cannot be reached"), "{error}");
    let lake = coordinator(&site, urls[1..].to_vec(), None).await;
    assert_eq!(frames(&lake, BY_DEVICE).await.unwrap(), expected);
}
