//! Bit-reversed Eval form back to natural order (Gentleman–Sande), times a constant.

use core::arch::x86_64::*;

use super::registers::{Eight, load_all, store_all, transpose};
use super::twiddles::{Block, Direction, of_pass};
use super::{layers_of_pass, parts};
use crate::ifma::lanes::{Constant, Line, Pair, Prime, all, load, store};

pub(super) struct Inverse<'a> {
    pub(super) prime: Prime,
    pub(super) q: u64,
    pub(super) twiddles: &'a Direction,
    /// The constant that scales every result, and the last layer's twiddle factor times that constant.
    pub(super) scale: Pair,
    pub(super) last: Pair,
}

impl Inverse<'_> {
    /// Transforms part number `part` of `of` parts, reading `source` if given.
    ///
    /// LAZY: sums are corrected once in three layers. LAST: this part runs the last pass.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn run<const LAZY: bool, const LAST: bool>(
        &self,
        lines: &mut [Line],
        source: Option<&[Line]>,
        of: usize,
        part: usize,
    ) {
        let layers = layers_of_pass(lines.len());
        let length = lines.len() >> layers;
        if length > 8 {
            for (i, lines) in lines.chunks_exact_mut(length).enumerate() {
                let source = source.map(|s| &s[i * length..][..length]);
                self.run::<LAZY, false>(lines, source, of << layers, (part << layers) + i);
            }
        } else {
            let (blocks, _) = lines.as_chunks_mut::<8>();
            let twiddles = &self.twiddles.blocks[part << layers..][..blocks.len()];
            match source {
                Some(source) => {
                    let (sources, _) = source.as_chunks::<8>();
                    for ((lines, source), twiddles) in blocks.iter_mut().zip(sources).zip(twiddles) {
                        store_all(lines, self.block::<LAZY>(load_all(source), twiddles));
                    }
                }
                None => {
                    for (lines, twiddles) in blocks.iter_mut().zip(twiddles) {
                        store_all(lines, self.block::<LAZY>(load_all(lines), twiddles));
                    }
                }
            }
        }
        match layers {
            1 => self.pass::<LAZY, LAST, 2>(lines, of + part),
            2 => self.pass::<LAZY, LAST, 4>(lines, of + part),
            _ => self.pass::<LAZY, LAST, 8>(lines, of + part),
        }
    }

    /// Computes the sum and the difference without the multiplication by the twiddle. LAZY: `bound` is at least 4q and
    /// at least the range of y. Otherwise: in < 2q, sum < 2q, difference < 4q.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn sum<const LAZY: bool>(&self, x: &mut __m512i, y: &mut __m512i, bound: __m512i) {
        let p = self.prime;
        let offset = if LAZY { bound } else { p.two_q };
        let difference = _mm512_sub_epi64(_mm512_add_epi64(*x, offset), *y);
        let sum = _mm512_add_epi64(*x, *y);
        *x = if LAZY { sum } else { p.below(sum, p.two_q) };
        *y = difference;
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn butterfly<const LAZY: bool>(&self, x: &mut __m512i, y: &mut __m512i, bound: __m512i, w: Constant) {
        self.sum::<LAZY>(x, y, bound);
        *y = self.multiply::<LAZY>(*y, w);
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn multiply<const LAZY: bool>(&self, x: __m512i, w: Constant) -> __m512i {
        if LAZY { self.prime.multiply_constant_open(x, w) } else { self.prime.multiply_constant(x, w) }
    }

    /// Returns the multiple of q that each layer adds to differences: 8q, 16q and 32q.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn bounds(&self) -> [__m512i; 3] {
        [all(8 * self.q), all(16 * self.q), all(32 * self.q)]
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn pass<const LAZY: bool, const LAST: bool, const WAYS: usize>(&self, lines: &mut [Line], at: usize) {
        let (scale, last) = (Constant::all(self.scale), Constant::all(self.last));
        let bounds = self.bounds();
        let step = lines.len() / WAYS;
        let parts = parts::<WAYS>(lines);
        let twiddles = of_pass::<WAYS>(&self.twiddles.outer, at);
        #[allow(clippy::needless_range_loop, reason = "the same line of every part")]
        for i in 0..step {
            let mut v: Eight = [_mm512_setzero_si512(); 8];
            for k in 0..WAYS {
                v[k] = load(&parts[k][i]);
            }
            let (mut groups, mut half, mut layer) = (WAYS / 2, 1, 0);
            while half < WAYS {
                for group in 0..groups {
                    let w = if LAST && groups == 1 { last } else { twiddles[groups - 1 + group] };
                    for k in 2 * half * group..2 * half * group + half {
                        let (low, high) = v.split_at_mut(k + half);
                        self.butterfly::<LAZY>(&mut low[k], &mut high[0], bounds[layer], w);
                    }
                }
                groups /= 2;
                half *= 2;
                layer += 1;
            }
            if LAST {
                for v in &mut v[..WAYS / 2] {
                    *v = self.multiply::<LAZY>(*v, scale);
                }
                for v in &mut v[..WAYS] {
                    *v = self.prime.correct(if LAZY { self.prime.mask(*v) } else { *v });
                }
            } else if LAZY {
                v[0] = self.prime.reduce_low(v[0]);
            }
            for k in 0..WAYS {
                store(&mut parts[k][i], v[k]);
            }
        }
    }

    /// Runs the first six layers of a block of 64.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn block<const LAZY: bool>(&self, v: Eight, twiddles: &Block) -> Eight {
        let mut v = transpose(v);
        self.three_layers::<LAZY>(&mut v, |k| self.prime.constants(&twiddles.lanes[k]));
        v = transpose(v);
        self.three_layers::<LAZY>(&mut v, |k| Constant::all(twiddles.registers[k]));
        v
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn three_layers<const LAZY: bool>(&self, v: &mut Eight, twiddle: impl Fn(usize) -> Constant) {
        let bounds = self.bounds();
        let [v0, v1, v2, v3, v4, v5, v6, v7] = v;
        self.butterfly::<LAZY>(v0, v1, bounds[0], twiddle(3));
        self.butterfly::<LAZY>(v2, v3, bounds[0], twiddle(4));
        self.butterfly::<LAZY>(v4, v5, bounds[0], twiddle(5));
        self.butterfly::<LAZY>(v6, v7, bounds[0], twiddle(6));
        let w = [twiddle(1), twiddle(2)];
        self.butterfly::<LAZY>(v0, v2, bounds[1], w[0]);
        self.butterfly::<LAZY>(v1, v3, bounds[1], w[0]);
        self.butterfly::<LAZY>(v4, v6, bounds[1], w[1]);
        self.butterfly::<LAZY>(v5, v7, bounds[1], w[1]);
        let w = twiddle(0);
        self.butterfly::<LAZY>(v0, v4, bounds[2], w);
        self.butterfly::<LAZY>(v1, v5, bounds[2], w);
        self.butterfly::<LAZY>(v2, v6, bounds[2], w);
        self.butterfly::<LAZY>(v3, v7, bounds[2], w);
        if LAZY {
            *v0 = self.prime.reduce_low(*v0);
        }
    }
}
