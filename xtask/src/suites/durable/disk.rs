//! A disk that is full: a message says so, nothing is lost, and all goes on when there is space again.

use super::{Cases, Site, refusal};
use anyhow::{Result, ensure};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A small file system in memory.
pub(super) struct Disk(PathBuf);

impl Disk {
    /// `None` where this user may not mount one.
    pub(super) fn mount(folder: &Path, size: &str) -> Result<Option<Self>> {
        fs::create_dir_all(folder)?;
        let option = format!("size={size},mode=0700");
        let mounted = done(Command::new("mount").args(["-t", "tmpfs", "-o", &option, "tmpfs"]).arg(folder));
        Ok(mounted.then(|| Self(folder.to_owned())))
    }

    fn resize(&self, size: &str) -> Result<()> {
        let option = format!("remount,size={size}");
        ensure!(
            done(Command::new("mount").args(["-o", &option]).arg(&self.0)),
            "the disk cannot be enlarged"
        );
        Ok(())
    }
}

impl Disk {
    /// Takes all space that is left.
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

    /// Gives the space back.
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
    let mut site = Site::new(cases.sotto(), "UTC")?;
    // Room for the spool's state and a few windows.
    let Some(disk) = Disk::mount(&site.folder().join("disk"), "100k")? else {
        println!("skipped: no file system can be mounted here (it takes root, and the program `mount`)");
        return Ok(());
    };
    let channel = ["--range", "-20..120", "--resolution", "0.5", "--every", "1h"];
    site.sotto(&[&["channel", "add", "temperature"], &channel[..]].concat())?;
    site.sotto(&["question", "add", "daily", "count(temperature), mean(temperature) by day"])?;
    site.sotto(&["device", "add", "boiler", "--channels", "temperature"])?;
    let mut rows = "time,temperature\n".to_owned();
    for hour in 0..10 * 24 {
        writeln!(rows, "2025-01-{:02}T{:02}:00:00Z,{}", 1 + hour / 24, hour % 24, hour % 40)?;
    }
    site.write("boiler.csv", rows)?;
    site.start_cloud()?;
    site.stop_cloud("TERM")?;
    let agent = ["--csv", "boiler.csv", "--spool", "disk/spool"];
    let full = refusal(&site.try_agent("boiler", &agent)?, 1, &["disk/spool", "No space left"]);
    cases.case("the agent's disk is full", full);

    disk.resize("8m")?;
    site.start_cloud()?;
    site.agent("boiler", &agent)?;
    let answer = site.ask("daily", &[])?;
    let rows = answer["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let right = rows.len() == 20 && rows.iter().all(|row| row["count"] == 24 && row["missing"] == 0);
    let found = (!right).then(|| format!("not ten whole days: {answer}"));
    cases.case("the agent's disk has space again: nothing was lost", found.into_iter().collect());

    site.sotto(&["init", "disk/plant"])?;
    ensure!(fs::write(site.folder().join("disk/filler"), vec![0; 16 << 20]).is_err(), "the disk is not full");
    let add = [&["channel", "add", "temperature"], &channel[..], &["--plant", "disk/plant"]].concat();
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
