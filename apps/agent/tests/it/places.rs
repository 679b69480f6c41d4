//! A spool with windows of places, which an earlier program left: nothing of it is sent or deleted. The files are in
//! `tests/data/places`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use sotto_agent::spool::{SpoolError, refuse_places};
use sotto_pack::Clock;
use tempfile::TempDir;

use crate::site::{Act, Cloud, agent, files};

/// The device's folder as the earlier program left it.
fn earlier() -> TempDir {
    let (from, folder) =
        (Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/places"), tempfile::tempdir());
    let folder = folder.unwrap();
    let copy = |name: PathBuf| fs::copy(from.join(&name), folder.path().join(&name)).unwrap();
    fs::create_dir(folder.path().join("boiler.spool")).unwrap();
    for file in ["boiler.bundle", "readings.csv", "boiler.spool/state.json"] {
        copy(file.into());
    }
    for file in files(&from.join("boiler.spool"), ".envelope") {
        copy(Path::new("boiler.spool").join(file));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(folder.path().join("boiler.bundle"), private).unwrap();
    }
    folder
}

/// Name and bytes of each file of the spool.
fn spool(folder: &TempDir) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for file in fs::read_dir(folder.path().join("boiler.spool")).unwrap() {
        let path = file.unwrap().path();
        found.push((path.clone(), fs::read(path).unwrap()));
    }
    found.sort();
    found
}

fn run(folder: &TempDir, command: &str, arguments: &[&str]) -> Output {
    let bundle = folder.path().join("boiler.bundle");
    agent().arg(command).arg("--bundle").arg(bundle).args(arguments).output().unwrap()
}

#[test]
fn a_spool_with_windows_of_places_has_an_exit_code_of_its_own() {
    let (folder, cloud) = (earlier(), Cloud::start(&[Act::Store]));
    let (before, url) = (spool(&folder), cloud.url());
    let csv = folder.path().join("readings.csv");
    let source = ["--csv", csv.to_str().unwrap(), "--cloud", &url];
    for (command, arguments) in [("run", &source[..]), ("requeue", &source[2..])] {
        let output = run(&folder, command, arguments);
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        let told = String::from_utf8(output.stderr).unwrap();
        for word in [
            "5 windows of places with 108 readings",
            "2014-05-13T17:00:00+00:00",
            "sotto device renew boiler",
            "*.hours.*.envelope",
            "on the source",
            "Nothing was sent or deleted",
        ] {
            assert!(told.contains(word), "{word}: {told}");
        }
        assert!(cloud.uploads().is_empty());
        assert_eq!(spool(&folder), before);
    }
    // The state is told as ever.
    let output = run(&folder, "status", &[]);
    assert!(
        output.status.success() && String::from_utf8_lossy(&output.stdout).contains("waiting: 5 messages")
    );
}

#[test]
fn refused_windows_of_places_are_not_sent_again() {
    let folder = earlier();
    let spool = folder.path().join("boiler.spool");
    fs::create_dir(spool.join("refused")).unwrap();
    for file in files(&spool, ".envelope") {
        fs::rename(spool.join(&file), spool.join("refused").join(&file)).unwrap();
    }
    let refuse = |refused| refuse_places(&spool, "boiler", &Clock::utc(), refused);
    assert!(refuse(false).is_ok(), "none waits");
    let Err(SpoolError::Places(found)) = refuse(true) else { panic!("windows of places") };
    assert_eq!((found.windows, found.readings, &found.streams[..]), (5, 108, &["hours".to_owned()][..]));
    // The first one cannot be read: the others tell the form.
    let first = spool.join("refused").join(&files(&spool.join("refused"), ".envelope")[0]);
    fs::write(first, b"sott").unwrap();
    let Err(SpoolError::Places(found)) = refuse(true) else { panic!("windows of places") };
    assert!(found.windows >= 4 && found.readings < 108, "{found:?}");
    assert!(refuse_places(&folder.path().join("none"), "boiler", &Clock::utc(), true).is_ok());
}
