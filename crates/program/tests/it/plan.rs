//! Valid and invalid plans.

use sotto_program::{
    ConstantId, KeyNumber, KeysNeeded, LowerError, NodeId, OutputForm, PlainConstant, Plan, PlanError,
    PlanInput, PlanOutput, PlanStep, Predicted, Register, Step, limits,
};

const X: Register = Register(0);

/// 3·x², summed over two slots.
fn plan() -> Plan {
    let mut plan = Plan {
        parameter_id: [0xab; 32],
        inputs: vec![PlanInput { name: "load".into(), key: KeyNumber::ANSWER }],
        constants: vec![PlainConstant { coefficients: vec![3], level: 1, power: 1 }],
        steps: Vec::new(),
        outputs: Vec::new(),
        keys: KeysNeeded::default(),
        predicted: Predicted { noise_bits_left: 12.34, levels_used: 1, output_bytes: 65_536 },
    };
    for step in [
        Step::Multiply(X, X),
        Step::Relinearise(Register(1)),
        Step::DropModulus { of: Register(2), count: 1 },
        Step::MultiplyPlain(Register(3), ConstantId(0)),
        Step::Rotate(Register(4), 1),
        Step::Add(Register(4), Register(5)),
    ] {
        plan.steps.push(PlanStep { step, output: plan.register_of_step(plan.steps.len()) });
    }
    plan.outputs.push(PlanOutput { name: "sum".into(), register: Register(6), form: None });
    plan.keys = plan.keys_needed();
    plan
}

/// Tests the forms of reduced outputs.
#[test]
fn forms_of_outputs_are_checked() {
    let form = |width, spacing, count| {
        let mut plan = plan();
        plan.outputs[0].form = Some(OutputForm { width, spacing, count });
        plan.validate()
    };
    for (width, spacing, count) in [(8, 1, 1), (56, 2, 1), (34, 131_072, 131_071)] {
        assert_eq!(form(width, spacing, count), Ok(()), "{width} {spacing} {count}");
    }
    let others =
        [(7, 1, 1), (57, 1, 1), (8, 0, 1), (8, 3, 1), (8, 1, 0), (8, 1, 2), (8, 2, 2), (8, 1 << 18, 1)];
    for (width, spacing, count) in others {
        let refused = form(width, spacing, count);
        assert!(
            matches!(refused, Err(PlanError::OutputForm { .. })),
            "{width} {spacing} {count}: {refused:?}"
        );
    }
    let mut shown = plan();
    shown.outputs[0].form = Some(OutputForm { width: 34, spacing: 64, count: 3 });
    assert!(shown.to_string().contains("output sum = r6 at 34 bits, 3 of every 64 coefficients\n"));
    let json = serde_json::to_string(&shown).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&json).unwrap(), shown);
    assert!(
        !serde_json::to_string(&plan()).unwrap().contains("form"),
        "a plan without forms is written as ever"
    );
    // A product that is not relinearised.
    let product = refused(|plan| {
        plan.outputs[0].form = Some(OutputForm { width: 34, spacing: 1, count: 1 });
        plan.outputs[0].register = Register(1);
    });
    assert!(matches!(product, PlanError::OutputForm { .. }));
}

fn refused(change: impl FnOnce(&mut Plan)) -> PlanError {
    let mut changed = plan();
    change(&mut changed);
    changed.validate().unwrap_err()
}

#[test]
fn a_plan_reads_like_one() {
    assert_eq!(plan().validate(), Ok(()));
    assert_eq!(
        plan().to_string(),
        "parameters abababababababab…\n\
         r0 = input load\n\
         c0 = constant of 1 coefficient, level 1, power 1\n\
         r1 = multiply r0 r0\n\
         r2 = relinearise r1\n\
         r3 = drop-modulus r2 by 1\n\
         r4 = multiply-plain r3 c0\n\
         r5 = rotate r4 by 1\n\
         r6 = add r4 r5\n\
         output sum = r6\n\
         keys: relinearisation, rotation by 1\n\
         predicted: 12.3 bits of noise left, 1 levels used, 65536 bytes out"
    );
}

#[test]
fn counts_and_keys_come_from_the_steps() {
    let plan = plan();
    let counts: Vec<_> = plan.counts().into_iter().collect();
    assert_eq!(
        counts,
        [
            ("add", 1),
            ("drop-modulus", 1),
            ("multiply", 1),
            ("multiply-plain", 1),
            ("relinearise", 1),
            ("rotate", 1)
        ]
    );
    assert_eq!(plan.keys, KeysNeeded { relinearisation: true, rotations: vec![1], ..KeysNeeded::default() });
    let other = KeysNeeded {
        relinearisation: false,
        rotations: vec![-2, 1, 4],
        swap_rows: true,
        transfers: vec![KeyNumber(2)],
    };
    let both = KeysNeeded { relinearisation: true, ..other.clone() };
    assert_eq!(plan.keys.and(&other), both);
    assert!(!both.is_empty() && KeysNeeded::default().is_empty());
    assert_eq!(both.to_string(), "relinearisation, rotation by -2 1 4, row swap, transfer from key 2");
}

#[test]
fn each_wrong_part_is_named() {
    assert_eq!(refused(|p| p.inputs.clear()), PlanError::None { what: "input" });
    assert_eq!(refused(|p| p.outputs.clear()), PlanError::None { what: "output" });
    assert!(matches!(refused(|p| p.inputs[0].name = "\u{1b}[31m".into()), PlanError::Name { .. }));
    assert!(matches!(refused(|p| p.outputs.push(p.outputs[0].clone())), PlanError::DuplicateName { .. }));
    assert!(matches!(refused(|p| p.outputs[0].register = Register(7)), PlanError::MissingOutput { .. }));
    assert!(matches!(refused(|p| p.constants[0].coefficients.clear()), PlanError::Constant { .. }));
    assert!(matches!(refused(|p| p.constants.clear()), PlanError::MissingConstant { step: 3, .. }));
    assert!(matches!(refused(|p| p.steps[2].output = Register(9)), PlanError::Output { step: 2, .. }));
    let read = |register| PlanError::Operand { step: 0, register };
    assert_eq!(refused(|p| p.steps[0].step = Step::Multiply(X, Register(1))), read(Register(1)));
    assert_eq!(refused(|p| p.steps[0].step = Step::Negate(Register(u32::MAX))), read(Register(u32::MAX)));
    assert_eq!(refused(|p| p.keys.rotations.push(2)), PlanError::Keys);
    assert_eq!(refused(|p| p.keys.relinearisation = false), PlanError::Keys);
    assert_eq!(refused(|p| p.predicted.noise_bits_left = f64::NAN), PlanError::Predicted);
    for step in [
        Step::Rotate(Register(4), 0),
        Step::Rotate(Register(4), i32::MIN),
        Step::DropModulus { of: Register(4), count: 0 },
        Step::MatchFactor { of: Register(4), scalar: 0 },
        // The constant is a single value.
        Step::Table { of: Register(4), values: ConstantId(0), first: 0 },
        Step::Sign { of: Register(4), gap_bits: 0 },
        Step::Sign { of: Register(4), gap_bits: 5 },
        Step::Sign { of: Register(4), gap_bits: 13 },
    ] {
        assert!(matches!(refused(|p| p.steps[4].step = step), PlanError::Amount { step: 4, .. }), "{step}");
    }
}

#[test]
fn a_sign_takes_the_relinearisation_key_and_shows_its_gap() {
    let mut signs = plan();
    signs.steps = vec![PlanStep { step: Step::Sign { of: X, gap_bits: 12 }, output: Register(1) }];
    signs.outputs[0].register = Register(1);
    signs.keys = signs.keys_needed();
    assert_eq!(signs.validate(), Ok(()));
    assert!(signs.keys.relinearisation && signs.keys.rotations.is_empty());
    assert!(signs.to_string().contains("r1 = sign r0 with gap 2^-12\n"), "{signs}");
    assert_eq!(serde_json::from_str::<Plan>(&serde_json::to_string(&signs).unwrap()).unwrap(), signs);
}

#[test]
fn products_are_relinearised_before_they_go_on() {
    let product = Register(1);
    let table = Step::Table { of: product, values: ConstantId(0), first: 0 };
    let sign = Step::Sign { of: product, gap_bits: 4 };
    for step in [Step::Multiply(product, X), Step::Rotate(product, 1), Step::SwapRows(product), table, sign] {
        let with_table = |p: &mut Plan| p.constants[0].coefficients = vec![0, 1];
        let found = refused(|p| {
            with_table(p);
            p.steps[1].step = step;
        });
        assert_eq!(found, PlanError::Components { step: 1, register: product, expected: 2, found: 3 });
    }
    let found = refused(|p| p.steps[1].step = Step::Relinearise(X));
    assert_eq!(found, PlanError::Components { step: 1, register: X, expected: 3, found: 2 });
    // Products may be added first and then relinearised once.
    let mut summed = plan();
    summed.steps.truncate(1);
    summed.steps.push(PlanStep { step: Step::Add(product, X), output: Register(2) });
    summed.steps.push(PlanStep { step: Step::Relinearise(Register(2)), output: Register(3) });
    summed.outputs[0].register = Register(3);
    summed.keys = summed.keys_needed();
    assert_eq!(summed.validate(), Ok(()));
}

#[test]
fn sizes_are_bounded() {
    let too_many =
        |found, which| assert!(matches!(found, PlanError::TooMany { what, .. } if what == which), "{which}");
    let name = |index: usize| PlanInput { name: format!("i{index}"), key: KeyNumber::ANSWER };
    too_many(refused(|p| p.inputs = (0..=limits::INPUTS).map(name).collect()), "inputs");
    too_many(refused(|p| p.steps = vec![p.steps[0]; limits::STEPS + 1]), "steps");
    too_many(
        refused(|p| p.constants = vec![p.constants[0].clone(); limits::PLAN_CONSTANTS + 1]),
        "constants",
    );
    too_many(refused(|p| p.outputs = vec![p.outputs[0].clone(); limits::OUTPUTS + 1]), "outputs");
    let long = PlainConstant { coefficients: vec![0; limits::COEFFICIENTS], level: 0, power: 1 };
    let count = limits::TOTAL_COEFFICIENTS / limits::COEFFICIENTS + 1;
    too_many(refused(|p| p.constants = vec![long; count]), "coefficients of constants");
}

#[test]
fn json_comes_back_the_same() {
    let json = serde_json::to_string(&plan()).unwrap();
    assert!(json.contains(r#"{"step":{"drop-modulus":{"of":2,"count":1}},"output":3}"#), "{json}");
    assert_eq!(serde_json::from_str::<Plan>(&json).unwrap(), plan());
}

#[test]
fn a_refusal_names_the_way_out() {
    let refused = LowerError::NoiseExceeded { at: NodeId(4), bits_over: 3.21 };
    assert_eq!(
        refused.to_string(),
        "at node 4 the noise exceeds the decryption limit by 3.2 bits: take larger parameters, or multiply less often"
    );
    assert!(LowerError::from(PlanError::Keys).to_string().contains("keys"));
}

/// 2·(y + y), switched to the key of x and added to it.
fn of_two_keys() -> Plan {
    let mut plan = plan();
    plan.inputs.push(PlanInput { name: "other".into(), key: KeyNumber(1) });
    plan.steps.clear();
    let y = Register(1);
    for step in [
        Step::Add(y, y),
        Step::MultiplyScalar(Register(2), 2),
        Step::SwitchKey(Register(3)),
        Step::Add(X, Register(4)),
    ] {
        plan.steps.push(PlanStep { step, output: plan.register_of_step(plan.steps.len()) });
    }
    plan.outputs[0].register = Register(5);
    plan.keys = plan.keys_needed();
    plan
}

#[test]
fn what_is_under_a_foreign_key_is_switched_before_it_meets_others() {
    let plan = of_two_keys();
    assert_eq!(plan.validate(), Ok(()));
    assert_eq!(plan.keys.transfers, [KeyNumber(1)]);
    assert_eq!(plan.counts()["switch-key"], 1);
    assert_eq!(plan.register_keys(), [0, 1, 1, 1, 0, 0].map(KeyNumber));
    let text = plan.to_string();
    assert!(text.contains("r1 = input other under key 1\n"), "{text}");
    assert!(text.contains("r4 = switch-key r3\n") && text.contains("keys: transfer from key 1\n"), "{text}");
    assert_eq!(serde_json::from_str::<Plan>(&serde_json::to_string(&plan).unwrap()).unwrap(), plan);

    let refused = |change: &dyn Fn(&mut Plan)| {
        let mut changed = of_two_keys();
        change(&mut changed);
        changed.keys = changed.keys_needed();
        changed.validate().unwrap_err()
    };
    let mixed = refused(&|p| p.steps[3].step = Step::Add(X, Register(3)));
    assert!(matches!(mixed, PlanError::MixedKeys { step: 3, right_key: KeyNumber(1), .. }), "{mixed}");
    let y = Register(1);
    let table = Step::Table { of: y, values: ConstantId(0), first: 0 };
    let sign = Step::Sign { of: y, gap_bits: 4 };
    for step in [Step::Multiply(y, y), Step::Rotate(y, 1), Step::SwapRows(y), table, sign] {
        let foreign = refused(&|p| {
            p.steps.truncate(1);
            p.constants[0].coefficients = vec![0, 1];
            p.steps[0].step = step;
            p.outputs[0].register = X;
        });
        assert!(matches!(foreign, PlanError::Foreign { step: 0, register: Register(1), .. }), "{foreign}");
    }
    let twice = refused(&|p| p.steps[3].step = Step::SwitchKey(Register(4)));
    assert_eq!(twice, PlanError::NotForeign { step: 3, register: Register(4) });
    let output = refused(&|p| p.outputs[0].register = Register(3));
    assert!(matches!(output, PlanError::ForeignOutput { key: KeyNumber(1), .. }), "{output}");
    for key in [2, 65, u16::MAX] {
        let found = refused(&|p| p.inputs[1].key = KeyNumber(key));
        assert_eq!(found, PlanError::KeyNumber { input: 1, key: KeyNumber(key) });
    }
    let mut unlisted = of_two_keys();
    unlisted.keys.transfers.clear();
    assert_eq!(unlisted.validate(), Err(PlanError::Keys));
}

#[test]
fn keys_are_numbered_in_order_and_bounded() {
    let numbered = |keys: &[u16]| {
        let mut plan = plan();
        let input = |(at, key): (usize, &u16)| PlanInput { name: format!("i{at}"), key: KeyNumber(*key) };
        plan.inputs = keys.iter().enumerate().map(input).collect();
        let out = Register(plan.inputs.len() as u32);
        let answer = keys.iter().position(|key| *key == 0).unwrap();
        plan.steps = vec![PlanStep { step: Step::Negate(Register(answer as u32)), output: out }];
        plan.outputs[0].register = out;
        plan.keys = plan.keys_needed();
        plan.validate()
    };
    assert_eq!(numbered(&[1, 0, 2, 1, 0]), Ok(()));
    assert!(matches!(numbered(&[0, 2, 1]), Err(PlanError::KeyNumber { input: 1, .. })));
    let most: Vec<u16> = (0..=limits::FOREIGN_KEYS as u16).collect();
    assert_eq!(numbered(&most), Ok(()));
    let more: Vec<u16> = (0..=limits::FOREIGN_KEYS as u16 + 1).collect();
    assert!(matches!(numbered(&more), Err(PlanError::KeyNumber { .. })));
}
