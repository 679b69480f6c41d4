//! The reference of the language as a page: the grammar, the functions with the arguments that the parser takes, the
//! words, the limits.

use std::fmt::Write as _;

use super::{By, Calendar, Cycle, DurationUnit, FunctionName, Question, Weekday, functions, limits};
use crate::language::RESERVED;

/// The page's first lines.
const HEAD: &str = "# Grammar of questions

Made of the parser by `sotto grammar`. [Questions](../concepts/questions.md) explains each word, with its bound and unit.

";

/// Forms of arguments, each with an example. The parser decides which of them a function takes.
const FORMS: [(&str, &str); 19] = [
    ("channel", "x"),
    ("channel \",\" channel", "x, y"),
    ("channel \"~\" channel", "y ~ x"),
    ("channel \",\" NUMBER", "x, 16"),
    ("channel \",\" NUMBER", "x, 0.5"),
    ("channel \",\" list", "x, [1, 2]"),
    ("channel \",\" half_life", "x, half_life 6h"),
    ("channel \",\" ( \"below\" | \"above\" ) NUMBER", "x, below 18"),
    ("channel [ \",\" DURATION ]", "x, 2h"),
    ("channel \"-\" channel", "a - b"),
    ("channel \"of\" NAME \",\" channel \"of\" NAME", "a of one, b of two"),
    ("FILE", "models/m.json"),
    ("polynomial", "polynomial(x, [0, 1])"),
    ("linear", "linear(model.json)"),
    ("channel comparison NUMBER", "x > 80"),
    ("channel ( \"=\" | \"!=\" ) ( NUMBER | STATE )", "x = open"),
    ("polynomial comparison NUMBER", "polynomial(x, [0, 1]) > 80"),
    ("linear comparison NUMBER", "linear(model.json) > 80"),
    ("NUMBER comparison channel comparison NUMBER", "60 <= x <= 79"),
];

/// Returns the reference of the language as Markdown.
///
/// ```
/// let page = sotto_owner::question::grammar();
/// assert!(page.contains("`quantile`") && page.contains("selected = sum"));
/// ```
#[must_use]
pub fn grammar() -> String {
    let mut page = HEAD.to_owned();
    let _ = write!(page, "## Questions\n\n```ebnf\n{}```\n\n", rules());
    page.push_str(
        "`NAME` has letters, digits, `_` and `.`, and begins with a letter or `_`. Any other name, and any word of a clause, goes in \
         double quotes, with `\\\"` and `\\\\` inside. Spaces and line ends count for nothing between words.\n\n",
    );
    page.push_str("## Calls\n\n```ebnf\n");
    page.push_str(&calls());
    page.push_str(
        "channel    = NAME\n\
         comparison = \">\" | \">=\" | \"<\" | \"<=\"\n\
         list       = \"[\" NUMBER { \",\" NUMBER } \"]\"\n\
         half_life  = \"half_life\" DURATION\n\
         polynomial = \"polynomial\" \"(\" channel \",\" list \")\"\n\
         linear     = \"linear\" \"(\" FILE \")\"\n```\n\n",
    );
    functions_table(&mut page);
    words(&mut page);
    sizes(&mut page);
    page
}

/// Returns the rules of the parser, which stand in the documentation of its module.
fn rules() -> String {
    let lines = include_str!("mod.rs").lines().map(|line| line.trim_start_matches("//!"));
    let lines =
        lines.skip_while(|line| line.trim() != "# Grammar").skip_while(|line| line.trim() != "```text");
    let mut text = String::new();
    for line in lines.skip(1).take_while(|line| line.trim() != "```") {
        let _ = writeln!(text, "{}", line.strip_prefix(' ').unwrap_or(line));
    }
    text
}

/// Returns the rule of calls: functions that take the same arguments are one alternative.
fn calls() -> String {
    let words = functions().flat_map(|function| [&[function.word], function.synonyms].concat());
    let mut alternatives: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for word in words {
        let forms = forms(word);
        match alternatives.iter_mut().find(|(_, known)| *known == forms) {
            Some((words, _)) => words.push(word),
            None => alternatives.push((vec![word], forms)),
        }
    }
    let mut rule = String::new();
    for (at, (words, forms)) in alternatives.iter().enumerate() {
        let head = if at == 0 { "call       = " } else { "           | " };
        let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        let (words, forms) = (one_of(&words, 12), one_of(forms, 0));
        let _ = writeln!(rule, "{head}{words} \"(\" {forms} \")\"");
    }
    rule
}

/// Returns alternatives with strokes between them; long lists go on in lines that are indented by `indent` and more.
fn one_of<T: AsRef<str>>(of: &[T], indent: usize) -> String {
    match of {
        [one] => one.as_ref().to_owned(),
        all => {
            let each: Vec<&str> = all.iter().map(AsRef::as_ref).collect();
            let lines: Vec<String> =
                each.chunks(if indent == 0 { usize::MAX } else { 8 }).map(|line| line.join(" | ")).collect();
            format!("( {} )", lines.join(&format!("\n{:indent$}   | ", "")))
        }
    }
}

/// Returns the forms of arguments that the parser takes.
fn forms(word: &str) -> Vec<&'static str> {
    let is_read = |arguments: &str| Question::parse(&format!("{word}({arguments}) by day")).is_ok();
    let mut taken: Vec<&'static str> = Vec::new();
    for (form, example) in FORMS {
        if is_read(example) && !taken.contains(&form) {
            taken.push(form);
        }
    }
    // The name of a file may look like one of a channel.
    if taken.contains(&"FILE") {
        taken.retain(|form| *form != "channel");
    }
    taken
}

fn functions_table(page: &mut String) {
    page.push_str(
        "| function | example | also | needs `by` | stands alone |\n| --- | --- | --- | --- | --- |\n",
    );
    for function in functions() {
        let FunctionName { word, arguments, synonyms, across_groups } = function;
        let yes = |is: bool| if is { "yes" } else { "" };
        let synonyms: Vec<String> = synonyms.iter().map(|word| format!("`{word}`")).collect();
        let example = format!("{word}({arguments})");
        let asked = Question::parse(&format!("{example} by day"));
        let alone = asked.is_ok_and(|question| question.calls().any(super::Call::is_vector));
        let _ = writeln!(
            page,
            "| `{word}` | `{example}` | {} | {} | {} |",
            synonyms.join(", "),
            yes(across_groups),
            yes(alone)
        );
    }
    page.push('\n');
}

fn words(page: &mut String) {
    let list =
        |words: Vec<String>| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    let of = |words: &mut dyn Iterator<Item = String>| list(words.collect());
    page.push_str("## Words\n\n| where | words |\n| --- | --- |\n");
    let rows = [
        ("begin a clause, or `as`: names in quotes", of(&mut RESERVED.iter().map(ToString::to_string))),
        ("groups after `by`", of(&mut By::WORDS.iter().filter_map(|by| by.word()).map(str::to_owned))),
        ("groups that recur", of(&mut Cycle::ALL.iter().map(ToString::to_string))),
        (
            "spans after `during`, after `this` or `last`",
            of(&mut Calendar::ALL.iter().map(|unit| unit.word().to_owned())),
        ),
        ("units of durations", of(&mut DurationUnit::ALL.iter().map(|unit| unit.letter().to_string()))),
        ("days of the week", of(&mut Weekday::ALL.iter().map(ToString::to_string))),
    ];
    for (place, words) in rows {
        let _ = writeln!(page, "| {place} | {words} |");
    }
    page.push('\n');
}

fn sizes(page: &mut String) {
    page.push_str("## Limits\n\n| of | at most |\n| --- | --- |\n");
    for (of, most) in [
        ("bytes of a question", limits::QUESTION_BYTES.to_string()),
        ("bytes of a name", limits::NAME_BYTES.to_string()),
        ("results", limits::SELECTED.to_string()),
        ("calls", limits::CALLS.to_string()),
        ("parentheses in one another", limits::NESTING.to_string()),
        ("operators in one another", limits::QUESTION_DEPTH.to_string()),
        ("devices named", limits::DEVICES.to_string()),
        ("weights", limits::WEIGHTS.to_string()),
        ("coefficients of a polynomial", limits::POLYNOMIAL.end().to_string()),
        ("groups of a moving average", limits::MOVING_GROUPS.end().to_string()),
        ("bins of a histogram", limits::BINS.end().to_string()),
    ] {
        let _ = writeln!(page, "| {of} | {most} |");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_and_every_word_of_a_clause_is_in_the_grammar() {
        let rules = rules();
        for word in RESERVED {
            assert!(rules.contains(&format!("\"{word}\"")), "{word} is no terminal of the rules:\n{rules}");
        }
        for by in By::WORDS.iter().filter_map(|by| by.word()) {
            assert!(rules.contains(&format!("\"{by}\"")), "{by}");
        }
        for function in functions() {
            let text = format!("{}({}) by day", function.word, function.arguments);
            assert!(Question::parse(&text).is_ok(), "{text}");
            for word in [&[function.word], function.synonyms].concat() {
                assert!(!forms(word).is_empty(), "no form of arguments is known for {word}: add one");
                assert!(calls().contains(&format!("\"{word}\"")), "{word}");
            }
        }
    }
}
