//! Chooses the scheme of each computation, and the requests to the recryptor.

use sotto_partial::encoding::Complement;
use sotto_program::{NodeId, Program};

use super::terms::{OutputTerm, Term, TermId, Terms};
use super::{Emulation, LARGEST_ELGAMAL_BITS, Products};
use crate::blind::BLINDING_BITS;
use crate::error::LowerError;
use crate::flow::{At, Flow, FlowStep};

/// The steps that hold a term's value, by scheme.
#[derive(Clone, Copy, Default)]
struct Registers {
    paillier: Option<At>,
    blinded: Option<At>,
    /// The step, and the number of factors multiplied in it.
    elgamal: Option<(At, u32)>,
}

struct Writer<'a> {
    terms: &'a Terms,
    steps: Vec<FlowStep>,
    nodes: Vec<NodeId>,
    places: Vec<Registers>,
    /// Maximum factors of a product under ElGamal.
    most_factors: u32,
    /// Bits by which a blinding number is longer than its range.
    blinding_bits: u32,
}

pub(super) fn write(emulation: &Emulation, program: &Program, terms: &Terms) -> Result<Flow, LowerError> {
    let products = || {
        let products = terms.used().map(|(_, known)| known);
        products.filter(|known| matches!(known.term, Term::Product(..)))
    };
    let mut writer = Writer {
        terms,
        steps: Vec::new(),
        nodes: Vec::new(),
        places: vec![Registers::default(); terms.all.len()],
        most_factors: 2,
        blinding_bits: 0,
    };
    let mut clear_bits = 0;
    if let Products::Converted { group_bits } = emulation.products {
        clear_bits = elgamal_bits(terms)?;
        let most =
            |factors: &u32| Complement::new(clear_bits, *factors, group_bits.saturating_sub(2)).is_ok();
        writer.most_factors = (2..=group_bits).take_while(most).last().ok_or(LowerError::NotSupported {
            what: "a product in a group this small",
            instead: "take the group of 2048 or 3072 bits",
        })?;
    } else {
        // At most two blinding numbers a product.
        let blinded = (2 * products().count()).next_power_of_two();
        writer.blinding_bits = BLINDING_BITS + blinded.trailing_zeros();
        let most = emulation.key_bits.saturating_sub(2);
        for known in products() {
            let Term::Product(a, b) = known.term else { continue };
            let bits = writer.blinding_for(a).max(writer.blinding_for(b));
            if bits > most {
                return Err(LowerError::BlindingRoom { at: known.node, bits, most });
            }
        }
    }
    let blinded = emulation.products == Products::Blinded;
    for (id, known) in terms.used() {
        writer.term(id, known.term, known.node, blinded);
    }
    let mut outputs = Vec::new();
    for ((name, node), answer) in program.outputs().iter().zip(&terms.answers) {
        let at = match *answer {
            OutputTerm::Public(value) => writer.push(FlowStep::Public(value), *node),
            OutputTerm::Term(term) => writer.paillier(term),
        };
        outputs.push((name.clone(), at));
    }
    let factors = writer.longest_product();
    let converts = writer.steps.iter().any(|step| matches!(step, FlowStep::ToElGamal(_)));
    let (code, group_bits) = match emulation.products {
        Products::Converted { group_bits } if converts => {
            (Complement::new(clear_bits, factors.max(2), group_bits - 2).ok(), group_bits)
        }
        _ => (None, 0),
    };
    let Writer { steps, nodes, .. } = writer;
    let inputs = program.inputs().len();
    Ok(Flow { steps, nodes, outputs, inputs, key_bits: emulation.key_bits, group_bits, code })
}

/// Returns the bits of every factor and product under ElGamal, with the sign.
fn elgamal_bits(terms: &Terms) -> Result<u32, LowerError> {
    let mut bits = 1;
    for (_, known) in terms.used() {
        let Term::Product(a, b) = known.term else { continue };
        let largest = known.bound.max(terms.all[a].bound).max(terms.all[b].bound);
        let needed = u128::BITS - largest.leading_zeros();
        if needed > LARGEST_ELGAMAL_BITS {
            return Err(LowerError::ElGamalRange {
                at: known.node,
                bits: needed,
                most: LARGEST_ELGAMAL_BITS,
            });
        }
        bits = bits.max(needed);
    }
    Ok(bits + 1)
}

impl Writer<'_> {
    fn push(&mut self, step: FlowStep, node: NodeId) -> At {
        self.steps.push(step);
        self.nodes.push(node);
        // A program has at most 100,000 nodes, and a node a handful of steps, so `u32` suffices.
        At((self.steps.len() - 1) as u32)
    }

    fn term(&mut self, id: TermId, term: Term, node: NodeId, blinded: bool) {
        let step = match term {
            Term::Product(a, b) if !blinded => {
                let [x, y] = self.factors(a, b);
                let at = self.push(FlowStep::Multiply(x.0, y.0), node);
                self.places[id].elgamal = Some((at, x.1 + y.1));
                return;
            }
            Term::Product(a, b) => {
                let factors = [self.paillier(a), self.paillier(b)];
                let blinded = [self.blinded(a), self.blinded(b)];
                let product = self.push(FlowStep::Product(blinded[0], blinded[1]), node);
                FlowStep::Unblind { product, factors, blinded }
            }
            Term::Input(input) => FlowStep::Input(input),
            Term::Sum(a, b) => FlowStep::Add(self.paillier(a), self.paillier(b)),
            Term::Difference(a, b) => FlowStep::Subtract(self.paillier(a), self.paillier(b)),
            Term::Shift(a, k) => FlowStep::AddPlain(self.paillier(a), k),
            Term::Scale(a, k) => FlowStep::Scale(self.paillier(a), k),
        };
        let at = self.push(step, node);
        self.places[id].paillier = Some(at);
    }

    /// Returns the step that holds a term under Paillier. Converts a product from ElGamal at most once.
    fn paillier(&mut self, term: TermId) -> At {
        match self.places[term] {
            Registers { paillier: Some(at), .. } => at,
            Registers { elgamal: Some((from, _)), .. } => {
                let at = self.push(FlowStep::ToPaillier(from), self.terms.all[term].node);
                self.places[term].paillier = Some(at);
                at
            }
            // Operands come first, so every term has a place.
            _ => At(0),
        }
    }

    /// Returns the step that holds a term under ElGamal, and its number of factors. Converts a term from
    /// Paillier at most once.
    fn elgamal(&mut self, term: TermId) -> (At, u32) {
        if let Some(place) = self.places[term].elgamal {
            return place;
        }
        let from = self.paillier(term);
        let place = (self.push(FlowStep::ToElGamal(from), self.terms.all[term].node), 1);
        self.places[term].elgamal = Some(place);
        place
    }

    /// Returns both factors under ElGamal. If their product would have too many factors, the longer one is
    /// converted to Paillier and back.
    fn factors(&mut self, a: TermId, b: TermId) -> [(At, u32); 2] {
        loop {
            let [x, y] = [a, b].map(|term| self.elgamal(term));
            if x.1 + y.1 <= self.most_factors {
                return [x, y];
            }
            let longer = if x.1 >= y.1 { a } else { b };
            self.paillier(longer);
            self.places[longer].elgamal = None;
        }
    }

    fn blinded(&mut self, term: TermId) -> At {
        if let Some(at) = self.places[term].blinded {
            return at;
        }
        let of = self.paillier(term);
        let at = self.push(FlowStep::Blind(of, self.blinding_for(term)), self.terms.all[term].node);
        self.places[term].blinded = Some(at);
        at
    }

    fn blinding_for(&self, term: TermId) -> u32 {
        u128::BITS - self.terms.all[term].bound.leading_zeros() + self.blinding_bits
    }

    /// Returns the maximum number of factors multiplied under ElGamal.
    fn longest_product(&self) -> u32 {
        let mut factors: Vec<u32> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let of = |at: At| factors[at.index()];
            factors.push(match *step {
                FlowStep::Multiply(a, b) => of(a) + of(b),
                _ => 1,
            });
        }
        factors.into_iter().max().unwrap_or(1)
    }
}
