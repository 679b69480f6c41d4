//! Forms of answers: jobs whose outputs are reduced.

use serde_json::Value;
use sotto_decrypt::Decryptor;
use sotto_program::{Op, OutputForm, Plan, ProgramBuilder};
use sotto_rlwe::{Ckks, DefaultChain, Kept, Origin, Params, SchemeId, Selection, Shape};
use sotto_runtime::{Encoding, Merged, RlweTarget};

use crate::device::Device;
use crate::jobs::{ADD, plan};
use crate::store::contents;
use crate::world::World;

/// Returns the final state of a job that must succeed, and its first output.
fn output(world: &World, plan: &Plan, inputs: &[&str]) -> (Value, Vec<u8>) {
    let id = world.put_plan(plan);
    let job = world.submit(&id, inputs).expect(202)["job"].as_str().unwrap().to_owned();
    let state = world.ended(&job);
    assert_eq!(state["state"], "done", "{state}");
    (state, world.owner("GET", &format!("/v1/jobs/{job}/outputs/0"), &[]).bytes)
}

#[test]
fn an_answer_leaves_in_the_form_of_its_plan() {
    let (world, params, mut device) = World::with_device();
    let a = world.keep(&device.envelope(0, &[1, 2, 3]));
    let b = world.keep(&device.envelope(1, &[10, -20, 30]));
    let mut asked = plan(&params, 2, &ADD);
    let (_, whole) = output(&world, &asked, &[&a, &b]);

    let fresh = Shape::fresh(&params, Origin::SecretKey, 1.0).unwrap();
    let width = fresh.add(&params, &fresh).unwrap().least_width(&params, Selection::ALL, 0.0).unwrap();
    let form = |width| Some(OutputForm { width, spacing: 1, count: 1 });
    asked.outputs[0].form = form(width as u8);
    let (state, frame) = output(&world, &asked, &[&a, &b]);
    assert_eq!(state["counters"]["add"], 1);
    assert!(frame.len() < whole.len() / 2, "{} bytes, whole {}", frame.len(), whole.len());
    let reduced = sotto_wire::read_reduced(&frame, &params).unwrap().with_claimed_shape();
    assert_eq!((reduced.reduction().width, reduced.key()), (width, device.secret.id()));
    let slots = Decryptor::new(&device.secret).slots(&reduced.lift().unwrap()).unwrap().into_residues();
    assert_eq!(slots[..4], [11, -18, 33, 0]);

    // One bit less might decrypt wrongly; and forms that the parameters do not have.
    let before = contents(&world.data()).rows["jobs"];
    asked.outputs[0].form = form(width as u8 - 1);
    world.submit(&world.put_plan(&asked), &[&a, &b]).refused(422, "noise");
    asked.outputs[0].form = Some(OutputForm { width: 56, spacing: 8192, count: 1 });
    world.submit(&world.put_plan(&asked), &[&a, &b]).refused(422, "invalid-output");
    assert_eq!(contents(&world.data()).rows["jobs"], before);
}

/// Values of a window of reals; they repeat over all slots.
const SLOTS: usize = 8;

#[test]
fn results_of_windows_leave_reduced_side_by_side() {
    let params = Params::<Ckks>::new(DefaultChain::spec(SchemeId::Ckks, 8192, 0).unwrap()).unwrap();
    let (world, mut device) = (World::start(), Device::new("boiler", &params, 7));
    world.put_parameters(&params);
    world.register(&device);
    let kept = Kept::Folded(SLOTS);
    let target = RlweTarget {
        params: params.clone(),
        encoding: Encoding::Slots,
        origin: Origin::SecretKey,
        kept: Some(kept),
        may_wrap: false,
    };
    let values = |from: f64| -> Vec<f64> { (0..SLOTS).map(|slot| from + slot as f64 / 100.0).collect() };
    let all: Vec<Vec<f64>> = [0.1, -0.6, 0.4].map(values).to_vec();
    let (mut asked, mut merged) = (ProgramBuilder::new(), Merged { name: "all".into(), outputs: Vec::new() });
    let mut ids = Vec::new();
    for (number, values) in (0..).zip(&all) {
        let input = asked.declare(format!("w{number}"), 1.0);
        let x = asked.read(input);
        let square = asked.mul(x, x);
        let beside = asked.push(Op::Rotate(square, 1));
        let sum = asked.add(square, beside);
        asked.output(format!("r{number}"), sum);
        merged.outputs.push((number as usize, number));
        let frame = device.encrypt_compact(values);
        ids.push(world.keep(&device.seal(device.header(number.into()), frame)));
    }
    let lowered = target.lower_reduced(&asked.finish().unwrap(), &[merged]).unwrap();
    let planned = lowered.outputs[0];
    let reduction = planned.reduction.unwrap();
    assert_eq!(reduction.selection, Selection { spacing: 8192 / (2 * SLOTS), count: all.len() });
    world.put_keys(&device.evaluation_keys(true, &lowered.keys.galois_steps()));
    let inputs: Vec<&str> = ids.iter().map(String::as_str).collect();
    let (_, frame) = output(&world, &lowered.plan, &inputs);
    assert_eq!(frame.len(), sotto_wire::reduced_bytes(&params, reduction));
    let lifted = sotto_wire::read_reduced(&frame, &params).unwrap().with_claimed_shape().lift().unwrap();
    let decryptor = Decryptor::new(&device.secret);
    let plaintext = decryptor.decrypt_selected(&lifted, reduction.selection).unwrap();
    let parts = decryptor.decode_parts(&plaintext, &planned.shape, SLOTS, all.len()).unwrap();
    let expected = all
        .iter()
        .flat_map(|values| (0..SLOTS).map(|slot| values[slot].powi(2) + values[(slot + 1) % SLOTS].powi(2)));
    for (found, expected) in parts.raw_values_for_owner_only().iter().zip(expected) {
        assert!((found - expected).abs() <= planned.slot_error, "{found} {expected}");
    }
}
