//! Cells of channels that have states: words, true and false, or numbers of states.

use sotto_pack::{Reason, State};

use super::cells::Cell;
use super::numbers::Mark;

/// Words for the first and the second of two states.
const OF_TWO: [[&str; 3]; 2] = [["false", "off", "no"], ["true", "on", "yes"]];

/// Returns the number of the state that a text names.
pub(super) fn read(text: &str, state: &State) -> Cell {
    let of_two = || of_two(text).filter(|_| state.states.len() == 2);
    match state.number(text).or_else(of_two) {
        Some(number) => Cell::Number(number as f64, Mark::Plain),
        None => match Cell::read(text) {
            Cell::Number(number, _) if is_number(number, state) => Cell::Number(number, Mark::Plain),
            Cell::Number(..) => Cell::Missing(Reason::Text),
            other => other,
        },
    }
}

/// Returns 0 or 1 for a word of two states, such as false and true.
pub(super) fn of_two(text: &str) -> Option<usize> {
    let has = |words: &[&str; 3]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    OF_TWO.iter().position(has)
}

/// Returns true if a number is that of a state.
pub(super) fn is_number(number: f64, state: &State) -> bool {
    number.fract() == 0.0 && (0.0..state.states.len() as f64).contains(&number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_its_word_in_any_case_or_its_number() {
        let door = State::of(["closed", "open"]);
        for (text, number) in [
            ("open", Some(1.0)),
            ("Closed", Some(0.0)),
            ("TRUE", Some(1.0)),
            ("off", Some(0.0)),
            ("yes", Some(1.0)),
            ("1", Some(1.0)),
            ("0.0", Some(0.0)),
            ("2", None),
            ("0.5", None),
            ("tilted", None),
        ] {
            let expected =
                number.map_or(Cell::Missing(Reason::Text), |number| Cell::Number(number, Mark::Plain));
            assert_eq!(read(text, &door), expected, "{text}");
        }
        assert_eq!(read("unavailable", &door), Cell::Missing(Reason::Empty));
        let mode = State::of(["off", "heat", "cool"]);
        assert_eq!(read("off", &mode), Cell::Number(0.0, Mark::Plain));
        assert_eq!(read("on", &mode), Cell::Missing(Reason::Text), "one of two states only");
        // A word before a number.
        assert_eq!(read("1", &State::of(["2", "1"])), Cell::Number(1.0, Mark::Plain));
    }
}
