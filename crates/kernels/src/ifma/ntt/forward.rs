//! Natural order to bit-reversed Eval form (Cooley–Tukey).

use core::arch::x86_64::*;

use super::registers::{Eight, load_all, store_all, transpose};
use super::twiddles::{Block, Direction, of_pass};
use super::{layers_of_pass, parts};
use crate::ifma::lanes::{Constant, Line, Prime, all, load, store};

pub(super) struct Forward<'a> {
    pub(super) prime: Prime,
    pub(super) twiddles: &'a Direction,
    /// 2·log2(n)·q, which keeps differences from falling below zero where no correction is made.
    pub(super) offset: u64,
}

impl Forward<'_> {
    /// Transforms part number `part` of `of` parts. Passes finish one part after another, while it is in the
    /// first-level cache.
    ///
    /// LAZY: no corrections inside. FIRST: this is the first pass. OPEN: the output stays unreduced.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn run<const LAZY: bool, const FIRST: bool, const OPEN: bool>(
        &self,
        lines: &mut [Line],
        of: usize,
        part: usize,
    ) {
        let layers = layers_of_pass(lines.len());
        match layers {
            1 => self.pass::<LAZY, FIRST, 2>(lines, of + part),
            2 => self.pass::<LAZY, FIRST, 4>(lines, of + part),
            _ => self.pass::<LAZY, FIRST, 8>(lines, of + part),
        }
        let length = lines.len() >> layers;
        if length > 8 {
            for (i, lines) in lines.chunks_exact_mut(length).enumerate() {
                self.run::<LAZY, false, OPEN>(lines, of << layers, (part << layers) + i);
            }
        } else {
            let (blocks, _) = lines.as_chunks_mut::<8>();
            let twiddles = &self.twiddles.blocks[part << layers..][..blocks.len()];
            for (lines, twiddles) in blocks.iter_mut().zip(twiddles) {
                self.block::<LAZY, OPEN>(lines, twiddles);
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn butterfly<const LAZY: bool>(&self, x: &mut __m512i, y: &mut __m512i, w: Constant) {
        let p = self.prime;
        if LAZY {
            let double = _mm512_add_epi64(*x, *x);
            *x = p.add_constant_product(*x, *y, w);
            *y = _mm512_sub_epi64(double, *x);
        } else {
            let low = p.below(*x, p.two_q);
            let t = p.multiply_constant(*y, w);
            *y = _mm512_sub_epi64(_mm512_add_epi64(low, p.two_q), t);
            *x = _mm512_add_epi64(low, t);
        }
    }

    /// Runs log2(WAYS) layers between vectors that are `step` apart.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn pass<const LAZY: bool, const FIRST: bool, const WAYS: usize>(&self, lines: &mut [Line], at: usize) {
        let offset = all(self.offset);
        let step = lines.len() / WAYS;
        let parts = parts::<WAYS>(lines);
        let twiddles = of_pass::<WAYS>(&self.twiddles.outer, at);
        #[allow(clippy::needless_range_loop, reason = "the same line of every part")]
        for i in 0..step {
            let mut v: Eight = [_mm512_setzero_si512(); 8];
            for k in 0..WAYS {
                v[k] = load(&parts[k][i]);
                if LAZY && FIRST && k < WAYS / 2 {
                    v[k] = _mm512_add_epi64(v[k], offset);
                }
            }
            let (mut groups, mut half) = (1, WAYS / 2);
            while half > 0 {
                for group in 0..groups {
                    for k in 2 * half * group..2 * half * group + half {
                        let (low, high) = v.split_at_mut(k + half);
                        self.butterfly::<LAZY>(&mut low[k], &mut high[0], twiddles[groups - 1 + group]);
                    }
                }
                groups *= 2;
                half /= 2;
            }
            for k in 0..WAYS {
                store(&mut parts[k][i], v[k]);
            }
        }
    }

    /// Runs the last six layers of a block of 64, and the reduction.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn block<const LAZY: bool, const OPEN: bool>(&self, lines: &mut [Line; 8], twiddles: &Block) {
        let mut v = load_all(lines);
        self.three_layers::<LAZY>(&mut v, |k| Constant::all(twiddles.registers[k]));
        v = transpose(v);
        self.three_layers::<LAZY>(&mut v, |k| self.prime.constants(&twiddles.lanes[k]));
        if !OPEN {
            let p = self.prime;
            for v in &mut v {
                *v = p.correct(if LAZY { p.reduce_open(*v) } else { p.below(*v, p.two_q) });
            }
        }
        store_all(lines, transpose(v));
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn three_layers<const LAZY: bool>(&self, v: &mut Eight, twiddle: impl Fn(usize) -> Constant) {
        let [v0, v1, v2, v3, v4, v5, v6, v7] = v;
        let w = twiddle(0);
        self.butterfly::<LAZY>(v0, v4, w);
        self.butterfly::<LAZY>(v1, v5, w);
        self.butterfly::<LAZY>(v2, v6, w);
        self.butterfly::<LAZY>(v3, v7, w);
        let w = [twiddle(1), twiddle(2)];
        self.butterfly::<LAZY>(v0, v2, w[0]);
        self.butterfly::<LAZY>(v1, v3, w[0]);
        self.butterfly::<LAZY>(v4, v6, w[1]);
        self.butterfly::<LAZY>(v5, v7, w[1]);
        self.butterfly::<LAZY>(v0, v1, twiddle(3));
        self.butterfly::<LAZY>(v2, v3, twiddle(4));
        self.butterfly::<LAZY>(v4, v5, twiddle(5));
        self.butterfly::<LAZY>(v6, v7, twiddle(6));
    }
}
