//! `sotto eval` with the partially homomorphic schemes: runs the expression's operations one by one, if the scheme has
//! them.

mod agents;
mod elgamal;
mod emulated;
mod paillier;
mod ristretto;

use anyhow::{Context, bail};
use sotto_partial::encoding::wrap;
use sotto_program::{Op, ParsedExpression, Program, SlotShape, clear};

use super::parameters::Parameters;
use super::report::Report;
use super::trip::Trip;
use super::{Eval, EvalScheme};
use crate::phases::Phases;

/// The default key length in bits.
const KEY_BITS: u32 = 3072;

/// A scheme with a key. A method for an operation that the scheme lacks returns an error that names an alternative.
trait PartialScheme {
    type Ciphertext: Clone;
    fn encrypt(&self, value: i64) -> anyhow::Result<Self::Ciphertext>;
    fn add(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> anyhow::Result<Self::Ciphertext>;
    fn subtract(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> anyhow::Result<Self::Ciphertext>;
    fn negate(&self, a: &Self::Ciphertext) -> anyhow::Result<Self::Ciphertext> {
        self.subtract(&self.encrypt(0)?, a)
    }
    fn multiply(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> anyhow::Result<Self::Ciphertext>;
    fn open(&self, ciphertext: &Self::Ciphertext) -> anyhow::Result<Opened>;
    fn bytes(&self, ciphertext: &Self::Ciphertext) -> usize;
    fn parameters(&self) -> Parameters;
}

/// A decrypted answer. `wrapped_in` holds the bits of the message space if the clear answer does not fit.
struct Opened {
    value: i128,
    wrapped_in: Option<u32>,
}

pub(super) fn run(arguments: &Eval, parsed: &ParsedExpression) -> anyhow::Result<Report> {
    if arguments.plain_modulus.is_some() || arguments.degree.is_some() {
        bail!("{} has neither a plain modulus nor a degree: leave them out", arguments.scheme.name());
    }
    let bits = arguments.key_bits.unwrap_or(KEY_BITS);
    let mut phases = Phases::default();
    let program = &parsed.program;
    match arguments.scheme {
        EvalScheme::PaillierElgamal | EvalScheme::PaillierBlinded => emulated::run(arguments, parsed, bits),
        EvalScheme::Paillier => {
            let scheme = phases.time("key generation", || paillier::Paillier::new(bits))?;
            walk(arguments, parsed, &scheme, phases)
        }
        EvalScheme::Elgamal => {
            let scheme = phases.time("key generation", || elgamal::ElGamal::new(bits, degree(program)))?;
            walk(arguments, parsed, &scheme, phases)
        }
        _ => {
            if arguments.key_bits.is_some() {
                bail!("elgamal-ristretto has one curve: leave --key-bits out");
            }
            let scheme = phases.time("key generation", ristretto::Ristretto::new)?;
            walk(arguments, parsed, &scheme, phases)
        }
    }
}

fn walk<L: PartialScheme>(
    arguments: &Eval,
    parsed: &ParsedExpression,
    scheme: &L,
    mut phases: Phases,
) -> anyhow::Result<Report> {
    let inputs = parsed
        .literal_integers()
        .context("this scheme computes on whole numbers: scale the others, or use --scheme ckks")?;
    let expected = clear::run_integer(&parsed.program, &inputs, SlotShape::SCALAR, None)
        .context("the answer is beyond 128 bits")?[0][0];
    let (mut values, mut fresh_bytes) = (Vec::new(), 0);
    for input in &inputs {
        let value = i64::try_from(input[0]).context("a number is beyond 64 bits")?;
        let encrypted = phases.time("encrypt", || scheme.encrypt(value))?;
        fresh_bytes = scheme.bytes(&encrypted);
        values.push(encrypted);
    }
    let answer = phases.time("evaluate", || evaluate(&parsed.program, scheme, &values))?;
    let opened = phases.time("decrypt", || scheme.open(&answer))?;
    let trip = Trip {
        plain_modulus: None,
        result: opened.value.into(),
        bound: 0.0,
        parameters: scheme.parameters(),
        phases,
        fresh_bytes,
        result_bytes: scheme.bytes(&answer),
        key_bytes: 0,
        plan: String::new(),
    };
    let right = opened.wrapped_in.map_or(expected, |bits| wrap(expected, bits));
    let error = opened.value.abs_diff(right);
    let wrapped = opened.wrapped_in.is_some();
    Ok(Report::new(arguments, trip, expected.into(), wrapped, error as f64, 0.0))
}

fn evaluate<L: PartialScheme>(
    program: &Program,
    scheme: &L,
    inputs: &[L::Ciphertext],
) -> anyhow::Result<L::Ciphertext> {
    let mut nodes: Vec<L::Ciphertext> = Vec::new();
    for op in program.ops() {
        let node = match *op {
            Op::Input(input) => inputs[input.index()].clone(),
            Op::Add(a, b) => scheme.add(&nodes[a.index()], &nodes[b.index()])?,
            Op::Sub(a, b) => scheme.subtract(&nodes[a.index()], &nodes[b.index()])?,
            Op::Mul(a, b) => scheme.multiply(&nodes[a.index()], &nodes[b.index()])?,
            Op::Neg(a) => scheme.negate(&nodes[a.index()])?,
            Op::Constant(_) | Op::Rotate(..) | Op::Sum { .. } | Op::Table { .. } | Op::Sign { .. } => {
                bail!("`{}` is for slots and public numbers, which this scheme does not have", op.name())
            }
        };
        nodes.push(node);
    }
    let (_, output) = program.outputs().first().context("the expression has no answer")?;
    Ok(nodes[output.index()].clone())
}

/// Returns the number of inputs in the longest product.
fn degree(program: &Program) -> u32 {
    let mut degrees: Vec<u32> = Vec::new();
    for op in program.ops() {
        let mut operands = op.operands().map(|operand| degrees[operand.index()]);
        let degree = match op {
            Op::Input(_) => 1,
            // A negation multiplies by −1, which counts as a factor.
            Op::Neg(_) => operands.fold(1, u32::saturating_add),
            Op::Mul(..) => operands.fold(0, u32::saturating_add),
            _ => operands.by_ref().max().unwrap_or(0),
        };
        degrees.push(degree);
    }
    degrees.iter().copied().max().unwrap_or(1)
}

fn lacks(scheme: &str, operation: &str, instead: &str) -> anyhow::Error {
    anyhow::anyhow!("{scheme} cannot {operation} two ciphertexts: use --scheme {instead}")
}
