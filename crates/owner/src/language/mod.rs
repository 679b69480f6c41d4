//! The parts of the question language that know no function: tokens, readings, conditions, times, places, errors.

mod by;
mod comparison;
mod condition;
mod cycle;
mod error;
mod lexer;
pub mod limits;
mod model;
mod near;
mod operands;
mod parser;
mod period;
mod places;
mod reading;
mod times;
mod weights;
mod written;

pub use by::By;
pub use comparison::Comparison;
pub use condition::Condition;
pub(crate) use cycle::month_named;
pub use cycle::{Cycle, Recurs, Weekday};
pub use error::{QuestionError, QuestionErrorKind};
pub(crate) use lexer::{RESERVED, Spanned, Token, in_unit, token, unquoted};
pub use model::{LinearModel, ModelError};
pub(crate) use near::near;
pub(crate) use operands::outside_of_a_call;
pub(crate) use parser::{Parsed, Parser};
pub(crate) use period::is_when;
pub use period::{Devices, Duration, DurationUnit, Period, When};
pub use places::{Clause, TextSpans};
pub use reading::Measurand;
pub use times::{TimeOfDay, Times};
pub use weights::Weights;
pub(crate) use written::{Name, Number, Numbers, UnitName, conditions, list, only_devices};
