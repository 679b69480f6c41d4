//! The messages in a spool, and the names of their files.

const EXTENSION: &str = ".envelope";

/// A message in the spool.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Counts the messages of all streams: the oldest has the smallest.
    pub order: u64,
    /// Its stream.
    pub stream: String,
    /// Its sequence number.
    pub sequence: u64,
    /// Its length.
    pub bytes: u64,
}

impl Entry {
    /// `order.stream.sequence.envelope`.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("{:020}.{}.{}{EXTENSION}", self.order, self.stream, self.sequence)
    }

    /// The entry of a file; `None` when it is not called as one.
    #[must_use]
    pub fn from_file(name: &str, bytes: u64) -> Option<Self> {
        let (order, rest) = name.strip_suffix(EXTENSION)?.split_once('.')?;
        // A stream's name may have dots, a number has none.
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
