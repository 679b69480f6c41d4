//! The steps of flows, and the numbers that the recryptor sees.

use sotto_emulate::{Flow, FlowStep, Products};
use sotto_program::{NodeId, ParseOptions, Program, ProgramBuilder, parse};

use super::setting::{CONVERTED, MODES, SETTING, lower, meaning};

fn asked(expression: &str) -> Program {
    let options = ParseOptions { undeclared: Some(15.0), ..ParseOptions::default() };
    parse(expression, &options).unwrap().program
}

fn counted(flow: &Flow, name: &str) -> usize {
    flow.steps().iter().filter(|step| step.name() == name).count()
}

/// Returns (conversions to ElGamal, conversions back, successive trips), and for the blinded mode (products,
/// blinded numbers, successive trips).
fn costs(expression: &str) -> ([usize; 3], [usize; 3]) {
    let flows = [CONVERTED, Products::Blinded].map(|products| lower(&asked(expression), products).unwrap());
    let [converted, blinded] = &flows;
    assert_eq!(converted.seen().len(), converted.requests());
    assert!(blinded.seen().is_empty() && blinded.code().is_none());
    (
        [counted(converted, "ask-elgamal"), counted(converted, "ask-paillier"), converted.rounds()],
        [counted(blinded, "ask-product"), blinded.blinded(), blinded.rounds()],
    )
}

#[test]
fn nothing_is_asked_twice_and_products_stay_where_they_are() {
    // A product: both factors are converted, the product comes back.
    assert_eq!(costs("x*y"), ([2, 1, 2], [1, 2, 1]));
    // A product of products comes back once.
    assert_eq!(costs("x*y*z*x"), ([3, 1, 2], [3, 5, 3]));
    // A square has one factor to convert.
    assert_eq!(costs("x*x"), ([1, 1, 2], [1, 1, 1]));
    // Sums, public factors and signs need no request.
    assert_eq!(costs("3*x-y*7+x+x+4"), ([0, 0, 0], [0, 0, 0]));
    // Public factors and signs are moved out of products, so that only x and y are multiplied.
    assert_eq!(costs("(3*x)*(-y)+x*y*5"), ([2, 1, 2], [1, 2, 1]));
    // A common subexpression is computed once, in any order of its operands.
    assert_eq!(costs("(x+y)*(y+x)+(x+y)*(x+y)"), ([1, 1, 2], [1, 1, 1]));
    // A weighted sum of any length takes two trips, or one.
    assert_eq!(costs("a*b+c*d+e*f+g*h"), ([8, 4, 2], [4, 8, 1]));
}

#[test]
fn a_product_too_long_for_the_group_goes_on_after_a_trip() {
    // ((x·x)·x)·… of 20 factors, 31 bits for each number: eight factors of 32 bits fit 2,046 bits.
    let mut program = ProgramBuilder::new();
    let x = program.input("x", 2.0);
    let power = (1..20).fold(x, |power, _| program.mul(power, x));
    program.output("y", power);
    let program = program.finish().unwrap();
    let flow = lower(&program, CONVERTED).unwrap();
    let code = flow.code().unwrap();
    assert!(code.fits(2046) && code.factors() < 20);
    assert!(flow.rounds() > 2, "{flow}");
    for (products, schedule) in MODES {
        let flow = lower(&program, products).unwrap();
        for value in [2, -2, 1, 0] {
            let found = SETTING.answers(&flow, &[value], &SETTING.recryptor, schedule).unwrap();
            assert_eq!(found, meaning(&program, &[value]), "{products:?} {value}\n{flow}");
        }
    }
}

#[test]
fn the_plan_says_what_the_agent_sees() {
    let program = asked("x*y+z");
    let flow = lower(&program, CONVERTED).unwrap();
    let seen: Vec<(NodeId, &str)> =
        flow.seen().iter().map(|seen| (seen.node, flow.steps()[seen.step.0 as usize].name())).collect();
    assert_eq!(seen, [(NodeId(0), "ask-elgamal"), (NodeId(1), "ask-elgamal"), (NodeId(2), "ask-paillier")]);
    assert!(flow.to_string().contains("the recryptor sees 3 values in clear: of nodes 0, 1, 2"), "{flow}");
    let flow = lower(&program, Products::Blinded).unwrap();
    assert!(flow.to_string().contains("the recryptor sees no value in clear, and 2 blinded ones"), "{flow}");
}

#[test]
fn public_answers_are_encrypted() {
    let program = asked("x*y-y*x+5");
    for (products, schedule) in MODES {
        let flow = lower(&program, products).unwrap();
        assert_eq!(flow.steps(), [FlowStep::Public(5)]);
        assert_eq!(SETTING.answers(&flow, &[3, 4], &SETTING.recryptor, schedule).unwrap(), [5]);
    }
}
