//! Parts of windows, each with the groups that its results belong to.

use std::collections::BTreeMap;
use std::ops::Range;

use super::job::Results;
use crate::quantities::{Input, Part};
use crate::windows::InGroup;

/// A window that crosses the end of a group, with its ticks in each group.
#[derive(Clone, Debug)]
pub(crate) struct Split {
    pub(crate) input: Input,
    pub(crate) groups: Vec<InGroup>,
}

/// Windows by group, and those that cross the end of a group.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByGroup {
    pub(crate) whole: BTreeMap<usize, Vec<Input>>,
    pub(crate) split: Vec<Split>,
}

impl ByGroup {
    /// Adds an input with the ticks of its windows in groups; `is_whole` if these are all.
    pub(crate) fn add(&mut self, input: Input, is_whole: bool, groups: Vec<InGroup>) {
        match &groups[..] {
            [one] if is_whole && (input.count > 1 || one.ticks == input.ticks) => {
                self.whole.entry(one.group).or_default().push(input);
            }
            _ => self.split.push(Split { input, groups }),
        }
    }
}

/// Parts of windows, each with its groups.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    pub(crate) parts: Vec<Part>,
    of: Vec<Vec<InGroup>>,
}

/// The results of a part that belong to one group.
pub(crate) struct Piece<'r> {
    pub(crate) inputs: &'r [Input],
    pub(crate) group: usize,
    pub(crate) ticks: &'r Range<u32>,
    pub(crate) results: &'r Results,
}

impl Pieces {
    /// Adds windows of `ticks` ticks that belong to one group, in parts of at most `most` windows; None: in one part.
    pub(crate) fn add_whole(&mut self, group: usize, inputs: Vec<Input>, ticks: u32, most: Option<usize>) {
        let mut add = |inputs: Vec<Input>| {
            self.parts.push(Part { inputs });
            self.of.push(vec![InGroup { group, ticks: 0..ticks }]);
        };
        let Some(most) = most else { return add(inputs) };
        let alone: Vec<Input> = inputs.iter().flat_map(Input::each).collect();
        alone.chunks(most.max(1)).for_each(|inputs| add(inputs.to_vec()));
    }

    /// Adds a window that crosses the end of a group.
    pub(crate) fn add_split(&mut self, split: Split) {
        self.parts.push(Part { inputs: vec![split.input] });
        self.of.push(split.groups);
    }

    /// Iterates over the results of the parts, once for each of their groups.
    pub(crate) fn with<'r>(&'r self, results: &'r [Results]) -> impl Iterator<Item = Piece<'r>> {
        self.parts.iter().zip(&self.of).zip(results).flat_map(|((part, groups), results)| {
            let inputs = &part.inputs[..];
            groups.iter().map(move |InGroup { group, ticks }| Piece { inputs, group: *group, ticks, results })
        })
    }
}
