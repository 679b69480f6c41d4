//! Refusals before a key exists, and the ends of the accepted ranges.

use sotto_emulate::{
    BLINDING_BITS, Emulation, FlowStep, LARGEST_CLEAR_BITS, LARGEST_ELGAMAL_BITS, LowerError, Products,
};
use sotto_program::{
    Constant, InputDeclaration, InputId, KeyNumber, NodeId, Op, Program, ProgramBuilder, ProgramParts,
};

use super::setting::{CONVERTED, KEY_BITS, MODES, SETTING, lower, meaning};

/// Makes the program x·y of two inputs of these magnitudes.
fn product(x: i128, y: i128) -> Program {
    let mut asked = ProgramBuilder::new();
    let (x, y) = (asked.input("x", x as f64), asked.input("y", y as f64));
    let product = asked.mul(x, y);
    asked.output("z", product);
    asked.finish().unwrap()
}

fn power_of(magnitude: f64, exponent: u32) -> Program {
    let mut asked = ProgramBuilder::new();
    let x = asked.input("x", magnitude);
    let power = (1..exponent).fold(x, |power, _| asked.mul(power, x));
    asked.output("y", power);
    asked.finish().unwrap()
}

#[test]
fn the_ends_of_the_ranges_are_right_and_beyond_is_refused() {
    // A product of at most 62 bits is correct under ElGamal. One of 64 bits is refused, and the error names
    // the way out.
    let fits = product((1 << 31) - 1, 1 << 31);
    for (products, schedule) in MODES {
        let flow = lower(&fits, products).unwrap();
        for values in [[(1 << 31) - 1, 1 << 31], [-(1 << 31) + 1, 1 << 31], [0, -(1 << 31)]] {
            let found = SETTING.answers(&flow, &values, &SETTING.recryptor, schedule).unwrap();
            assert_eq!(found, meaning(&fits, &values));
        }
    }
    let wide = product(1 << 32, 1 << 31);
    let refused = lower(&wide, CONVERTED).unwrap_err();
    assert_eq!(refused, LowerError::ElGamalRange { at: NodeId(2), bits: 64, most: LARGEST_ELGAMAL_BITS });
    assert!(refused.to_string().contains("paillier-blinded"));
    // Blinded products may have up to 127 bits.
    let widest = product((1 << 63) - 1024, 1 << 63);
    let flow = lower(&widest, Products::Blinded).unwrap();
    for values in [[(1 << 63) - 1024, 1 << 63], [-(1 << 63) + 1024, 1 << 63], [1, 0]] {
        let found = SETTING.answers(&flow, &values, &SETTING.recryptor, MODES[2].1).unwrap();
        assert_eq!(found, meaning(&widest, &values));
    }
    let beyond = product(1 << 64, 1 << 63);
    let range = LowerError::Range { at: NodeId(2), most: LARGEST_CLEAR_BITS };
    assert_eq!(lower(&beyond, Products::Blinded).unwrap_err(), range);
    assert_eq!(lower(&beyond, CONVERTED).unwrap_err(), range);
}

#[test]
fn sums_and_public_factors_are_held_to_the_range_too() {
    let with = |build: fn(&mut ProgramBuilder, NodeId) -> NodeId| {
        let mut asked = ProgramBuilder::new();
        let x = asked.input("x", 1e38);
        let y = build(&mut asked, x);
        asked.output("y", y);
        lower(&asked.finish().unwrap(), Products::Blinded).map(|_| ())
    };
    assert_eq!(with(|_, x| x), Ok(()));
    for build in [
        |asked: &mut ProgramBuilder, x| asked.add(x, x),
        |asked: &mut ProgramBuilder, x| {
            let seven = asked.integer(7);
            asked.mul(seven, x)
        },
        |asked: &mut ProgramBuilder, x| {
            let large = asked.integer(i128::MAX);
            asked.sub(x, large)
        },
        |asked: &mut ProgramBuilder, _| asked.integer(i128::MIN),
        |asked: &mut ProgramBuilder, _| {
            let least = asked.integer(i128::MIN);
            asked.neg(least)
        },
    ] {
        assert!(matches!(with(build), Err(LowerError::Range { most: 127, .. })));
    }
    for magnitude in [2f64.powi(127), f64::MAX] {
        assert!(matches!(lower(&power_of(magnitude, 1), CONVERTED), Err(LowerError::Range { .. })));
    }
}

#[test]
fn a_value_that_no_answer_reads_may_be_of_any_size() {
    let mut asked = ProgramBuilder::new();
    let (x, y) = (asked.input("x", 5.0), asked.input("y", 1e300));
    asked.mul(x, y);
    asked.output("x", x);
    let program = asked.finish().unwrap();
    let flow = lower(&program, Products::Blinded).unwrap();
    assert_eq!((flow.steps().len(), flow.requests()), (1, 0));
}

#[test]
fn blinding_numbers_are_longer_than_what_they_hide_and_need_room() {
    let program = power_of(1000.0, 4);
    let flow = lower(&program, Products::Blinded).unwrap();
    // x, x², x³ have 10, 20, 30 bits. Three products have at most six blinding numbers, which takes three
    // bits more.
    let found: Vec<u32> = flow
        .steps()
        .iter()
        .filter_map(|step| match step {
            FlowStep::Blind(_, bits) => Some(*bits),
            _ => None,
        })
        .collect();
    assert_eq!(found, [10, 20, 30].map(|bits| bits + BLINDING_BITS + 3));
    let lower = |key_bits| Emulation { key_bits, products: Products::Blinded }.lower(&program);
    assert!(lower(10 + 20 + BLINDING_BITS + 3 + 2).is_ok());
    let refused = LowerError::BlindingRoom { at: NodeId(3), bits: 114, most: 113 };
    assert_eq!(lower(30 + BLINDING_BITS + 3 + 1).unwrap_err(), refused);
}

#[test]
fn what_needs_slots_reals_or_keys_is_refused_with_the_way_out() {
    let refused = |build: &dyn Fn(&mut ProgramBuilder) -> NodeId| {
        let mut asked = ProgramBuilder::new();
        let node = build(&mut asked);
        asked.output("y", node);
        lower(&asked.finish().unwrap(), CONVERTED).unwrap_err()
    };
    let supported = |error: &LowerError| matches!(error, LowerError::NotSupported { .. });
    assert!(supported(&refused(&|asked| asked.real(0.5))));
    let foreign = Program::new(ProgramParts {
        ops: vec![Op::Input(InputId(0))],
        inputs: vec![InputDeclaration::new("x", 1.0).under(KeyNumber(1))],
        constants: Vec::new(),
        outputs: vec![("y".into(), NodeId(0))],
    });
    assert!(supported(&lower(&foreign.unwrap(), CONVERTED).unwrap_err()));
    for error in [
        refused(&|asked| {
            let x = asked.input("x", 1.0);
            asked.sum(x, 2)
        }),
        refused(&|asked| asked.constant(Constant::Integers(vec![1, 2]))),
    ] {
        assert!(matches!(error, LowerError::Invalid(_)), "{error}");
    }
    let small = Emulation { key_bits: KEY_BITS, products: Products::Converted { group_bits: 16 } };
    assert!(supported(&small.lower(&product(3, 4)).unwrap_err()));
}
