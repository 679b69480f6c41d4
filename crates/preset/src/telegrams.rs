//! Telegrams in a stream of bytes.

/// Maximum length of a telegram, in bytes.
const LONGEST: usize = 16 << 10;
/// Length of a checksum: four digits.
const SUM: usize = 4;

/// Finds telegrams in the bytes of a P1 port. Bytes outside of telegrams are dropped, and so is a telegram that is longer
/// than 16 KiB.
///
/// ```
/// use sotto_preset::Telegrams;
///
/// let mut telegrams = Telegrams::default();
/// telegrams.push(b"noise/X\r\n1-0:1.8.1(1");
/// assert_eq!(telegrams.next(), None);
/// telegrams.push(b"*kWh)\r\n!ABCD\r\n/Y");
/// assert_eq!(telegrams.next().as_deref(), Some("/X\r\n1-0:1.8.1(1*kWh)\r\n!ABCD"));
/// assert_eq!(telegrams.next(), None);
/// ```
#[derive(Debug, Default)]
pub struct Telegrams {
    bytes: Vec<u8>,
}

impl Telegrams {
    /// Adds bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the next telegram; `None` if more bytes are needed.
    #[expect(clippy::should_implement_trait, reason = "more telegrams may come after None")]
    pub fn next(&mut self) -> Option<String> {
        loop {
            let begin = self.bytes.iter().position(|byte| *byte == b'/').unwrap_or(self.bytes.len());
            self.bytes.drain(..begin);
            let end = self.end();
            // A telegram that begins anew before its end was cut off.
            let again = self.bytes.iter().enumerate().skip(1).find(|(at, byte)| {
                **byte == b'/' && self.bytes.get(at - 1).is_some_and(|before| *before == b'\n')
            });
            let again = again.map(|(at, _)| at);
            match (end, again) {
                (Some(end), again) if again.is_none_or(|again| end <= again) => {
                    let telegram: Vec<u8> = self.bytes.drain(..end).collect();
                    if let Ok(telegram) = String::from_utf8(telegram) {
                        return Some(telegram);
                    }
                }
                (_, Some(again)) => drop(self.bytes.drain(..again)),
                (_, None) => {
                    if self.bytes.len() > LONGEST {
                        self.bytes.clear();
                    }
                    return None;
                }
            }
        }
    }

    /// Returns the end of the telegram at the beginning: behind its checksum, before the end of its line.
    fn end(&self) -> Option<usize> {
        let mut from = 0;
        loop {
            let mark = from + self.bytes[from..].iter().position(|byte| *byte == b'!')?;
            // The mark begins a line: it may stand in a message of the grid operator.
            let begins = mark > 0 && self.bytes[mark - 1] == b'\n';
            let after = &self.bytes[mark + 1..];
            let line = after.iter().take(SUM + 1).position(|byte| matches!(byte, b'\r' | b'\n'));
            match (begins, line) {
                (true, Some(length)) => return Some(mark + 1 + length),
                (true, None) if after.len() <= SUM => return None,
                _ => from = mark + 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cut_telegrams_are_dropped_and_memory_is_bounded() {
        let mut telegrams = Telegrams::default();
        telegrams.push(b"/A\r\n1-0:1.8.1(\r\n/B\r\n1-0:1.8.1(1)\r\n!0000\r\n");
        assert_eq!(telegrams.next().as_deref(), Some("/B\r\n1-0:1.8.1(1)\r\n!0000"));
        telegrams.push(b"/C\n!\n");
        assert_eq!(telegrams.next().as_deref(), Some("/C\n!"));
        telegrams.push(&[b'/'; LONGEST + 1]);
        assert_eq!(telegrams.next(), None);
        assert!(telegrams.bytes.is_empty());
    }

    proptest! {
        #[test]
        fn telegrams_do_not_depend_on_how_bytes_arrive(
            bytes in prop::collection::vec(prop::sample::select(b"/!\r\nA0(".to_vec()), 0..200),
            cuts in prop::collection::vec(1_usize..20, 1..40),
        ) {
            let mut whole = Telegrams::default();
            whole.push(&bytes);
            let expected: Vec<String> = std::iter::from_fn(|| whole.next()).collect();
            let (mut parts, mut found, mut left) = (Telegrams::default(), Vec::new(), &bytes[..]);
            for cut in cuts.iter().cycle() {
                if left.is_empty() {
                    break;
                }
                let (part, rest) = left.split_at((*cut).min(left.len()));
                parts.push(part);
                found.extend(std::iter::from_fn(|| parts.next()));
                left = rest;
            }
            prop_assert_eq!(found, expected);
        }
    }
}
