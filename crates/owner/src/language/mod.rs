//! The parts of the question language that know no function: tokens, readings, conditions, times, places, errors.

mod by;
mod comparison;
mod condition;
mod cycle;
mod dates;
mod days;
mod during;
mod error;
mod lexer;
pub mod limits;
mod model;
mod near;
mod operand;
mod operands;
mod parser;
mod period;
mod places;
mod ranking;
mod reading;
mod scope;
mod scopes;
mod tariff;
mod times;
mod weights;
mod written;

pub use by::By;
pub use comparison::Comparison;
pub(crate) use condition::all;
pub use condition::{Condition, LowerEnd};
pub(crate) use cycle::month_named;
pub use cycle::{Cycle, Recurs, Weekday};
pub use dates::{Dates, DaysOf};
pub use days::{DayRange, Days, NotDays};
pub use during::{Calendar, During};
pub use error::{QuestionError, QuestionErrorKind};
pub(crate) use lexer::{RESERVED, Spanned, Token, in_unit, token, unquoted};
pub use model::{LinearModel, ModelError};
pub(crate) use near::near;
pub use operand::OfDevice;
pub(crate) use operands::outside_of_a_call;
pub(crate) use parser::{Parsed, Parser};
pub(crate) use period::is_when;
pub use period::{Devices, Duration, DurationUnit, Period, When};
pub use places::{Clause, TextSpans};
pub use ranking::{RankedBy, Ranking};
pub use reading::Measurand;
pub use scope::Scope;
pub use tariff::{Price, Tariff, TariffError};
pub use times::{TimeOfDay, Times};
pub use weights::Weights;
pub(crate) use written::{
    File, Name, NameBehindOf, Number, Numbers, UnitName, in_tags, list, only_devices,
};
