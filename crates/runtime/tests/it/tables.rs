//! Look-ups in tables: plans give the values of the clear backend, in BFV and BGV, and are refused in CKKS.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_program::clear::run_integer;
use sotto_program::{LowerError, Program, ProgramBuilder, SlotShape};
use sotto_rlwe::{Bfv, Bgv, Ckks, Evaluator, Origin, Params, Scheme};
use sotto_runtime::{Encoding, Managed, RlweTarget, RunError, Threads, run_on};

const DEGREE: usize = 8192;
const MODULUS: u64 = 65_537;

fn target<S: Managed>() -> RlweTarget<S> {
    let params = Params::<S>::default_chain(DEGREE, MODULUS).unwrap();
    RlweTarget { params, encoding: Encoding::Slots, origin: Origin::SecretKey, kept: None, may_wrap: true }
}

/// Two tables of x, of which the second is looked up twice, and a sum with a look-up of y.
fn program() -> Program {
    let mut asked = ProgramBuilder::new();
    let (x, y) = (asked.input("x", 3.0), asked.input("y", 3.0));
    let squares = asked.table(x, -3, vec![9, 4, 1, 0, 1, 4, 9]);
    let positive = |asked: &mut ProgramBuilder, of| asked.table(of, -3, vec![0, 0, 0, 0, 1, 1, 1]);
    let (of_x, of_y) = (positive(&mut asked, x), positive(&mut asked, y));
    let both = asked.add(of_x, of_y);
    asked.output("squares", squares);
    asked.output("positive", both);
    asked.finish().unwrap()
}

fn gives_the_clear_values<S: Managed + Scheme<Value = i64>>() {
    let (target, program) = (target::<S>(), program());
    let lowered = target.lower_with_shapes(&program).unwrap();
    assert_eq!(lowered.plan.counts()["table"], 3);
    assert!(lowered.keys.relinearisation);
    let params = &target.params;
    let mut rng = ChaCha20Rng::from_seed([5; 32]);
    let secret = SecretKey::<S>::derive(&DeviceSecret::generate(&mut rng), params);
    let keys = secret.evaluation_keys(true, &[], &mut rng).unwrap();
    let values: Vec<Vec<i64>> =
        [1, 3].map(|step| (0..64).map(|slot| (step * slot) % 7 - 3).collect()).to_vec();
    let inputs = || -> Vec<_> {
        let mut rng = ChaCha20Rng::from_seed([6; 32]);
        let encrypt = |values: &Vec<i64>| {
            let plain = S::encode_slots(params, values, params.top_level()).unwrap();
            secret.encrypt(&plain, &mut rng).unwrap().expand()
        };
        values.iter().map(encrypt).collect()
    };
    let shape = SlotShape { rows: 2, columns: DEGREE as u32 / 2 };
    let clear: Vec<Vec<i128>> = values.iter().map(|of| of.iter().map(|x| (*x).into()).collect()).collect();
    let expected = run_integer(&program, &clear, shape, Some(MODULUS)).unwrap();
    let evaluator = Evaluator::new(params);
    let run = |threads: &Threads, most| run_on(threads, &lowered.plan, &evaluator, inputs(), &keys, most);
    let outputs = run(&Threads::one(), u64::MAX).unwrap();
    for ((output, planned), expected) in outputs.iter().zip(&lowered.outputs).zip(&expected) {
        assert_eq!(output.shape().level, planned.shape.level);
        let decoded = Decryptor::new(&secret).slots(output).unwrap().into_exact(3e4).unwrap();
        let decoded: Vec<i128> = decoded.iter().map(|value| (*value).into()).collect();
        assert_eq!(decoded[..64], expected[..64]);
    }
    // The same bits on two threads.
    let again = run(&Threads::new(2).unwrap(), u64::MAX).unwrap();
    for (one, two) in outputs.iter().zip(&again) {
        assert!(one.components() == two.components());
    }
    // Neither the powers of a look-up nor the key are forgotten.
    assert!(matches!(run(&Threads::one(), 8 << 20), Err(RunError::Memory { .. })));
    let none = secret.evaluation_keys(false, &[], &mut rng).unwrap();
    let refused = run_on(&Threads::one(), &lowered.plan, &evaluator, inputs(), &none, u64::MAX).err();
    assert!(matches!(refused, Some(RunError::Step { step: "table", .. })), "{refused:?}");
}

#[test]
fn bfv_gives_the_clear_values() {
    gives_the_clear_values::<Bfv>();
}

#[test]
fn bgv_gives_the_clear_values() {
    gives_the_clear_values::<Bgv>();
}

#[test]
fn reals_and_constant_tables_are_refused() {
    let params = Params::<Ckks>::default_chain(DEGREE, 0).unwrap();
    let (encoding, origin) = (Encoding::Slots, Origin::SecretKey);
    let reals = RlweTarget { params, encoding, origin, kept: None, may_wrap: true };
    assert!(matches!(reals.lower_with_shapes(&program()), Err(LowerError::NotSupported { .. })));
    let mut asked = ProgramBuilder::new();
    let x = asked.input("x", 3.0);
    let ones = asked.table(x, 0, vec![1; 4]);
    asked.output("ones", ones);
    let refused = target::<Bgv>().lower_with_shapes(&asked.finish().unwrap());
    assert!(matches!(refused, Err(LowerError::NotSupported { .. })));
}
