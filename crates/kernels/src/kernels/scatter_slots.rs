//! Slots to their places in Eval form, as residues.

use crate::modulus::Modulus;
use crate::slot_map::SlotMap;
use crate::vectors::Lanes;

pub(crate) fn scalar(m: &Modulus, out: &mut [u64], values: &[i64], slots: &SlotMap) {
    for (value, place) in values.iter().zip(&slots.places) {
        // Below zero the sign's mask adds q.
        out[*place as usize] = (*value as u64).wrapping_add(m.value() & (*value >> 63) as u64);
    }
}

/// Loads one column's slots of COUNT neighbours, transposes them, and stores each column as one vector.
#[inline(always)]
pub(crate) fn lanes<L: Lanes>(l: L, m: &Modulus, out: &mut [u64], values: &[i64], slots: &SlotMap) {
    let whole = values.len() == slots.places.len() && out.len() == values.len();
    let Some(columns) = slots.columns(L::COUNT).filter(|_| whole && L::ADDS) else {
        return scalar(m, out, values, slots);
    };
    let (q, zero) = (l.all(m.value()), l.all(0));
    let ((values, _), (out, _)) = (L::signed_lines(values), L::lines_mut(out));
    let (height, last) = (columns.lines.len() / L::COUNT, out.len() - 1);
    for (row, values) in values.chunks_exact(out.len() / 2).enumerate() {
        for (at, group) in columns.lines.chunks_exact(L::COUNT).enumerate() {
            let mut words = [zero; 8];
            for (slot, words) in words.iter_mut().take(L::COUNT).enumerate() {
                *words = l.wrapped(l.load(&values[at + slot * height]), q);
            }
            for (words, (line, order)) in l.transpose(words).into_iter().zip(group) {
                let order = L::lines(&columns.orders[*order as usize].scatter[row]).0;
                let line = if row == 0 { *line as usize } else { last - *line as usize };
                l.store(&mut out[line], l.ordered(words, l.load(&order[0])));
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use super::*;
    use crate::vectors::avx512::Avx512;

    #[target_feature(enable = "avx512f,avx512dq")]
    pub(crate) fn run(m: &Modulus, out: &mut [u64], values: &[i64], slots: &SlotMap) {
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
            let values: Vec<i64> = words(m.value(), degree, 5).into_iter().map(|x| m.centre(x)).collect();
            compare(&m, &vec![0; degree], |k, x| (k.scatter_slots)(&m, x, &values, &map));
            let ends: Vec<i64> = values.iter().map(|x| x.signum() * (m.value() as i64 - 1)).collect();
            compare(&m, &vec![0; degree], |k, x| (k.scatter_slots)(&m, x, &ends, &map));
            // Fewer values leave the other places as they are.
            compare(&m, &vec![1; degree], |k, x| (k.scatter_slots)(&m, x, &values[..degree / 2], &map));
        }
    }
}
