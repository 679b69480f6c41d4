//! Sums over devices, of windows that were opened.

use alloc::vec::Vec;

use crate::device_window::DeviceWindow;
use crate::lanes::LANES;

/// Sums over the devices whose windows were opened.
///
/// Example: [`FleetOpening`](crate::FleetOpening)
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetSum {
    /// Sums of values by place, as many as the longest opened window has. An absent place counts as 0.
    pub values: Vec<i128>,
    /// Sums of counts, in the order of the form.
    pub counts: Vec<u64>,
    /// Opened windows.
    pub opened: usize,
    /// Positions of the refused windows in the list, from 0. Nothing of them is in the sums.
    pub refused: Vec<usize>,
}

impl FleetSum {
    /// Adds the opened windows of a group. `first` is the position of its first window; `right` tells by lane if it is opened.
    pub(crate) fn add<P>(
        &mut self,
        first: usize,
        group: &[DeviceWindow<'_, P>],
        right: &[bool; LANES],
        values: &[[i64; LANES]],
    ) {
        let mut places = 0;
        for (lane, window) in group.iter().enumerate() {
            if !right[lane] {
                self.refused.push(first + lane);
                continue;
            }
            self.opened += 1;
            places = places.max(window.part.form().places(window.part.ticks()));
            self.counts.resize(self.counts.len().max(window.counts.len()), 0);
            let counts = self.counts.iter_mut().zip(window.counts);
            counts.for_each(|(sum, count)| *sum = sum.wrapping_add(u64::from(*count)));
        }
        self.values.resize(self.values.len().max(places), 0);
        let kept = right.map(|right| -i64::from(right));
        for (sum, lanes) in self.values[..places].iter_mut().zip(values) {
            // Eight values of opened windows, each below 2^60 in magnitude, stay below 2^63.
            for (lanes, kept) in lanes.as_chunks::<8>().0.iter().zip(kept.as_chunks::<8>().0) {
                let opened = lanes.iter().zip(kept).map(|(value, kept)| value & kept);
                *sum += i128::from(opened.fold(0, i64::wrapping_add));
            }
        }
    }
}
