//! Histories, and the plant that all of them begin with.

use std::fmt;
use std::path::Path;

use anyhow::Result;

use super::operation::Operation;
use super::world::World;
use super::{Numbers, PASSPHRASE, Site};

/// Steps in order.
#[derive(Clone, Debug)]
pub(super) struct History(Vec<Operation>);

impl History {
    /// Returns three to ten random steps.
    pub(super) fn random(numbers: &mut Numbers) -> Self {
        let steps = 3 + (numbers.next() * 8.0) as usize;
        Self((0..steps).map(|_| Operation::random(numbers)).collect())
    }

    fn without(&self, at: usize) -> Self {
        let mut steps = self.0.clone();
        steps.remove(at);
        Self(steps)
    }
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&steps.join(", "))
    }
}

/// A plant with two devices that have sent two days.
pub(super) struct Template {
    world: World,
}

impl Template {
    pub(super) fn new(sotto: &Path) -> Result<Self> {
        let mut site = Site::new(sotto, "UTC")?;
        for name in ["heat", "flow"] {
            let channel =
                ["channel", "add", name, "--unit", "kW", "--range", "0..100", "--resolution", "0.1"];
            site.sotto(&[&channel[..], &["--every", "1h"]].concat())?;
        }
        site.sotto(&["question", "add", "daily", "sum(heat), mean(flow) by day"])?;
        site.write_private(PASSPHRASE, b"a passphrase of the histories")?;
        site.start_cloud()?;
        let mut world = World::new(site);
        for _ in 0..2 {
            world.run(Operation::Add)?;
        }
        for device in 0..2 {
            world.run(Operation::Send { device, again: false })?;
        }
        world.end()?;
        Ok(Self { world })
    }

    /// Runs a history. Returns its first fault.
    pub(super) fn fault(&self, history: &History) -> Result<Option<String>> {
        let mut world = self.world.copy()?;
        for step in &history.0 {
            world.run(*step)?;
            if let Some(fault) = world.faults.first() {
                return Ok(Some(format!("after {step}: {fault}")));
            }
        }
        world.recover()?;
        Ok(world.faults.first().cloned())
    }

    /// Returns the shortest history that has a fault, by leaving out steps.
    pub(super) fn shortest(&self, mut history: History, mut fault: String) -> Result<(History, String)> {
        let mut at = 0;
        while at < history.0.len() {
            let shorter = history.without(at);
            match self.fault(&shorter)? {
                Some(found) => (history, fault) = (shorter, found),
                None => at += 1,
            }
        }
        Ok((history, fault))
    }
}
