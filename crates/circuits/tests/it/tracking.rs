//! The machine that follows errors: shapes and refusals are those of the machine that it wraps.

use std::sync::LazyLock;

use proptest::prelude::*;
use sotto_circuits::{
    CircuitError, ErrorRules, Errors, Event, Machine, Outline, Polynomial, Tracked, Tracking, sum_block,
};
use sotto_rlwe::{Bgv, Ckks, LevelRules, Origin, Params, Shape};

/// An operation on a stack of vectors.
#[derive(Clone, Debug)]
enum Step {
    Copy(usize),
    Add(usize),
    Subtract(usize),
    Negate,
    AddConstant(i32),
    MultiplyConstant(i32),
    MultiplyFraction(i32),
    MultiplyVector(i32),
    Weighted(usize, i32),
    Multiply(usize),
    Rotate(i32),
    SwapRows,
    SumBlock(usize),
    Lower,
    Polynomial,
    Bounds,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (at, number) = (0..8_usize, -4..5_i32);
    let step = prop_oneof![
        at.clone().prop_map(Step::Copy),
        at.clone().prop_map(Step::Add),
        at.clone().prop_map(Step::Subtract),
        Just(Step::Negate),
        number.clone().prop_map(Step::AddConstant),
        number.clone().prop_map(Step::MultiplyConstant),
        number.clone().prop_map(Step::MultiplyFraction),
        number.clone().prop_map(Step::MultiplyVector),
        (at.clone(), number).prop_map(|(at, number)| Step::Weighted(at, number)),
        at.prop_map(Step::Multiply),
        (-20..21_i32).prop_map(Step::Rotate),
        Just(Step::SwapRows),
        (1..40_usize).prop_map(Step::SumBlock),
        Just(Step::Lower),
        Just(Step::Polynomial),
        Just(Step::Bounds),
    ];
    proptest::collection::vec(step, 1..14)
}

/// Runs one step; the result becomes the last vector.
fn step<M: Machine>(
    machine: &mut M,
    all: &[M::Vector],
    step: &Step,
    number: &impl Fn(f64) -> M::Value,
) -> Result<M::Vector, CircuitError> {
    let last = &all[all.len() - 1];
    let other = |at: &usize| &all[at % all.len()];
    let whole = |value: &i32| number(f64::from(*value));
    match step {
        Step::Copy(at) => Ok(machine.copy(other(at))),
        Step::Add(at) => machine.add(last, other(at)),
        Step::Subtract(at) => machine.subtract(last, other(at)),
        Step::Negate => machine.negate(last),
        Step::AddConstant(value) => machine.add_constant(last, whole(value)),
        Step::MultiplyConstant(value) => machine.multiply_constant(last, whole(value)),
        Step::MultiplyFraction(value) => machine.multiply_constant(last, number(f64::from(*value) / 3.0)),
        Step::MultiplyVector(value) => machine.multiply_vector(last, &[whole(value), whole(&1), whole(&-2)]),
        Step::Weighted(at, value) => {
            let sums = machine.weighted_sums(&[last, other(at)], &[vec![whole(value), whole(&2)]])?;
            sums.into_iter().next().ok_or(CircuitError::Empty("a weighted sum"))
        }
        Step::Multiply(at) => machine.multiply(last, other(at)),
        Step::Rotate(by) => machine.rotate(last, *by),
        Step::SwapRows => machine.swap_rows(last),
        Step::SumBlock(size) => sum_block(machine, last, *size),
        Step::Lower => machine.lower(last, machine.level(last).saturating_sub(1)),
        Step::Polynomial => Polynomial::new(vec![whole(&1), whole(&2), whole(&3)]).evaluate(machine, last),
        Step::Bounds => {
            let (copy, error) = (machine.copy(last), machine.slot_error(last));
            Ok(machine.with_slot_bounds(copy, 1.0, error))
        }
    }
}

/// Runs the steps on shapes alone and on shapes with errors.
fn same<S: LevelRules>(
    params: &Params<S>,
    steps: &[Step],
    number: impl Fn(f64) -> S::Value,
) -> Result<(), TestCaseError>
where
    S::Value: sotto_circuits::Number,
{
    let fresh = Shape::fresh(params, Origin::SecretKey, 1.0).unwrap();
    let rules = ErrorRules::new(params);
    let errors =
        rules.map_or_else(Errors::default, |rules| rules.fresh(Origin::SecretKey, Event::new(), 0, None));
    let (mut plain, mut tracking) = (Outline::new(params), Tracking::new(Outline::new(params)));
    let (mut shapes, mut tracked) = (vec![fresh], vec![Tracked::new(&fresh, errors)]);
    for one in steps {
        let shape = step(&mut plain, &shapes, one, &number);
        let beside = step(&mut tracking, &tracked, one, &number);
        match (shape, beside) {
            (Ok(shape), Ok(beside)) => {
                prop_assert_eq!(format!("{shape:?}"), format!("{:?}", *beside));
                if let Some(rules) = rules {
                    let bound = rules.slot_error(params, beside.errors(), &shape, None);
                    prop_assert!(bound <= shape.slot_error(params));
                    let read = rules.slot_error(params, beside.errors(), &shape, Some(4));
                    prop_assert!(read <= bound * (1.0 + 1e-9), "{read} {bound}");
                }
                shapes.push(shape);
                tracked.push(beside);
            }
            (Err(shape), Err(beside)) => prop_assert_eq!(shape.to_string(), beside.to_string()),
            (shape, beside) => {
                prop_assert!(false, "{:?} {:?}", shape.err(), beside.err().map(|e| e.to_string()));
            }
        }
    }
    prop_assert_eq!(plain.tally(), tracking.machine().tally());
    Ok(())
}

static REAL: LazyLock<Params<Ckks>> = LazyLock::new(|| Params::default_chain(8192, 0).unwrap());
static WHOLE: LazyLock<Params<Bgv>> = LazyLock::new(|| Params::default_chain(8192, 65_537).unwrap());

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn shapes_and_refusals_are_those_of_the_wrapped_machine(steps in steps()) {
        same(&REAL, &steps, |value| value)?;
        same(&WHOLE, &steps, |value| value as i64)?;
    }
}
