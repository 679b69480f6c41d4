//! Key switching and its final division by a prime, as separate kernels: see [`Turns`].

use core::ops::Range;

use sotto_conformance::{Fixture, Testable};
use sotto_ring::{Conversion, GaloisMap, Kernels, Modulus, Quotients, Ring, Scratch};
use sotto_rlwe::{Params, SchemeId};

use crate::parts::{Limbs, Roofline, SMALL};
use crate::turns::Turns;

/// The operand of a key switch.
#[derive(Clone, Copy)]
pub(crate) enum Switched<'a> {
    /// The last component of a product; the other two are added.
    Product,
    /// A mask that the automorphism moves first; the result is added to the moved body.
    Rotated(&'a GaloisMap),
    /// Existing digits, which the automorphism moves.
    Hoisted(&'a GaloisMap),
}

/// A conversion from some limbs of a ring, and its target limbs.
struct Converted<'a> {
    ring: &'a Ring,
    from: Range<usize>,
    to: Vec<usize>,
    conversion: Conversion,
}

impl<'a> Converted<'a> {
    /// A digit's conversion to the other limbs of the key.
    fn digit(ring: &'a Ring, from: Range<usize>, all: &Range<usize>) -> Self {
        let to: Vec<usize> = all.clone().filter(|limb| !from.contains(limb)).collect();
        let targets: Vec<Modulus> = to.iter().map(|limb| *ring.modulus(*limb)).collect();
        let conversion = Conversion::new(&ring.moduli(from.clone()), &targets);
        Self { ring, from, to, conversion }
    }

    /// The conversion from the dropped primes to the limbs that they divide: BGV's rest is a multiple of t.
    fn rest<S: Testable>(params: &'a Params<S>, from: Range<usize>, to: Range<usize>) -> Self {
        let ring = &**params.ring();
        let (sources, targets) = (ring.moduli(from.clone()), ring.moduli(to.clone()));
        let conversion = match S::ID {
            SchemeId::Bgv => {
                let t = Modulus::new(params.plain_modulus()).expect("a modulus");
                Conversion::congruent(&sources, &targets, &t).expect("coprime to t")
            }
            _ => Conversion::new(&sources, &targets),
        };
        Self { ring, from, to: to.collect(), conversion }
    }

    /// Transforms the source limbs back from Eval form, and computes the part that all targets share.
    fn prepare(&self, turns: &mut Turns, source: &Limbs, first: usize, scratch: &mut Scratch) -> Quotients {
        let mut rows = self.conversion.rows(self.ring.degree(), scratch);
        for (k, limb) in self.from.clone().enumerate() {
            turns.inverse(self.ring, limb, rows.row_mut(k), source.row(first + k));
        }
        turns.complete(self.ring, &self.conversion, rows)
    }

    /// Converts to one limb, unreduced, if it is a target.
    fn write(&self, turns: &mut Turns, quotients: &Quotients, limb: usize, out: &mut [u64]) {
        let Some(target) = self.to.iter().position(|to| *to == limb) else { return };
        let (kernels, table) = (self.ring.kernels(), self.ring.table(limb));
        turns.part("converted to one limb", || self.conversion.write(kernels, quotients, target, out));
        turns.part("forward transform, unreduced", || (kernels.ntt_forward_open)(table, out));
    }
}

/// The last step of a division of one limb.
fn divide(
    turns: &mut Turns,
    kernels: &Kernels,
    q: &Modulus,
    out: &mut [u64],
    [sum, rest]: [&[u64]; 2],
    addend: Option<&[u64]>,
) {
    let by = [q.factor(3), q.factor(5)];
    turns.part("division of a limb", || (kernels.subtract_rest)(q, out, Some(sum), rest, by, addend));
}

/// A key switch at the top level.
pub(crate) fn key_switch<S: Testable>(r: &mut Roofline, f: &Fixture<S>, switched: Switched<'_>) {
    let (params, ring) = (&f.params, f.params.ring());
    let (degree, top, kernels) = (params.degree(), params.top_level(), ring.kernels());
    let (all, data) = (params.extended_limbs(top), params.limbs(top));
    let special = all.start..data.start;
    let own: Vec<Converted<'_>> = params.digits(top).map(|own| Converted::digit(ring, own, &all)).collect();
    let division = Converted::rest(params, special.clone(), data.clone());
    let (hoisted, map) = match switched {
        Switched::Product => (false, None),
        Switched::Rotated(map) => (false, Some(map.map())),
        Switched::Hoisted(map) => (true, Some(map.map())),
    };
    let limbs = |count: usize| Limbs::new(count, degree, SMALL);
    let keys = limbs(2 * own.len() * all.len());
    let held = limbs(if hoisted { own.len() * all.len() } else { 1 });
    let (mask, bodies) = (limbs(data.len()), [limbs(data.len()), limbs(data.len())]);
    let (mut moved_mask, mut rows) = (limbs(data.len()), limbs(own.len()));
    let mut special_sums = [(); 2].map(|()| limbs(special.len()));
    let mut out = [(); 2].map(|()| limbs(data.len()));
    let (mut sums, mut rest, mut moved) = ([limbs(1), limbs(1)], limbs(1), limbs(1));
    let mut scratch = Scratch::new();
    Turns::rounds(r, |turns| {
        if let Switched::Rotated(map) = switched {
            for row in 0..data.len() {
                turns.part("a limb moved by the automorphism", || {
                    (kernels.permute)(moved_mask.row_mut(row), mask.row(row), map.map());
                });
            }
        }
        let source = if let Switched::Rotated(_) = switched { &moved_mask } else { &mask };
        let converted = if hoisted { &[][..] } else { &own[..] };
        let prepare =
            |own: &Converted<'_>| own.prepare(turns, source, own.from.start - data.start, &mut scratch);
        let digits: Vec<Quotients> = converted.iter().map(prepare).collect();
        let mut halves = Vec::new();
        for limb in all.clone() {
            for ((own, quotients), row) in converted.iter().zip(&digits).zip(rows.rows_mut()) {
                own.write(turns, quotients, limb, row);
            }
            let digit = |d: usize| match hoisted {
                true => held.row(d * all.len() + limb),
                false if own[d].from.contains(&limb) => source.row(limb - data.start),
                false => rows.row(d),
            };
            let operands: Vec<&[u64]> = (0..own.len()).map(digit).collect();
            let key = |half: usize, d: usize| keys.row((half * own.len() + d) * all.len() + limb);
            let pairs: Vec<[&[u64]; 2]> = (0..own.len()).map(|d| [key(0, d), key(1, d)]).collect();
            let [first, second] = match limb < data.start {
                true => special_sums.each_mut().map(|sums| sums.row_mut(limb)),
                false => sums.each_mut().map(|sum| sum.row_mut(0)),
            };
            let moves = if hoisted { map } else { None };
            turns.part("digits times key, one limb", || {
                (kernels.inner_products)(ring.modulus(limb), [first, second], &operands, &pairs, moves);
            });
            if limb < data.start {
                if limb + 1 == data.start {
                    halves.extend(
                        special_sums.iter().map(|sums| division.prepare(turns, sums, 0, &mut scratch)),
                    );
                }
                continue;
            }
            let row = limb - data.start;
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
                division.write(turns, &halves[half], limb, rest.row_mut(0));
                let operands = [sums[half].row(0), rest.row(0)];
                divide(turns, kernels, ring.modulus(limb), out.row_mut(row), operands, addend);
            }
        }
        digits.into_iter().chain(halves).for_each(|quotients| quotients.give(&mut scratch));
    });
}

/// Divides both components by the last prime.
pub(crate) fn drop_prime<S: Testable>(r: &mut Roofline, f: &Fixture<S>, level: usize) {
    let (params, ring) = (&f.params, f.params.ring());
    let (degree, kernels, data) = (params.degree(), ring.kernels(), params.limbs(level));
    let (last, kept) = (data.end - 1..data.end, data.start..data.end - 1);
    let division = Converted::rest(params, last, kept.clone());
    let components = [(); 2].map(|()| Limbs::new(data.len(), degree, SMALL));
    let mut out = [(); 2].map(|()| Limbs::new(kept.len(), degree, SMALL));
    let (mut rest, mut scratch) = (Limbs::new(1, degree, SMALL), Scratch::new());
    Turns::rounds(r, |turns| {
        for (component, out) in components.iter().zip(&mut out) {
            let quotients = division.prepare(turns, component, kept.len(), &mut scratch);
            for (row, limb) in kept.clone().enumerate() {
                division.write(turns, &quotients, limb, rest.row_mut(0));
                let operands = [component.row(row), rest.row(0)];
                divide(turns, kernels, ring.modulus(limb), out.row_mut(row), operands, None);
            }
            quotients.give(&mut scratch);
        }
    });
}
