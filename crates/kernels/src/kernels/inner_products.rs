//! Sums of products of unreduced digits with both halves of a key: key switching.

use crate::modulus::Modulus;
use crate::vectors::conversions::{SETTLED, SIDE, side_by_side};
use crate::vectors::{LaneArithmetic, Lanes, LineOf, by_prime};

pub(crate) fn scalar(
    m: &Modulus,
    out: [&mut [u64]; 2],
    digits: &[&[u64]],
    keys: &[[&[u64]; 2]],
    map: Option<&[u32]>,
) {
    scalar_of(m, out, digits, keys, map, u64::MAX);
}

/// Like [`scalar`], but reads only the bits of `low` of the digits.
fn scalar_of(
    m: &Modulus,
    out: [&mut [u64]; 2],
    digits: &[&[u64]],
    keys: &[[&[u64]; 2]],
    map: Option<&[u32]>,
    low: u64,
) {
    let [first, second] = out;
    for (i, (x, y)) in first.iter_mut().zip(second).enumerate() {
        let place = map.map_or(i, |map| map[i] as usize);
        (*x, *y) = (0, 0);
        for (digit, key) in digits.iter().zip(keys) {
            let digit = m.reduce(digit[place] & low);
            *x = m.add(*x, m.multiply(digit, key[0][i]));
            *y = m.add(*y, m.multiply(digit, key[1][i]));
        }
    }
}

#[inline(always)]
pub(crate) fn lanes<L: Lanes>(
    l: L,
    m: &Modulus,
    out: [&mut [u64]; 2],
    digits: &[&[u64]],
    keys: &[[&[u64]; 2]],
    map: Option<&[u32]>,
) {
    by_prime!(l: L, m; of => vector(of, m, out, digits, keys, map); scalar(m, out, digits, keys, map));
}

/// Computes out\[h\] = Σ digit·key\[h\] for unreduced digits, permuted by `map` if given.
#[inline(always)]
fn vector<A: LaneArithmetic>(
    a: A,
    m: &Modulus,
    out: [&mut [u64]; 2],
    digits: &[&[u64]],
    keys: &[[&[u64]; 2]],
    map: Option<&[u32]>,
) {
    let [first, second] = out;
    if first.len() % (A::Lanes::COUNT * SIDE) != 0 || digits.is_empty() {
        return scalar(m, [first, second], digits, keys, map);
    }
    for (i, (digits, keys)) in digits.chunks(SETTLED).zip(keys.chunks(SETTLED)).enumerate() {
        let sums = Sums { digits, keys, map, more: i > 0 };
        let out = [&mut *first, &mut *second];
        match (map.is_some(), m.bits() <= A::FACTOR_BITS) {
            (false, false) => sums.write::<A, false, false>(a, out),
            (false, true) => sums.write::<A, false, true>(a, out),
            (true, false) => sums.write::<A, true, false>(a, out),
            (true, true) => sums.write::<A, true, true>(a, out),
        }
    }
}

/// At most [`SETTLED`] digits and their keys. If `more`, the sums are added to the output.
struct Sums<'a> {
    digits: &'a [&'a [u64]],
    keys: &'a [[&'a [u64]; 2]],
    map: Option<&'a [u32]>,
    more: bool,
}

impl Sums<'_> {
    /// Writes the sums. MOVED: there is a map. FACTORS: digits are valid factors without conversion.
    #[inline(always)]
    fn write<A: LaneArithmetic, const MOVED: bool, const FACTORS: bool>(&self, a: A, out: [&mut [u64]; 2]) {
        let l = a.lanes();
        let [first, second] = out.map(|out| A::Lanes::lines_mut(out).0.as_chunks_mut::<SIDE>().0);
        let count = first.len().min(second.len());
        // Cut to one length before the loop, so that it needs few bounds checks.
        let mut rows: [[&[[LineOf<A>; SIDE]]; 3]; SETTLED] = [[&[]; 3]; SETTLED];
        for ((row, digit), [body, mask]) in rows.iter_mut().zip(self.digits).zip(self.keys) {
            *row = [digit, body, mask].map(|words| side_by_side::<A::Lanes>(words, count));
        }
        let rows = &rows[..self.digits.len().min(SETTLED)];
        let places = self.map.unwrap_or_default().chunks_exact(A::Lanes::COUNT * SIDE);
        let mut places = places.map(|places| places.split_at(A::Lanes::COUNT));
        for at in 0..count {
            let mut sums = [[a.zero(); SIDE]; 2];
            if self.more {
                for k in 0..SIDE {
                    sums[0][k] = a.take(l.load(&first[at][k]));
                    sums[1][k] = a.take(l.load(&second[at][k]));
                }
            }
            let mut moves = None;
            if MOVED {
                let (low, high) = places.next().expect("a place of every word");
                moves = Some([l.places(low), l.places(high)]);
            }
            for (number, [digit, body, mask]) in rows.iter().enumerate() {
                let (digit, body, mask) = (&digit[at], &body[at], &mask[at]);
                for k in 0..SIDE {
                    let words = match moves {
                        Some(places) => l.moved(self.digits[number], places[k]),
                        None => l.load(&digit[k]),
                    };
                    let mut x = a.take(words);
                    if !FACTORS {
                        x = a.factor(x);
                    }
                    sums[0][k] = a.add(sums[0][k], a.product(x, a.take(l.load(&body[k]))));
                    sums[1][k] = a.add(sums[1][k], a.product(x, a.take(l.load(&mask[k]))));
                    if !A::SETTLES_SUMS {
                        sums[0][k] = a.settle(sums[0][k]);
                        sums[1][k] = a.settle(sums[1][k]);
                    }
                }
            }
            for k in 0..SIDE {
                l.store(&mut first[at][k], a.give(sums[0][k]));
                l.store(&mut second[at][k], a.give(sums[1][k]));
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use core::arch::x86_64::*;

    use super::*;
    use crate::ifma::SIDE;
    use crate::ifma::lanes::{LOW, Line, Reduction, all, load, load_indices, store};

    /// Lines prefetched ahead: keys come from memory, and the processor cannot predict the order of permuted digits.
    const AHEAD: usize = 16;

    /// Computes out\[h\] = Σ digit·key\[h\] for unreduced digits, permuted by `map` if given.
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    pub(crate) fn run(
        m: &Modulus,
        out: [&mut [u64]; 2],
        digits: &[&[u64]],
        keys: &[[&[u64]; 2]],
        map: Option<&[u32]>,
    ) {
        let [first, second] = out;
        if first.len() % (8 * SIDE) != 0 || digits.is_empty() {
            return scalar_of(m, [first, second], digits, keys, map, LOW);
        }
        // This many products keep the upper half of a sum below 2^52.
        let most = ((1u64 << 52) / m.value()).min(1024) as usize;
        for (i, (digits, keys)) in digits.chunks(most).zip(keys.chunks(most)).enumerate() {
            let out = [&mut *first, &mut *second];
            match (map, i) {
                (None, 0) => sums::<false, false>(m, out, digits, keys, &[]),
                (None, _) => sums::<false, true>(m, out, digits, keys, &[]),
                (Some(map), 0) => sums::<true, false>(m, out, digits, keys, map),
                (Some(map), _) => sums::<true, true>(m, out, digits, keys, map),
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn sums<const MOVED: bool, const MORE: bool>(
        m: &Modulus,
        out: [&mut [u64]; 2],
        digits: &[&[u64]],
        keys: &[[&[u64]; 2]],
        map: &[u32],
    ) {
        let reduction = Reduction::new(m);
        let p = reduction.prime();
        let [first, second] = out;
        let (first, _) = first.as_chunks_mut::<8>();
        let (second, _) = second.as_chunks_mut::<8>();
        let (map, _) = map.as_chunks::<8>();
        let zero = _mm512_setzero_si512();
        let mut at = 0;
        while at < first.len() {
            let (mut low, mut high) = ([[zero; SIDE]; 2], [[zero; SIDE]; 2]);
            let places = if MOVED {
                Some(Places::new(map[at..].first_chunk().expect("a place a word")))
            } else {
                None
            };
            for (digit, [body, mask]) in digits.iter().zip(keys) {
                for k in 0..SIDE {
                    let line = at + k + AHEAD;
                    prefetch_line(body, 8 * line);
                    prefetch_line(mask, 8 * line);
                    match map.get(line) {
                        Some(places) if MOVED => prefetch_line(digit, places[0] as usize),
                        _ => prefetch_line(digit, 8 * line),
                    }
                }
                let (body, mask) = (four(body, at), four(mask, at));
                for k in 0..SIDE {
                    let x = match &places {
                        Some(places) => places.line(digit, k),
                        None => load(&four(digit, at)[k]),
                    };
                    for (half, key) in [load(&body[k]), load(&mask[k])].into_iter().enumerate() {
                        low[half][k] = _mm512_madd52lo_epu64(low[half][k], x, key);
                        high[half][k] = _mm512_madd52hi_epu64(high[half][k], x, key);
                    }
                }
            }
            for (half, out) in [&mut *first, &mut *second].into_iter().enumerate() {
                for (k, line) in out[at..at + SIDE].iter_mut().enumerate() {
                    let mut sum = reduction.reduce(high[half][k], low[half][k]);
                    if MORE {
                        sum = p.correct(_mm512_add_epi64(sum, load(line)));
                    }
                    store(line, sum);
                }
            }
            at += SIDE;
        }
    }

    #[inline(always)]
    fn four(words: &[u64], at: usize) -> &[Line; SIDE] {
        let (lines, _) = words.as_chunks::<8>();
        lines[at..at + SIDE].first_chunk().expect("so many lines")
    }

    /// Prefetches the line of a word that is read soon. Does nothing past the end.
    #[inline(always)]
    fn prefetch_line(words: &[u64], at: usize) {
        // SAFETY: a prefetch reads nothing, and no address faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(words.as_ptr().wrapping_add(at).cast()) };
    }

    /// The sources of the words of SIDE vectors: see [`crate::kernels::permute`].
    struct Places<'a> {
        map: &'a [[u32; 8]; SIDE],
        /// Indices inside the line that holds all eight words, valid if `whole`.
        indices: [__m512i; SIDE],
        whole: bool,
    }

    impl<'a> Places<'a> {
        #[inline]
        #[target_feature(enable = "avx512f,avx512dq")]
        fn new(map: &'a [[u32; 8]; SIDE]) -> Self {
            let mut indices = [_mm512_setzero_si512(); SIDE];
            let mut others = 0;
            for (places, indices) in map.iter().zip(&mut indices) {
                *indices = load_indices(places);
                others |=
                    _mm512_cmpneq_epi64_mask(_mm512_srli_epi64::<3>(*indices), all(u64::from(places[0] / 8)));
            }
            Self { map, indices, whole: others == 0 }
        }

        /// Returns the eight words of vector `k`.
        #[inline]
        #[target_feature(enable = "avx512f")]
        fn line(&self, values: &[u64], k: usize) -> __m512i {
            let (lines, _) = values.as_chunks::<8>();
            match lines.get(self.map[k][0] as usize / 8) {
                // The instruction reads only the low three bits of an index.
                Some(line) if self.whole => _mm512_permutexvar_epi64(self.indices[k], load(line)),
                _ => load(&self.map[k].map(|place| values[place as usize])),
            }
        }
    }
}

/// Compares every target with the scalar one.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, moduli, words};
    for m in &moduli() {
        let q = m.value();
        for (count, length) in [(0, 64), (1, 32), (3, 40), (4, 64), (5, 96), (17, 64), (33, 32)] {
            let rows = |limit: u64, seed: usize| -> Vec<Vec<u64>> {
                (0..count).map(|i| words(limit, length, (seed + i) as u64)).collect()
            };
            let (digits, bodies, masks) = (rows(1 << 52, 1), rows(q, 2), rows(q, 3));
            let largest: Vec<Vec<u64>> = vec![vec![(1 << 52) - 1; length]; count];
            let keys: Vec<[&[u64]; 2]> =
                bodies.iter().zip(&masks).map(|(b, m)| [b.as_slice(), m.as_slice()]).collect();
            let top = vec![q - 1; length];
            // A map that moves whole groups of eight, and one that moves none.
            let map = |f: fn(u32) -> u32| (0..length as u32).map(f).map(|i| i % length as u32).collect();
            let maps: [Option<Vec<u32>>; 3] = [None, Some(map(|i| (i ^ 3) + 8)), Some(map(|i| i * 7))];
            for map in maps {
                for (digits, keys) in [(&digits, keys.clone()), (&largest, vec![[top.as_slice(); 2]; count])]
                {
                    let digits: Vec<&[u64]> = digits.iter().map(Vec::as_slice).collect();
                    compare(m, &vec![1; 2 * length], |k, x| {
                        let (first, second) = x.split_at_mut(length);
                        (k.inner_products)(m, [first, second], &digits, &keys, map.as_deref());
                    });
                }
            }
        }
    }
}
