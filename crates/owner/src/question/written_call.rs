//! The text of a call that names its devices.

use std::fmt::{self, Display, Formatter};

use crate::functions::Call;
use crate::language::{Parser, Scope, token};

/// Writes a call with its devices behind each channel.
pub(super) fn write(call: &Call, of: &Scope, out: &mut Formatter<'_>) -> fmt::Result {
    let text = call.to_string();
    let mut parser = Parser::new(&text);
    // The text of a call that cannot be read is refused by the check of the question.
    let _ = parser.sum();
    let mut from = 0;
    for (_, at) in &parser.places.channels {
        let end = token(&text, *at).map_or(from, |found| found.end);
        write!(out, "{} {of}", &text[from..end])?;
        from = end;
    }
    out.write_str(&text[from..])
}

/// A call with the devices that it names, if it does.
pub(crate) struct WithDevices<'c>(pub(crate) &'c Call, pub(crate) Option<&'c Scope>);

impl Display for WithDevices<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.1 {
            Some(of) => write(self.0, of, out),
            None => self.0.fmt(out),
        }
    }
}
