//! The places of slots in Eval form.

use alloc::vec::Vec;

/// Returns the index of each slot in Eval form: slot i of row 0 is the value at ψ^(3^i), of row 1 at ψ^(2n − 3^i).
/// Range: a power of two from 2 on.
///
/// ```
/// use sotto_kernels::places;
///
/// assert_eq!(places(8).collect::<Vec<_>>(), [0, 4, 1, 5, 7, 3, 6, 2]);
/// ```
pub fn places(degree: usize) -> impl Iterator<Item = u32> {
    let shift = usize::BITS - degree.trailing_zeros();
    let place = move |exponent: usize| (((exponent - 1) / 2).reverse_bits() >> shift) as u32;
    let powers =
        move || core::iter::successors(Some(1), move |p| Some(p * 3 % (2 * degree))).take(degree / 2);
    powers().map(place).chain(powers().map(move |p| place(2 * degree - p)))
}

/// The places of a degree's slots, for [`Kernels::scatter_slots`](crate::Kernels::scatter_slots) and
/// [`Kernels::gather_slots`](crate::Kernels::gather_slots).
///
/// ```
/// use sotto_kernels::{Modulus, SlotMap, Target};
///
/// let (kernels, t) = (&Target::best().kernels, Modulus::new(97)?);
/// let (map, mut residues, mut values) = (SlotMap::new(8), [0; 8], [0; 8]);
/// (kernels.scatter_slots)(&t, &mut residues, &[10, -11, 12, 13, 14, 15, 16, 17], &map);
/// // Slot 1 is at place 4.
/// assert_eq!(residues[4], 86);
/// (kernels.gather_slots)(&t, &mut values, &residues, &map);
/// assert_eq!(values, [10, -11, 12, 13, 14, 15, 16, 17]);
/// # Ok::<(), sotto_kernels::InvalidModulus>(())
/// ```
#[derive(Clone, Debug)]
pub struct SlotMap {
    pub(crate) places: Vec<u32>,
    /// For vectors of 2, 4 and 8 words.
    columns: [Option<Columns>; 3],
}

/// How vectors of c words move. The slots i, i + n/2c, i + 2n/2c … of a row, a *column*, fill one aligned vector of Eval
/// form in some order: their exponents 3^i·(1 + u·2n/c)^s differ in the highest bits alone, which bit reversal makes
/// the lowest. Row 1 has the negated exponents, and so the same vectors from the end, backwards.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    /// The vector that each column fills in row 0, and the number of its order.
    pub(crate) lines: Vec<(u32, u32)>,
    /// The different orders.
    pub(crate) orders: Vec<Order>,
}

/// An order of the words of a vector: for each word, the two 32-bit halves that it takes. The first `c` of eight words
/// count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Order {
    /// From a column to its vector, in each row.
    pub(crate) scatter: [[u64; 8]; 2],
    /// Back.
    pub(crate) gather: [[u64; 8]; 2],
}

impl SlotMap {
    /// Prepares. Range: a power of two from 2 to 2^31.
    pub fn new(degree: usize) -> Self {
        assert!(degree.is_power_of_two() && degree >= 2, "a degree is a power of two");
        let places: Vec<u32> = places(degree).collect();
        let columns = [2, 4, 8].map(|width| Columns::new(&places, width));
        Self { places, columns }
    }

    /// Returns the columns for vectors of `width` words if there are whole ones.
    pub(crate) fn columns(&self, width: usize) -> Option<&Columns> {
        self.columns.get(width.trailing_zeros() as usize - 1)?.as_ref()
    }
}

impl Columns {
    /// Returns None unless columns come in groups of `width` for a transposition.
    fn new(places: &[u32], width: usize) -> Option<Self> {
        let row = places.len() / 2;
        let count = row / width;
        if !count.is_multiple_of(width) || count == 0 {
            return None;
        }
        let (mut lines, mut orders) = (Vec::with_capacity(count), Vec::new());
        for column in 0..count {
            let place = |slot: usize| places[column + slot * count] as usize;
            let line = place(0) / width;
            let mut order = Order { scatter: [[0; 8]; 2], gather: [[0; 8]; 2] };
            for slot in 0..width {
                assert_eq!(place(slot) / width, line, "a column fills one vector");
                let inside = place(slot) % width;
                for (row, inside) in [inside, width - 1 - inside].into_iter().enumerate() {
                    order.scatter[row][inside] = halves(slot);
                    order.gather[row][slot] = halves(inside);
                }
            }
            let known = orders.iter().position(|known| *known == order);
            let number = known.unwrap_or_else(|| {
                orders.push(order);
                orders.len() - 1
            });
            lines.push((line as u32, number as u32));
        }
        Some(Self { lines, orders })
    }
}

/// Returns the indices of a word's two halves.
fn halves(word: usize) -> u64 {
    let first = 2 * word as u64;
    first | (first + 1) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slot_places_match_the_published_ones() {
        assert_eq!(places(8).collect::<Vec<_>>(), [0, 4, 1, 5, 7, 3, 6, 2]);
        let sixteen = [0, 8, 2, 11, 1, 9, 3, 10, 15, 7, 13, 4, 14, 6, 12, 5];
        assert_eq!(places(16).collect::<Vec<_>>(), sixteen);
    }

    #[test]
    fn columns_have_few_orders() {
        for log in 1..=17 {
            let map = SlotMap::new(1 << log);
            for width in [2usize, 4, 8] {
                let columns = map.columns(width);
                assert_eq!(columns.is_some(), 1 << log >= 2 * width * width, "{log} {width}");
                assert!(columns.is_none_or(|columns| columns.orders.len() <= 2 * width));
            }
        }
    }
}
