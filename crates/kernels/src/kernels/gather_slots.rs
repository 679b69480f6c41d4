//! Slots from their places in Eval form, nearest to zero.

use crate::modulus::Modulus;
use crate::slot_map::SlotMap;
use crate::vectors::Lanes;

pub(crate) fn scalar(m: &Modulus, out: &mut [i64], values: &[u64], slots: &SlotMap) {
    for (slot, place) in out.iter_mut().zip(&slots.places) {
        *slot = m.centre(values[*place as usize]);
    }
}

/// Loads COUNT columns, each from one vector, transposes them, and stores the slots of neighbours.
#[inline(always)]
pub(crate) fn lanes<L: Lanes>(l: L, m: &Modulus, out: &mut [i64], values: &[u64], slots: &SlotMap) {
    let whole = values.len() == slots.places.len() && out.len() == values.len();
    let Some(columns) = slots.columns(L::COUNT).filter(|_| whole && L::ADDS) else {
        return scalar(m, out, values, slots);
    };
    let (q, limit, zero) = (l.all(m.value()), l.all(m.value().div_ceil(2)), l.all(0));
    let ((values, _), (out, _)) = (L::lines(values), L::signed_lines_mut(out));
    let (height, last, half) = (columns.lines.len() / L::COUNT, values.len() - 1, out.len() / 2);
    for (row, out) in out.chunks_exact_mut(half).enumerate() {
        for (at, group) in columns.lines.chunks_exact(L::COUNT).enumerate() {
            let mut words = [zero; 8];
            for (words, (line, order)) in words.iter_mut().zip(group) {
                let order = L::lines(&columns.orders[*order as usize].gather[row]).0;
                let line = if row == 0 { *line as usize } else { last - *line as usize };
                *words = l.ordered(l.load(&values[line]), l.load(&order[0]));
            }
            for (slot, x) in l.transpose(words).into_iter().take(L::COUNT).enumerate() {
                let centred = l.where_negative(l.subtract(x, limit), x, l.subtract(x, q));
                l.store(&mut out[at + slot * height], centred);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use super::*;
    use crate::vectors::avx512::Avx512;

    #[target_feature(enable = "avx512f,avx512dq")]
    pub(crate) fn run(m: &Modulus, out: &mut [i64], values: &[u64], slots: &SlotMap) {
        // SAFETY: the entry's target has these instructions.
        lanes(unsafe { Avx512::new() }, m, out, values, slots);
    }
}

/// Compares every target with the scalar one.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, moduli, words};
    for log in 1..=15 {
        let (degree, map) = (1 << log, SlotMap::new(1 << log));
        for m in moduli() {
            let values = words(m.value(), degree, 5);
            for length in [degree, degree / 2] {
                compare(&m, &vec![0; length], |k, x| {
                    let mut slots = vec![0; length];
                    (k.gather_slots)(&m, &mut slots, &values, &map);
                    x.iter_mut().zip(slots).for_each(|(x, slot)| *x = slot as u64);
                });
            }
        }
    }
}
