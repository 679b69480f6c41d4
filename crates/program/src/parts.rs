//! The parts of a program.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::{Constant, KeyNumber, NodeId, Op};

/// An encrypted input and its public properties.
///
/// ```
/// use sotto_program::{InputDeclaration, ProgramBuilder};
///
/// let mut asked = ProgramBuilder::new();
/// let inlet = asked.input("inlet", 120.0); // |value| ≤ 120 °C
/// asked.output("inlet", inlet);
/// assert_eq!(asked.finish()?.inputs(), [InputDeclaration::new("inlet", 120.0)]);
/// # Ok::<(), sotto_program::ProgramError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InputDeclaration {
    /// The name: see [`crate::is_name`].
    pub name: String,
    /// The declared upper bound on |value|, in the program's unit (for integers, after quantisation). Finite, at least
    /// 0.
    pub magnitude: f64,
    /// The number of the input's secret key. It does not affect the program's meaning.
    #[serde(default)]
    pub key: KeyNumber,
}

impl InputDeclaration {
    /// Declares an input under the answer's key, with every |value| at most `magnitude`.
    #[must_use]
    pub fn new(name: impl Into<String>, magnitude: f64) -> Self {
        Self { name: name.into(), magnitude, key: KeyNumber::ANSWER }
    }

    /// Returns the same input under another key.
    #[must_use]
    pub fn under(self, key: KeyNumber) -> Self {
        Self { key, ..self }
    }
}

/// The parts of a [`Program`](crate::Program), not yet checked.
///
/// ```
/// use sotto_program::{InputDeclaration, InputId, NodeId, Op, Program, ProgramError, ProgramParts};
///
/// let mut parts = ProgramParts {
///     ops: vec![Op::Input(InputId(0)), Op::Mul(NodeId(0), NodeId(0))],
///     inputs: vec![InputDeclaration::new("load", 127.0)],
///     ..ProgramParts::default()
/// };
/// assert_eq!(Program::new(parts.clone()), Err(ProgramError::NoOutputs));
/// parts.outputs.push(("square".into(), NodeId(1)));
/// assert!(Program::new(parts).is_ok());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProgramParts {
    /// Operations; node `i` is `ops[i]` and reads only earlier nodes.
    pub ops: Vec<Op>,
    /// Encrypted inputs, in the order in which the caller passes them.
    pub inputs: Vec<InputDeclaration>,
    /// Public constants.
    pub constants: Vec<Constant>,
    /// Outputs, by name.
    pub outputs: Vec<(String, NodeId)>,
}
