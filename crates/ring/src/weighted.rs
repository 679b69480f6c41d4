//! Weighted sums of polynomials.

use arrayvec::ArrayVec;

use crate::convert::MOST_SOURCES;
use crate::parallel;
use crate::poly::{Form, Poly};

/// Entries of a row that are read together: those of all sources fit the second cache.
const PART: usize = 1024;

/// Computes `sums[i] = Σ_j sources[j]·weights[i][j]` and overwrites the sums, which have equal limbs. Goes part by part, so
/// that a part of the sources is read from the cache for every sum. The sources must hold at least the sums' limbs of the
/// same ring. Panics unless there are 1 to [`MOST_SOURCES`] sources and as many weights for each sum.
///
/// ```
/// use sotto_ring::{Poly, Ring, weighted_sums};
///
/// let ring = Ring::new(8, &[97])?;
/// let [a, b] = [[1, 2], [10, 20]].map(|x| Poly::from_signed(&ring, 0..1, &x));
/// let mut sums = [a.clone(), a.clone()];
/// weighted_sums(&mut sums, &[&a, &b], &[vec![3, 1], vec![0, -2]]);
/// assert_eq!(sums, [[13, 26], [-20, -40]].map(|x| Poly::from_signed(&ring, 0..1, &x)));
/// # Ok::<(), sotto_ring::RingError>(())
/// ```
pub fn weighted_sums<F: Form>(sums: &mut [Poly<F>], sources: &[&Poly<F>], weights: &[alloc::vec::Vec<i64>]) {
    assert!((1..=MOST_SOURCES).contains(&sources.len()), "1 to 32 sources");
    assert!(weights.iter().all(|row| row.len() == sources.len()), "as many weights as sources");
    let Some(first) = sums.first() else { return };
    let (ring, limbs) = (alloc::sync::Arc::clone(first.ring()), first.limbs());
    let mut rows: alloc::vec::Vec<_> = sums.iter_mut().map(Poly::limbs_mut).collect();
    let items = limbs.map(|i| {
        let of_limb: alloc::vec::Vec<&mut [u64]> = rows.iter_mut().filter_map(Iterator::next).collect();
        (i, of_limb)
    });
    parallel::for_each(ring.degree(), items, |(i, mut outs)| {
        let q = ring.modulus(i);
        let residues: alloc::vec::Vec<ArrayVec<u64, MOST_SOURCES>> =
            weights.iter().map(|row| row.iter().map(|w| q.from_signed(*w)).collect()).collect();
        for start in (0..ring.degree()).step_by(PART) {
            let part = start..(start + PART).min(ring.degree());
            let rows: ArrayVec<&[u64], MOST_SOURCES> =
                sources.iter().map(|s| &s.limb(i)[part.clone()]).collect();
            for (out, weights) in outs.iter_mut().zip(&residues) {
                (ring.kernels().convert)(q, &mut out[part.clone()], &rows, q.bits(), weights, 0);
            }
        }
    });
}
