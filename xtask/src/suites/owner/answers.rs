//! Answers, compared with the readings that were sent.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::advice::said;
use super::world::World;

/// A row of an answer per device.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    sum: f64,
    count: u64,
}

impl World {
    /// Returns a question about the heat of each device; None if the channel is not declared.
    pub(super) fn question(&self) -> Option<String> {
        let heat = self.names().channels.get("heat").cloned()?;
        Some(format!("sum({heat}) per device"))
    }

    /// Asks, and checks that the answer is not wrong, and not short without a note.
    pub(super) fn ask(&mut self) -> Result<()> {
        let Some(question) = self.question() else { return Ok(()) };
        let asked = self.sotto(&["ask", &question, "--json", "--no-keep"])?;
        if !asked.status.success() {
            let said = said(&asked);
            let is_silent = said.is_empty() || said.contains("panicked");
            self.faults.extend(is_silent.then(|| format!("the question failed: {said:?}")));
            return Ok(());
        }
        let answer: Value = serde_json::from_str(&asked.stdout)?;
        let (found, notes) = self.found(&answer)?;
        for (wire, sent) in &self.devices {
            let Found { sum, count } = found.get(wire).copied().unwrap_or_default();
            if (sum - sent.value * count as f64).abs() > 1e-6 || count > sent.most.into() {
                self.faults.push(format!("wrong: {count} readings of {wire} with the sum {sum}: {sent:?}"));
            }
            if count < sent.hours.into() && notes.is_empty() {
                self.faults
                    .push(format!("short: {count} readings of {wire}, not {}, and no note", sent.hours));
            }
        }
        Ok(())
    }

    /// Returns the rows by the devices' first names, and the notes.
    fn found(&self, answer: &Value) -> Result<(BTreeMap<String, Found>, Vec<String>)> {
        let names = self.names();
        let mut found = BTreeMap::new();
        for row in answer["rows"].as_array().context("rows")? {
            let device = row["device"].as_str().context("a device")?;
            let of_name =
                names.devices.iter().find(|(_, name)| *name == device).map(|(wire, _)| wire.clone());
            // A removed device is shown by its last name.
            let wire = of_name.or_else(|| self.devices.contains_key(device).then(|| device.to_owned()));
            let wire = wire.or_else(|| self.removed(device));
            let wire = wire.with_context(|| format!("a row of {device}, which is no device"))?;
            let sum = row["value"].as_f64().unwrap_or_default();
            found.insert(wire, Found { sum, count: row["count"].as_u64().unwrap_or_default() });
        }
        let notes = answer["notes"].as_array().context("notes")?;
        Ok((found, notes.iter().filter_map(|note| note.as_str().map(str::to_owned)).collect()))
    }

    /// Returns the first name of a removed device.
    fn removed(&self, name: &str) -> Option<String> {
        let is_of = |wire: &&String| {
            let record = std::fs::read(self.plant().join("devices").join(format!("{wire}.json")));
            let record = record.ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
            record.is_some_and(|record| record["removed"]["name"] == name)
        };
        self.devices.keys().find(is_of).cloned()
    }

    /// Checks that all readings are answered whose secret exists somewhere, and that the others are told as lost.
    pub(super) fn is_whole(&mut self, followed: &[String]) -> Result<()> {
        let question = self.question().context("a channel")?;
        let asked = self.sotto(&["ask", &question, "--json", "--no-keep"])?;
        let checked = self.sotto(&["check"])?;
        let held: Vec<bool> = self.devices.keys().map(|wire| self.is_held(wire)).collect();
        let is_told = checked.status.code() == Some(8);
        if !asked.status.success() {
            if held.iter().any(|held| *held) {
                self.faults.push(format!("no answer after {followed:?}: {}", said(&asked)));
            }
            return Ok(());
        }
        let (found, notes) = self.found(&serde_json::from_str(&asked.stdout)?)?;
        for ((wire, sent), held) in self.devices.iter().zip(held) {
            let Found { sum, count } = found.get(wire).copied().unwrap_or_default();
            let is_right = (sum - sent.value * count as f64).abs() < 1e-6;
            let is_whole = (u64::from(sent.hours)..=u64::from(sent.most)).contains(&count);
            if !is_right || (held && !is_whole) {
                self.faults.push(format!(
                    "after {followed:?}: {count} readings of {wire} with the sum {sum}: {sent:?}; notes {notes:?}"
                ));
            } else if !(held || is_whole || is_told || notes.iter().any(|note| note.contains(wire.as_str())))
            {
                self.faults.push(format!("{wire} is lost, and nothing says so: {}", checked.stdout.trim()));
            }
        }
        Ok(())
    }

    /// Returns true if a device's secret exists: in the folder, a copy of it, or a bundle.
    fn is_held(&self, wire: &str) -> bool {
        let folders = self.copies.iter().map(String::as_str).chain(["plant"]);
        let mut secrets =
            folders.map(|folder| self.site.folder().join(folder).join(format!("secrets/{wire}.key")));
        secrets.any(|path| path.exists())
            || self.devices.get(wire).is_some_and(|sent| !sent.bundles.is_empty())
    }
}
