//! Tallies by row and call: each call of a row is about some of the devices.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use sotto_pack::Clock;

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
    (settings, clock): (&Settings, &Clock),
    asked: &Asked<'_>,
    listed: &Listed,
    of_rows: &[Of],
    by_device: Vec<Vec<Tally>>,
) -> Vec<Column> {
    let names: Vec<&str> = listed.devices.iter().map(|device| device.shown.as_str()).collect();
    let days = days::channels(asked.question);
    let question = asked.question;
    let mut merged = Merged { settings, clock, question, listed, days, by_device, known: BTreeMap::new() };
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
    clock: &'l Clock,
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
            false => days::by_row(self.clock, segments, &all, &self.days, self.settings),
        };
        let mut tallies = in_rows(segments, all);
        tallies.iter_mut().zip(days).for_each(|(tally, days)| tally.days = days);
        let of = || devices.iter().map(|device| &self.listed.devices[*device]);
        let windows = || of().flat_map(|device| self.listed.windows(device));
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
    for ((at, mut tally), row) in tallies.into_iter().enumerate().zip(&segments.row_of) {
        let Some(row) = row else { continue };
        // Prices, days and conditions divide a row: a gap over several of its parts counts once.
        let in_row = |at: usize| segments.row_of[at] == Some(*row);
        tally.windows.values_mut().for_each(|windows| windows.join_crossings(at, in_row));
        rows[*row].merge(&tally);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gathered::{Between, Crossing, Need, Needed, WindowQuantity};
    use crate::windows::{Group, RowTime};

    #[test]
    fn a_gap_over_several_parts_of_a_row_counts_once() {
        let need = Needed::default().numbers(vec![Need::windows("x", &[WindowQuantity::First])])[0];
        let (whole, perhaps) = (Between::exactly(10.0), Between { low: 0.0, high: 10.0, error: 0.0 });
        let crossing = |groups| Crossing {
            increase: perhaps,
            changes: perhaps,
            error: 0.0,
            whole: (whole, whole),
            groups,
            is_next: false,
        };
        // The parts of three rows, with a time that does not count between the last two.
        let row_of = vec![Some(0), Some(0), Some(1), Some(1), Some(2), None, Some(2)];
        let found = |groups: (usize, usize)| {
            let mut tallies = vec![Tally::default(); row_of.len()];
            for tally in &mut tallies[groups.0..=groups.1] {
                tally.windows.entry(need).or_default().add_crossing(crossing(groups));
            }
            let times = (0..7).map(|at| Group { from: at, to: at + 1 }).collect();
            let rows = vec![RowTime { group: Group { from: 0, to: 7 }, recurs: None }; 3];
            let segments = Segments {
                times,
                weighted: Vec::new(),
                rows,
                row_of: row_of.clone(),
                prices: vec![Vec::new(); 7],
            };
            let of_row = |tally: Tally| {
                let all =
                    tally.windows.get(&need).map(|windows| windows.crossings().copied().collect::<Vec<_>>());
                all.unwrap_or_default().iter().map(|crossing| crossing.increase.low).collect::<Vec<_>>()
            };
            in_rows(&segments, tallies).into_iter().map(of_row).collect::<Vec<_>>()
        };
        assert_eq!(found((0, 1)), [vec![10.0], vec![], vec![]], "within a row all of it is there");
        assert_eq!(found((0, 2)), [vec![0.0], vec![0.0], vec![]]);
        assert_eq!(found((1, 6)), [vec![0.0], vec![0.0], vec![0.0]]);
        assert_eq!(found((4, 6)), [vec![], vec![], vec![0.0]], "a part of it may be at another time");
    }

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
