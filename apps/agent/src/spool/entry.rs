//! The messages in a spool, and the names of their files.

const EXTENSION: &str = ".envelope";

/// A message in the spool.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Position in the order of all messages; the oldest has the smallest.
    pub order: u64,
    /// The message's stream.
    pub stream: String,
    /// The message's sequence number.
    pub sequence: u64,
    /// Bytes of the file.
    pub bytes: u64,
}

impl Entry {
    /// Returns the file name, `order.stream.sequence.envelope`.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("{:020}.{}.{}{EXTENSION}", self.order, self.stream, self.sequence)
    }

    /// Parses a file name; returns `None` if it does not have this form.
    #[must_use]
    pub fn from_file(name: &str, bytes: u64) -> Option<Self> {
        let (order, rest) = name.strip_suffix(EXTENSION)?.split_once('.')?;
        // A stream's name may contain dots, a number cannot.
        let (stream, sequence) = rest.rsplit_once('.')?;
        let entry = Self {
            order: order.parse().ok()?,
            stream: stream.into(),
            sequence: sequence.parse().ok()?,
            bytes,
        };
        (entry.file_name() == name).then_some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_in_the_file() {
        for stream in ["temperature", "a.b.7", "..", "7"] {
            let entry = Entry { order: 12, stream: stream.into(), sequence: 345, bytes: 6 };
            assert_eq!(Entry::from_file(&entry.file_name(), 6), Some(entry));
        }
        for name in
            ["state.json", "1.s.2.envelope", "00000000000000000001.s.02.envelope", ".envelope", "lock"]
        {
            assert_eq!(Entry::from_file(name, 0), None, "{name}");
        }
    }
}
