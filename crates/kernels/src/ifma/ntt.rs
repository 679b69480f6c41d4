//! The number-theoretic transform, eight lanes at a time. Ranges: docs/math/kernels.md#transform.

use core::arch::x86_64::*;

use super::lanes::{Constant, Line, Prime, all, load, store};
use crate::modulus::Factor;
use crate::ntt::NttTable;

/// Values of one block, the last six layers of the transform.
const BLOCK: usize = 64;

/// Twiddle factors of the last three layers, one a lane: for each block of 64 values one pair of vectors (value, quotient) for
/// the layer of distance 4, two for distance 2 and four for distance 1.
#[derive(Clone, Debug)]
pub(crate) struct LaneTwiddles {
    forward: Vec<[[Line; 2]; 7]>,
    inverse: Vec<[[Line; 2]; 7]>,
}

impl LaneTwiddles {
    /// From the twiddle factors in bit-reversed order; None below two blocks.
    pub(crate) fn new(forward: &[Factor], inverse: &[Factor]) -> Option<Self> {
        let degree = forward.len();
        let arrange = |factors: &[Factor]| {
            let pair = |index: &dyn Fn(usize) -> usize| {
                let mut pair = [[0; 8]; 2];
                for lane in 0..8 {
                    let factor = factors[index(lane)];
                    pair[0][lane] = factor.value;
                    pair[1][lane] = factor.quotient >> 12;
                }
                pair
            };
            let block = |b: usize| {
                let at = |k: usize| match k {
                    0 => pair(&|lane| degree / 8 + 8 * b + lane),
                    1 | 2 => pair(&|lane| degree / 4 + 16 * b + 2 * lane + k - 1),
                    _ => pair(&|lane| degree / 2 + 32 * b + 4 * lane + k - 3),
                };
                core::array::from_fn(at)
            };
            (0..degree / BLOCK).map(block).collect()
        };
        (degree >= 2 * BLOCK).then(|| Self { forward: arrange(forward), inverse: arrange(inverse) })
    }
}

/// Whether a prime leaves room for a forward transform without any correction inside.
fn is_lazy(table: &NttTable) -> bool {
    let layers = u64::from(table.degree().trailing_zeros());
    (4 * layers + 1) * table.modulus().value() < 1 << 52
}

/// Range: q < 2^50; in < q, out < q.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn forward(table: &NttTable, lanes: &LaneTwiddles, values: &mut [u64]) {
    let (lines, _) = values.as_chunks_mut::<8>();
    let transform = Forward { prime: Prime::new(table.modulus()), table, lanes };
    if is_lazy(table) {
        transform.run::<true, true>(lines, 1, 0);
    } else {
        transform.run::<false, true>(lines, 1, 0);
    }
}

/// Range: q < 2^50; in < q, out < q.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn inverse(table: &NttTable, lanes: &LaneTwiddles, values: &mut [u64]) {
    let (lines, _) = values.as_chunks_mut::<8>();
    let transform = Inverse { prime: Prime::new(table.modulus()), table, lanes };
    transform.run::<true>(lines, 1, 0);
}

/// Layers that the next pass takes of those left above the blocks of 64.
fn pass(lines: usize) -> usize {
    match (lines / 8).trailing_zeros() {
        1 => 1,
        2 | 4 => 2,
        _ => 3,
    }
}

/// The factors of log2(WAYS) layers from entry `at` of the first on: that of group g in the layer of 2^l groups is number
/// 2^l − 1 + g.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn twiddles<const WAYS: usize>(factors: &[Factor], at: usize) -> [Constant; 8] {
    let mut twiddles = [Constant::all(factors[at]); 8];
    let mut groups = 1;
    while groups < WAYS {
        for group in 0..groups {
            twiddles[groups - 1 + group] = Constant::all(factors[groups * at + group]);
        }
        groups *= 2;
    }
    twiddles
}

struct Forward<'a> {
    prime: Prime,
    table: &'a NttTable,
    lanes: &'a LaneTwiddles,
}

type Eight = [__m512i; 8];

impl Forward<'_> {
    /// A part of the values: block number `block` of `blocks`. Passes go down one part after another, so that each part is
    /// finished while it is in the first-level cache.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn run<const LAZY: bool, const FIRST: bool>(&self, lines: &mut [Line], blocks: usize, block: usize) {
        if let Ok(lines) = <&mut [Line; 8]>::try_from(&mut *lines) {
            return self.finish::<LAZY>(lines, blocks, block);
        }
        let layers = pass(lines.len());
        match layers {
            1 => self.pass::<LAZY, FIRST, 2>(lines, blocks, block),
            2 => self.pass::<LAZY, FIRST, 4>(lines, blocks, block),
            _ => self.pass::<LAZY, FIRST, 8>(lines, blocks, block),
        }
        let parts = 1 << layers;
        let length = lines.len() / parts;
        for (i, part) in lines.chunks_exact_mut(length).enumerate() {
            self.run::<LAZY, false>(part, parts * blocks, parts * block + i);
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn butterfly<const LAZY: bool>(&self, x: &mut __m512i, y: &mut __m512i, w: Constant) {
        let p = self.prime;
        if LAZY {
            let t = p.multiply_constant_open(*y, w);
            *y = _mm512_sub_epi64(*x, t);
            *x = _mm512_add_epi64(*x, t);
        } else {
            let low = p.below(*x, p.two_q);
            let t = p.multiply_constant(*y, w);
            *y = _mm512_sub_epi64(_mm512_add_epi64(low, p.two_q), t);
            *x = _mm512_add_epi64(low, t);
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn twiddle(&self, index: usize) -> Constant {
        Constant::all(self.table.forward[index])
    }

    /// log2(WAYS) layers at a distance.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn pass<const LAZY: bool, const FIRST: bool, const WAYS: usize>(
        &self,
        lines: &mut [Line],
        blocks: usize,
        block: usize,
    ) {
        let step = lines.len() / WAYS;
        let twiddles = twiddles::<WAYS>(&self.table.forward, blocks + block);
        let layers = u64::from(self.table.degree().trailing_zeros());
        let offset = all(2 * layers * self.table.modulus().value());
        for i in 0..step {
            let mut v: Eight = [_mm512_setzero_si512(); 8];
            for (k, v) in v.iter_mut().enumerate().take(WAYS) {
                *v = load(&lines[i + k * step]);
                if LAZY && FIRST && k < WAYS / 2 {
                    *v = _mm512_add_epi64(*v, offset);
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
            for (k, v) in v.iter().enumerate().take(WAYS) {
                store(&mut lines[i + k * step], *v);
            }
        }
    }

    /// The last six layers of a block of 64, and the reduction.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn finish<const LAZY: bool>(&self, lines: &mut [Line; 8], blocks: usize, block: usize) {
        let p = self.prime;
        let mut v = load_all(lines);
        let w = self.twiddle(blocks + block);
        let [v0, v1, v2, v3, v4, v5, v6, v7] = &mut v;
        self.butterfly::<LAZY>(v0, v4, w);
        self.butterfly::<LAZY>(v1, v5, w);
        self.butterfly::<LAZY>(v2, v6, w);
        self.butterfly::<LAZY>(v3, v7, w);
        let w = [self.twiddle(2 * (blocks + block)), self.twiddle(2 * (blocks + block) + 1)];
        self.butterfly::<LAZY>(v0, v2, w[0]);
        self.butterfly::<LAZY>(v1, v3, w[0]);
        self.butterfly::<LAZY>(v4, v6, w[1]);
        self.butterfly::<LAZY>(v5, v7, w[1]);
        let at = 4 * (blocks + block);
        self.butterfly::<LAZY>(v0, v1, self.twiddle(at));
        self.butterfly::<LAZY>(v2, v3, self.twiddle(at + 1));
        self.butterfly::<LAZY>(v4, v5, self.twiddle(at + 2));
        self.butterfly::<LAZY>(v6, v7, self.twiddle(at + 3));
        v = transpose(v);
        let pairs = &self.lanes.forward[block];
        let [v0, v1, v2, v3, v4, v5, v6, v7] = &mut v;
        let w = Constant::lanes(&pairs[0]);
        self.butterfly::<LAZY>(v0, v4, w);
        self.butterfly::<LAZY>(v1, v5, w);
        self.butterfly::<LAZY>(v2, v6, w);
        self.butterfly::<LAZY>(v3, v7, w);
        let w = [Constant::lanes(&pairs[1]), Constant::lanes(&pairs[2])];
        self.butterfly::<LAZY>(v0, v2, w[0]);
        self.butterfly::<LAZY>(v1, v3, w[0]);
        self.butterfly::<LAZY>(v4, v6, w[1]);
        self.butterfly::<LAZY>(v5, v7, w[1]);
        self.butterfly::<LAZY>(v0, v1, Constant::lanes(&pairs[3]));
        self.butterfly::<LAZY>(v2, v3, Constant::lanes(&pairs[4]));
        self.butterfly::<LAZY>(v4, v5, Constant::lanes(&pairs[5]));
        self.butterfly::<LAZY>(v6, v7, Constant::lanes(&pairs[6]));
        let one = Constant::all(self.table.modulus().factor(1));
        for v in &mut v {
            *v = if LAZY { p.correct(p.multiply_constant(*v, one)) } else { p.correct(p.below(*v, p.two_q)) };
        }
        store_all(lines, transpose(v));
    }
}

struct Inverse<'a> {
    prime: Prime,
    table: &'a NttTable,
    lanes: &'a LaneTwiddles,
}

impl Inverse<'_> {
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn run<const LAST: bool>(&self, lines: &mut [Line], blocks: usize, block: usize) {
        if let Ok(lines) = <&mut [Line; 8]>::try_from(&mut *lines) {
            return self.begin(lines, blocks, block);
        }
        let layers = pass(lines.len());
        let parts = 1 << layers;
        let length = lines.len() / parts;
        for (i, part) in lines.chunks_exact_mut(length).enumerate() {
            self.run::<false>(part, parts * blocks, parts * block + i);
        }
        match layers {
            1 => self.pass::<LAST, 2>(lines, blocks, block),
            2 => self.pass::<LAST, 4>(lines, blocks, block),
            _ => self.pass::<LAST, 8>(lines, blocks, block),
        }
    }

    /// Range: in < 2q, out < 2q.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn butterfly(&self, x: &mut __m512i, y: &mut __m512i, w: Constant) {
        let p = self.prime;
        let difference = _mm512_sub_epi64(_mm512_add_epi64(*x, p.two_q), *y);
        *x = p.below(_mm512_add_epi64(*x, *y), p.two_q);
        *y = p.multiply_constant(difference, w);
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn twiddle(&self, index: usize) -> Constant {
        Constant::all(self.table.inverse[index])
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn pass<const LAST: bool, const WAYS: usize>(&self, lines: &mut [Line], blocks: usize, block: usize) {
        let step = lines.len() / WAYS;
        let twiddles = twiddles::<WAYS>(&self.table.inverse, blocks + block);
        let scale = Constant::all(self.table.inverse_degree);
        for i in 0..step {
            let mut v: Eight = [_mm512_setzero_si512(); 8];
            for (k, v) in v.iter_mut().enumerate().take(WAYS) {
                *v = load(&lines[i + k * step]);
            }
            let (mut groups, mut half) = (WAYS / 2, 1);
            while half < WAYS {
                for group in 0..groups {
                    for k in 2 * half * group..2 * half * group + half {
                        let (low, high) = v.split_at_mut(k + half);
                        self.butterfly(&mut low[k], &mut high[0], twiddles[groups - 1 + group]);
                    }
                }
                groups /= 2;
                half *= 2;
            }
            for (k, v) in v.iter().enumerate().take(WAYS) {
                let v = if LAST { self.prime.correct(self.prime.multiply_constant(*v, scale)) } else { *v };
                store(&mut lines[i + k * step], v);
            }
        }
    }

    /// The first six layers of a block of 64.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn begin(&self, lines: &mut [Line; 8], blocks: usize, block: usize) {
        let mut v = transpose(load_all(lines));
        let pairs = &self.lanes.inverse[block];
        let [v0, v1, v2, v3, v4, v5, v6, v7] = &mut v;
        self.butterfly(v0, v1, Constant::lanes(&pairs[3]));
        self.butterfly(v2, v3, Constant::lanes(&pairs[4]));
        self.butterfly(v4, v5, Constant::lanes(&pairs[5]));
        self.butterfly(v6, v7, Constant::lanes(&pairs[6]));
        let w = [Constant::lanes(&pairs[1]), Constant::lanes(&pairs[2])];
        self.butterfly(v0, v2, w[0]);
        self.butterfly(v1, v3, w[0]);
        self.butterfly(v4, v6, w[1]);
        self.butterfly(v5, v7, w[1]);
        let w = Constant::lanes(&pairs[0]);
        self.butterfly(v0, v4, w);
        self.butterfly(v1, v5, w);
        self.butterfly(v2, v6, w);
        self.butterfly(v3, v7, w);
        v = transpose(v);
        let [v0, v1, v2, v3, v4, v5, v6, v7] = &mut v;
        let at = 4 * (blocks + block);
        self.butterfly(v0, v1, self.twiddle(at));
        self.butterfly(v2, v3, self.twiddle(at + 1));
        self.butterfly(v4, v5, self.twiddle(at + 2));
        self.butterfly(v6, v7, self.twiddle(at + 3));
        let w = [self.twiddle(2 * (blocks + block)), self.twiddle(2 * (blocks + block) + 1)];
        self.butterfly(v0, v2, w[0]);
        self.butterfly(v1, v3, w[0]);
        self.butterfly(v4, v6, w[1]);
        self.butterfly(v5, v7, w[1]);
        let w = self.twiddle(blocks + block);
        self.butterfly(v0, v4, w);
        self.butterfly(v1, v5, w);
        self.butterfly(v2, v6, w);
        self.butterfly(v3, v7, w);
        store_all(lines, v);
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_all(lines: &[Line; 8]) -> Eight {
    let mut v = [_mm512_setzero_si512(); 8];
    for (v, line) in v.iter_mut().zip(lines) {
        *v = load(line);
    }
    v
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store_all(lines: &mut [Line; 8], v: Eight) {
    for (v, line) in v.iter().zip(lines) {
        store(line, *v);
    }
}

/// Rows to columns.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose(v: Eight) -> Eight {
    let low = |a, b| _mm512_unpacklo_epi64(a, b);
    let high = |a, b| _mm512_unpackhi_epi64(a, b);
    // Two by two.
    let t = [
        low(v[0], v[1]),
        high(v[0], v[1]),
        low(v[2], v[3]),
        high(v[2], v[3]),
        low(v[4], v[5]),
        high(v[4], v[5]),
        low(v[6], v[7]),
        high(v[6], v[7]),
    ];
    // Pairs of 128 bits, of four rows and then of eight.
    let even = |a, b| _mm512_shuffle_i64x2::<0x88>(a, b);
    let odd = |a, b| _mm512_shuffle_i64x2::<0xdd>(a, b);
    let u = [
        even(t[0], t[2]),
        even(t[1], t[3]),
        odd(t[0], t[2]),
        odd(t[1], t[3]),
        even(t[4], t[6]),
        even(t[5], t[7]),
        odd(t[4], t[6]),
        odd(t[5], t[7]),
    ];
    [
        even(u[0], u[4]),
        even(u[1], u[5]),
        even(u[2], u[6]),
        even(u[3], u[7]),
        odd(u[0], u[4]),
        odd(u[1], u[5]),
        odd(u[2], u[6]),
        odd(u[3], u[7]),
    ]
}
