//! Names and numbers in canonical text.

use std::fmt::{self, Display, Formatter, Write};

use super::lexer::{in_unit, is_bare_file, is_bare_name};

/// Writes a name, in quotes if it needs them.
pub(crate) struct Name<'n>(pub(crate) &'n str);

impl Display for Name<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if is_bare_name(self.0) || self.0 == "*" { out.write_str(self.0) } else { quoted(self.0, out) }
    }
}

/// Writes the name of a device behind `of`, where `tag` and `all` without quotes say something else.
pub(crate) struct NameBehindOf<'n>(pub(crate) &'n str);

impl Display for NameBehindOf<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            name @ ("tag" | "all") => quoted(name, out),
            name => Name(name).fmt(out),
        }
    }
}

pub(super) fn quoted(text: &str, out: &mut Formatter<'_>) -> fmt::Result {
    out.write_char('"')?;
    for character in text.chars() {
        if matches!(character, '"' | '\\') {
            out.write_char('\\')?;
        }
        out.write_char(character)?;
    }
    out.write_char('"')
}

/// Writes a unit, in quotes if it needs them.
pub(crate) struct UnitName<'n>(pub(crate) &'n str);

impl Display for UnitName<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let is_bare = !self.0.is_empty() && self.0.bytes().all(in_unit);
        if is_bare { out.write_str(self.0) } else { quoted(self.0, out) }
    }
}

/// Writes the name of a file, in quotes if it needs them.
pub(crate) struct File<'n>(pub(crate) &'n str);

impl Display for File<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if is_bare_file(self.0) { out.write_str(self.0) } else { quoted(self.0, out) }
    }
}

/// Writes the shortest decimal that reads back as the same float.
pub(crate) struct Number(pub(crate) f64);

impl Display for Number {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        let plain = size == 0.0 || (1e-5..1e16).contains(&size) || !size.is_finite();
        if plain { write!(out, "{}", self.0) } else { write!(out, "{:e}", self.0) }
    }
}

/// Writes items with ", " between them.
pub(crate) fn list<T: Display>(items: impl IntoIterator<Item = T>, out: &mut Formatter<'_>) -> fmt::Result {
    for (index, item) in items.into_iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        write!(out, "{comma}{item}")?;
    }
    Ok(())
}

/// Writes the clause that names devices, after a space.
pub(crate) fn only_devices(devices: &[String], out: &mut Formatter<'_>) -> fmt::Result {
    out.write_str(" where device in (")?;
    list(devices.iter().map(|device| Name(device)), out)?;
    out.write_char(')')
}

/// Returns the condition that names tags.
pub(crate) fn in_tags(tags: &[String]) -> String {
    let names: Vec<String> = tags.iter().map(|tag| Name(tag).to_string()).collect();
    format!("tag in ({})", names.join(", "))
}

pub(crate) struct Numbers<'n>(pub(crate) &'n [f64]);

impl Display for Numbers<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_char('[')?;
        list(self.0.iter().map(|number| Number(*number)), out)?;
        out.write_char(']')
    }
}
