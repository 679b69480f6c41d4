//! Terms: the values to compute, up to public factors, with their bounds.

use std::collections::HashMap;

use sotto_program::{Constant, InputId, KeyNumber, NodeId, Op, Program, SlotShape};

use super::LARGEST_CLEAR_BITS;
use crate::error::LowerError;

/// The position of a term.
pub(super) type TermId = usize;

/// A value that is not public.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Term {
    Input(InputId),
    Sum(TermId, TermId),
    Difference(TermId, TermId),
    Shift(TermId, i128),
    Scale(TermId, i128),
    Product(TermId, TermId),
}

impl Term {
    fn operands(self) -> [Option<TermId>; 2] {
        match self {
            Self::Input(_) => [None; 2],
            Self::Shift(a, _) | Self::Scale(a, _) => [Some(a), None],
            Self::Sum(a, b) | Self::Difference(a, b) | Self::Product(a, b) => [Some(a), Some(b)],
        }
    }
}

/// A term, the largest size of its value, and the first node that needs it.
pub(super) struct Known {
    pub(super) term: Term,
    pub(super) bound: u128,
    pub(super) node: NodeId,
    /// True if an answer reads it: a term may vanish, as in x − x.
    pub(super) used: bool,
}

/// A node's value: public, or a term times a public factor other than zero.
#[derive(Clone, Copy)]
enum Number {
    Public(i128),
    Secret { factor: i128, term: TermId },
}

/// An answer: a public number or a term.
pub(super) enum OutputTerm {
    Public(i128),
    Term(TermId),
}

/// The terms of a program, each once, operands first.
pub(super) struct Terms {
    pub(super) all: Vec<Known>,
    pub(super) answers: Vec<OutputTerm>,
    ids: HashMap<Term, TermId>,
    /// The largest size that a value may have.
    limit: u128,
    most: u32,
}

impl Terms {
    pub(super) fn of(program: &Program, key_bits: u32) -> Result<Self, LowerError> {
        program.fits(SlotShape::SCALAR)?;
        if program.inputs().iter().any(|input| input.key != KeyNumber::ANSWER) {
            return Err(LowerError::NotSupported {
                what: "an input under another key",
                instead: "encrypt all inputs under one key",
            });
        }
        // Plaintexts are from −n/2 to n/2.
        let most = LARGEST_CLEAR_BITS.min(key_bits.saturating_sub(2));
        let mut terms =
            Self { all: Vec::new(), answers: Vec::new(), ids: HashMap::new(), limit: (1 << most) - 1, most };
        let needed = needed(program);
        let mut numbers: Vec<Number> = Vec::with_capacity(program.ops().len());
        for (node, op) in program.nodes() {
            let number = if needed[node.index()] {
                terms.number(program, node, op, &numbers)?
            } else {
                Number::Public(0)
            };
            numbers.push(number);
        }
        for (_, node) in program.outputs() {
            let answer = match numbers[node.index()] {
                Number::Public(value) => OutputTerm::Public(value),
                Number::Secret { factor, term } => OutputTerm::Term(terms.scaled(*node, factor, term)?),
            };
            terms.answers.push(answer);
        }
        terms.mark_used();
        Ok(terms)
    }

    /// Returns the terms that an answer reads.
    pub(super) fn used(&self) -> impl Iterator<Item = (TermId, &Known)> {
        self.all.iter().enumerate().filter(|(_, known)| known.used)
    }

    fn mark_used(&mut self) {
        for answer in &self.answers {
            if let OutputTerm::Term(term) = answer {
                self.all[*term].used = true;
            }
        }
        for id in (0..self.all.len()).rev() {
            if self.all[id].used {
                for operand in self.all[id].term.operands().into_iter().flatten() {
                    self.all[operand].used = true;
                }
            }
        }
    }

    fn number(
        &mut self,
        program: &Program,
        at: NodeId,
        op: Op,
        numbers: &[Number],
    ) -> Result<Number, LowerError> {
        let of = |node: NodeId| numbers[node.index()];
        let number = match op {
            Op::Input(id) => {
                let magnitude = program.inputs()[id.index()].magnitude;
                // Whole numbers up to a bound are at most its floor. The cast saturates beyond 128 bits.
                let term = self.add(at, Term::Input(id), Some(magnitude.floor() as u128))?;
                Number::Secret { factor: 1, term }
            }
            Op::Constant(id) => match &program.constants()[id.index()] {
                Constant::Integers(values) => Number::Public(values.first().copied().unwrap_or(0)),
                Constant::Reals(_) => {
                    return Err(LowerError::NotSupported {
                        what: "a constant that is not a whole number",
                        instead: "scale it, or compute on reals (CKKS)",
                    });
                }
            },
            Op::Add(a, b) => self.sum(at, of(a), of(b))?,
            Op::Sub(a, b) => {
                let minus = negative(of(b)).ok_or(self.too_large(at))?;
                self.sum(at, of(a), minus)?
            }
            Op::Neg(a) => negative(of(a)).ok_or(self.too_large(at))?,
            Op::Mul(a, b) => self.product(at, of(a), of(b))?,
            // The program fits single values, so there are no neighbouring slots.
            Op::Rotate(a, _) | Op::Sum { of: a, .. } => of(a),
            Op::Sign { .. } => {
                return Err(LowerError::NotSupported {
                    what: "the sign of a real",
                    instead: "compute it in CKKS",
                });
            }
            Op::Table { .. } => {
                return Err(LowerError::NotSupported {
                    what: "a look-up in a table",
                    instead: "compute it in BFV or BGV",
                });
            }
        };
        let size = match number {
            Number::Public(value) => Some(value.unsigned_abs()),
            Number::Secret { factor, term } => factor.unsigned_abs().checked_mul(self.all[term].bound),
        };
        if size.is_some_and(|size| size <= self.limit) { Ok(number) } else { Err(self.too_large(at)) }
    }

    fn sum(&mut self, at: NodeId, a: Number, b: Number) -> Result<Number, LowerError> {
        use Number::{Public, Secret};
        match (a, b) {
            (Public(a), Public(b)) => Ok(Public(a.checked_add(b).ok_or(self.too_large(at))?)),
            (number, Public(0)) | (Public(0), number) => Ok(number),
            (Secret { factor, term }, Public(k)) | (Public(k), Secret { factor, term }) => {
                // If the factor divides k, k = factor·(k/factor); otherwise the factor is multiplied in
                // first.
                let whole = k.checked_rem(factor) == Some(0);
                let (factor, term, k) =
                    if whole { (factor, term, k / factor) } else { (1, self.scaled(at, factor, term)?, k) };
                let bound = self.all[term].bound.checked_add(k.unsigned_abs());
                Ok(Secret { factor, term: self.add(at, Term::Shift(term, k), bound)? })
            }
            (Secret { factor: x, term: a }, Secret { factor: y, term: b }) => {
                if a == b {
                    let factor = x.checked_add(y).ok_or(self.too_large(at))?;
                    return Ok(if factor == 0 { Public(0) } else { Secret { factor, term: a } });
                }
                let (factor, term) = if x == y {
                    (x, Term::Sum(a.min(b), a.max(b)))
                } else if x.checked_neg() == Some(y) {
                    (x, Term::Difference(a, b))
                } else if y == -1 {
                    (1, Term::Difference(self.scaled(at, x, a)?, b))
                } else if x == -1 {
                    (1, Term::Difference(self.scaled(at, y, b)?, a))
                } else {
                    let (a, b) = (self.scaled(at, x, a)?, self.scaled(at, y, b)?);
                    (1, Term::Sum(a.min(b), a.max(b)))
                };
                let bound = match term {
                    Term::Sum(a, b) | Term::Difference(a, b) => {
                        self.all[a].bound.checked_add(self.all[b].bound)
                    }
                    _ => None,
                };
                Ok(Secret { factor, term: self.add(at, term, bound)? })
            }
        }
    }

    fn product(&mut self, at: NodeId, a: Number, b: Number) -> Result<Number, LowerError> {
        use Number::{Public, Secret};
        let times = |x: i128, y: i128| x.checked_mul(y).ok_or(self.too_large(at));
        match (a, b) {
            (Public(a), Public(b)) => Ok(Public(times(a, b)?)),
            (_, Public(0)) | (Public(0), _) => Ok(Public(0)),
            (Secret { factor, term }, Public(k)) | (Public(k), Secret { factor, term }) => {
                Ok(Secret { factor: times(factor, k)?, term })
            }
            (Secret { factor: x, term: a }, Secret { factor: y, term: b }) => {
                let factor = times(x, y)?;
                let bound = self.all[a].bound.checked_mul(self.all[b].bound);
                Ok(Secret { factor, term: self.add(at, Term::Product(a.min(b), a.max(b)), bound)? })
            }
        }
    }

    /// Returns the term with its factor multiplied in.
    fn scaled(&mut self, at: NodeId, factor: i128, term: TermId) -> Result<TermId, LowerError> {
        if factor == 1 {
            return Ok(term);
        }
        let bound = self.all[term].bound.checked_mul(factor.unsigned_abs());
        self.add(at, Term::Scale(term, factor), bound)
    }

    fn add(&mut self, node: NodeId, term: Term, bound: Option<u128>) -> Result<TermId, LowerError> {
        let bound = bound.filter(|bound| *bound <= self.limit).ok_or(self.too_large(node))?;
        let id = *self.ids.entry(term).or_insert(self.all.len());
        if id == self.all.len() {
            self.all.push(Known { term, bound, node, used: false });
        }
        Ok(id)
    }

    fn too_large(&self, at: NodeId) -> LowerError {
        LowerError::Range { at, most: self.most }
    }
}

/// Returns, for each node, true if an answer reads it.
fn needed(program: &Program) -> Vec<bool> {
    let mut needed = vec![false; program.ops().len()];
    for (_, node) in program.outputs() {
        needed[node.index()] = true;
    }
    for (at, op) in program.ops().iter().enumerate().rev() {
        if needed[at] {
            op.operands().for_each(|operand| needed[operand.index()] = true);
        }
    }
    needed
}

fn negative(number: Number) -> Option<Number> {
    Some(match number {
        Number::Public(value) => Number::Public(value.checked_neg()?),
        Number::Secret { factor, term } => Number::Secret { factor: factor.checked_neg()?, term },
    })
}
