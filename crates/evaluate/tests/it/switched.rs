//! Sums of switched ciphertexts: the residues of a plan that does the same, a bound that no order changes, and refusals.

use sotto_evaluate::{Input, SwitchedSum, job};
use sotto_program::{
    KeyNumber, KeysNeeded, Plan, PlanInput, PlanOutput, PlanStep, Predicted, Register, Step,
};
use sotto_ring::{Scratch, secure_rng};
use sotto_rlwe::{Bfv, Bgv, Ciphertext, Ckks, EvalError, EvaluationKeys, Evaluator, KeyId, Params};
use sotto_runtime::{Managed, Threads};
use sotto_wire::{AnyCiphertext, Body};

use crate::owner::Owner;

/// Two devices with keys of their own, the owner's keys that lead from both, and a ciphertext of each in turn.
struct World<S: Managed> {
    params: Params<S>,
    owner: Owner<S>,
    keys: EvaluationKeys<S>,
    frames: Vec<Vec<u8>>,
}

impl<S: Managed> World<S> {
    fn new(values: impl Fn(usize) -> S::Value) -> Self {
        let params = Params::<S>::default_chain(4096, 40_961).unwrap();
        let owner = Owner::new(&params, 1);
        let devices = [2, 3].map(|number| Owner::new(&params, number));
        let mut keys = EvaluationKeys::empty(&params, owner.id);
        for device in &devices {
            keys.transfers.insert(device.id, owner.transfer_key(device));
        }
        let frame = |at: usize| {
            let plaintext = S::encode_slots(&params, &[values(at)], params.top_level()).unwrap();
            let sent = devices[at % 2].public_key().encrypt(&plaintext, &mut secure_rng().unwrap()).unwrap();
            AnyCiphertext::Expanded(sent).write()
        };
        let frames = (0..6).map(frame).collect();
        Self { params, owner, keys, frames }
    }

    fn body(&self, at: usize) -> Body {
        Body::read(self.frames[at].as_slice(), 1 << 20).unwrap()
    }

    /// Returns the sum of some ciphertexts.
    fn sum(&self, of: &[usize]) -> SwitchedSum<S> {
        let (evaluator, mut scratch) = (Evaluator::new(&self.params), Scratch::new());
        let mut sum = SwitchedSum::new(self.owner.id);
        for at in of {
            let input = Input::of(&self.params, &self.body(*at)).unwrap();
            sum.add(input, &evaluator, &self.keys, &mut scratch).unwrap();
        }
        sum
    }

    fn read(&self, frame: &[u8]) -> Ciphertext<S> {
        AnyCiphertext::read(frame, &self.params).unwrap().with_claimed_shape().expand()
    }

    /// Returns the output of a plan that switches each of the ciphertexts and adds them one by one.
    fn planned(&self) -> Ciphertext<S> {
        let inputs = self.frames.len() as u32;
        let mut steps: Vec<Step> = (0..inputs).map(|at| Step::SwitchKey(Register(at))).collect();
        steps.push(Step::Add(Register(inputs), Register(inputs + 1)));
        steps.extend((2..inputs).map(|at| Step::Add(Register(2 * inputs + at - 2), Register(inputs + at))));
        let placed = (inputs..).zip(&steps);
        let mut plan = Plan {
            parameter_id: self.params.id().0,
            inputs: (0..inputs)
                .map(|at| PlanInput { name: format!("x{at}"), key: KeyNumber(1 + at as u16 % 2) })
                .collect(),
            constants: vec![],
            steps: placed.map(|(at, step)| PlanStep { step: *step, output: Register(at) }).collect(),
            outputs: vec![],
            keys: KeysNeeded::default(),
            predicted: Predicted::default(),
        };
        let register = Register(inputs + steps.len() as u32 - 1);
        plan.outputs = vec![PlanOutput { name: "sum".into(), register, form: None }];
        plan.keys = plan.keys_needed();
        let mut bodies = (0..self.frames.len()).map(|at| Ok::<_, ()>(self.body(at)));
        let done = job(&self.params, &plan, &mut bodies, &self.keys, &Threads::one(), 1 << 30).unwrap();
        self.read(&done.outputs[0])
    }
}

fn same_as_a_plan<S: Managed>(values: impl Fn(usize) -> S::Value, judge: impl Fn(S::Value)) {
    let world = World::<S>::new(values);
    let expected = world.planned();
    let frame = world.sum(&[0, 1, 2, 3, 4, 5]).frame(&world.params).unwrap().unwrap();
    let found = world.read(&frame);
    assert_eq!(found.components(), expected.components());
    assert_eq!((found.key(), found.level()), (world.owner.id, expected.level()));
    assert_eq!(found.shape().scaling, expected.shape().scaling);
    // All are as noisy: the bound of the plan, but for the rounding of logarithms.
    let (bound, of_plan) = (found.shape().noise, expected.shape().noise);
    assert!((bound.error.0 - of_plan.error.0).abs() < 1e-9, "{bound:?} {of_plan:?}");
    assert!((bound.message.0 - of_plan.message.0).abs() < 1e-9, "{bound:?} {of_plan:?}");
    judge(S::decode_slots(&world.params, &world.owner.decrypt(&found)).unwrap()[0]);

    // Any order, any parts, and any way through bytes give the same frame.
    let mut joined = SwitchedSum::new(world.owner.id);
    let (evaluator, mut scratch) = (Evaluator::new(&world.params), Scratch::new());
    for part in [&[5, 1][..], &[], &[0], &[4, 3, 2]] {
        let part = world.sum(part);
        let part = match part.state() {
            Some(state) => SwitchedSum::read(&state, part.count(), &world.params).unwrap(),
            None => part,
        };
        joined.add_sum(part, &evaluator, &mut scratch).unwrap();
    }
    assert_eq!(joined.count(), 6);
    assert_eq!(joined.frame(&world.params).unwrap().unwrap(), frame);
}

#[test]
fn a_sum_is_that_of_a_plan_in_every_scheme_and_order() {
    same_as_a_plan::<Bfv>(|at| at as i64 - 10, |found| assert_eq!(found, 15 - 60));
    same_as_a_plan::<Bgv>(|at| at as i64 - 10, |found| assert_eq!(found, 15 - 60));
    let judge = |found: f64| assert!((found - 0.75).abs() < 1e-3, "{found}");
    same_as_a_plan::<Ckks>(|at| at as f64 / 20.0, judge);
}

#[test]
fn the_noisiest_decides_the_bound() {
    let world = World::<Bfv>::new(|at| at as i64);
    let (evaluator, mut scratch) = (Evaluator::new(&world.params), Scratch::new());
    let noisy = evaluator.multiply_scalar(&world.read(&world.frames[0]), 100).unwrap();
    let noisy = Body::read(AnyCiphertext::Expanded(noisy).write(), 1 << 20).unwrap();
    let mut sum = world.sum(&[1, 2]);
    let input = Input::of(&world.params, &noisy).unwrap();
    sum.add(input, &evaluator, &world.keys, &mut scratch).unwrap();
    let alone = world.sum(&[0]).frame(&world.params).unwrap().unwrap();
    let found = world.read(&sum.frame(&world.params).unwrap().unwrap()).shape().noise.error.0;
    // Three times a hundred times one.
    let least = world.read(&alone).shape().noise.error.0;
    assert!(found > least + 1.0 && found < least + (300_f64).log2() + 1e-9, "{found} {least}");
}

#[test]
fn sums_without_their_keys_are_refused() {
    let world = World::<Bfv>::new(|at| at as i64);
    let (evaluator, mut scratch) = (Evaluator::new(&world.params), Scratch::new());
    let input = || Input::of(&world.params, &world.body(0)).unwrap();
    let mut sum = SwitchedSum::new(world.owner.id);
    assert_eq!(sum.frame(&world.params), Ok(None));
    let none = EvaluationKeys::empty(&world.params, world.owner.id);
    let refused = sum.add(input(), &evaluator, &none, &mut scratch);
    assert!(matches!(refused, Err(EvalError::MissingKey(key)) if key.contains("transfer key from")));
    let other = EvaluationKeys::empty(&world.params, KeyId([9; 16]));
    let refused = sum.add(input(), &evaluator, &other, &mut scratch);
    assert!(matches!(refused, Err(EvalError::KeyMismatch { .. })), "{refused:?}");
    let refused = sum.add_sum(SwitchedSum::new(KeyId([9; 16])), &evaluator, &mut scratch);
    assert!(matches!(refused, Err(EvalError::KeyMismatch { .. })), "{refused:?}");
    assert_eq!(sum.count(), 0);
    // So many that the bound passes the limit: nothing is returned that could not be decrypted.
    let state = world.sum(&[0]).state().unwrap();
    let many = SwitchedSum::read(&state, u64::MAX, &world.params).unwrap();
    assert!(matches!(many.frame(&world.params), Err(EvalError::Noise { .. })));
}
