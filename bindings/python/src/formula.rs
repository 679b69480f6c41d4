//! Programs of the crate `sotto-program`: the text form of computations.

use pyo3::exceptions::{PyIndexError, PyOverflowError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use sotto_program::passes::simplify;
use sotto_program::{
    Constant, InputDeclaration, InputId, NodeId, Op, ParseOptions, Program, ProgramBuilder, parse,
};

use crate::error::named;

/// A program in SSA form: operations on vectors, without any scheme.
#[pyclass(frozen, eq, module = "sotto._native")]
pub(crate) struct Formula(Program);

/// Compares programs after all passes: shared and unused operations make no difference.
impl PartialEq for Formula {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || matches!((simplify(&self.0), simplify(&other.0)), (Ok(a), Ok(b)) if a == b)
    }
}

/// A name and a bound on the absolute values.
type Input = (String, f64);

/// A public constant.
#[derive(FromPyObject)]
enum Values {
    Integers(Vec<i128>),
    Reals(Vec<f64>),
}

#[pymethods]
impl Formula {
    /// Parses an expression. `sum(e)` adds `sum_width` values.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str, inputs: Vec<Input>, sum_width: Option<u32>) -> PyResult<Self> {
        let inputs = inputs.into_iter().map(|(name, bound)| InputDeclaration::new(name, bound)).collect();
        let options = ParseOptions { inputs, sum_width, ..ParseOptions::default() };
        let parsed = parse(text, &options).map_err(|error| named(py, "BadFormula", error.to_string()))?;
        Ok(Self(parsed.program))
    }

    /// Returns the names in an expression, in the order of the text.
    #[staticmethod]
    fn names(py: Python<'_>, text: &str) -> PyResult<Vec<String>> {
        let options = ParseOptions { undeclared: Some(1.0), sum_width: Some(1), ..ParseOptions::default() };
        let parsed = parse(text, &options).map_err(|error| named(py, "BadFormula", error.to_string()))?;
        Ok(parsed.program.inputs().iter().map(|input| input.name.clone()).collect())
    }

    /// Returns the operations as tuples: a name, then operands, constants and numbers. The last one is the result.
    fn nodes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let output = self.0.outputs().first().map(|(_, node)| *node);
        let nodes = self.0.nodes().filter(|(node, _)| output.is_none_or(|last| *node <= last));
        let tuples = nodes.map(|(_, op)| self.node(py, op)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, tuples)
    }

    /// Products one after another: of two encrypted values, and of any two.
    #[getter]
    fn depth(&self) -> (u32, u32) {
        let depth = self.0.depth();
        (depth.encrypted, depth.any)
    }

    /// The names of the inputs.
    #[getter]
    fn inputs(&self) -> Vec<&str> {
        self.0.inputs().iter().map(|input| input.name.as_str()).collect()
    }
}

impl Formula {
    fn node<'py>(&self, py: Python<'py>, op: Op) -> PyResult<Bound<'py, PyTuple>> {
        let name = op.name();
        match op {
            Op::Input(input) => (name, input.index()).into_pyobject(py),
            Op::Constant(constant) => match &self.0.constants()[constant.index()] {
                Constant::Integers(values) => (name, values.clone()).into_pyobject(py),
                Constant::Reals(values) => (name, values.clone()).into_pyobject(py),
            },
            Op::Add(a, b) | Op::Sub(a, b) | Op::Mul(a, b) => (name, a.0, b.0).into_pyobject(py),
            Op::Neg(a) => (name, a.0).into_pyobject(py),
            Op::Rotate(a, steps) => (name, a.0, steps).into_pyobject(py),
            Op::Sum { of, width } => (name, of.0, width).into_pyobject(py),
            Op::Table { of, values, first, .. } => (name, of.0, values.0, first).into_pyobject(py),
            Op::Sign { of, gap_bits } => (name, of.0, gap_bits).into_pyobject(py),
        }
    }
}

/// Collects operations, numbered from 0.
#[pyclass(module = "sotto._native")]
#[derive(Default)]
pub(crate) struct FormulaBuilder(ProgramBuilder);

impl FormulaBuilder {
    fn checked(&self, node: u32) -> PyResult<NodeId> {
        if (node as usize) < self.0.len() {
            return Ok(NodeId(node));
        }
        Err(PyIndexError::new_err(format!("no operation number {node}")))
    }
}

#[pymethods]
impl FormulaBuilder {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Declares an input.
    fn declare(&mut self, name: String, bound: f64) -> u32 {
        self.0.declare(name, bound).0
    }

    /// Reads an input.
    fn input(&mut self, number: u32) -> u32 {
        self.0.read(InputId(number)).0
    }

    fn constant(&mut self, values: Values) -> u32 {
        let constant = match values {
            Values::Integers(values) => Constant::Integers(values),
            Values::Reals(values) => Constant::Reals(values),
        };
        self.0.constant(constant).0
    }

    fn add(&mut self, a: u32, b: u32) -> PyResult<u32> {
        let (a, b) = (self.checked(a)?, self.checked(b)?);
        Ok(self.0.add(a, b).0)
    }

    fn subtract(&mut self, a: u32, b: u32) -> PyResult<u32> {
        let (a, b) = (self.checked(a)?, self.checked(b)?);
        Ok(self.0.sub(a, b).0)
    }

    fn multiply(&mut self, a: u32, b: u32) -> PyResult<u32> {
        let (a, b) = (self.checked(a)?, self.checked(b)?);
        Ok(self.0.mul(a, b).0)
    }

    fn negate(&mut self, a: u32) -> PyResult<u32> {
        let a = self.checked(a)?;
        Ok(self.0.neg(a).0)
    }

    fn power(&mut self, a: u32, exponent: u32) -> PyResult<u32> {
        if exponent > sotto_program::limits::EXPONENT {
            return Err(PyOverflowError::new_err(format!("no power of {exponent}")));
        }
        let a = self.checked(a)?;
        Ok(self.0.power(a, exponent).0)
    }

    fn sum(&mut self, of: u32, width: u32) -> PyResult<u32> {
        let of = self.checked(of)?;
        Ok(self.0.sum(of, width).0)
    }

    /// Makes the program with one result.
    fn finish(&self, py: Python<'_>, result: u32) -> PyResult<Formula> {
        let result = self.checked(result)?;
        let mut all = self.0.clone();
        all.output("result", result);
        all.finish().map(Formula).map_err(|error| named(py, "BadFormula", error.to_string()))
    }
}
