//! Valid and invalid programs.

use sotto_program::{
    Constant, ConstantId, Depth, InputDeclaration, InputId, KeyNumber, NodeId, Op, Program, ProgramBuilder,
    ProgramError, ProgramParts, limits, passes,
};

fn parts() -> ProgramParts {
    ProgramParts {
        ops: vec![Op::Input(InputId(0)), Op::Constant(ConstantId(0)), Op::Mul(NodeId(0), NodeId(1))],
        inputs: vec![InputDeclaration::new("load", 100.0)],
        constants: vec![Constant::Integers(vec![3])],
        outputs: vec![("triple".into(), NodeId(2))],
    }
}

fn refused(change: impl FnOnce(&mut ProgramParts)) -> ProgramError {
    let mut changed = parts();
    change(&mut changed);
    Program::new(changed).unwrap_err()
}

#[test]
fn each_wrong_part_is_named() {
    assert!(Program::new(parts()).is_ok());
    assert_eq!(refused(|p| p.outputs.clear()), ProgramError::NoOutputs);
    assert!(matches!(refused(|p| p.outputs[0].1 = NodeId(3)), ProgramError::MissingOutput { .. }));
    assert!(matches!(refused(|p| p.outputs[0].0 = "a b".into()), ProgramError::Name { what: "output", .. }));
    assert!(matches!(refused(|p| p.inputs[0].name.clear()), ProgramError::Name { what: "input", .. }));
    assert!(matches!(refused(|p| p.inputs[0].name = "x".repeat(65)), ProgramError::Name { .. }));
    assert!(matches!(refused(|p| p.inputs.push(p.inputs[0].clone())), ProgramError::DuplicateName { .. }));
    assert!(matches!(refused(|p| p.inputs[0].magnitude = f64::NAN), ProgramError::Magnitude { .. }));
    assert!(matches!(refused(|p| p.inputs[0].magnitude = -1.0), ProgramError::Magnitude { .. }));
    assert!(matches!(refused(|p| p.inputs.clear()), ProgramError::Missing { what: "input", .. }));
    assert!(matches!(refused(|p| p.constants.clear()), ProgramError::Missing { what: "constant", .. }));
    assert!(matches!(refused(|p| p.constants[0] = Constant::Reals(vec![])), ProgramError::Constant { .. }));
    assert!(matches!(
        refused(|p| p.constants[0] = Constant::Reals(vec![f64::INFINITY])),
        ProgramError::Constant { .. }
    ));
    assert!(matches!(
        refused(|p| p.constants[0] = Constant::Integers(vec![0; limits::VECTOR + 1])),
        ProgramError::Constant { .. }
    ));
    let operand = |node, operand| ProgramError::Operand { node: NodeId(node), operand: NodeId(operand) };
    assert_eq!(refused(|p| p.ops[2] = Op::Mul(NodeId(0), NodeId(2))), operand(2, 2));
    assert_eq!(refused(|p| p.ops[0] = Op::Neg(NodeId(u32::MAX))), operand(0, u32::MAX));
    assert!(matches!(refused(|p| p.ops[2] = Op::Rotate(NodeId(0), i32::MIN)), ProgramError::Rotation { .. }));
    for width in [0, 3, 1 << 17] {
        let wide = Op::Sum { of: NodeId(0), width };
        assert!(matches!(refused(|p| p.ops[2] = wide), ProgramError::Width { .. }), "{width}");
    }
    let many = |p: &mut ProgramParts| p.ops.resize(limits::NODES + 1, Op::Input(InputId(0)));
    assert!(matches!(refused(many), ProgramError::TooMany { what: "operations", .. }));
    let many = |p: &mut ProgramParts| p.outputs = (0..257).map(|i| (format!("o{i}"), NodeId(0))).collect();
    assert!(matches!(refused(many), ProgramError::TooMany { what: "outputs", .. }));
}

#[test]
fn json_is_checked_when_it_is_read() {
    let program = Program::new(parts()).unwrap();
    let json = serde_json::to_string(&program).unwrap();
    assert_eq!(serde_json::from_str::<Program>(&json).unwrap(), program);
    let wrong = json.replace("\"mul\":[0,1]", "\"mul\":[0,7]");
    assert_ne!(wrong, json);
    let refused = serde_json::from_str::<Program>(&wrong).unwrap_err().to_string();
    assert!(refused.contains("node 2 reads node 7"), "{refused}");
}

#[test]
fn depth_counts_what_costs_levels() {
    let mut asked = ProgramBuilder::new();
    let x = asked.input("x", 1.0);
    let two = asked.integer(2);
    let four = asked.mul(two, two);
    let scaled = asked.mul(x, four);
    let square = asked.mul(scaled, scaled);
    asked.mul(square, square); // unused
    asked.output("square", square);
    let program = asked.finish().unwrap();
    assert_eq!(program.depth(), Depth { encrypted: 1, any: 2 });
    assert_eq!(program.encrypted(), [true, false, false, true, true, true]);
    assert_eq!(program.counts()["multiply"], 4);
}

#[test]
fn a_power_has_the_least_depth() {
    for exponent in 1..=limits::EXPONENT {
        let mut asked = ProgramBuilder::new();
        let x = asked.input("x", 1.0);
        let power = asked.power(x, exponent);
        asked.output("power", power);
        let depth = asked.finish().unwrap().depth();
        assert_eq!(depth.encrypted, exponent.next_power_of_two().trailing_zeros(), "{exponent}");
    }
}

#[test]
fn inputs_may_be_under_other_keys() {
    let foreign = InputDeclaration::new("y", 1.0).under(KeyNumber(1));
    let program = Program::new(ProgramParts {
        ops: vec![Op::Input(InputId(0)), Op::Input(InputId(1)), Op::Add(NodeId(0), NodeId(1))],
        inputs: vec![InputDeclaration::new("x", 1.0), foreign.clone()],
        constants: Vec::new(),
        outputs: vec![("sum".into(), NodeId(2))],
    });
    let program = program.unwrap();
    assert_eq!(program.inputs()[1], foreign);
    assert_eq!(passes::simplify(&program).unwrap().inputs(), program.inputs());
    // Programs written before key numbers existed are under the answer's key.
    let old: InputDeclaration = serde_json::from_str(r#"{"name":"x","magnitude":1.0}"#).unwrap();
    assert_eq!(old.key, KeyNumber::ANSWER);
    let skipped = refused(|p| p.inputs[0].key = KeyNumber(2));
    assert!(matches!(skipped, ProgramError::KeyNumber { key: KeyNumber(2), .. }), "{skipped}");
}
