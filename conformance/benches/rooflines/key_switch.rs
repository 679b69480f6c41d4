//! Key switching by its kernels alone: see [`Turns`].

use core::ops::Range;

use sotto_conformance::{Fixture, Testable};
use sotto_kernels::{Lift, Quotient};
use sotto_ring::{GaloisMap, Kernels, Ring};
use sotto_rlwe::SchemeId;

use crate::parts::{Limbs, Roofline, SMALL};
use crate::turns::Turns;

/// What is switched.
#[derive(Clone, Copy)]
pub(crate) enum Switched<'a> {
    /// The last component of a product; both others are added.
    Product,
    /// A mask, once the automorphism has moved it, onto a body that it moves.
    Rotated(&'a GaloisMap),
    /// Digits that are there, which the automorphism moves.
    Hoisted(&'a GaloisMap),
}

/// The kernels of base conversions, with any constants.
struct Conversions<'a> {
    ring: &'a Ring,
    kernels: Kernels,
    /// Whether a rest modulo t is kept: BGV's.
    congruent: bool,
    weights: Vec<u64>,
}

impl Conversions<'_> {
    /// Limbs of a ring back from Eval form, and what all targets share.
    fn prepare(
        &self,
        turns: &mut Turns,
        limbs: &Range<usize>,
        from: &Limbs,
        to: &mut Limbs,
        congruent: bool,
    ) {
        for (row, limb) in limbs.clone().enumerate() {
            let table = self.ring.table(limb);
            turns.part("inverse transform", || {
                (self.kernels.ntt_inverse_from)(
                    table,
                    to.row_mut(row),
                    from.row(row),
                    table.inverse_scale(3),
                );
            });
        }
        let q = self.ring.modulus(limbs.start);
        let count = limbs.len();
        let mut rows = to.rows_mut();
        let (sources, others) = rows.split_at_mut(count);
        let [quotient, rest] = others else { return };
        let mut sources: Vec<&[u64]> = sources.iter().map(|row| &**row).collect();
        if count > 1 || congruent {
            let quotients = vec![Quotient { constant: (1 << 51) - 1, shift: q.bits() + 26 }; count];
            turns.part("quotient of limbs that are converted", || {
                (self.kernels.round_quotient)(quotient, &sources, &quotients);
            });
        }
        if congruent {
            sources.push(quotient);
            turns.part("rest modulo the plain modulus", || {
                (self.kernels.convert)(q, rest, &sources, q.bits(), &self.weights[..=count], 0);
            });
        }
    }

    /// To one limb.
    fn write(
        &self,
        turns: &mut Turns,
        limb: usize,
        from: &Limbs,
        sources: usize,
        congruent: bool,
        out: &mut [u64],
    ) {
        let (q, table) = (self.ring.modulus(limb), self.ring.table(limb));
        if sources == 1 && !congruent {
            let lift = Lift { modulus: q.value(), threshold: q.value() / 2 };
            turns.part("one limb to another", || (self.kernels.lift)(q, out, from.row(0), &lift));
        } else {
            let count = sources + 1 + usize::from(congruent);
            let rows: Vec<&[u64]> = (0..count).map(|row| from.row(row)).collect();
            turns.part("several limbs to one", || {
                (self.kernels.convert)(q, out, &rows, q.bits(), &self.weights[..count], 0);
            });
        }
        turns.part("forward transform, open", || (self.kernels.ntt_forward_open)(table, out));
    }
}

/// A key switch at the top level.
pub(crate) fn key_switch<S: Testable>(r: &mut Roofline, f: &Fixture<S>, switched: Switched<'_>) {
    let (params, ring) = (&f.params, f.params.ring());
    let (degree, top) = (params.degree(), params.top_level());
    let (all, data) = (params.extended_limbs(top), params.limbs(top));
    let special = all.start..data.start;
    let own: Vec<Range<usize>> = params.digits(top).collect();
    let congruent = S::ID == SchemeId::Bgv;
    let (kernels, weights) = (Kernels::best(), vec![12_345; 40]);
    let conversions = Conversions { ring, kernels, congruent, weights };
    let (hoisted, map) = match switched {
        Switched::Product => (false, None),
        Switched::Rotated(map) => (false, Some(map.map())),
        Switched::Hoisted(map) => (true, Some(map.map())),
    };
    let limbs = |count: usize| Limbs::new(count, degree, SMALL);
    let (keys, held) =
        (limbs(2 * own.len() * all.len()), limbs(if hoisted { own.len() * all.len() } else { 1 }));
    let (mask, bodies) = (limbs(data.len()), [limbs(data.len()), limbs(data.len())]);
    let mut moved_mask = limbs(data.len());
    // Two rows more: for a quotient, and for a rest modulo t.
    let mut sources: Vec<Limbs> = own.iter().map(|own| limbs(own.len() + 2)).collect();
    let mut rows = limbs(own.len());
    let mut special_sums = [(); 2].map(|()| limbs(special.len()));
    let mut parts = [(); 2].map(|()| limbs(special.len() + 2));
    let mut out = [(); 2].map(|()| limbs(data.len()));
    let (mut sums, mut rest, mut moved) = ([limbs(1), limbs(1)], limbs(1), limbs(1));
    Turns::rounds(r, |turns| {
        if let Switched::Rotated(map) = switched {
            for row in 0..data.len() {
                turns.part("a limb moved by the automorphism", || {
                    (kernels.permute)(moved_mask.row_mut(row), mask.row(row), map.map());
                });
            }
        }
        if !hoisted {
            for (own, to) in own.iter().zip(&mut sources) {
                conversions.prepare(turns, own, &mask, to, false);
            }
        }
        for limb in all.clone() {
            if !hoisted {
                for ((own, from), row) in own.iter().zip(&sources).zip(rows.rows_mut()) {
                    if !own.contains(&limb) {
                        conversions.write(turns, limb, from, own.len(), false, row);
                    }
                }
            }
            let digit = |d: usize| match hoisted {
                true => held.row(d * all.len() + limb),
                false if own[d].contains(&limb) => mask.row(limb - data.start),
                false => rows.row(d),
            };
            let digits: Vec<&[u64]> = (0..own.len()).map(digit).collect();
            let key = |half: usize, d: usize| keys.row((half * own.len() + d) * all.len() + limb);
            let pairs: Vec<[&[u64]; 2]> = (0..own.len()).map(|d| [key(0, d), key(1, d)]).collect();
            let [first, second] = match limb < data.start {
                true => special_sums.each_mut().map(|sums| sums.row_mut(limb)),
                false => sums.each_mut().map(|sum| sum.row_mut(0)),
            };
            let moves = if hoisted { map } else { None };
            turns.part("digits times key, one limb", || {
                (kernels.inner_products)(ring.modulus(limb), [first, second], &digits, &pairs, moves);
            });
            if limb + 1 == data.start {
                for (sums, to) in special_sums.iter().zip(&mut parts) {
                    conversions.prepare(turns, &special, sums, to, conversions.congruent);
                }
            }
            if limb < data.start {
                continue;
            }
            let (q, row) = (ring.modulus(limb), limb - data.start);
            for (half, out) in out.iter_mut().enumerate() {
                let addend = match (map, half) {
                    (None, _) => Some(bodies[half].row(row)),
                    (Some(map), 0) => {
                        turns.part("a limb moved by the automorphism", || {
                            (kernels.permute)(moved.row_mut(0), bodies[0].row(row), map);
                        });
                        Some(moved.row(0))
                    }
                    (Some(_), _) => None,
                };
                let congruent = conversions.congruent;
                conversions.write(turns, limb, &parts[half], special.len(), congruent, rest.row_mut(0));
                turns.part("division by the special limbs", || {
                    let by = [q.factor(3), q.factor(5)];
                    (kernels.subtract_rest)(q, out.row_mut(row), sums[half].row(0), rest.row(0), by, addend);
                });
            }
        }
    });
}
