//! Notes on missing ticks that a call does not pass over in silence.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::column::{Column, OfDevices};
use crate::functions::Gaps;
use crate::gathered::{Channels, Gathered};
use crate::question::{Asked, AskedCall, WithDevices};

/// Returns a note for each call of which missing ticks have an effect on the value. The rows begin after `hidden` others. Calls
/// of earlier groups have their notes there.
pub(super) fn notes(
    asked: &Asked<'_>,
    columns: &[Column],
    hidden: usize,
    channels: &dyn Channels,
) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for AskedCall { call, of, number, needs, .. } in asked.calls().filter(|call| call.is_of_rows()) {
        let gaps = |tally| call.of().gaps(&Gathered::new(std::slice::from_ref(tally), needs, channels));
        let mine = distinct(columns, *number);
        let found = mine.flat_map(|of| of.tallies.iter().skip(hidden)).filter_map(gaps);
        let Some(Gaps { ticks, words }) = found.reduce(Gaps::plus).filter(|gaps| gaps.ticks > 0) else {
            continue;
        };
        let ticks = if ticks == 1 { "1 missing tick".to_owned() } else { format!("{ticks} missing ticks") };
        let note = format!("{}: {ticks} {words}", WithDevices(call, *of));
        if !all.contains(&note) {
            all.push(note);
        }
    }
    all
}

/// Returns the devices of a call, each set once: a call that names its devices has the same ones in every row.
fn distinct(columns: &[Column], number: usize) -> impl Iterator<Item = &OfDevices> {
    let mut known: BTreeSet<*const OfDevices> = BTreeSet::new();
    let all = columns.iter().map(move |column| &column.of_call[number]);
    all.filter(move |of| known.insert(Rc::as_ptr(of))).map(Rc::as_ref)
}

#[cfg(test)]
mod tests {
    use super::super::column::Of;
    use super::*;

    #[test]
    fn devices_that_rows_share_count_once() {
        let shared = Rc::new(OfDevices::default());
        let column = |of_call: [&Rc<OfDevices>; 2]| Column {
            of: Of::All,
            of_call: of_call.into_iter().map(Rc::clone).collect(),
        };
        let (one, other) = (Rc::new(OfDevices::default()), Rc::new(OfDevices::default()));
        let columns = [column([&one, &shared]), column([&other, &shared])];
        assert_eq!(distinct(&columns, 0).count(), 2);
        assert_eq!(distinct(&columns, 1).count(), 1);
    }
}
