//! The tallies that the rows of an answer are made of.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::priced::OfPrices;
use crate::gathered::Tally;
use crate::question::Asked;
use crate::windows::{Group, RowTime};

/// The tallies of one device, of those with a tag, or of all devices together, by group.
pub(crate) struct Column {
    pub(crate) of: Of,
    /// For each call of the question. Calls about the same devices share them.
    pub(crate) of_call: Vec<Rc<OfDevices>>,
}

/// The tallies of some devices together, by group.
#[derive(Default)]
pub(crate) struct OfDevices {
    /// The names of the devices.
    pub(crate) names: Vec<String>,
    pub(crate) tallies: Vec<Tally>,
    /// For each group, the time that windows cover, in milliseconds.
    pub(crate) covered: Vec<i64>,
    /// For each tariff and group, the parts between changes of the price.
    pub(crate) priced: BTreeMap<String, Vec<OfPrices>>,
}

/// The devices of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    All,
    Device(String),
    Tag(String),
}

impl Column {
    /// Returns the column of a device alone, whose windows cover the groups.
    pub(crate) fn of_device(name: &str, tallies: Vec<Tally>, groups: &[Group], asked: &Asked<'_>) -> Self {
        let covered = groups.iter().map(|group| group.to - group.from).collect();
        let all =
            Rc::new(OfDevices { names: vec![name.to_owned()], tallies, covered, priced: BTreeMap::new() });
        let of_call = asked.calls().map(|_| Rc::clone(&all)).collect();
        Self { of: Of::Device(name.to_owned()), of_call }
    }
}

/// The groups of an answer. Those before the first row are computed and not shown.
#[derive(Clone, Copy)]
pub(crate) struct RowTimes<'t> {
    pub(crate) times: &'t [RowTime],
    /// The number of groups before the first row.
    pub(crate) hidden: usize,
}
