//! Patterns of topics: `home/{device}/{channel}`.

use crate::PresetError;

/// Maximum length of a topic, in bytes.
const LONGEST: usize = 1024;

/// A pattern of topics. A `{name}` stands for one level or a part of it, `{name...}` for one level or more; `+` and `#` do
/// the same without a name.
///
/// ```
/// use sotto_preset::TopicPattern;
///
/// let pattern = TopicPattern::parse("home/{device}/sensor-{channel}")?;
/// assert_eq!(pattern.filter(), "home/+/+");
/// let parts = pattern.parts("home/barn/sensor-hot").expect("it fits");
/// assert_eq!(parts, [("device", "barn"), ("channel", "hot")]);
/// assert!(pattern.parts("home/barn/hot").is_none());
/// # Ok::<(), sotto_preset::PresetError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicPattern {
    before: Vec<Level>,
    /// The name of the part with one level or more.
    rest: Option<String>,
    after: Vec<Level>,
}

/// A level of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Level {
    Literal(String),
    Named { before: String, name: String, after: String },
}

impl TopicPattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// [`PresetError::Topic`] if it is empty or too long, has braces without a partner, two names in one level, or two parts
    /// of several levels.
    pub fn parse(text: &str) -> Result<Self, PresetError> {
        let wrong = |reason| PresetError::Topic { pattern: text.chars().take(200).collect(), reason };
        if text.is_empty() || text.len() > LONGEST {
            return Err(wrong("it has to have 1 to 1024 bytes"));
        }
        if text.chars().any(char::is_control) {
            return Err(wrong("it has a control character"));
        }
        let mut pattern = Self { before: Vec::new(), rest: None, after: Vec::new() };
        for level in text.split('/') {
            let several = match level {
                "#" => Some(""),
                _ => level.strip_prefix('{').and_then(|rest| rest.strip_suffix("...}")),
            };
            match several {
                Some(_) if pattern.rest.is_some() => return Err(wrong("it has two parts of several levels")),
                Some(name) => pattern.rest = Some(name.to_owned()),
                None => {
                    let level = Level::parse(level).map_err(wrong)?;
                    let of = if pattern.rest.is_some() { &mut pattern.after } else { &mut pattern.before };
                    of.push(level);
                }
            }
        }
        let names: Vec<&str> = pattern.names().collect();
        if (1..names.len()).any(|index| names[..index].contains(&names[index])) {
            return Err(wrong("two parts have the same name"));
        }
        Ok(pattern)
    }

    /// Returns the filter with which a client subscribes to the topics.
    #[must_use]
    pub fn filter(&self) -> String {
        let level = |level: &Level| match level {
            Level::Literal(text) => text.clone(),
            Level::Named { .. } => "+".to_owned(),
        };
        let mut levels: Vec<String> = self.before.iter().map(level).collect();
        if self.rest.is_some() {
            levels.push("#".to_owned());
        }
        levels.join("/")
    }

    /// Returns the named parts of a topic; `None` if it does not fit.
    #[must_use]
    pub fn parts<'t>(&'t self, topic: &'t str) -> Option<Vec<(&'t str, &'t str)>> {
        // A wildcard does not match the broker's own topics: MQTT 5.0, 4.7.2.
        if topic.len() > LONGEST || topic.starts_with('$') {
            return None;
        }
        let mut parts = Vec::new();
        let mut left = topic;
        for (index, level) in self.before.iter().enumerate() {
            if index > 0 {
                left = left.strip_prefix('/')?;
            }
            let end = left.find('/').unwrap_or(left.len());
            level.take(&left[..end], &mut parts)?;
            left = &left[end..];
        }
        let Some(rest) = &self.rest else { return left.is_empty().then_some(parts) };
        if !self.before.is_empty() {
            left = left.strip_prefix('/')?;
        }
        let mut behind = Vec::new();
        for level in self.after.iter().rev() {
            let (before, text) = left.rsplit_once('/')?;
            let mut of = Vec::new();
            level.take(text, &mut of)?;
            behind.extend(of);
            left = before;
        }
        if left.is_empty() {
            return None;
        }
        if !rest.is_empty() {
            parts.push((rest, left));
        }
        parts.extend(behind.into_iter().rev());
        Some(parts)
    }

    /// Returns the names of the parts, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let before = self.before.iter().filter_map(Level::name);
        let after = self.after.iter().filter_map(Level::name);
        before.chain(self.rest.as_deref()).chain(after).filter(|name| !name.is_empty())
    }
}

impl Level {
    fn parse(text: &str) -> Result<Self, &'static str> {
        if text == "+" {
            return Ok(Self::Named { before: String::new(), name: String::new(), after: String::new() });
        }
        if text.contains(['+', '#']) {
            return Err("+ and # stand alone in their level");
        }
        let Some((before, rest)) = text.split_once('{') else {
            return if text.contains('}') {
                Err("a brace has no partner")
            } else {
                Ok(Self::Literal(text.to_owned()))
            };
        };
        let (name, after) = rest.split_once('}').ok_or("a brace has no partner")?;
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err("a name has letters, digits and _ alone");
        }
        if before.contains('}') || after.contains(['{', '}']) {
            return Err("a level has one name at most");
        }
        Ok(Self::Named { before: before.to_owned(), name: name.to_owned(), after: after.to_owned() })
    }

    fn name(&self) -> Option<&str> {
        match self {
            Self::Literal(_) => None,
            Self::Named { name, .. } => Some(name),
        }
    }

    /// Adds the named part of a level; `None` if the level does not fit.
    fn take<'t>(&'t self, text: &'t str, parts: &mut Vec<(&'t str, &'t str)>) -> Option<()> {
        match self {
            Self::Literal(literal) => (literal == text).then_some(()),
            Self::Named { before, name, after } => {
                let part = text.strip_prefix(&**before)?.strip_suffix(&**after)?;
                // An empty level is a level, but no name of anything.
                if part.is_empty() {
                    return None;
                }
                if !name.is_empty() {
                    parts.push((name, part));
                }
                Some(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts<'t>(pattern: &'t TopicPattern, topic: &'t str) -> Option<Vec<(&'t str, &'t str)>> {
        pattern.parts(topic)
    }

    #[test]
    fn names_stand_for_levels_and_parts_of_them() {
        for (pattern, topic, expected) in [
            ("a/{x}/b", "a/1/b", Some(vec![("x", "1")])),
            ("a/{x}/b", "a/1/c", None),
            ("a/{x}/b", "a//b", None),
            ("a/{x}", "a/1/b", None),
            ("a/{x}", "a", None),
            ("+/events/rpc", "plug-1/events/rpc", Some(vec![])),
            ("{x...}", "a/b", Some(vec![("x", "a/b")])),
            ("z/{x...}/availability", "z/kitchen/lamp/availability", Some(vec![("x", "kitchen/lamp")])),
            ("z/{x...}/availability", "z/availability", None),
            ("z/#", "z/a/b", Some(vec![])),
            ("z/#", "z", None),
            ("s/{id}/relay/{n}/power", "s/1/relay/0/power", Some(vec![("id", "1"), ("n", "0")])),
            ("{x...}/a/{y}/{z}", "1/2/a/b/c", Some(vec![("x", "1/2"), ("y", "b"), ("z", "c")])),
            ("{x}", "$SYS", None),
        ] {
            let pattern = TopicPattern::parse(pattern).unwrap();
            assert_eq!(parts(&pattern, topic), expected, "{pattern:?} {topic}");
        }
    }

    #[test]
    fn filters_are_those_of_mqtt() {
        for (pattern, filter) in [
            ("a/{x}/b", "a/+/b"),
            ("a/pre-{x}/b", "a/+/b"),
            ("z/{x...}/availability", "z/#"),
            ("{x...}", "#"),
            ("a/+/#", "a/+/#"),
        ] {
            assert_eq!(TopicPattern::parse(pattern).unwrap().filter(), filter);
        }
    }

    #[test]
    fn patterns_without_a_meaning_are_refused() {
        for wrong in
            ["", "a/{x", "a/x}", "a/{x}{y}", "#/a/#", "a+/b", "{x}/{x}", "{x y}", "{x...}/{x}", "a\n"]
        {
            assert!(TopicPattern::parse(wrong).is_err(), "{wrong}");
        }
    }
}
