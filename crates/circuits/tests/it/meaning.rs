//! Compares circuits in the clear with the formulas that define them.

use proptest::prelude::*;
use sotto_circuits::{
    CircuitError, Clear, Machine, Polynomial, Transform, exponentiate, inner_product,
    inner_product_with_plain, multiply_many, sum_all, sum_block, sum_row,
};

const T: u64 = 65537;

fn machine() -> Clear<i64> {
    Clear::integers(T, 2, 16)
}

fn centred(value: i128) -> i64 {
    let residue = value.rem_euclid(i128::from(T));
    (if 2 * residue >= i128::from(T) { residue - i128::from(T) } else { residue }) as i64
}

fn values() -> impl Strategy<Value = Vec<i64>> {
    prop::collection::vec(-32768i64..=32768, 32)
}

/// Returns column c of the row of slot `slot`.
fn at(values: &[i64], slot: usize, c: usize) -> i128 {
    i128::from(values[slot / 16 * 16 + c % 16])
}

proptest! {
    #[test]
    fn sums_are_sums_of_neighbours(values in values(), size in 1usize..=16) {
        let m = &mut machine();
        let sum = sum_block(m, &values, size).unwrap();
        for (slot, found) in sum.iter().enumerate() {
            let expected = (0..size).map(|k| at(&values, slot, slot % 16 + k)).sum();
            prop_assert_eq!(*found, centred(expected));
        }
        let row: i128 = (0..16).map(|c| at(&values, 16, c)).sum();
        prop_assert_eq!(sum_row(m, &values).unwrap()[20], centred(row));
        let all = centred(values.iter().map(|v| i128::from(*v)).sum());
        prop_assert_eq!(sum_all(m, &values).unwrap(), vec![all; 32]);
    }

    #[test]
    fn inner_products(a in values(), b in values(), size in 1usize..=16) {
        let m = &mut machine();
        let product = inner_product(m, &a, &b, size).unwrap();
        for (slot, found) in product.iter().enumerate() {
            let expected =
                (0..size).map(|k| at(&a, slot, slot % 16 + k) * at(&b, slot, slot % 16 + k)).sum();
            prop_assert_eq!(*found, centred(expected));
        }
        if b.iter().any(|v| v % T as i64 != 0) {
            prop_assert_eq!(inner_product_with_plain(m, &a, &b, size).unwrap(), product);
        }
    }

    #[test]
    fn powers_and_products(a in values(), exponent in 1u64..200, count in 1usize..9) {
        let m = &mut machine();
        let power = |v: i64, e: u64| centred((0..e).fold(1, |p, _| i128::from(centred(p * i128::from(v)))));
        let expected: Vec<i64> = a.iter().map(|v| power(*v, exponent)).collect();
        prop_assert_eq!(exponentiate(m, &a, exponent).unwrap(), expected);
        let expected: Vec<i64> = a.iter().map(|v| power(*v, count as u64)).collect();
        prop_assert_eq!(multiply_many(m, &vec![&a; count]).unwrap(), expected);
    }

    #[test]
    fn polynomials(a in values(), coefficients in prop::collection::vec(-3i64..=3, 2..80)) {
        let m = &mut machine();
        let polynomial = Polynomial::new(coefficients.clone());
        let horner = |v: i64| {
            let x = i128::from(v);
            centred(coefficients.iter().rev().fold(0, |sum, c| (sum * x + i128::from(*c)).rem_euclid(i128::from(T))))
        };
        match coefficients.iter().rposition(|c| *c != 0) {
            None | Some(0) => {
                prop_assert_eq!(polynomial.evaluate(m, &a).unwrap_err(), CircuitError::Constant);
            }
            Some(degree) => {
                let expected: Vec<i64> = a.iter().map(|v| horner(*v)).collect();
                prop_assert_eq!(polynomial.evaluate(m, &a).unwrap(), expected);
                let cost = polynomial.cost(m).unwrap();
                prop_assert_eq!(cost.depth, (degree as f64).log2().ceil() as usize);
                let bound = 2.0 * (2.0 * degree as f64).sqrt() + (degree as f64).log2() + 1.0;
                prop_assert!(cost.products as f64 <= bound, "degree {}: {:?}", degree, cost);
            }
        }
    }

    #[test]
    fn transforms(
        entries in prop::collection::vec(-3i64..=3, 256),
        rows in 0u32..5,
        columns in 0u32..5,
        x in prop::collection::vec(-32768i64..=32768, 16),
    ) {
        let (rows, columns) = (1usize << rows, 1usize << columns);
        let entries = &entries[..rows * columns];
        let transform = Transform::new(entries, rows, columns, 16).unwrap();
        let repeated: Vec<i64> = (0..32).map(|slot| x[slot % columns]).collect();
        let m = &mut machine();
        if entries.iter().all(|v| *v == 0) {
            prop_assert!(transform.apply(m, &repeated).is_err());
        } else {
            let y = transform.apply(m, &repeated).unwrap();
            for (slot, found) in y.iter().enumerate() {
                let i = slot % rows;
                let expected =
                    (0..columns).map(|j| i128::from(entries[i * columns + j]) * i128::from(x[j])).sum();
                prop_assert_eq!(*found, centred(expected));
            }
        }
        let count = rows.min(columns);
        let fold = (columns / rows).max(1).trailing_zeros() as usize;
        let bound = 2.0 * (2.0 * count as f64).sqrt() + fold as f64;
        prop_assert!(transform.rotations() as f64 <= bound);
        prop_assert!(transform.steps().iter().all(|step| m.can_rotate(*step) && *step != 0));
    }
}

#[test]
fn refusals_name_the_way_out() {
    let m = &mut machine();
    let a = vec![1; 32];
    assert_eq!(multiply_many(m, &[]).unwrap_err(), CircuitError::Empty("a product"));
    assert_eq!(exponentiate(m, &a, 0).unwrap_err(), CircuitError::Constant);
    assert_eq!(sum_block(m, &a, 0).unwrap_err(), CircuitError::Block { size: 0, row: 16 });
    assert_eq!(sum_block(m, &a, 17).unwrap_err(), CircuitError::Block { size: 17, row: 16 });
    let error = Transform::<i64>::new(&[1; 9], 3, 3, 16).unwrap_err();
    assert_eq!(error, CircuitError::Matrix { rows: 3, columns: 3, row: 16 });
    let error = Transform::<i64>::new(&[1; 3], 2, 2, 16).unwrap_err();
    assert_eq!(error, CircuitError::Entries { expected: 4, found: 3 });
    assert!(m.multiply_constant(&a, T as i64).unwrap_err().to_string().contains("zero whatever"));
    assert!(m.rotate(&a, 16).unwrap_err().to_string().contains("rows hold 16 slots"));
}
