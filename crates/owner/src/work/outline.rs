//! The work on a device's windows before it is done: which sums would be fetched, for which calls, in how many bytes.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use sotto_pack::Layout;
use sotto_wire::Digest;

use super::batch::Batch;
use super::device::{DeviceWork, most_of_sums, pieces};
use super::sums;
use super::wanted::Wanted;
use crate::error::OwnerError;
use crate::quantities::Quantity;
use crate::question::{AskedCall, WithDevices};
use crate::windows::StoredWindow;

/// Windows of one stream that are computed together.
pub(crate) struct OutlinedBatch<'w> {
    pub(crate) windows: Vec<&'w StoredWindow>,
    /// The scheme under which the cloud evaluates. None: it adds sums with tags.
    pub(crate) scheme: Option<String>,
    /// The sums; None if the cloud evaluates.
    pub(crate) outline: Option<Outline>,
    /// The values that come down.
    pub(crate) values: Vec<OutlinedValues>,
    /// True if the windows do not suffice for the calls.
    pub(crate) is_insufficient: bool,
}

/// Values that come down, and the calls that need them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutlinedValues {
    /// Their kind, such as `sums of readings by tick`.
    pub(crate) what: &'static str,
    pub(crate) channels: Vec<String>,
    pub(crate) fetched: Fetched,
    pub(crate) calls: BTreeSet<String>,
}

/// Numbers of sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fetched {
    pub(crate) sums: u64,
    /// Those of one window: its values by themselves.
    pub(crate) single: u64,
}

/// The sums of some windows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outline {
    pub(crate) sums: u64,
    pub(crate) single: u64,
    pub(crate) requests: u64,
    /// The most bytes that come down.
    pub(crate) bytes: u64,
    /// True if windows count with weights other than 0 and 1, which the cloud learns.
    pub(crate) weighted: bool,
    /// The numbers of each quantity.
    pub(crate) of: Vec<Fetched>,
}

impl<'w> DeviceWork<'w> {
    /// Returns the work on each batch of windows, without asking for any of it.
    pub(crate) fn outline(&self) -> Result<Vec<OutlinedBatch<'w>>, OwnerError> {
        Batch::all(self.device.windows.iter()).into_iter().map(|batch| self.outlined(&batch)).collect()
    }

    fn outlined(&self, batch: &Batch<'w>) -> Result<OutlinedBatch<'w>, OwnerError> {
        let mut outlined = self.outlined_sums(batch)?;
        let Some(Readings { leaves, values, outline }) = self.readings_coming(batch)? else {
            return Ok(outlined);
        };
        if outlined.values.is_empty() {
            // The others are only looked at.
            outlined.windows.retain(|window| leaves.contains(&window.identity));
        }
        outlined.values.push(values);
        if let Some(all) = &mut outlined.outline {
            all.add(&outline);
        }
        Ok(outlined)
    }

    /// Returns the readings of a batch that come down, each window by itself; None if no call needs them.
    fn readings_coming(&self, batch: &Batch<'w>) -> Result<Option<Readings>, OwnerError> {
        let (pieces, needs) = self.outlined_readings(batch);
        if pieces.parts.is_empty() {
            return Ok(None);
        }
        let inputs = pieces.parts.iter().flat_map(|part| &part.inputs);
        let leaves = inputs.map(|input| input.identity).collect();
        let outline = match batch.windows[0].stream_of_sums() {
            Some(stream) => sums::outline(stream, &pieces.parts, &[Quantity::Sum])?,
            None => None,
        };
        let outline = outline.unwrap_or_default();
        let calls = self
            .asked
            .calls()
            .filter(|asked| self.takes(asked) && asked.needs.iter().any(|need| needs.contains(need)));
        let values = OutlinedValues {
            what: "readings",
            // A window comes with all its channels.
            channels: words(&Quantity::Sum, batch.windows[0].layout()).1,
            fetched: Fetched { sums: outline.sums, single: outline.single },
            calls: calls.map(name).collect(),
        };
        Ok(Some(Readings { leaves, values, outline }))
    }

    fn outlined_sums(&self, batch: &Batch<'w>) -> Result<OutlinedBatch<'w>, OwnerError> {
        // Readings come by themselves.
        let of_sums = |asked: &&AskedCall<'_>| !asked.call.is_of_readings();
        let calls: Vec<&AskedCall<'_>> = self.calls(batch).into_iter().filter(of_sums).collect();
        let Some(stream) = batch.windows[0].stream_of_sums() else {
            let scheme = self.spec(batch)?.scheme.to_string();
            let values = calls.iter().map(|asked| {
                let channels = asked.call.channels().into_iter().map(str::to_owned).collect();
                let calls = [name(asked)].into();
                OutlinedValues { what: "encrypted results", channels, fetched: Fetched::default(), calls }
            });
            let values = values.collect();
            let (scheme, outline) = (Some(scheme), None);
            return Ok(OutlinedBatch {
                windows: batch.windows.clone(),
                scheme,
                outline,
                values,
                is_insufficient: false,
            });
        };
        let (needs, mut all) = (self.asked.needs_of(&calls), Outline::default());
        let mut is_insufficient = false;
        let mut values: BTreeMap<(&'static str, Vec<String>), OutlinedValues> = BTreeMap::new();
        if !needs.is_empty() {
            for (span, lot) in self.lots(batch, &needs) {
                let splits = !lot.split.is_empty();
                let wanted = Wanted::new(&needs, batch, span, splits)?;
                let parts = pieces(batch, lot, most_of_sums(&wanted)).parts;
                let Some(outline) = sums::outline(stream, &parts, &wanted.quantities)? else {
                    is_insufficient = true;
                    continue;
                };
                // The quantities of each call by itself.
                let of_calls = calls.iter().map(|asked| {
                    let needs = self.asked.needs_of(&[asked]);
                    Ok((asked, Wanted::new(&needs, batch, span, splits)?.quantities))
                });
                let of_calls = of_calls.collect::<Result<Vec<_>, OwnerError>>()?;
                for (quantity, fetched) in wanted.quantities.iter().zip(&outline.of) {
                    let (what, channels) = words(quantity, batch.windows[0].layout());
                    let new = || OutlinedValues {
                        what,
                        channels: channels.clone(),
                        fetched: Fetched::default(),
                        calls: BTreeSet::new(),
                    };
                    let values = values.entry((what, channels.clone())).or_insert_with(new);
                    values.fetched.sums += fetched.sums;
                    values.fetched.single += fetched.single;
                    let needed = of_calls.iter().filter(|(_, quantities)| quantities.contains(quantity));
                    values.calls.extend(needed.map(|(asked, _)| name(asked)));
                }
                all.add(&outline);
            }
        }
        let values = values.into_values().filter(|values| values.fetched.sums > 0).collect();
        let outline = Some(all);
        Ok(OutlinedBatch { windows: batch.windows.clone(), scheme: None, outline, values, is_insufficient })
    }
}

/// The readings of a batch that come down.
struct Readings {
    /// The windows that they are of.
    leaves: HashSet<Digest>,
    values: OutlinedValues,
    outline: Outline,
}

/// Returns a call with the devices that it names.
fn name(asked: &AskedCall<'_>) -> String {
    WithDevices(asked.call, asked.of).to_string()
}

impl Outline {
    fn add(&mut self, other: &Self) {
        self.sums += other.sums;
        self.single += other.single;
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.weighted |= other.weighted;
    }
}

/// Returns a quantity in words, and the channels that it is of.
fn words(quantity: &Quantity, layout: &Layout) -> (&'static str, Vec<String>) {
    let name = |at: &u16| layout.channels().get(usize::from(*at)).map(|channel| channel.name.clone());
    let of = |channels: &[u16]| channels.iter().filter_map(name).collect::<Vec<String>>();
    let all = || layout.channels().iter().map(|channel| channel.name.clone()).collect::<Vec<String>>();
    match quantity {
        Quantity::Sum => ("sums by tick", all()),
        Quantity::Square => ("sums of squares by tick", all()),
        Quantity::Product(x, y) => ("sums of products by tick", of(&[*x, *y])),
        Quantity::Joint(x, y) => ("sums at common ticks", of(&[*x, *y])),
        Quantity::JointSquare(x, y) => ("sums of squares at common ticks", of(&[*x, *y])),
        Quantity::Counts(channel) => ("counts by bin", of(&[*channel])),
        Quantity::Held(channel, quantity) => (quantity.words(), of(&[*channel])),
        Quantity::Weighted(weights) => ("sums by tick, windows weighted", of(&[weights.channel])),
        Quantity::AtLeast(channel, _) => ("comparisons", of(&[*channel])),
        Quantity::Polynomial(channel, _) => ("values of a polynomial", of(&[*channel])),
        Quantity::Linear(terms) => {
            ("values of a model", of(&terms.iter().map(|(channel, _)| *channel).collect::<Vec<u16>>()))
        }
        Quantity::Beyond(beyond) => ("comparisons", words(&beyond.of, layout).1),
    }
}
