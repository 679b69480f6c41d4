//! Tallies by row and call: each call of a row is about some of the devices.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::column::{Column, Of, OfDevices};
use super::listed::Listed;
use super::takes::takes;
use super::{days, priced};
use crate::declared::settings::Settings;
use crate::gathered::Tally;
use crate::language::{Devices, Scope};
use crate::question::{Asked, AskedCall, Question};
use crate::windows::{Segments, StoredWindow};

/// Returns the devices of each row of a group: each one, those with a tag, or all together.
pub(super) fn of_rows(settings: &Settings, asked: &Asked<'_>, listed: &Listed) -> Vec<Of> {
    let names = || listed.devices.iter().map(|device| device.shown.as_str());
    // The devices of the question: those that calls name alone have no row.
    let has_row = |name: &&str| {
        let own = |call: &&AskedCall<'_>| matches!(call.of, None | Some(Scope::AllDevices));
        asked.calls().filter(own).any(|call| takes(settings, asked, call, name))
    };
    match asked.question.grouping {
        Devices::Across => vec![Of::All],
        Devices::Each => names().filter(has_row).map(|name| Of::Device(name.to_owned())).collect(),
        Devices::Tag => {
            let tags = settings.tags_of(asked.question, names());
            tags.into_iter().map(|tag| Of::Tag(tag.to_owned())).collect()
        }
    }
}

/// Returns the columns of these rows. `by_device` has the tallies of each device in the order of the list.
pub(super) fn columns(
    settings: &Settings,
    asked: &Asked<'_>,
    listed: &Listed,
    of_rows: &[Of],
    by_device: Vec<Vec<Tally>>,
) -> Vec<Column> {
    let names: Vec<&str> = listed.devices.iter().map(|device| device.shown.as_str()).collect();
    let days = days::channels(asked.question);
    let question = asked.question;
    let mut merged = Merged { settings, question, listed, days, by_device, known: BTreeMap::new() };
    let mut column = |of: Of| {
        let in_row = |call: &AskedCall<'_>, name: &str| match (&of, call.of) {
            // The devices that a call names are the same in each row.
            (_, Some(_)) | (Of::All, None) => true,
            (Of::Device(device), None) => device == name,
            (Of::Tag(tag), None) => {
                settings.has_tag(call.call, std::slice::from_ref(tag), settings.member(name))
            }
        };
        let members = |call: &AskedCall<'_>| {
            let is_member =
                |(_, name): &(usize, &&str)| in_row(call, name) && takes(settings, asked, call, name);
            names.iter().enumerate().filter(is_member).map(|(at, _)| at).collect::<Vec<_>>()
        };
        let of_call = asked.calls().map(|call| merged.of(members(call))).collect();
        Column { of, of_call }
    };
    of_rows.iter().cloned().map(&mut column).collect()
}

/// Returns the devices with rows that no tag proves: `twice`, whose pads repeat, and those beside which a call names one of
/// them.
pub(super) fn unproved<'c>(
    twice: BTreeSet<String>,
    columns: impl Iterator<Item = &'c Column>,
) -> BTreeSet<String> {
    let reads =
        |column: &&Column| column.of_call.iter().flat_map(|of| &of.names).any(|name| twice.contains(name));
    let beside = columns.filter(reads).filter_map(|column| match &column.of {
        Of::Device(name) => Some(name.clone()),
        Of::All | Of::Tag(_) => None,
    });
    let beside: Vec<String> = beside.collect();
    twice.into_iter().chain(beside).collect()
}

/// The tallies of sets of devices, each made once.
struct Merged<'l> {
    settings: &'l Settings,
    question: &'l Question,
    listed: &'l Listed,
    /// The channels of which daily means are needed.
    days: BTreeSet<&'l str>,
    by_device: Vec<Vec<Tally>>,
    known: BTreeMap<Vec<usize>, Rc<OfDevices>>,
}

impl Merged<'_> {
    fn of(&mut self, devices: Vec<usize>) -> Rc<OfDevices> {
        if let Some(known) = self.known.get(&devices) {
            return Rc::clone(known);
        }
        let segments = &self.listed.segments;
        let mut all = match devices[..] {
            [one] => self.by_device[one].clone(),
            _ => vec![Tally::default(); segments.times.len()],
        };
        for device in devices.iter().filter(|_| devices.len() > 1) {
            all.iter_mut().zip(&self.by_device[*device]).for_each(|(all, tally)| all.merge(tally));
        }
        let days = match self.days.is_empty() {
            true => Vec::new(),
            false => days::by_row(segments, &all, &self.days, self.settings),
        };
        let mut tallies = in_rows(segments, all);
        tallies.iter_mut().zip(days).for_each(|(tally, days)| tally.days = days);
        let of = || devices.iter().map(|device| &self.listed.devices[*device]);
        let windows = || of().flat_map(|device| &device.windows);
        let first = windows().map(StoredWindow::from).min().unwrap_or_default();
        let last = windows().map(StoredWindow::to).max().unwrap_or_default();
        let covered = segments.covered(first, last, self.listed.gap);
        let names = of().map(|device| device.shown.clone()).collect();
        let priced = priced::of_rows(self.question, self.listed, &self.by_device, &devices);
        let all = Rc::new(OfDevices { names, tallies, covered, priced });
        self.known.insert(devices, Rc::clone(&all));
        all
    }
}

/// Adds the tallies of the times that a row is made of.
fn in_rows(segments: &Segments, tallies: Vec<Tally>) -> Vec<Tally> {
    if segments.is_whole() {
        return tallies;
    }
    let mut rows = vec![Tally::default(); segments.rows.len()];
    let is_priced = segments.prices.iter().any(|prices| !prices.is_empty());
    for ((at, mut tally), row) in tallies.into_iter().enumerate().zip(&segments.row_of) {
        let Some(row) = row else { continue };
        if is_priced {
            // Prices divide a row: a gap over several of its parts counts once.
            let is_one_row =
                |(first, last)| segments.row_of[first..=last].iter().all(|of| of.as_ref() == Some(row));
            tally.windows.values_mut().for_each(|windows| windows.join_crossings(at, is_one_row));
        }
        rows[*row].merge(&tally);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_beside_a_device_whose_pads_repeat_are_unproved() {
        let devices = |names: &[&str]| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            Rc::new(OfDevices { names, ..OfDevices::default() })
        };
        let column = |name: &str, of_call: &[&[&str]]| Column {
            of: Of::Device(name.to_owned()),
            of_call: of_call.iter().map(|names| devices(names)).collect(),
        };
        let found = |columns: &[Column]| {
            let all = unproved(["boiler".to_owned()].into(), columns.iter());
            all.into_iter().collect::<Vec<_>>().join(" ")
        };
        let alone = [column("boiler", &[&["boiler"]]), column("roof", &[&["roof"]])];
        assert_eq!(found(&alone), "boiler");
        // mean(x) - mean(x of boiler) per device.
        let beside = [
            column("boiler", &[&["boiler"], &["boiler"]]),
            column("roof", &[&["roof"], &["boiler"]]),
            column("tank", &[&["tank"], &["tank", "roof"]]),
        ];
        assert_eq!(found(&beside), "boiler roof");
        // Rows of all devices stay unchecked as soon as one device does.
        assert_eq!(found(&[Column { of: Of::All, of_call: vec![devices(&["boiler"])] }]), "boiler");
    }
}
