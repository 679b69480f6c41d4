//! Flows: local operations and requests, in an executable order.

use sotto_partial::encoding::Complement;
use sotto_partial::recrypt::LARGEST_BATCH;
use sotto_program::{InputId, NodeId};

/// The position of a step in its flow.
///
/// Example: [`Flow`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct At(pub u32);

impl At {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// One step. Its operands are earlier steps. Values are under Paillier unless stated otherwise.
///
/// Example: [`Flow`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlowStep {
    /// An input of the program.
    Input(InputId),
    /// A public number that is an answer.
    Public(i128),
    /// a + b.
    Add(At, At),
    /// a − b.
    Subtract(At, At),
    /// a + k for a public k.
    AddPlain(At, i128),
    /// a·k for a public k.
    Scale(At, i128),
    /// a − r for a random r of this many bits.
    Blind(At, u32),
    /// Asks the recryptor for the product of two blinded numbers.
    Product(At, At),
    /// a·b, from the product of the blinded numbers.
    Unblind {
        /// The product of the blinded numbers.
        product: At,
        /// a and b.
        factors: [At; 2],
        /// a − r and b − s.
        blinded: [At; 2],
    },
    /// Asks the recryptor to convert a to ElGamal.
    ToElGamal(At),
    /// a·b under ElGamal.
    Multiply(At, At),
    /// Asks the recryptor to convert a to Paillier.
    ToPaillier(At),
}

impl FlowStep {
    /// Returns the step's name, for lists.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Input(_) => "input",
            Self::Public(_) => "public",
            Self::Add(..) => "add",
            Self::Subtract(..) => "subtract",
            Self::AddPlain(..) => "add-plain",
            Self::Scale(..) => "scale",
            Self::Blind(..) => "blind",
            Self::Product(..) => "ask-product",
            Self::Unblind { .. } => "unblind",
            Self::ToElGamal(_) => "ask-elgamal",
            Self::Multiply(..) => "multiply-elgamal",
            Self::ToPaillier(_) => "ask-paillier",
        }
    }

    /// Returns true if the recryptor performs the step.
    pub fn is_request(&self) -> bool {
        matches!(self, Self::Product(..) | Self::ToElGamal(_) | Self::ToPaillier(_))
    }

    /// Returns the steps that it reads.
    pub fn operands(&self) -> impl Iterator<Item = At> + use<> {
        let operands = match *self {
            Self::Input(_) | Self::Public(_) => [None; 5],
            Self::AddPlain(a, _)
            | Self::Scale(a, _)
            | Self::Blind(a, _)
            | Self::ToElGamal(a)
            | Self::ToPaillier(a) => [Some(a), None, None, None, None],
            Self::Add(a, b) | Self::Subtract(a, b) | Self::Product(a, b) | Self::Multiply(a, b) => {
                [Some(a), Some(b), None, None, None]
            }
            Self::Unblind { product, factors: [a, b], blinded: [x, y] } => {
                [Some(product), Some(a), Some(b), Some(x), Some(y)]
            }
        };
        operands.into_iter().flatten()
    }

    /// Returns rough microseconds at 3,072 bits, only to order the work: an inversion and a mask cost about
    /// the same, a multiplication very little, a trip the most.
    fn cost(&self) -> u64 {
        match self {
            Self::Input(_) => 0,
            Self::Add(..) | Self::Multiply(..) | Self::AddPlain(..) => 20,
            Self::Scale(..) => 500,
            Self::Public(_) | Self::Blind(..) | Self::Subtract(..) => 1000,
            Self::Unblind { .. } => 2000,
            Self::Product(..) | Self::ToElGamal(_) | Self::ToPaillier(_) => 20_000,
        }
    }
}

/// A number that the recryptor sees in the clear.
///
/// ```
/// use sotto_emulate::{Emulation, LowerError, Products, Seen};
/// use sotto_program::{ParseOptions, parse};
///
/// let inputs = ParseOptions { undeclared: Some(1000.0), ..ParseOptions::default() };
/// let power = parse("volts*amperes", &inputs)?.program;
/// let shown = |products| -> Result<Vec<Seen>, LowerError> {
///     Ok(Emulation { key_bits: 2048, products }.lower(&power)?.seen())
/// };
/// // Both factors and the product are converted between the schemes.
/// assert_eq!(shown(Products::Converted { group_bits: 2048 })?.len(), 3);
/// assert!(shown(Products::Blinded)?.is_empty());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The program's node whose value it is, up to a public factor.
    pub node: NodeId,
    /// The step that reveals it: [`FlowStep::ToElGamal`] or [`FlowStep::ToPaillier`].
    pub step: At,
}

/// A program lowered to the partially homomorphic schemes. Only [`crate::Emulation::lower`] makes flows, so
/// that every operand exists and is under the right scheme.
///
/// ```
/// use sotto_emulate::{At, Emulation, Products, FlowStep};
/// use sotto_program::{ParseOptions, parse};
///
/// let inputs = ParseOptions { undeclared: Some(1000.0), ..ParseOptions::default() };
/// let total = parse("3*indoors + outdoors", &inputs)?.program;
/// let flow = Emulation { key_bits: 2048, products: Products::Blinded }.lower(&total)?;
/// assert!(flow.steps().contains(&FlowStep::Scale(At(0), 3)));
/// assert_eq!(flow.outputs()[0].1, At(3)); // after two inputs and the product
/// assert_eq!((flow.requests(), flow.rounds()), (0, 0)); // needs no recryptor
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Flow {
    pub(crate) steps: Vec<FlowStep>,
    /// The program's node of each step.
    pub(crate) nodes: Vec<NodeId>,
    pub(crate) outputs: Vec<(String, At)>,
    pub(crate) inputs: usize,
    pub(crate) key_bits: u32,
    /// Bits of the ElGamal group; 0 if none is needed.
    pub(crate) group_bits: u32,
    /// The encoding of numbers under ElGamal.
    pub(crate) code: Option<Complement>,
}

impl Flow {
    /// Returns the steps, in an executable order.
    pub fn steps(&self) -> &[FlowStep] {
        &self.steps
    }

    /// Returns the answers by name.
    pub fn outputs(&self) -> &[(String, At)] {
        &self.outputs
    }

    /// Returns the encoding of numbers under ElGamal, if there are any.
    pub fn code(&self) -> Option<Complement> {
        self.code
    }

    /// Returns the number of requests to the recryptor.
    pub fn requests(&self) -> usize {
        self.steps.iter().filter(|step| step.is_request()).count()
    }

    /// Returns the numbers that the recryptor sees in the clear: all that it converts, but not the blinded
    /// ones that it multiplies.
    pub fn seen(&self) -> Vec<Seen> {
        let converts = |step: &FlowStep| matches!(step, FlowStep::ToElGamal(_) | FlowStep::ToPaillier(_));
        let seen = |(step, (kind, node)): (u32, (&FlowStep, &NodeId))| {
            converts(kind).then_some(Seen { node: *node, step: At(step) })
        };
        (0..).zip(self.steps.iter().zip(&self.nodes)).filter_map(seen).collect()
    }

    /// Returns the number of blinded numbers that the recryptor decrypts.
    pub fn blinded(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step, FlowStep::Blind(..))).count()
    }

    /// Returns the number of trips that must follow one another, if a trip could carry any number of requests
    /// (the limit is [`LARGEST_BATCH`]).
    pub fn rounds(&self) -> usize {
        let mut rounds: Vec<usize> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let before = step.operands().map(|at| rounds[at.index()]).max().unwrap_or(0);
            rounds.push(before + usize::from(step.is_request()));
        }
        rounds.into_iter().max().unwrap_or(0)
    }

    /// Returns, for each step, the cost of the most expensive way from its start to an answer. Steps with the
    /// highest cost go first.
    pub(crate) fn ranks(&self) -> Vec<u64> {
        let mut ranks: Vec<u64> = vec![0; self.steps.len()];
        for (at, step) in self.steps.iter().enumerate().rev() {
            // Readers come later, so that they have already updated this rank.
            ranks[at] += step.cost();
            for operand in step.operands() {
                ranks[operand.index()] = ranks[operand.index()].max(ranks[at]);
            }
        }
        ranks
    }
}

impl std::fmt::Display for Flow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let requests = self.requests();
        writeln!(
            f,
            "{} steps, of which {requests} ask the recryptor, in {} trips one after another (at most {LARGEST_BATCH} requests a trip)",
            self.steps.len(),
            self.rounds()
        )?;
        let mut nodes: Vec<u32> = self.seen().iter().map(|seen| seen.node.0).collect();
        let seen = nodes.len();
        nodes.sort_unstable();
        nodes.dedup();
        match seen {
            0 => writeln!(
                f,
                "the recryptor sees no value in clear, and {} blinded ones, which reveal nothing to within 2^-80",
                self.blinded()
            )?,
            _ => {
                let listed: Vec<String> = nodes.iter().take(16).map(u32::to_string).collect();
                let more = if nodes.len() > 16 { " …" } else { "" };
                writeln!(
                    f,
                    "the recryptor sees {seen} values in clear: of nodes {}{more}",
                    listed.join(", ")
                )?;
            }
        }
        for (at, step) in self.steps.iter().enumerate().take(64) {
            let operands: Vec<String> = step.operands().map(|at| at.0.to_string()).collect();
            let line = format!("{at:>5}  {:<17} {}", step.name(), operands.join(" "));
            writeln!(f, "{}", line.trim_end())?;
        }
        if self.steps.len() > 64 {
            writeln!(f, "  … {} more", self.steps.len() - 64)?;
        }
        Ok(())
    }
}
