//! Compares tables in the clear with the functions that define them, and their dry runs with their costs.

use proptest::prelude::*;
use sotto_circuits::{
    CircuitError, Clear, Outline, PowerSums, Table, TwoDigits, choose_parameters, extremes, maximum, minimum,
};
use sotto_rlwe::{Bfv, Bgv, LevelRules, Origin, Params, Shape};

const T: u64 = 65_537;

fn machine(slots: usize) -> Clear<i64> {
    Clear::integers(T, 1, slots)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn tables_are_their_functions(
        first in -3000i64..=3000,
        values in prop::collection::vec(-32768i64..=32768, 2..300),
    ) {
        prop_assume!(values.iter().any(|value| *value != values[0]));
        let table = Table::new(first, values.clone()).unwrap();
        let points: Vec<i64> = table.range().collect();
        prop_assert_eq!(table.evaluate(&mut machine(points.len()), &points).unwrap(), values);
    }

    #[test]
    fn tables_that_share_powers_are_their_functions(first in -200i64..=200, steps in 2i64..=80, seed in 1i64..=1000) {
        let range = first..=first + steps;
        let tables = [
            Table::from_fn(range.clone(), |x| (x * seed) % 7).unwrap(),
            Table::greater(range.clone(), first + steps / 2).unwrap(),
            Table::from_fn(range.clone(), |x| x * x).unwrap(),
        ];
        prop_assume!(tables.iter().all(|table| table.values().iter().any(|v| *v != table.values()[0])));
        let points: Vec<i64> = range.collect();
        let all: Vec<&Table> = tables.iter().collect();
        let found = Table::evaluate_many(&mut machine(points.len()), &all, &points).unwrap();
        for (table, found) in tables.iter().zip(found) {
            let centred = |x: &i64| if 2 * x >= T as i64 { x - T as i64 } else { *x };
            prop_assert_eq!(found, table.values().iter().map(centred).collect::<Vec<_>>());
        }
    }

    #[test]
    fn two_digits_compare_like_the_value(radix in 2u32..=70, width in 10i64..=4200, first in -5000i64..=5000, a in 0f64..1.0, b in 0f64..1.0) {
        prop_assume!(width / i64::from(radix) < 500);
        let last = first + width;
        let digits = TwoDigits::new(first..=last, radix).unwrap();
        let at = |part: f64| first + (part * width as f64) as i64;
        let (from, to) = (at(a.min(b)), at(a.max(b)));
        let values: Vec<i64> = (first..=last).collect();
        let [high, low] = [0, 1].map(|d| values.iter().map(|x| digits.split(*x).unwrap()[d]).collect::<Vec<_>>());
        let cases = [
            (digits.between(from..=to), Box::new(move |x: i64| (from..=to).contains(&x)) as Box<dyn Fn(i64) -> bool>),
            (digits.greater(from), Box::new(move |x| x > from)),
            (digits.at_least(from), Box::new(move |x| x >= from)),
            (digits.less(to), Box::new(move |x| x < to)),
            (digits.at_most(to), Box::new(move |x| x <= to)),
            (digits.equal(from), Box::new(move |x| x == from)),
        ];
        for (table, predicate) in cases {
            let expected: Vec<i64> = values.iter().map(|x| i64::from(predicate(*x))).collect();
            match table {
                Ok(table) => {
                    prop_assert_eq!(table.evaluate(&mut machine(values.len()), &high, &low).unwrap(), expected);
                }
                Err(error) => {
                    prop_assert_eq!(error, CircuitError::Constant);
                    prop_assert!(expected.iter().all(|v| *v == expected[0]));
                }
            }
        }
        for x in [first, from, to, last] {
            prop_assert_eq!(digits.join(digits.split(x).unwrap()), x);
        }
    }
}

#[test]
fn every_limit_of_eight_bits() {
    let values: Vec<i64> = (0..256).collect();
    for limit in 0..255 {
        let above = Table::greater(0..=255, limit).unwrap().evaluate(&mut machine(256), &values).unwrap();
        assert!(above.iter().zip(&values).all(|(found, x)| *found == i64::from(*x > limit)), "limit {limit}");
    }
}

#[test]
fn extremes_of_all_pairs() {
    let (low, high) = (-100, 155);
    let pairs: Vec<(i64, i64)> = (low..=high).flat_map(|a| (low..=high).map(move |b| (a, b))).collect();
    let (a, b): (Vec<i64>, Vec<i64>) = pairs.iter().copied().unzip();
    let m = &mut machine(pairs.len());
    let [smaller, larger] = extremes(m, &a, &b, low..=high).unwrap();
    for ((pair, smaller), larger) in pairs.iter().zip(&smaller).zip(&larger) {
        assert_eq!((*smaller, *larger), (pair.0.min(pair.1), pair.0.max(pair.1)));
    }
    assert_eq!(maximum(m, &a, &b, low..=high).unwrap(), larger);
    assert_eq!(minimum(m, &a, &b, low..=high).unwrap(), smaller);
}

#[test]
fn symmetric_tables_take_fewer_products() {
    let clear = machine(1);
    let cost = |table: Table| Table::cost(&clear, &[&table]).unwrap();
    let whole = cost(Table::from_fn(-255..=255, |x| i64::from(x > 3)).unwrap());
    let even = cost(Table::from_fn(-255..=255, |x| x.abs()).unwrap());
    let odd = cost(Table::greater(0..=255, 127).unwrap());
    assert_eq!((whole.depth, even.depth), (9, 9));
    assert!(whole.products > even.products && whole.relinearisations > even.relinearisations);
    assert!(odd.products < cost(Table::greater(0..=255, 128).unwrap()).products);
}

fn costs<S: LevelRules<Value = i64>>() {
    let params = Params::<S>::default_chain(32768, T).unwrap();
    let fresh = Shape::fresh(&params, Origin::SecretKey, 1.0).unwrap();
    for steps in [2, 3, 4, 5, 8, 17, 33, 64, 65, 100, 255, 256, 400, 511] {
        let table = Table::equal(0..=steps - 1, 0).unwrap();
        let mut outline = Outline::new(&params);
        let cost = Table::cost(&outline, &[&table]).unwrap();
        table.evaluate(&mut outline, &fresh).unwrap();
        let least = ((steps - 1) as f64).log2().ceil() as usize;
        assert_eq!(cost.depth, least, "{steps} steps");
        let tally = outline.tally();
        assert_eq!(
            (tally.products, tally.relinearisations),
            (cost.products, cost.relinearisations),
            "{steps} steps"
        );
    }
}

#[test]
fn costs_are_those_of_a_dry_run() {
    costs::<Bfv>();
    costs::<Bgv>();
}

#[test]
fn refusals_say_which_range_would_do() {
    let long = Table::greater(0..=511, 3).unwrap_err();
    assert_eq!(long, CircuitError::TableRange { steps: 512, most: 511 });
    assert_eq!(Table::new(0, Vec::new()).unwrap_err(), CircuitError::TableRange { steps: 0, most: 511 });
    let reversed = core::ops::RangeInclusive::new(5, 4);
    assert!(matches!(Table::greater(reversed, 3), Err(CircuitError::TableRange { steps: 0, .. })));
    let constant = Table::greater(0..=255, 255).unwrap();
    let refused = constant.evaluate(&mut machine(1), &vec![3]).unwrap_err();
    assert_eq!(refused, CircuitError::TableConstant { value: 0, first: 0, last: 255 });
    let small = Table::greater(0..=255, 80).unwrap().evaluate(&mut Clear::integers(251, 1, 1), &vec![3]);
    assert_eq!(small.unwrap_err(), CircuitError::TableModulus { modulus: 251, steps: 256 });
    assert!(matches!(
        maximum(&mut machine(1), &vec![1], &vec![2], 0..=256),
        Err(CircuitError::TableRange { steps: 257, most: 256 })
    ));
    assert!(matches!(PowerSums::new(0..=256), Err(CircuitError::TableRange { steps: 257, most: 256 })));
    // Products of three tables of 256 steps are too deep for every degree.
    let table = Table::equal(0..=255, 3).unwrap();
    let deep = choose_parameters::<Bgv>(T, Origin::SecretKey, 1, |machine, x| {
        let mut value = x[0];
        for _ in 0..4 {
            value = table.evaluate(machine, &value)?;
        }
        Ok(value)
    });
    let refused = deep.unwrap_err();
    assert!(matches!(refused, CircuitError::NoChain { degree: 32768, .. }), "{refused}");
    assert!(refused.to_string().contains("declare a range of fewer steps"), "{refused}");
}
