//! `sotto-agent check` for a gateway: which fields which devices would take, and which nobody takes. Stores and sends nothing,
//! and tells senders to keep their readings.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, bail};
use serde::Serialize;

use super::bounded;
use super::folder::bundles;
use super::member::{lock, shown};
use super::point::{Intake, IntakeError, Point, Taken};
use super::route::{Routes, Scratch};
use super::target::Target;
use crate::bundle::Bundle;
use crate::nouns::counted;

/// Maximum number of fields that are listed, of each kind.
const MOST: usize = 1000;

/// Counts the fields of points by the channel that would take them.
pub(crate) struct Tally {
    names: Vec<String>,
    targets: Vec<Arc<Target>>,
    routes: Routes,
    faults: Vec<String>,
    seen: Mutex<Seen>,
}

#[derive(Clone, Default, Serialize)]
struct Seen {
    points: u64,
    /// By device, channel, measurement and sender.
    taken: BTreeMap<String, Found>,
    /// By measurement, field and sender.
    unclaimed: BTreeMap<String, u64>,
}

/// Readings of a channel that came.
#[derive(Clone, Default, Serialize)]
struct Found {
    readings: u64,
    /// Values that are none of the channel's.
    unreadable: u64,
}

impl Tally {
    /// Reads the bundles of a folder.
    ///
    /// # Errors
    /// The folder cannot be read, or has no bundle that can be used.
    pub(crate) fn of(folder: &Path) -> Result<Self> {
        let found = bundles(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
        let (mut names, mut targets, mut faults) = (Vec::new(), Vec::new(), Vec::new());
        for path in found.keys() {
            let read = Bundle::read(path).map_err(anyhow::Error::from);
            match read.and_then(|bundle| Ok((Target::of(path, &bundle.profile)?, bundle.profile.device))) {
                Ok((target, name)) => {
                    targets.push(Arc::new(target));
                    names.push(name);
                }
                Err(error) => faults.push(format!("{error:#}")),
            }
        }
        if targets.is_empty() {
            bail!("{} has no bundle that can be used: {}", folder.display(), faults.join("; "));
        }
        let routes = Routes::new(names.iter().map(String::as_str).zip(targets.iter().cloned()));
        Ok(Self { names, targets, routes, faults, seen: Mutex::default() })
    }

    /// Returns the counts so far, as lines for people or as JSON.
    ///
    /// # Errors
    /// It cannot be written as JSON.
    pub(crate) fn report(&self, json: bool) -> Result<String> {
        let seen = lock(&self.seen).clone();
        if json {
            let document = serde_json::json!({ "points": seen.points, "taken": seen.taken, "unclaimed": seen.unclaimed, "faults": self.faults });
            return serde_json::to_string_pretty(&document).context("the counts cannot be written as JSON");
        }
        let mut lines = vec![format!("{} came", counted(seen.points, "point"))];
        for (name, Found { readings, unreadable }) in &seen.taken {
            let unreadable = match unreadable {
                0 => String::new(),
                count => format!("; {} that the channel cannot read", counted(*count, "value")),
            };
            lines.push(format!("{name}: {}{unreadable}", counted(*readings, "reading")));
        }
        let silent = self
            .names
            .iter()
            .filter(|name| !seen.taken.keys().any(|key| key.starts_with(&format!("{name}."))));
        lines.extend(silent.map(|name| format!("{name}: nothing came for it")));
        for (name, count) in &seen.unclaimed {
            lines.push(format!("nobody takes {name} ({count})"));
        }
        lines.extend(self.faults.iter().map(|fault| format!("not used: {fault}")));
        Ok(lines.join("\n"))
    }
}

impl Intake for Tally {
    fn take(&self, points: &[Point<'_>], sender: &str) -> Result<Taken, IntakeError> {
        let (mut scratch, mut seen) = (Scratch::default(), lock(&self.seen));
        for point in points {
            seen.points += 1;
            let sender = point.tag_text("host").map_or_else(|| shown(sender), shown);
            let measurement = shown(&point.measurement);
            self.routes.route(point, &mut scratch, |device, cells| {
                let (Some(name), Some(target)) =
                    (self.names.get(device as usize), self.targets.get(device as usize))
                else {
                    return;
                };
                for (channel, cell) in cells {
                    let channel =
                        target.channels.get(usize::from(*channel)).map_or("", |channel| &channel.name);
                    let key = format!("{name}.{channel} of {measurement} from {sender}");
                    if let Some(found) = bounded::entry(&mut seen.taken, key, MOST) {
                        found.readings += u64::from(cell.is_ok());
                        found.unreadable += u64::from(cell.is_err());
                    }
                }
            });
            for (field, _) in scratch.unclaimed(point) {
                let key = format!("{measurement}.{} from {sender}", shown(field));
                if let Some(count) = bounded::entry(&mut seen.unclaimed, key, MOST) {
                    *count += 1;
                }
            }
        }
        Err(IntakeError::Checking)
    }
}
