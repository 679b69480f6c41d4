//! The functions as DataFusion calls them.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, GroupsAccumulator, Signature, Volatility};
use datafusion::physical_expr::expressions::Literal;
use sotto_rlwe::KeyId;

use super::evaluations::Evaluations;
use super::plan::Evaluate;
use super::switched::SwitchedSums;
use crate::ciphertexts::ciphertext_fields;
use crate::grouped::Grouped;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Plan,
    SwitchedSum,
}

/// `sotto_evaluate(ciphertext, order, plan [, key])`, or `sotto_switch_sum(ciphertext [, key])`.
#[derive(Debug)]
pub(super) struct Function {
    kind: Kind,
    evaluations: Arc<Evaluations>,
    signature: Signature,
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && Arc::ptr_eq(&self.evaluations, &other.evaluations)
    }
}

impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kind.hash(state);
    }
}

impl Function {
    pub(super) fn plan(evaluations: &Arc<Evaluations>) -> Self {
        Self::of(Kind::Plan, evaluations)
    }

    pub(super) fn switched_sum(evaluations: &Arc<Evaluations>) -> Self {
        Self::of(Kind::SwitchedSum, evaluations)
    }

    fn of(kind: Kind, evaluations: &Arc<Evaluations>) -> Self {
        let signature = Signature::user_defined(Volatility::Immutable);
        Self { kind, evaluations: Arc::clone(evaluations), signature }
    }

    fn usage(&self) -> &'static str {
        match self.kind {
            Kind::Plan => {
                "sotto_evaluate(ciphertext, number, 'PLAN') or sotto_evaluate(ciphertext, number, 'PLAN', 'KEY')"
            }
            Kind::SwitchedSum => "sotto_switch_sum(ciphertext) or sotto_switch_sum(ciphertext, 'KEY')",
        }
    }

    /// Returns the number of arguments that it takes at least; a key may follow.
    fn least(&self) -> usize {
        match self.kind {
            Kind::Plan => 3,
            Kind::SwitchedSum => 1,
        }
    }

    /// Returns a name of some bytes that an argument says in hexadecimal.
    fn named<const N: usize>(&self, args: &AccumulatorArgs<'_>, at: usize, of: &str) -> Result<[u8; N]> {
        let literal = args.exprs.get(at).and_then(|given| given.downcast_ref::<Literal>());
        let text = literal.and_then(|literal| literal.value().try_as_str().flatten());
        let bytes = text.and_then(|text| hex::decode(text).ok()).and_then(|bytes| bytes.try_into().ok());
        match bytes {
            Some(bytes) => Ok(bytes),
            None => {
                exec_err!("{of} has {} hexadecimal digits in quotes: write {}", 2 * N, self.usage())
            }
        }
    }

    fn key(&self, args: &AccumulatorArgs<'_>) -> Result<Option<KeyId>> {
        let at = self.least();
        if args.exprs.len() <= at { Ok(None) } else { Ok(Some(KeyId(self.named(args, at, "a key")?))) }
    }

    fn evaluate(&self, args: &AccumulatorArgs<'_>) -> Result<Grouped<Evaluate>> {
        let (plan, key) = (self.named(args, 2, "the name of a plan")?, self.key(args)?);
        Ok(Grouped::new(Evaluate::new(Arc::clone(&self.evaluations), plan, key)))
    }

    fn sums(&self, args: &AccumulatorArgs<'_>) -> Result<Grouped<SwitchedSums>> {
        Ok(Grouped::new(SwitchedSums::new(Arc::clone(&self.evaluations), self.key(args)?)))
    }
}

fn once(args: &AccumulatorArgs<'_>) -> Result<()> {
    if args.is_distinct { exec_err!("a ciphertext counts once: leave DISTINCT out") } else { Ok(()) }
}

fn is_text(of: &DataType) -> bool {
    matches!(of, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

impl AggregateUDFImpl for Function {
    fn name(&self) -> &str {
        match self.kind {
            Kind::Plan => "sotto_evaluate",
            Kind::SwitchedSum => "sotto_switch_sum",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        let least = self.least();
        if !(least..=least + 1).contains(&arg_types.len()) {
            return plan_err!("write {}", self.usage());
        }
        if arg_types[0] != DataType::Struct(ciphertext_fields()) {
            return plan_err!("the first argument is the column ciphertext: write {}", self.usage());
        }
        let mut types = arg_types.to_vec();
        let texts = match self.kind {
            Kind::SwitchedSum => 1,
            Kind::Plan if arg_types[1].is_integer() => {
                types[1] = DataType::Int64;
                2
            }
            Kind::Plan => {
                return plan_err!(
                    "ciphertexts are ordered by a whole number, not {}: write {}",
                    arg_types[1],
                    self.usage()
                );
            }
        };
        if !types[texts..].iter().all(is_text) {
            return plan_err!("plans and keys are names in quotes: write {}", self.usage());
        }
        Ok(types)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::LargeBinary)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(format!("{}[ciphertexts]", args.name), DataType::LargeBinary, true))])
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        once(&args)?;
        match self.kind {
            Kind::Plan => Ok(Box::new(self.evaluate(&args)?)),
            Kind::SwitchedSum => Ok(Box::new(self.sums(&args)?)),
        }
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs<'_>) -> bool {
        true
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        once(&args)?;
        match self.kind {
            Kind::Plan => Ok(Box::new(self.evaluate(&args)?)),
            Kind::SwitchedSum => Ok(Box::new(self.sums(&args)?)),
        }
    }
}
