//! Signs of reals: plans give the composition of polynomials within the planned error, and are refused where they cannot.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_circuits::Sign;
use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_program::{Constant, Depth, LowerError, NodeId, Program, ProgramBuilder, limits, magnitudes};
use sotto_rlwe::{
    Bfv, Bgv, ChainRequest, Ckks, EvalError, Evaluator, Origin, Params, Scheme, SchemeId, Shape,
};
use sotto_runtime::{Encoding, Managed, RlweTarget, RunError, StepRules, Threads, check, run_on};

const DEGREE: usize = 4096;
/// The limit that readings are compared with. The difference is within ±1.
const LIMIT: f64 = 0.25;

/// A chain of a larger degree at n = 4096, which is fast and not secure.
fn insecure(levels: usize, scale_bits: u32) -> Params<Ckks> {
    let request = ChainRequest {
        levels: Some(levels),
        other_bits: Some(scale_bits),
        ..ChainRequest::new(SchemeId::Ckks, 65_536, 0)
    };
    let mut spec = request.build().unwrap();
    spec.degree = DEGREE;
    Params::insecure(spec).unwrap()
}

fn target<S: Managed>(params: Params<S>) -> RlweTarget<S> {
    let (encoding, origin) = (Encoding::Slots, Origin::SecretKey);
    RlweTarget { params, encoding, origin, kept: None, may_wrap: true }
}

fn composition(gap_bits: u8) -> Sign {
    Sign::with_gap(f64::from(-i32::from(gap_bits)).exp2()).unwrap()
}

/// The sign of x − limit, and its product with y.
fn program(gap_bits: u8, magnitude: f64) -> Program {
    let mut asked = ProgramBuilder::new();
    let (x, y) = (asked.input("x", magnitude), asked.input("y", 1.0));
    let limit = asked.real(LIMIT);
    let difference = asked.sub(x, limit);
    let sign = asked.sign(difference, gap_bits);
    let product = asked.mul(sign, y);
    asked.output("sign", sign);
    asked.output("product", product);
    asked.finish().unwrap()
}

/// The sign of the input alone.
fn sign_alone(gap_bits: u8, magnitude: f64) -> Program {
    let mut asked = ProgramBuilder::new();
    let x = asked.input("x", magnitude);
    let sign = asked.sign(x, gap_bits);
    asked.output("sign", sign);
    asked.finish().unwrap()
}

/// Numbers within ±0.75, dense about the limit and at the ends of the gap.
fn readings(gap: f64) -> Vec<f64> {
    let value = |i: usize| {
        let even = 2.0 * i as f64 / (DEGREE / 2 - 1) as f64 - 1.0;
        match i % 3 {
            0 => 0.75 * even,
            1 => LIMIT + even.powi(3) * gap,
            _ => LIMIT + gap.copysign(even) * (1.0 + 1e-9 * (i % 7) as f64),
        }
    };
    (0..DEGREE / 2).map(value).collect()
}

#[test]
fn limits_and_depths_are_those_of_the_compositions() {
    for gap_bits in limits::GAP_BITS {
        let (sign, program) = (composition(gap_bits), sign_alone(gap_bits, 1.0));
        assert_eq!(sign.gap(), f64::from(-i32::from(gap_bits)).exp2());
        let levels = sign.depth() as u32;
        assert_eq!(program.depth(), Depth { encrypted: levels, any: levels });
        assert!(1.0 + sign.error() < *magnitudes(&program).last().unwrap());
    }
}

#[test]
fn slots_are_within_the_planned_error_of_the_composition() {
    for gap_bits in [4, 8] {
        let (sign, program) = (composition(gap_bits), program(gap_bits, 0.75));
        let target = target(insecure(sign.depth() + 1, 45));
        let lowered = target.lower_with_shapes(&program).unwrap();
        assert_eq!(lowered.plan.counts()["sign"], 1);
        assert!(lowered.keys.relinearisation);
        assert!(lowered.keys.rotations.is_empty());
        let params = &target.params;
        let mut rng = ChaCha20Rng::from_seed([5; 32]);
        let secret = SecretKey::<Ckks>::derive(&DeviceSecret::generate(&mut rng), params);
        let keys = secret.evaluation_keys(true, &[], &mut rng).unwrap();
        let x = readings(sign.gap());
        let y: Vec<f64> = x.iter().rev().map(|x| x / 0.75).collect();
        let mut encrypt = |values: &[f64]| {
            let plain = Ckks::encode_slots(params, values, params.top_level()).unwrap();
            secret.encrypt(&plain.declare_magnitude(1.0), &mut rng).unwrap().expand()
        };
        let inputs = [encrypt(&x), encrypt(&y)];
        let evaluator = Evaluator::new(params);
        let run = |threads: &Threads, most| {
            run_on(threads, &lowered.plan, &evaluator, inputs.to_vec(), &keys, most)
        };
        let outputs = run(&Threads::one(), u64::MAX).unwrap();
        let slots: Vec<Vec<f64>> = outputs
            .iter()
            .map(|output| {
                let plaintext = Decryptor::new(&secret).decrypt(output).unwrap();
                Ckks::decode_slots(params, &plaintext).unwrap()
            })
            .collect();
        let [of_sign, of_product] = [0, 1].map(|at| lowered.outputs[at].slot_error);
        let (mut worst, mut inside) = ([0.0_f64; 2], 0);
        for (at, (x, y)) in x.iter().zip(&y).enumerate() {
            let (operand, [found, product]) = (x - LIMIT, [slots[0][at], slots[1][at]]);
            let exact = sign.at(operand);
            worst = [worst[0].max((found - exact).abs()), worst[1].max((product - exact * y).abs())];
            if operand.abs() >= sign.gap() {
                assert!((found - operand.signum()).abs() <= sign.error() + of_sign, "{operand}: {found}");
            } else {
                inside += 1;
            }
        }
        println!(
            "gap 2^-{gap_bits}: off by {:.1e} and {:.1e}, bounds {of_sign:.1e} and {of_product:.1e}",
            worst[0], worst[1]
        );
        assert!(inside > DEGREE / 8, "{inside} slots inside the gap");
        assert!(worst[0] <= of_sign && of_sign < 4096.0 * worst[0], "{worst:?} {of_sign:e}");
        assert!(worst[1] <= of_product && of_product < 4096.0 * worst[1], "{worst:?} {of_product:e}");
        // The same bits on two threads.
        let again = run(&Threads::new(2).unwrap(), u64::MAX).unwrap();
        for (one, two) in outputs.iter().zip(&again) {
            assert!(one.components() == two.components());
        }
        // Neither the working memory of a sign nor its key are forgotten.
        let alone = 4 * inputs[0].shape().bytes(params);
        assert!(matches!(run(&Threads::one(), alone), Err(RunError::Memory { .. })));
        let none = secret.evaluation_keys(false, &[], &mut rng).unwrap();
        let given = inputs.each_ref().map(|input| (input.key(), *input.shape()));
        let refused = check(&lowered.plan, params, &given, &none, u64::MAX).err();
        assert!(
            matches!(refused, Some(RunError::Step { step: "sign", error: EvalError::MissingKey(_), .. })),
            "{refused:?}"
        );
        // An operand that is off by a tenth.
        let off = given.map(|(key, shape)| (key, shape.with_slot_bounds(params, 0.75, 0.1)));
        let refused = check(&lowered.plan, params, &off, &keys, u64::MAX).err();
        assert!(
            matches!(refused, Some(RunError::Step { step: "sign", error: EvalError::Coarse { .. }, .. })),
            "{refused:?}"
        );
    }
}

#[test]
fn operands_beyond_one_are_refused() {
    let target = target(insecure(8, 45));
    assert!(target.lower_with_shapes(&program(4, 0.75)).is_ok());
    // Bounds are rounded up.
    assert!(target.lower_with_shapes(&sign_alone(4, 1.0 + 1e-12)).is_ok());
    for magnitude in [1.001, 2.0, 1e3] {
        let refused = target.lower_with_shapes(&sign_alone(4, magnitude)).unwrap_err();
        assert!(matches!(refused, LowerError::NotSupported { .. }), "{refused}");
        assert!(refused.to_string().contains("within ±1"), "{refused}");
    }
}

#[test]
fn masked_operands_side_by_side_are_bounded_slot_by_slot() {
    let side_by_side = |mask: Vec<f64>| {
        let mut asked = ProgramBuilder::new();
        let (x, y) = (asked.input("x", 1.0), asked.input("y", 1.0));
        let first = asked.constant(Constant::Reals(mask));
        let (x, y) = (asked.mul(x, first), asked.mul(y, first));
        let moved = asked.rotate(y, -2);
        let both = asked.add(x, moved);
        let sign = asked.sign(both, 4);
        asked.output("sign", sign);
        asked.finish().unwrap()
    };
    let target = target(insecure(8, 45));
    assert!(target.lower_with_shapes(&side_by_side(vec![1.0, -1.0])).is_ok());
    let refused = target.lower_with_shapes(&side_by_side(vec![1.0, -1.0, 0.5])).unwrap_err();
    assert!(refused.to_string().contains("±2e0"), "{refused}");
}

#[test]
fn whole_numbers_have_no_sign() {
    fn refused<S: Managed>() {
        let target = target(Params::<S>::default_chain(DEGREE, 65_537).unwrap());
        let refused = target.lower_with_shapes(&sign_alone(4, 1.0)).unwrap_err();
        assert!(matches!(refused, LowerError::NotSupported { .. }), "{refused}");
    }
    refused::<Bfv>();
    refused::<Bgv>();
}

#[test]
fn too_few_levels_and_too_small_a_scale_are_told_apart() {
    for levels in [1, 6] {
        let refused = target(insecure(levels, 45)).lower_with_shapes(&sign_alone(4, 1.0)).unwrap_err();
        assert_eq!(refused, LowerError::TooDeep { levels_needed: 7, levels_available: levels as u32 });
    }
    let refused = target(insecure(15, 32)).lower_with_shapes(&sign_alone(12, 1.0)).unwrap_err();
    assert!(
        matches!(refused, LowerError::Coarse { at: NodeId(1), bits_over } if bits_over > 0.0),
        "{refused}"
    );
    assert!(refused.to_string().contains("too large for the gap"), "{refused}");
}

#[test]
fn only_the_gaps_of_plans_are_followed() {
    let params = insecure(15, 45);
    let fresh = Shape::fresh(&params, Origin::SecretKey, 1.0).unwrap();
    for gap_bits in [0, 3, 5, 7, 13, 255] {
        let refused = Ckks::follow_sign(&params, gap_bits, &fresh);
        assert!(matches!(refused, Err(EvalError::Unsupported { operation: "sign", .. })), "{gap_bits}");
    }
    assert!(limits::GAP_BITS.iter().all(|gap_bits| Ckks::follow_sign(&params, *gap_bits, &fresh).is_ok()));
}
