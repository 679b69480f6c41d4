//! Permutations, as automorphisms permute Eval form.

use crate::vectors::Lanes;

pub(crate) fn scalar(out: &mut [u64], values: &[u64], map: &[u32]) {
    for (x, source) in out.iter_mut().zip(map) {
        *x = values[*source as usize];
    }
}

#[inline(always)]
pub(crate) fn lanes<L: Lanes>(l: L, out: &mut [u64], values: &[u64], map: &[u32]) {
    if !L::ADDS {
        return scalar(out, values, map);
    }
    #[cfg(target_arch = "x86_64")]
    if L::COUNT == 8 {
        // SAFETY: a value of lanes of eight words proves that the processor has these instructions.
        return unsafe { ifma::run(out, values, map) };
    }
    let (lines, rest) = L::lines_mut(out);
    let (places, tail) = map.split_at(lines.len() * L::COUNT);
    for (line, places) in lines.iter_mut().zip(places.chunks_exact(L::COUNT)) {
        l.store(line, l.moved(values, l.places(places)));
    }
    scalar(rest, values, tail);
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use core::arch::x86_64::*;

    use super::*;
    use crate::ifma::lanes::{all, load, load_indices, store};

    /// Permutes. An automorphism moves aligned groups of eight entries of Eval form as a whole and permutes inside; the
    /// scalar kernel handles lines of any other map.
    #[target_feature(enable = "avx512f,avx512dq")]
    pub(crate) fn run(out: &mut [u64], values: &[u64], map: &[u32]) {
        let (lines, rest) = out.as_chunks_mut::<8>();
        let (indices, tail) = map.as_chunks::<8>();
        let (sources, _) = values.as_chunks::<8>();
        for (line, index) in lines.iter_mut().zip(indices) {
            let group = index[0] / 8;
            let places = load_indices(index);
            let groups = _mm512_srli_epi64::<3>(places);
            let moved = _mm512_cmpneq_epi64_mask(groups, all(u64::from(group)));
            match sources.get(group as usize) {
                // The instruction reads only the low three bits of an index.
                Some(source) if moved == 0 => store(line, _mm512_permutexvar_epi64(places, load(source))),
                _ => scalar(line, values, index),
            }
        }
        scalar(rest, values, tail);
    }
}

/// Compares every target with the scalar one.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, words};
    use crate::Modulus;
    let any = Modulus::new(97).unwrap();
    for length in [4usize, 8, 64, 1024] {
        let (values, out) = (words(u64::MAX, length, 6), vec![0; length]);
        let shift = usize::BITS - length.trailing_zeros();
        let reverse = |i: usize| i.reverse_bits() >> shift;
        for element in [3usize, 5, 2 * length - 1, length + 1] {
            // An automorphism of Eval form, and a reversal, which moves no group of eight as a whole.
            let automorphism = |i: usize| reverse(((2 * reverse(i) + 1) * element % (2 * length)) / 2) as u32;
            let map: Vec<u32> = (0..length).map(automorphism).collect();
            compare(&any, &out, |k, x| (k.permute)(x, &values, &map));
            let map: Vec<u32> = (0..length).map(|i| reverse(i) as u32).collect();
            compare(&any, &out, |k, x| (k.permute)(x, &values, &map));
        }
    }
}
