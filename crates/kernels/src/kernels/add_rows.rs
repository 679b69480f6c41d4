//! a += the sum of rows.

use super::add;
use crate::modulus::Modulus;
use crate::vectors::Lanes;

/// Rows between two reductions. Range: q < 2^61, so that seven residues and the sum stay below 2^64. More rows at a time
/// are slower: their lines and prefetched lines exceed the ways of the first cache.
const MOST: usize = 7;
/// Vectors that are summed side by side.
const SIDE: usize = 4;

pub(crate) fn scalar(m: &Modulus, a: &mut [u64], rows: &[&[u64]]) {
    rest(m, a, rows, 0);
}

/// Adds the words from a place on.
fn rest(m: &Modulus, a: &mut [u64], rows: &[&[u64]], from: usize) {
    for row in rows {
        add::scalar(m, &mut a[from..], &row[from..]);
    }
}

#[inline(always)]
pub(crate) fn lanes<L: Lanes>(l: L, m: &Modulus, a: &mut [u64], rows: &[&[u64]]) {
    if !L::ADDS {
        return scalar(m, a, rows);
    }
    let limits = [4, 2, 1].map(|times| l.all(times * m.value()));
    let sums = L::lines_mut(a).0.as_chunks_mut::<SIDE>().0;
    let count = sums.len();
    for rows in rows.chunks(MOST) {
        let mut sources: [&[[L::Line; SIDE]]; MOST] = [&[]; MOST];
        for (source, row) in sources.iter_mut().zip(rows) {
            *source = &L::lines(row).0.as_chunks().0[..count];
        }
        let sources = &sources[..rows.len().min(MOST)];
        for (at, group) in sums.iter_mut().enumerate() {
            let mut sums = group.each_ref().map(|line| l.load(line));
            for source in sources {
                for (sum, line) in sums.iter_mut().zip(&source[at]) {
                    *sum = l.add(*sum, l.load(line));
                }
            }
            for (sum, line) in sums.into_iter().zip(group) {
                l.store(line, limits.into_iter().fold(sum, |sum, limit| l.below(sum, limit)));
            }
        }
    }
    rest(m, a, rows, count * SIDE * L::COUNT);
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use core::arch::x86_64::*;

    use super::*;
    use crate::ifma::lanes::{Line, Prime, all, load, store};

    #[target_feature(enable = "avx512f")]
    pub(crate) fn run(m: &Modulus, a: &mut [u64], rows: &[&[u64]]) {
        let p = Prime::new(m);
        let limits = [4, 2, 1].map(|times| all(times * m.value()));
        let groups = a.as_chunks_mut::<8>().0.as_chunks_mut::<SIDE>().0;
        let count = groups.len();
        for rows in rows.chunks(MOST) {
            let mut sources: [&[[Line; SIDE]]; MOST] = [&[]; MOST];
            for (source, row) in sources.iter_mut().zip(rows) {
                *source = &row.as_chunks::<8>().0.as_chunks().0[..count];
            }
            let sources = &sources[..rows.len().min(MOST)];
            for (at, group) in groups.iter_mut().enumerate() {
                let mut sums = [_mm512_setzero_si512(); SIDE];
                for k in 0..SIDE {
                    sums[k] = load(&group[k]);
                }
                for source in sources {
                    for k in 0..SIDE {
                        sums[k] = _mm512_add_epi64(sums[k], load(&source[at][k]));
                    }
                }
                for k in 0..SIDE {
                    let mut sum = sums[k];
                    for limit in limits {
                        sum = p.below(sum, limit);
                    }
                    store(&mut group[k], sum);
                }
            }
        }
        rest(m, a, rows, count * SIDE * 8);
    }
}

/// Compares every target with the scalar one.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, each_case, words};
    each_case(|m, [a, b, _]| {
        for count in [0, 1, 6, 7, 8, 15] {
            let row =
                |i: u64| if i.is_multiple_of(3) { b.to_vec() } else { words(m.value(), a.len(), 7 + i) };
            let rows: Vec<Vec<u64>> = (0..count).map(row).collect();
            let rows: Vec<&[u64]> = rows.iter().map(Vec::as_slice).collect();
            compare(m, a, |k, x| (k.add_rows)(m, x, &rows));
        }
        // The largest residues, on which sums are as large as the range allows.
        let most = vec![m.value() - 1; a.len()];
        compare(m, &most, |k, x| (k.add_rows)(m, x, &[most.as_slice(); 9]));
    });
}
