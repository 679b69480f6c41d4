//! The transform of the embedding in eight lanes of `f64` (AVX-512). It runs the operations of the scalar transform in
//! the same order, without fused multiplication, so it computes the same numbers; docs/math/sampling.md, "Embedding".
//!
//! Each pass over memory does two layers. The last three layers run on 64 points in registers, with one twiddle a lane.
//! On the slot side each

use alloc::vec::Vec;
use core::arch::x86_64::*;

use super::Complex;

/// Points whose last three layers run in registers.
pub(super) const GROUP: usize = 64;
/// Points of a block that stays in the first-level cache through all its layers.
const BLOCK: usize = 2048;

/// Real and imaginary parts of the twiddles, one a lane: one vector for the layer of distance 4, two for distance 2,
/// four for distance 1.
pub(super) type LaneTwiddles = [[[f64; 8]; 2]; 7];

/// Returns the index of a point in the transform's output.
pub(super) fn transposed(point: u32) -> u32 {
    point & !63 | (point & 7) << 3 | (point >> 3) & 7
}

/// Returns the twiddles of the last three layers, one group after another.
pub(super) fn lane_twiddles(twiddles: &[Complex]) -> Vec<LaneTwiddles> {
    let blocks = twiddles.len() / 8;
    let lanes = |group: usize, nodes: usize, offset: usize, per_block: usize| {
        let twiddle = |lane: usize| twiddles[nodes + (8 * group + lane) * per_block + offset];
        [core::array::from_fn(|lane| twiddle(lane).re), core::array::from_fn(|lane| twiddle(lane).im)]
    };
    let group = |group| {
        core::array::from_fn(|i| match i {
            0 => lanes(group, blocks, 0, 1),
            1 | 2 => lanes(group, 2 * blocks, i - 1, 2),
            _ => lanes(group, 4 * blocks, i - 3, 4),
        })
    };
    (0..twiddles.len() / GROUP).map(group).collect()
}

/// Eight complex numbers.
#[derive(Clone, Copy)]
struct Lanes {
    re: __m512d,
    im: __m512d,
}

impl Lanes {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load(re: &[f64; 8], im: &[f64; 8]) -> Self {
        // SAFETY: references to 64 readable bytes; the loads take any alignment.
        unsafe { Self { re: _mm512_loadu_pd(re.as_ptr()), im: _mm512_loadu_pd(im.as_ptr()) } }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn store(self, re: &mut [f64; 8], im: &mut [f64; 8]) {
        // points stay transposed: point 8·b + e is at index 8·e + b.
        unsafe {
            _mm512_storeu_pd(re.as_mut_ptr(), self.re);
            _mm512_storeu_pd(im.as_mut_ptr(), self.im);
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn all(z: Complex) -> Self {
        Self { re: _mm512_set1_pd(z.re), im: _mm512_set1_pd(z.im) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn add(self, o: Self) -> Self {
        Self { re: _mm512_add_pd(self.re, o.re), im: _mm512_add_pd(self.im, o.im) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn subtract(self, o: Self) -> Self {
        Self { re: _mm512_sub_pd(self.re, o.re), im: _mm512_sub_pd(self.im, o.im) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn times(self, w: Self) -> Self {
        let re = _mm512_sub_pd(_mm512_mul_pd(self.re, w.re), _mm512_mul_pd(self.im, w.im));
        let im = _mm512_add_pd(_mm512_mul_pd(self.re, w.im), _mm512_mul_pd(self.im, w.re));
        Self { re, im }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn times_conjugate(self, w: Self) -> Self {
        let re = _mm512_add_pd(_mm512_mul_pd(self.re, w.re), _mm512_mul_pd(self.im, w.im));
        let im = _mm512_sub_pd(_mm512_mul_pd(self.im, w.re), _mm512_mul_pd(self.re, w.im));
        Self { re, im }
    }
}

/// Maps (x, y) to (x + y·w, x − y·w).
#[inline]
#[target_feature(enable = "avx512f")]
fn split(x: &mut Lanes, y: &mut Lanes, w: Lanes) {
    let product = y.times(w);
    (*x, *y) = (x.add(product), x.subtract(product));
}

/// Maps (x, y) to (x + y, (x − y)·w̄).
#[inline]
#[target_feature(enable = "avx512f")]
fn join(x: &mut Lanes, y: &mut Lanes, w: Lanes) {
    (*x, *y) = (x.add(*y), x.subtract(*y).times_conjugate(w));
}

/// Transforms coefficients to values. Range: equal lengths, powers of two from 64.
#[target_feature(enable = "avx512f")]
pub(super) fn forward(re: &mut [f64], im: &mut [f64], twiddles: &[Complex], last: &[LaneTwiddles]) {
    forward_block(re, im, twiddles, last, 1);
}

/// Runs the layers of a block: entry `node` of the twiddles belongs to its first layer.
#[target_feature(enable = "avx512f")]
fn forward_block(re: &mut [f64], im: &mut [f64], twiddles: &[Complex], last: &[LaneTwiddles], node: usize) {
    let whole = re.len();
    let (mut nodes, mut first) = (1, node);
    // Two layers a pass; if their number is odd, a single one comes first.
    if (whole / 8).ilog2() % 2 == 1 {
        layer::<true>(re, im, &[twiddles[first]]);
        (nodes, first) = (2, 2 * first);
    }
    while whole / nodes > 8 {
        if whole > BLOCK && whole / nodes <= BLOCK {
            let size = whole / nodes;
            let blocks = re.chunks_exact_mut(size).zip(im.chunks_exact_mut(size));
            for (i, (re, im)) in blocks.enumerate() {
                let last = &last[i * size / GROUP..(i + 1) * size / GROUP];
                forward_block(re, im, twiddles, last, first + i);
            }
            return;
        }
        let size = whole / nodes;
        let blocks = re.chunks_exact_mut(size).zip(im.chunks_exact_mut(size));
        for (i, (re, im)) in blocks.enumerate() {
            let node = first + i;
            two_layers::<true>(re, im, twiddles[node], twiddles[2 * node], twiddles[2 * node + 1]);
        }
        (nodes, first) = (4 * nodes, 4 * first);
    }
    groups::<true>(re, im, last);
}

/// Transforms values to coefficients times the number of points. Range: equal lengths, powers of two from 64.
#[target_feature(enable = "avx512f")]
pub(super) fn inverse(re: &mut [f64], im: &mut [f64], twiddles: &[Complex], last: &[LaneTwiddles]) {
    inverse_block(re, im, twiddles, last, 1);
}

#[target_feature(enable = "avx512f")]
fn inverse_block(re: &mut [f64], im: &mut [f64], twiddles: &[Complex], last: &[LaneTwiddles], node: usize) {
    let whole = re.len();
    let mut size = if whole > BLOCK {
        // The same parts that `forward_block` runs separately.
        let mut size = whole >> ((whole / 8).ilog2() % 2);
        while size > BLOCK {
            size /= 4;
        }
        let blocks = re.chunks_exact_mut(size).zip(im.chunks_exact_mut(size));
        for (i, (re, im)) in blocks.enumerate() {
            let last = &last[i * size / GROUP..(i + 1) * size / GROUP];
            inverse_block(re, im, twiddles, last, node * (whole / size) + i);
        }
        size
    } else {
        groups::<false>(re, im, last);
        8
    };
    while 4 * size <= whole {
        size *= 4;
        let first = node * (whole / size);
        let blocks = re.chunks_exact_mut(size).zip(im.chunks_exact_mut(size));
        for (i, (re, im)) in blocks.enumerate() {
            let node = first + i;
            two_layers::<false>(re, im, twiddles[node], twiddles[2 * node], twiddles[2 * node + 1]);
        }
    }
    if size < whole {
        layer::<false>(re, im, &[twiddles[node]]);
    }
}

/// Returns the vectors of a slice. Range: the length is a multiple of eight.
fn lines(values: &mut [f64]) -> &mut [[f64; 8]] {
    values.as_chunks_mut().0
}

#[inline]
#[target_feature(enable = "avx512f")]
fn layer<const FORWARD: bool>(re: &mut [f64], im: &mut [f64], twiddle: &[Complex; 1]) {
    let w = Lanes::all(twiddle[0]);
    let half = re.len() / 2;
    let ((re0, re1), (im0, im1)) = (re.split_at_mut(half), im.split_at_mut(half));
    let low = lines(re0).iter_mut().zip(lines(im0));
    let high = lines(re1).iter_mut().zip(lines(im1));
    for ((re0, im0), (re1, im1)) in low.zip(high) {
        let (mut x, mut y) = (Lanes::load(re0, im0), Lanes::load(re1, im1));
        if FORWARD {
            split(&mut x, &mut y, w);
        } else {
            join(&mut x, &mut y, w);
        }
        x.store(re0, im0);
        y.store(re1, im1);
    }
}

/// Runs the layer of the whole block (w) and the layer of its halves (low, high).
#[inline]
#[target_feature(enable = "avx512f")]
fn two_layers<const FORWARD: bool>(re: &mut [f64], im: &mut [f64], w: Complex, low: Complex, high: Complex) {
    let (w, low, high) = (Lanes::all(w), Lanes::all(low), Lanes::all(high));
    let quarter = re.len() / 4;
    let ((re01, re23), (im01, im23)) = (re.split_at_mut(2 * quarter), im.split_at_mut(2 * quarter));
    let ((re0, re1), (re2, re3)) = (re01.split_at_mut(quarter), re23.split_at_mut(quarter));
    let ((im0, im1), (im2, im3)) = (im01.split_at_mut(quarter), im23.split_at_mut(quarter));
    let first = lines(re0).iter_mut().zip(lines(im0)).zip(lines(re1).iter_mut().zip(lines(im1)));
    let second = lines(re2).iter_mut().zip(lines(im2)).zip(lines(re3).iter_mut().zip(lines(im3)));
    for (((re0, im0), (re1, im1)), ((re2, im2), (re3, im3))) in first.zip(second) {
        let (mut a, mut b) = (Lanes::load(re0, im0), Lanes::load(re1, im1));
        let (mut c, mut d) = (Lanes::load(re2, im2), Lanes::load(re3, im3));
        if FORWARD {
            split(&mut a, &mut c, w);
            split(&mut b, &mut d, w);
            split(&mut a, &mut b, low);
            split(&mut c, &mut d, high);
        } else {
            join(&mut a, &mut b, low);
            join(&mut c, &mut d, high);
            join(&mut a, &mut c, w);
            join(&mut b, &mut d, w);
        }
        a.store(re0, im0);
        b.store(re1, im1);
        c.store(re2, im2);
        d.store(re3, im3);
    }
}

/// Runs the last three layers: register e holds point e of eight blocks of eight.
#[inline]
#[target_feature(enable = "avx512f")]
fn groups<const FORWARD: bool>(re: &mut [f64], im: &mut [f64], last: &[LaneTwiddles]) {
    let (re, im) = (lines(re).as_chunks_mut::<8>().0, lines(im).as_chunks_mut::<8>().0);
    for ((re, im), twiddles) in re.iter_mut().zip(im).zip(last) {
        let mut x = [Lanes::all(Complex::default()); 8];
        for ((x, re), im) in x.iter_mut().zip(&*re).zip(&*im) {
            *x = Lanes::load(re, im);
        }
        let w = |i: usize| Lanes::load(&twiddles[i][0], &twiddles[i][1]);
        if FORWARD {
            transpose(&mut x);
            for e in 0..4 {
                pair::<true>(&mut x, e, e + 4, w(0));
            }
            for (e, i) in [(0, 1), (1, 1), (4, 2), (5, 2)] {
                pair::<true>(&mut x, e, e + 2, w(i));
            }
            for i in 0..4 {
                pair::<true>(&mut x, 2 * i, 2 * i + 1, w(3 + i));
            }
        } else {
            for i in 0..4 {
                pair::<false>(&mut x, 2 * i, 2 * i + 1, w(3 + i));
            }
            for (e, i) in [(0, 1), (1, 1), (4, 2), (5, 2)] {
                pair::<false>(&mut x, e, e + 2, w(i));
            }
            for e in 0..4 {
                pair::<false>(&mut x, e, e + 4, w(0));
            }
            transpose(&mut x);
        }
        for ((x, re), im) in x.iter().zip(re).zip(im) {
            x.store(re, im);
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn pair<const FORWARD: bool>(x: &mut [Lanes; 8], low: usize, high: usize, w: Lanes) {
    let (mut a, mut b) = (x[low], x[high]);
    if FORWARD {
        split(&mut a, &mut b, w);
    } else {
        join(&mut a, &mut b, w);
    }
    (x[low], x[high]) = (a, b);
}

/// Transposes eight registers. Each step exchanges one bit of the register number with one bit of the lane number.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose(x: &mut [Lanes; 8]) {
    let (low_1, high_1) =
        (_mm512_setr_epi64(0, 8, 2, 10, 4, 12, 6, 14), _mm512_setr_epi64(1, 9, 3, 11, 5, 13, 7, 15));
    let (low_2, high_2) =
        (_mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15));
    let (low_4, high_4) =
        (_mm512_setr_epi64(0, 1, 2, 3, 8, 9, 10, 11), _mm512_setr_epi64(4, 5, 6, 7, 12, 13, 14, 15));
    for (apart, low, high) in [(1, low_1, high_1), (2, low_2, high_2), (4, low_4, high_4)] {
        for i in (0..8).filter(|i| i & apart == 0) {
            let (a, b) = (x[i], x[i + apart]);
            let pick = |index| Lanes {
                re: _mm512_permutex2var_pd(a.re, index, b.re),
                im: _mm512_permutex2var_pd(a.im, index, b.im),
            };
            (x[i], x[i + apart]) = (pick(low), pick(high));
        }
    }
}
