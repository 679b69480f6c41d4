//! Notes on missing ticks that a call does not pass over in silence.

use super::column::Column;
use crate::functions::Gaps;
use crate::gathered::{Channels, Gathered};
use crate::question::{Asked, AskedCall, WithDevices};

/// Returns a note for each call of which missing ticks have an effect on the value.
pub(super) fn notes(asked: &Asked<'_>, columns: &[Column], channels: &dyn Channels) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for AskedCall { call, of, number, needs, .. } in asked.calls() {
        let gaps = |tally| call.of().gaps(&Gathered::new(std::slice::from_ref(tally), needs, channels));
        let found = columns.iter().flat_map(|column| &column.of_call[*number].tallies).filter_map(gaps);
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
