//! Sums of products: key switching, tensors, the end of a division. Ranges: docs/math/kernels.md#sums-of-products.

use core::arch::x86_64::*;

use super::lanes::{Barrett, Constant, Line, Prime, Reduction, all, load, load_indices, store};
use crate::modulus::{Factor, Modulus};
use crate::scalar;

/// Vectors computed side by side.
const SIDE: usize = 4;
/// Lines prefetched ahead: keys come from memory, and the processor cannot predict the order of permuted digits.
const AHEAD: usize = 16;

/// Computes out\[h\] = Σ digit·key\[h\] for unreduced digits, permuted by `map` if given.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn inner_products(
    m: &Modulus,
    out: [&mut [u64]; 2],
    digits: &[&[u64]],
    keys: &[[&[u64]; 2]],
    map: Option<&[u32]>,
) {
    let [first, second] = out;
    if first.len() % (8 * SIDE) != 0 || digits.is_empty() {
        return scalar::inner_products_of(m, [first, second], digits, keys, map, LOW);
    }
    // This many products keep the upper half of a sum below 2^52.
    let most = ((1u64 << 52) / m.value()).min(1024) as usize;
    for (i, (digits, keys)) in digits.chunks(most).zip(keys.chunks(most)).enumerate() {
        let out = [&mut *first, &mut *second];
        match (map, i) {
            (None, 0) => run::<false, false>(m, out, digits, keys, &[]),
            (None, _) => run::<false, true>(m, out, digits, keys, &[]),
            (Some(map), 0) => run::<true, false>(m, out, digits, keys, map),
            (Some(map), _) => run::<true, true>(m, out, digits, keys, map),
        }
    }
}

/// The bits that count of an unreduced word.
const LOW: u64 = (1 << 52) - 1;

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn run<const MOVED: bool, const MORE: bool>(
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
        let places =
            if MOVED { Some(Places::new(map[at..].first_chunk().expect("a place a word"))) } else { None };
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

/// The sources of the words of SIDE vectors: see [`super::pointwise::permute`].
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

/// Computes out = sum·first + rest·second + addend (if given). `rest` may be unreduced.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn subtract_rest(
    m: &Modulus,
    out: &mut [u64],
    sum: &[u64],
    rest: &[u64],
    by: [Factor; 2],
    addend: Option<&[u64]>,
) {
    let p = Prime::new(m);
    let [first, second] = [Constant::all(by[0].into()), Constant::all(by[1].into())];
    let whole = out.len() / 8 * 8;
    let (lines, tail) = out.as_chunks_mut::<8>();
    let (sums, _) = sum.as_chunks::<8>();
    let (rests, _) = rest.as_chunks::<8>();
    let product = |x: &Line, y: &Line| p.correct(p.multiply_constants(load(x), first, load(y), second));
    match addend {
        Some(addend) => {
            let (addends, _) = addend.as_chunks::<8>();
            for (((line, x), y), z) in lines.iter_mut().zip(sums).zip(rests).zip(addends) {
                store(line, p.correct(_mm512_add_epi64(product(x, y), load(z))));
            }
        }
        None => {
            for ((line, x), y) in lines.iter_mut().zip(sums).zip(rests) {
                store(line, product(x, y));
            }
        }
    }
    let addend = addend.map(|z| &z[whole..]);
    scalar::subtract_rest_of(m, tail, &sum[whole..], &rest[whole..], by, addend, LOW);
}

/// Computes a0·b0, a0·b1 + a1·b0, a1·b1.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn tensor(m: &Modulus, out: [&mut [u64]; 3], a: [&[u64]; 2], b: [&[u64]; 2]) {
    let (barrett, reduction) = (Barrett::new(m), Reduction::new(m));
    let zero = _mm512_setzero_si512();
    let whole = out[0].len() / 8 * 8;
    let [(l, l_rest), (k, k_rest), (h, h_rest)] = out.map(|x| x.as_chunks_mut::<8>());
    let [(a0, _), (a1, _)] = a.map(|x| x.as_chunks::<8>());
    let [(b0, _), (b1, _)] = b.map(|x| x.as_chunks::<8>());
    let operands = a0.iter().zip(a1).zip(b0.iter().zip(b1));
    for (((l, k), h), ((a0, a1), (b0, b1))) in l.iter_mut().zip(k).zip(h).zip(operands) {
        let (a0, a1, b0, b1) = (load(a0), load(a1), load(b0), load(b1));
        store(l, barrett.multiply(a0, b0));
        let high = _mm512_madd52hi_epu64(_mm512_madd52hi_epu64(zero, a0, b1), a1, b0);
        let low = _mm512_madd52lo_epu64(_mm512_madd52lo_epu64(zero, a0, b1), a1, b0);
        store(k, reduction.reduce(high, low));
        store(h, barrett.multiply(a1, b1));
    }
    scalar::tensor(m, [l_rest, k_rest, h_rest], a.map(|x| &x[whole..]), b.map(|x| &x[whole..]));
}
