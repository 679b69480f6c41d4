//! Runs programs node by node, on ciphertexts at the top level. BFV has no levels to manage, as long as the noise fits.

use fhe::bfv::{Ciphertext, EvaluationKey, Multiplicator, Plaintext};
use fhe_traits::{FheDecrypter as _, FheEncoder as _, FheEncrypter as _};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::session::{Session, encoding};
use crate::{Failure, unsupported};

/// The nodes in order, and the positions of the outputs.
#[derive(Default, Deserialize)]
pub struct Program {
    nodes: Vec<Node>,
    outputs: Vec<usize>,
}

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
enum Node {
    Input { index: usize },
    Constant { values: Vec<i64> },
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

impl Session {
    pub fn verify(&mut self, program: &Program, inputs: &[Vec<i64>]) -> Result<Value, Failure> {
        let columns = self.params.degree() as i64 / 2;
        let step = |steps: &i64| steps.rem_euclid(columns) as usize;
        let mut steps: Vec<usize> = program.nodes.iter().filter_map(rotation).map(|s| step(&s)).collect();
        steps.retain(|step| *step != 0);
        let swaps = program.nodes.iter().any(|node| matches!(node, Node::SwapRows { .. }));
        let rotations = self.rotations(&steps, swaps)?;
        let multiplicator = Multiplicator::default(&self.relinearisation()?)?;
        let mut held: Vec<Held> = Vec::with_capacity(program.nodes.len());
        for node in &program.nodes {
            let value = self.run(node, &held, inputs, &rotations, &multiplicator)?;
            held.push(value);
        }
        let answer = |output: &usize| match held.get(*output) {
            Some(Held::Hidden(ciphertext)) => self.decoded(&self.secret.try_decrypt(ciphertext)?),
            _ => Err("no such output".into()),
        };
        let outputs = program.outputs.iter().map(answer).collect::<Result<Vec<_>, _>>()?;
        Ok(json!({ "outputs": outputs }))
    }

    fn run(
        &mut self,
        node: &Node,
        held: &[Held],
        inputs: &[Vec<i64>],
        rotations: &EvaluationKey,
        multiplicator: &Multiplicator,
    ) -> Result<Held, Failure> {
        let at = |position: usize| held.get(position).ok_or("a node reads a node that does not precede it");
        let hidden = |position: usize| match at(position)? {
            Held::Hidden(ciphertext) => Ok::<_, Failure>(ciphertext),
            Held::Public(_) => Err(unsupported()),
        };
        Ok(Held::Hidden(match node {
            Node::Input { index } => {
                let plain = self.spread(inputs.get(*index).ok_or("an input is missing")?, false)?;
                self.public.try_encrypt(&plain, &mut self.rng)?
            }
            Node::Constant { values } => return Ok(Held::Public(self.spread(values, true)?)),
            Node::Neg { a } => -hidden(*a)?.clone(),
            Node::Rotate { a, steps } => {
                let columns = self.params.degree() as i64 / 2;
                match steps.rem_euclid(columns) as usize {
                    0 => hidden(*a)?.clone(),
                    step => rotations.rotates_columns_by(hidden(*a)?, step)?,
                }
            }
            Node::SwapRows { a } => rotations.rotates_rows(hidden(*a)?)?,
            Node::Add { a, b } => match (at(*a)?, at(*b)?) {
                (Held::Hidden(a), Held::Hidden(b)) => a + b,
                (Held::Hidden(a), Held::Public(p)) | (Held::Public(p), Held::Hidden(a)) => a + p,
                _ => return Err(unsupported()),
            },
            Node::Sub { a, b } => match (at(*a)?, at(*b)?) {
                (Held::Hidden(a), Held::Hidden(b)) => a - b,
                (Held::Hidden(a), Held::Public(p)) => a - p,
                (Held::Public(p), Held::Hidden(b)) => &-b + p,
                _ => return Err(unsupported()),
            },
            Node::Mul { a, b } => match (at(*a)?, at(*b)?) {
                (Held::Hidden(a), Held::Hidden(b)) => multiplicator.multiply(a, b)?,
                (Held::Hidden(a), Held::Public(p)) | (Held::Public(p), Held::Hidden(a)) => a * p,
                _ => return Err(unsupported()),
            },
        }))
    }

    /// Encodes a full vector of slots: a constant of one value goes into every slot.
    fn spread(&self, values: &[i64], constant: bool) -> Result<Plaintext, Failure> {
        let t = self.params.plaintext() as i64;
        let mut slots: Vec<u64> = values.iter().map(|value| value.rem_euclid(t) as u64).collect();
        let rest = if constant && slots.len() == 1 { slots[0] } else { 0 };
        slots.resize(self.params.degree(), rest);
        Ok(Plaintext::try_encode(&slots, encoding(), &self.params)?)
    }
}

fn rotation(node: &Node) -> Option<i64> {
    if let Node::Rotate { steps, .. } = node { Some(*steps) } else { None }
}
