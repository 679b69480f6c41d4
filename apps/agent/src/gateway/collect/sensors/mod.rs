//! Sensors of this machine that the kernel shows as files: industrial I/O (IIO) and hardware monitors (hwmon).

mod chips;

use std::path::{Path, PathBuf};
use std::time::Duration;

use sotto_preset::Report;

use super::hand_over::hand_over;
use super::points::points;
use super::{Collector, Site, Trouble, wait_for};

pub(super) use chips::Tree;

/// The sensors of one tree.
pub(super) struct Sensors {
    device: String,
    tree: Tree,
    /// The folder in the place of /sys.
    root: PathBuf,
    every: Duration,
}

impl Sensors {
    pub(super) fn new(device: &str, tree: Tree, root: &Path, every: Duration) -> Self {
        Self { device: device.to_owned(), tree, root: root.to_owned(), every }
    }

    fn once(&self, site: &Site) -> Result<(), String> {
        let readings = self.tree.read(&self.root)?;
        if readings.is_empty() {
            return Err(format!("{} has no sensor", self.name()));
        }
        let report = Report { device: self.device.clone(), tags: Vec::new(), at: None, readings };
        if let Some(seen) = &site.seen {
            seen.report(&report);
        }
        hand_over(&points(report, self.tree.word()), &self.name(), site);
        Ok(())
    }
}

impl Collector for Sensors {
    fn name(&self) -> String {
        self.tree.folder(&self.root).display().to_string()
    }

    fn collect(&mut self, site: &Site) -> Result<(), Trouble> {
        let mut had_worked = false;
        while !wait_for(self.every, &site.stop) {
            self.once(site).map_err(|reason| Trouble { reason, had_worked })?;
            had_worked = true;
        }
        Ok(())
    }
}
