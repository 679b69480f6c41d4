//! The functions as DataFusion calls them.

use std::hash::Hash;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue, exec_err, plan_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, GroupsAccumulator, Signature, Volatility};
use datafusion::physical_expr::expressions::Literal;

use super::groups::Sums;
use crate::grouped::Grouped;

/// `sotto_sum(body, tag [, channel])`, or `sotto_weighted_sum(body, tag, weight [, channel])`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Function {
    signature: Signature,
    is_weighted: bool,
}

impl Function {
    pub(super) fn sum() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable), is_weighted: false }
    }

    pub(super) fn weighted_sum() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable), is_weighted: true }
    }

    fn usage(&self) -> &'static str {
        if self.is_weighted {
            "sotto_weighted_sum(body, tag, weight) or sotto_weighted_sum(body, tag, weight, 'CHANNEL')"
        } else {
            "sotto_sum(body, tag) or sotto_sum(body, tag, 'CHANNEL')"
        }
    }

    /// Returns the number of arguments before the channel.
    fn before_channel(&self) -> usize {
        2 + usize::from(self.is_weighted)
    }

    fn groups(&self, args: &AccumulatorArgs<'_>) -> Result<Grouped<Sums>> {
        if args.is_distinct {
            return exec_err!("a window counts once: leave DISTINCT out");
        }
        let channel = match args.exprs.get(self.before_channel()) {
            None => None,
            Some(channel) => {
                let literal = channel.downcast_ref::<Literal>().map(Literal::value);
                let Some(Some(text)) = literal.and_then(ScalarValue::try_as_str) else {
                    return exec_err!("a channel is a name in quotes: {}", self.usage());
                };
                Some(text.to_owned())
            }
        };
        Ok(Grouped::new(Sums::new(channel, self.is_weighted)))
    }
}

impl AggregateUDFImpl for Function {
    fn name(&self) -> &str {
        if self.is_weighted { "sotto_weighted_sum" } else { "sotto_sum" }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        let least = self.before_channel();
        if !(least..=least + 1).contains(&arg_types.len()) {
            return plan_err!("write {}", self.usage());
        }
        if !matches!(arg_types[0], DataType::Struct(_)) || arg_types[1] != DataType::BinaryView {
            return plan_err!("the first arguments are the columns body and tag: write {}", self.usage());
        }
        let mut types = arg_types.to_vec();
        if self.is_weighted {
            if !arg_types[2].is_integer() {
                return plan_err!("a weight is a whole number, not {}", arg_types[2]);
            }
            types[2] = DataType::Int64;
        }
        Ok(types)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::LargeBinary)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(format!("{}[sum]", args.name), DataType::LargeBinary, true))])
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(self.groups(&args)?))
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs<'_>) -> bool {
        true
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(self.groups(&args)?))
    }
}
