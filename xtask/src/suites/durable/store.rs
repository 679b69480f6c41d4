//! The cloud's database and its files: neither is deleted because the other lacks an entry.

use super::fixture::{self, holds, whole_days};
use super::{Cases, Site, refusal};
use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};

const DATABASE: &str = "plant/cloud/cloud.sqlite";

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let mut site = fixture::plant(cases.sotto())?;
    site.write("first.csv", fixture::days(0, 2))?;
    site.write("second.csv", fixture::days(2, 3))?;
    site.start_cloud()?;
    site.agent("boiler", &["--csv", "first.csv"])?;
    site.stop_cloud("TERM")?;
    let older = fs::read(site.folder().join(DATABASE))?;
    site.start_cloud()?;
    site.agent("boiler", &["--csv", "second.csv"])?;
    cases.case("five days are there", whole_days(&site, 0..5)?);

    site.stop_cloud("TERM")?;
    remove_database(&site)?;
    fs::write(site.folder().join(DATABASE), older)?;
    site.start_cloud()?;
    cases.case("an older database was restored: the days after it are there", whole_days(&site, 0..5)?);

    let stray = site.folder().join("plant/cloud/envelopes").join("0".repeat(32));
    site.stop_cloud("TERM")?;
    fs::write(&stray, b"not an envelope")?;
    site.start_cloud()?;
    let orphans = site.folder().join("plant/cloud/orphans");
    let kept =
        files(&orphans)?.iter().any(|file| fs::read(file).is_ok_and(|bytes| bytes == b"not an envelope"));
    cases.case(
        "a file that is no envelope is put aside, not deleted",
        holds(kept, || "it is gone".to_owned()),
    );

    deleted(cases, &mut site)?;
    copied(cases, &mut site)?;
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}

/// The database was deleted: the cloud does not start with an empty one.
fn deleted(cases: &mut Cases, site: &mut Site) -> Result<()> {
    site.stop_cloud("TERM")?;
    remove_database(site)?;
    let before = files(&site.folder().join("plant/cloud/segments"))?.len();
    let config = ["--config", "plant/cloud.toml"];
    let refused = site.try_program("sotto-cloud", &[&["run"], &config[..]].concat())?;
    let mut found = refusal(&refused, 1, &["sotto-cloud rebuild"]);
    let after = files(&site.folder().join("plant/cloud/segments"))?.len();
    found.extend(holds(before == after && before >= 1, || format!("{before} files, then {after}")));
    cases.case("the database was deleted: the cloud names the command that rebuilds it", found);
    site.program("sotto-cloud", &[&["rebuild"], &config[..]].concat())?;
    site.start_cloud()?;
    cases.case("the database was rebuilt from the segments", whole_days(site, 0..5)?);
    site.agent("boiler", &["--csv", "second.csv"])?;
    cases.case("the file again sends nothing new", whole_days(site, 0..5)?);
    Ok(())
}

/// A backup of a cloud under load, and its restoration.
fn copied(cases: &mut Cases, site: &mut Site) -> Result<()> {
    site.write("third.csv", fixture::days(5, 20))?;
    let mut agent = site.start_agent("boiler", &["--csv", "third.csv"])?;
    let config = ["--config", "plant/cloud.toml"];
    site.program("sotto-cloud", &[&["backup"], &config[..], &["--to", "copy"]].concat())?;
    let acknowledged = site.status("boiler")?["windows"].as_u64().context("windows")?;
    agent.wait()?;
    site.stop_cloud("KILL")?;
    let running = site.folder().join("plant/cloud");
    fs::rename(&running, site.folder().join("lost"))?;
    site.program("sotto-cloud", &[&["restore"], &config[..], &["--from", "copy"]].concat())?;
    site.run_cloud_until_it_answers()?;
    // The owner has seen windows that the backup may lack: `sotto` treats that as a lie until it is accepted.
    site.sotto(&["cloud", "accept", "boiler"])?;
    let restored = site.status("boiler")?["windows"].as_u64().context("windows")?;
    // A window is a day here. The backup holds at least the windows that had arrived before it began.
    let days = u32::try_from(restored)?;
    let mut found = whole_days(site, 0..days)?;
    found.extend(holds((5..=acknowledged).contains(&restored), || {
        format!("{restored} windows were restored; {acknowledged} had arrived after the backup")
    }));
    cases.case("a backup of a cloud under load, restored", found);
    // Windows after the backup are lost with the disk; the agent's file still has their readings.
    fs::remove_dir_all(site.folder().join("boiler.spool"))?;
    site.agent("boiler", &["--csv", "third.csv"])?;
    cases.case("readings after the backup come from the file again", whole_days(site, 0..25)?);
    Ok(())
}

fn remove_database(site: &Site) -> Result<()> {
    let folder = site.folder().join("plant/cloud");
    for name in ["cloud.sqlite", "cloud.sqlite-wal", "cloud.sqlite-shm"] {
        match fs::remove_file(folder.join(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}

/// Returns all files below a folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            all.extend(files(&path)?);
        } else {
            all.push(path);
        }
    }
    Ok(all)
}
