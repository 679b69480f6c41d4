//! Windows of which the cloud keeps a sum in place of their bodies, by the owner's orders.

use std::collections::BTreeMap;

use sotto_wire::RollUp;

use crate::quantities::Rolled;

/// The sums that the cloud keeps of a stream's windows.
#[derive(Debug, Default)]
pub(crate) struct RollUps {
    /// By the first position of a run the one behind its last, and its sum.
    runs: BTreeMap<u64, (u64, Rolled)>,
    /// The runs of each sum.
    groups: Vec<Vec<(u64, u64)>>,
}

impl RollUps {
    /// Returns those that orders leave, in the order in which they were given: a later group comes in the place of earlier ones
    /// that it has windows of.
    pub(crate) fn of(orders: &[RollUp]) -> Self {
        let mut all = Self::default();
        orders.iter().flat_map(|order| &order.groups).for_each(|group| all.add(group));
        all
    }

    fn add(&mut self, group: &[(u64, u64)]) {
        let overlapped: Vec<u32> = group.iter().flat_map(|run| self.overlapping(*run)).collect();
        for number in overlapped {
            for (from, _) in &self.groups[number as usize] {
                self.runs.remove(from);
            }
        }
        let windows = group.iter().fold(0, |sum: u64, (from, to)| sum.saturating_add(to - from));
        let number = u32::try_from(self.groups.len()).unwrap_or(u32::MAX);
        let rolled = Rolled { number, windows: u32::try_from(windows).unwrap_or(u32::MAX) };
        self.runs.extend(group.iter().map(|(from, to)| (*from, (*to, rolled))));
        self.groups.push(group.to_vec());
    }

    /// Returns the sums that have windows of a run.
    fn overlapping(&self, (from, to): (u64, u64)) -> Vec<u32> {
        // Those that begin in the run, and the one that begins before it.
        let inside = self.runs.range(from..to).map(|(_, (_, rolled))| rolled.number);
        let before = self.runs.range(..from).next_back().filter(|(_, (end, _))| *end > from);
        inside.chain(before.map(|(_, (_, rolled))| rolled.number)).collect()
    }

    /// Returns the sum that the window at a position is in.
    pub(crate) fn at(&self, position: u64) -> Option<Rolled> {
        self.from(position).0
    }

    /// Returns the sum that the window at a position is in, and the first position behind it that may be in another one.
    pub(crate) fn from(&self, position: u64) -> (Option<Rolled>, u64) {
        match self.runs.range(..=position).next_back() {
            Some((_, (end, rolled))) if position < *end => (Some(*rolled), *end),
            _ => (None, self.runs.range(position..).next().map_or(u64::MAX, |(from, _)| *from)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_group_comes_in_the_place_of_those_that_it_has() {
        let order = |groups: &[&[(u64, u64)]]| RollUp {
            stream: "load".into(),
            size: 40,
            root: [0; 32],
            groups: groups.iter().map(|group| group.to_vec()).collect(),
        };
        let days = order(&[&[(0, 4)], &[(4, 6), (8, 10)], &[(10, 12)]]);
        let all = RollUps::of(std::slice::from_ref(&days));
        let windows = |all: &RollUps, at| all.at(at).map(|rolled| (rolled.number, rolled.windows));
        assert_eq!(
            [0, 3, 4, 6, 8, 11, 12].map(|at| windows(&all, at)),
            [Some((0, 4)), Some((0, 4)), Some((1, 4)), None, Some((1, 4)), Some((2, 2)), None]
        );
        let all = RollUps::of(&[days, order(&[&[(0, 7), (8, 10)]])]);
        assert_eq!(
            [0, 6, 7, 9, 10].map(|at| windows(&all, at)),
            [Some((3, 9)), Some((3, 9)), None, Some((3, 9)), Some((2, 2))]
        );
        let end = |at| all.from(at).1;
        assert_eq!([0, 6, 7, 9, 10, 12].map(end), [7, 7, 8, 10, 12, u64::MAX]);
    }
}
