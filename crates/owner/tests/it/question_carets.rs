//! Carets of errors: questions in which one word was changed, and the place that the error points at.

use proptest::prelude::*;
use sotto_owner::question::{Question, QuestionError};

use crate::question_round_trips::question;

/// A word, a number, a quoted name or a symbol, by its bytes in the text.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: usize,
    end: usize,
}

/// Returns true for the characters of words: a letter that the language does not know stands for itself.
fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Divides a text into pieces.
fn pieces(text: &str) -> Vec<Piece> {
    let (mut pieces, mut at) = (Vec::new(), 0);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = match first {
            '"' => {
                let mut escaped = false;
                let end = rest[1..].find(|c| {
                    let ends = c == '"' && !escaped;
                    escaped = c == '\\' && !escaped;
                    ends
                });
                end.map_or(rest.len(), |end| end + 2)
            }
            first if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            first => first.len_utf8(),
        };
        if !first.is_whitespace() {
            pieces.push(Piece { start: at, end: at + length });
        }
        at += length;
    }
    pieces
}

/// Checks that an error points at the beginning of a word, of a number or at a symbol, into a name in quotes, or behind the
/// piece that lacks something, such as the digits of `1e-`.
fn points_at_a_word(text: &str, refused: &QuestionError) {
    let at = refused.offset;
    if at == text.len() {
        return;
    }
    let quoted =
        |piece: &Piece| text[piece.start..].starts_with('"') && (piece.start..piece.end).contains(&at);
    assert!(
        pieces(text).iter().any(|piece| piece.start == at || piece.end == at || quoted(piece)),
        "no word begins at the caret:\n{refused}"
    );
    // The caret is drawn under that character.
    let drawn = refused.to_string();
    let lines: Vec<&str> = drawn.lines().collect();
    let [.., line, caret] = &lines[..] else { panic!("{drawn}") };
    let under = line.chars().nth(caret.chars().count() - 1);
    assert!(caret.ends_with('^') && under == text[at..].chars().next(), "{drawn}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn an_error_points_at_the_beginning_of_a_word(
        question in question(),
        at in any::<prop::sample::Index>(),
        with in prop::sample::select(&["", "zzzz", "7", "by", "(", ")", ",", "mean", "\"q\"", "~", "3d", "-"][..]),
    ) {
        let text = question.to_string();
        let pieces = pieces(&text);
        let Piece { start, end } = pieces[at.index(pieces.len())];
        let text = format!("{} {with} {}", &text[..start], &text[end..]);
        if let Err(refused) = Question::parse(&text) {
            points_at_a_word(&text, &refused);
        }
    }

    #[test]
    fn an_error_about_a_wrong_function_or_clause_points_at_that_word(
        question in question(),
        at in any::<prop::sample::Index>(),
    ) {
        const CLAUSES: [&str; 8] = ["over", "during", "since", "until", "per", "where", "by", "shared"];
        let text = question.to_string();
        let all = pieces(&text);
        let word = |piece: &Piece| &text[piece.start..piece.end];
        let wrong: Vec<Piece> = (0..all.len())
            .filter(|at| {
                let is_function = all.get(at + 1).is_some_and(|next| word(next) == "(" && next.start == all[*at].end);
                let outside = *at == 0 || !matches!(word(&all[at - 1]), "(" | ",");
                let is_call = is_function && word(&all[*at]).chars().all(is_word) && outside;
                // A name may end in one, as `a.by`.
                let alone = *at == 0 || all[at - 1].end < all[*at].start;
                is_call || CLAUSES.contains(&word(&all[*at])) && outside && alone
            })
            .map(|at| all[at])
            .collect();
        prop_assume!(!wrong.is_empty());
        let Piece { start, end } = wrong[at.index(wrong.len())];
        let text = format!("{}zzzz{}", &text[..start], &text[end..]);
        let refused = match Question::parse(&text) {
            Err(refused) => refused,
            Ok(question) => panic!("{text} is read as {question}"),
        };
        prop_assert!(refused.offset == start, "not at byte {}:\n{}", start, refused);
    }
}

#[test]
fn a_number_with_letters_is_one_word() {
    let refused = Question::parse("mean(x) * 2, quantile(x, 0.5) + 3d").unwrap_err();
    assert_eq!(refused.column, 33, "{refused}");
    let refused = Question::parse("weighted_sum(x, [1, 3d])").unwrap_err();
    assert_eq!(refused.to_string().lines().next(), Some("column 21: expected ',' or ']', found 3d"));
}
