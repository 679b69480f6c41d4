//! Parts of work: windows that are summed into one result.

use std::sync::Arc;

use sotto_pack::{Cut, Layout, Presence, WindowDescription};
use sotto_rlwe::Origin;

use super::quantity::{Input, Quantity};

/// Windows that are summed into one result.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) inputs: Vec<Input>,
}

impl Part {
    /// Returns the number of its windows.
    pub(crate) fn windows(&self) -> usize {
        self.inputs.iter().map(|input| input.count as usize).sum()
    }

    /// Returns the layout of its first window, which the others share.
    pub(crate) fn layout(&self) -> &Layout {
        &self.inputs[0].window.layout
    }
}

pub(crate) fn typical(layout: &Layout, cut: &Cut, windows: usize, quantity: &Quantity) -> Part {
    typical_part(layout, cut, windows, matches!(quantity, Quantity::JointSquare(..)))
}

/// Returns a part that represents any part of its size: readings at every tick, except the last one if products need
/// masks.
fn typical_part(layout: &Layout, cut: &Cut, windows: usize, with_gaps: bool) -> Part {
    let channels = layout.channels().len();
    let mut presence = vec![Presence::first(cut.ticks); channels];
    let mut present = vec![cut.ticks; channels];
    if with_gaps && channels > 1 {
        presence[0] = Presence::first(cut.ticks - 1);
        present[0] -= 1;
    }
    let window = WindowDescription {
        layout: layout.clone(),
        present,
        start: 0,
        period: cut.period,
        length: cut.ticks,
        presence,
        left_out: Vec::new(),
        rounded: None,
        generated: false,
        replaces: None,
        provisional: false,
    };
    let (id, window, origin) = (String::new(), Arc::new(window), Origin::SecretKey);
    let (identity, sequence, bytes, name) = ([0; 32], 0, 0, None);
    let (ticks, rolled) = (0..cut.ticks, None);
    let (offset, count) = (0, 1);
    let input = Input { id, identity, sequence, bytes, name, window, offset, ticks, origin, rolled, count };
    Part { inputs: vec![input; windows] }
}
