//! Text for a terminal, short and harmless.

use sotto_cloud_client::is_direction;

/// Returns a text in one line without the characters that control a terminal or the direction of writing: names, units and
/// errors come from devices and from the cloud.
pub(super) fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if is_direction(c) => {}
            c if c.is_control() => {
                // A line break, a tab or the begin of an escape sequence: words stay apart.
                if !clean.ends_with(' ') {
                    clean.push(' ');
                }
            }
            c => clean.push(c),
        }
    }
    clean
}

/// Returns the time since an instant in at most 6 characters: `12 s`, `3 h`. Both are milliseconds since 1970.
pub(super) fn age(at: i64, now: i64) -> String {
    let seconds = now.saturating_sub(at).max(0) / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h", seconds / 3600),
        86_400..31_557_600 => format!("{} d", seconds / 86_400),
        _ => format!("{} y", seconds / 31_557_600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_controls_a_terminal_is_left() {
        assert_eq!(clean("a\x1b[2Jb\r\nc\u{9b}31md\u{202e}e\u{7}"), "a [2Jb c 31mde ");
        assert_eq!(clean("boiler °C – 水"), "boiler °C – 水");
    }

    #[test]
    fn ages_are_short() {
        let ages = [(0, "0 s"), (59_999, "59 s"), (60_000, "1 min"), (7_200_000, "2 h"), (86_400_000, "1 d")];
        for (milliseconds, words) in ages {
            assert_eq!(age(1_000_000, 1_000_000 + milliseconds), words);
        }
        assert_eq!(age(i64::MIN, i64::MAX), "292271023 y");
        assert_eq!(age(5000, 0), "0 s", "a clock that is behind");
    }
}
