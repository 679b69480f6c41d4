//! Runs programs node by node. The library aligns the scales and lengths of operands itself.

use poulpy_ckks::prelude::*;
use poulpy_core::layouts::LWEInfos as _;
use poulpy_hal::api::ScratchOwnedBorrow as _;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::backend::{Ciphertext, Plaintext, PreparedProductKey, PreparedRotationKey, Scratch};
use crate::session::Session;
use crate::{Failure, unsupported};
use std::collections::HashMap;

/// The nodes in order, the positions of the outputs, and the largest inputs.
#[derive(Default, Deserialize)]
pub struct Program {
    nodes: Vec<Node>,
    outputs: Vec<usize>,
    #[serde(default)]
    magnitudes: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
enum Node {
    Input { index: usize },
    Constant { values: Vec<f64> },
    Add { a: usize, b: usize },
    Sub { a: usize, b: usize },
    Mul { a: usize, b: usize },
    Neg { a: usize },
    Rotate { a: usize, steps: i64 },
    SwapRows { a: usize },
}

/// The value of a node.
enum Held {
    Hidden(Ciphertext),
    Public(Plaintext),
}

/// The keys and the work space of a run.
struct Run<'a> {
    session: &'a Session,
    product: PreparedProductKey,
    rotations: HashMap<i64, PreparedRotationKey>,
    /// Bits of an encoded value above its scale.
    room: usize,
    scratch: Scratch,
}

impl Session {
    pub fn verify(&self, program: &Program, inputs: &[Vec<f64>]) -> Result<Value, Failure> {
        let (maker, mut scratch) = (self.maker(), self.maker().scratch());
        let element = |node: &Node| match node {
            Node::Rotate { steps, .. } => Some(self.ring.ckks_galois_element(*steps)),
            Node::SwapRows { .. } => Some(-1),
            _ => None,
        };
        let elements: Vec<i64> = program.nodes.iter().filter_map(element).collect();
        let rotations = maker.rotation_keys(&elements, &self.secret, &mut scratch);
        let product = maker.product_key(&self.secret, &mut scratch);
        let product = maker.prepared_product_key(&product, &mut scratch);
        let mut run = Run { session: self, product, rotations, room: program.room(), scratch };
        let mut held: Vec<Held> = Vec::with_capacity(program.nodes.len());
        for node in &program.nodes {
            let value = run.node(node, &held, inputs)?;
            held.push(value);
        }
        let answer = |output: &usize| match held.get(*output) {
            Some(Held::Hidden(ciphertext)) => {
                maker.decrypt_decode(ciphertext, &self.secret, &mut maker.scratch())
            }
            _ => Err("no such output".into()),
        };
        let outputs = program.outputs.iter().map(answer).collect::<Result<Vec<_>, _>>()?;
        Ok(json!({ "outputs": outputs }))
    }
}

impl Program {
    /// Returns the bits that the largest input or constant has before the point, and its sign.
    fn room(&self) -> usize {
        let constants = self.nodes.iter().flat_map(|node| match node {
            Node::Constant { values } => values.as_slice(),
            _ => &[],
        });
        let largest =
            self.magnitudes.iter().chain(constants).fold(1.0, |most: f64, value| most.max(value.abs()));
        largest.log2().ceil() as usize + 2
    }
}

impl Run<'_> {
    fn node(&mut self, node: &Node, held: &[Held], inputs: &[Vec<f64>]) -> Result<Held, Failure> {
        let at = |position: usize| held.get(position).ok_or("a node reads a node that does not precede it");
        let hidden = |position: usize| match at(position)? {
            Held::Hidden(ciphertext) => Ok::<_, Failure>(ciphertext),
            Held::Public(_) => Err(unsupported()),
        };
        let maker = self.session.maker();
        let ring = &self.session.ring;
        Ok(Held::Hidden(match node {
            Node::Input { index } => {
                let slots = self.spread(inputs.get(*index).ok_or("an input is missing")?, false);
                let plain = maker.encode(&slots, self.room, &mut self.scratch)?;
                maker.encrypt_public(&plain, &self.session.public, &mut self.scratch)?
            }
            Node::Constant { values } => {
                let slots = self.spread(values, true);
                return Ok(Held::Public(maker.encode(&slots, self.room, &mut self.scratch)?));
            }
            Node::Neg { a } => {
                let a = hidden(*a)?;
                let mut made = maker.ciphertext(a.k().as_usize());
                ring.ckks_neg_into(&mut made, a, &mut self.scratch.borrow())?;
                made
            }
            Node::Rotate { a, steps } => {
                let a = hidden(*a)?;
                let mut made = maker.ciphertext(a.k().as_usize());
                ring.ckks_rotate_into(*steps, &mut made, a, &self.rotations, &mut self.scratch.borrow())?;
                made
            }
            Node::SwapRows { a } => {
                let a = hidden(*a)?;
                let mut made = maker.ciphertext(a.k().as_usize());
                ring.ckks_conjugate_into(&mut made, a, &self.rotations, &mut self.scratch.borrow())?;
                made
            }
            Node::Add { a, b } => self.add(at(*a)?, at(*b)?)?,
            Node::Sub { a, b } => self.subtract(at(*a)?, at(*b)?)?,
            Node::Mul { a, b } => self.multiply(at(*a)?, at(*b)?)?,
        }))
    }

    fn add(&mut self, a: &Held, b: &Held) -> Result<Ciphertext, Failure> {
        let (maker, ring) = (self.session.maker(), &self.session.ring);
        let scratch = &mut self.scratch.borrow();
        match (a, b) {
            (Held::Hidden(a), Held::Hidden(b)) => {
                let mut made = maker.ciphertext(a.k().as_usize().min(b.k().as_usize()));
                ring.ckks_add_into(&mut made, a, b, scratch)?;
                Ok(made)
            }
            (Held::Hidden(a), Held::Public(plain)) | (Held::Public(plain), Held::Hidden(a)) => {
                let mut made = maker.ciphertext(a.k().as_usize());
                ring.ckks_add_pt_vec_into(&mut made, a, plain, scratch)?;
                Ok(made)
            }
            _ => Err(unsupported()),
        }
    }

    fn subtract(&mut self, a: &Held, b: &Held) -> Result<Ciphertext, Failure> {
        let (maker, ring) = (self.session.maker(), &self.session.ring);
        let scratch = &mut self.scratch.borrow();
        match (a, b) {
            (Held::Hidden(a), Held::Hidden(b)) => {
                let mut made = maker.ciphertext(a.k().as_usize().min(b.k().as_usize()));
                ring.ckks_sub_into(&mut made, a, b, scratch)?;
                Ok(made)
            }
            (Held::Hidden(a), Held::Public(plain)) => {
                let mut made = maker.ciphertext(a.k().as_usize());
                ring.ckks_sub_pt_vec_into(&mut made, a, plain, scratch)?;
                Ok(made)
            }
            (Held::Public(plain), Held::Hidden(b)) => {
                let mut made = maker.ciphertext(b.k().as_usize());
                ring.ckks_sub_pt_vec_into(&mut made, b, plain, scratch)?;
                ring.ckks_neg_assign(&mut made)?;
                Ok(made)
            }
            _ => Err(unsupported()),
        }
    }

    fn multiply(&mut self, a: &Held, b: &Held) -> Result<Ciphertext, Failure> {
        let (maker, ring) = (self.session.maker(), &self.session.ring);
        let scale = self.session.parameters.scale_bits;
        let shorter = |k: usize| {
            k.checked_sub(scale).filter(|left| *left > scale).ok_or("no bits are left for a product")
        };
        let scratch = &mut self.scratch.borrow();
        match (a, b) {
            (Held::Hidden(a), Held::Hidden(b)) => {
                let mut made = maker.ciphertext(shorter(a.k().as_usize().min(b.k().as_usize()))?);
                ring.ckks_mul_into(&mut made, a, b, &self.product, scratch)?;
                Ok(made)
            }
            (Held::Hidden(a), Held::Public(plain)) | (Held::Public(plain), Held::Hidden(a)) => {
                let mut made = maker.ciphertext(shorter(a.k().as_usize())?);
                ring.ckks_mul_pt_vec_into(&mut made, a, plain, scratch)?;
                Ok(made)
            }
            _ => Err(unsupported()),
        }
    }

    /// Returns a full vector of slots: a constant of one value goes into every slot.
    fn spread(&self, values: &[f64], constant: bool) -> Vec<f64> {
        let rest = if constant && values.len() == 1 { values[0] } else { 0.0 };
        let mut slots = values.to_vec();
        slots.resize(self.session.parameters.degree / 2, rest);
        slots
    }
}
