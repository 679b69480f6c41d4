//! Patterns of paths to fields: `*.Temperature`, `switch:*.apower`, `**.Temperature`.

/// A pattern of a field's path. `*` stands for any characters of one key, a leading `**` for any number of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Glob {
    deep: bool,
    keys: Vec<String>,
}

impl Glob {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (deep, keys) = match text.strip_prefix("**.") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if keys.split('.').any(|key| key.contains("**") || key.matches('*').count() > 4) {
            return Err(format!(
                "the path {text}: ** stands at the beginning alone, and a key has 4 * at most"
            ));
        }
        Ok(Self { deep, keys: keys.split('.').map(str::to_owned).collect() })
    }

    /// Returns the texts of the stars; `None` if the path does not fit.
    pub(crate) fn fit<'p>(&self, path: &[&'p str]) -> Option<Vec<&'p str>> {
        let skipped = path.len().checked_sub(self.keys.len())?;
        if skipped > 0 && !self.deep {
            return None;
        }
        let mut stars = Vec::new();
        for (pattern, key) in self.keys.iter().zip(&path[skipped..]) {
            one(pattern, key, &mut stars)?;
        }
        Some(stars)
    }

    /// Returns the number of stars.
    pub(crate) fn stars(&self) -> usize {
        self.keys.iter().map(|key| key.matches('*').count()).sum()
    }
}

/// Compares one key. Each star takes as few characters as possible: O(length · pattern).
fn one<'p>(pattern: &str, key: &'p str, stars: &mut Vec<&'p str>) -> Option<()> {
    let mut literals = pattern.split('*');
    let mut left = key.strip_prefix(literals.next()?)?;
    let mut literals = literals.peekable();
    if literals.peek().is_none() {
        return left.is_empty().then_some(());
    }
    while let Some(literal) = literals.next() {
        let at = match literals.peek() {
            Some(_) => left.find(literal)?,
            None => left.ends_with(literal).then(|| left.len() - literal.len())?,
        };
        stars.push(&left[..at]);
        left = &left[at + literal.len()..];
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stay_in_their_key() {
        for (pattern, path, expected) in [
            ("a.b", &["a", "b"][..], Some(vec![])),
            ("a.b", &["a"], None),
            ("*.Temperature", &["AM2301", "Temperature"], Some(vec!["AM2301"])),
            ("*.Temperature", &["Temperature"], None),
            ("**.Temperature", &["a", "b", "Temperature"], Some(vec![])),
            ("**.Temperature", &["Temperature"], Some(vec![])),
            ("switch:*.apower", &["switch:0", "apower"], Some(vec!["0"])),
            ("*_c", &["flow_c"], Some(vec!["flow"])),
            ("*_c", &["c"], None),
            ("*a*b*", &["xaybzb"], Some(vec!["x", "y", "zb"])),
            ("1-0:1.8.*", &["1-0:1", "8", "2"], Some(vec!["2"])),
        ] {
            assert_eq!(Glob::parse(pattern).unwrap().fit(path), expected, "{pattern} {path:?}");
        }
        assert!(Glob::parse("a.**.b").is_err() && Glob::parse("*****").is_err());
    }
}
