//! A plant, its copies, bundles and cloud, and the readings that were sent.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use super::Site;
use super::operation::Operation;
use super::settings::Names;
use crate::process::Finished;

/// Hours that a device sends at a time.
const HOURS: u32 = 48;

/// The zones of the histories.
const ZONES: [&str; 5] = ["UTC", "Europe/Vienna", "Asia/Kolkata", "Australia/Lord_Howe", "America/New_York"];

/// The file of backups.
pub(super) const BACKUP: &str = "plant.backup";

/// The readings of a device.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    /// Each of its readings of heat.
    pub(super) value: f64,
    /// Hours from the first of January 2025 that are in the cloud.
    pub(super) hours: u32,
    /// Hours that may be.
    pub(super) most: u32,
    /// Hours that the copy of the cloud's folder has.
    hours_of_copy: u32,
    /// Files of its bundles, the latest last.
    pub(super) bundles: Vec<String>,
}

/// A plant with its surroundings.
pub(super) struct World {
    pub(super) site: Site,
    /// Devices by their first names.
    pub(super) devices: BTreeMap<String, Sent>,
    /// Folders of copies of the plant, the latest last.
    pub(super) copies: Vec<String>,
    pub(super) faults: Vec<String>,
    has_cloud_copy: bool,
    /// Number of names that were made.
    made: usize,
}

impl World {
    pub(super) fn new(site: Site) -> Self {
        Self {
            site,
            devices: BTreeMap::new(),
            copies: Vec::new(),
            faults: Vec::new(),
            has_cloud_copy: false,
            made: 0,
        }
    }

    /// Copies everything to another place, with a cloud of its own that runs.
    pub(super) fn copy(&self) -> Result<Self> {
        let mut site = self.site.copy()?;
        site.start_cloud()?;
        let (devices, copies) = (self.devices.clone(), self.copies.clone());
        Ok(Self { site, devices, copies, faults: Vec::new(), has_cloud_copy: false, made: self.made })
    }

    /// Ends the cloud.
    pub(super) fn end(&mut self) -> Result<()> {
        self.site.stop_cloud("TERM")
    }

    pub(super) fn plant(&self) -> PathBuf {
        self.site.folder().join("plant")
    }

    pub(super) fn names(&self) -> Names {
        Names::read(&self.plant())
    }

    /// Runs a step.
    pub(super) fn run(&mut self, step: Operation) -> Result<()> {
        match step {
            Operation::Send { device, again } => self.send(device, again)?,
            Operation::Renew { device } => self.renew(device)?,
            Operation::Add => self.add()?,
            Operation::Remove { device } => {
                if let Some(name) = self.shown(device) {
                    self.sotto(&["device", "remove", &name])?;
                }
            }
            Operation::RenameDevice { device } => {
                if let Some(name) = self.shown(device) {
                    let new = self.new_name("place");
                    self.sotto(&["device", "rename", &name, &new])?;
                }
            }
            Operation::RenameChannel { channel } => {
                let shown: Vec<String> = self.names().channels.into_values().collect();
                if let Some(name) = shown.get(channel) {
                    let new = self.new_name("quantity");
                    self.sotto(&["channel", "rename", name, &new])?;
                }
            }
            Operation::Zone { zone } => {
                let set = |line: &str| match line.starts_with("time_zone = ") {
                    true => format!("time_zone = \"{}\"", ZONES[zone]),
                    false => line.to_owned(),
                };
                self.edit(set)?;
            }
            Operation::Widen { channel } => {
                let mut number = 0;
                self.edit(|line| {
                    let is_range = line.starts_with("range = ");
                    number += usize::from(is_range);
                    if is_range && number == channel + 1 {
                        "range = [-50, 150]".to_owned()
                    } else {
                        line.to_owned()
                    }
                })?;
            }
            Operation::Lose { file } => self.lose(file)?,
            Operation::LoseBundles { device } => {
                let chosen = self.devices.values_mut().nth(device);
                for bundle in chosen.map(|sent| std::mem::take(&mut sent.bundles)).unwrap_or_default() {
                    fs::remove_file(self.site.folder().join(bundle))?;
                }
            }
            Operation::Copy => {
                let name = self.new_name("copy");
                self.copy_plant("plant", &name)?;
                self.copies.push(name);
            }
            Operation::InCopy { copy, device } => self.renew_in_copy(copy, device)?,
            Operation::CopyCloud => self.copy_cloud()?,
            Operation::SetBack => self.set_back()?,
            Operation::Restore { copy, file } => self.restore(copy, file)?,
            Operation::Backup => drop(self.sotto(&["backup", "--to", BACKUP])?),
            Operation::FromBackup { replace } => {
                let more: &[&str] = if replace { &["--replace"] } else { &[] };
                self.sotto(&[&["restore", BACKUP], more].concat())?;
            }
            // It seals or opens every secret: the same ones, in other bytes.
            Operation::Passphrase { set } => {
                self.site.try_sotto(&["passphrase", if set { "set" } else { "remove" }])?;
            }
            Operation::Kill { command, after } => self.kill(command, after)?,
            Operation::Ask => self.ask()?,
        }
        Ok(())
    }

    /// Runs `sotto`, and checks that no secret changed.
    pub(super) fn sotto(&mut self, arguments: &[&str]) -> Result<Finished> {
        let before = self.secrets()?;
        let done = self.site.try_sotto(arguments)?;
        // It seals a secret that was put back in the clear: the same one, in other bytes.
        if arguments.get(..2) != Some(&["passphrase", "seal"]) {
            self.compare_secrets(&before, arguments)?;
        }
        Ok(done)
    }

    fn compare_secrets(&mut self, before: &BTreeMap<String, Vec<u8>>, arguments: &[&str]) -> Result<()> {
        let after = self.secrets()?;
        for (name, bytes) in before {
            if after.get(name) != Some(bytes) {
                let how = if after.contains_key(name) { "changed" } else { "removed" };
                self.faults.push(format!("`sotto {}` {how} secrets/{name}", arguments.join(" ")));
            }
        }
        Ok(())
    }

    fn secrets(&self) -> Result<BTreeMap<String, Vec<u8>>> {
        let mut secrets = BTreeMap::new();
        for entry in fs::read_dir(self.plant().join("secrets")).into_iter().flatten() {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            // Files of a killed command.
            if path.is_file() && !name.contains(".partial") && !name.starts_with('.') {
                secrets.insert(name, fs::read(&path)?);
            }
        }
        Ok(secrets)
    }

    fn new_name(&mut self, kind: &str) -> String {
        self.made += 1;
        format!("{kind}{}", self.made)
    }

    /// Returns the name that a device has in `sotto.toml`; None if it is not declared.
    fn shown(&self, device: usize) -> Option<String> {
        let names = self.names();
        let wire = self.devices.keys().nth(device % self.devices.len().max(1))?;
        names.devices.get(wire).cloned()
    }

    fn send(&mut self, device: usize, again: bool) -> Result<()> {
        let at = device % self.devices.len();
        let Some((_, sent)) = self.devices.iter().nth(at) else { return Ok(()) };
        let Some(bundle) = sent.bundles.last().cloned() else { return Ok(()) };
        let (from, to) = (if again { 0 } else { sent.hours }, sent.hours + HOURS);
        let mut text = "time,heat,flow\n".to_owned();
        for hour in from..to {
            // 60 days: two months of readings.
            let (day, of_day) = (hour / 24, hour % 24);
            let (month, day) = if day < 31 { (1, day + 1) } else { (2, day - 30) };
            writeln!(text, "2025-{month:02}-{day:02}T{of_day:02}:00:00Z,{},5", sent.value)?;
        }
        self.site.write("sent.csv", text)?;
        let url = self.site.cloud_url_of_config()?;
        let name = bundle.strip_suffix(".bundle").context("a bundle")?;
        let done = self.site.try_agent(name, &["--csv", "sent.csv", "--cloud", &url])?;
        let Some(sent) = self.devices.values_mut().nth(at) else { return Ok(()) };
        sent.most = sent.most.max(to);
        if done.status.success() {
            sent.hours = to;
        }
        Ok(())
    }

    fn renew(&mut self, device: usize) -> Result<()> {
        let Some(name) = self.shown(device) else { return Ok(()) };
        let bundle = self.new_name("renewed") + ".bundle";
        let done = self.sotto(&["device", "renew", &name, "--bundle", &bundle])?;
        if done.status.success() {
            let at = device % self.devices.len();
            self.devices.values_mut().nth(at).context("a device")?.bundles.push(bundle);
        }
        Ok(())
    }

    /// Makes a bundle for a device in a copy of the folder, as on a second computer.
    fn renew_in_copy(&mut self, copy: usize, device: usize) -> Result<()> {
        let Some(name) = self.copies.get(copy % self.copies.len().max(1)).cloned() else { return Ok(()) };
        let at = device % self.devices.len();
        let Some((wire, _)) = self.devices.iter().nth(at) else { return Ok(()) };
        let Some(shown) = Names::read(&self.site.folder().join(&name)).devices.remove(wire) else {
            return Ok(());
        };
        let bundle = self.new_name("elsewhere") + ".bundle";
        let renew = ["device", "renew", &shown, "--bundle", &bundle, "--plant", &name];
        if self.site.try_sotto(&renew)?.status.success() {
            self.devices.values_mut().nth(at).context("a device")?.bundles.push(bundle);
        }
        Ok(())
    }

    /// Returns true if the secrets that the cloud reads when it starts are there.
    fn can_start_cloud(&self) -> bool {
        let secrets = self.plant().join("secrets");
        ["owner-token", "cloud-signing-key"].iter().all(|name| secrets.join(name).exists())
    }

    /// Copies the cloud's folder, in place of an earlier copy.
    fn copy_cloud(&mut self) -> Result<()> {
        if !self.can_start_cloud() {
            return Ok(());
        }
        self.site.stop_cloud("TERM")?;
        self.shell("rm -rf cloud-copy && cp -a plant/cloud cloud-copy", &[])?;
        self.devices.values_mut().for_each(|sent| sent.hours_of_copy = sent.hours);
        self.has_cloud_copy = true;
        self.site.run_cloud_until_it_answers()
    }

    /// Puts the copy of the cloud's folder back, as its operator after the loss of a disk.
    fn set_back(&mut self) -> Result<()> {
        if !self.has_cloud_copy || !self.can_start_cloud() {
            return Ok(());
        }
        self.site.stop_cloud("TERM")?;
        self.shell("rm -rf plant/cloud && cp -a cloud-copy plant/cloud", &[])?;
        self.devices.values_mut().for_each(|sent| sent.hours = sent.hours_of_copy);
        self.site.run_cloud_until_it_answers()
    }

    /// Adds the first device that is not declared, else a new one.
    fn add(&mut self) -> Result<()> {
        let names = self.names();
        let known = self.devices.keys().find(|wire| !names.devices.contains_key(*wire)).cloned();
        let is_new = known.is_none();
        let name = match known {
            Some(wire) => wire,
            None => self.new_name("device"),
        };
        let bundle = if is_new { format!("{name}.bundle") } else { self.new_name("again") + ".bundle" };
        let channels: Vec<&str> = ["heat", "flow"]
            .iter()
            .filter_map(|wire| names.channels.get(*wire).map(String::as_str))
            .collect();
        if channels.len() < 2 {
            return Ok(());
        }
        let add = ["device", "add", &name, "--channels", &channels.join(","), "--bundle", &bundle];
        let done = self.sotto(&add)?;
        if done.status.success() {
            let value = 10.0 + 0.5 * self.devices.len() as f64;
            let new = Sent { value, hours: 0, most: 0, hours_of_copy: 0, bundles: Vec::new() };
            self.devices.entry(name).or_insert(new).bundles.push(bundle);
        }
        Ok(())
    }

    fn edit(&self, edited: impl FnMut(&str) -> String) -> Result<()> {
        let file = self.plant().join("sotto.toml");
        let Ok(text) = fs::read_to_string(&file) else { return Ok(()) };
        let lines: Vec<String> = text.lines().map(edited).collect();
        Ok(fs::write(&file, lines.join("\n") + "\n")?)
    }

    /// Returns the files and folders that can be lost, but for those of the cloud.
    fn files(&self, of: &str) -> Vec<String> {
        let root = self.site.folder().join(of);
        let mut files = Vec::new();
        for folder in ["", "devices", "enrolments", "secrets", "logs", "answers"] {
            for entry in fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
                let Ok(path) = entry.path().strip_prefix(&root).map(|path| path.display().to_string()) else {
                    continue;
                };
                // The cloud's own files and keys are another suite's.
                if !["cloud", "cloud.toml", "secrets/cloud-signing-key"].contains(&path.as_str()) {
                    files.push(path);
                }
            }
        }
        files.sort();
        files
    }

    fn lose(&mut self, file: usize) -> Result<()> {
        let files = self.files("plant");
        let Some(name) = files.get(file % files.len().max(1)) else { return Ok(()) };
        // Nobody can make the cloud's address and key again.
        let needs_copy = ["sotto.toml", "secrets"].contains(&name.as_str());
        if needs_copy && !self.copies.iter().any(|copy| self.site.folder().join(copy).join(name).exists()) {
            return Ok(());
        }
        let path = self.plant().join(name);
        let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        Ok(removed?)
    }

    /// Copies a plant's folder but for the cloud's data.
    fn copy_plant(&self, from: &str, to: &str) -> Result<()> {
        fs::create_dir_all(self.site.folder().join(to))?;
        let script = "cd \"$0\" && for name in * .[!.]*; do case \"$name\" in cloud|'*'|'.[!.]*') ;; *) cp -a \"$name\" \"../$1/\" ;; esac; done";
        self.shell(script, &[self.site.folder().join(from).display().to_string().as_str(), to])
    }

    fn shell(&self, script: &str, arguments: &[&str]) -> Result<()> {
        let mut command = Command::new("sh");
        command.args(["-c", script]).args(arguments).current_dir(self.site.folder());
        let done = command.output()?;
        ensure!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
        Ok(())
    }

    fn restore(&mut self, copy: usize, file: Option<usize>) -> Result<()> {
        let Some(name) = self.copies.get(copy % self.copies.len().max(1)).cloned() else { return Ok(()) };
        match file {
            Some(file) => {
                let files = self.files(&name);
                let Some(file) = files.get(file % files.len().max(1)) else { return Ok(()) };
                self.bring_back(&name, file)
            }
            None => {
                let clear = "cd \"$0\" && for name in * .[!.]*; do case \"$name\" in cloud|'*'|'.[!.]*') ;; *) rm -rf \"$name\" ;; esac; done";
                self.shell(clear, &[self.plant().display().to_string().as_str()])?;
                self.copy_plant(&name, "plant")
            }
        }
    }

    /// Puts a file or folder of a copy in its place.
    pub(super) fn bring_back(&self, copy: &str, file: &str) -> Result<()> {
        let script =
            "mkdir -p \"$(dirname \"plant/$1\")\" && rm -rf \"plant/$1\" && cp -a \"$0/$1\" \"plant/$1\"";
        self.shell(script, &[copy, file])
    }

    fn kill(&mut self, command: usize, after: u64) -> Result<()> {
        let shown = self.shown(command).unwrap_or_else(|| "device1".to_owned());
        let (bundle, new) = (self.new_name("killed") + ".bundle", self.new_name("killed"));
        let channels: Vec<String> = self.names().channels.into_values().collect();
        let channels = channels.join(",");
        let commands: [&[&str]; 10] = [
            &["device", "renew", &shown, "--bundle", &bundle],
            &["device", "rename", &shown, &new],
            &["device", "remove", &shown],
            &["device", "add", &shown, "--channels", &channels, "--bundle", &bundle],
            &["device", "add", &new, "--channels", &channels, "--bundle", &bundle],
            &["status"],
            &["ask", "daily"],
            &["check"],
            &["backup", "--to", BACKUP],
            &["restore", BACKUP],
        ];
        let arguments = commands[command];
        let before = self.secrets()?;
        let mut running = self.site.start_sotto(arguments)?;
        std::thread::sleep(Duration::from_millis(after));
        running.end("KILL")?;
        self.compare_secrets(&before, arguments)
    }
}
