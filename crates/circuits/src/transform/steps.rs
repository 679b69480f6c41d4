//! Baby steps and giant steps.

use std::collections::BTreeSet;

/// The steps to every diagonal: diagonal k takes the baby step k mod size and the giant step k − k mod size.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    pub(super) size: usize,
    /// Ascending; 0 means no rotation.
    pub(super) babies: Vec<i32>,
    pub(super) giants: Vec<i32>,
}

impl Steps {
    pub(super) fn of(diagonals: &[usize], size: usize) -> Self {
        let distinct = |step: fn(usize, usize) -> usize| {
            let all: BTreeSet<i32> = diagonals.iter().map(|k| step(*k, size) as i32).collect();
            all.into_iter().collect::<Vec<i32>>()
        };
        Self { size, babies: distinct(|k, size| k % size), giants: distinct(|k, size| k - k % size) }
    }

    fn rotations(&self) -> usize {
        self.babies.iter().chain(&self.giants).filter(|step| **step != 0).count()
    }
}

/// Returns the steps with the fewest rotations and, among those, the most baby steps. A full matrix of d diagonals
/// takes about 2·√d rotations; a sparse one only those of its own diagonals.
pub(super) fn best(diagonals: &[usize], count: usize) -> Steps {
    let sizes = core::iter::successors(Some(1), |size| Some(2 * size)).take_while(|size| *size <= count);
    sizes
        .map(|size| Steps::of(diagonals, size))
        .min_by_key(|steps| (steps.rotations(), core::cmp::Reverse(steps.size)))
        .expect("there is a size of 1")
}
