//! Sums across devices whose windows share masks.

use std::collections::{BTreeMap, BTreeSet};

use sotto_pack::FleetId;

use super::batch::Batch;
use super::compact::UnderOneMask;
use super::device::DeviceWork;
use super::exact::ExactResults;
use super::job::Computer;
use super::pieces::Piece;
use super::wanted::Wanted;
use crate::error::OwnerError;
use crate::gathered::Tally;
use crate::language::Devices;
use crate::quantities::{Input, Quantity};
use crate::question::{Asked, Question};
use crate::streams::Kind;
use crate::windows;
use crate::windows::{DeviceWindows, Group, InGroup, StoredWindow};

/// The part of an answer that is summed over several devices before decryption.
#[derive(Default)]
pub(crate) struct Together {
    /// Tallies by group; empty tallies for groups without fleet sums.
    pub(crate) tallies: Vec<Tally>,
    /// Ids of the windows that are included.
    pub(crate) windows: BTreeSet<String>,
}

/// A window, with the position of its device.
type Of<'w> = (usize, &'w StoredWindow);

/// Windows under one mask, by group, start and ticks.
type Masks<'w> = BTreeMap<(usize, i64, u32), Vec<Of<'w>>>;

impl Together {
    /// Sums windows that share masks, if that needs no more sums than one per device.
    ///
    /// Leaves everything else to the single devices: questions per device, weights, windows that a group boundary cuts,
    /// windows under masks of their own.
    pub(crate) fn sum(
        asked: &Asked<'_>,
        groups: &[Group],
        ends: &[i64],
        listed: &[DeviceWindows],
        computer: &mut Computer<'_>,
    ) -> Result<Self, OwnerError> {
        let question = asked.question;
        let mut done = Self { tallies: vec![Tally::default(); groups.len()], windows: BTreeSet::new() };
        if question.grouping != Devices::Across || listed.len() < 2 {
            return Ok(done);
        }
        // Whether steps answer a comparison depends on the device.
        let steps =
            |device: &DeviceWindows| device.windows.iter().any(|window| window.kind() == Some(Kind::Steps));
        if asked.needs().any(|(_, need)| need.compares()) && listed.iter().any(steps) {
            return Ok(done);
        }
        for (_, windows) in by_fleet(listed) {
            let masks = by_mask(question, groups, &windows);
            if masks.is_empty() {
                continue;
            }
            let none = BTreeSet::new();
            let device = &listed[windows[0].0];
            let work = DeviceWork { asked, groups, ends, device, elsewhere: &none };
            done.add(&work, listed, &masks, computer)?;
        }
        Ok(done)
    }

    fn add(
        &mut self,
        work: &DeviceWork<'_>,
        listed: &[DeviceWindows],
        masks: &Masks<'_>,
        computer: &mut Computer<'_>,
    ) -> Result<(), OwnerError> {
        let windows: Vec<&StoredWindow> = masks.values().flatten().map(|(_, window)| *window).collect();
        let first = windows[0];
        let (layout, batch) = (first.layout(), Batch { kind: Kind::Exact, windows });
        let needs = work.needs(&batch);
        let (Some(stream), Some(spec)) = (&first.compact, work.device.specs.get(&first.parameter_id)) else {
            return Ok(());
        };
        // With a weight per window, a sum would need as many products as windows.
        if needs.is_empty() || needs.iter().any(|(_, need)| need.is_weighted()) {
            return Ok(());
        }
        let wanted = Wanted::new(&needs, &batch, None, false)?;
        let plain = |quantity: &Quantity| {
            matches!(quantity, Quantity::Sum | Quantity::Square | Quantity::Product(..) | Quantity::Counts(_))
        };
        if wanted.compared.each || !wanted.quantities.iter().all(plain) {
            return Ok(());
        }
        let devices: BTreeSet<usize> = masks.values().flatten().map(|(at, _)| *at).collect();
        let (mut members, mut positions) = (Vec::new(), BTreeMap::new());
        for at in devices {
            positions.insert(at, members.len());
            members.push(computer.member(&listed[at].device, spec)?);
        }
        let part = |((_, _, ticks), windows): (&(usize, i64, u32), &Vec<Of<'_>>)| UnderOneMask {
            ticks: *ticks,
            windows: windows
                .iter()
                .map(|(at, window)| (window.input(0, window.ticks()), positions[at]))
                .collect(),
        };
        let parts: Vec<UnderOneMask> = masks.iter().map(part).collect();
        let results = computer.fleet_results(stream, spec, layout, &members, &parts, &wanted.quantities)?;
        let Some(results) = results else { return Ok(()) };
        let ticks = 0..layout.ticks();
        for (((group, ..), part), results) in masks.keys().zip(&parts).zip(&results) {
            let inputs: Vec<Input> = part.windows.iter().map(|(input, _)| input.clone()).collect();
            let piece = Piece { inputs: &inputs, group: *group, ticks: &ticks, results };
            ExactResults { window: first, wanted: &wanted, piece: &piece }
                .add_to(&mut self.tallies[*group])?;
            self.windows.extend(inputs.into_iter().map(|input| input.id));
        }
        Ok(())
    }
}

/// Groups windows under fleets' masks by fleet and parameters. Only windows with the layout of the fleet's first one
/// are included.
fn by_fleet(listed: &[DeviceWindows]) -> BTreeMap<(FleetId, &str), Vec<Of<'_>>> {
    let mut fleets: BTreeMap<(FleetId, &str), Vec<Of<'_>>> = BTreeMap::new();
    for (at, device) in listed.iter().enumerate() {
        for window in device.windows.iter().filter(|window| window.shared_mask) {
            let fleet = window.compact.as_ref().and_then(|stream| stream.fleet);
            let Some(fleet) = fleet.filter(|_| window.kind() == Some(Kind::Exact)) else { continue };
            let known = fleets.entry((fleet, &window.parameter_id)).or_default();
            let alike = |(_, first): &Of<'_>| {
                first.layout() == window.layout()
                    && first.has_channels_of(window)
                    && first.compact == window.compact
                    && first.description.period == window.description.period
            };
            if known.first().is_none_or(alike) {
                known.push((at, window));
            }
        }
    }
    fleets
}

/// Groups windows by mask. Keeps masks with windows of several devices, in groups with no more masks than devices.
fn by_mask<'w>(question: &Question, groups: &[Group], windows: &[Of<'w>]) -> Masks<'w> {
    let mut masks = Masks::new();
    for (at, window) in windows {
        // The device's own work handles windows that a group boundary or another window cuts.
        let pieces = windows::pieces(groups, question.by, window);
        let ([InGroup { group, .. }], true) = (&pieces[..], window.is_whole()) else { continue };
        let ticks = sotto_pack::Places::ticks(&window.description);
        masks.entry((*group, window.start(), ticks)).or_default().push((*at, *window));
    }
    masks.retain(|_, windows| windows.len() > 1);
    let mut of_group: BTreeMap<usize, (usize, BTreeSet<usize>)> = BTreeMap::new();
    for ((group, ..), windows) in &masks {
        let (count, devices) = of_group.entry(*group).or_default();
        *count += 1;
        devices.extend(windows.iter().map(|(at, _)| *at));
    }
    masks
        .retain(|(group, ..), _| of_group.get(group).is_some_and(|(count, devices)| *count <= devices.len()));
    masks
}
