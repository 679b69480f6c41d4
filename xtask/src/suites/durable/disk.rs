//! A full disk: a message says so, nothing is lost, and work resumes when there is space again.

use super::fixture::{self, holds, whole_days};
use super::{Cases, refusal};
use anyhow::{Result, ensure};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Days of readings, more than fit on the disk.
const DAYS: u32 = 30;
/// An agent that fails on a full disk ends within this time.
const PAUSE: Duration = Duration::from_millis(700);

/// A small file system in memory.
pub(super) struct Disk(PathBuf);

impl Disk {
    /// Mounts a file system of this size. None if this user may not mount one.
    pub(super) fn mount(folder: &Path, size: &str) -> Result<Option<Self>> {
        fs::create_dir_all(folder)?;
        let option = format!("size={size},mode=0700");
        let mounted = done(Command::new("mount").args(["-t", "tmpfs", "-o", &option, "tmpfs"]).arg(folder));
        Ok(mounted.then(|| Self(folder.to_owned())))
    }
}

impl Disk {
    /// Takes all remaining space.
    pub(super) fn fill(&self) -> Result<()> {
        let mut filler = File::create(self.filler())?;
        let error = loop {
            if let Err(error) = filler.write_all(&[0; 4096]) {
                break error;
            }
        };
        ensure!(error.kind() == ErrorKind::StorageFull, "the disk cannot be filled: {error}");
        Ok(())
    }

    /// Frees the space again.
    pub(super) fn free(&self) -> Result<()> {
        Ok(fs::remove_file(self.filler())?)
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        done(Command::new("umount").arg(&self.0));
    }
}

fn done(command: &mut Command) -> bool {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let mut site = fixture::plant(cases.sotto())?;
    // Room for the spool's state and some windows, each of which takes a page of 4 KiB.
    let Some(disk) = Disk::mount(&site.folder().join("disk"), "80k")? else {
        println!("skipped: no file system can be mounted here (it takes root, and the program `mount`)");
        return Ok(());
    };
    site.write("first.csv", fixture::days(0, 1))?;
    site.write("boiler.csv", fixture::days(0, DAYS))?;
    let spool = ["--spool", "disk/spool"];
    site.start_cloud()?;
    site.agent("boiler", &[&["--csv", "first.csv"], &spool[..]].concat())?;
    site.stop_cloud("TERM")?;

    let more = [&["--csv", "boiler.csv"], &spool[..]].concat();
    let mut agent = site.start_agent("boiler", &more)?;
    let waiting = fixture::waiting(&site, "disk/spool", 2)?.len();
    std::thread::sleep(PAUSE);
    let mut found = holds(agent.end("KILL")?, || "the agent gave up".to_owned());
    for _ in 0..3 {
        disk.fill()?;
        let mut agent = site.start_agent("boiler", &more)?;
        std::thread::sleep(PAUSE);
        found.extend(holds(agent.end("KILL")?, || "a restarted agent gave up".to_owned()));
        disk.free()?;
    }
    let kept = fixture::waiting(&site, "disk/spool", waiting)?.len();
    found.extend(holds(kept < DAYS as usize - 1, || format!("{kept} windows fit: the disk was not full")));
    cases.case("the agent's disk is full, and the cloud away: it waits", found);

    disk.fill()?;
    let mut agent = site.start_agent("boiler", &more)?;
    site.start_cloud()?;
    agent.wait()?;
    disk.free()?;
    let mut found = whole_days(&site, 0..DAYS)?;
    let bundle = ["status", "--json", "--bundle", "boiler.bundle"];
    let status: Value = serde_json::from_str(&site.program("sotto-agent", &[&bundle[..], &spool].concat())?)?;
    let next = &status["streams"]["exact-1h"]["next_sequence"];
    found.extend(holds(*next == DAYS && status["waiting"] == 0, || format!("numbers were lost: {status}")));
    cases.case("the cloud is back, and the disk still full: the spool drains, no number is lost", found);

    site.sotto(&["init", "disk/plant"])?;
    disk.fill()?;
    let add =
        [&["channel", "add", "temperature"], &fixture::CHANNEL[..], &["--plant", "disk/plant"]].concat();
    let before = fs::read(site.folder().join("disk/plant/sotto.toml"))?;
    let mut found = refusal(&site.try_sotto(&add)?, 3, &["sotto.toml", "No space left"]);
    if fs::read(site.folder().join("disk/plant/sotto.toml"))? != before {
        found.push("sotto.toml was changed".to_owned());
    }
    cases.case("the owner's disk is full", found);
    drop(disk);
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}
