//! The rotations and masks that bring chosen values into their slots.
//!
//! A rotation by an offset is one by its low bits (baby step) before the mask and one by its high bits (giant step) after it
//! (Halevi and Shoup, ePrint 2018/244, section 4). Both are composed of rotations by powers of two, whose keys exist.

use std::collections::{BTreeMap, BTreeSet};

use crate::context::Context;
use crate::scheme::Arithmetic;

/// By giant step, then by part of the source and baby step: the slots that take their values after both rotations.
pub(super) type Giants = BTreeMap<usize, BTreeMap<(usize, usize), Vec<usize>>>;

/// The slots that take their values from a part of the source, rotated left by an offset: by part and offset.
type Offsets = BTreeMap<(usize, usize), Vec<usize>>;

/// One selection from a vector of one length.
pub(super) struct Schedule {
    /// For each part of the result: values that stay in their row, and values whose row is swapped at the end.
    pub(super) parts: Vec<[Giants; 2]>,
    /// Baby steps of each part of the source, with those that they are composed of.
    pub(super) babies: BTreeMap<usize, BTreeSet<usize>>,
    /// Rotations that repeat a short result.
    pub(super) repeats: Vec<i32>,
    /// The result is in one row of two and is repeated in the other.
    pub(super) joins_rows: bool,
    /// Every part of the result is a rotated part of the source: no mask is needed.
    pub(super) whole: bool,
}

/// The step without its lowest bit, by which it is composed.
pub(super) fn parent(step: usize) -> usize {
    step & step.wrapping_sub(1)
}

/// The lowest bit of a step, itself a step.
pub(super) fn lowest_bit(step: usize) -> i32 {
    (step - parent(step)) as i32
}

/// Steps other than 0, with those that they are composed of.
pub(super) fn ancestors(steps: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
    let mut all = BTreeSet::new();
    for mut step in steps {
        while step != 0 && all.insert(step) {
            step = parent(step);
        }
    }
    all
}

impl Schedule {
    /// Plans a selection from a vector of `len` values. Range of the indices: below `len`.
    pub(super) fn of<S: Arithmetic>(context: &Context<S>, len: usize, indices: &[usize]) -> Self {
        let (rows, columns) = S::slot_shape(context.params()).unwrap_or((1, 1));
        let (source, target) = (context.period(len), context.period(indices.len()));
        let slots = rows * columns;
        let (parts, repeats, joins_rows) = match target {
            Some(period) if source.is_none_or(|source| period <= source) => {
                let width = source.unwrap_or(columns);
                let doubled = core::iter::successors(Some(period), |step| Some(2 * step));
                let repeats = doubled.take_while(|step| *step < width).map(|step| step as i32).collect();
                let parts = vec![once(indices, slots, columns, source, period)];
                (parts, repeats, rows == 2 && source.is_none())
            }
            _ => {
                let part = |part| everywhere(indices, part, slots, columns, source, target);
                ((0..context.parts(indices.len())).map(part).collect(), Vec::new(), false)
            }
        };
        let whole = |part: &[Offsets; 2]| {
            let mut terms = part.iter().flat_map(BTreeMap::values);
            terms.next().is_some_and(|term| term.len() == slots) && terms.next().is_none()
        };
        let whole = parts.iter().all(whole);
        let splits =
            core::iter::successors(Some(1), |size| Some(2 * size)).take_while(|size| *size <= columns);
        // Masks come early where that costs no rotation: rotations are cheaper below, and masks enlarge less noise.
        let size = splits.min_by_key(|size| rotations(&parts, *size)).unwrap_or(1);
        let babies = babies(&parts, size);
        let parts = parts.into_iter().map(|part| part.map(|offsets| split(offsets, size))).collect();
        Self { parts, babies, repeats, joins_rows, whole }
    }

    /// The steps of all rotations, 0 for the row swap.
    pub(super) fn steps(&self) -> BTreeSet<i32> {
        let giants = self.parts.iter().flatten().flat_map(|giants| ancestors(giants.keys().copied()));
        let composed = self.babies.values().flatten().copied().chain(giants).map(lowest_bit);
        let swaps = self.joins_rows || self.parts.iter().any(|[_, swapped]| !swapped.is_empty());
        composed.chain(self.repeats.iter().copied()).chain(swaps.then_some(0)).collect()
    }

    /// Vectors that are added up in a part of the result, at most.
    pub(super) fn terms(&self) -> usize {
        let terms = |part: &[Giants; 2]| part.iter().flat_map(BTreeMap::values).map(BTreeMap::len).sum();
        let most: usize = self.parts.iter().map(terms).max().unwrap_or(1);
        most << (self.repeats.len() + usize::from(self.joins_rows))
    }
}

/// A result that repeats with a period of at most the source's: every value comes to one place, wherever an offset below
/// the period brings it, and is repeated from there.
fn once(
    indices: &[usize],
    slots: usize,
    columns: usize,
    source: Option<usize>,
    period: usize,
) -> [Offsets; 2] {
    let mut offsets = Offsets::new();
    // A source that repeats has each value once in `width` slots.
    let width = source.unwrap_or(columns);
    let copies = source.map_or(1, |width| slots / width);
    for (place, index) in indices.iter().enumerate() {
        let (part, slot) = (index / slots, index % slots);
        let column = slot % columns;
        let offset = (column + period - place) % period;
        let first = slot - column + (column + width - offset) % width;
        let taken = (0..copies).map(|copy| first + copy * width);
        offsets.entry((part, offset)).or_default().extend(taken);
    }
    [offsets, Offsets::new()]
}

/// One part of a result that does not repeat, or repeats with a longer period than the source's.
fn everywhere(
    indices: &[usize],
    part: usize,
    slots: usize,
    columns: usize,
    source: Option<usize>,
    target: Option<usize>,
) -> [Offsets; 2] {
    let mut both = [Offsets::new(), Offsets::new()];
    for slot in 0..slots {
        let place = target.map_or(part * slots + slot, |period| slot % period);
        let Some(index) = indices.get(place) else { continue };
        if let Some(period) = source {
            let offset = (index + period - slot % period) % period;
            both[0].entry((0, offset)).or_default().push(slot);
            continue;
        }
        let (from, column) = (index % slots, slot % columns);
        let row = from - from % columns;
        let offset = (from % columns + columns - column) % columns;
        let swaps = usize::from(row + column != slot);
        both[swaps].entry((index / slots, offset)).or_default().push(row + column);
    }
    both
}

/// Baby steps below `size` of each part of the source.
fn babies(parts: &[[Offsets; 2]], size: usize) -> BTreeMap<usize, BTreeSet<usize>> {
    let mut babies: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (part, offset) in parts.iter().flatten().flat_map(BTreeMap::keys) {
        babies.entry(*part).or_default().insert(offset % size);
    }
    babies.into_iter().map(|(part, steps)| (part, ancestors(steps))).collect()
}

/// Rotations with baby steps below `size`.
fn rotations(parts: &[[Offsets; 2]], size: usize) -> usize {
    let giants =
        |offsets: &Offsets| ancestors(offsets.keys().map(|(_, offset)| offset - offset % size)).len();
    let before: usize = babies(parts, size).values().map(BTreeSet::len).sum();
    before + parts.iter().flatten().map(giants).sum::<usize>()
}

fn split(offsets: Offsets, size: usize) -> Giants {
    let mut giants = Giants::new();
    for ((part, offset), slots) in offsets {
        giants.entry(offset - offset % size).or_default().insert((part, offset % size), slots);
    }
    giants
}
