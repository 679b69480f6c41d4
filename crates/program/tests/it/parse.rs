//! Expressions: their values, and the places of their errors.

use proptest::prelude::*;
use sotto_program::parse::ParseErrorKind;
use sotto_program::{
    Constant, InputDeclaration, Literals, ParseError, ParseOptions, Program, SlotShape, clear, limits, parse,
};

fn any_name() -> ParseOptions {
    ParseOptions { undeclared: Some(100.0), sum_width: Some(4), ..ParseOptions::default() }
}

fn program(text: &str) -> Program {
    parse(text, &any_name()).unwrap_or_else(|refused| panic!("{refused}")).program
}

fn refused(text: &str) -> ParseError {
    parse(text, &ParseOptions { undeclared: Some(100.0), ..ParseOptions::default() }).unwrap_err()
}

/// Evaluates the expression in the clear, with x = 7 and y = -2 in the first slot.
fn value(text: &str) -> f64 {
    let x = InputDeclaration::new("x", 7.0);
    let y = InputDeclaration::new("y", 2.0);
    let asked =
        parse(text, &ParseOptions { inputs: vec![x, y], sum_width: Some(4), ..ParseOptions::default() });
    let program = asked.unwrap_or_else(|refused| panic!("{refused}")).program;
    let shape = SlotShape { rows: 1, columns: 8 };
    clear::run_real(&program, &[vec![7.0], vec![-2.0]], shape).unwrap()[0][0]
}

fn encrypted(text: &str, modulus: Option<u64>) -> i128 {
    let asked = parse(text, &ParseOptions::encrypted_literals()).unwrap();
    let inputs = asked.literal_integers().unwrap();
    clear::run_integer(&asked.program, &inputs, SlotShape::SCALAR, modulus).unwrap()[0][0]
}

#[test]
fn precedence_is_the_usual_one() {
    for (text, expected) in [
        ("3*4+3", 15.0),
        ("3+4*3", 15.0),
        ("2*(3+4)*5", 70.0),
        ("10-4-3", 3.0),
        ("10-(4-3)", 9.0),
        ("-2^2", -4.0),
        ("(-2)^2", 4.0),
        ("2*-3", -6.0),
        ("--x", 7.0),
        ("---x", -7.0),
        ("x^3-2*x*y+y^0", 343.0 + 28.0 + 1.0),
        ("2^10", 1024.0),
        (" 1.5e1\t+\n.25 ", 15.25),
        ("sum(x)", 7.0),
        ("sum([1, 2, 3, 4, 5], 8)", 15.0),
        ("rotate([1, 2.5, -3], 1)", 2.5),
        ("rotate([1, 2, 3], -6)", 3.0),
        ("sum(x*[2, 1], 2)", 14.0),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn secret_numbers_become_inputs() {
    let asked = parse("3*4+3^2", &ParseOptions::encrypted_literals()).unwrap();
    let names: Vec<&str> = asked.program.inputs().iter().map(|input| input.name.as_str()).collect();
    assert_eq!(names, ["x0", "x1", "x2"]);
    let texts: Vec<&str> = asked.literal_inputs.iter().map(|literal| literal.text.as_str()).collect();
    assert_eq!(texts, ["3", "4", "3"]);
    assert_eq!(asked.literal_integers().unwrap(), [[3], [4], [3]]);
    assert_eq!(asked.literal_reals().unwrap(), [[3.0], [4.0], [3.0]]);
    assert_eq!(asked.program.inputs()[1].magnitude, 4.0);
    assert_eq!(asked.program.constants(), []);
    assert_eq!(asked.program.depth().encrypted, 1);

    for (text, expected) in [
        ("3+4", 7),
        ("3*4", 12),
        ("4-3", 1),
        ("30+40", 70),
        ("300+400", 700),
        ("444+555", 999),
        ("349+459", 808),
        ("559+661", 199),
        ("10*10", 100),
        ("25*25", 625),
        ("30*30", 900),
        ("31*31", 961),
        ("30*34", 1020),
        ("3*4+3", 15),
    ] {
        assert_eq!(encrypted(text, Some(1021)), expected, "{text}");
    }
    assert_eq!(encrypted("559+661", None), 1220);
}

#[test]
fn secret_numbers_take_no_names_that_are_used() {
    let options = ParseOptions { undeclared: Some(1.0), ..ParseOptions::encrypted_literals() };
    let asked = parse("3 + x0 * 5 + x2", &options).unwrap();
    let names: Vec<&str> = asked.program.inputs().iter().map(|input| input.name.as_str()).collect();
    assert_eq!(names, ["x1", "x0", "x3", "x2"]);
    assert_eq!(asked.literal_inputs[1].input.0, 2);
    assert_eq!(asked.literal_integers(), None);
    let vector = parse("[1, -2.5] * 2", &ParseOptions::encrypted_literals()).unwrap();
    assert_eq!(vector.literal_inputs[0].value, Constant::Reals(vec![1.0, -2.5]));
    assert_eq!(vector.literal_inputs[0].text, "[1, -2.5]");
    assert_eq!(vector.literal_integers(), None);
    assert_eq!(vector.literal_reals().unwrap(), [vec![1.0, -2.5], vec![2.0]]);
}

#[test]
fn a_number_is_whole_when_its_value_is() {
    let constant = |text: &str| program(text).constants()[0].clone();
    let whole = |value| Constant::Integers(vec![value]);
    assert_eq!(constant("2.50e1"), whole(25));
    assert_eq!(constant("1e3"), whole(1000));
    assert_eq!(constant("0.000"), whole(0));
    assert_eq!(constant("100e-2"), whole(1));
    assert_eq!(constant("170141183460469231731687303715884105727"), whole(i128::MAX));
    assert_eq!(constant("170141183460469231731687303715884105728"), Constant::Reals(vec![2f64.powi(127)]));
    assert_eq!(constant("0.1"), Constant::Reals(vec![0.1]));
    assert_eq!(constant("[1, 2.0]"), Constant::Integers(vec![1, 2]));
}

#[test]
fn inputs_keep_their_order() {
    let inputs = ["load", "temp"].map(|name| InputDeclaration::new(name, 5.0));
    let options = ParseOptions { inputs: inputs.to_vec(), ..any_name() };
    let program = parse("other + temp * temp", &options).unwrap().program;
    let names: Vec<&str> = program.inputs().iter().map(|input| input.name.as_str()).collect();
    assert_eq!(names, ["load", "temp", "other"]);
    assert_eq!(program.counts()["input"], 2);
    assert_eq!(program.outputs()[0].0, "result");
}

#[test]
fn an_error_points_at_the_character() {
    assert_eq!(
        refused("3 * (4 / 2)").to_string(),
        "column 8: division is not possible on ciphertexts: divide after decryption, or multiply by a public number\n    \
         3 * (4 / 2)\n    \
         \u{20}      ^"
    );
    for (text, offset, says) in [
        ("", 0, "the expression is empty"),
        ("   ", 3, "the expression is empty"),
        ("3 +", 3, "expected a number, a name, a function, '(' or '[', found the end"),
        ("3 + * 4", 4, "found '*'"),
        ("(3 + 4", 6, "expected an operator (+ - * ^) or ')', found the end"),
        ("3 + 4)", 5, "expected an operator (+ - * ^) or the end, found ')'"),
        ("2x", 1, "expected an operator (+ - * ^) or the end, found a name"),
        ("2 3", 2, "found a number"),
        ("1.", 2, "expected a digit, found the end"),
        ("1e+", 3, "expected a digit, found the end"),
        ("1e*2", 2, "expected a digit, found '*'"),
        ("3 § 4", 2, "found '§'"),
        ("ü+1", 0, "found 'ü'"),
        ("x^y", 2, "an exponent must be a whole number from 0 to 1024"),
        ("x^-1", 2, "an exponent must be a whole number"),
        ("x^1025", 2, "an exponent must be a whole number"),
        ("x^1.5", 2, "an exponent must be a whole number"),
        ("x^2^3", 3, "parentheses"),
        ("1e400", 0, "too large"),
        ("1e-400", 0, "too small"),
        ("sqrt(x)", 0, "no function is called sqrt"),
        ("1 + sum", 4, "sum is a function"),
        ("sum(x)", 5, "the width of this sum is not known"),
        ("sum(x, 3)", 7, "a power of two"),
        ("sum(x, -4)", 7, "a power of two"),
        ("sum(x, 131072)", 7, "a power of two"),
        ("sum(x, y)", 7, "expected a whole number, found a name"),
        ("rotate(x)", 8, "expected an operator (+ - * ^) or ', steps'"),
        ("rotate(x, 0.5)", 10, "rotation steps must be a whole number"),
        ("rotate(x, 65537)", 10, "rotation steps must be"),
        ("rotate(x, 1, 2)", 11, "expected ')', found ','"),
        ("[1, x]", 4, "expected a number, as in [1, 2, 3]"),
        ("[]", 1, "expected a number, as in [1, 2, 3]"),
        ("[1 2]", 3, "expected ',' or ']'"),
    ] {
        let refused = refused(text);
        assert!(refused.to_string().contains(says), "{text}: {refused}");
        assert_eq!(refused.offset, offset, "{text}: {refused}");
        assert_eq!(refused.column, text[..offset].chars().count() + 1, "{text}");
    }
}

#[test]
fn an_unknown_name_lists_those_there_are() {
    let inputs = ["load", "temp"].map(|name| InputDeclaration::new(name, 5.0));
    let options = ParseOptions { inputs: inputs.to_vec(), ..ParseOptions::default() };
    let refused = parse("load + temperature", &options).unwrap_err();
    assert_eq!(refused.offset, 7);
    assert!(
        refused.to_string().contains("no input is called temperature; expected one of load, temp"),
        "{refused}"
    );
    let refused = parse("x", &ParseOptions::default()).unwrap_err();
    assert!(refused.to_string().contains("there are no named inputs"), "{refused}");
    let bad = ParseOptions { inputs: vec![inputs[0].clone(), inputs[0].clone()], ..ParseOptions::default() };
    assert!(matches!(parse("1", &bad).unwrap_err().kind, ParseErrorKind::Program(_)));
}

#[test]
fn sizes_are_bounded() {
    let kind = |text: &str| refused(text).kind;
    let nested = |deep| format!("{}x{}", "(".repeat(deep), ")".repeat(deep));
    assert!(parse(&nested(limits::NESTING), &any_name()).is_ok());
    assert_eq!(kind(&nested(limits::NESTING + 1)), ParseErrorKind::Nesting);
    assert_eq!(kind(&"(".repeat(60_000)), ParseErrorKind::Nesting);
    assert_eq!(kind(&"sum(".repeat(16_000)), ParseErrorKind::Nesting);
    assert_eq!(program(&format!("{}x", "-".repeat(65_001))).counts()["negate"], 1);
    assert_eq!(kind(&"é".repeat(40_000)), ParseErrorKind::TooLong { bytes: 80_000 });
    let text = vec!["x^1023"; 9000].join("+");
    assert_eq!(kind(&text), ParseErrorKind::Nodes);
    assert!(parse(&vec!["x"; 30_000].join("+"), &any_name()).is_ok());
    let text = vec!["1"; limits::INPUTS + 1].join("+");
    let refused = parse(&text, &ParseOptions::encrypted_literals()).unwrap_err();
    assert_eq!((refused.kind, refused.offset), (ParseErrorKind::Inputs, 2 * limits::INPUTS));
    assert!(matches!(kind(&"x".repeat(65)), ParseErrorKind::Program(_)));
}

#[test]
fn a_drawing_is_short_and_safe_to_print() {
    let text = format!("{}\u{1b}[31m{}", "1+".repeat(20_000), "+1".repeat(1000));
    let refused = refused(&text);
    assert_eq!((refused.offset, refused.column), (40_000, 40_001));
    let drawn = refused.to_string();
    assert!(!drawn.contains('\u{1b}'), "{drawn}");
    let lines: Vec<&str> = drawn.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[1].chars().count() <= 80);
    let caret = lines[2].chars().count() - 1;
    assert_eq!(lines[1].chars().nth(caret), Some('\u{fffd}'));
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[-+*^(), \\[\\]0-9a-z.é/]{0,60}") {
        for literals in [Literals::Public, Literals::Encrypted] {
            if let Err(refused) = parse(&text, &ParseOptions { literals, ..any_name() }) {
                prop_assert!(refused.offset <= text.len() && text.is_char_boundary(refused.offset));
                prop_assert_eq!(refused.to_string().lines().count(), 3);
            }
        }
    }

    #[test]
    fn sums_of_products_come_out_as_in_rust(a in 0i128..1000, b in 0i128..1000, c in 0i128..1000, d in 0i128..1000) {
        prop_assert_eq!(encrypted(&format!("{a}-{b}*{c}+-({d}-{a})*{b}"), None), a - b * c + -(d - a) * b);
    }
}
