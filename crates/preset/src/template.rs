//! Texts with names of parts: `{component}_{channel}`.

/// A text in which the parts of a topic, or the stars of a field's path, are put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Part(String),
    /// The number of a star, from 0.
    Star(usize),
}

impl Template {
    /// Parses a template that may name these parts, and this number of stars.
    pub(crate) fn parse(text: &str, parts: &[&str], stars: usize) -> Result<Self, String> {
        let (mut pieces, mut left) = (Vec::new(), text);
        while let Some((before, rest)) = left.split_once('{') {
            if !before.is_empty() {
                pieces.push(Piece::Text(before.to_owned()));
            }
            let (name, rest) =
                rest.split_once('}').ok_or_else(|| format!("{text}: a brace has no partner"))?;
            let star = name.parse::<usize>().ok().and_then(|star| star.checked_sub(1));
            pieces.push(match star {
                Some(star) if star < stars => Piece::Star(star),
                None if parts.contains(&name) => Piece::Part(name.to_owned()),
                _ => {
                    return Err(format!(
                        "{text}: nothing is called {{{name}}}; there are {}",
                        parts.join(", ")
                    ));
                }
            });
            left = rest;
        }
        if !left.is_empty() {
            pieces.push(Piece::Text(left.to_owned()));
        }
        Ok(Self(pieces))
    }

    /// Returns the text with the parts in it.
    pub(crate) fn fill(&self, parts: &[(&str, &str)], stars: &[&str]) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Part(name) => {
                let part = parts.iter().find(|(part, _)| part == name);
                part.map_or_else(String::new, |(_, text)| (*text).to_owned())
            }
            Piece::Star(star) => stars.get(*star).map_or_else(String::new, |text| (*text).to_owned()),
        };
        self.0.iter().map(piece).collect()
    }
}
