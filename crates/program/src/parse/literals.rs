//! Literals and names, as inputs and constants.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use super::error::ParseErrorKind;
use super::{Literals, ParseOptions};
use crate::text::Number;
use crate::{
    Constant, InputDeclaration, InputId, NodeId, ProgramBuilder, ProgramError, is_name, limits, text,
};

/// A literal of an expression that became an encrypted input.
///
/// Example: [`crate::ParsedExpression`]
#[derive(Clone, Debug, PartialEq)]
pub struct LiteralInput {
    /// The input that stands for it.
    pub input: InputId,
    /// The value: one number, or the values of a vector.
    pub value: Constant,
    /// The literal's text.
    pub text: String,
}

/// The sources of a program's values: named inputs, literals as inputs, constants.
pub(super) struct Sources<'o> {
    options: &'o ParseOptions,
    by_name: BTreeMap<String, InputId>,
    /// The node that reads each named input, once it exists.
    read: BTreeMap<InputId, NodeId>,
    pub(super) literal_inputs: Vec<LiteralInput>,
}

impl<'o> Sources<'o> {
    /// Declares the inputs of the options.
    pub(super) fn new(options: &'o ParseOptions, asked: &mut ProgramBuilder) -> Self {
        asked.parts.inputs = options.inputs.clone();
        let id = |(index, input): (usize, &InputDeclaration)| (input.name.clone(), InputId::at(index));
        let by_name = options.inputs.iter().enumerate().map(id).collect();
        Self { options, by_name, read: BTreeMap::new(), literal_inputs: Vec::new() }
    }

    /// Returns the node of a named input. Declares the input if undeclared names are allowed.
    pub(super) fn named(&mut self, name: &str, asked: &mut ProgramBuilder) -> Result<NodeId, ParseErrorKind> {
        let input = match (self.by_name.get(name), self.options.undeclared) {
            (Some(&input), _) => input,
            (None, None) => return Err(self.unknown(name)),
            (None, Some(_)) if !is_name(name) => {
                return Err(ProgramError::Name { what: "input", name: text::excerpt(name) }.into());
            }
            (None, Some(magnitude)) => {
                let input = declare(name, magnitude, asked)?;
                self.by_name.insert(name.into(), input);
                input
            }
        };
        Ok(*self.read.entry(input).or_insert_with(|| asked.read(input)))
    }

    /// Returns the node of a literal number or vector.
    pub(super) fn literal(
        &mut self,
        numbers: &[Number],
        text: &str,
        asked: &mut ProgramBuilder,
    ) -> Result<NodeId, ParseErrorKind> {
        let value = constant(numbers);
        match self.options.literals {
            Literals::Public => Ok(asked.constant(value)),
            Literals::Encrypted => {
                let input = declare("", value.magnitude(), asked)?;
                self.literal_inputs.push(LiteralInput { input, value, text: text.into() });
                Ok(asked.read(input))
            }
        }
    }

    /// Names the inputs that were literals `x0`, `x1` …, skipping names that the expression uses.
    pub(super) fn name_literals(&self, asked: &mut ProgramBuilder) {
        let inputs = &mut asked.parts.inputs;
        let taken: BTreeSet<String> = inputs.iter().map(|input| input.name.clone()).collect();
        let free = (0u32..).map(|number| format!("x{number}")).filter(|name| !taken.contains(name));
        for (literal, name) in self.literal_inputs.iter().zip(free) {
            inputs[literal.input.index()].name = name;
        }
    }

    fn unknown(&self, name: &str) -> ParseErrorKind {
        const SHOWN: usize = 8;
        let mut names: Vec<&str> = self.by_name.keys().map(String::as_str).take(SHOWN).collect();
        if self.by_name.len() > SHOWN {
            names.push("…");
        }
        let known = match names.as_slice() {
            [] => "there are no named inputs: expected a number or a function".into(),
            names => format!("expected one of {}", names.join(", ")),
        };
        ParseErrorKind::UnknownName { name: text::excerpt(name), known }
    }
}

fn declare(name: &str, magnitude: f64, asked: &mut ProgramBuilder) -> Result<InputId, ParseErrorKind> {
    if asked.parts.inputs.len() >= limits::INPUTS {
        return Err(ParseErrorKind::Inputs);
    }
    Ok(asked.declare(name, magnitude))
}

/// Makes a constant of these numbers: of integers if all are whole, else of reals.
fn constant(numbers: &[Number]) -> Constant {
    match numbers.iter().map(|number| number.whole).collect() {
        Some(whole) => Constant::Integers(whole),
        None => Constant::Reals(numbers.iter().map(|number| number.real).collect()),
    }
}
